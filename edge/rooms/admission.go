package rooms

import (
	"errors"
	"slices"

	"boxoffice/cluster"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/order"
	"boxoffice/engine/queue"
)

// These are the reasons for which a waiting room refuses a request. The details of the refusal QUEUE_REQUIRED
// contain one of them, so that a page can say what to do.
const (
	missing     = "missing"      // the request has no admission
	forged      = "forged"       // the admission is not ours, or is of another draw
	expired     = "expired"      // the time of the admission is over
	shared      = "shared"       // somebody else has already ordered with the admission
	notAdmitted = "not_admitted" // the room does not know that the entry was admitted
)

var reasons = []string{missing, forged, expired, shared, notAdmitted}

// required holds the details of the refusal QUEUE_REQUIRED.
type required struct {
	Queue  string `json:"queue"`  // the address of the page where people wait
	State  string `json:"state"`  // the room's state, as the room shows it
	Reason string `json:"reason"` // one of reasons
}

// Admit refuses an order or a hold of seats if the event has a waiting room whose opening has passed and the request
// has no valid admission. It lets the event's own organization through. buyer is the address that orders; a hold
// passes "", because it binds the admission to nobody. late means that the admission of an order has run out, and
// that the order has an Idempotency-Key, so that it may repeat an order that came in time. Admit does not count such
// a refusal; the caller counts it with CountLate if there is no earlier order.
func (h *Handlers) Admit(c *route.Call, org, number int64, token, buyer string) (late bool, err error) {
	// Most events have no room. Their orders cost only this look into memory.
	if !h.hasRoom(number) {
		return false, nil
	}
	// An organization orders from its own event without waiting.
	if _, ours := c.Principal.Grant(org); ours {
		return false, nil
	}
	r, err := h.readRoom(c.Context, number)
	if err != nil {
		return false, err
	}
	if !r.isOpened() || c.Now.UnixMilli() < r.Settings.Rules.OpensAt {
		return false, nil
	}
	reason, err := h.judgeAdmission(c, number, r, token, buyer)
	if err != nil || reason == "" {
		return false, err
	}
	if late = reason == expired && buyer != "" && c.IdempotencyKey != ""; !late {
		h.refused.WithLabelValues(reason).Inc()
	}
	return late, engine.Refuse(engine.QueueRequired, required{
		Queue: h.BaseURL + "/e/" + h.Known.PublicID(number) + "/queue", State: r.stateAt(c.Now), Reason: reason,
	})
}

// CountLate counts an order that was refused because its admission had run out.
func (h *Handlers) CountLate() { h.refused.WithLabelValues(expired).Inc() }

// judgeAdmission returns the reason why an admission is not valid, or "" if it is. For an order it asks the room's
// actor, which binds the admission to the buyer. For a hold of seats it checks only the token, because there are
// many more holds than orders.
func (h *Handlers) judgeAdmission(c *route.Call, number int64, r *room, token, buyer string) (reason string, err error) {
	if token == "" {
		return missing, nil
	}
	a, ok := h.Secrets.ParseAdmission(number, token)
	switch {
	case !ok || a.Draw != r.Draw:
		return forged, nil
	case c.Now.UnixMilli() > a.Until:
		return expired, nil
	case buyer == "":
		return "", nil
	}
	use := queue.Use{Leaf: a.Leaf, Buyer: order.CustomerOf(order.NormalEmail(buyer))}
	if r.Settings.Rules.Proof == draw.Classes[draw.ClassAccount] {
		use.Buyer = 0
		if c.Principal.Kinds.Has(route.User) {
			use.Buyer = h.Secrets.Account(c.Principal.User)
		}
	}
	_, err = cluster.AskFor[queue.Placed](c.Context, h.Node, engine.QueueRef(number), use)
	if refusal := (*engine.Refusal)(nil); errors.As(err, &refusal) && refusal.Code == engine.QueueRequired {
		if why, ok := refusal.Details.(queue.NotNow); ok && slices.Contains(reasons, why.Reason) {
			return why.Reason, nil
		}
		return notAdmitted, nil
	}
	return "", err
}

package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Event statuses (docs/rules.md, Statuses).
const (
	StatusDraft      = "draft"
	StatusReview     = "review"
	StatusPublished  = "published"
	StatusOnSale     = "on_sale"
	StatusSoldOut    = "sold_out"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusCancelled  = "cancelled"
)

// moves is the table of legal moves between statuses. A published event that moves back to draft is unpublished.
var moves = map[string][]string{
	StatusDraft:      {StatusReview, StatusPublished},
	StatusReview:     {StatusDraft, StatusPublished},
	StatusPublished:  {StatusDraft, StatusOnSale, StatusInProgress, StatusCancelled},
	StatusOnSale:     {StatusDraft, StatusPublished, StatusSoldOut, StatusInProgress, StatusCancelled},
	StatusSoldOut:    {StatusDraft, StatusOnSale, StatusInProgress, StatusCancelled},
	StatusInProgress: {StatusCompleted, StatusCancelled},
	StatusCompleted:  {},
	StatusCancelled:  {},
}

// Public lists the statuses of an event that is published and not over. The public finds it in lists, and may be
// able to buy.
var Public = []string{StatusPublished, StatusOnSale, StatusSoldOut, StatusInProgress}

// Shown lists the statuses in which the public sees an event. Besides Public these are the statuses of events that
// are over (Ended), because people have tickets of such events.
var Shown = slices.Concat(Public, []string{StatusCompleted, StatusCancelled})

// isSelling reports whether an event takes orders in a status.
func isSelling(status string) bool { return slices.Contains(Public, status) }

// Ended reports whether an event is over for good. The public still sees such an event (Shown), but nothing of it
// is sold.
func Ended(status string) bool { return status == StatusCompleted || status == StatusCancelled }

// refuseTransition returns a refusal if the table has no move from the present status to another.
func (s *State) refuseTransition(to string) *engine.Refusal {
	if slices.Contains(moves[s.status], to) {
		return nil
	}
	return engine.Refuse(engine.InvalidTransition, Transition{From: s.status, To: to, Allowed: moves[s.status]})
}

// decideMove moves the event by the organizer's command. A repeated command finds the event in the status that
// it asks for, and changes nothing. Moves that the status does not allow are refused (refuseTransition), and so is the
// publication of an event without any ticket type.
func (s *State) decideMove(c Move, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.EventNotFound, nil)
	}
	if c.To == s.status || c.Live && isSelling(s.status) {
		return engine.Decision{Reply: s.makeRecord()}
	}
	if r := s.refuseTransition(c.To); r != nil {
		return engine.Decision{Reply: r}
	}
	if c.To == StatusPublished && s.countTypes() == 0 {
		return engine.Decision{Reply: &engine.Refusal{
			Code: engine.Validation, Message: "An event needs a ticket type before it is published.",
			Details: keeper.Issues{Issues: []keeper.Issue{{Path: "ticketTypes", Code: "required", Message: "add at least one ticket type"}}},
		}}
	}
	return s.moveTo(c.To, c.Reason, at)
}

// moveTo moves the event to a status. The reason of a cancellation becomes a part of the record,
// because pages and mails show it at any later time.
func (s *State) moveTo(status, reason string, at int64) engine.Decision {
	var facts []engine.Fact
	r := s.makeRecord()
	if status == StatusCancelled && reason != "" {
		d := *s.details
		d.CancelReason = reason
		facts = append(facts, &Updated{Details: &d, At: at})
		r.Details, r.Revision = &d, r.Revision+1
	}
	facts = append(facts, &Moved{From: s.status, To: status, Reason: reason, At: at})
	r.Status, r.UpdatedAt, r.Revision = status, at, r.Revision+1
	return engine.Decision{Facts: facts, Reply: r}
}

// decideDelete removes a draft, or an event under review, that has sold nothing. It cancels other events
// instead, because people may have their tickets. An event that is completed can't be deleted.
func (s *State) decideDelete(c Delete, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.EventNotFound, nil)
	}
	draft := s.status == StatusDraft || s.status == StatusReview
	if draft && s.unitsTaken() == 0 && !s.makeRecord().Sold {
		return engine.Decision{Facts: []engine.Fact{&Removed{At: at}}, Reply: s.makeRecord()}
	}
	if s.status == StatusCancelled {
		return engine.Decision{Reply: s.makeRecord()}
	}
	if s.status == StatusCompleted {
		return engine.Decision{Reply: s.refuseTransition(StatusCancelled)}
	}
	return s.moveTo(StatusCancelled, c.Reason, at)
}

// dueStatus returns the status that sale windows, stock and dates call for at a time. Only events that have been
// published and are not over change their status by themselves. An event begins and ends at its dates. A digital
// product has no beginning, and ends only if it has an end date. A reservation event neither begins nor ends.
func (s *State) dueStatus(at int64) string {
	product := ProductType(s.details.Category)
	over := product != ProductReservation && s.details.EndAt > 0 && at >= s.details.EndAt
	switch s.status {
	case StatusPublished, StatusOnSale, StatusSoldOut:
		switch {
		case product == ProductEvent && at >= s.details.StartAt:
			return StatusInProgress
		case product == ProductDigital && over:
			return StatusCompleted
		default:
			return s.saleStatus(at)
		}
	case StatusInProgress:
		if over {
			return StatusCompleted
		}
	}
	return s.status
}

// countTypes returns how many ticket types have made an offer. A type that has only reserved its place is not
// counted, because it may never be created.
func (s *State) countTypes() (n int) {
	for typ := range s.offers {
		if _, made := s.findOffer(typ); made {
			n++
		}
	}
	return n
}

// saleStatus returns the status that follows from the offers whose sale windows are open, and from
// the event's capacity: published without such an offer, sold out if all of them are or if the event is full, and on
// sale otherwise. A sold-out event stays sold out while no window is open. Hidden ticket types don't count.
func (s *State) saleStatus(at int64) string {
	open, stock := 0, 0
	for _, o := range s.offers {
		if o.Hidden || at < o.SaleStart || at >= o.SaleEnd {
			continue
		}
		open++
		if !o.SoldOut {
			stock++
		}
	}
	switch {
	// If no window is open, an event that was sold out stays so until one opens. Otherwise it
	// would look as if tickets were still to come.
	case open == 0 && s.status == StatusSoldOut:
		return StatusSoldOut
	case open == 0:
		return StatusPublished
	case stock == 0 || s.isFull():
		return StatusSoldOut
	default:
		return StatusOnSale
	}
}

// nextBoundary returns the first time after the clock at which dueStatus may return something else, in unix
// milliseconds, or 0 if there is none. The time may be too early, but never too late.
func (s *State) nextBoundary() int64 {
	if s.details == nil {
		return 0
	}
	next := int64(0)
	consider := func(t int64) {
		if t > s.clock && (next == 0 || t < next) {
			next = t
		}
	}
	consider(s.details.StartAt)
	consider(s.details.EndAt)
	for _, o := range s.offers {
		consider(o.SaleStart)
		consider(o.SaleEnd)
	}
	return next
}

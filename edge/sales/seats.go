package sales

import (
	"cmp"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// principalOf returns a number for the caller, by which seat maps tell holders apart: a hash of the account, of the
// API key, or of the client's network.
func (h *Handlers) principalOf(c *route.Call) uint64 {
	switch p := &c.Principal; {
	case p.Kinds.Has(route.User):
		return h.Secrets.Account(p.User)
	case p.Kinds.Has(route.Key):
		return h.Secrets.Key(p.Key)
	}
	return h.Secrets.Client(route.Network(c.Client))
}

// holdSeats replaces a shopper's selection by the given seats. The answer names the seats that are held now and, with
// the reason for each, those that could not be had; seats that fail do not keep the others from being held. It refuses
// if the event has ended (seatsForSale) or if a waiting room has not admitted the caller.
func (h *Handlers) holdSeats(c *route.Call, in *api.HoldSeats) (*api.HeldSeats, error) {
	number, org, err := h.seatsForSale(c, in.EventID)
	if err != nil {
		return nil, err
	}
	if _, err := h.Admit(c, org, number, cmp.Or(in.AdmissionHeader, in.Admission), ""); err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[seatmap.Selection](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Hold{
		Holder: in.Holder, Principal: h.principalOf(c), Seats: in.SeatIDs, Request: live.RequestOf(c, h.Secrets),
		Network: live.NetworkOf(c, h.Secrets, org), Scale: h.LimitsScale,
	})
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	v := &api.HeldSeats{Held: orEmpty(r.Held), Failed: orEmpty(r.Failed), Reasons: map[string]string{}, ExpiresAt: api.At(r.ExpiresAt)}
	for i, why := range r.Reasons {
		v.Reasons[r.Failed[i]] = string(why)
	}
	return v, nil
}

// extendSeats holds a shopper's seats for longer. It refuses if the event has ended or allows no extensions.
func (h *Handlers) extendSeats(c *route.Call, in *api.ExtendSeats) (*api.HeldSeats, error) {
	number, _, err := h.seatedEvent(c, in.EventID)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, number)
	switch {
	case err != nil:
		return nil, err
	case event.Ended(p.Event.Status):
		return nil, keeper.RefuseExtension(keeper.ExtensionOver)
	case p.Event.Details.NoExtensions:
		return nil, keeper.RefuseExtension(keeper.ExtensionsOff)
	}
	r, err := cluster.AskFor[seatmap.Selection](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Extend{
		Holder: in.Holder, Request: live.RequestOf(c, h.Secrets),
	})
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	return &api.HeldSeats{Held: orEmpty(r.Held), Failed: []string{}, Reasons: map[string]string{}, ExpiresAt: api.At(r.ExpiresAt)}, nil
}

// orEmpty returns a list that is never null in JSON.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// releaseSeats gives the named seats of a selection back, or all of them if the request names none.
func (h *Handlers) releaseSeats(c *route.Call, in *api.ReleaseSeats) (*api.ReleasedSeats, error) {
	number, _, err := h.seatedEvent(c, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[seatmap.Released](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Release{
		Holder: in.Holder, Seats: in.SeatIDs, Request: live.RequestOf(c, h.Secrets),
	})
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	return &api.ReleasedSeats{Released: len(r.Seats)}, nil
}

// bestSeats lets the seat map choose in.Quantity seats and hold them, in place of the shopper's former selection. The
// request may demand sections, a ticket type, a wheelchair place, or seats beside each other. If there are not as many
// such seats, the seat map refuses with TICKET_SOLD_OUT. It refuses as holdSeats does, too.
func (h *Handlers) bestSeats(c *route.Call, in *api.BestSeats) (*api.BestHeld, error) {
	number, org, err := h.seatsForSale(c, in.EventID)
	if err != nil {
		return nil, err
	}
	if _, err := h.Admit(c, org, number, cmp.Or(in.AdmissionHeader, in.Admission), ""); err != nil {
		return nil, err
	}
	cmd := seatmap.BestAvailable{
		Holder: in.Holder, Principal: h.principalOf(c), Quantity: in.Quantity, Sections: in.SectionIDs,
		Accessible: in.Accessible, Adjacent: in.Adjacent, Request: live.RequestOf(c, h.Secrets),
		Network: live.NetworkOf(c, h.Secrets, org), Scale: h.LimitsScale,
	}
	if in.TicketTypeID != "" {
		id, err := engine.ParseID(in.TicketTypeID)
		if err != nil || id.Event() != number {
			return nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		cmd.Type = id.Number()
	}
	r, err := cluster.AskFor[seatmap.Best](c.Context, h.Node, engine.SeatmapRef(number), cmd)
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	return &api.BestHeld{Held: r.Held, Adjacent: r.Adjacent, ExpiresAt: api.At(r.ExpiresAt)}, nil
}

// seatedEvent returns the number and the organization of an event that the caller may see. It refuses an API key as
// boxOffice does. It does not check whether the event has seats; the seat map refuses if there are none.
func (h *Handlers) seatedEvent(c *route.Call, id string) (number, org int64, err error) {
	number, p, err := h.Pages.FindVisible(c, h.Known, id)
	if err != nil {
		return 0, 0, err
	}
	org = p.Event.Details.Org
	return number, org, h.boxOffice(c, org, engine.EventNotFound)
}

// seatsForSale does what seatedEvent does, and refuses an event that has ended, whose seats nobody can hold.
func (h *Handlers) seatsForSale(c *route.Call, id string) (number, org int64, err error) {
	number, org, err = h.seatedEvent(c, id)
	if err != nil {
		return 0, 0, err
	}
	p, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return 0, 0, err
	}
	if event.Ended(p.Event.Status) {
		return 0, 0, engine.Refuse(engine.NotOnSale, seatsClosed{Reason: "event_" + p.Event.Status})
	}
	return number, org, nil
}

// seatsClosed holds the details of NOT_ON_SALE for the seats of an event that has ended.
type seatsClosed struct {
	Reason string `json:"reason"` // "event_" and the event's status
}

package sales

import (
	"math"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

var noEntry = &engine.Refusal{Code: engine.NotFound, Message: "No such entry of a waitlist."}

// joinWaitlist puts somebody in line. If an address stands in line already, the answer is its
// entry with the name that was sent, not the one it was put in line with: an address proves nobody.
func (h *Handlers) joinWaitlist(c *route.Call, in *api.JoinWaitlist) (*api.WaitlistEntry, error) {
	number, p, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	cmd := waitlist.Join{
		Quantity: in.Quantity, Email: in.Email, Name: in.Name, Customer: order.CustomerOf(order.NormalEmail(in.Email)),
		Client: h.networkOf(c, p.Event.Details.Org), Scale: h.LimitsScale,
	}
	if in.TicketTypeID != "" {
		id, err := engine.ParseID(in.TicketTypeID)
		if err != nil || id != engine.NumberedID(number, id.Number()) || id.Number() < 1 {
			return nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		cmd.Type = id.Number()
	}
	cmd.ID, _ = orderIDs(c, number, h.Secrets.Request(c.Scope()))
	r, err := cluster.AskFor[waitlist.Placed](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, err
	}
	r.Entry.Email, r.Entry.Name = in.Email, in.Name
	return view.WaitlistEntry(r, h.Known.PublicID(r.Entry.ID.Event())), nil
}

func (h *Handlers) listWaitlist(c *route.Call, in *api.ListWaitlist) (*api.List[api.WaitlistEntry], error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	keys, err := route.ReadCursor(in.Cursor, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	cmd := waitlist.List{Limit: in.Limit + 1}
	if keys != nil {
		cmd.After = uint64(keys[0]) //nolint:gosec // a cursor's keys are positive
	}
	r, err := cluster.AskFor[waitlist.Page](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, err
	}
	list := r.Entries
	out := &api.List[api.WaitlistEntry]{Items: make([]api.WaitlistEntry, 0, len(list))}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.NextCursor = route.CursorOf(int64(list[in.Limit-1].Entry.Number)) //nolint:gosec // counts
	}
	for i := range list {
		out.Items = append(out.Items, *view.WaitlistEntry(&list[i], h.Known.PublicID(number)))
	}
	return out, nil
}

func (h *Handlers) offerWaitlist(c *route.Call, in *api.OfferWaitlist) (*api.OffersMade, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[waitlist.Called](c.Context, h.Node, engine.EventRef(number), waitlist.Call{Count: in.Count})
	if err != nil {
		return nil, err
	}
	return &api.OffersMade{Offered: r.Offered}, nil
}

func (h *Handlers) setWaitlist(c *route.Call, in *api.SetWaitlist) (*api.WaitlistSettings, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	var cmd waitlist.Set
	if in.Auto.Set {
		cmd.Auto = &in.Auto.Value
	}
	if in.OfferMinutes.Set {
		cmd.OfferMinutes = &in.OfferMinutes.Value
	}
	r, err := cluster.AskFor[waitlist.Settings](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, err
	}
	return &api.WaitlistSettings{Auto: r.Auto, OfferMinutes: r.OfferMinutes}, nil
}

// claimOffer makes what an entry is offered an order of whoever has its mail.
func (h *Handlers) claimOffer(c *route.Call, in *api.WaitlistToken) (*api.Order, error) {
	id, err := h.openEntry(c, in)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, engine.EventRef(id.Event()), waitlist.Claim{ID: id})
	if err != nil {
		return nil, err
	}
	o, err := h.Orders.Of(c.Context, id, r)
	if err != nil {
		return nil, err
	}
	v, err := h.Orders.Show(c, o, orders.Person(o.Email))
	if err != nil {
		return nil, err
	}
	v.AccessToken = h.Secrets.OrderToken(id)
	return v, nil
}

func (h *Handlers) leaveWaitlist(c *route.Call, in *api.WaitlistToken) (*api.WaitlistEntry, error) {
	id, err := h.openEntry(c, in)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[waitlist.Placed](c.Context, h.Node, engine.EventRef(id.Event()), waitlist.Leave{ID: id})
	if err != nil {
		return nil, err
	}
	return view.WaitlistEntry(r, h.Known.PublicID(r.Entry.ID.Event())), nil
}

// openEntry is the entry that a mailed token is of.
func (h *Handlers) openEntry(c *route.Call, in *api.WaitlistToken) (engine.OrderID, error) {
	id, ok := h.Secrets.ParseWaitlist(in.Token)
	if !ok {
		return id, noEntry
	}
	if _, err := h.Known.Find(c.Context, id.Event()); err != nil {
		return id, orders.HideEvent(err, engine.NotFound)
	}
	return id, nil
}

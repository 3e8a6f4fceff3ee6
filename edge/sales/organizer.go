package sales

import (
	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// The handlers in this file let an organization list, read and cancel its orders.

// listOrders returns a page of the orders of an organization, or of one of its events if the request names one, the
// newest first. in.Q searches for people, orders and tickets (orders.Ask). The caller's scopes decide what an
// order shows of its buyer and holders.
func (h *Handlers) listOrders(c *route.Call, in *api.ListOrders) (*api.List[api.Order], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	grant, _ := c.Principal.Grant(org)
	seller := orders.Seller(grant)
	f := readmodel.OrderFilter{Status: in.Status, PromoCode: in.PromoCode, From: in.From, To: in.To, Limit: in.Limit + 1}
	if in.EventID != "" {
		event, err := h.Known.FindOwn(c, in.EventID)
		if err != nil {
			return nil, err
		}
		f.Events = []int64{event}
	} else if f.Events, err = h.Read.EventsOfOrganization(c.Context, org); err != nil {
		return nil, err
	}
	f.Asked = orders.Ask(h.Secrets, in.Q, f.Events)
	if f.BeforeAt, f.Skip, err = cursors.ReadMoment(in.Cursor); err != nil {
		return nil, err
	}
	found, err := h.Read.OrganizationOrders(c.Context, f)
	if err != nil {
		return nil, err
	}
	out := &api.List[api.Order]{Items: make([]api.Order, 0, in.Limit)}
	for i := range found[:min(len(found), in.Limit)] {
		v, err := h.ShowOwn(c, &found[i], seller)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, *v)
	}
	if len(found) > in.Limit {
		moment := func(o *order.Order) int64 { return o.CreatedAt }
		out.NextCursor = cursors.OfMoment(found[:in.Limit], moment, f.BeforeAt, f.Skip)
	}
	return out, nil
}

// getOwnOrder shows one of the organization's orders and, if it waits for a transfer, when the buyer said that the
// money was sent. An id that is no id is refused like an order of somebody else, with ORDER_NOT_FOUND.
func (h *Handlers) getOwnOrder(c *route.Call, in *api.ByID) (*api.Order, error) {
	id, err := engine.ParseID(in.ID)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	o, seller, err := h.Orders.OpenOwn(c, id)
	if err != nil {
		return nil, err
	}
	v, err := h.ShowOwn(c, o, seller)
	if err != nil {
		return nil, err
	}
	return v, h.addSentAt(c, o, v)
}

// ShowOwn shows an order as its organization sees it: with the tags of its tickets.
func (h *Handlers) ShowOwn(c *route.Call, o *order.Order, seller orders.Reader) (*api.Order, error) {
	v, err := h.Orders.Show(c, o, seller)
	if err != nil || len(v.Tickets) == 0 {
		return v, err
	}
	tags, err := h.Attendees.TagsOf(c.Context, o)
	if err != nil {
		return nil, err
	}
	for k := range v.Tickets {
		v.Tickets[k].Tags = view.List(tags[o.FirstTicket+uint32(k)])
	}
	return v, nil
}

// cancelOwnOrder does what cancelOrder does, for the organization that sells the order.
func (h *Handlers) cancelOwnOrder(c *route.Call, in *api.ByID) (*api.Order, error) {
	id, err := engine.ParseID(in.ID)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	_, seller, err := h.Orders.OpenOwn(c, id)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(id.Event()), ledger.CancelOrder{Order: id})
	if err != nil {
		return nil, err
	}
	o, err := h.Orders.Of(c.Context, id, r)
	if err != nil {
		return nil, err
	}
	return h.ShowOwn(c, o, seller)
}

package holders

import (
	"strconv"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// transferTicket offers a ticket to an address. The ticket changes hands once that address claims
// it by the mailed link. transferTicket itself refuses for reasons that lie in the order or in certificates alone.
// The event decides the rest, for the holder version that was read here: if the ticket has changed hands since
// then, the version is out of date and the event refuses.
func (h *Handlers) transferTicket(c *route.Call, in *api.TransferTicket) (*api.Transfer, error) {
	t, err := h.Orders.OpenTicket(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if order.NormalEmail(in.ToEmail) == order.NormalEmail(t.Holder.Email) {
		return nil, route.Invalid(route.Issue{Path: "toEmail", Code: route.IssueDuplicate, Message: "holds the ticket already"})
	}
	// A ticket for a booked time that is over cannot be passed on.
	var closes int64
	if v := t.Order.VisitOf(t.Serial); v != nil {
		_, closes = v.Admits()
	}
	switch {
	case !t.Line.Transferable():
		return nil, engine.Refuse(engine.NotTransferable, admission.NotTransferable{Reason: admission.NotTransferableType})
	case !t.Order.KeepsTickets():
		return nil, engine.Refuse(engine.NotTransferable, admission.NotTransferable{Reason: admission.NotTransferableStatus})
	case closes != 0 && closes <= c.Now.UnixMilli():
		return nil, engine.Refuse(engine.NotTransferable, admission.NotTransferable{Reason: admission.NotTransferableOver})
	}
	if err := h.refuseIfCertified(c, t.Event, t.Serial); err != nil {
		return nil, err
	}
	return h.askTransfer(c, t, admission.Transfer{
		Ticket: t.Holder.Ticket, Version: t.Holder.Version, From: t.Holder.Email, To: in.ToEmail, Name: in.ToName,
	})
}

// refuseIfCertified refuses to pass on a ticket of a course that has earned a certificate, because
// the certificate names the ticket's holder. If the certificate is earned while the ticket is being
// claimed, the next holder does get the ticket, but cannot earn a second certificate with it.
func (h *Handlers) refuseIfCertified(c *route.Call, number int64, ticket uint32) error {
	earned, err := h.Courses.OfTicket(c.Context, number, ticket)
	if err == nil && earned != nil {
		err = engine.Refuse(engine.NotTransferable, admission.NotTransferable{Reason: admission.NotTransferableEarned})
	}
	return err
}

// revokeTransfer takes back an offer that nobody has claimed yet.
func (h *Handlers) revokeTransfer(c *route.Call, in *api.RevokeTransfer) (*api.Transfer, error) {
	t, err := h.Orders.OpenTicket(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	return h.askTransfer(c, t, admission.RevokeTransfer{Ticket: t.Holder.Ticket, Version: t.Holder.Version})
}

// askTransfer asks the event for one step of a transfer, and shows the transfer as it is
// afterwards. The id of a transfer is the ticket's id with the number of the offer, because a
// ticket may be offered several times, one offer after the other.
func (h *Handlers) askTransfer(c *route.Call, t *orders.Held, cmd engine.Command) (*api.Transfer, error) {
	r, err := cluster.AskFor[admission.TransferReply](c.Context, h.Node, engine.EventRef(t.Event), cmd)
	if err != nil {
		return nil, err
	}
	of, id := &r.Transfer, h.Secrets.Event(t.Event).TicketID(t.Holder.Ticket).String()
	v := &api.Transfer{
		ID: id + "-t" + strconv.Itoa(int(of.Round)), TicketID: id, FromEmail: of.From, ToEmail: of.To, ToName: view.Optional(of.Name),
		Status: of.Now(c.Now.UnixMilli()), CreatedAt: api.At(of.At), ExpiresAt: api.At(of.ExpiresAt),
	}
	if of.Status == order.TransferStatusClaimed {
		v.ClaimedAt = api.At(of.EndedAt)
	}
	return v, nil
}

// rescheduleTicket moves a ticket of a reservation to another date or slot. The ledger takes the
// new place before it gives the old one back. The answer waits until lists show the new date.
func (h *Handlers) rescheduleTicket(c *route.Call, in *api.RescheduleTicket) (*api.Ticket, error) {
	t, err := h.Orders.OpenTicket(c, in.TicketID)
	if err != nil {
		return nil, err
	}
	date, err := keeper.ParseDay(in.Date)
	if err != nil {
		return nil, route.Invalid(route.Issue{Path: "date", Code: route.IssueFormat, Message: "must be a date, such as 2031-06-20"})
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(t.Event), ledger.Reschedule{
		Order: t.Order.ID, Record: t.Order, Ticket: t.Serial, Version: t.Holder.Version, Date: date, Slot: in.SlotID,
	})
	if err != nil {
		return nil, err
	}
	// The lists must know the new date before the caller is answered.
	if err := h.Settled(c.Context); err != nil {
		return nil, err
	}
	return h.Orders.ShowTicket(c, r.Order, t.Serial)
}

// claimTransfer makes the addressee of an offer the holder of the ticket. The token of the mailed
// link proves that the caller reads the addressee's mail, so no account is needed. If the offer has
// a name, it is kept for the account that the address may get later.
func (h *Handlers) claimTransfer(c *route.Call, in *api.ClaimTransfer) (*api.Ticket, error) {
	number, serial, round, ok := h.Secrets.ParseTransfer(in.Token)
	if !ok {
		return nil, &engine.Refusal{Code: engine.TicketNotFound}
	}
	if _, err := h.Known.Find(c.Context, number); err != nil {
		return nil, orders.HideEvent(err, engine.TicketNotFound)
	}
	if err := h.refuseIfCertified(c, number, serial); err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[admission.TransferReply](c.Context, h.Node, engine.EventRef(number), admission.ClaimTransfer{Ticket: serial, Round: round})
	if err != nil {
		return nil, err
	}
	if r.Transfer.Name != "" {
		if err := h.Accounts.NoteBuyer(c.Context, order.NormalEmail(r.Transfer.To), r.Transfer.Name); err != nil {
			return nil, err
		}
	}
	// The lists must know the new holder before the caller is answered.
	if err := h.Settled(c.Context); err != nil {
		return nil, err
	}
	o, err := h.Orders.Find(c.Context, r.Order)
	if err != nil {
		return nil, err
	}
	return h.Orders.ShowTicket(c, o, serial)
}

package sales

import (
	"context"
	"errors"
	"strconv"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// held is a ticket in its holder's hands.
type held struct {
	event  int64
	serial uint32
	order  *order.Order
	line   *order.Line
	holder order.Holder
}

func (h *Handlers) transferTicket(c *route.Call, in *api.TransferTicket) (*api.Transfer, error) {
	t, err := h.openTicket(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if order.NormalEmail(in.ToEmail) == order.NormalEmail(t.holder.Email) {
		return nil, route.Invalid(route.Issue{Path: "toEmail", Code: route.IssueDuplicate, Message: "holds the ticket already"})
	}
	var closes int64
	if v := t.order.VisitOf(t.serial); v != nil {
		_, closes = v.Admits()
	}
	switch {
	case !t.line.Transferable():
		return nil, engine.Refuse(engine.NotTransferable, event.NotTransferable{Reason: event.NotTransferableType})
	case t.order.Status != order.StatusCompleted && t.order.Status != order.StatusPartiallyRefunded:
		return nil, engine.Refuse(engine.NotTransferable, event.NotTransferable{Reason: event.NotTransferableStatus})
	case closes != 0 && closes <= c.Now.UnixMilli():
		return nil, engine.Refuse(engine.NotTransferable, event.NotTransferable{Reason: event.NotTransferableOver})
	}
	return h.askTransfer(c, t, event.Transfer{
		Ticket: t.holder.Ticket, Version: t.holder.Version, From: t.holder.Email, To: in.ToEmail, Name: in.ToName,
	})
}

func (h *Handlers) revokeTransfer(c *route.Call, in *api.RevokeTransfer) (*api.Transfer, error) {
	t, err := h.openTicket(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	return h.askTransfer(c, t, event.RevokeTransfer{Ticket: t.holder.Ticket, Version: t.holder.Version})
}

func (h *Handlers) askTransfer(c *route.Call, t *held, cmd engine.Command) (*api.Transfer, error) {
	r, err := cluster.AskFor[event.TransferReply](c.Context, h.Node, engine.EventRef(t.event), cmd)
	if err != nil {
		return nil, err
	}
	of, id := &r.Transfer, h.Secrets.Event(t.event).TicketID(t.holder.Ticket).String()
	v := &api.Transfer{
		ID: id + "-t" + strconv.Itoa(int(of.Round)), TicketID: id, FromEmail: of.From, ToEmail: of.To, ToName: view.Optional(of.Name),
		Status: of.Now(c.Now.UnixMilli()), CreatedAt: api.At(of.At), ExpiresAt: api.At(of.ExpiresAt),
	}
	if of.Status == order.TransferStatusClaimed {
		v.ClaimedAt = api.At(of.EndedAt)
	}
	return v, nil
}

// rescheduleTicket moves a ticket of a reservation to another date or slot, as long as its
// money might be asked for.
func (h *Handlers) rescheduleTicket(c *route.Call, in *api.RescheduleTicket) (*api.Ticket, error) {
	t, err := h.openTicket(c, in.TicketID)
	if err != nil {
		return nil, err
	}
	date, err := keeper.ParseDay(in.Date)
	if err != nil {
		return nil, route.Invalid(route.Issue{Path: "date", Code: route.IssueFormat, Message: "must be a date, such as 2031-06-20"})
	}
	reason, err := h.refuseByTerms(c, t.order, t.serial)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return nil, engine.Refuse(engine.RefundNotEligible, event.NotEligible{Reason: reason})
	}
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, engine.EventRef(t.event), event.Reschedule{
		Order: t.order.ID, Record: t.order, Ticket: t.serial, Version: t.holder.Version, Date: date, Slot: in.SlotID,
	})
	if err != nil {
		return nil, err
	}
	if err := h.Settled(c.Context); err != nil { // so that whoever reads the ticket next reads of its new date
		return nil, err
	}
	return h.holderView(c, r.Order, t.serial)
}

// claimTransfer makes whoever has the mailed link the ticket's holder.
func (h *Handlers) claimTransfer(c *route.Call, in *api.ClaimTransfer) (*api.Ticket, error) {
	number, serial, round, ok := h.Secrets.ParseTransfer(in.Token)
	if !ok {
		return nil, &engine.Refusal{Code: engine.TicketNotFound}
	}
	if _, err := h.Known.Find(c.Context, number); err != nil {
		return nil, eventHidden(err, engine.TicketNotFound)
	}
	r, err := cluster.AskFor[event.TransferReply](c.Context, h.Node, engine.EventRef(number), event.ClaimTransfer{Ticket: serial, Round: round})
	if err != nil {
		return nil, err
	}
	if r.Transfer.Name != "" {
		if err := h.Accounts.NoteBuyer(c.Context, order.NormalEmail(r.Transfer.To), r.Transfer.Name); err != nil {
			return nil, err
		}
	}
	if err := h.Settled(c.Context); err != nil { // so that who reads the ticket next reads of its new holder
		return nil, err
	}
	o, err := h.findOrder(c, r.Order)
	if err != nil {
		return nil, err
	}
	return h.holderView(c, o, serial)
}

// holderView is a ticket as its holder sees it, with what admits.
func (h *Handlers) holderView(c *route.Call, o *order.Order, serial uint32) (*api.Ticket, error) {
	v, err := h.fullView(c, o)
	if err != nil {
		return nil, err
	}
	t := &v.Tickets[serial-o.FirstTicket]
	h.showCodes(t, h.Secrets.Event(o.ID.Event()), serial, o.HolderOf(serial).Version, c.Now)
	return t, nil
}

// openTicket finds a ticket for its holder: in a session whose address is proven, or with
// the order's token while the buyer holds it. For others it does not exist.
func (h *Handlers) openTicket(c *route.Call, text string, tokens ...string) (*held, error) {
	token, err := soleToken(c, tokens)
	if err != nil {
		return nil, err
	}
	o, serial, err := h.findTicket(c, text)
	if err != nil {
		return nil, err
	}
	line, _, ok := o.LineOf(serial)
	if !ok {
		return nil, &engine.Refusal{Code: engine.TicketNotFound}
	}
	t := &held{event: o.ID.Event(), serial: serial, order: o, line: &o.Lines[line], holder: o.OwnerOf(serial)}
	holder := order.NormalEmail(t.holder.Email)
	if c.Principal.EmailProven && order.NormalEmail(c.Principal.Email) == holder {
		return t, nil
	}
	until, opens := h.Secrets.OpensOrder(o.ID, token)
	if !opens || holder != order.NormalEmail(o.Email) {
		return nil, &engine.Refusal{Code: engine.TicketNotFound}
	}
	if !c.Now.Before(until) {
		over, err := h.tokenOver(c, o)
		if err != nil {
			return nil, err
		}
		if over {
			return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The order's access token has ended; sign in with the buyer's address.", Details: route.Reason{Reason: "TOKEN_EXPIRED"}}
		}
	}
	return t, nil
}

// findTicket is the order of a ticket by its public id, and its serial.
func (h *Handlers) findTicket(c *route.Call, text string) (*order.Order, uint32, error) {
	notFound := &engine.Refusal{Code: engine.TicketNotFound}
	id, err := engine.ParseID(text)
	if err != nil || id.Event() < 1 {
		return nil, 0, notFound
	}
	if _, err := h.Known.Find(c.Context, id.Event()); err != nil {
		return nil, 0, eventHidden(err, engine.TicketNotFound)
	}
	serial, ok := h.Secrets.Event(id.Event()).FromTicketID(id)
	if !ok {
		return nil, 0, notFound
	}
	of, err := h.orderOfTicket(c.Context, id.Event(), serial)
	if errors.Is(err, readmodel.ErrNotFound) {
		return nil, 0, notFound
	}
	if err != nil {
		return nil, 0, err
	}
	o, err := h.findOrder(c, of)
	return o, serial, err
}

// orderOfTicket asks the read model, and once more when it has what is committed. The
// ticket may have been sold through another node: the event's answer tells this one how
// far the read model has to be.
func (h *Handlers) orderOfTicket(ctx context.Context, number int64, serial uint32) (of engine.OrderID, err error) {
	for range 2 {
		list, err := h.Read.Tickets(ctx, number, serial, 1)
		if err != nil {
			return of, err
		}
		if len(list) > 0 && list[0].Serial == serial {
			return list[0].Order, nil
		}
		if _, err := cluster.AskFor[event.Record](ctx, h.Node, engine.EventRef(number), event.Get{}); err != nil {
			return of, err
		}
		if err := h.Settled(ctx); err != nil {
			return of, err
		}
	}
	return of, readmodel.ErrNotFound
}

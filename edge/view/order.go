package view

import (
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/event"
)

// Order is an order's record. eventID is the public id of its event.
func Order(o *event.Order, eventID string) api.OrderRecord {
	v := api.OrderRecord{
		ID: o.ID.String(), OrderNumber: secrets.OrderNumber(o.ID), EventID: eventID,
		Status: o.Status, Currency: o.Currency,
		Subtotal: Decimal(o.Subtotal), Discount: Decimal(0), Fees: Decimal(o.Fees), Total: Decimal(o.Total),
		Buyer: api.Buyer{Email: o.Email, Name: Optional(o.Name)},
		Items: make([]api.OrderLine, len(o.Lines)), Payments: Payments(o), Refunds: make([]api.Refund, len(o.Refunds)),
		CreatedAt: api.At(o.CreatedAt), UpdatedAt: api.At(o.UpdatedAt),
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		v.Items[i] = api.OrderLine{
			TicketTypeID: engine.NumberedID(o.ID.Event(), l.Type).String(), Name: l.Name, Quantity: l.Quantity,
			VenueSeatIDs: List(l.Seats), UnitPrice: Decimal(l.UnitPrice), AttendeeName: Optional(l.AttendeeName), AttendeeEmail: Optional(l.AttendeeEmail),
		}
	}
	switch o.Status {
	case event.Completed:
		v.CompletedAt = api.At(o.EndedAt)
	case event.Cancelled:
		v.CancelledAt = api.At(o.EndedAt)
	case event.Pending, event.Processing:
		v.ExpiresAt = api.At(o.ExpiresAt)
	}
	for i := range o.Refunds {
		v.Refunds[i] = Refund(o, i)
	}
	return v
}

// Payments are the attempts to pay an order.
func Payments(o *event.Order) []api.Payment {
	out := make([]api.Payment, len(o.Attempts))
	for i, a := range o.Attempts {
		out[i] = api.Payment{
			Reference: a.Reference, Provider: a.Provider, Status: a.Status,
			Amount: Decimal(a.Amount), Received: Decimal(a.Received), CreatedAt: api.At(a.At),
		}
	}
	return out
}

// Refund is the i-th of an order's refunds.
func Refund(o *event.Order, i int) api.Refund {
	r := &o.Refunds[i]
	return api.Refund{
		ID: refundID(o.ID, i), OrderID: o.ID.String(), Reference: r.Reference,
		Amount: Decimal(r.Amount), Currency: o.Currency, Reason: r.Reason, EvidenceURLs: []string{},
		Status: r.Status, ProviderRef: Optional(r.ProviderRef), RequestedAt: api.At(r.At), ProcessedAt: api.At(r.ProcessedAt),
	}
}

// refundID names a refund by its order and its place among the order's refunds,
// which never changes: no two have the same id, facts of any age give the same
// one again, and the order can be found by it.
func refundID(order engine.OrderID, i int) string { return order.String() + "-r" + strconv.Itoa(i+1) }

// Where says where a seat is, by its id.
type Where func(seat string) (label, section, row string)

// Tickets are those of a completed order, in the order of their serials, as they
// were issued. where is asked for the seats of an order that has some.
func Tickets(o *event.Order, eventID string, codes *secrets.Codes, where Where) []api.TicketRecord {
	if !o.HasSoundSize() {
		panic("view: an order of too many tickets") // whoever asks loses one fact or one request, and not the node
	}
	out := make([]api.TicketRecord, 0, o.Tickets())
	serial := o.FirstTicket
	for i := range o.Lines {
		l := &o.Lines[i]
		name, email := o.Holder(i)
		for k := range l.Quantity {
			t := api.TicketRecord{
				ID: codes.TicketID(serial).String(), Status: "issued", OrderID: o.ID.String(), EventID: eventID,
				TicketTypeID: engine.NumberedID(o.ID.Event(), l.Type).String(), TierName: l.Name,
				Holder:    api.Buyer{Email: email, Name: Optional(name)},
				FaceValue: Decimal(l.UnitPrice), Currency: o.Currency, IssuedAt: api.At(o.EndedAt),
			}
			if l.Seats != nil {
				t.Seat = &api.TicketSeat{ID: l.Seats[k]}
				t.Seat.Label, t.Seat.Section, t.Seat.Row = where(l.Seats[k])
			}
			out = append(out, t)
			serial++
		}
	}
	return out
}

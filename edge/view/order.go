package view

import (
	"strconv"
	"strings"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/statements"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Order returns an order's record, without its tickets. eventID is the public id of its event.
func Order(o *order.Order, eventID string, codes *secrets.Codes) api.OrderRecord {
	v := api.OrderRecord{
		ID: o.ID.String(), OrderNumber: secrets.OrderNumber(o.ID), EventID: eventID,
		Status: o.Status, Currency: o.Currency,
		Subtotal: Decimal(o.Subtotal, o.Currency), Discount: Decimal(o.Discount, o.Currency), Fees: Decimal(o.Fees, o.Currency), Total: Decimal(o.Total, o.Currency),
		Buyer: api.Buyer{Email: o.Email, Name: Optional(o.Name)},
		Items: make([]api.OrderLine, len(o.Lines)), Payments: Payments(o), Refunds: make([]api.Refund, len(o.Refunds)),
		CreatedAt: api.At(o.CreatedAt), UpdatedAt: api.At(o.UpdatedAt), WaivedAt: api.At(o.WaivedAt),
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		var date, slot *string
		if l.Visit != nil {
			date, slot = Optional(l.Visit.Date.String()), Optional(l.Visit.Slot)
		}
		v.Items[i] = api.OrderLine{
			ReservationDate: date, ReservationSlotID: slot,
			TicketTypeID: engine.NumberedID(o.ID.Event(), l.Type).String(), Name: l.Name, Quantity: l.Quantity,
			VenueSeatIDs: List(l.Seats), UnitPrice: Decimal(l.UnitPrice, o.Currency), AttendeeName: Optional(l.AttendeeName), AttendeeEmail: Optional(l.AttendeeEmail),
		}
	}
	if o.Issue != nil {
		v.Reference = Optional(o.Issue.Reference)
	}
	if o.Promo != nil {
		v.PromoCode = &o.Promo.Code
	}
	// The record has the moment at which an order ended only if the order was sold or cancelled, and not if it
	// failed or expired. For an order that is not over, the record has the moment at which it expires.
	switch o.Status {
	case order.StatusCompleted, order.StatusRefunded, order.StatusPartiallyRefunded:
		if !o.Sold() {
			break
		}
		v.CompletedAt = api.At(o.EndedAt)
	case order.StatusCancelled:
		v.CancelledAt = api.At(o.EndedAt)
	case order.StatusPending, order.StatusProcessing:
		v.ExpiresAt = api.At(o.ExpiresAt)
	}
	for i := range o.Refunds {
		v.Refunds[i] = Refund(o, i, codes)
	}
	return v
}

// Payments returns the attempts to pay an order.
func Payments(o *order.Order) []api.Payment {
	out := make([]api.Payment, len(o.Attempts))
	for i, a := range o.Attempts {
		out[i] = api.Payment{
			Reference: a.Reference, Provider: a.Provider, Status: a.Status,
			Amount: Decimal(a.Amount, o.Currency), Received: Decimal(a.Received, o.Currency), CreatedAt: api.At(a.At), Deposit: Deposit(o, &a),
		}
	}
	return out
}

// Deposit returns where the coins of an attempt must go and how many have arrived, or where a bank
// transfer must go. It is empty for payments of other kinds.
func Deposit(o *order.Order, a *order.Attempt) api.Deposit {
	d := &a.Deposit
	switch {
	case d.Address == "":
		return api.Deposit{}
	case a.IsTransfer():
		return api.Deposit{Transfer: showTransfer(o, d)}
	}
	extra := route.Null[string]()
	if d.ExtraID != "" {
		extra = route.Some(d.ExtraID)
	}
	// Arrived is empty until coins arrive. Answers then show 0.
	arrived := d.Arrived
	if arrived == "" {
		arrived = "0"
	}
	return api.Deposit{
		PayAddress: d.Address, PayAmount: d.Amount, PayCurrency: d.Currency, Network: d.Network, PayinExtraID: extra,
		ValidUntil: api.At(d.ValidUntil), Arrived: arrived,
	}
}

// showTransfer returns what a buyer needs for a bank transfer. For euros, it has a GiroCode, which banking apps can
// read, unless statements.GiroCode can make none.
func showTransfer(o *order.Order, d *order.Deposit) *api.BankTransfer {
	to := order.ParseBankAccount(d.Address)
	t := &api.BankTransfer{
		Holder: to.Holder, Account: to.Number, BIC: to.BIC, Amount: d.Amount, Currency: o.Currency, Reference: d.ExtraID, DueAt: api.At(o.ExpiresAt),
	}
	if o.Currency == "EUR" {
		t.QR = statements.GiroCode(to.Holder, to.Number, to.BIC, d.Amount, d.ExtraID)
	}
	return t
}

// Refund returns the record of the order's i-th refund. i counts from 0.
func Refund(o *order.Order, i int, codes *secrets.Codes) api.Refund {
	r := &o.Refunds[i]
	v := api.Refund{
		ID: refundID(o.ID, i), OrderID: o.ID.String(), Reference: r.Reference,
		Amount: Decimal(r.Amount, r.CurrencyIn(o.Currency)), Currency: r.CurrencyIn(o.Currency), Reason: r.Reason, EvidenceURLs: []string{},
		Status: r.ToldStatus(), ProviderRef: Optional(r.ProviderRef), RequestedAt: api.At(r.At), ProcessedAt: api.At(r.ProcessedAt), Manual: o.NeedsPerson(i),
	}
	if r.Deposit != "" {
		v.Message = Optional("Deposit " + r.Deposit)
	}
	v.DecisionNote = Optional(r.Note)
	// Only a refund that somebody asked for (its buyer, a holder or the organization) has an Ask, with a message,
	// evidence and a decision.
	ask := r.Ask
	if ask == nil {
		return v
	}
	if len(ask.Tickets) == 1 {
		id := codes.TicketID(ask.Tickets[0]).String()
		v.TicketID = &id
	}
	v.Message, v.EvidenceURLs, v.DecisionNote = Optional(ask.Message), List(ask.Evidence), Optional(strings.Trim(ask.Note+"\n"+r.Note, "\n"))
	v.DecidedAt = api.At(ask.DecidedAt)
	return v
}

// refundID makes the id of a refund from the order's id and the refund's place among the order's
// refunds. The place never changes. So no two refunds have the same id, facts of any age lead to
// the same id, and the order can be found by the id.
func refundID(order engine.OrderID, i int) string { return order.String() + "-r" + strconv.Itoa(i+1) }

// Where returns the label of a seat and the names of its section and row, by the seat's id.
type Where func(seat string) (label, section, row string)

// Ticket is a ticket's record, with the serial and the holder version from which its codes are
// made.
type Ticket struct {
	api.TicketRecord
	Serial uint32
	// Version is the holder version. Each new holder gets a new version, so that the codes of
	// earlier holders become invalid. The first holder has secrets.Version.
	Version byte
}

// Tickets returns the tickets of a completed order in the order of their serials. Each ticket has
// its present holder and the status issued; admissions are not considered. where is called only for
// tickets with seats, and may be nil for an order without seats. Tickets panics if the order has an
// impossible number of tickets.
func Tickets(o *order.Order, eventID string, codes *secrets.Codes, where Where) []Ticket {
	if !o.HasSoundSize() {
		// The panic fails only one fact or one request. Making too many tickets could end the node.
		panic("view: an order of too many tickets")
	}
	out := make([]Ticket, 0, o.Tickets())
	serial := o.FirstTicket
	for i := range o.Lines {
		l := &o.Lines[i]
		for k := range l.Quantity {
			holder := o.HolderOf(serial)
			t := Ticket{Serial: serial, Version: holder.Version, TicketRecord: api.TicketRecord{
				ID: codes.TicketID(serial).String(), Status: "issued", OrderID: o.ID.String(), EventID: eventID,
				TicketTypeID: engine.NumberedID(o.ID.Event(), l.Type).String(), TierName: l.Name, ProductType: productOf(o),
				Reservation: showBooked(o.VisitOf(serial)), Transferable: l.Transferable(), Refundable: l.Refundable(), RefundDeadline: api.At(o.RefundDeadline(serial)),
				Holder:    &api.Buyer{Email: holder.Email, Name: Optional(holder.Name)},
				FaceValue: Decimal(l.FaceValue(k), o.Currency), Currency: o.Currency, IssuedAt: api.At(o.EndedAt),
			}}
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

// productOf returns the kind of product that an order's tickets are for.
func productOf(o *order.Order) string {
	switch {
	case o.Books():
		return event.ProductReservation
	case o.Digital:
		return event.ProductDigital
	default:
		return event.ProductEvent
	}
}

// showBooked returns the date and the slot that a ticket of a reservation is booked for, or nil for
// another ticket.
func showBooked(v *keeper.Visit) *api.Booked {
	if v == nil {
		return nil
	}
	return &api.Booked{
		Date: v.Date.String(), SlotID: Optional(v.Slot), Label: Optional(v.Label), StartTime: api.At(v.Start), EndTime: api.At(v.End),
	}
}

// StatusAt returns a ticket's status at a moment. A ticket that nobody used expires when its event
// is completed or when its booked date is over. A digital ticket never expires, because it has no
// date, and neither does a ticket of a cancelled event.
func StatusAt(status string, o *order.Order, ticket uint32, ofEvent string, now time.Time) string {
	const issued, expired = "issued", "expired"
	if status != issued || o.Digital || ofEvent == event.StatusCancelled {
		return status
	}
	if ofEvent == event.StatusCompleted {
		return expired
	}
	if v := o.VisitOf(ticket); v != nil {
		if _, closes := v.Admits(); now.UnixMilli() >= closes {
			return expired
		}
	}
	return status
}

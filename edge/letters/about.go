package letters

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/view"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// ticketsOf returns the serials of the tickets that a letter about an order concerns. It returns
// nil if the letter is about the order as a whole, or about money alone.
func ticketsOf(l *mailqueue.Mail, o *order.Order) []uint32 {
	switch l.Template { //nolint:exhaustive // the others are about the order
	case mailqueue.TransferOffered, mailqueue.TransferTaken, mailqueue.TransferRevoked, mailqueue.TicketRescheduled, mailqueue.RefundRequested:
		return []uint32{l.Ticket}
	case mailqueue.TicketVoid:
		return lostTickets(l, o)
	case mailqueue.RefundDue:
		if l.Reason != mailqueue.Granted {
			return nil
		}
	case mailqueue.RefundDenied, mailqueue.RefundProcessed:
	default:
		return nil
	}
	// A refund without a request gives back money alone and ends no ticket.
	if l.Refund < len(o.Refunds) && o.Refunds[l.Refund].Ask != nil {
		return o.Refunds[l.Refund].Ask.Tickets
	}
	return nil
}

// describePart adds to an event (What, Visits and the sums) the part of an order that a letter is about: either
// the tickets of ticketsOf, each with its seat and its own date, or, if there are none, the whole order
// with its total. A letter about tickets that the reader has lost (RefundDue, TicketVoid, TransferTaken) also marks a
// visit as cancelled, unless the reader has another ticket for the same date.
func (h *Writer) describePart(ctx context.Context, e *mail.Event, l *mailqueue.Mail, o *order.Order, p *live.Page) error {
	tickets := ticketsOf(l, o)
	if len(tickets) == 0 {
		return h.describeWhole(ctx, e, o)
	}
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return err
	}
	var visits []*mail.Visit
	for _, t := range view.Tickets(o, h.Known.PublicID(o.ID.Event()), h.Secrets.Event(o.ID.Event()), where) {
		if !slices.Contains(tickets, t.Serial) {
			continue
		}
		visit := h.VisitOf(o, t.Serial, p)
		// The reader of these letters has lost the ticket, so the visit is cancelled unless the reader has another
		// ticket for the same date.
		if place, ok := o.Booking(t.Serial); ok && slices.Contains([]mailqueue.Template{mailqueue.RefundDue, mailqueue.TicketVoid, mailqueue.TransferTaken}, l.Template) {
			visit.Cancelled = !hasBooked(o, readerOf(l, o), place)
		}
		visits = append(visits, visit)
		addItem(e, itemOf(&t))
	}
	narrowVisits(e, visits...)
	return nil
}

// holding is what the reader of a letter about a cancelled event has of one order.
type holding struct {
	count  int64         // how many tickets the reader has
	mayAsk bool          // the reader may ask for the money of at least one of them
	visits []*mail.Visit // the visits for which the tickets are booked
}

// describeHeld adds to the event of a cancellation the tickets that its reader has of an order. A
// buyer has what was neither given back nor passed on. Anybody else has what was passed to them, or
// what a line names them for.
func (h *Writer) describeHeld(ctx context.Context, e *mail.Event, reader string, o *order.Order, p *live.Page) (has holding, err error) {
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return has, err
	}
	for _, t := range view.Tickets(o, h.Known.PublicID(o.ID.Event()), h.Secrets.Event(o.ID.Event()), where) {
		if o.IsGivenBack(t.Serial) || !isFor(o, reader, t.Serial) {
			continue
		}
		has.count++
		has.mayAsk = has.mayAsk || o.IsOwnedBy(reader, t.Serial)
		if v := h.VisitOf(o, t.Serial, p); v != nil {
			has.visits = append(has.visits, v)
		}
		addItem(e, itemOf(&t))
	}
	return has, nil
}

// itemOf returns a ticket in the form in which a letter names it: its type and, if it has one, its
// seat.
func itemOf(t *view.Ticket) mail.Item {
	what := mail.Item{Type: t.TierName}
	if t.Seat != nil {
		what.Section, what.Row, what.Seat = t.Seat.Section, t.Seat.Row, cmp.Or(t.Seat.Label, t.Seat.ID)
	}
	return what
}

// addItem adds a ticket to the list of what a letter is about. Tickets of one type without seats
// become a single item with a quantity.
func addItem(e *mail.Event, of mail.Item) {
	if last := len(e.What) - 1; last >= 0 && of.Seat == "" && e.What[last].Seat == "" && e.What[last].Type == of.Type {
		e.What[last].Quantity = max(e.What[last].Quantity, 1) + max(of.Quantity, 1)
		return
	}
	e.What = append(e.What, of)
}

// describeWhole adds to an event everything that was ordered, each seat as an item of its own, and the total.
func (h *Writer) describeWhole(ctx context.Context, e *mail.Event, o *order.Order) error {
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return err
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		if l.Seats == nil {
			addItem(e, mail.Item{Quantity: l.Quantity, Type: l.Name})
		}
		for _, seat := range l.Seats {
			label, section, row := where(seat)
			e.What = append(e.What, mail.Item{Type: l.Name, Section: section, Row: row, Seat: cmp.Or(label, seat)})
		}
	}
	e.Total, e.Fees = money(o.Total, o.Currency), money(o.Fees, o.Currency)
	return nil
}

// writeAbout makes a mail about an order other than its confirmation. Moments in the mail are in
// the given time zone. It returns nil if the letter has become pointless.
func (h *Writer) writeAbout(ctx context.Context, l *mailqueue.Mail, o *order.Order, to mail.Envelope, about *mail.Order, e *mail.Event, zone string) (*mail.Message, error) {
	switch l.Template { //nolint:exhaustive // the mails that don't list what was bought
	case mailqueue.TransferOffered:
		// Browsers do not send the part of a link after "#", so it appears in no log.
		claim := h.BaseURL + "/tickets/claim#token=" + h.Secrets.TransferToken(o.ID.Event(), l.Ticket, l.Round)
		to.To, to.Name = l.To, l.Name
		return written(mail.TransferOffered(to, l.From, claim, e), nil)
	case mailqueue.TransferTaken:
		// The mail goes to the person who passed the ticket on. Only the buyer may see the order's
		// number and link.
		if order.NormalEmail(l.To) != order.NormalEmail(o.Email) {
			to.To, to.Name, about.Number, about.URL = l.To, "", "", ""
		}
		e.GivenBack = !hasTickets(o, l.To)
		m := mail.TransferTaken(to, l.Taker, about, e)
		if err := h.keepEntry(ctx, &m, o, e); err != nil {
			return nil, err
		}
		return &m, nil
	case mailqueue.TransferRevoked:
		to.To, to.Name = l.To, l.Name
		return written(mail.TransferRevoked(to, l.From, e), nil)
	case mailqueue.TicketVoid:
		return h.writeVoid(ctx, l, o, to, e)
	case mailqueue.PaymentSeen:
		return writePayment(l, o, to, about, e, zone), nil
	case mailqueue.BankTransfer:
		return h.writeBankTransfer(ctx, l, o, to, about, e, zone)
	case mailqueue.OrderCancelled:
		return written(mail.OrderCancelled(to, about, e), nil)
	case mailqueue.TicketRescheduled:
		if l.To != "" && !isFor(o, l.To, l.Ticket) {
			return nil, nil //nolint:nilnil // the ticket was passed on since
		}
		// The person who owns the ticket gets the mail, unless the letter names another reader.
		if addressOwner(&to, about, o, l.Ticket); l.To != "" {
			to.To, to.Name, about.Number, about.URL = l.To, l.Name, "", ""
		}
		e.Was = h.visitBefore(o, l.Ticket, to.To, zone)
		return written(mail.TicketRescheduled(to, about, e), nil)
	case mailqueue.RefundRequested:
		addressOwner(&to, about, o, l.Ticket)
		return written(mail.RefundRequested(to, about, e, money(l.Amount, o.Currency), h.RefundsURL()), nil)
	case mailqueue.RefundDue:
		m := writeRefundDue(l, o, to, about, e, zone)
		if err := h.keepEntry(ctx, &m, o, e); err != nil {
			return nil, err
		}
		return written(m, nil)
	}
	if l.Refund >= len(o.Refunds) {
		return nil, fmt.Errorf("%w: order %s has no refund %d", mailqueue.ErrUndeliverable, o.ID, l.Refund)
	}
	r := &o.Refunds[l.Refund]
	// The mail about a refused refund goes to the person who owns the tickets, with the organizer's note.
	if l.Template == mailqueue.RefundDenied {
		if r.Ask == nil || len(r.Ask.Tickets) == 0 {
			return nil, fmt.Errorf("%w: refund %d of order %s is of no ticket", mailqueue.ErrUndeliverable, l.Refund, o.ID)
		}
		addressOwner(&to, about, o, r.Ask.Tickets[0])
		return written(mail.RefundDenied(to, about, e, money(r.Amount, o.Currency), r.Ask.Note), nil)
	}
	b := mail.Back{Amount: money(r.Amount, r.CurrencyIn(o.Currency)), Reason: l.Reason, ByHand: o.NeedsPerson(l.Refund)}
	addEnded(&b, l, o)
	addKept(&b, l, o)
	return written(mail.RefundProcessed(to, about, e, b), nil)
}

// writeRefundDue makes the mail that says that money will go back. For a withdrawal from the purchase it is
// OrderWithdrawn, which also confirms when the withdrawal was received. For any other refund it is RefundDue: it
// goes to the buyer or, if the ticket was passed on, to the person who asked for the refund. The buyer then gets a
// mail only when the money has moved (RefundProcessed). For RefundDue of a sold order it also sets e.GivenBack,
// which cancels the reader's calendar entry: true if no ticket of the order is left to the reader.
func writeRefundDue(l *mailqueue.Mail, o *order.Order, to mail.Envelope, about *mail.Order, e *mail.Event, zone string) mail.Message {
	b := mail.Back{Amount: money(l.Amount, cmp.Or(l.Currency, o.Currency)), Reason: l.Reason, ByHand: isByHand(l, o)}
	addEnded(&b, l, o)
	if l.Reason == mailqueue.Granted && l.Refund < len(o.Refunds) {
		r := &o.Refunds[l.Refund]
		// A withdrawal from the purchase has a mail of its own, which confirms when it was
		// received.
		if r.AskedBy() == order.AskedByWithdrawal {
			return mail.OrderWithdrawn(to, about, e, b.Amount, b.ByHand, clockOf(r.At, zone))
		}
		if r.Ask != nil {
			b.Note = r.Ask.Note
		}
		if b.Unasked = r.AskedBy() == order.AskedByOrganization; b.Unasked {
			b.Note = r.Reason
		}
	}
	if ticket, ok := passedOn(o, l); ok {
		addressOwner(&to, about, o, ticket)
		b.Reason = mail.PassedOn
	}
	// The reader's calendar entry is cancelled only if no ticket of the order is left to the
	// reader.
	if o.Sold() {
		e.GivenBack = !hasTickets(o, to.To)
	}
	addKept(&b, l, o)
	return mail.RefundDue(to, about, e, b)
}

// keepEntry removes the calendar file from a mail if its reader has tickets of the same event by
// another order. All orders of an event share one entry in a calendar, so the file would cancel the
// visit of the other order. The entry of a booked visit belongs to one order, so it may go.
func (h *Writer) keepEntry(ctx context.Context, m *mail.Message, o *order.Order, e *mail.Event) error {
	if m.Calendar == nil || len(e.Visits) > 0 {
		return nil
	}
	p, err := h.Pages.Event(ctx, o.ID.Event())
	if err != nil {
		return err
	}
	held, err := h.Read.Holdings(ctx, order.CustomerOf(order.NormalEmail(m.To)), m.To, p.Event.Details.Category)
	for _, t := range held {
		if t.Event == o.ID.Event() && (t.Serial < o.FirstTicket || int64(t.Serial-o.FirstTicket) >= o.Tickets()) {
			m.Calendar = nil
		}
	}
	return err
}

// isByHand reports whether a person sends the money that a letter announces. Letters of older facts
// do not name the refund if nobody asked for it. In that case the refund is found by its reason,
// amount and currency.
func isByHand(l *mailqueue.Mail, o *order.Order) bool {
	isTold := func(r order.Refund) bool {
		return r.Ask == nil && r.Reason == l.Reason && r.Amount == l.Amount && r.Currency == l.Currency
	}
	i := l.Refund
	if l.Reason != mailqueue.Granted && (i >= len(o.Refunds) || !isTold(o.Refunds[i])) {
		i = slices.IndexFunc(o.Refunds, isTold)
	}
	return i >= 0 && i < len(o.Refunds) && o.NeedsPerson(i)
}

// addEnded sets in b how many tickets a refund ends, and whether the buyer has other valid tickets of the order.
func addEnded(b *mail.Back, l *mailqueue.Mail, o *order.Order) {
	tickets := ticketsOf(l, o)
	b.Tickets, b.Rest = len(tickets), len(tickets) > 0 && hasTickets(o, o.Email)
}

// hasTickets reports whether a person owns a valid ticket of an order or is named for one.
func hasTickets(o *order.Order, email string) bool {
	for k := range uint32(o.Tickets()) { //nolint:gosec // tickets of an order are few
		if t := o.FirstTicket + k; isFor(o, email, t) && !o.IsGivenBack(t) {
			return true
		}
	}
	return false
}

// addKept sets in b how much of what was paid for a refund's tickets does not go back. It counts what is kept
// first as fees and then as price. It sets nothing if nothing is kept, if nobody can say how much, or if the
// money goes to somebody else than the reader.
func addKept(b *mail.Back, l *mailqueue.Mail, o *order.Order) {
	tickets := ticketsOf(l, o)
	if l.Refund >= len(o.Refunds) {
		return
	}
	r := &o.Refunds[l.Refund]
	if len(tickets) == 0 || r.Currency != "" || b.Reason == mail.PassedOn {
		// Either money alone goes back, or the money does not go to the reader.
		return
	}
	var price, fees int64
	for _, ticket := range tickets {
		if line, k, ok := o.LineOf(ticket); ok {
			face := o.Lines[line].FaceValue(k)
			if price += face; o.Fees > 0 {
				fees += order.Fee(face)
			}
		}
	}
	// An earlier refund without a ticket may have paid back a part of these tickets. Then nobody
	// can tell what was kept.
	for i := range o.Refunds {
		if other := &o.Refunds[i]; i != l.Refund && other.Approved() && len(other.Ask.Tickets) == 0 {
			return
		}
	}
	kept := price + fees - r.Amount
	if kept <= 0 {
		return
	}
	ofFees := min(kept, fees)
	b.Paid, b.KeptFees, b.KeptPrice = money(price+fees, o.Currency), money(ofFees, o.Currency), money(kept-ofFees, o.Currency)
}

// readerOf returns the address of the person who gets a letter about an order. That is the first of these whom
// there is: the person whom the letter names, the one who asked for the refund of a ticket that was passed on,
// the owner of the first ticket that the letter is about (unless it is about money), and the buyer.
func readerOf(l *mailqueue.Mail, o *order.Order) string {
	if l.To != "" {
		return l.To
	}
	if ticket, ok := passedOn(o, l); ok {
		return o.OwnerOf(ticket).Email
	}
	if tickets := ticketsOf(l, o); len(tickets) > 0 && l.Template != mailqueue.RefundProcessed && l.Template != mailqueue.RefundDue {
		return o.OwnerOf(tickets[0]).Email
	}
	return o.Email
}

// passedOn returns the first ticket of a granted refund, if the person who asked for the refund got that ticket
// from somebody else. Otherwise ok is false.
func passedOn(o *order.Order, l *mailqueue.Mail) (ticket uint32, ok bool) {
	if l.Reason != mailqueue.Granted || l.Refund >= len(o.Refunds) {
		return 0, false
	}
	ask := o.Refunds[l.Refund].Ask
	// A holder's version of 1 means that the ticket never changed hands.
	if ask == nil || ask.By != order.AskedByBuyer || len(ask.Tickets) == 0 || o.OwnerOf(ask.Tickets[0]).Version == 1 {
		return 0, false
	}
	return ask.Tickets[0], true
}

// addressOwner addresses a mail to a ticket's owner. If the ticket was ever passed on, addressOwner removes the
// order's number and link from the mail, because the link opens the whole order.
func addressOwner(to *mail.Envelope, about *mail.Order, o *order.Order, ticket uint32) {
	owner := o.OwnerOf(ticket)
	if owner.Version > 1 {
		about.Number, about.URL = "", ""
	}
	to.To, to.Name = owner.Email, owner.Name
}

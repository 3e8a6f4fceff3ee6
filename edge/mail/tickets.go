package mail

import (
	"fmt"
	htmltemplate "html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"rsc.io/qr"
)

// Event is what mails tell of an event.
type Event struct {
	ID        string // public
	Revision  int    // counts its changes
	Changed   time.Time
	Title     string
	Organizer string
	Page      string // the address of its public page, where a program links it; else ""
	// Start, End and Doors are in the event's time zone; zero if the event takes place at no time
	// of its own.
	Start, End, Doors             time.Time
	Venue, Address, City, Country string
	Hall                          bool    // it takes place at a venue
	Online                        bool    // it takes place online, only or also
	Digital                       bool    // it is a product that is used rather than attended
	Course                        bool    // it is a course, which is Digital
	Link                          string  // where it takes place online or is delivered; only buyers may see it
	Note                          string  // what buyers need there
	Visits                        []Visit // booked visits of a reservation
	Gone                          []Visit // visits for which the reader has no ticket any more: the calendar file takes them out
	Was                           *Visit  // what a visit that was moved had been booked for, Cancelled if the reader has nothing there any more; nil: nothing was moved
	Cancelled                     bool    // it does not take place
	CancelReason                  string  // why, in the organizer's words; "": nothing is said
	GivenBack                     bool    // the mail's order has no ticket any more, because each was given back
	RotatingOnly                  bool    // its gates take no code on paper
	Cover                         string  // the address of its picture, which is a file of ours in the measures of Open Graph; "": none
	// What lists the tickets that the mail is about. It is empty if the mail has a list of its own, or
	// is about no tickets. Total is what they cost, with the Fees.
	What        []Item
	Total, Fees Money
}

// isVoid reports whether nothing of the order can be used any more. What is used rather than attended stays its
// buyer's when its sale is cancelled, until it is given back.
func (e *Event) isVoid() bool { return e.GivenBack || e.Cancelled && !e.Digital }

// hasEnded reports whether the reader of a mail has no more tickets for the event, or for a visit of it.
func (e *Event) hasEnded() bool {
	return e.isVoid() || slices.ContainsFunc(e.Visits, func(v Visit) bool { return v.Cancelled })
}

// Item is what is bought: some tickets of a type, or a ticket with its seat.
type Item struct {
	Quantity  int64 // 0: one ticket, which the mail names by itself
	Type      string
	Row, Seat string
	Section   string
}

// describeItem names what is bought in one line.
func (t *Item) describeItem(w *words) string {
	if t.Quantity > 0 {
		return fmt.Sprintf("%d x %s", t.Quantity, cleanLabel(t.Type))
	}
	if seat := w.showSeat(t.Section, t.Row, t.Seat); seat != "" {
		return cleanLabel(t.Type) + ", " + seat
	}
	return cleanLabel(t.Type)
}

// Seat says which seat a ticket is for; "" if it is for none.
func Seat(l Language, section, row, seat string) string {
	return wordsOf[l].showSeat(section, row, seat)
}

// showSeat says which seat a ticket is for; "" if it is for none.
func (w *words) showSeat(section, row, seat string) string {
	if seat = cleanLabel(seat); seat == "" {
		return ""
	}
	if row = cleanLabel(row); row != "" {
		seat = w.row + row + ", " + w.seat + seat
	} else {
		seat = w.seat + seat
	}
	if section = cleanLabel(section); section != "" {
		seat = section + ", " + seat
	}
	return seat
}

// Unlink shows the links of the organizer's texts as plain words, and leaves its picture out.
func (e *Event) Unlink() { e.Link, e.Note, e.Cover = "", Unlinked(e.Note), "" }

// Unlink shows the links of the organizer's texts as plain words. Links of ours stay.
func (o *Order) Unlink() {
	o.Note = Unlinked(o.Note)
	for i := range o.Lines {
		o.Lines[i].Link, o.Lines[i].Note = "", Unlinked(o.Lines[i].Note)
	}
}

// Order is what mails tell of an order.
type Order struct {
	Number string
	URL    string // where its buyer sees it
	Live   string // where its tickets show codes that rotate
	PDF    string // where its tickets can be printed; "": nowhere
	ICS    string // its calendar file; "": it has no time of its own
	Lines  []Line
	Fees   Money
	// Discount is what a promo code takes off the lines.
	Discount Money
	Total    Money
	Tickets  []Ticket // the first MaxTickets, in the order of the lines
	Count    int      // of all tickets that its buyer has
	Note     string   // from the person who gives the tickets; "": none
	Gift     bool     // the organization gives its tickets away
	Hosted   bool     // something of it is delivered by its page alone
	// When its buyer waived the right to withdraw, and until when the buyer may withdraw; zero if
	// that does not apply.
	WaivedAt, WithdrawUntil time.Time
}

// Line is one line of an order.
type Line struct {
	Name     string
	Quantity int64
	Price    Money  // of one ticket; none: it is free
	Link     string // where this ticket type is delivered; "": as the event is
	Note     string
}

// Ticket is one ticket.
type Ticket struct {
	Type, Holder       string
	Section, Row, Seat string
	Code               string // the full code, which a person may type at the desk; "": the ticket admits nobody any more
	Printed            string // what a gate scans
	Visit              *Visit // when it admits; nil: at the event's own time, or at none
}

// MaxTickets is how many of an order's tickets its mail shows. The order's link shows all of them.
const MaxTickets = 20

// OrderConfirmation brings a buyer the tickets, each with its QR code if it is scanned at a gate,
// and the event's calendar file.
func OrderConfirmation(to Envelope, o *Order, e *Event) (Message, error) {
	tickets, pictures, err := showTickets(to.words(), o.Tickets, e)
	if err != nil {
		return Message{}, err
	}
	w := to.words()
	lines, ordered := make([]values, len(o.Lines)), int64(0)
	for i, l := range o.Lines {
		ordered += l.Quantity
		lines[i] = values{"Name": cleanLabel(l.Name), "Quantity": l.Quantity, "Price": w.showMoney(l.Price), "Link": webLink(l.Link), "Note": splitNote(l.Note)}
	}
	gone := ordered - int64(o.Count)
	if e.GivenBack {
		gone = 0 // the mail says so of the whole order
	}
	m := composeMessage("order_confirmation", to, values{
		"Empty": e.isVoid() || o.Count == 0, "Ordered": ordered, "Gone": gone,
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Note": splitNote(o.Note), "Gift": o.Gift, "Hosted": o.Hosted,
		"Fees": w.showMoney(o.Fees), "Discount": w.showMoney(o.Discount), "Total": w.showMoney(o.Total),
		"WaivedAt": w.showMoment(o.WaivedAt), "WithdrawUntil": w.showMoment(o.WithdrawUntil),
		"Live": o.Live, "PDF": o.PDF, "ICS": o.ICS, "Lines": lines, "Tickets": tickets, "Count": o.Count, "More": o.Count > len(o.Tickets),
	})
	m.Pictures = pictures
	if o.Count > 0 || e.isVoid() { // what was passed on is somebody else's date, and what is void takes its entry out
		m.Calendar = e.makeCalendar(to.words())
	}
	return m, nil
}

// AttendeeTickets brings an attendee who is not the buyer the attendee's own tickets of an order,
// and nothing that opens the order. giver is who passed the ticket on;
// "" if the buyer named the attendee.
func AttendeeTickets(to Envelope, giver string, o *Order, e *Event) (Message, error) {
	tickets, pictures, err := showTickets(to.words(), o.Tickets, e)
	if err != nil {
		return Message{}, err
	}
	m := composeMessage("attendee_tickets", to, values{
		"Giver": to.words().showPerson(giver), "Event": e.templateValues(to.words()), "Tickets": tickets, "Count": o.Count, "More": o.Count > len(o.Tickets), "Live": o.Live,
	})
	m.Pictures, m.Calendar = pictures, e.makeCalendar(to.words())
	return m, nil
}

// showTickets makes tickets for the templates, each with a picture of its printed code if it is
// scanned at a gate.
func showTickets(w *words, all []Ticket, e *Event) (tickets []values, pictures []Picture, err error) {
	tickets = make([]values, len(all))
	for i, t := range all {
		tickets[i] = values{
			"Number": i + 1, "Type": cleanLabel(t.Type), "Holder": cleanLabel(t.Holder), "Code": "",
			"When": "", "Seat": w.showSeat(t.Section, t.Row, t.Seat), "Picture": htmltemplate.URL(""),
		}
		if t.Visit != nil {
			tickets[i]["When"] = t.Visit.describeUnlinked(w)
		}
		if e.isVoid() || t.Code == "" || !e.Hall {
			continue // nobody should come with a code that admits nobody, and there may be no door at all
		}
		tickets[i]["Code"] = t.Code
		if e.RotatingOnly {
			continue
		}
		code, err := qr.Encode(t.Printed, qr.M) // the printed code, because the full code opens no gate and the one on a screen expires
		if err != nil {
			return nil, nil, fmt.Errorf("mail: QR of a ticket: %w", err)
		}
		p := Picture{Name: fmt.Sprintf("ticket-%d", i+1), PNG: code.PNG()}
		pictures = append(pictures, p)
		tickets[i]["Picture"] = htmltemplate.URL("cid:" + p.contentID()) //nolint:gosec // our own words
	}
	return tickets, pictures, nil
}

// Coins describes a payment in coins that has arrived. The amounts are decimals that we have
// computed with, so they are safe to show.
type Coins struct {
	Ticker         string // as the provider has it
	Arrived, Asked string
	Missing        string // "" of a payment that is not short
}

// PaymentSeen tells a buyer that coins for an order have been seen but do not pay it yet: they are
// being confirmed, or some are missing, which the buyer may still send until a moment.
func PaymentSeen(to Envelope, o *Order, e *Event, c Coins, until time.Time) Message {
	w := to.words()
	coins := func(amount string) string {
		if amount == "" {
			return ""
		}
		return w.showDecimal(amount) + " " + cleanLabel(c.Ticker)
	}
	return composeMessage("payment_seen", to, values{
		"Event": e.templateValues(to.words()), "Number": o.Number, "URL": o.URL, "Until": to.words().showMoment(until),
		"Arrived": coins(c.Arrived), "Asked": coins(c.Asked), "Missing": coins(c.Missing),
	})
}

// Transfer is a transfer to a bank account, which pays an order.
type Transfer struct {
	Holder, Account, BIC string // the BIC may be ""
	Amount               Money  // what is to be transferred, which is less than Asked if something Came
	Asked, Came          Money
	Reference            string
}

// BankTransfer tells a buyer where to transfer the money for an order, or the rest of it, and until when.
// As a reminder it says that the money has not come and that the order is about to end.
func BankTransfer(to Envelope, o *Order, e *Event, t Transfer, until time.Time, reminder bool) Message {
	w := to.words()
	return composeMessage("bank_transfer", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Until": w.showMoment(until), "Reminder": reminder,
		"Holder": cleanLabel(t.Holder), "Account": cleanLabel(t.Account), "BIC": cleanLabel(t.BIC), "Amount": w.showMoney(t.Amount), "Asked": w.showMoney(t.Asked), "Came": w.showMoney(t.Came), "Reference": t.Reference,
	})
}

// OrderCancelled tells a buyer that an order has ended without tickets.
func OrderCancelled(to Envelope, o *Order, e *Event) Message {
	return composeMessage("order_cancelled", to, values{"Event": e.templateValues(to.words()), "Number": o.Number, "URL": o.URL})
}

// OrderWithdrawn confirms a buyer's withdrawal from what the event lists, and tells the amount that goes
// back, if any. byHand says that the organizer sends it, and no provider does.
func OrderWithdrawn(to Envelope, o *Order, e *Event, amount Money, byHand bool, at time.Time) Message {
	w := to.words()
	return composeMessage("order_withdrawn", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Amount": w.showMoney(amount), "ByHand": byHand, "At": w.showMoment(at),
	})
}

// TicketRescheduled tells a ticket's holder when it admits now, which is the event's only visit in
// e, and when it did before, which e Was. Its file removes from a calendar what it Was if that is cancelled.
func TicketRescheduled(to Envelope, o *Order, e *Event) Message {
	m := composeMessage("ticket_rescheduled", to, values{"Event": e.templateValues(to.words()), "Number": o.Number, "URL": o.URL, "Buyer": o.URL != ""})
	file := *e
	if e.Was != nil && e.Was.Cancelled {
		file.Visits = append(slices.Clone(e.Visits), *e.Was)
	}
	m.Calendar = file.makeCalendar(to.words())
	return m
}

// RefundRequested tells the person who asked for a ticket's money that the organizer will decide. The person
// takes the request back at refunds. Only the order's buyer, to whom the money goes, gets its number and URL.
func RefundRequested(to Envelope, o *Order, e *Event, amount Money, refunds string) Message {
	w := to.words()
	return composeMessage("refund_requested", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Buyer": o.URL != "", "Amount": w.showMoney(amount), "Refunds": refunds,
	})
}

// RefundDenied tells the person who asked for a ticket's money that it is not refunded, with the
// organizer's reason. Only the order's buyer, to whom the money would go, gets its number and URL.
func RefundDenied(to Envelope, o *Order, e *Event, amount Money, reason string) Message {
	w := to.words()
	return composeMessage("refund_denied", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Buyer": o.URL != "", "Amount": w.showMoney(amount), "Note": quoteLines(reason),
	})
}

// PassedOn is the reason of RefundDue in a mail to a person who was passed the ticket and asked:
// the refund was granted, and the money goes to the buyer.
const PassedOn = "passed_on"

// Back is money that goes back.
type Back struct {
	Amount  Money
	Reason  string // of order.Refund, or PassedOn
	Tickets int    // how many tickets it ends
	Rest    bool   // other tickets of the order stay valid
	ByHand  bool   // the organizer sends it, and no provider does
	Unasked bool   // the organizer gives it without a request
	Note    string // what the organizer writes of a request that is granted, or why it gives the money; "": nothing
	// Paid is what was paid for the tickets that it ends, if that is more than the Amount. KeptFees of it and
	// KeptPrice do not go back.
	Paid, KeptFees, KeptPrice Money
}

// values are what all templates about money that goes back show.
func (b *Back) values(w *words, o *Order, e *Event) values {
	return values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Amount": w.showMoney(b.Amount), "Reason": b.Reason, "Count": b.Tickets, "Rest": b.Rest,
		"ByHand": b.ByHand, "Unasked": b.Unasked, "Note": quoteLines(b.Note), "Paid": w.showMoney(b.Paid), "KeptFees": w.showMoney(b.KeptFees), "KeptPrice": w.showMoney(b.KeptPrice),
	}
}

// RefundDue tells a buyer that an amount goes back. If it ends the last ticket that its reader has for a time,
// its file takes that out of the calendar.
func RefundDue(to Envelope, o *Order, e *Event, b Back) Message {
	m := composeMessage("refund_due", to, b.values(to.words(), o, e))
	if b.Tickets > 0 && e.hasEnded() {
		m.Calendar = e.makeCalendar(to.words())
	}
	return m
}

// These are reasons of a TicketVoid beside PassedOn: the buyer gave the ticket back, or the organizer took it back.
const (
	GivenBack = "given_back"
	TakenBack = "taken_back"
)

// Void is about tickets that somebody has no more. Others than that person have seen to it.
type Void struct {
	Reason     string // PassedOn (to somebody else), GivenBack or TakenBack
	Count      int    // how many tickets
	Rest       bool   // their reader has others of the order, which stay valid
	IsPaidBack bool   // money goes back for them, to the person who paid
}

// TicketVoid tells somebody who has tickets that another person bought that they are no longer valid. If they
// are the last ones that its reader has for a time, its file takes that out of the calendar.
func TicketVoid(to Envelope, e *Event, v Void) Message {
	m := composeMessage("ticket_void", to, values{"Event": e.templateValues(to.words()), "Reason": v.Reason, "Count": v.Count, "Rest": v.Rest, "IsPaidBack": v.IsPaidBack})
	if e.hasEnded() {
		m.Calendar = e.makeCalendar(to.words())
	}
	return m
}

// RefundProcessed tells a buyer that an amount has gone back.
func RefundProcessed(to Envelope, o *Order, e *Event, b Back) Message {
	return composeMessage("refund_processed", to, b.values(to.words(), o, e))
}

// EventChanged tells somebody who has tickets of an event what has changed. If its holders may ask
// their money back for that, until says how long, and refunds where; o is the order of a buyer, nil to
// somebody who has not bought.
func EventChanged(to Envelope, was, now *Event, o *Order, until time.Time, refunds string) Message {
	w := to.words()
	before, after := was.templateValues(w), now.templateValues(w)
	var changes []values
	for _, what := range []string{"Title", "When", "Where"} {
		if before[what] != after[what] {
			changes = append(changes, values{"What": what, "Was": before[what], "Now": after[what]})
		}
	}
	v := values{"Event": after, "Known": before["Title"], "Changes": changes, "Moved": before["When"] != after["When"], "Until": w.showMoment(until), "Refunds": refunds, "Buyer": o != nil, "Paid": false, "Number": "", "URL": ""}
	if o != nil {
		v["Number"], v["URL"], v["Paid"] = o.Number, o.URL, o.Total.Amount != ""
	}
	m := composeMessage("event_changed", to, v)
	m.Calendar = now.makeCalendar(w)
	return m
}

// Cancelled is what a letter about a cancellation says of the money.
type Cancelled struct {
	Orders  []*Order // that its reader bought; Count is how many of each one's tickets the reader still has
	IsPaid  bool     // something was paid for what its reader has, or nobody knows
	Refunds string   // where its reader asks for the money; "" for somebody who may not ask
}

// paidOrders returns the orders whose payment may still go back, because the reader has tickets by them. If
// there are none, it returns all orders.
func (c *Cancelled) paidOrders() (orders []*Order, isPaid bool) {
	for _, o := range c.Orders {
		if o.Count > 0 && o.Total.Amount != "" {
			orders = append(orders, o)
		}
	}
	if len(orders) == 0 {
		return c.Orders, false
	}
	return orders, true
}

// EventCancelled tells somebody who has tickets of an event that it will not take place, and why if the
// organizer has said so. It is about all orders of its reader.
func EventCancelled(to Envelope, e *Event, c Cancelled) Message {
	told, isPaid := c.paidOrders()
	numbers := make([]string, len(told))
	for i, o := range told {
		numbers[i] = o.Number
	}
	v := values{
		"Event": e.templateValues(to.words()), "Refunds": c.Refunds, "Buyer": len(c.Orders) > 0, "HasPaid": isPaid, "Paid": c.IsPaid, "Number": strings.Join(numbers, ", "), "Several": len(told) > 1, "URL": "", "Orders": c.Orders,
	}
	if len(c.Orders) == 1 {
		v["URL"], v["Orders"] = c.Orders[0].URL, []*Order(nil)
	}
	m := composeMessage("event_cancelled", to, v)
	m.Calendar = e.makeCalendar(to.words())
	return m
}

// quoteLines returns the lines of what an organizer writes to somebody. Anybody may be given a free
// ticket, so links are removed from the lines, as from names.
func quoteLines(text string) []string {
	lines := splitNote(text)
	for i := range lines {
		lines[i] = unlinkLine(lines[i])
	}
	return lines
}

// showItems is what the mail is about, in one line.
func (e *Event) showItems(w *words) string {
	all := make([]string, 0, MaxTickets)
	for i := range e.What[:min(len(e.What), MaxTickets)] {
		all = append(all, e.What[i].describeItem(w))
	}
	if more := len(e.What) - MaxTickets; more > 0 {
		all = append(all, fmt.Sprintf(w.more, more))
	}
	return strings.Join(all, "; ")
}

// countItems is how many tickets the mail is about; 0 if it lists none.
func (e *Event) countItems() (n int64) {
	for i := range e.What {
		n += max(e.What[i].Quantity, 1)
	}
	return n
}

// showTotal is what that costs.
func (e *Event) showTotal(w *words) string {
	total := w.showMoney(e.Total)
	if total == "" || e.Fees.Amount == "" {
		return total
	}
	return fmt.Sprintf(w.fees, total, w.showMoney(e.Fees))
}

// templateValues makes the event for the templates.
func (e *Event) templateValues(w *words) values {
	v := values{
		"What": e.showItems(w), "Total": e.showTotal(w), "Tickets": e.countItems(),
		"Title": cleanLabel(e.Title), "Organizer": cleanLabel(e.Organizer), "When": e.showTime(w, func(v Visit) string { return v.describeUnlinked(w) }), "Doors": "", "Where": e.showPlace(w),
		"Cancelled": e.Cancelled, "Why": quoteLines(e.CancelReason), "Cover": e.Cover, "GivenBack": e.GivenBack, "Void": e.isVoid(), "Hall": e.Hall, "Rotating": e.Hall && e.RotatingOnly, "Online": e.Online, "Digital": e.Digital, "Course": e.Course,
		"Was": "", "Left": false, "Dates": len(e.Visits), "Link": "", "Note": []string(nil),
	}
	if !e.isVoid() { // nobody should be led to where nothing takes place
		v["Link"], v["Note"] = webLink(e.Link), splitNote(e.Note)
	}
	if e.Was != nil {
		v["Was"], v["Left"] = e.Was.describeUnlinked(w), e.Was.Cancelled
	}
	if !e.Doors.IsZero() && !e.Start.IsZero() {
		v["Doors"] = w.showTime(e.Doors) + w.oClock
		if !sameDay(e.Doors, e.Start) {
			v["Doors"] = w.showDay(e.Doors) + ", " + v["Doors"].(string) //nolint:errcheck // a text, two lines before
		}
	}
	return v
}

// When is the event's time in its own time zone, or what is booked of it; "" if it has no time of its
// own.
func (e *Event) When(l Language) string {
	return e.showTime(wordsOf[l], func(v Visit) string { return v.When(l) })
}

func (e *Event) showTime(w *words, visit func(Visit) string) string {
	if len(e.Visits) > 0 {
		all := make([]string, len(e.Visits))
		for i, v := range e.Visits {
			all[i] = visit(v)
		}
		return strings.Join(all, "; ")
	}
	if e.Start.IsZero() {
		return ""
	}
	return w.showSpan(e.Start, e.End)
}

// Where is the event's place; "" if it has none.
func (e *Event) Where(l Language) string { return e.showPlace(wordsOf[l]) }

func (e *Event) showPlace(w *words) string {
	var parts []string
	if e.Hall {
		for _, s := range []string{e.Venue, e.Address, e.City, e.Country} {
			if s = cleanLabel(s); s != "" {
				parts = append(parts, s)
			}
		}
	}
	place := strings.Join(parts, ", ")
	switch {
	case e.Online && place == "":
		return w.online
	case e.Online:
		return place + w.alsoOnline
	}
	return place
}

// webLink is an address as it is shown and clicked, or "" if it is not a web address. Buyers paid for
// an organizer's links, so they are not shortened.
func webLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || oneLine(s) != s || strings.ContainsAny(s, " <>\"") {
		return ""
	}
	return s
}

// maxNote bounds an organizer's note, in lines.
const maxNote = 40

// splitNote splits what an organizer wrote for buyers into lines. Codes and passwords may be in them, so
// only unprintable characters are removed.
func splitNote(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" && len(out) < maxNote {
			out = append(out, line)
		}
	}
	return out
}

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

// Event is what mails say about an event.
type Event struct {
	ID        string // the public id
	Revision  int    // counts its changes
	Changed   time.Time
	Title     string
	Organizer string
	Page      string // the address of its public page, for the link in a calendar file; "": no link
	// Start, End and Doors are in the event's time zone; zero if the event takes place at no time
	// of its own.
	Start, End, Doors             time.Time
	Venue, Address, City, Country string
	Hall                          bool    // the event takes place at a venue
	Online                        bool    // the event takes place online; it may also have a venue (Hall)
	Digital                       bool    // the event is a product that is used rather than attended
	Course                        bool    // the event is a course; Digital is then set too
	Link                          string  // where the event takes place online or is delivered; only buyers may see it
	Note                          string  // what buyers need to know to use the Link
	Visits                        []Visit // booked visits of a reservation
	Gone                          []Visit // visits for which the reader has no ticket any more: the calendar file takes them out
	Was                           *Visit  // the old time of a visit that was moved; Cancelled if the reader has no ticket for that time any more; nil: nothing was moved
	Cancelled                     bool    // the event does not take place
	CancelReason                  string  // why the event is cancelled, in the organizer's words; "": the organizer gave no reason
	GivenBack                     bool    // all tickets of the order were given back or, in mails about tickets that the reader has lost, the reader has none left
	RotatingOnly                  bool    // the event's gates accept only rotating codes from a screen
	Cover                         string  // the address of the event's picture, one of our files in the size for Open Graph; "": none
	// What lists the tickets that the mail is about. It is empty if the mail has a list of its own, or
	// is about no tickets. Total is what these tickets cost, including the Fees.
	What        []Item
	Total, Fees Money
}

// isVoid reports whether the order's tickets can't be used any more: they were given back, or the event was
// cancelled. A cancelled digital product stays usable for those who bought it.
func (e *Event) isVoid() bool { return e.GivenBack || e.Cancelled && !e.Digital }

// hasEnded reports whether the reader of a mail has no ticket any more for the event, or for one of its visits.
func (e *Event) hasEnded() bool {
	return e.isVoid() || slices.ContainsFunc(e.Visits, func(v Visit) bool { return v.Cancelled })
}

// Item is what is bought: some tickets of a type, or a ticket with its seat.
type Item struct {
	Quantity  int64 // 0: one ticket, which the mail lists without a number
	Type      string
	Row, Seat string
	Section   string
}

// describeItem names the item in one line: the quantity and the type, or the type and the seat.
func (t *Item) describeItem(w *words) string {
	if t.Quantity > 0 {
		return fmt.Sprintf("%d x %s", t.Quantity, cleanLabel(t.Type))
	}
	if seat := w.showSeat(t.Section, t.Row, t.Seat); seat != "" {
		return cleanLabel(t.Type) + ", " + seat
	}
	return cleanLabel(t.Type)
}

// Seat names a seat with its section and row, as far as they are given; "" if seat is empty.
func Seat(l Language, section, row, seat string) string {
	return wordsOf[l].showSeat(section, row, seat)
}

// showSeat does what Seat does.
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

// Unlink removes the organizer's link and picture from the event, and makes plain words of links in its note.
func (e *Event) Unlink() { e.Link, e.Note, e.Cover = "", Unlinked(e.Note), "" }

// Unlink removes the organizer's links from the order's lines, and makes plain words of links in its notes.
// Our own links, such as URL, stay.
func (o *Order) Unlink() {
	o.Note = Unlinked(o.Note)
	for i := range o.Lines {
		o.Lines[i].Link, o.Lines[i].Note = "", Unlinked(o.Lines[i].Note)
	}
}

// Order is what mails say about an order.
type Order struct {
	Number string
	URL    string // the page where the buyer sees the order
	Live   string // the page where the order's tickets show rotating codes
	PDF    string // where the tickets can be fetched for printing; "": they can't be printed
	ICS    string // the address of the order's calendar file; "": there is no time to put into a calendar
	Lines  []Line
	Fees   Money
	// Discount is what a promo code takes off the lines.
	Discount Money
	Total    Money
	Tickets  []Ticket // the first MaxTickets, in the order of the lines
	Count    int      // how many tickets of the order the reader has, also beyond Tickets
	Note     string   // from the person who gives the tickets; "": none
	Gift     bool     // the organization gives the order's tickets away
	Hosted   bool     // the buyer gets a part of the order only on its page
	// WaivedAt is when the buyer waived the right to withdraw; WithdrawUntil is until when the buyer may
	// withdraw. Each is zero if it does not apply.
	WaivedAt, WithdrawUntil time.Time
}

// Line is what mails show of one line of an order.
type Line struct {
	Name     string
	Quantity int64
	Price    Money  // the price of one ticket; the zero value: the ticket is free
	Link     string // where this ticket type is delivered; "": at the Event's Link
	Note     string
}

// Ticket is what mails show of one ticket.
type Ticket struct {
	Type, Holder       string
	Section, Row, Seat string
	Code               string // the full code, which a person may type at the desk; "": the ticket admits nobody any more
	Printed            string // what a gate scans
	Visit              *Visit // when the ticket admits; nil: at the event's own time, if it has one
}

// MaxTickets is how many of an order's tickets a mail shows at most. The order's page shows all of them.
const MaxTickets = 20

// OrderConfirmation tells a buyer what was ordered for how much, and brings the tickets that the buyer still has,
// with QR codes as showTickets says, and the event's calendar file. It says how many tickets others have by now. A
// buyer who has passed all tickets on gets no calendar file. The calendar file of a void order removes the event's
// entry.
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
	// A buyer who has passed all tickets on gets no calendar file. If the order is void, its file removes the entry.
	if o.Count > 0 || e.isVoid() {
		m.Calendar = e.makeCalendar(to.words())
	}
	return m, nil
}

// AttendeeTickets brings an attendee who is not the buyer the attendee's own tickets of an order, and no link
// to the order. giver is the person who passed the ticket on; "" if the buyer named the attendee.
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

// showTickets makes tickets for the templates. A ticket has a picture of its printed code, unless it admits nobody
// any more, the event has no venue, or the gates accept only rotating codes.
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
			continue // We show no code that admits nobody, and none for an event without a venue.
		}
		tickets[i]["Code"] = t.Code
		if e.RotatingOnly {
			continue
		}
		code, err := qr.Encode(t.Printed, qr.M) // A gate does not scan the full code, and a code on a screen expires.
		if err != nil {
			return nil, nil, fmt.Errorf("mail: QR of a ticket: %w", err)
		}
		p := Picture{Name: fmt.Sprintf("ticket-%d", i+1), PNG: code.PNG()}
		pictures = append(pictures, p)
		tickets[i]["Picture"] = htmltemplate.URL("cid:" + p.contentID()) //nolint:gosec // our own words
	}
	return tickets, pictures, nil
}

// Coins describes a payment in coins that has arrived. Its amounts are decimals without the ticker.
type Coins struct {
	Ticker         string // the provider's short name of the coin
	Arrived, Asked string // what has arrived, and what was to be paid
	Missing        string // what has still to be paid; "": enough has arrived
}

// PaymentSeen tells a buyer that coins for an order have been seen but do not pay the order yet: they are
// being confirmed, or some are missing. The buyer may send missing coins until the given time.
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
	Amount               Money  // what is still to be transferred: Asked less Came
	Asked, Came          Money  // the order's total, and what has arrived of it
	Reference            string
}

// BankTransfer tells a buyer to which account, and until when, to transfer the money for an order or the rest of it.
// With reminder, it says that the money has not arrived and that the order is about to end.
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

// OrderWithdrawn confirms that a buyer has withdrawn from buying the tickets in e.What, at the time at, and says
// which amount goes back, if any. byHand means that the organizer sends the money, not a provider.
func OrderWithdrawn(to Envelope, o *Order, e *Event, amount Money, byHand bool, at time.Time) Message {
	w := to.words()
	return composeMessage("order_withdrawn", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Amount": w.showMoney(amount), "ByHand": byHand, "At": w.showMoment(at),
	})
}

// TicketRescheduled tells a ticket's holder when the ticket admits now, which is the only one of e.Visits, and
// when it admitted before (e.Was). If e.Was is Cancelled, the calendar file removes the old time.
func TicketRescheduled(to Envelope, o *Order, e *Event) Message {
	m := composeMessage("ticket_rescheduled", to, values{"Event": e.templateValues(to.words()), "Number": o.Number, "URL": o.URL, "Buyer": o.URL != ""})
	file := *e
	if e.Was != nil && e.Was.Cancelled {
		file.Visits = append(slices.Clone(e.Visits), *e.Was)
	}
	m.Calendar = file.makeCalendar(to.words())
	return m
}

// RefundRequested tells the person who asked for a ticket's money back that the organizer will decide. At the
// address refunds the person can withdraw the request. The caller leaves o's number and URL empty if
// the person is not the order's buyer, to whom the money goes.
func RefundRequested(to Envelope, o *Order, e *Event, amount Money, refunds string) Message {
	w := to.words()
	return composeMessage("refund_requested", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Buyer": o.URL != "", "Amount": w.showMoney(amount), "Refunds": refunds,
	})
}

// RefundDenied tells the person who asked for a ticket's money back that there is no refund, with the
// organizer's reason. The caller leaves o's number and URL empty if the person is not the order's buyer.
func RefundDenied(to Envelope, o *Order, e *Event, amount Money, reason string) Message {
	w := to.words()
	return composeMessage("refund_denied", to, values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Buyer": o.URL != "", "Amount": w.showMoney(amount), "Note": quoteLines(reason),
	})
}

// PassedOn is the Reason of a Back in a mail to a ticket's holder who is not its buyer and asked for the
// refund: the refund was granted, and the money goes to the buyer. As the Reason of a Void it says that the buyer has
// passed the ticket on to somebody else.
const PassedOn = "passed_on"

// Back describes money that goes back to a buyer.
type Back struct {
	Amount  Money
	Reason  string // a reason of order.Refund, mailqueue.Granted or PassedOn
	Tickets int    // how many tickets the refund ends
	Rest    bool   // the buyer has other tickets of the order, which stay valid
	ByHand  bool   // the organizer sends the money, not a provider
	Unasked bool   // the organizer gives the money without a request
	Note    string // the organizer's answer to the request, or why it gives the money unasked; "": none
	// Paid is what was paid for the tickets that the refund ends, if that is more than the Amount. KeptFees
	// and KeptPrice are the parts of Paid that do not go back.
	Paid, KeptFees, KeptPrice Money
}

// values are what all templates about money that goes back show.
func (b *Back) values(w *words, o *Order, e *Event) values {
	return values{
		"Event": e.templateValues(w), "Number": o.Number, "URL": o.URL, "Amount": w.showMoney(b.Amount), "Reason": b.Reason, "Count": b.Tickets, "Rest": b.Rest,
		"ByHand": b.ByHand, "Unasked": b.Unasked, "Note": quoteLines(b.Note), "Paid": w.showMoney(b.Paid), "KeptFees": w.showMoney(b.KeptFees), "KeptPrice": w.showMoney(b.KeptPrice),
	}
}

// RefundDue tells a buyer, or the holder who asked for the refund (PassedOn), that an amount will go back to the
// buyer. If the refund ends the reader's last ticket for the event or for a visit, the mail's calendar file removes
// that from the reader's calendar.
func RefundDue(to Envelope, o *Order, e *Event, b Back) Message {
	m := composeMessage("refund_due", to, b.values(to.words(), o, e))
	if b.Tickets > 0 && e.hasEnded() {
		m.Calendar = e.makeCalendar(to.words())
	}
	return m
}

// These are the Reasons of a Void beside PassedOn: the buyer gave the ticket back, or the organizer took it back.
const (
	GivenBack = "given_back"
	TakenBack = "taken_back"
)

// Void describes tickets that somebody had and that somebody else has ended or given to another person.
type Void struct {
	Reason     string // PassedOn (to somebody else), GivenBack or TakenBack
	Count      int    // how many tickets
	Rest       bool   // the reader has other tickets of the order, which stay valid
	IsPaidBack bool   // money for these tickets goes back to the person who paid
}

// TicketVoid tells somebody that tickets which another person bought for them are no longer valid. If they
// are the reader's last ones for the event or for a visit, the mail's calendar file removes that from the
// reader's calendar.
func TicketVoid(to Envelope, e *Event, v Void) Message {
	m := composeMessage("ticket_void", to, values{"Event": e.templateValues(to.words()), "Reason": v.Reason, "Count": v.Count, "Rest": v.Rest, "IsPaidBack": v.IsPaidBack})
	if e.hasEnded() {
		m.Calendar = e.makeCalendar(to.words())
	}
	return m
}

// RefundProcessed tells a buyer that an amount has gone back, after RefundDue has announced it.
func RefundProcessed(to Envelope, o *Order, e *Event, b Back) Message {
	return composeMessage("refund_processed", to, b.values(to.words(), o, e))
}

// EventChanged tells somebody who has tickets of an event which of its title, time and place have changed. If
// the holders may therefore ask for their money back, until says how long and refunds is the address for that.
// o is the reader's order, or nil if the reader has not bought the tickets.
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

// Cancelled is what the mail EventCancelled says about the reader's money.
type Cancelled struct {
	Orders  []*Order // the orders that the reader placed; the Count of each is how many of its tickets the reader still has
	IsPaid  bool     // something was paid for the reader's tickets, or we don't know
	Refunds string   // the address where the reader asks for the money; "": the reader may not ask
}

// paidOrders returns the orders that cost money and still have a ticket of the reader, and true. If there are
// none, it returns all orders, and false.
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

// EventCancelled tells somebody who has tickets of an event that the event will not take place, and why, if the
// organizer gave a reason. One mail covers all orders of its reader.
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

// quoteLines splits an organizer's text into lines and removes links from them. An organizer could give
// anybody a free ticket, and so would get links into mails to strangers.
func quoteLines(text string) []string {
	lines := splitNote(text)
	for i := range lines {
		lines[i] = unlinkLine(lines[i])
	}
	return lines
}

// showItems lists the first MaxTickets items of e.What in one line, and says how many more there are.
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

// countItems returns how many tickets are in e.What.
func (e *Event) countItems() (n int64) {
	for i := range e.What {
		n += max(e.What[i].Quantity, 1)
	}
	return n
}

// showTotal writes what the tickets in e.What cost, and which fees that includes.
func (e *Event) showTotal(w *words) string {
	total := w.showMoney(e.Total)
	if total == "" || e.Fees.Amount == "" {
		return total
	}
	return fmt.Sprintf(w.fees, total, w.showMoney(e.Fees))
}

// templateValues returns what templates show of the event, in the language of w.
func (e *Event) templateValues(w *words) values {
	v := values{
		"What": e.showItems(w), "Total": e.showTotal(w), "Tickets": e.countItems(),
		"Title": cleanLabel(e.Title), "Organizer": cleanLabel(e.Organizer), "When": e.showTime(w, func(v Visit) string { return v.describeUnlinked(w) }), "Doors": "", "Where": e.showPlace(w),
		"Cancelled": e.Cancelled, "Why": quoteLines(e.CancelReason), "Cover": e.Cover, "GivenBack": e.GivenBack, "Void": e.isVoid(), "Hall": e.Hall, "Rotating": e.Hall && e.RotatingOnly, "Online": e.Online, "Digital": e.Digital, "Course": e.Course,
		"Was": "", "Left": false, "Dates": len(e.Visits), "Link": "", "Note": []string(nil),
	}
	if !e.isVoid() { // The link leads nowhere if nothing takes place.
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

// When returns the event's time in its own time zone, or the times of its booked visits; "" if it has neither.
func (e *Event) When(l Language) string {
	return e.showTime(wordsOf[l], func(v Visit) string { return v.When(l) })
}

// showTime returns the times of the booked visits, each as the function visit describes it, or the event's own time
// if nothing was booked, or "" if it has no start.
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

// Where returns the event's place in words, also "online"; "" if it has none.
func (e *Event) Where(l Language) string { return e.showPlace(wordsOf[l]) }

// showPlace does what Where does, with the words of a language: for an event in a hall its venue, address, city and
// country, each cleaned by cleanLabel, and for an event that is also or only online a word for that.
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

// webLink returns an organizer's link unchanged, or "" if it is not a web address. Unlike other texts of the
// organizer it stays a link, because buyers have paid for what is there.
func webLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || oneLine(s) != s || strings.ContainsAny(s, " <>\"") {
		return ""
	}
	return s
}

// maxNote is the most lines of an organizer's note that a mail shows.
const maxNote = 40

// splitNote splits an organizer's note for buyers into lines, at most maxNote. It removes only unprintable
// characters, needless space and empty lines, because codes and passwords may be in the note.
func splitNote(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" && len(out) < maxNote {
			out = append(out, line)
		}
	}
	return out
}

package mail

import (
	"fmt"
	htmltemplate "html/template"
	"net/url"
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
	// Start, End and Doors are in the event's time zone; zero if the event takes place at no time
	// of its own.
	Start, End, Doors             time.Time
	Venue, Address, City, Country string
	Hall                          bool    // it takes place at a venue
	Online                        bool    // it takes place online, only or also
	Digital                       bool    // it is a product that is used rather than attended
	Link                          string  // where it takes place online or is delivered; only buyers may see it
	Note                          string  // what buyers need there
	Visits                        []Visit // booked visits of a reservation
	Cancelled                     bool    // it does not take place, or its reader has no ticket of it any more
	RotatingOnly                  bool    // its gates take no code on paper
}

// Unlink shows the links of the organizer's texts as plain words.
func (e *Event) Unlink() { e.Link, e.Note = "", Unlinked(e.Note) }

// Unlink shows the links of the organizer's texts as plain words. Links of ours stay.
func (o *Order) Unlink() {
	o.Note = Unlinked(o.Note)
	for i := range o.Lines {
		o.Lines[i].Link, o.Lines[i].Note = "", Unlinked(o.Lines[i].Note)
	}
}

// Order is what mails tell of an order. Amounts are texts with their currency.
type Order struct {
	Number  string
	URL     string // where its buyer sees it
	Live    string // where its tickets show codes that rotate
	PDF     string // where its tickets can be printed; "": nowhere
	ICS     string // its calendar file; "": it has no time of its own
	Lines   []Line
	Fees    string   // "" for none
	Total   string   // "" for nothing
	Tickets []Ticket // the first MaxTickets, in the order of the lines
	Count   int      // of all tickets
	Note    string   // from the person who gives the tickets; "": none
	// When its buyer waived the right to withdraw, and until when the buyer may withdraw; zero if
	// that does not apply.
	WaivedAt, WithdrawUntil time.Time
}

// Line is one line of an order.
type Line struct {
	Name     string
	Quantity int64
	Price    string // of one ticket; "": it is free
	Link     string // where this ticket type is delivered; "": as the event is
	Note     string
}

// Ticket is one ticket.
type Ticket struct {
	Type, Holder       string
	Section, Row, Seat string
	Code               string // the full code, which a person may type at the desk
	Printed            string // what a gate scans
	Visit              *Visit // when it admits; nil: at the event's own time, or at none
}

// MaxTickets is how many of an order's tickets its mail shows. The order's link shows all of them.
const MaxTickets = 20

// OrderConfirmation brings a buyer the tickets, each with its QR code if it is scanned at a gate,
// and the event's calendar file.
func OrderConfirmation(to Envelope, o *Order, e *Event) (Message, error) {
	tickets, pictures, err := shownTickets(o.Tickets, e)
	if err != nil {
		return Message{}, err
	}
	lines := make([]values, len(o.Lines))
	for i, l := range o.Lines {
		lines[i] = values{"Name": label(l.Name), "Quantity": l.Quantity, "Price": l.Price, "Link": link(l.Link), "Note": note(l.Note)}
	}
	m := compose("order_confirmation", to, values{
		"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Note": note(o.Note), "Fees": o.Fees, "Total": o.Total,
		"WaivedAt": shownMoment(o.WaivedAt), "WithdrawUntil": shownMoment(o.WithdrawUntil),
		"Live": o.Live, "PDF": o.PDF, "ICS": o.ICS, "Lines": lines, "Tickets": tickets, "Count": o.Count, "More": o.Count > len(o.Tickets),
	})
	m.Pictures, m.Calendar = pictures, e.Calendar()
	return m, nil
}

// AttendeeTickets brings an attendee who is not the buyer the attendee's own tickets of an order,
// and nothing that opens the order.
func AttendeeTickets(to Envelope, o *Order, e *Event) (Message, error) {
	tickets, pictures, err := shownTickets(o.Tickets, e)
	if err != nil {
		return Message{}, err
	}
	m := compose("attendee_tickets", to, values{"Event": e.shown(), "Tickets": tickets, "Count": o.Count, "More": o.Count > len(o.Tickets)})
	m.Pictures, m.Calendar = pictures, e.Calendar()
	return m, nil
}

// shownTickets makes tickets for the templates, each with a picture of its printed code if it is
// scanned at a gate.
func shownTickets(all []Ticket, e *Event) (tickets []values, pictures []Picture, err error) {
	tickets = make([]values, len(all))
	for i, t := range all {
		tickets[i] = values{
			"Number": i + 1, "Type": label(t.Type), "Holder": label(t.Holder), "Code": t.Code,
			"When": "", "Section": label(t.Section), "Row": label(t.Row), "Seat": label(t.Seat), "Picture": "",
		}
		if t.Visit != nil {
			tickets[i]["When"] = t.Visit.shown()
		}
		if !e.Hall || e.RotatingOnly || e.Cancelled {
			continue
		}
		code, err := qr.Encode(t.Printed, qr.M) // the printed code, because the full code opens no gate and the one on a screen expires
		if err != nil {
			return nil, nil, fmt.Errorf("mail: QR of a ticket: %w", err)
		}
		p := Picture{Name: fmt.Sprintf("ticket-%d", i+1), PNG: code.PNG()}
		pictures = append(pictures, p)
		tickets[i]["Picture"] = htmltemplate.URL("cid:" + p.cid()) //nolint:gosec // our own words
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
	return compose("payment_seen", to, values{
		"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Until": shownMoment(until),
		"Ticker": label(c.Ticker), "Arrived": c.Arrived, "Asked": c.Asked, "Missing": c.Missing,
	})
}

// OrderCancelled tells a buyer that an order has ended without tickets.
func OrderCancelled(to Envelope, o *Order, e *Event) Message {
	return compose("order_cancelled", to, values{"Event": e.shown(), "Number": o.Number, "URL": o.URL})
}

// shownMoment shows a moment in mails that belong to no place; "" for the zero time.
func shownMoment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2 January 2006, 15:04 MST")
}

// OrderWithdrawn confirms a buyer's withdrawal, which ended a number of tickets, and tells the
// amount that goes back, if any.
func OrderWithdrawn(to Envelope, o *Order, e *Event, amount string, tickets int, at time.Time) Message {
	return compose("order_withdrawn", to, values{
		"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Amount": amount, "Count": tickets, "At": shownMoment(at),
	})
}

// TicketRescheduled tells a ticket's holder when it admits now, which is the event's only visit in
// e.
func TicketRescheduled(to Envelope, o *Order, e *Event) Message {
	m := compose("ticket_rescheduled", to, values{"Event": e.shown(), "Number": o.Number, "URL": o.URL})
	m.Calendar = e.Calendar()
	return m
}

// RefundRequested tells the person who asked for a ticket's money that the organizer will decide.
func RefundRequested(to Envelope, o *Order, e *Event, amount string) Message {
	return compose("refund_requested", to, values{"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Amount": amount})
}

// RefundDenied tells the person who asked for a ticket's money that it is not refunded, with the
// organizer's reason.
func RefundDenied(to Envelope, o *Order, e *Event, amount, reason string) Message {
	return compose("refund_denied", to, values{
		"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Amount": amount, "Reason": quoteLines(reason),
	})
}

// PassedOn is the reason of RefundDue in a mail to a person who was passed the ticket and asked:
// the refund was granted, and the money goes to the buyer.
const PassedOn = "passed_on"

// RefundDue tells a buyer that an amount goes back, for a reason of order.Refund or PassedOn.
func RefundDue(to Envelope, o *Order, e *Event, amount, reason string) Message {
	return compose("refund_due", to, values{
		"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Amount": amount, "Reason": reason,
	})
}

// RefundProcessed tells a buyer that an amount has gone back.
func RefundProcessed(to Envelope, o *Order, e *Event, amount string) Message {
	return compose("refund_processed", to, values{"Event": e.shown(), "Number": o.Number, "URL": o.URL, "Amount": amount})
}

// EventChanged tells somebody who has tickets of an event what has changed.
func EventChanged(to Envelope, was, now *Event) Message {
	before, after := was.shown(), now.shown()
	var changes []values
	for _, what := range []string{"Title", "When", "Where"} {
		if before[what] != after[what] {
			changes = append(changes, values{"What": what, "Was": before[what], "Now": after[what]})
		}
	}
	m := compose("event_changed", to, values{"Event": after, "Known": before["Title"], "Changes": changes})
	m.Calendar = now.Calendar()
	return m
}

// EventCancelled tells somebody who has tickets of an event that it will not take place, and quotes
// the organizer's reason, if there is one. refunds is where a buyer asks for the money, and o the
// buyer's order; nil to somebody who has not bought.
func EventCancelled(to Envelope, e *Event, o *Order, refunds, reason string) Message {
	v := values{"Event": e.shown(), "Reason": quoteLines(reason), "Refunds": refunds, "URL": "", "Buyer": o != nil}
	if o != nil {
		v["URL"] = o.URL
	}
	m := compose("event_cancelled", to, v)
	m.Calendar = e.Calendar()
	return m
}

// quoteLines returns the lines of what an organizer writes to somebody. Anybody may be given a free
// ticket, so links are removed from the lines, as from names.
func quoteLines(text string) []string {
	lines := note(text)
	for i := range lines {
		lines[i] = unlinked(lines[i])
	}
	return lines
}

// shown makes the event for the templates.
func (e *Event) shown() values {
	v := values{
		"Title": label(e.Title), "Organizer": label(e.Organizer), "When": e.whenOf(Visit.shown), "Doors": "", "Where": e.Where(),
		"Cancelled": e.Cancelled, "Hall": e.Hall, "Rotating": e.Hall && e.RotatingOnly, "Online": e.Online, "Digital": e.Digital, "Link": link(e.Link), "Note": note(e.Note),
	}
	if !e.Doors.IsZero() && !e.Start.IsZero() {
		v["Doors"] = e.Doors.Format(clock)
		if !sameDay(e.Doors, e.Start) {
			v["Doors"] = e.Doors.Format(day + ", " + clock)
		}
	}
	return v
}

const (
	day   = "Monday, 2 January 2006"
	clock = "15:04"
)

// When is the event's time in its own time zone, or what is booked of it; "" if it has no time of
// its own.
func (e *Event) When() string { return e.whenOf(Visit.When) }

func (e *Event) whenOf(visit func(Visit) string) string {
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
	s := e.Start.Format(day + ", " + clock)
	switch {
	case e.End.IsZero():
	case sameDay(e.Start, e.End):
		s += " – " + e.End.Format(clock)
	default:
		s += " – " + e.End.Format(day+", "+clock)
	}
	return s + " (" + e.Start.Location().String() + ")"
}

func sameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }

// Where is the event's place; "" if it has none.
func (e *Event) Where() string {
	var parts []string
	if e.Hall {
		for _, s := range []string{e.Venue, e.Address, e.City, e.Country} {
			if s = label(s); s != "" {
				parts = append(parts, s)
			}
		}
	}
	place := strings.Join(parts, ", ")
	switch {
	case e.Online && place == "":
		return "Online"
	case e.Online:
		return place + ", and online"
	}
	return place
}

// link is an address as it is shown and clicked, or "" if it is not a web address. Buyers paid for
// an organizer's links, so they are not shortened.
func link(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || oneLine(s) != s || strings.ContainsAny(s, " <>\"") {
		return ""
	}
	return s
}

// maxNote bounds an organizer's note, in lines.
const maxNote = 40

// note splits what an organizer wrote for buyers into lines. Codes and passwords may be in them, so
// only unprintable characters are removed.
func note(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" && len(out) < maxNote {
			out = append(out, line)
		}
	}
	return out
}

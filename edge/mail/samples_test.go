package mail

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inRoom is the link to a waiting room that carries something.
func inRoom(carried string) RoomLink {
	const room = "https://tickets.example.org/e/friday/queue"
	return RoomLink{URL: room + "#" + carried, Plain: room + "/plain?" + carried}
}

// product is a kind of product with an order for it.
type product struct {
	event *Event
	order *Order // of two tickets
	item  Item   // one of them
	paid  bool
}

// products are all kinds of products.
func products(t testing.TB) map[string]product {
	t.Helper()
	sold := func(e *Event, items ...Item) product {
		e.Cover = "https://tickets.example.org/media/7/og.jpg"
		o := order(2)
		o.Lines = []Line{{Name: items[0].Type, Quantity: 2, Price: Money{"25.00", "USD"}}}
		o.PDF, o.ICS, o.Live = links.PDF, links.ICS, links.Live
		for i := range o.Tickets {
			of := items[i%len(items)]
			o.Tickets[i].Type, o.Tickets[i].Section, o.Tickets[i].Row, o.Tickets[i].Seat = of.Type, of.Section, of.Row, of.Seat
		}
		return product{event: e, order: o, item: items[0], paid: true}
	}
	seated := sold(concert(t), Item{Type: "Stalls", Section: "Left", Row: "C", Seat: "12"}, Item{Type: "Stalls", Section: "Left", Row: "C", Seat: "13"})
	night := Visit{ID: "1", Start: berlin(t, "2026-03-05 20:00"), End: berlin(t, "2026-03-05 22:00"), Label: "Evening"}
	whole := Visit{ID: "2", Start: berlin(t, "2026-07-05 00:00"), End: berlin(t, "2026-07-06 00:00"), AllDay: true}
	visited := func(v ...Visit) product {
		p := sold(&Event{ID: "00000000-002c-8123-9123-456789abcdef", Revision: 3, Changed: concert(t).Changed, Title: "The museum", Organizer: "Friday & Friends", Hall: true, Venue: "Old town 3", City: "Berlin", Visits: v}, Item{Type: "Entry"})
		for i := range p.order.Tickets {
			p.order.Tickets[i].Visit = &p.event.Visits[i%len(v)]
		}
		return p
	}
	online := concert(t)
	online.Hall, online.Online, online.Link, online.Doors = false, true, "https://meet.example.org/7", time.Time{}
	online.Note = "Room code: 4711"
	streamed := sold(online, Item{Type: "Stream"})
	rotating := concert(t)
	rotating.RotatingOnly = true
	changing := sold(rotating, Item{Type: "Floor"})
	streamed.order.PDF, changing.order.PDF = "", ""
	file := sold(&Event{Title: "Songs", Organizer: "My Club", Digital: true}, Item{Type: "Album"})
	file.order.Hosted, file.order.PDF, file.order.ICS = true, "", ""
	file.order.WithdrawUntil = berlin(t, "2026-03-19 20:00")
	linked := sold(course(), Item{Type: "Guide"})
	linked.order.Lines[0].Link, linked.order.Lines[0].Note = "https://example.org/files/7", "Unzip it."
	linked.order.WaivedAt, linked.order.PDF, linked.order.ICS = berlin(t, "2026-03-05 20:00"), "", ""
	lessons := sold(&Event{Title: "Knots", Organizer: "My Club", Digital: true, Course: true}, Item{Type: "Full course"})
	lessons.order.PDF, lessons.order.ICS, lessons.order.WithdrawUntil = "", "", berlin(t, "2026-03-19 20:00")
	free := sold(concert(t), Item{Type: "Floor"})
	free.order.Lines[0].Price, free.order.Total, free.order.Fees, free.paid = Money{}, Money{}, Money{}, false
	gift := sold(concert(t), Item{Type: "Guest"})
	gift.order.Gift, gift.order.Note, gift.paid = true, "See you there!\nYours", false
	gift.order.Lines[0].Price, gift.order.Total, gift.order.Fees = Money{}, Money{}, Money{}
	reduced := sold(concert(t), Item{Type: "Floor"})
	reduced.order.Discount, reduced.order.Fees, reduced.order.Total = Money{"10.00", "USD"}, Money{"2.00", "USD"}, Money{"42.00", "USD"}
	return map[string]product{
		"standing": sold(concert(t), Item{Type: "Floor"}), "seated": seated, "visit": visited(night), "day": visited(whole), "visits": visited(night, whole),
		"online": streamed, "rotating": changing, "file": file, "link": linked, "course": lessons,
		"free": free, "gift": gift, "reduced": reduced,
	}
}

// links are those under which an order's tickets are shown.
var links = Order{
	Live: "https://tickets.example.org/o/1#token=a-b_c", PDF: "https://tickets.example.org/api/v1/orders/1/tickets.pdf?token=a-b_c",
	ICS: "https://tickets.example.org/api/v1/orders/1/calendar.ics?token=a-b_c",
}

// whole is the event with all that was ordered.
func (p *product) whole() *Event {
	e := *p.event
	e.What, e.Total, e.Fees = []Item{{Quantity: 2, Type: p.item.Type}}, p.order.Total, p.order.Fees
	if p.item.Seat != "" {
		other := p.item
		other.Seat = "13"
		e.What = []Item{p.item, other}
	}
	return &e
}

// one is the event with one of the tickets.
func (p *product) one() *Event {
	e := *p.event
	e.What = []Item{p.item}
	e.Visits = e.Visits[:min(len(e.Visits), 1)]
	return &e
}

// off is an event of the product when it was cancelled.
func off(e *Event) *Event {
	c := *e
	c.Cancelled = true
	return &c
}

// because is an event of the product when it was cancelled for a reason.
func because(e *Event) *Event {
	c := off(e)
	c.CancelReason = "The artist <b>is</b> ill.\n\nSee www.example.org"
	return c
}

// back is an event of the product when all of its tickets were given back.
func back(e *Event) *Event {
	c := *e
	c.GivenBack = true
	return &c
}

// mails are the mails that somebody may get who has to do with a product.
func (p *product) mails(t testing.TB, to func() Envelope) map[string]Message {
	t.Helper()
	made := func(m Message, err error) Message {
		require.NoError(t, err)
		return m
	}
	o, one, all := p.order, p.one(), p.whole()
	given := *o
	given.Tickets, given.Count, given.Live = o.Tickets[:1], 1, ""
	returned := *o
	returned.Tickets, returned.Count, returned.Lines = nil, 0, slices.Clone(o.Lines)
	for i := range returned.Lines {
		returned.Lines[i].Link, returned.Lines[i].Note = "", ""
	}
	second := *o
	second.Number, second.URL = "16-MKJHGFEDCBA", o.URL+"b"
	third := returned
	third.Number, third.URL = "16-CCCCCCCCCCC", o.URL+"c"
	rest := *o
	rest.Tickets, rest.Count = o.Tickets[:1], 1
	left := *p.event
	if len(left.Visits) > 1 {
		left.Visits, left.Gone = left.Visits[:1], left.Visits[1:]
	}
	both := *all
	both.Total, both.Fees = Money{}, Money{}
	single := *one
	single.What = nil
	out := map[string]Message{
		"order_confirmation":           made(OrderConfirmation(to(), o, p.event)),
		"order_confirmation.cancelled": made(OrderConfirmation(to(), o, off(p.event))),
		"order_confirmation.back":      made(OrderConfirmation(to(), &returned, back(p.event))),
		"order_confirmation.part":      made(OrderConfirmation(to(), &rest, &left)),
		"order_confirmation.passed_on": made(OrderConfirmation(to(), &returned, p.event)),
		"attendee_tickets":             made(AttendeeTickets(to(), "", &given, &single)),
		"attendee_tickets.cancelled":   made(AttendeeTickets(to(), "", &given, off(&single))),
		"attendee_tickets.given":       made(AttendeeTickets(to(), "bob@example.org", &Order{Tickets: given.Tickets, Count: 1, Live: "https://tickets.example.org/me"}, &single)),
		"transfer_offered":             TransferOffered(to(), "bob@example.org", "https://tickets.example.org/transfer#token=a-b_c", one),
		"transfer_taken":               TransferTaken(to(), "bob@example.org", o, one),
		"transfer_taken.passed_on":     TransferTaken(to(), "bob@example.org", &Order{}, back(one)),
		"transfer_revoked":             TransferRevoked(to(), "bob@example.org", one),
		"ticket_void.taken_back":       TicketVoid(to(), back(one), Void{Reason: TakenBack, Count: 1}),
		"ticket_void.given_back":       TicketVoid(to(), one, Void{Reason: GivenBack, Count: 1, Rest: true}),
		"ticket_void.passed_on":        TicketVoid(to(), back(one), Void{Reason: PassedOn, Count: 1}),
		"ticket_void.all":              TicketVoid(to(), back(&both), Void{Reason: TakenBack, Count: 2}),
		"order_cancelled":              OrderCancelled(to(), o, all),
		"order_cancelled.event":        OrderCancelled(to(), o, off(all)),
		"event_cancelled":              EventCancelled(to(), off(all), Cancelled{Orders: []*Order{o}, IsPaid: p.paid, Refunds: refunds}),
		"event_cancelled.reason":       EventCancelled(to(), because(p.event), Cancelled{IsPaid: true}),
		"event_cancelled.passed_on":    EventCancelled(to(), off(one), Cancelled{IsPaid: p.paid, Refunds: refunds}),
		"event_cancelled.named":        EventCancelled(to(), off(one), Cancelled{IsPaid: p.paid}),
		"event_cancelled.nothing":      EventCancelled(to(), off(back(p.event)), Cancelled{Orders: []*Order{&returned}}),
		"event_cancelled.several":      EventCancelled(to(), off(all), Cancelled{Orders: []*Order{o, &second, &third}, IsPaid: p.paid, Refunds: refunds}),
		"refund_requested.nothing":     RefundRequested(to(), o, one, Money{}, refunds),
		"refund_due.nothing":           RefundDue(to(), o, one, Back{Reason: "granted", Tickets: 1, Rest: true}),
		"refund_due.taken":             RefundDue(to(), o, back(all), Back{Reason: "granted", Tickets: 2, Unasked: true}),
		"refund_denied.nothing":        RefundDenied(to(), o, one, Money{}, ""),
		"refund_due.nothing.passed_on": RefundDue(to(), &Order{}, back(one), Back{Reason: PassedOn, Tickets: 1}),
	}
	if !p.paid { // what costs nothing is complete at once
		delete(out, "order_cancelled")
		delete(out, "order_cancelled.event")
	}
	if len(p.event.Visits) > 0 {
		moved := *one
		moved.Was = &Visit{ID: "0", Start: one.Visits[0].Start.AddDate(0, 0, -3), End: one.Visits[0].End.AddDate(0, 0, -3), Label: one.Visits[0].Label, AllDay: one.Visits[0].AllDay}
		out["ticket_rescheduled.part"] = TicketRescheduled(to(), o, &moved)
		left := *moved.Was
		left.Cancelled, moved.Was = true, &left
		out["ticket_rescheduled"] = TicketRescheduled(to(), o, &moved)
	}
	if p.event.Digital {
		out["order_withdrawn"] = OrderWithdrawn(to(), o, all, Money{"52.50", "USD"}, false, berlin(t, "2026-03-05 20:00"))
		out["order_withdrawn.by_hand"] = OrderWithdrawn(to(), o, all, Money{"52.50", "USD"}, true, berlin(t, "2026-03-05 20:00"))
		out["order_withdrawn.free"] = OrderWithdrawn(to(), o, one, Money{}, false, berlin(t, "2026-03-05 20:00"))
	}
	known := *p.event
	known.Visits = nil // the mails to all who have tickets name no visits of one of them
	renamed := known
	renamed.Title, renamed.Venue = "Saturday & Friends", "Dome"
	out["event_changed.renamed"] = EventChanged(to(), &known, &renamed, nil, time.Time{}, refunds)
	if !p.event.Start.IsZero() {
		moved := *p.event
		moved.Start, moved.End = moved.Start.AddDate(0, 0, 7), moved.End.AddDate(0, 0, 7)
		if !moved.Doors.IsZero() {
			moved.Doors = moved.Doors.AddDate(0, 0, 7)
		}
		out["event_changed.moved"] = EventChanged(to(), p.event, &moved, o, moved.Start, refunds)
		out["event_changed.moved.holder"] = EventChanged(to(), p.event, &moved, nil, moved.Start, refunds)
	}
	if p.paid {
		p.addPaid(t, to, out)
	}
	return out
}

// addPaid adds the mails about the money of a product that was paid.
func (p *product) addPaid(t testing.TB, to func() Envelope, out map[string]Message) {
	t.Helper()
	o, one, all := p.order, p.one(), p.whole()
	until := berlin(t, "2026-03-05 20:00")
	part, entire := Money{"26.25", "USD"}, Money{"52.50", "USD"}
	out["payment_seen"] = PaymentSeen(to(), o, all, Coins{Ticker: "BTC", Arrived: "0", Asked: "0.00105"}, until)
	account := Transfer{
		Holder: "Kulturverein Nord e.V.", Account: "DE89370400440532013000", BIC: "COBADEFFXXX", Amount: entire, Asked: entire, Reference: "RF18SG2F9CX9JAZBDDGS9Z",
	}
	out["bank_transfer"] = BankTransfer(to(), o, all, account, until, false)
	out["bank_transfer.reminder"] = BankTransfer(to(), o, all, account, until, true)
	account.Amount, account.Came = Money{"32.50", "USD"}, Money{"20.00", "USD"}
	out["bank_transfer.short"] = BankTransfer(to(), o, all, account, until, false)
	out["bank_transfer.short.reminder"] = BankTransfer(to(), o, all, account, until, true)
	out["payment_seen.short"] = PaymentSeen(to(), o, all, Coins{Ticker: "BTC", Arrived: "0.0005", Asked: "0.00105", Missing: "0.00055"}, until)
	price, fees := Money{"25.00", "USD"}, Money{"1.25", "USD"}
	out["refund_requested"] = RefundRequested(to(), o, one, price, refunds)
	out["refund_requested.passed_on"] = RefundRequested(to(), &Order{}, one, price, refunds)
	out["refund_denied.passed_on"] = RefundDenied(to(), &Order{}, one, price, "")
	out["refund_requested.cancelled"] = RefundRequested(to(), o, off(one), part, refunds)
	out["refund_denied.cancelled"] = RefundDenied(to(), o, off(one), part, "")
	out["refund_denied"] = RefundDenied(to(), o, one, price, "")
	out["refund_denied.reason"] = RefundDenied(to(), o, one, price, "It <b>takes</b> place.\n\nSee www.example.org")
	out["refund_due.part"] = RefundDue(to(), o, one, Back{Amount: part, Reason: "granted", Tickets: 1, Rest: true, Note: "We <b>miss</b> you.\n\nSee www.example.org"})
	out["refund_due.fees_kept"] = RefundDue(to(), o, one, Back{Amount: price, Reason: "granted", Tickets: 1, Rest: true, Paid: part, KeptFees: fees})
	out["refund_due.price_kept"] = RefundDue(to(), o, one, Back{Amount: Money{"20.00", "USD"}, Reason: "granted", Tickets: 1, Rest: true, Paid: part, KeptFees: fees, KeptPrice: Money{"5.00", "USD"}})
	out["refund_due.by_hand"] = RefundDue(to(), o, one, Back{Amount: price, Reason: "granted", Tickets: 1, Rest: true, ByHand: true, Paid: part, KeptFees: fees})
	out["refund_processed.fees_kept"] = RefundProcessed(to(), o, one, Back{Amount: price, Tickets: 1, Rest: true, Paid: part, KeptFees: fees})
	out["refund_processed.by_hand"] = RefundProcessed(to(), o, one, Back{Amount: part, Tickets: 1, Rest: true, ByHand: true})
	out["refund_due.cancelled_event"] = RefundDue(to(), o, off(one), Back{Amount: part, Reason: "granted", Tickets: 1, Rest: true})
	out["refund_due.whole"] = RefundDue(to(), o, back(all), Back{Amount: entire, Reason: "granted", Tickets: 2})
	out["refund_due.money"] = RefundDue(to(), o, all, Back{Amount: part, Reason: "granted", Unasked: true})
	out["refund_due.unasked"] = RefundDue(to(), o, one, Back{Amount: part, Reason: "granted", Tickets: 1, Rest: true, Unasked: true, Note: "A <b>slip</b> of ours.\n\nSee www.example.org"})
	out["refund_due.late.by_hand"] = RefundDue(to(), o, all, Back{Amount: entire, Reason: "late", ByHand: true})
	out["refund_due.late"] = RefundDue(to(), o, all, Back{Amount: entire, Reason: "late"})
	out["refund_due.cancelled.event"] = RefundDue(to(), o, off(all), Back{Amount: entire, Reason: "cancelled"})
	out["refund_due.cancelled"] = RefundDue(to(), o, all, Back{Amount: entire, Reason: "cancelled"})
	out["refund_due.passed_on"] = RefundDue(to(), &Order{}, one, Back{Amount: part, Reason: PassedOn, Tickets: 1})
	out["ticket_void.paid"] = TicketVoid(to(), back(one), Void{Reason: TakenBack, Count: 1, IsPaidBack: true})
	out["refund_processed.part"] = RefundProcessed(to(), o, one, Back{Amount: part, Tickets: 1, Rest: true})
	out["refund_processed.whole"] = RefundProcessed(to(), o, all, Back{Amount: entire, Tickets: 2})
	out["refund_processed.money"] = RefundProcessed(to(), o, all, Back{Amount: part})
}

const refunds = "https://tickets.example.org/me"

// samples has every mail there is, in every state of every product, to somebody of a name.
func samples(t testing.TB, name string, l Language) map[string]Message {
	t.Helper()
	to := func() Envelope {
		e := envelope("ada@example.org", name)
		e.Language = l
		return e
	}
	all := map[string]Message{}
	for of, p := range products(t) {
		for state, m := range p.mails(t, to) {
			// Some differ from others by what their confirmations and copies say alone.
			if tickets := strings.HasPrefix(state, "order_confirmation") || strings.HasPrefix(state, "attendee"); tickets || !slices.Contains([]string{"link", "reduced", "rotating", "visits"}, of) {
				all[state+"."+of] = m
			}
		}
	}
	standing := products(t)["standing"]
	for reason, amount := range map[string]Money{"underpaid": {"26.25", "USD"}, "twice": {"52.50", "USD"}, "overpaid": {"26.25", "USD"}, "currency": {"48.00", "EUR"}, "deposit": {"26.25", "USD"}} {
		all["refund_due."+reason] = RefundDue(to(), standing.order, standing.whole(), Back{Amount: amount, Reason: reason})
	}
	void, err := OrderConfirmation(to(), standing.order, because(standing.event))
	require.NoError(t, err)
	copied, err := AttendeeTickets(to(), "", standing.order, because(standing.event))
	require.NoError(t, err)
	all["order_confirmation.cancelled.reason"], all["attendee_tickets.cancelled.reason"] = void, copied
	all["order_cancelled.event.reason"] = OrderCancelled(to(), standing.order, because(standing.whole()))
	many, err := OrderConfirmation(to(), order(100), concert(t))
	require.NoError(t, err)
	all["order_confirmation.many"] = many
	nameless := to()
	nameless.Name = ""
	const waits = "https://tickets.example.org/waitlist#token=a-b_c"
	maps.Copy(all, map[string]Message{
		"login_code":             LoginCode(to(), "123456"),
		"login_code.nameless":    LoginCode(nameless, "123456"),
		"password_reset":         PasswordReset(to(), "https://tickets.example.org/reset?token=a-b_c&x=1"),
		"invitation":             Invitation(to(), "Friday & Friends", "admin", "https://tickets.example.org/organizer"),
		"password_changed":       PasswordChanged(to(), "https://tickets.example.org/organizer"),
		"email_confirmation":     EmailConfirmation(nameless, "https://tickets.example.org/email/confirm#token=a-b_c"),
		"account_taken":          AccountTaken(to(), "https://tickets.example.org/organizer"),
		"two_factor_changed.on":  TwoFactorChanged(to(), true, "https://tickets.example.org/organizer"),
		"two_factor_changed.off": TwoFactorChanged(to(), false, "https://tickets.example.org/organizer"),

		"following":               Following(to(), "Friday & Friends", "https://tickets.example.org/follow#token=a-b_c", ending),
		"event_published":         EventPublished(to(), concert(t), "https://tickets.example.org/events/friday", ending),
		"event_published.digital": EventPublished(to(), course(), "https://tickets.example.org/events/knots", ending),
		"broadcast":               Broadcast(to(), concert(t), "Doors open <early>", Sanitize("<p>Doors open <em>early</em>.</blockquote><script>alert(1)</script></p><p>See <a href=\"https://example.org/a?b=1&c=2\" onclick=\"x()\">the map</a> <a href=\"javascript:x\">x</a></p>"), "reply+a", ending),
		"broadcast.plain":         Broadcast(to(), concert(t), "Doors", Sanitize("1 < 2 & 3\nand more"), "reply+a", ending),
		"contact":                 Contact(to(), "Friday & Friends", "Your <b>seats</b>", "You sit in the front row now.\n\nSee www.example.org", "hello@club.example"),

		"waitlist_confirm":      WaitlistConfirm(to(), "Stalls", 2, "https://tickets.example.org/waitlist/confirm#token=a-b_c", ending, concert(t)),
		"waitlist_joined":       WaitlistJoined(to(), "", 1, waits, concert(t)),
		"waitlist_joined.many":  WaitlistJoined(to(), "Stalls", 3, waits, concert(t)),
		"waitlist_offered.free": WaitlistOffered(to(), "Stalls & <b>more</b>", 1, Money{}, berlin(t, "2026-03-05 20:00"), waits, concert(t)),
		"waitlist_offered":      WaitlistOffered(to(), "Stalls", 1, Money{"10.50", "USD"}, berlin(t, "2026-03-05 20:00"), waits, concert(t)),
		"waitlist_offered.many": WaitlistOffered(to(), "Stalls", 3, Money{"31.50", "USD"}, berlin(t, "2026-03-05 20:00"), waits, concert(t)),
		"waitlist_expired":      WaitlistExpired(to(), "https://tickets.example.org/e/friday", concert(t)),

		"queue_confirm": QueueConfirm(to(), inRoom("join=a-b_c"), ending, concert(t)),
		"queue_place":   QueuePlace(to(), inRoom("receipt=r&ticket=t"), ending, concert(t)),

		"webhook_disabled.gone":      WebhookDisabled(to(), "Friday & Friends", "Book<i>keeping", "42", true, "https://tickets.example.org/organizer/settings/webhooks"),
		"webhook_disabled.exhausted": WebhookDisabled(to(), "Friday & Friends", "hooks.example.org", "42", false, "https://tickets.example.org/organizer/settings/webhooks"),

		"payment_disputed": PaymentDisputed(to(), "Friday & Friends", &Dispute{
			Number: standing.order.Number, Title: "Friday <Night>", Provider: "Stripe", Reason: "fraudulent", Amount: Money{"1250.00", "USD"},
			Until: berlin(t, "2026-03-05 20:00"), URL: "https://tickets.example.org/organizer/settings/wallets",
		}),
		"payment_disputed.untold": PaymentDisputed(to(), "Friday & Friends", &Dispute{
			Number: standing.order.Number, Title: "Friday Night", Provider: "Mollie", Amount: Money{"26.25", "EUR"}, URL: "https://tickets.example.org/organizer/settings/wallets",
		}),
	})
	return all
}

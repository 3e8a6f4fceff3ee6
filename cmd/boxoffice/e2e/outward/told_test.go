package outward

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/mail"
	"boxoffice/persistence/persisttest"
)

func giveUp(s *nodetest.Shop, o nodetest.Answer) {
	s.T.Helper()
	s.Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
}

// papersOf are the three things that a buyer has of an order: its page, its calendar file and the
// words of its tickets on paper ("" if there are none).
func papersOf(s *nodetest.Shop, o nodetest.Answer) (page, calendar, paper string) {
	s.T.Helper()
	persisttest.Program(s.T, "apt-get install poppler-utils", "pdftotext")
	token := "?token=" + o.Str("accessToken")
	root := s.AtRoot()
	page = root.Raw("GET", "/orders/"+o.Str("id")+token, "", "").Body
	calendar = s.Raw("GET", "/orders/"+o.Str("id")+"/calendar.ics"+token, "", "").Body
	if r := s.Raw("GET", "/orders/"+o.Str("id")+"/tickets.pdf"+token, "", ""); r.Status == 200 {
		file := filepath.Join(s.T.TempDir(), "tickets.pdf")
		require.NoError(s.T, os.WriteFile(file, []byte(r.Body), 0o600))
		words, err := exec.CommandContext(s.T.Context(), "pdftotext", "-layout", file, "-").Output()
		require.NoError(s.T, err)
		paper = string(words)
	}
	return page, calendar, paper
}

// TestCancelledEverywhere: whatever a buyer looks at after an event was cancelled says so, admits
// nobody and says what becomes of the money. So does what is left of an order that was given back.
func TestCancelledEverywhere(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 10), nodetest.TypeBody(0, 10))
	free := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[1], 1)).Is(201, "")
	paid := s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 1)).Is(201, "")
	s.Settle(s.Checkout(paid.Str("id"), paid.Str("accessToken")), "success")
	s.Verify(paid.Str("id"), paid.Str("accessToken")).Is(200, "")
	back := s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[1], 1)).Is(201, "")
	passed := s.Call("POST", "/orders", nodetest.OrderBody("cat@example.org", ids[1], 1)).Is(201, "")
	began := time.Now()
	s.Buyer("cat@example.org").Own("POST", "/tickets/"+passed.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "joe@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("joe@example.org", began)+"/claim", nil).Is(200, "")

	page, calendar, paper := papersOf(s, free)
	require.NotContains(t, page, "cancelled")
	require.Contains(t, calendar, "STATUS:CONFIRMED")
	require.Contains(t, paper, free.Str("tickets.0.shortCode"))

	s.Own("POST", "/organizer/orders/"+back.Str("id")+"/refund", nodetest.Object{"reason": "A gift of the house.\nSee www.example.org"}).Is(200, "")
	require.Contains(t, s.Mail(t, "eve@example.org", "refund_due", began).Text, " writes:\n\n> A gift of the house.\n> See www. example. org\n", "why, in the organizer's name")
	page, calendar, paper = papersOf(s, back)
	require.Contains(t, page, "admit nobody any more")
	require.NotContains(t, page, back.Str("tickets.0.shortCode"))
	require.Contains(t, calendar, "STATUS:CANCELLED")
	require.Empty(t, paper)

	const reason = "A storm is near.\nSee www.example.org <b>now</b>"
	waits := s.Call("POST", "/orders", nodetest.OrderBody("dan@example.org", ids[0], 1)).Is(201, "")
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": reason}).Is(200, "")
	for _, o := range []nodetest.Answer{free, paid} {
		page, calendar, paper = papersOf(s, o)
		require.Contains(t, page, "is cancelled: it does not take place")
		require.Contains(t, page, "The organizer writes: A storm is near.\nSee www.example.org &lt;b&gt;now&lt;/b&gt;")
		require.NotContains(t, page, `href="http`)
		require.NotContains(t, page, "data:image/png")
		require.NotContains(t, page, "door code")
		require.Equal(t, o.Str("id") == paid.Str("id"), strings.Contains(page, "/me. Money of yours that arrives only now goes back"), "who has paid reads how the money comes back")
		require.Contains(t, calendar, "STATUS:CANCELLED")
		require.Contains(t, calendar, "METHOD:CANCEL")
		require.Contains(t, paper, "Cancelled")
		require.NotContains(t, paper, "Door code")
	}
	m := s.Mail(t, "bob@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "you may ask for your money back")
	require.Contains(t, m.Text, strings.TrimSuffix(s.URL, "/api/v1")+"/me")
	require.Regexp(t, nodetest.OrderLink, m.Text)
	require.Contains(t, m.Text, "> A storm is near.\n> See www. example. org")
	require.Contains(t, s.Mail(t, "dan@example.org", "order_cancelled", began).Text, "> A storm is near.", "nobody has paid for "+waits.Str("id"))
	shown := s.Call("GET", "/events/"+event, nil).Is(200, "")
	require.Equal(t, reason, shown.Str("cancelReason"))
	require.Contains(t, s.AtRoot().Raw("GET", "/e/"+shown.Str("slug"), "", "").Body, "The organizer writes: A storm is near.")
	require.Equal(t, reason, s.Buyer("bob@example.org").Own("GET", "/users/me/tickets", nil).Is(200, "").Str("items.0.event.cancelReason"))
	m = s.Mail(t, "joe@example.org", "event_cancelled", began)
	require.NotRegexp(t, nodetest.OrderLink, m.Text, "a buyer's order is not shown to whom a ticket was passed on")
	require.Contains(t, m.Text, "Nothing was paid for it")
	require.Contains(t, s.Mail(t, "eve@example.org", "event_cancelled", began).Text, "was yours any more, so you need not do anything", "she has given it back")
}

// TestCancelledNamesWhatIsHeld: the letter about a cancellation lists what its reader has, and tells who may
// ask for the money of it: the holder of each ticket. The page of the order says what became of each.
func TestCancelledNamesWhatIsHeld(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Balcony", "transferable": true}))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types[0], 3)).Is(201, "")
	page, _, _ := papersOf(s, o)
	require.Contains(t, page, "This order is not paid yet. What is in it is kept for you until")
	require.Contains(t, page, ">Pay</a>")
	s.Settle(s.Checkout(o.Str("id"), o.Str("accessToken")), "success")
	paid := s.Verify(o.Str("id"), o.Str("accessToken")).Is(200, "")
	page, _, _ = papersOf(s, o)
	require.NotContains(t, page, "not paid yet")
	require.NotContains(t, page, ">Pay</a>")
	require.Contains(t, page, ">Keep the tickets on your screen</a>")

	began := time.Now()
	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "A gift of the house.", "ticketIds": []string{paid.Str("tickets.0.id")}}).Is(200, "")
	s.Call("POST", "/tickets/"+paid.Str("tickets.1.id")+"/transfer", nodetest.Object{"toEmail": "joe@example.org", "token": o.Str("accessToken")}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("joe@example.org", began)+"/claim", nil).Is(200, "")
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")

	m := s.Mail(t, "ada@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "What:  Balcony\n", "one of three is hers")
	require.NotContains(t, m.Text, "Total:")
	require.Contains(t, m.Text, "you may ask for your money back")
	m = s.Mail(t, "joe@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "What:  Balcony\n")
	require.Contains(t, m.Text, "You may ask that the money for it goes back to the person who paid")
	require.Contains(t, m.Text, strings.TrimSuffix(s.URL, "/api/v1")+"/me")
	page, _, _ = papersOf(s, o)
	for _, state := range []string{"given back", "passed on", "not valid any more"} {
		require.Contains(t, page, `<p class="soft">`+state+"</p>")
	}
	require.Contains(t, page, ">See all of this order</a>")
	for who, ticket := range map[string]string{"joe@example.org": "tickets.1.id", "ada@example.org": "tickets.2.id"} {
		s.Buyer(who).Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": paid.Str(ticket), "reason": "It does not take place."}).Is(201, "")
	}
}

// TestCancelledNamesAllOrders: whoever has tickets of a cancelled event by several orders gets one letter about all of
// them, with the number and the link of each that is theirs, whichever of them is looked at first.
func TestCancelledNamesAllOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.With(nodetest.TypeBody(25, 20), nodetest.Object{"name": "Balcony"}))
	buy := func(who string) nodetest.Answer {
		o := s.Call("POST", "/orders", nodetest.OrderBody(who, types[0], 1)).Is(201, "")
		s.Settle(s.Checkout(o.Str("id"), o.Str("accessToken")), "success")
		return s.Verify(o.Str("id"), o.Str("accessToken")).Is(200, "")
	}
	first, second, third := buy("ada@example.org"), buy("ada@example.org"), buy("bob@example.org")
	began := time.Now()
	s.Buyer("bob@example.org").Own("POST", "/tickets/"+third.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "ada@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("ada@example.org", began)+"/claim", nil).Is(200, "")
	eve := []nodetest.Answer{buy("eve@example.org"), buy("eve@example.org")}
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")

	m := s.Mail(t, "ada@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "What:  3 x Balcony\n")
	require.NotContains(t, m.Text, "Total:", "one of the tickets was another's to pay")
	for _, o := range []nodetest.Answer{first, second} {
		require.Contains(t, m.Text, "/orders/"+o.Str("id")+"?token=")
		require.Equal(t, 2, strings.Count(m.Text, o.Str("orderNumber")))
	}
	require.NotContains(t, m.Text, third.Str("id"))
	require.Contains(t, m.Text, "You have paid for your orders")
	m = s.Mail(t, "eve@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "Total: $52.50, fees of $2.50 included")
	for _, o := range eve {
		require.Contains(t, m.Text, "/orders/"+o.Str("id")+"?token=")
	}
	require.Contains(t, s.Mail(t, "bob@example.org", "event_cancelled", began).Text, "was yours any more")
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	told := map[string]int{}
	for _, m := range list {
		if m.Kind == "event_cancelled" {
			told[m.To]++
		}
	}
	require.Equal(t, map[string]int{"ada@example.org": 1, "bob@example.org": 1, "eve@example.org": 1}, told)
}

// TestGoodsAreNoEvent: the page of an order for what is no event does not speak of doors. Where it is
// delivered stays there until all of it was given back.
func TestGoodsAreNoEvent(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const link = "https://example.org/book"
	book, types := s.Sell(nodetest.Object{"category": "e-books", "onlineLink": link}, nodetest.TypeBody(0, 5))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types[0], 2)).Is(201, "")
	back := func(ticket string) (page string) {
		s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "A gift of the house.", "ticketIds": []string{o.Str(ticket)}}).Is(200, "")
		page, _, _ = papersOf(s, o)
		require.NotContains(t, page, "0.00")
		return page
	}
	page := back("tickets.0.id")
	require.Contains(t, page, link)
	require.Contains(t, page, ">Open what you have bought</a>")
	require.Contains(t, page, "without a reason until")
	s.Own("DELETE", "/organizer/events/"+book, nil).Is(200, "")
	page, _, _ = papersOf(s, o)
	require.Contains(t, page, "it is not sold any more")
	require.Contains(t, page, "stays yours until you give it back")
	require.NotContains(t, page, "admit")
	page = back("tickets.1.id")
	require.NotContains(t, page, link)
	require.Contains(t, page, "is not yours any more")
	require.NotContains(t, page, "without a reason until")
}

// TestBookedIsTold: the date and the slot of each booked ticket stand in every mail about it and on
// the page of its order, before and after it moves.
func TestBookedIsTold(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, typ, days := s.Bookable(0)
	night, noon := days.Str("days.0.slots.0.slotId"), days.Str("days.0.slots.1.slotId")
	on := func(i string) string {
		day, err := time.Parse(time.DateOnly, days.Str("days."+i+".date"))
		require.NoError(t, err)
		return day.Format("Monday, 2 January 2006")
	}
	began := time.Now()
	body := nodetest.BookedBody("ada@example.org", typ, nodetest.Object{"reservationDate": days.Str("days.3.date"), "reservationSlotId": noon})
	friend := nodetest.BookedBody("", typ, nodetest.Object{"reservationDate": days.Str("days.3.date"), "reservationSlotId": night, "attendeeEmail": "joe@example.org"})
	body["items"] = append(body["items"].([]nodetest.Object), friend["items"].([]nodetest.Object)...)
	o := s.Call("POST", "/orders", body).Is(201, "")
	page, _, paper := papersOf(s, o)
	confirmation := s.Mail(t, "ada@example.org", "order_confirmation", began)
	for _, shown := range []string{page, paper, confirmation.Text, confirmation.HTML} {
		require.Contains(t, shown, "Noon: "+on("3"))
		require.Contains(t, shown, "Night: "+on("3"))
	}
	for _, shown := range []string{page, confirmation.Text, confirmation.HTML} {
		require.Equal(t, 2, strings.Count(shown, "Night: "+on("3")), "above, and by its ticket")
	}
	m := s.Mail(t, "joe@example.org", "attendee_tickets", began)
	require.Contains(t, m.Text, "When:  Night: "+on("3"))
	require.NotContains(t, m.Text, "Noon", "others' slots are none of an attendee's business")
	require.Equal(t, 1, strings.Count(m.Calendar, "BEGIN:VEVENT"))

	move := time.Now()
	s.Buyer("ada@example.org").Own("POST", "/users/me/tickets/"+o.Str("tickets.0.id")+"/reschedule", nodetest.Object{"date": days.Str("days.5.date"), "slotId": noon}).Is(200, "")
	m = s.Mail(t, "ada@example.org", "ticket_rescheduled", began)
	require.Contains(t, m.Text, "When:   Noon: "+on("5"))
	require.Contains(t, m.Text, "Before: Noon: "+on("3"))
	require.Contains(t, m.Text, "takes the old one out")
	bought, moved := entriesOf(t, confirmation.Calendar), entriesOf(t, m.Calendar)
	old, at := o.Str("id")+"-"+days.Str("days.3.date")+noon, o.Str("id")+"-"+days.Str("days.5.date")+noon
	require.Equal(t, "CONFIRMED", bought[old].GetProperty(ics.ComponentPropertyStatus).Value)
	require.Equal(t, "CANCELLED", moved[old].GetProperty(ics.ComponentPropertyStatus).Value, "a calendar has it by this name")
	require.Equal(t, "CONFIRMED", moved[at].GetProperty(ics.ComponentPropertyStatus).Value)
	stamp, err := moved[old].GetDtStampTime()
	require.NoError(t, err)
	require.False(t, stamp.Before(move.Truncate(time.Second)), "calendars ignore what is not newer")
	page, _, _ = papersOf(s, o)
	require.Contains(t, page, "Noon: "+on("5"))
	require.NotContains(t, page, "Noon: "+on("3"))

	t.Log("and after a part was given back")
	began = time.Now()
	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "A gift of the house.", "ticketIds": []string{o.Str("tickets.0.id")}}).Is(200, "")
	m = s.Mail(t, "ada@example.org", "refund_due", began)
	require.Contains(t, m.Text, "When:  Noon: "+on("5"))
	require.Contains(t, m.Calendar, "METHOD:CANCEL", "the other ticket is for another time")
	require.NoError(t, s.AwaitLists(t.Context()))
	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/resend", nil).Is(200, "")
	m = s.Mail(t, "ada@example.org", "order_confirmation", began)
	require.NotContains(t, m.Text, "Noon", "she has given it back")
	require.Equal(t, "CANCELLED", entriesOf(t, m.Calendar)[at].GetProperty(ics.ComponentPropertyStatus).Value)

	t.Log("and after a cancellation, to whom each date is told, and whose calendar loses them")
	began = time.Now()
	s.Own("DELETE", "/organizer/events/"+o.Str("eventId"), nil).Is(200, "")
	m = s.Mail(t, "ada@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "When:  Night: "+on("3"))
	require.NotContains(t, m.Text, "Noon", "she has given it back")
	require.Equal(t, 2, strings.Count(m.Calendar, "BEGIN:VEVENT"))
	m = s.Mail(t, "joe@example.org", "event_cancelled", began)
	require.Contains(t, m.Text, "When:  Night: "+on("3"))
	require.NotContains(t, m.Text, "Noon")

	t.Log("and of an order that was never paid")
	_, typ, days = s.Bookable(25)
	noon = days.Str("days.0.slots.1.slotId")
	o = s.Call("POST", "/orders", nodetest.BookedBody("eve@example.org", typ, nodetest.Object{"reservationDate": days.Str("days.3.date"), "reservationSlotId": noon})).Is(201, "")
	s.Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
	require.Contains(t, s.Mail(t, "eve@example.org", "order_cancelled", began).Text, "When:  Noon: "+on("3"))
}

// TestNamedAreToldOfMoves: when a buyer moves a ticket, whom it names hears of the new time, and nothing of the order.
func TestNamedAreToldOfMoves(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, typ, days := s.Bookable(0)
	night, noon := days.Str("days.0.slots.0.slotId"), days.Str("days.0.slots.1.slotId")
	began := time.Now()
	body := nodetest.BookedBody("ada@example.org", typ, nodetest.Object{"reservationDate": days.Str("days.3.date"), "reservationSlotId": noon})
	friend := nodetest.BookedBody("", typ, nodetest.Object{"reservationDate": days.Str("days.3.date"), "reservationSlotId": night, "attendeeEmail": "joe@example.org", "attendeeName": "Joe"})
	body["items"] = append(body["items"].([]nodetest.Object), friend["items"].([]nodetest.Object)...)
	o := s.Call("POST", "/orders", body).Is(201, "")
	s.Mail(t, "joe@example.org", "attendee_tickets", began)
	ada := s.Buyer("ada@example.org")
	for i, date := range []string{"5", "6"} {
		again := time.Now()
		ada.Own("POST", "/users/me/tickets/"+o.Str("tickets."+strconv.Itoa(i)+".id")+"/reschedule", nodetest.Object{"date": days.Str("days." + date + ".date"), "slotId": noon}).Is(200, "")
		require.Contains(t, s.Mail(t, "ada@example.org", "ticket_rescheduled", again).Text, o.Str("orderNumber"))
	}
	m := s.Mail(t, "joe@example.org", "ticket_rescheduled", began)
	require.Contains(t, m.Text, "Hello Joe,")
	require.Contains(t, m.Text, "When:   Noon: ")
	require.Contains(t, m.Text, "Before: Night: ")
	require.Contains(t, m.Text, "takes the old one out")
	require.NotContains(t, m.Text, o.Str("orderNumber"), "the order is Ada's")
	require.NotContains(t, m.Text+m.HTML+m.Calendar, o.Str("accessToken"))
	require.NotContains(t, m.HTML, "token=")
	old, at := o.Str("id")+"-"+days.Str("days.3.date")+night, o.Str("id")+"-"+days.Str("days.6.date")+noon
	moved := entriesOf(t, m.Calendar)
	require.Equal(t, "CANCELLED", moved[old].GetProperty(ics.ComponentPropertyStatus).Value)
	require.Equal(t, "CONFIRMED", moved[at].GetProperty(ics.ComponentPropertyStatus).Value)
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	require.Len(t, slices.DeleteFunc(list, func(l mail.Captured) bool { return l.To != "joe@example.org" || l.Kind != "ticket_rescheduled" }), 1, "Ada's own is none of Joe's business")
}

// entriesOf are the entries of a calendar file by their names.
func entriesOf(t *testing.T, file string) map[string]*ics.VEvent {
	t.Helper()
	c, err := ics.ParseCalendar(strings.NewReader(file))
	require.NoError(t, err)
	entries := map[string]*ics.VEvent{}
	for _, e := range c.Events() {
		entries[e.Id()] = e
	}
	return entries
}

// TestTransferLetters: whoever offered, was offered or took a ticket reads what became of it, and of
// which ticket.
func TestTransferLetters(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, types := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"name": "Balcony"}))
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": nodetest.Lines(types[0], 2)}).Is(201, "")
	offer := func(ticket, to, token string) string {
		began := time.Now()
		s.Call("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": to, "token": token}).Is(201, "")
		return s.ClaimToken(to, began)
	}
	first, second := o.Str("tickets.0.id"), o.Str("tickets.1.id")

	t.Log("an offer that is taken back")
	began := time.Now()
	offer(second, "cat@example.org", o.Str("accessToken"))
	s.Call("DELETE", "/tickets/"+second+"/transfer?token="+o.Str("accessToken"), nil).Is(200, "")
	m := s.Mail(t, "cat@example.org", "transfer_revoked", began)
	require.Contains(t, m.Text, "ada at example. org offered you a ticket")
	require.Contains(t, m.Text, "What:  Balcony\n")

	t.Log("an offer that is claimed")
	began = time.Now()
	s.Call("POST", "/tickets/transfers/"+offer(first, "bob@example.org", o.Str("accessToken"))+"/claim", nil).Is(200, "")
	m = s.Mail(t, "bob@example.org", "attendee_tickets", began)
	require.Contains(t, m.Text, "ada at example. org has passed a ticket")
	require.NotContains(t, m.Text, "You have a ticket")
	require.NotContains(t, m.Text, "1 of 1")
	require.Contains(t, m.Text, "\nBalcony")
	require.Contains(t, m.Calendar, "STATUS:CONFIRMED", "it is his date now")
	m = s.Mail(t, "ada@example.org", "transfer_taken", began)
	require.Empty(t, m.Calendar, "she has another ticket for it")
	require.Contains(t, m.Text, "bob at example. org has accepted the ticket")
	require.Contains(t, m.Text, "What:  Balcony\n")
	require.Contains(t, m.Text, o.Str("id"), "her order is hers still")

	t.Log("and passed on again: whoever had it is told, and gets no link to the buyer's order")
	began = time.Now()
	bob := s.Buyer("bob@example.org")
	bob.Own("POST", "/tickets/"+first+"/transfer", nodetest.Object{"toEmail": "eve@example.org"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("eve@example.org", began)+"/claim", nil).Is(200, "")
	m = s.Mail(t, "bob@example.org", "transfer_taken", began)
	require.Contains(t, m.Text, "eve at example. org has accepted the ticket")
	require.NotContains(t, m.Text, o.Str("id"))
	require.Contains(t, m.Calendar, "METHOD:CANCEL", "it was his only one")
}

// TestLostTicketsAreTold: whoever has a ticket that another person bought hears when it is taken back, given
// back or passed on, once, and without what is the buyer's; nobody hears of a ticket that stays.
func TestLostTicketsAreTold(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, types := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"name": "Balcony"}), nodetest.TypeBody(0, 100), nodetest.TypeBody(0, 100))
	lines := nodetest.Lines(types[0], 2)
	for i, name := range []string{"cat@example.org", "dan@example.org"} {
		lines = append(lines, nodetest.With(nodetest.Lines(types[i+1], 1)[0], nodetest.Object{"attendeeEmail": name, "attendeeName": "Somebody"}))
	}
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": lines}).Is(201, "")
	pass := func(ticket, to string) {
		began := time.Now()
		s.Call("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": to, "token": o.Str("accessToken")}).Is(201, "")
		s.Call("POST", "/tickets/transfers/"+s.ClaimToken(to, began)+"/claim", nil).Is(200, "")
	}
	began := time.Now()
	pass(o.Str("tickets.0.id"), "bob@example.org")
	pass(o.Str("tickets.1.id"), "bob@example.org")

	t.Log("passed on, by its buyer, under the hands of the person it was for")
	pass(o.Str("tickets.2.id"), "eve@example.org")
	m := s.Mail(t, "cat@example.org", "ticket_void", began)
	require.Contains(t, m.Text, "passed your ticket for")
	require.Contains(t, m.Text, "admit nobody")
	require.Contains(t, m.Calendar, "METHOD:CANCEL")
	require.NotContains(t, m.Text, o.Str("id"))
	require.NotContains(t, m.Text, "eve at")

	t.Log("taken back by the organization: one of two")
	back := func(tickets ...string) {
		for i := range tickets {
			tickets[i] = o.Str("tickets." + tickets[i] + ".id")
		}
		s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "A slip.", "ticketIds": tickets}).Is(200, "")
	}
	back("0")
	m = s.Mail(t, "bob@example.org", "ticket_void", began)
	require.Contains(t, m.Text, "has taken back your ticket for")
	require.Contains(t, m.Text, "What:  Balcony\n")
	require.Contains(t, m.Text, "What else you have of that order stays valid.")
	require.Empty(t, m.Calendar, "another ticket of his is for that time")
	require.NotContains(t, m.Text, "Money")

	t.Log("the rest: each of those who have them")
	again := time.Now()
	back("1", "2", "3")
	for _, to := range []string{"bob@example.org", "eve@example.org", "dan@example.org"} {
		m = s.Mail(t, to, "ticket_void", again)
		require.Contains(t, m.Text, "has taken back your ticket for")
		require.Contains(t, m.Calendar, "METHOD:CANCEL")
	}
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	told := map[string]int{}
	for _, m := range list {
		if m.Kind == "ticket_void" {
			told[m.To]++
		}
	}
	require.Equal(t, map[string]int{"bob@example.org": 2, "cat@example.org": 1, "dan@example.org": 1, "eve@example.org": 1}, told)
}

// TestContactIsAnswered: a customer's answer reaches the organization, and not a mailbox that nobody
// reads.
func TestContactIsAnswered(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.FreeTickets(nil, 1)
	path := "/organizer/customers/" + s.Customers("", 1).Str("items.0.key") + "/contact"
	for _, c := range []struct{ address, want string }{{"", `^<reply\+[0-9A-Za-z]{22}@`}, {"hello@club.example", `^<hello@club\.example>$`}} {
		if c.address != "" {
			s.Own("PUT", "/organizer/organizations/"+s.Org(), nodetest.Object{"contactEmail": c.address}).Is(200, "")
		}
		began := time.Now()
		s.Own("POST", path, nodetest.Object{"subject": "Your seat", "body": "It is in front."}).Is(200, "")
		m := s.Mail(t, "ada@example.org", "contact", began)
		require.Regexp(t, c.want, m.Header.Get("Reply-To"))
		require.NotContains(t, m.Text+m.HTML, "do not reply")
	}
}

// TestOfferNamesItsPrice: who has waited reads what the tickets cost before taking them.
func TestOfferNamesItsPrice(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, orders := s.FullHouse(10, 1)
	s.Waits(event, nodetest.WaitlistBody("ada@example.org", nodetest.Object{"ticketTypeId": typ}))
	began := time.Now()
	giveUp(s, orders[0])
	require.Contains(t, s.Mail(t, "ada@example.org", "waitlist_offered", began).Text, "It costs $10.50, with all fees.")
}

// TestBroadcastKeepsAddresses: a mail program that shows no HTML shows where the links lead.
func TestBroadcastKeepsAddresses(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 100))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	began := time.Now()
	body := `<p>Map: <a href="https://example.org/map?a=1&amp;b=2">here</a>, <a href="mailto:hello@club.example">write</a>, <a href="https://example.org">https://example.org</a></p>`
	s.Settle(s.Checkout(o.Str("id"), o.Str("accessToken")), "success")
	s.Verify(o.Str("id"), o.Str("accessToken")).Is(200, "")
	s.Own("POST", "/organizer/growth/events/"+event+"/broadcast", nodetest.Object{"subject": "Map", "body": body}).Is(200, "")
	m := s.Mail(t, "ada@example.org", "broadcast", began)
	require.Contains(t, m.Text, "> Map: here (https://example.org/map?a=1&b=2), write (hello@club.example), https://example.org\n")
}

// TestLettersShowTheCover: a letter about an order shows the event's picture from our own address, once
// somebody has paid its organization; one that another server has is never shown.
func TestLettersShowTheCover(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	up := s.Upload("/media/upload", nodetest.Upload{Name: "cover.png", Type: "image/png", Body: nodetest.PNG(t, 1800, 1200), Fields: map[string]string{"kind": "event-cover"}}, s.Bearer()...).Is(201, "")
	event, ids := s.OnSale(nodetest.TypeBody(25, 10))
	cover := func(at string) {
		s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"coverImage": at}).Is(200, "")
	}
	shown := `<img src="` + strings.TrimSuffix(s.URL, "/api/v1") + up.Str("primaryUrl") + `/og.jpg" width="560" height="294" alt="`
	cover(up.Str("primaryUrl"))

	began := time.Now()
	order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	s.Call("POST", "/orders/"+order.Str("id")+"/cancel", nodetest.Object{"token": order.Str("accessToken")}).Is(200, "")
	require.NotContains(t, s.Mail(t, "ada@example.org", "order_cancelled", began).HTML, "/media/", "nobody has paid its organization")

	buy := func(email string) *mail.Captured {
		began := time.Now()
		o := s.Call("POST", "/orders", nodetest.OrderBody(email, ids[0], 1)).Is(201, "")
		s.Settle(s.Checkout(o.Str("id"), o.Str("accessToken")), "success")
		s.Verify(o.Str("id"), o.Str("accessToken")).Is(200, "")
		return s.Mail(t, email, "order_confirmation", began)
	}
	buy("bob@example.org")
	m := buy("cat@example.org")
	require.Contains(t, m.HTML, shown)
	require.NotContains(t, m.Text, "/media/")
	picture, _ := s.Get(up.Str("primaryUrl") + "/og.jpg") //nolint:bodyclose // Get closes it
	require.Equal(t, 200, picture.StatusCode)

	cover("https://pictures.example.org/cover.jpg")
	require.NotContains(t, buy("dan@example.org").HTML, "pictures.example.org", "that server would learn who reads the letter")

	cover(up.Str("primaryUrl"))
	began = time.Now()
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{}).Is(200, "")
	require.Contains(t, s.Mail(t, "cat@example.org", "event_cancelled", began).HTML, shown)
}

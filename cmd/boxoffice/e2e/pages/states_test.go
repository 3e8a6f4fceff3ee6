package pages

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

// showroom is a shop with what its orders are for.
type showroom struct {
	*nodetest.Shop
	base string
	ada  *nodetest.Shop // who buys, signed in
}

// shown is an order as the page of its buyer opens it.
type shown struct{ id, token, event string }

func (o shown) page() string { return "/o/" + o.id + "#token=" + o.token }

// openShowroom starts a shop that takes coins, bank transfers and cards.
func openShowroom(t *testing.T) *showroom {
	t.Helper()
	s := nodetest.Open(t, func(c *node.Config) {
		c.Currencies, c.PaysimProviders = []string{"USD", "EUR"}, []string{"paystack", "nowpayments", "transfer"}
	})
	s.Org()
	return &showroom{Shop: s, base: strings.TrimSuffix(s.URL, "/api/v1"), ada: s.Buyer("ada@example.org")}
}

// sell puts a concert on sale, with changes to it, and returns its only ticket type.
func (r *showroom) sell(price float64, event, of nodetest.Object) (id, ticketType string) {
	r.T.Helper()
	body := nodetest.With(nodetest.Object{
		"title": "Night Concert at the Quay", "category": "concerts", "currency": "USD", "venueName": "Harbour Hall", "venueAddress": "Kai 3", "venueCity": "Hamburg",
		"startDate": "2031-06-14T18:00:00Z", "endDate": "2031-06-14T21:00:00Z",
	}, event)
	kind := nodetest.With(nodetest.TypeBody(price, 50), nodetest.Object{"name": "Floor", "transferable": true, "refundable": true, "refundDeadline": nodetest.Stamp(time.Hour)})
	if price == 0 {
		kind["type"] = "free"
	}
	id, ids := r.Sell(body, nodetest.With(kind, of))
	return id, ids[0]
}

// place orders tickets of a type, with changes to the line.
func (r *showroom) place(ticketType string, quantity int, line nodetest.Object) shown {
	r.T.Helper()
	body := nodetest.With(nodetest.OrderBody("ada@example.org", ticketType, quantity), nodetest.Object{"guestName": "Ada Obi"})
	items, _ := body["items"].([]nodetest.Object)
	items[0] = nodetest.With(items[0], line)
	o := r.Call("POST", "/orders", body).Is(201, "")
	return shown{o.Str("id"), o.Str("accessToken"), o.Str("eventId")}
}

// buy orders and pays, at a simulator that misbehaves as modes say.
func (r *showroom) buy(ticketType string, quantity int, modes string) shown {
	r.T.Helper()
	o := r.place(ticketType, quantity, nil)
	r.Settle(r.Checkout(o.id, o.token)+"?paysim="+modes, "success")
	r.Verify(o.id, o.token).Is(200, "")
	return o
}

// paid is a paid order of two tickets for a concert.
func (r *showroom) paid(modes string) shown {
	r.T.Helper()
	_, ticketType := r.sell(25, nil, nil)
	return r.buy(ticketType, 2, modes)
}

// attended is an order of two tickets that a gate has let in, for a concert that is over.
func (r *showroom) attended() shown {
	r.T.Helper()
	event, ticketType := r.sell(25, nil, nil)
	o := r.buy(ticketType, 2, "success")
	for i := range 2 {
		r.Scan(o.event, r.Order(o.id, o.token).Str(fmt.Sprintf("tickets.%d.shortCode", i)), "d1").Is(200, "")
		r.Becomes("checked_in", func() string { return r.Order(o.id, o.token).Str(fmt.Sprintf("tickets.%d.status", i)) })
	}
	for _, status := range []string{"in_progress", "completed"} {
		r.Own("PUT", "/organizer/events/"+event+"/status", nodetest.Object{"status": status}).Is(200, "")
	}
	return o
}

// move moves a concert to July. A busy machine may show the new date later than the organizer's answer says it.
func (r *showroom) move(event string) {
	r.T.Helper()
	const date = "2031-07-05T18:00:00Z"
	r.Own("PUT", "/organizer/events/"+event, nodetest.Object{"startDate": date, "endDate": "2031-07-05T21:00:00Z", "shiftWindows": true}).Is(200, "")
	r.Becomes(date, func() string { return r.Call("GET", "/events/"+event, nil).Is(200, "").Str("startDate") })
}

// moveWith moves the event of an order, which must be older than the move by a millisecond: who buys in the same
// one has bought for the new date.
func (r *showroom) moveWith(o shown) {
	r.T.Helper()
	completed, err := time.Parse(time.RFC3339, r.Order(o.id, o.token).Str("completedAt"))
	require.NoError(r.T, err)
	r.Becomes("true", func() string { return fmt.Sprint(time.Now().UnixMilli() > completed.UnixMilli()) })
	r.move(o.event)
}

// ticket is the id of one of an order's tickets.
func (r *showroom) ticket(o shown, n int) string {
	r.T.Helper()
	return r.Order(o.id, o.token).Str(fmt.Sprintf("tickets.%d.id", n))
}

// refund has the organizer give money back, and waits for a status of it. The sweep does not pause meanwhile.
func (r *showroom) refund(o shown, body nodetest.Object, until string) {
	r.T.Helper()
	r.Own("POST", "/organizer/orders/"+o.id+"/refund", body).Is(200, "")
	id, err := engine.ParseID(o.id)
	require.NoError(r.T, err)
	r.Becomes(until, func() string {
		const due = `UPDATE refunds SET not_before = now() WHERE order_id = $1 AND not_before > now() AND failures = 0`
		_, err := r.Pool().Exec(r.T.Context(), due, [16]byte(id))
		require.NoError(r.T, err)
		return r.Order(o.id, o.token).Str("refunds.0.status")
	})
}

// pay opens an attempt to pay with a provider.
func (r *showroom) pay(o shown, with nodetest.Object) shown {
	r.T.Helper()
	r.Call("POST", "/orders/"+o.id+"/pay", nodetest.With(nodetest.Object{"token": o.token}, with)).Is(200, "")
	return o
}

// visit is an order of two places of a reservation event on one of its days, and the days.
func (r *showroom) visit(mode string) (o shown, days nodetest.Answer) {
	r.T.Helper()
	reservation := nodetest.Object{"mode": mode, "maxAdvanceDays": 60}
	if mode == "date_time" {
		reservation["slots"] = []nodetest.Object{{"label": "Noon", "startTime": "12:00", "endTime": "13:30", "capacity": 30}, {"label": "Evening", "startTime": "18:00", "endTime": "19:30", "capacity": 30}}
	}
	event, ticketType := r.sell(25, nodetest.Object{
		"title": "Tea in the Tower", "category": "reservations", "startDate": nodetest.Stamp(time.Hour), "endDate": nodetest.Absent, "venueName": "Old Tower", "reservation": reservation,
	}, nodetest.Object{"name": "Visitor", "saleEnd": nodetest.Stamp(2000 * time.Hour), "refundDeadline": nodetest.Absent, "refundWindowHours": 24})
	days = r.Call("GET", "/public/events/by-id/"+event+"/availability", nil).Is(200, "")
	line := nodetest.Object{"reservationDate": days.Str("days.3.date")}
	if mode == "date_time" {
		line["reservationSlotId"] = days.Str("days.3.slots.0.slotId")
	}
	o = r.place(ticketType, 2, line)
	r.Settle(r.Checkout(o.id, o.token), "success")
	r.Verify(o.id, o.token).Is(200, "")
	return o, days
}

// digital is a paid order of what is opened rather than attended.
func (r *showroom) digital(price float64, event nodetest.Object) shown {
	r.T.Helper()
	_, ticketType := r.sell(price, nodetest.With(nodetest.Object{
		"title": "Songs of the Quay", "category": "e-books", "venueType": "online", "onlineLink": "https://example.org/vault", "endDate": nil, "venueName": nodetest.Absent, "venueAddress": nodetest.Absent, "venueCity": nodetest.Absent,
	}, event), nodetest.Object{"name": "Album", "transferable": false, "refundable": false, "refundDeadline": nodetest.Absent})
	return r.buy(ticketType, 1, "refundslow=1ms")
}

// state is one state of one product's order: how it comes about, what is done on the page, and
// what the page says in it.
type state struct {
	name            string
	of              func(r *showroom) string // returns the address of the page
	there           string                   // a selector of what the page has before anything is done on it
	do              func(b *buyer)           // what the reader does on the page first
	english, german []string                 // what the page says in the end; it is judged when all of it stands there
	never           []string                 // what it must not say in either language
}

var orderStates = []state{
	{name: "unpaid", there: ".choice input", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		return r.place(ticketType, 2, nil).page()
	}, english: []string{"Not paid yet", "$52.50", "Night Concert at the Quay"}, german: []string{"Noch nicht bezahlt", "52,50\u00a0$", "Samstag, 14. Juni 2031"}},
	{name: "coins", there: ".address", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		return r.pay(r.place(ticketType, 2, nil), nodetest.Object{"provider": "nowpayments", "payCurrency": "btc"}).page()
	}, english: []string{"Not paid yet", "BTC to"}, german: []string{"Noch nicht bezahlt", "BTC an"}},
	{name: "transfer", there: ".sum", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nodetest.Object{"currency": "EUR"}, nodetest.Object{"saleEnd": nodetest.Stamp(9 * 24 * time.Hour)})
		return r.pay(r.place(ticketType, 2, nil), nodetest.Object{"provider": "transfer"}).page()
	}, english: []string{"Please transfer the money", "€52.50", "Reference"}, german: []string{"Bitte überweise das Geld", "52,50\u00a0€", "Verwendungszweck"}},
	{name: "hosted", there: ".other", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		return r.pay(r.place(ticketType, 2, nil), nodetest.Object{"provider": "paystack"}).page()
	}, do: func(b *buyer) { b.until(`!document.querySelector(".top .turn")`) }, // until the provider has said so a few times
		english: []string{"Not paid yet", "has no payment from you so far"}, german: []string{"Noch nicht bezahlt", "ist bisher nichts von dir eingegangen"}, never: []string{"checking", "prüfen"}},
	{name: "checking", there: ".top .turn", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		o := r.place(ticketType, 2, nil)
		r.Settle(r.Checkout(o.id, o.token), "processing")
		require.Equal(r.T, "processing", r.Verify(o.id, o.token).Is(200, "").Str("status"))
		return o.page()
	}, english: []string{"We are checking your payment", "You need not pay twice", "Pay $52.50"}, german: []string{"Wir prüfen deine Zahlung", "Du musst nicht zweimal zahlen", "52,50\u00a0$ zahlen"}, never: []string{"Not paid yet", "Noch nicht bezahlt"}},
	{name: "failed", there: ".choice input", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		o := r.place(ticketType, 2, nil)
		r.Settle(r.Checkout(o.id, o.token), "failed")
		r.Verify(o.id, o.token).Is(200, "")
		return o.page()
	}, english: []string{"The payment did not go through"}, german: []string{"Die Zahlung hat nicht geklappt"}},
	{name: "expired", there: "a.wide", of: func(r *showroom) string {
		event, ticketType := r.sell(25, nil, nil)
		r.Window(event, 100*time.Millisecond)
		o := r.place(ticketType, 2, nil)
		r.Becomes("expired", r.Status(o.id, o.token))
		return o.page()
	}, english: []string{"The time to pay is over"}, german: []string{"Die Zeit zum Zahlen ist um"}},
	{name: "given-up", there: "a.wide", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		o := r.place(ticketType, 2, nil)
		r.Call("POST", "/orders/"+o.id+"/cancel", nodetest.Object{"token": o.token}).Is(200, "")
		return o.page()
	}, english: []string{"This order was cancelled", "You owe nothing"}, german: []string{"Diese Bestellung wurde storniert", "Du schuldest nichts"}},

	{
		name: "standing", there: ".pass svg", of: func(r *showroom) string { return r.paid("success").page() },
		english: []string{"Your tickets", "Door code", "June 14, 2031", "Harbour Hall", "PDF"}, german: []string{"Deine Karten", "Türcode", "Samstag, 14. Juni 2031", "PDF"},
	},
	{name: "seated", there: ".seat", of: func(r *showroom) string {
		h := nodetest.SeatedIn(r.Shop)
		a := h.Buy("", h.Stalls, "stalls-A-1", "stalls-A-2").Is(201, "")
		o := shown{a.Str("id"), a.Str("accessToken"), a.Str("eventId")}
		r.Settle(r.Checkout(o.id, o.token), "success")
		r.Verify(o.id, o.token).Is(200, "")
		return o.page()
	}, english: []string{"Your tickets", "Row A"}, german: []string{"Deine Karten", "Reihe A"}},
	{name: "rotating", there: ".pass svg", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nodetest.Object{"rotatingOnly": true}, nil)
		return r.buy(ticketType, 1, "success").page()
	}, english: []string{"Your tickets", "Calendar"}, german: []string{"Deine Karten", "Kalender"}, never: []string{"PDF", "Print", "Drucken"}},
	{name: "visit", there: ".pass svg", of: func(r *showroom) string {
		o, _ := r.visit("date_time")
		return o.page()
	}, english: []string{"Your tickets", "Noon"}, german: []string{"Deine Karten", "12:00"}},
	{name: "day", there: ".pass svg", of: func(r *showroom) string {
		o, _ := r.visit("date_only")
		return o.page()
	}, english: []string{"Your tickets"}, german: []string{"Deine Karten"}, never: []string{"12:00 AM", "0:00"}},
	{
		name: "file", there: ".get a.button", of: func(r *showroom) string { return r.digital(10, nil).page() },
		english: []string{"It is yours", "Open", "Withdraw"}, german: []string{"Es gehört dir", "Öffnen", "Widerrufen"}, never: []string{"Door code", "Türcode", "other date", "anderer Tag"},
	},
	{name: "course", there: ".get a.button", of: func(r *showroom) string {
		return r.digital(10, nodetest.Object{"title": "Knots for Beginners", "category": "online-course", "onlineLink": nodetest.Absent, "courseType": "syllabus", "syllabus": []nodetest.Object{{
			"title": "The bowline", "description": "Seen slowly, from both sides.", "duration": "A week", "skillLevel": "Beginner", "format": "Self-paced", "lessonVideo": "https://films.example.org/1", "writeup": "Take a rope.",
		}}}).page()
	}, english: []string{"It is yours", "Begin the course"}, german: []string{"Es gehört dir", "Kurs beginnen"}, never: []string{"Door code", "Türcode"}},
	{name: "free", there: ".pass svg", of: func(r *showroom) string {
		_, ticketType := r.sell(0, nil, nodetest.Object{"name": "Student"})
		return r.place(ticketType, 1, nil).page()
	}, english: []string{"Your tickets", "Free"}, german: []string{"Deine Karten", "Kostenlos"}, never: []string{"other date", "anderer Tag", "Geld zurück"}},

	{name: "offered", there: ".pass svg", of: func(r *showroom) string { return r.paid("success").page() }, do: func(b *buyer) {
		b.choose(`[data-verb="pass"]`)
		b.fill(`.panel input[type="email"]`, "fred@example.org")
		b.choose(".panel button")
		b.there(".verbs .note button")
	}, english: []string{"Offered to fred@example.org"}, german: []string{"Angeboten an fred@example.org"}},
	{name: "taken-back", there: ".pass svg", of: func(r *showroom) string { return r.paid("success").page() }, do: func(b *buyer) {
		b.choose(`[data-verb="pass"]`)
		b.fill(`.panel input[type="email"]`, "fred@example.org")
		b.choose(".panel button")
		b.choose(".verbs .note button")
		b.until(`!document.querySelector(".verbs .note")`)
	}, english: []string{"Taken back"}, german: []string{"Zurückgenommen"}},
	{name: "given", there: ".pass .state", of: func(r *showroom) string {
		o := r.paid("success")
		r.Call("POST", "/tickets/transfers/"+r.offer(o)+"/claim", nil).Is(200, "")
		return o.page()
	}, english: []string{"Passed on"}, german: []string{"Weitergegeben"}},
	{name: "claimed", there: "#take", of: func(r *showroom) string { return "/tickets/claim#token=" + r.offer(r.paid("success")) }, do: func(b *buyer) {
		b.choose("#take")
		b.until(`document.querySelector(".event")?.innerText`)
	}, english: []string{"The ticket is yours", "Night Concert at the Quay", "June 14, 2031"}, german: []string{"Die Karte gehört dir", "14. Juni 2031"}},
	{name: "used", there: ".pass .state", of: func(r *showroom) string {
		o := r.paid("success")
		r.Scan(o.event, r.Order(o.id, o.token).Str("tickets.0.shortCode"), "d1").Is(200, "")
		r.Becomes("checked_in", func() string { return r.Order(o.id, o.token).Str("tickets.0.status") })
		return o.page()
	}, english: []string{"at North"}, german: []string{"Einlass North"}, never: []string{"How was it", "Wie war es"}},
	{
		name: "reviewed", there: "[data-review]", of: func(r *showroom) string { return r.attended().page() }, do: (*buyer).review,
		english: []string{"Your review", "A splendid evening by the water.", "Ada O.", "The organizer answers:", "Come again!"}, german: []string{"Deine Bewertung", "A splendid evening by the water.", "Ada O.", "Der Veranstalter antwortet:", "Come again!"},
	},

	{name: "refunded", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("refundslow=1ms")
		r.refund(o, nodetest.Object{"reason": "The singer is ill."}, "processed")
		return o.page()
	}, english: []string{"This order was refunded", "$50.00 has gone back", "Went back", "Fees, not given back\n$2.50"}, german: []string{"Diese Bestellung wurde erstattet", "Zurückgegangen", "Gebühren, gehen nicht zurück\n2,50\u00a0$"}},
	{name: "refunded-in-part", there: ".pass .state", of: func(r *showroom) string {
		o := r.paid("refundslow=1ms")
		r.refund(o, nodetest.Object{"reason": "One of two is ill.", "ticketIds": []string{r.ticket(o, 0)}}, "processed")
		return o.page()
	}, english: []string{"Your tickets", "$25.00 went back", "Went back", "The fees are not given back."}, german: []string{"Deine Karten", "25,00\u00a0$ gingen am", "Zurückgegangen", "Die Gebühren gehen nicht zurück."}},
	{name: "money-alone", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("refundslow=1ms")
		r.refund(o, nodetest.Object{"reason": "The queue was long.", "amount": 2.5}, "processed")
		return o.page()
	}, english: []string{"$2.50", "Went back"}, german: []string{"2,50\u00a0$", "Zurückgegangen"}},
	{name: "refund-on-its-way", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("refund=pending")
		r.refund(o, nodetest.Object{"reason": "The singer is ill."}, "processing")
		return o.page()
	}, english: []string{"Your money is on its way back", "$50.00 goes back", "Fees, not given back"}, german: []string{"Dein Geld ist auf dem Weg zurück", "50,00\u00a0$ kommen", "Gebühren, gehen nicht zurück"}, never: []string{"Your tickets", "Deine Karten"}},
	{name: "refund-failed", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("refund=failed,refundslow=1ms")
		r.refund(o, nodetest.Object{"reason": "The singer is ill."}, "failed")
		return o.page()
	}, english: []string{"Your money is still to go back", "$50.00 could not be sent"}, german: []string{"Dein Geld muss noch zurückgehen", "50,00\u00a0$ ließen sich"}, never: []string{"Your tickets", "Deine Karten", "On its way back", "Auf dem Weg zurück"}},
	{name: "refund-asked", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("success")
		r.ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": r.ticket(o, 0), "reason": "I am ill, and cannot come."}).Is(201, "")
		return o.page()
	}, english: []string{"You have asked for $25.00 back", "The organizer decides"}, german: []string{"Du hast 25,00\u00a0$ zurückverlangt", "Der Veranstalter entscheidet"}},
	{name: "refund-denied", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("success")
		asked := r.ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": r.ticket(o, 0), "reason": "I am ill, and cannot come."}).Is(201, "")
		r.Own("POST", "/organizer/refunds/"+asked.Str("id")+"/deny", nodetest.Object{"reason": "It takes place."}).Is(200, "")
		return o.page()
	}, english: []string{"not granted", "It takes place."}, german: []string{"abgelehnt", "It takes place."}},
	{name: "late-money", there: ".lines .small", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		o := r.place(ticketType, 1, nil)
		at := r.Checkout(o.id, o.token)
		r.Call("POST", "/orders/"+o.id+"/cancel", nodetest.Object{"token": o.token}).Is(200, "")
		r.Settle(at+"?paysim=refundslow=1m", "success")
		r.Verify(o.id, o.token).Is(200, "")
		return o.page()
	}, english: []string{"$26.25 goes back"}, german: []string{"26,25\u00a0$ gehen"}, never: []string{"If money of yours", "Kommt dafür noch Geld"}},

	{name: "called-off", there: ".called blockquote", of: func(r *showroom) string {
		o := r.paid("success")
		r.Own("DELETE", "/organizer/events/"+o.event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")
		return o.page()
	}, english: []string{"This event is cancelled", "A storm is near.", "admits nobody", "You can ask for your money, fees included", "Ask for your money"}, german: []string{"abgesagt", "A storm is near.", "gilt nicht mehr", "samt Gebühren", "Geld zurückverlangen"}},
	{name: "called-off-and-asked", there: ".called", of: func(r *showroom) string {
		o := r.paid("success")
		r.Own("DELETE", "/organizer/events/"+o.event, nodetest.Object{}).Is(200, "")
		for n := range 2 {
			r.ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": r.ticket(o, n), "reason": "It does not take place."}).Is(201, "")
		}
		return o.page()
	}, english: []string{"You have asked for your money.", "You have asked for $26.25 back"}, german: []string{"Du hast dein Geld zurückverlangt.", "Du hast 26,25\u00a0$ zurückverlangt"}, never: []string{"Ask for your money", "Geld zurückverlangen", "admits until then", "bis dahin gilt"}},
	{name: "called-off-and-refunded", there: ".lines .small", of: func(r *showroom) string {
		o := r.paid("refundslow=1m")
		r.Own("DELETE", "/organizer/events/"+o.event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")
		r.refund(o, nodetest.Object{"reason": "The event is cancelled."}, "processing")
		return o.page()
	}, english: []string{"Your money is on its way back", "$52.50 goes back", "This event is cancelled"}, german: []string{"Dein Geld ist auf dem Weg zurück", "52,50\u00a0$ kommen"}, never: []string{"not given back", "gehen nicht zurück", "Ask for your money", "Geld zurückverlangen"}},
	{name: "free-and-returned", there: ".lines", of: func(r *showroom) string {
		_, ticketType := r.sell(0, nil, nodetest.Object{"name": "Student"})
		o := r.place(ticketType, 1, nil)
		r.Own("POST", "/organizer/orders/"+o.id+"/refund", nodetest.Object{"reason": "She cannot come."}).Is(200, "")
		r.Becomes("refunded", func() string { return r.Order(o.id, o.token).Str("tickets.0.status") })
		return o.page()
	}, english: []string{"This order was given back"}, german: []string{"Diese Bestellung ist zurückgegeben"}, never: []string{"Your tickets", "Deine Karten", "$0", "0,00", "oney", "Geld", "On its way", "Auf dem Weg"}},
	{name: "over", there: ".pass .state", of: func(r *showroom) string {
		o := r.paid("success")
		for _, status := range []string{"in_progress", "completed"} {
			r.Own("PUT", "/organizer/events/"+o.event+"/status", nodetest.Object{"status": status}).Is(200, "")
		}
		r.Becomes("expired", func() string { return r.Order(o.id, o.token).Str("tickets.0.status") })
		return o.page()
	}, english: []string{"Your order", "Over"}, german: []string{"Deine Bestellung", "Vorbei"}, never: []string{"Your tickets", "Deine Karten", "PDF"}},
	{name: "called-off-unpaid", there: ".called blockquote", of: func(r *showroom) string {
		_, ticketType := r.sell(25, nil, nil)
		o := r.place(ticketType, 2, nil)
		r.Own("DELETE", "/organizer/events/"+o.event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")
		r.Becomes("cancelled", r.Status(o.id, o.token))
		return o.page()
	}, english: []string{"This order was cancelled", "A storm is near."}, german: []string{"Diese Bestellung wurde storniert", "A storm is near."}},
	{name: "called-off-file", there: ".called", of: func(r *showroom) string {
		o := r.digital(10, nil)
		r.Own("DELETE", "/organizer/events/"+o.event, nodetest.Object{"reason": "We close our shop."}).Is(200, "")
		return o.page()
	}, english: []string{"This is not sold any more", "Open", "Withdraw"}, german: []string{"nicht mehr verkauft", "Öffnen", "Widerrufen"}},
	{
		name: "moved", there: ".pass svg", of: func(r *showroom) string {
			o := r.paid("success")
			r.moveWith(o)
			return o.page()
		}, english: []string{"The event has moved: it is on Saturday, July 5, 2031", "you can ask for your money until", "The organizer decides", "Ask for your money"},
		german: []string{"Sie ist jetzt am Samstag, 5. Juli 2031", "dein Geld zurückverlangen, was auch immer beim Kauf galt", "Geld zurückverlangen"}, never: []string{"June 14", "14. Juni"},
	},
	{
		name: "moved-free", there: ".pass svg", of: func(r *showroom) string {
			_, ticketType := r.sell(0, nil, nil)
			o := r.place(ticketType, 1, nil)
			r.moveWith(o)
			return o.page()
		}, english: []string{"you can ask to give your tickets back until", "The organizer decides", "Give a ticket back"},
		german: []string{"darum bitten, deine Karten zurückgeben zu dürfen", "Eine Karte zurückgeben"}, never: []string{"Ask for your money", "Geld zurückverlangen"},
	},
	{name: "moved-visit", there: ".pass svg", of: func(r *showroom) string {
		o, days := r.visit("date_time")
		to := nodetest.Object{"date": days.Str("days.5.date"), "slotId": days.Str("days.5.slots.1.slotId")}
		r.ada.Patient("POST", "/users/me/tickets/"+r.ticket(o, 0)+"/reschedule", to, append(r.ada.Bearer(), "Idempotency-Key", uuid.NewString())...).Is(200, "")
		return o.page()
	}, english: []string{"Evening", "Noon", "moved since"}, german: []string{"Evening", "Noon", "inzwischen verlegt"}},
	{name: "withdrawn", there: ".lines .small", of: func(r *showroom) string {
		o := r.digital(10, nil)
		r.Call("POST", "/orders/"+o.id+"/withdraw", nodetest.Object{"token": o.token, "confirm": true}).Is(200, "")
		return o.page()
	}, english: []string{"$10.50 goes back", "it cannot be opened any more"}, german: []string{"10,50\u00a0$ kommen", "lässt sich nicht mehr öffnen"}, never: []string{"It is yours", "Es gehört dir", "not given back", "gehen nicht zurück"}},
}

var only = flag.String("only", "", "the states of TestOrderStates to look at, with commas between them; all if empty")

// see brings a state about, opens its page, keeps a picture of all of it and has it judged.
func (b *buyer) see(r *showroom, s *state, as size, inGerman bool) {
	b.t.Helper()
	fit := func(as size) {
		b.do("Emulation.setDeviceMetricsOverride", params{"width": as.width, "height": as.height, "deviceScaleFactor": as.scale, "mobile": as.touch})
	}
	fit(as)
	b.follow(r.base + s.of(r))
	b.there(s.there)
	if s.do != nil {
		s.do(b)
	}
	words := s.english
	if inGerman {
		words = s.german
	}
	for _, word := range words { // a page shows its order before it has read the event and loaded all its parts
		b.until(fmt.Sprintf(`document.querySelector("main")?.innerText.includes(%q)`, word))
	}
	b.run(`new Promise((done) => setTimeout(done, 200))`) // until nothing moves
	b.keepWhole(b.name + "-" + s.name)
	text := fmt.Sprint(b.evaluate(`document.querySelector("main").innerText`))
	for _, word := range words {
		assert.Contains(b.t, text, word, s.name)
	}
	for _, word := range s.never {
		assert.NotContains(b.t, text, word, s.name)
	}
	fit(size{width: 320, height: 640, scale: 1, touch: true})
	require.Equal(b.t, "0", fmt.Sprint(b.evaluate(`Math.max(0, document.documentElement.scrollWidth - innerWidth)`)), "%s: nothing is cut off", s.name)
	b.judge(s.name)
}

// review reviews a ticket of an order's page by keyboard, after leaving out all fields, and reads what the
// organizer answers. The other ticket has been reviewed elsewhere meanwhile, and its review is shown.
func (b *buyer) review() {
	b.t.Helper()
	b.useByEnter("[data-review]")
	b.until(`document.activeElement.type === "radio"`)
	b.choose(".review form .button")
	b.there("fieldset[aria-invalid] + .field [aria-invalid]")
	b.keepWhole(b.name + "-review-empty")
	b.judge("review-empty")
	b.until(`document.activeElement.type === "radio"`)
	b.press("ArrowRight", "ArrowRight", "ArrowRight")
	b.fill(".review textarea", "A splendid evening by the water.")
	b.fill(".review input:not([type=radio])", "Ada O.")
	b.keepWhole(b.name + "-review")
	b.judge("review")
	b.choose(".review form .button")
	b.there(".mine .thanks")
	b.keepWhole(b.name + "-review-thanks")
	b.judge("review-thanks")
	require.Equal(b.t, "★★★★☆", b.text(".given"))

	id, err := engine.ParseID(fmt.Sprint(b.evaluate(`location.pathname.split("/")[2]`)))
	require.NoError(b.t, err)
	list := b.shop.Call("GET", fmt.Sprintf("/community/events/%d/reviews", id.Event()), nil).Is(200, "")
	b.shop.Own("POST", "/community/reviews/"+list.Str("items.0.id")+"/reply", nodetest.Object{"body": "Come again!"}).Is(200, "")
	b.evaluate(`location.reload()`)
	b.until(`document.querySelector(".mine") && !document.querySelector(".thanks")`)

	const other = ".pass:nth-child(2) "
	b.choose(other + "[data-review]")
	order := b.shop.Order(id.String(), fmt.Sprint(b.evaluate(`localStorage.getItem("order:" + location.pathname.split("/")[2])`)))
	b.shop.Call("POST", "/community/reviews", nodetest.Object{"ticketCode": order.Str("tickets.1.code"), "email": "ada@example.org", "rating": 2, "body": "It was too loud."}).Is(201, "")
	b.choose(other + `input[value="5"]`)
	b.fill(other+"textarea", "It was not loud at all.")
	b.choose(other + "form .button")
	b.there(other + ".mine")
	require.Contains(b.t, b.text(other+".mine"), "It was too loud.")
	b.forget() // the refusal is in the browser's log
}

// offer offers a ticket of an order to Fred, and returns the token of its link.
func (r *showroom) offer(o shown) string {
	r.T.Helper()
	began := time.Now()
	to := fmt.Sprintf("fred-%d@example.org", began.UnixNano())
	r.Call("POST", "/tickets/"+r.ticket(o, 0)+"/transfer", nodetest.Object{"toEmail": to, "toName": "Fred", "token": o.token}).Is(201, "")
	_, token, _ := strings.Cut(mailedLink(r.Shop, "/tickets/claim", to, "transfer_offered", began), "#token=")
	return token
}

// TestOrderStates looks at an order's page in every state of every product, in both languages: each says what
// it has to, nothing is cut off at 320 pixels, and axe finds nothing (make pages).
func TestOrderStates(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"english": laptop, "german": {width: 390, height: 844, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openShowroom(t)
			b := &buyer{window: chromium.open(t, r.base+"/help", as), shop: r.Shop, name: "state-" + name, axe: axe}
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.heads("Hilfe")
			}
			for i, s := range orderStates {
				if *only != "" && !slices.Contains(strings.Split(*only, ","), s.name) {
					continue
				}
				wide := as
				if name == "english" && i%2 == 1 {
					wide = size{width: 320, height: 640, scale: 2, touch: true}
				}
				b.see(r, &s, wide, name == "german")
			}
			b.faultless()
		})
	}
}

package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/event"
)

// modes has the payment simulator misbehave.
func (s *shop) modes(text string) {
	s.t.Helper()
	m, err := paysim.ParseModes(text)
	require.NoError(s.t, err)
	s.sim.SetModes(m)
}

// provider replaces the account that the node has with the simulator, before
// any payment.
func (s *shop) provider(a payments.Account) {
	s.t.Helper()
	a.URL, a.SecretKey = s.sim.URL(), simKey
	g, err := payments.Open(payments.Config{Paystack: a}, slog.New(slog.DiscardHandler))
	require.NoError(s.t, err)
	s.areas.Sales.Gateways.Close()
	s.areas.Sales.Gateways = g
	s.t.Cleanup(g.Close)
}

// checkout opens an attempt to pay and returns where the buyer pays.
func (s *shop) checkout(id, token string) string {
	s.t.Helper()
	return s.pay(id, token).is(200, "").str("authorizationUrl")
}

// back is a payment that goes back, and what becomes of its order.
type back struct {
	id, token, reference string
	amount               int64
	status               string
}

// refunded waits until the sweep has sent the money back and learnt that it
// arrived: the first refund of each order.
func (s *shop) refunded(all ...back) {
	s.t.Helper()
	for _, b := range all {
		s.becomes(fmt.Sprint(b.amount), func() string { return fmt.Sprint(s.sentBack(b.reference)) })
	}
	for _, b := range all {
		order, err := engine.ParseID(b.id)
		require.NoError(s.t, err)
		s.becomes("processed", func() string {
			s.endRefundPause(order)
			return s.order(b.id, b.token).str("refunds.0.status")
		})
		a := s.order(b.id, b.token)
		require.Equal(s.t, b.status, a.str("status"))
		require.NotNil(s.t, a.data("refunds.0.processedAt"))
		require.Contains(s.t, encode(s.t, a.data("payments")), `"refunded"`)
	}
}

// sentBack is how much the simulator has returned of a payment.
func (s *shop) sentBack(reference string) int64 {
	s.t.Helper()
	rows, _ := s.sim.Transactions(0, "", 1000)
	for _, r := range rows {
		if r.Reference == reference {
			return r.Refunded
		}
	}
	return 0
}

// shortWindow begins an attempt that does not extend its order's window, which
// providers' usual ones do.
func (s *shop) shortWindow(id, token string) string {
	s.t.Helper()
	order, err := engine.ParseID(id)
	require.NoError(s.t, err)
	_, err = s.cluster.Ask(s.t.Context(), engine.EventRef(order.Event()), event.BeginPayment{
		Order: order, Provider: "paystack", Number: secrets.OrderNumber(order),
	})
	require.NoError(s.t, err)
	return s.checkout(id, token)
}

func TestPay(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100))
	id, token := s.place("ada@example.org", ids[0], 2)
	pay := func(body object) reply {
		return s.raw("POST", "/orders/"+id+"/pay?token="+token, "application/json", encode(t, body))
	}
	for _, body := range []object{{"provider": "nowpayments", "payCurrency": "eth"}, {"provider": "flutterwave"}} {
		r := pay(body)
		require.Equal(t, 503, r.status)
		require.Contains(t, r.body, "PROVIDER_NOT_CONFIGURED")
		require.Empty(t, r.header.Get("Retry-After"))
	}
	s.call("POST", "/orders/"+id+"/pay?token="+token, object{"provider": "stripe"}).invalid("provider", "enum")
	s.call("POST", "/orders/"+id+"/pay?token="+token, object{"payCurrency": text(21)}).invalid("payCurrency", "max_length")
	require.Empty(t, s.order(id, token).data("payments"), "nothing was begun")
	require.Equal(t, "pending", s.verify(id, token).is(200, "").str("status"))

	var wg sync.WaitGroup
	got := make([]answer, 8)
	for i := range got {
		wg.Go(func() { got[i] = s.pay(id, token).is(200, "") })
	}
	wg.Wait()
	for _, a := range got {
		require.Equal(t, got[0].body, a.body, "one attempt, however often it is asked for")
	}
	require.Equal(t, int64(1), s.sim.Stats().Calls["initialize"])
	require.Equal(t, words("orderId provider reference status authorizationUrl expiresAt"), got[0].keys(""))
	expires, err := time.Parse(time.RFC3339, got[0].str("expiresAt"))
	require.NoError(t, err)
	require.InDelta(t, 30*time.Minute, time.Until(expires), float64(time.Minute), "the window is extended to the provider's")
	require.Equal(t, got[0].str("expiresAt"), s.order(id, token).str("expiresAt"))

	t.Log("once: a second attempt does not extend it again")
	first := got[0].str("reference")
	s.settle(got[0].str("authorizationUrl"), "failed")
	a := s.verify(id, token).is(200, "")
	require.Equal(t, "pending", a.str("status"))
	require.Equal(t, "failed", a.str("payments.0.status"))
	second := s.pay(id, token).is(200, "")
	require.NotEqual(t, first, second.str("reference"))
	require.Equal(t, got[0].str("expiresAt"), second.str("expiresAt"))
	s.settle(second.str("authorizationUrl"), "success")
	require.Equal(t, "completed", s.verify(id, token).is(200, "").str("status"))
	for range 2 {
		s.pay(id, token).refused(409, "ALREADY_PAID", nil)
		s.call("POST", "/orders/"+id+"/pay", object{"token": token}).refused(409, "ALREADY_PAID", nil)
		s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(409, "ORDER_NOT_CANCELLABLE")
	}
	status := s.call("GET", "/payments/"+id+"?token="+token, nil).is(200, "")
	require.Equal(t, words("orderId status total currency payments"), status.keys(""))
	require.Equal(t, words("reference provider status amount received createdAt"), status.keys("payments.0"))
	require.Equal(t, "completed 52.50 USD failed succeeded 52.50 52.50 0.00", fmt.Sprint(status.data("status"), " ", status.data("total"), " ", status.data("currency"), " ",
		status.data("payments.0.status"), " ", status.data("payments.1.status"), " ", status.data("payments.1.amount"), " ", status.data("payments.1.received"), " ", status.data("payments.0.received")))
}

// TestVerifyPolled has many clients ask at once whether an order is paid.
func TestVerifyPolled(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(25, 100), typeBody(5, 100))
	o := s.call("POST", "/orders", object{"guestEmail": "ada@example.org", "items": lines(ids[0], 2, ids[1], 3)}).is(201, "")
	id, token := o.str("id"), o.str("accessToken")
	s.settle(s.checkout(id, token), "success")
	var wg sync.WaitGroup
	codes := make([]string, 12)
	for i := range codes {
		wg.Go(func() {
			a := s.verify(id, token).is(200, "")
			require.Equal(t, "completed", a.str("status"))
			for n := range 5 {
				codes[i] += a.str(fmt.Sprintf("tickets.%d.code", n)) + " "
			}
		})
	}
	wg.Wait()
	require.Len(t, slices.Compact(codes), 1)
	stats := s.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "")
	require.Equal(t, "5", stats.str("ticketsIssued"))
	require.Empty(t, s.order(id, token).data("refunds"))
	for body, path := range map[string]string{`{}`: "orderId", `{"orderId":"x"}`: "orderId"} {
		r := s.raw("POST", "/payments/verify?token="+token, "application/json", body)
		require.Equal(t, 400, r.status)
		require.Contains(t, r.body, path)
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100))
	place := func(email string) (id, token string) { return s.place(email, ids[0], 1) } // 26.25

	t.Log("too little is no sale; the rest is asked for anew, and the little goes back")
	short, shortToken := place("short@example.org")
	first := s.pay(short, shortToken).is(200, "")
	s.settle(first.str("authorizationUrl")+"?paysim=short=1", "success")
	for range 2 {
		a := s.verify(short, shortToken).is(200, "")
		require.Equal(t, "processing", a.str("status"))
		require.Equal(t, "underpaid", a.str("payments.0.status"))
		require.Equal(t, "26.24", a.str("payments.0.received"))
		require.Empty(t, a.data("tickets"))
		require.Empty(t, a.data("refunds"))
	}
	s.settle(s.checkout(short, shortToken), "success")
	a := s.verify(short, shortToken).is(200, "")
	require.Equal(t, "completed", a.str("status"))
	require.Len(t, a.data("tickets"), 1)
	require.Equal(t, words("id ticketId orderId reference amount currency reason message evidenceUrls status decisionNote providerRef requestedAt decidedAt processedAt"), a.keys("refunds.0"))
	require.Equal(t, "26.24 underpaid processing", fmt.Sprint(a.data("refunds.0.amount"), " ", a.data("refunds.0.reason"), " ", a.data("refunds.0.status")))

	t.Log("a cancelled order sends it back too")
	given, givenToken := place("given-up@example.org")
	givenPay := s.pay(given, givenToken).is(200, "")
	s.settle(givenPay.str("authorizationUrl")+"?paysim=short=2625", "success")
	require.Equal(t, "processing", s.verify(given, givenToken).is(200, "").str("status"))
	require.Empty(t, s.call("POST", "/orders/"+given+"/cancel", object{"token": givenToken}).is(200, "").data("refunds"), "nothing came")
	gone, goneToken := place("gone@example.org")
	gonePay := s.pay(gone, goneToken).is(200, "")
	s.settle(gonePay.str("authorizationUrl")+"?paysim=short=625", "success")
	require.Equal(t, "processing", s.verify(gone, goneToken).is(200, "").str("status"))
	a = s.call("POST", "/orders/"+gone+"/cancel", object{"token": goneToken}).is(200, "")
	require.Equal(t, "20.00", a.str("refunds.0.amount"))

	t.Log("what has not come is not sent back, whatever the provider's answers call its amount")
	for _, outcome := range []string{"", "abandoned", "failed", "processing", "success?reversed"} {
		id, token := place("nothing@example.org")
		url := s.checkout(id, token)
		if outcome, modes, _ := strings.Cut(outcome, "?"); outcome != "" {
			s.settle(url+"?paysim="+modes, outcome)
		}
		a := s.verify(id, token).is(200, "")
		require.Equal(t, "0.00", a.str("payments.0.received"), outcome)
		a = s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
		require.Empty(t, a.data("refunds"), outcome)
		require.Empty(t, s.verify(id, token).is(200, "").data("refunds"), outcome)
	}

	t.Log("too much is a sale")
	over, overToken := place("over@example.org")
	s.settle(s.checkout(over, overToken)+"?paysim=over=100", "success")
	a = s.verify(over, overToken).is(200, "")
	require.Equal(t, "completed", a.str("status"))
	require.Equal(t, "27.25", a.str("payments.0.received"))

	t.Log("money in flight")
	flying, flyingToken := place("flying@example.org")
	s.settle(s.checkout(flying, flyingToken)+"?paysim=pending=2", "success")
	for range 2 {
		a = s.verify(flying, flyingToken).is(200, "")
		require.Equal(t, "processing", a.str("status"))
		require.Equal(t, "processing", a.str("payments.0.status"))
		require.Equal(t, a.str("payments.0.reference"), s.pay(flying, flyingToken).is(200, "").str("reference"), "the attempt is still open")
	}
	require.Equal(t, "completed", s.verify(flying, flyingToken).is(200, "").str("status"))

	t.Log("paid at two checkouts")
	twice, twiceToken := place("twice@example.org")
	one := s.pay(twice, twiceToken).is(200, "")
	s.settle(one.str("authorizationUrl"), "failed")
	require.Equal(t, "pending", s.verify(twice, twiceToken).is(200, "").str("status"))
	two := s.pay(twice, twiceToken).is(200, "")
	s.settle(one.str("authorizationUrl"), "success")
	s.settle(two.str("authorizationUrl"), "success")
	a = s.verify(twice, twiceToken).is(200, "")
	require.Equal(t, "completed", a.str("status"))
	require.Len(t, a.data("tickets"), 1)
	require.Equal(t, "26.25 twice", fmt.Sprint(a.data("refunds.0.amount"), " ", a.data("refunds.0.reason")))
	require.Equal(t, two.str("reference"), a.str("refunds.0.reference"))

	s.refunded(
		back{short, shortToken, first.str("reference"), 2624, "completed"},
		back{gone, goneToken, gonePay.str("reference"), 2000, "refunded"},
		back{twice, twiceToken, two.str("reference"), 2625, "completed"},
	)
	s.pay(gone, goneToken).refused(409, "ORDER_NOT_PAYABLE", object{"status": "refunded", "reason": "the order has ended"})
	require.Equal(t, int64(0), s.sentBack(givenPay.str("reference")))
}

// TestLateMoney pays orders that have ended.
func TestLateMoney(t *testing.T) {
	t.Parallel()
	s := open(t)
	eventID, ids := s.onSale(typeBody(20, 4))
	s.window(eventID, 1500*time.Millisecond)
	type order struct{ id, token, url, reference string }
	begin := func(email string) order {
		id, token := s.place(email, ids[0], 1)
		url := s.shortWindow(id, token)
		return order{id, token, url, s.order(id, token).str("payments.0.reference")}
	}
	again, gone, flying, cancelled := begin("again@example.org"), begin("gone@example.org"), begin("flying@example.org"), begin("cancelled@example.org")
	s.settle(flying.url, "processing")
	require.Equal(t, "processing", s.verify(flying.id, flying.token).is(200, "").str("status"))
	s.call("POST", "/orders/"+cancelled.id+"/cancel", object{"token": cancelled.token}).is(200, "")
	for _, o := range []order{again, gone} {
		s.becomes("expired", s.status(o.id, o.token))
		require.Equal(t, "expired", s.order(o.id, o.token).str("payments.0.status"))
		s.settle(o.url, "success")
	}
	require.Equal(t, "processing", s.order(flying.id, flying.token).str("status"), "money in flight pins the order")
	s.becomes("3", func() string { return s.available(eventID, 0) })

	t.Log("there is stock: it is taken again, once, however many ask")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			a := s.verify(again.id, again.token).is(200, "")
			require.Equal(t, "completed", a.str("status"))
			require.Len(t, a.data("tickets"), 1)
		})
	}
	wg.Wait()
	require.Equal(t, "2", s.available(eventID, 0))

	t.Log("there is none left: the money goes back")
	s.window(eventID, 15*time.Minute)
	s.place("quick@example.org", ids[0], 2)
	a := s.verify(gone.id, gone.token).is(200, "")
	require.Equal(t, "expired", a.str("status"))
	require.Equal(t, "21.00 late processing", fmt.Sprint(a.data("refunds.0.amount"), " ", a.data("refunds.0.reason"), " ", a.data("refunds.0.status")))
	s.settle(cancelled.url, "success")
	a = s.verify(cancelled.id, cancelled.token).is(200, "")
	require.Equal(t, "cancelled", a.str("status"))
	require.Equal(t, "cancelled", a.str("refunds.0.reason"))

	s.settle(flying.url, "success")
	require.Equal(t, "completed", s.verify(flying.id, flying.token).is(200, "").str("status"))

	t.Log("the event is cancelled before the money comes")
	other, types := s.onSale(typeBody(20, 5))
	id, token := s.place("unlucky@example.org", types[0], 1)
	unlucky := order{id: id, token: token, url: s.checkout(id, token)}
	unlucky.reference = s.order(id, token).str("payments.0.reference")
	s.own("DELETE", "/organizer/events/"+other, nil).is(200, "")
	s.settle(unlucky.url, "success")
	require.Empty(t, s.verify(id, token).is(200, "").data("tickets"))

	var all []back
	for _, o := range []order{gone, cancelled, unlucky} {
		all = append(all, back{o.id, o.token, o.reference, 2100, "refunded"})
	}
	s.refunded(all...)
	for _, o := range all {
		require.Len(t, s.verify(o.id, o.token).is(200, "").data("refunds"), 1, "once")
	}
}

// TestProviderFails has the provider misbehave in every way: the buyer gets the
// right code, and the order is paid once the provider is well.
func TestProviderFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.provider(payments.Account{Timeout: time.Second, Breaker: payments.Breaker{Failures: 1000}})
	_, ids := s.onSale(with(typeBody(25, 1000), object{"maxPerCustomer": 1000}))
	for _, c := range []struct {
		modes       string
		pay, verify int
		code        string
	}{
		{"error=500", 502, 502, "PROVIDER_ERROR"},
		{"error=503", 502, 502, "PROVIDER_ERROR"},
		{"error=429", 502, 502, "PROVIDER_ERROR"},
		{"error=400", 502, 502, "PROVIDER_ERROR"},
		{"error=401", 502, 502, "PROVIDER_ERROR"},
		{"error=404", 502, 200, "PROVIDER_ERROR"},
		{"reset", 502, 502, "PROVIDER_ERROR"},
		{"lost", 502, 502, "PROVIDER_ERROR"},
		{"malformed", 502, 502, "PROVIDER_ERROR"},
		{"timeout=5s", 504, 504, "PROVIDER_TIMEOUT"},
		{"slow=20ms", 200, 200, ""},
	} {
		id, token := s.place("ada@example.org", ids[0], 1)
		failing := func(a answer, status int) {
			require.Equal(t, status, a.status, "%s: %v", c.modes, a.body)
			if status != 200 {
				a.refused(status, c.code, nil)
			}
		}
		s.modes(c.modes)
		failing(s.pay(id, token), c.pay)
		failing(s.pay(id, token), c.pay)
		require.Equal(t, "pending", s.order(id, token).str("status"))
		s.modes("")
		url := s.checkout(id, token)
		s.settle(url, "success")
		s.modes(c.modes)
		a := s.verify(id, token)
		failing(a, c.verify)
		s.modes("")
		require.Equal(t, "completed", s.verify(id, token).is(200, "").str("status"), c.modes)
	}
}

func TestProviderPaused(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.provider(payments.Account{Breaker: payments.Breaker{Failures: 3, Pause: time.Second}})
	_, ids := s.onSale(typeBody(25, 100))
	id, token := s.place("ada@example.org", ids[0], 1)
	s.modes("error=500")
	for range 5 {
		s.pay(id, token).is(502, "PROVIDER_ERROR")
	}
	require.Equal(t, int64(3), s.sim.Stats().Calls["initialize"], "a sick provider is left alone")
	s.modes("")
	s.becomes("200", func() string { return fmt.Sprint(s.pay(id, token).status) })
	require.Len(t, s.order(id, token).data("payments"), 4, "what was never sent is no new attempt")
}

func TestAttemptsEnd(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.provider(payments.Account{Breaker: payments.Breaker{Failures: 1000}})
	_, ids := s.onSale(typeBody(25, 100))
	id, token := s.place("ada@example.org", ids[0], 1)
	s.modes("error=500")
	for range 20 {
		s.pay(id, token).is(502, "PROVIDER_ERROR")
	}
	s.pay(id, token).refused(409, "ORDER_NOT_PAYABLE", object{"status": "pending", "reason": "too many payment attempts"})
	require.Len(t, s.order(id, token).data("payments"), 20)
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")

	t.Log("an order all of whose attempts failed has failed when its window closes")
	s.modes("")
	eventID, ids := s.onSale(typeBody(25, 100))
	s.window(eventID, time.Second)
	id, token = s.place("bob@example.org", ids[0], 1)
	s.settle(s.shortWindow(id, token), "failed")
	require.Equal(t, "failed", s.verify(id, token).is(200, "").str("payments.0.status"))
	s.becomes("failed", s.status(id, token))
	s.pay(id, token).refused(409, "ORDER_NOT_PAYABLE", object{"status": "failed", "reason": "the order has ended"})
}

// TestCancelOrPay has buyers give up what they have just paid for: each order
// ends one way, and its money with it.
func TestCancelOrPay(t *testing.T) {
	t.Parallel()
	s := open(t)
	eventID, ids := s.onSale(with(typeBody(25, 100), object{"maxPerCustomer": 100}))
	completed := 0
	for range 12 {
		id, token := s.place("ada@example.org", ids[0], 1)
		s.settle(s.checkout(id, token), "success")
		var cancelled answer
		var wg sync.WaitGroup
		wg.Go(func() { s.verify(id, token).is(200, "") })
		wg.Go(func() { cancelled = s.call("POST", "/orders/"+id+"/cancel", object{"token": token}) })
		wg.Go(func() { s.verify(id, token).is(200, "") })
		wg.Wait()
		a := s.verify(id, token).is(200, "")
		if cancelled.status == 200 {
			require.Equal(t, "cancelled", a.str("status"))
			require.Len(t, a.data("refunds"), 1)
			require.Empty(t, a.data("tickets"))
			continue
		}
		cancelled.is(409, "ORDER_NOT_CANCELLABLE")
		require.Equal(t, "completed", a.str("status"))
		require.Empty(t, a.data("refunds"))
		require.Len(t, a.data("tickets"), 1)
		completed++
	}
	s.becomes(fmt.Sprint(100-completed), func() string { return s.available(eventID, 0) })
	require.Equal(t, fmt.Sprint(completed), s.own("GET", "/checkin/event/"+eventID+"/stats", nil).str("ticketsIssued"))
}

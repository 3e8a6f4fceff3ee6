package money

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/psp"
)

// modes has the payment simulator misbehave.
func modes(s *nodetest.Shop, text string) {
	s.T.Helper()
	m, err := faults.Parse(text)
	require.NoError(s.T, err)
	s.Sim().SetModes(m)
}

// provider replaces the account that the node has with the simulator, before
// any payment.
func provider(s *nodetest.Shop, a psp.Account) {
	s.T.Helper()
	a.URL, a.SecretKey = s.Sim().URL(), node.SimKey
	g, err := payments.Open(payments.Config{Paystack: a}, slog.New(slog.DiscardHandler))
	require.NoError(s.T, err)
	s.Areas().Sales.Gateways.Close()
	s.Areas().Sales.Gateways = g
	s.T.Cleanup(g.Close)
}

func TestPay(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	pay := func(body nodetest.Object) nodetest.Reply {
		return s.Raw("POST", "/orders/"+id+"/pay?token="+token, "application/json", nodetest.Encode(t, body))
	}
	for _, body := range []nodetest.Object{{"provider": "nowpayments", "payCurrency": "eth"}, {"provider": "flutterwave"}} {
		r := pay(body)
		require.Equal(t, 503, r.Status)
		require.Contains(t, r.Body, "PROVIDER_NOT_CONFIGURED")
		require.Empty(t, r.Header.Get("Retry-After"))
	}
	s.Call("POST", "/orders/"+id+"/pay?token="+token, nodetest.Object{"provider": "cheques"}).Invalid("provider", "enum")
	s.Call("POST", "/orders/"+id+"/pay?token="+token, nodetest.Object{"payCurrency": nodetest.Text(21)}).Invalid("payCurrency", "max_length")
	require.Empty(t, s.Order(id, token).Data("payments"), "nothing was begun")
	require.Equal(t, "pending", s.Verify(id, token).Is(200, "").Str("status"))

	var wg sync.WaitGroup
	got := make([]nodetest.Answer, 8)
	for i := range got {
		wg.Go(func() { got[i] = s.Pay(id, token).Is(200, "") })
	}
	wg.Wait()
	for _, a := range got {
		require.Equal(t, got[0].Body, a.Body, "one attempt, however often it is asked for")
	}
	require.Equal(t, int64(1), s.Sim().Stats().Calls["initialize"])
	require.Equal(t, nodetest.Words("orderId provider reference status authorizationUrl expiresAt"), got[0].Keys(""))
	expires, err := time.Parse(time.RFC3339, got[0].Str("expiresAt"))
	require.NoError(t, err)
	require.InDelta(t, 30*time.Minute, time.Until(expires), float64(time.Minute), "the window is extended to the provider's")
	require.Equal(t, got[0].Str("expiresAt"), s.Order(id, token).Str("expiresAt"))

	t.Log("once: a second attempt does not extend it again")
	first := got[0].Str("reference")
	s.Settle(got[0].Str("authorizationUrl"), "failed")
	a := s.Verify(id, token).Is(200, "")
	require.Equal(t, "pending", a.Str("status"))
	require.Equal(t, "failed", a.Str("payments.0.status"))
	second := s.Pay(id, token).Is(200, "")
	require.NotEqual(t, first, second.Str("reference"))
	require.Equal(t, got[0].Str("expiresAt"), second.Str("expiresAt"))
	s.Settle(second.Str("authorizationUrl"), "success")
	require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))
	for range 2 {
		s.Pay(id, token).Refused(409, "ALREADY_PAID", nil)
		s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token}).Refused(409, "ALREADY_PAID", nil)
		s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(409, "ORDER_NOT_CANCELLABLE")
	}
	status := s.Call("GET", "/payments/"+id+"?token="+token, nil).Is(200, "")
	require.Equal(t, nodetest.Words("orderId status total currency payments"), status.Keys(""))
	require.Equal(t, nodetest.Words("reference provider status amount received createdAt"), status.Keys("payments.0"))
	require.Equal(t, "completed 52.50 USD failed succeeded 52.50 52.50 0.00", fmt.Sprint(status.Data("status"), " ", status.Data("total"), " ", status.Data("currency"), " ",
		status.Data("payments.0.status"), " ", status.Data("payments.1.status"), " ", status.Data("payments.1.amount"), " ", status.Data("payments.1.received"), " ", status.Data("payments.0.received")))
}

// TestVerifyPolled has many clients ask at once whether an order is paid.
func TestVerifyPolled(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(5, 100))
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": nodetest.Lines(ids[0], 2, ids[1], 3)}).Is(201, "")
	id, token := o.Str("id"), o.Str("accessToken")
	s.Settle(s.Checkout(id, token), "success")
	var wg sync.WaitGroup
	codes := make([]string, 12)
	for i := range codes {
		wg.Go(func() {
			a := s.Verify(id, token).Is(200, "")
			require.Equal(t, "completed", a.Str("status"))
			for n := range 5 {
				codes[i] += a.Str(fmt.Sprintf("tickets.%d.code", n)) + " "
			}
		})
	}
	wg.Wait()
	require.Len(t, slices.Compact(codes), 1)
	stats := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, "5", stats.Str("ticketsIssued"))
	require.Empty(t, s.Order(id, token).Data("refunds"))
	for body, path := range map[string]string{`{}`: "orderId", `{"orderId":"x"}`: "orderId"} {
		r := s.Raw("POST", "/payments/verify?token="+token, "application/json", body)
		require.Equal(t, 400, r.Status)
		require.Contains(t, r.Body, path)
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	place := func(email string) (id, token string) { return s.Place(email, ids[0], 1) } // 26.25

	t.Log("too little is no sale; the rest is asked for anew, and the little goes back")
	short, shortToken := place("short@example.org")
	first := s.Pay(short, shortToken).Is(200, "")
	s.Settle(first.Str("authorizationUrl")+"?paysim=short=1", "success")
	for range 2 {
		a := s.Verify(short, shortToken).Is(200, "")
		require.Equal(t, "processing", a.Str("status"))
		require.Equal(t, "underpaid", a.Str("payments.0.status"))
		require.Equal(t, "26.24", a.Str("payments.0.received"))
		require.Empty(t, a.Data("tickets"))
		require.Empty(t, a.Data("refunds"))
	}
	s.Settle(s.Checkout(short, shortToken), "success")
	a := s.Verify(short, shortToken).Is(200, "")
	require.Equal(t, "completed", a.Str("status"))
	require.Len(t, a.Data("tickets"), 1)
	require.Equal(t, nodetest.Words("id ticketId orderId reference amount currency reason message evidenceUrls status decisionNote providerRef requestedAt decidedAt processedAt"), a.Keys("refunds.0"))
	require.Equal(t, "26.24 underpaid processing", fmt.Sprint(a.Data("refunds.0.amount"), " ", a.Data("refunds.0.reason"), " ", a.Data("refunds.0.status")))

	t.Log("a cancelled order sends it back too")
	given, givenToken := place("given-up@example.org")
	givenPay := s.Pay(given, givenToken).Is(200, "")
	s.Settle(givenPay.Str("authorizationUrl")+"?paysim=short=2625", "success")
	require.Equal(t, "processing", s.Verify(given, givenToken).Is(200, "").Str("status"))
	require.Empty(t, s.Call("POST", "/orders/"+given+"/cancel", nodetest.Object{"token": givenToken}).Is(200, "").Data("refunds"), "nothing came")
	gone, goneToken := place("gone@example.org")
	gonePay := s.Pay(gone, goneToken).Is(200, "")
	s.Settle(gonePay.Str("authorizationUrl")+"?paysim=short=625", "success")
	require.Equal(t, "processing", s.Verify(gone, goneToken).Is(200, "").Str("status"))
	a = s.Call("POST", "/orders/"+gone+"/cancel", nodetest.Object{"token": goneToken}).Is(200, "")
	require.Equal(t, "20.00", a.Str("refunds.0.amount"))

	t.Log("what has not come is not sent back, whatever the provider's answers call its amount")
	for _, outcome := range []string{"", "abandoned", "failed", "processing", "success?reversed"} {
		id, token := place("nothing@example.org")
		url := s.Checkout(id, token)
		if outcome, modes, _ := strings.Cut(outcome, "?"); outcome != "" {
			s.Settle(url+"?paysim="+modes, outcome)
		}
		a := s.Verify(id, token).Is(200, "")
		require.Equal(t, "0.00", a.Str("payments.0.received"), outcome)
		a = s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
		require.Empty(t, a.Data("refunds"), outcome)
		require.Empty(t, s.Verify(id, token).Is(200, "").Data("refunds"), outcome)
	}

	t.Log("too much is a sale, and what is too much goes back")
	over, overToken := place("over@example.org")
	overPay := s.Pay(over, overToken).Is(200, "")
	s.Settle(overPay.Str("authorizationUrl")+"?paysim=over=100", "success")
	for range 2 {
		a = s.Verify(over, overToken).Is(200, "")
		require.Equal(t, "completed", a.Str("status"))
		require.Equal(t, "27.25", a.Str("payments.0.received"))
		require.Len(t, a.Data("refunds"), 1)
		require.Equal(t, "1.00 USD overpaid", a.Str("refunds.0.amount")+" "+a.Str("refunds.0.currency")+" "+a.Str("refunds.0.reason"))
	}

	t.Log("another currency is no sale, and goes back as it is")
	foreign, foreignToken := place("foreign@example.org")
	foreignPay := s.Pay(foreign, foreignToken).Is(200, "")
	s.Settle(foreignPay.Str("authorizationUrl")+"?paysim=currency=NGN", "success")
	for range 2 {
		a = s.Verify(foreign, foreignToken).Is(200, "")
		require.Equal(t, "processing underpaid 0.00", a.Str("status")+" "+a.Str("payments.0.status")+" "+a.Str("payments.0.received"))
		require.Len(t, a.Data("refunds"), 1)
		require.Equal(t, "26.25 NGN currency", a.Str("refunds.0.amount")+" "+a.Str("refunds.0.currency")+" "+a.Str("refunds.0.reason"))
	}
	s.Call("POST", "/orders/"+foreign+"/cancel", nodetest.Object{"token": foreignToken}).Is(200, "")

	t.Log("money in flight")
	flying, flyingToken := place("flying@example.org")
	s.Settle(s.Checkout(flying, flyingToken)+"?paysim=pending=2", "success")
	for range 2 {
		a = s.Verify(flying, flyingToken).Is(200, "")
		require.Equal(t, "processing", a.Str("status"))
		require.Equal(t, "processing", a.Str("payments.0.status"))
		require.Equal(t, a.Str("payments.0.reference"), s.Pay(flying, flyingToken).Is(200, "").Str("reference"), "the attempt is still open")
	}
	require.Equal(t, "completed", s.Verify(flying, flyingToken).Is(200, "").Str("status"))

	t.Log("paid at two checkouts")
	twice, twiceToken := place("twice@example.org")
	one := s.Pay(twice, twiceToken).Is(200, "")
	s.Settle(one.Str("authorizationUrl"), "failed")
	require.Equal(t, "pending", s.Verify(twice, twiceToken).Is(200, "").Str("status"))
	two := s.Pay(twice, twiceToken).Is(200, "")
	s.Settle(one.Str("authorizationUrl"), "success")
	s.Settle(two.Str("authorizationUrl"), "success")
	a = s.Verify(twice, twiceToken).Is(200, "")
	require.Equal(t, "completed", a.Str("status"))
	require.Len(t, a.Data("tickets"), 1)
	require.Equal(t, "26.25 twice", fmt.Sprint(a.Data("refunds.0.amount"), " ", a.Data("refunds.0.reason")))
	require.Equal(t, two.Str("reference"), a.Str("refunds.0.reference"))

	s.Refunded(
		nodetest.Refund{ID: short, Token: shortToken, Reference: first.Str("reference"), Amount: 2624, Status: "completed"},
		nodetest.Refund{ID: gone, Token: goneToken, Reference: gonePay.Str("reference"), Amount: 2000, Status: "refunded"},
		nodetest.Refund{ID: foreign, Token: foreignToken, Reference: foreignPay.Str("reference"), Amount: 2625, Status: "refunded"},
		nodetest.Refund{ID: twice, Token: twiceToken, Reference: two.Str("reference"), Amount: 2625, Status: "completed"},
	)
	s.Becomes("100", func() string { return strconv.FormatInt(s.SentBack(overPay.Str("reference")), 10) })
	s.Pay(gone, goneToken).Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "refunded", "reason": "the order has ended"})
	require.Equal(t, int64(0), s.SentBack(givenPay.Str("reference")))
}

// TestLateMoney pays orders that have ended.
func TestLateMoney(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	eventID, ids := s.OnSale(nodetest.TypeBody(20, 4))
	s.Window(eventID, 4*time.Second)
	type order struct{ id, token, url, reference string }
	begin := func(email string) order {
		id, token := s.Place(email, ids[0], 1)
		url := s.ShortCheckout(id, token)
		return order{id, token, url, s.Order(id, token).Str("payments.0.reference")}
	}
	again, gone, flying, cancelled := begin("again@example.org"), begin("gone@example.org"), begin("flying@example.org"), begin("cancelled@example.org")
	s.Settle(flying.url, "processing")
	require.Equal(t, "processing", s.Verify(flying.id, flying.token).Is(200, "").Str("status"))
	s.Call("POST", "/orders/"+cancelled.id+"/cancel", nodetest.Object{"token": cancelled.token}).Is(200, "")
	for _, o := range []order{again, gone} {
		s.Becomes("expired", s.Status(o.id, o.token))
		require.Equal(t, "expired", s.Order(o.id, o.token).Str("payments.0.status"))
		s.Settle(o.url, "success")
	}
	require.Equal(t, "processing", s.Order(flying.id, flying.token).Str("status"), "money in flight pins the order")
	s.Becomes("3", func() string { return s.Available(eventID, 0) })

	t.Log("there is stock: it is taken again, once, however many ask")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			a := s.Verify(again.id, again.token).Is(200, "")
			require.Equal(t, "completed", a.Str("status"))
			require.Len(t, a.Data("tickets"), 1)
		})
	}
	wg.Wait()
	require.Equal(t, "2", s.Available(eventID, 0))

	t.Log("there is none left: the money goes back")
	s.Window(eventID, 15*time.Minute)
	s.Place("quick@example.org", ids[0], 2)
	a := s.Verify(gone.id, gone.token).Is(200, "")
	require.Equal(t, "expired", a.Str("status"))
	require.Equal(t, "21.00 late processing", fmt.Sprint(a.Data("refunds.0.amount"), " ", a.Data("refunds.0.reason"), " ", a.Data("refunds.0.status")))
	s.Settle(cancelled.url, "success")
	a = s.Verify(cancelled.id, cancelled.token).Is(200, "")
	require.Equal(t, "cancelled", a.Str("status"))
	require.Equal(t, "cancelled", a.Str("refunds.0.reason"))

	s.Settle(flying.url, "success")
	require.Equal(t, "completed", s.Verify(flying.id, flying.token).Is(200, "").Str("status"))

	t.Log("the event is cancelled before the money comes")
	other, types := s.OnSale(nodetest.TypeBody(20, 5))
	id, token := s.Place("unlucky@example.org", types[0], 1)
	unlucky := order{id: id, token: token, url: s.Checkout(id, token)}
	unlucky.reference = s.Order(id, token).Str("payments.0.reference")
	s.Own("DELETE", "/organizer/events/"+other, nil).Is(200, "")
	s.Settle(unlucky.url, "success")
	require.Empty(t, s.Verify(id, token).Is(200, "").Data("tickets"))

	var all []nodetest.Refund
	for _, o := range []order{gone, cancelled, unlucky} {
		all = append(all, nodetest.Refund{ID: o.id, Token: o.token, Reference: o.reference, Amount: 2100, Status: "refunded"})
	}
	s.Refunded(all...)
	for _, o := range all {
		require.Len(t, s.Verify(o.ID, o.Token).Is(200, "").Data("refunds"), 1, "once")
	}
}

// TestProviderFails has the provider misbehave in every way: the buyer gets the
// right code, and the order is paid once the provider is well.
func TestProviderFails(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	provider(s, psp.Account{Timeout: time.Second, Breaker: psp.Breaker{Failures: 1000}})
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 1000), nodetest.Object{"maxPerCustomer": 1000}))
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
		id, token := s.Place("ada@example.org", ids[0], 1)
		failing := func(a nodetest.Answer, status int) {
			require.Equal(t, status, a.Status, "%s: %v", c.modes, a.Body)
			if status != 200 {
				a.Refused(status, c.code, nil)
			}
		}
		modes(s, c.modes)
		failing(s.Pay(id, token), c.pay)
		failing(s.Pay(id, token), c.pay)
		require.Equal(t, "pending", s.Order(id, token).Str("status"))
		modes(s, "")
		url := s.Checkout(id, token)
		s.Settle(url, "success")
		modes(s, c.modes)
		a := s.Verify(id, token)
		failing(a, c.verify)
		modes(s, "")
		require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"), c.modes)
	}
}

func TestProviderPaused(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	provider(s, psp.Account{Breaker: psp.Breaker{Failures: 3, Pause: time.Second}})
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	modes(s, "error=500")
	for range 5 {
		s.Pay(id, token).Is(502, "PROVIDER_ERROR")
	}
	require.Equal(t, int64(3), s.Sim().Stats().Calls["initialize"], "a sick provider is left alone")
	modes(s, "")
	s.Becomes("200", func() string { return fmt.Sprint(s.Pay(id, token).Status) })
	require.Len(t, s.Order(id, token).Data("payments"), 4, "what was never sent is no new attempt")
}

func TestAttemptsEnd(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	provider(s, psp.Account{Breaker: psp.Breaker{Failures: 1000}})
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	modes(s, "error=500")
	for range 15 {
		s.Pay(id, token).Is(502, "PROVIDER_ERROR")
	}
	s.Pay(id, token).Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "pending", "reason": "too many payment attempts"})
	require.Len(t, s.Order(id, token).Data("payments"), 15)
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")

	t.Log("an order all of whose attempts failed has failed when its window closes")
	modes(s, "")
	eventID, ids := s.OnSale(nodetest.TypeBody(25, 100))
	s.Window(eventID, 3*time.Second)
	id, token = s.Place("bob@example.org", ids[0], 1)
	s.Settle(s.ShortCheckout(id, token), "failed")
	require.Equal(t, "failed", s.Verify(id, token).Is(200, "").Str("payments.0.status"))
	s.Becomes("failed", s.Status(id, token))
	s.Pay(id, token).Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "failed", "reason": "the order has ended"})
}

// TestCancelOrPay has buyers give up what they have just paid for: each order
// ends one way, and its money with it.
func TestCancelOrPay(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	eventID, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"maxPerCustomer": 100}))
	completed := 0
	for range 12 {
		id, token := s.Place("ada@example.org", ids[0], 1)
		s.Settle(s.Checkout(id, token), "success")
		var cancelled nodetest.Answer
		var wg sync.WaitGroup
		wg.Go(func() { s.Verify(id, token).Is(200, "") })
		wg.Go(func() { cancelled = s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}) })
		wg.Go(func() { s.Verify(id, token).Is(200, "") })
		wg.Wait()
		a := s.Verify(id, token).Is(200, "")
		if cancelled.Status == 200 {
			require.Equal(t, "cancelled", a.Str("status"))
			require.Len(t, a.Data("refunds"), 1)
			require.Empty(t, a.Data("tickets"))
			continue
		}
		cancelled.Is(409, "ORDER_NOT_CANCELLABLE")
		require.Equal(t, "completed", a.Str("status"))
		require.Empty(t, a.Data("refunds"))
		require.Len(t, a.Data("tickets"), 1)
		completed++
	}
	s.Becomes(fmt.Sprint(100-completed), func() string { return s.Available(eventID, 0) })
	require.Equal(t, fmt.Sprint(completed), s.Own("GET", "/checkin/event/"+eventID+"/stats", nil).Str("ticketsIssued"))
}

package money

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// allProviders opens a node whose simulator is every provider, and calls back.
func allProviders(t *testing.T) *nodetest.Shop {
	t.Helper()
	return nodetest.Open(t, func(c *node.Config) {
		c.PaysimProviders, c.PaysimCallbacks = []string{"nowpayments", "flutterwave", "stripe", "mollie", "paypal"}, true
	})
}

// payWith opens an attempt to pay.
func payWith(s *nodetest.Shop, id, token string, body nodetest.Object) nodetest.Answer {
	s.T.Helper()
	return s.Call("POST", "/orders/"+id+"/pay?token="+token, body)
}

// deposit is the simulator's page of an address.
func deposit(s *nodetest.Shop, a nodetest.Answer) string {
	s.T.Helper()
	return s.Sim().URL() + "/checkout/" + a.Str("payAddress")
}

// TestCryptoPays pays with coins, told by the provider alone.
func TestCryptoPays(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(0.2, 100))
	coins := s.Call("GET", "/payments/crypto/currencies", nil).Is(200, "")
	require.Equal(t, "usdttrc20 TRX USDT", coins.Str("items.3.ticker")+" "+strings.ToUpper(coins.Str("items.3.network"))+" "+"USDT")
	id, token := s.Place("ada@example.org", ids[0], 2)

	t.Log("coins are the default; the same is answered again")
	a := payWith(s, id, token, nodetest.Object{}).Is(200, "")
	require.Equal(t, "nowpayments btc btc 0.00105", a.Str("provider")+" "+a.Str("payCurrency")+" "+a.Str("network")+" "+a.Str("payAmount"))
	require.Nil(t, a.Data("payinExtraId"))
	require.Equal(t, a.Body, payWith(s, id, token, nodetest.Object{"payCurrency": "btc"}).Is(200, "").Body)

	t.Log("another coin cancels the open attempt; money to its address still counts")
	b := payWith(s, id, token, nodetest.Object{"payCurrency": "xrp"}).Is(200, "")
	require.NotEqual(t, a.Str("payAddress"), b.Str("payAddress"))
	require.NotEmpty(t, b.Str("payinExtraId"))
	require.Equal(t, "cancelled", s.Order(id, token).Str("payments.0.status"))
	s.Settle(deposit(s, a), "success")
	s.Becomes("completed", s.Status(id, token))
	o := s.Order(id, token)
	require.Equal(t, "succeeded 52.50 0.00105", o.Str("payments.0.status")+" "+o.Str("payments.0.received")+" "+o.Str("payments.0.arrived"))
	require.Equal(t, "pending", o.Str("payments.1.status"))

	t.Log("what cannot be paid so")
	id, token = s.Place("bob@example.org", ids[1], 1)
	payWith(s, id, token, nodetest.Object{"payCurrency": "btc"}).Refused(422, "AMOUNT_BELOW_MINIMUM", map[string]any{"minimum": "1.00", "currency": "USD"})
	payWith(s, id, token, nodetest.Object{"payCurrency": "nocoin"}).Invalid("payCurrency", "enum")
	require.Empty(t, s.Order(id, token).Data("payments"), "nothing was begun")
	naira := nodetest.Object{"currency": "NGN"}
	event := s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), naira)).Is(201, "").Str("id")
	kind := s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.With(nodetest.TypeBody(25, 100), naira)).Is(201, "").Str("id")
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	id, token = s.Place("bob@example.org", kind, 1)
	payWith(s, id, token, nodetest.Object{"provider": "nowpayments"}).Refused(422, "CURRENCY_NOT_SUPPORTED",
		nodetest.Object{"provider": "nowpayments", "currency": "NGN", "supported": []string{"USD"}})
}

// TestPayMethods lists what a buyer can choose, by currency, and each of it opens an attempt.
func TestPayMethods(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	methods := func(of string) (named []string) {
		a := s.Call("GET", "/payments/methods"+of, nil).Is(200, "")
		for i := range a.Data("items").([]any) {
			named = append(named, a.Str("items."+strconv.Itoa(i)+".provider")+" "+a.Str("items."+strconv.Itoa(i)+".kind"))
		}
		return named
	}
	all := []string{"nowpayments crypto", "paystack card", "flutterwave card", "stripe card", "mollie card", "paypal card"}
	require.Equal(t, all, methods(""))
	require.Equal(t, all, methods("?currency=USD"))
	require.Equal(t, all[1:4], methods("?currency=NGN"))
	require.Equal(t, all[1:5], methods("?currency=ZAR"))
	s.Call("GET", "/payments/methods?currency=XXX", nil).Invalid("currency", "format")
	for _, method := range all {
		provider, _, _ := strings.Cut(method, " ")
		require.Equal(t, provider, payWith(s, id, token, nodetest.Object{"provider": provider}).Is(200, "").Str("provider"))
	}

	t.Log("what has no account is not offered")
	alone := nodetest.Open(t)
	require.Equal(t, "paystack", alone.Call("GET", "/payments/methods", nil).Is(200, "").Str("items.0.provider"))
	require.Len(t, alone.Call("GET", "/payments/methods", nil).Data("items"), 1)
}

// TestCryptoShort has less come than was asked for: nothing is issued.
func TestCryptoShort(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "short")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	a := payWith(s, id, token, nodetest.Object{"payCurrency": "usdcbsc"}).Is(200, "")
	s.Settle(deposit(s, a), "success")
	s.Becomes("underpaid", func() string { return s.Order(id, token).Str("payments.0.status") })
	o := s.Order(id, token)
	require.Equal(t, "processing", o.Str("status"))
	require.Equal(t, "13.12", o.Str("payments.0.received"))
	require.Equal(t, "13.12", o.Str("payments.0.arrived"))
}

// TestCryptoComesAgain sends coins to an address that has been paid. The order lists them, and
// a person sends them back.
func TestCryptoComesAgain(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "again,over=500,duplicate=3")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	a := payWith(s, id, token, nodetest.Object{"payCurrency": "usdcbsc"}).Is(200, "")
	s.Settle(deposit(s, a), "success")
	s.Becomes("completed", s.Status(id, token))
	s.Becomes("2", func() string { return strconv.Itoa(len(s.Order(id, token).Data("refunds").([]any))) })
	listed := s.Own("GET", "/organizer/refunds?status=processing", nil).Is(200, "")
	wanted := map[string]string{"5.00": "overpaid", "26.25": "deposit"}
	for i := range 2 {
		r := "items." + strconv.Itoa(i) + "."
		require.Equal(t, wanted[listed.Str(r+"amount")], listed.Str(r+"reason"))
		require.Equal(t, true, listed.Data(r+"manual"))
		if listed.Str(r+"reason") == "deposit" {
			require.Regexp(t, `^Deposit \d+$`, listed.Str(r+"message"))
		}
		path := "/organizer/refunds/" + listed.Str(r+"id") + "/complete"
		done := s.Own("POST", path, nodetest.Object{"providerRef": "0xabc"}).Is(200, "")
		require.Equal(t, "processed 0xabc", done.Str("status")+" "+done.Str("providerRef"))
		s.Own("POST", path, nodetest.Object{}).Is(409, "REFUND_NOT_PENDING")
	}
	o := s.Order(id, token)
	require.Equal(t, "completed", o.Str("status"))
	require.Equal(t, "succeeded", o.Str("payments.0.status"))
	require.Equal(t, "31.25", o.Str("payments.0.received"))
	require.Len(t, o.Data("refunds"), 2)
}

// TestFlutterwavePays pays at the second provider of cards, told by it alone.
func TestFlutterwavePays(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "duplicate=3")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	a := payWith(s, id, token, nodetest.Object{"provider": "flutterwave"}).Is(200, "")
	require.Equal(t, "pending", s.Verify(id, token).Is(200, "").Str("status"), "nobody has tried to pay")
	s.Settle(a.Str("authorizationUrl"), "success")
	s.Becomes("completed", s.Status(id, token))
	require.Equal(t, "52.50", s.Order(id, token).Str("payments.0.received"))
}

// TestStripePays pays on a checkout page of Stripe's, told by it alone, and has a part and then the
// rest sent back.
func TestStripePays(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "duplicate=3")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	a := payWith(s, id, token, nodetest.Object{"provider": "stripe"}).Is(200, "")
	again := payWith(s, id, token, nodetest.Object{"provider": "stripe"}).Is(200, "")
	require.Equal(t, a.Str("authorizationUrl"), again.Str("authorizationUrl"), "the attempt that is open goes on")
	s.Settle(a.Str("authorizationUrl"), "failed")
	require.Equal(t, "pending", s.Verify(id, token).Is(200, "").Str("status"), "another card may be tried on the page")
	s.Settle(a.Str("authorizationUrl"), "success")
	s.Becomes("completed", s.Status(id, token))
	require.Equal(t, "52.50", s.Order(id, token).Str("payments.0.received"))
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"amount": 10, "reason": "goodwill"}).Is(200, "")
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"reason": "all of it"}).Is(200, "")
	s.Becomes("processed", func() string { return s.Order(id, token).Str("refunds.0.status") })
	s.Becomes("processed", func() string { return s.Order(id, token).Str("refunds.1.status") })
}

// TestMolliePays pays on a checkout page of Mollie's, told by an id alone, and has a part and then the
// rest sent back.
func TestMolliePays(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "duplicate=3")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	a := payWith(s, id, token, nodetest.Object{"provider": "mollie"}).Is(200, "")
	s.Settle(a.Str("authorizationUrl"), "success")
	s.Becomes("completed", s.Status(id, token))
	require.Equal(t, "52.50", s.Order(id, token).Str("payments.0.received"))
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"amount": 10, "reason": "goodwill"}).Is(200, "")
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"reason": "all of it"}).Is(200, "")
	s.Becomes("processed", func() string { return s.Order(id, token).Str("refunds.0.status") })
	s.Becomes("processed", func() string { return s.Order(id, token).Str("refunds.1.status") })
	for _, query := range []string{"", "?reference=" + a.Str("reference"), "?reference=" + a.Str("reference") + "&sig=" + strings.Repeat("0", 64)} {
		require.Equal(t, 401, s.Raw("POST", "/payments/webhook/mollie"+query, "application/x-www-form-urlencoded", "id=tr_1").Status, query)
	}
}

// TestPayPalPays has a buyer approve an order at PayPal and never come back: what PayPal tells has the money taken, once. A
// part and then the rest are sent back.
func TestPayPalPays(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "duplicate=3")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	a := payWith(s, id, token, nodetest.Object{"provider": "paypal"}).Is(200, "")
	s.Settle(a.Str("authorizationUrl"), "failed")
	require.Equal(t, "pending", s.Verify(id, token).Is(200, "").Str("status"), "PayPal's page lets the buyer try another way")
	s.Settle(a.Str("authorizationUrl"), "success")
	s.Becomes("completed", s.Status(id, token))
	require.Equal(t, "52.50", s.Order(id, token).Str("payments.0.received"))
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"amount": 10, "reason": "goodwill"}).Is(200, "")
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"reason": "all of it"}).Is(200, "")
	s.Becomes("processed", func() string { return s.Order(id, token).Str("refunds.0.status") })
	s.Becomes("processed", func() string { return s.Order(id, token).Str("refunds.1.status") })
	require.Equal(t, 401, s.Raw("POST", "/payments/webhook/paypal", "application/json", `{"id":"WH-1","event_type":"x"}`).Status)

	// Of an order that its buyer has cancelled nothing is taken, so that nothing has to go back.
	id, token = s.Place("bob@example.org", ids[0], 2)
	a = payWith(s, id, token, nodetest.Object{"provider": "paypal"}).Is(200, "")
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	s.Settle(a.Str("authorizationUrl"), "success")
	s.Becomes("cancelled", func() string { return s.Order(id, token).Str("payments.0.status") })
	require.Equal(t, "0.00", s.Order(id, token).Str("payments.0.received"))
	require.Empty(t, s.Order(id, token).Data("refunds"))
}

// TestForgedNoticesOfTheOthers sends what the providers did not.
func TestForgedNoticesOfTheOthers(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	for _, body := range []string{"", "{", "null", `{"payment_id":1,"payment_status":"finished"}`, `{"event":"charge.completed"}`, strings.Repeat("[", 5000)} {
		require.Equal(t, 401, s.Raw("POST", "/payments/webhook/nowpayments", "application/json", body, "X-Nowpayments-Sig", strings.Repeat("0", 128)).Status)
		require.Equal(t, 401, s.Raw("POST", "/payments/webhook/flutterwave", "application/json", body, "Verif-Hash", "guess").Status)
		require.Equal(t, 200, s.Raw("POST", "/payments/webhook/flutterwave", "application/json", body, "Verif-Hash", node.SimKey).Status, "%.20s", body)
	}
}

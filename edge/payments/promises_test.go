package payments_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
	"boxoffice/edge/payments/transfer"
	"boxoffice/persistence/receipts"
)

// adapter is a provider as the table of promises tries it.
type adapter struct {
	psp.Provider
	// pay has the buyer pay 300.50 dollars for a charge, or as the mode of paysim says.
	pay func(t *testing.T, begun psp.Begun, reference, mode string)
	// dispute has the buyer's bank open a dispute about a paid charge, or move it on, and notices are what it tells.
	dispute func(t *testing.T, reference, status string) bool
	notices <-chan psp.Notice
	// without names the promises that its kind can't keep, each with the reason.
	without map[string]string
}

// byPage is an adapter whose buyers pay on a page of the simulator.
func byPage(p psp.Provider) adapter {
	return adapter{Provider: p, pay: func(t *testing.T, begun psp.Begun, _, mode string) {
		t.Helper()
		begun.AuthorizationURL += "?paysim=" + mode
		checkout(t, begun, "success")
	}}
}

// withDisputes is an adapter by whose page buyers pay, and whose buyers' banks open disputes.
func withDisputes(p psp.Provider, sim *paysim.Sim, told <-chan psp.Notice) adapter {
	a := byPage(p)
	a.notices = told
	a.dispute = func(t *testing.T, reference, status string) bool {
		t.Helper()
		body := strings.NewReader(`{"reference":"` + reference + `","status":"` + status + `"}`)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sim.URL()+"/_sim/dispute", body)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode == http.StatusOK
	}
	return a
}

// hear is where a provider sends its notices, which come out of the channel. It holds them back until p is opened.
func hear(t *testing.T, signature func(*http.Request) string) (address string, opened func(p psp.Provider), told <-chan psp.Notice) {
	t.Helper()
	var p psp.Provider
	ready, notices := make(chan struct{}), make(chan psp.Notice, 100)
	address = serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-ready
		body, _ := io.ReadAll(r.Body)
		n, err := p.Notice(body, signature(r))
		if t.Context().Err() != nil {
			return // the test is over, and the simulator may have stopped before it was asked whether the notice is its own
		}
		assert.NoError(t, err)
		notices <- n
	}))
	return address, func(of psp.Provider) { p = of; close(ready) }, notices
}

// byBank is the adapter of transfers, with an account at a bank that tells what came.
func byBank(t *testing.T) adapter {
	t.Helper()
	var mu sync.Mutex
	came := map[string]int64{}
	g, err := payments.Open(payments.Config{Transfer: transfer.Account{
		Holder: "Kulturverein Nord e.V.", Number: "DE89370400440532013000", Currencies: []string{"USD"},
		Received: func(_ context.Context, reference string) (receipts.Sum, error) {
			mu.Lock()
			defer mu.Unlock()
			return receipts.Sum{Amount: came[reference], Currency: "USD"}, nil
		},
	}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("transfer")
	require.NoError(t, err)
	return adapter{
		Provider: p,
		pay: func(_ *testing.T, _ psp.Begun, reference, mode string) {
			mu.Lock()
			defer mu.Unlock()
			came[reference] += map[string]int64{"success": 30050, "short=50": 30000, "over=1": 30051}[mode]
		},
		without: map[string]string{
			"a charge that nobody began": "a bank knows no charges: one of which nothing came is one that nobody has paid yet",
			"a part goes back":           "no bank sends money because we ask: a person does, and says so",
			"a part goes back once":      "as above",
			"a dispute is won":           "a transfer that has come stays: its sender's bank can't take it back",
			"a dispute is lost":          "as above",
		},
	}
}

// promises are what every adapter keeps of the words of Provider. The charge is of 300.50 dollars.
var promises = []struct {
	name string
	keep func(t *testing.T, a adapter, reference string)
}{
	{"a currency that it does not take", func(t *testing.T, a adapter, _ string) {
		require.ErrorIs(t, a.Check(t.Context(), psp.Price{Amount: 30050, Currency: "KWD"}), psp.ErrCurrency)
	}},
	{"nothing has come", func(t *testing.T, a adapter, reference string) {
		require.Equal(t, psp.Pending, a.told(t, a.begin(t, reference), reference).Status)
	}},
	{"the price has come", func(t *testing.T, a adapter, reference string) { a.comes(t, reference, "success", 30050) }},
	{"less has come", func(t *testing.T, a adapter, reference string) { a.comes(t, reference, "short=50", 30000) }},
	{"more has come", func(t *testing.T, a adapter, reference string) { a.comes(t, reference, "over=1", 30051) }},
	{"a charge that nobody began", func(t *testing.T, a adapter, reference string) {
		_, err := a.Verify(t.Context(), psp.Asked{Reference: reference})
		require.ErrorIs(t, err, psp.ErrUnknownReference)
	}},
	{"a part goes back", func(t *testing.T, a adapter, reference string) {
		back, err := a.Refund(t.Context(), a.partOf(t, reference))
		require.NoError(t, err)
		require.NotEmpty(t, back.ID)
		require.NotEqual(t, psp.RefundFailed, back.Status)
		require.EqualValues(t, 1000, back.Amount)
		again, err := a.RefundStatus(t.Context(), back.ID)
		require.NoError(t, err)
		require.NotEqual(t, psp.RefundFailed, again.Status)
	}},
	{"a part goes back once", func(t *testing.T, a adapter, reference string) {
		part := a.partOf(t, reference)
		first, err := a.Refund(t.Context(), part)
		require.NoError(t, err)
		again, err := a.Refund(t.Context(), part)
		require.NoError(t, err)
		require.Equal(t, first.ID, again.ID)
	}},
	{"a dispute is won", func(t *testing.T, a adapter, reference string) {
		a.isDisputed(t, reference, "won", psp.DisputeWon)
	}},
	{"a dispute is lost", func(t *testing.T, a adapter, reference string) {
		a.isDisputed(t, reference, "lost", psp.DisputeLost)
	}},
	{"a notice that anybody could write", func(t *testing.T, a adapter, reference string) {
		_, err := a.Notice([]byte(`{"event":"charge.success","data":{"reference":"`+reference+`"}}`), "00")
		require.ErrorIs(t, err, psp.ErrSignature)
	}},
	{"a reference that is none", func(t *testing.T, a adapter, _ string) {
		_, err := a.Begin(t.Context(), dollars("a b/c", "success"))
		require.Error(t, err)
	}},
}

// begin begins a charge, which says where the buyer pays.
func (a adapter) begin(t *testing.T, reference string) psp.Begun {
	t.Helper()
	begun, err := a.Begin(t.Context(), dollars(reference, "success"))
	require.NoError(t, err)
	require.True(t, begun.AuthorizationURL != "" || begun.Deposit != nil && begun.Deposit.Address != "", "the buyer hears where to pay")
	return begun
}

// told is what the provider says of a charge.
func (a adapter) told(t *testing.T, begun psp.Begun, reference string) psp.Outcome {
	t.Helper()
	out, err := a.Verify(t.Context(), psp.Asked{Reference: reference, ProviderID: begun.ProviderID})
	require.NoError(t, err)
	return out
}

// comes has a buyer pay, and makes sure that the provider says what came, however often it is asked.
func (a adapter) comes(t *testing.T, reference, mode string, amount int64) psp.Outcome {
	t.Helper()
	begun := a.begin(t, reference)
	a.pay(t, begun, reference, mode)
	var out psp.Outcome
	for range 2 {
		out = a.told(t, begun, reference)
		require.Equal(t, psp.Succeeded, out.Status)
		require.Equal(t, amount, out.Amount)
		require.Equal(t, "USD", out.Currency)
	}
	return out
}

// partOf asks for 10 dollars of a charge that was paid.
func (a adapter) partOf(t *testing.T, reference string) psp.RefundRequest {
	t.Helper()
	out := a.comes(t, reference, "success", 30050)
	return psp.RefundRequest{Key: reference + "-refund-0", Reference: reference, ProviderID: out.ProviderID, Amount: 1000, Currency: "USD"}
}

// isDisputed has a buyer pay and the bank dispute it until it comes to an end, and makes sure that each notice leads to
// the one dispute, although all come twice and in any order.
func (a adapter) isDisputed(t *testing.T, reference, end string, want psp.DisputeStatus) {
	t.Helper()
	disputes, ok := a.Provider.(*payments.Gateway)
	require.True(t, ok)
	a.comes(t, reference, "duplicate=2,reorder=50ms", 30050)
	require.False(t, a.dispute(t, reference, "unheard"))
	require.False(t, a.dispute(t, reference+"x", "won"))
	moves := []string{"needs_response", "under_review", end}
	for _, status := range moves {
		require.True(t, a.dispute(t, reference, status))
	}
	found, about := psp.Dispute{}, 0
	for about < 2*len(moves) {
		n := <-a.notices
		if n.Reference != "" && n.Reference != reference || n.Dispute == "" {
			continue // it is of a charge that another promise began, or tells of the payment alone
		}
		list, err := disputes.ListDisputes(t.Context(), n.Dispute)
		require.NoError(t, err)
		for _, d := range list {
			require.True(t, found.ID == "" || found.ID == d.ID, "one dispute has two names")
			found = d
			about++
		}
	}
	require.Equal(t, reference, found.Reference)
	require.Equal(t, want, found.Status)
	require.EqualValues(t, 30050, found.Amount)
	require.Equal(t, "USD", found.Currency)
	require.NotEmpty(t, found.Reason)
	require.WithinDuration(t, time.Now(), found.OpenedAt, time.Minute)
}

// TestPromises tries every promise with every adapter whose money is counted, and bank transfer. NOWPayments
// counts coins, and its promises are those of nowpayments_test.go.
func TestPromises(t *testing.T) {
	t.Parallel()
	toldStripe, openedStripe, stripeTold := hear(t, func(r *http.Request) string { return r.Header.Get("Stripe-Signature") })
	toldMollie, openedMollie, mollieTold := hear(t, func(r *http.Request) string { return r.URL.Query().Get("reference") + "." + r.URL.Query().Get("sig") })
	toldPaypal, openedPaypal, paypalTold := hear(t, paypalSignature)
	sim := simulate(t, paysim.Config{StripeURL: toldStripe, PayPalURL: toldPaypal})
	stripe, mollie := openStripe(t, sim.URL()+"/v1"), openMollie(t, sim.URL()+"/v2", toldMollie)
	openedStripe(stripe)
	openedMollie(mollie)
	paypal := openPaypal(t, sim.URL()+"/paypal")
	openedPaypal(paypal)
	paystack, _ := open(t, psp.Account{URL: sim.URL()})
	flutterwave := byPage(openFlutterwave(t, sim.URL()+"/v3"))
	const atDashboard = "its disputes are handled at its dashboard alone"
	paystackPages := byPage(paystack)
	paystackPages.without = map[string]string{"a dispute is won": atDashboard, "a dispute is lost": atDashboard}
	flutterwave.without = map[string]string{
		"nothing has come": "it has no transaction of a charge before somebody pays, and so knows none",
		"a dispute is won": atDashboard, "a dispute is lost": atDashboard,
	}
	molliePages := withDisputes(mollie, sim, mollieTold)
	molliePages.without = map[string]string{"a dispute is lost": "it never tells that a chargeback is final, so that one is open until it is reversed"}
	adapters := map[string]adapter{
		"paystack": paystackPages, "flutterwave": flutterwave, "transfer": byBank(t), "stripe": withDisputes(stripe, sim, stripeTold), "mollie": molliePages,
		"paypal": withDisputes(paypal, sim, paypalTold),
	}
	for _, d := range payments.Providers {
		if _, tried := adapters[d.Name]; !tried {
			require.Equal(t, "nowpayments", d.Name, "no promise is tried with it")
		}
	}
	for name, a := range adapters {
		tried := 0
		for i, p := range promises {
			if why := a.without[p.name]; why != "" {
				t.Logf("%s, %s: %s", name, p.name, why)
				continue
			}
			tried++
			t.Run(name+", "+p.name, func(t *testing.T) { p.keep(t, a, name+"-"+string(rune('a'+i))) })
		}
		require.Equal(t, len(promises)-len(a.without), tried, "%s is without a promise that nobody makes", name)
	}
}

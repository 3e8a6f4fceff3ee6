package payments_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
)

// paidAt begins a charge of 300.50 at the simulator, pays it, and returns its number there.
func paidAt(t *testing.T, p psp.Provider, reference, modes string) string {
	t.Helper()
	begun, err := p.Begin(t.Context(), charge(reference))
	require.NoError(t, err)
	begun.AuthorizationURL += "?paysim=" + modes
	checkout(t, begun, "success")
	o, err := p.Verify(t.Context(), psp.Asked{Reference: reference})
	require.NoError(t, err)
	return o.ProviderID
}

// backOf is how much of a charge has gone back, as the simulator has it.
func backOf(sim *paysim.Sim, reference string) int64 {
	rows, _ := sim.Transactions(0, "", 1000)
	for _, r := range rows {
		if r.Reference == reference {
			return r.Refunded
		}
	}
	return -1
}

// TestFlutterwaveRefundsOnce sends parts of a charge back, each asked for again and again.
func TestFlutterwaveRefundsOnce(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p := openFlutterwave(t, sim.URL()+"/v3")
	id := paidAt(t, p, "A-1", "")
	part := func(key string) psp.RefundRequest {
		return psp.RefundRequest{Key: key, Reference: "A-1", ProviderID: id, Amount: 1000, Currency: "NGN"}
	}
	var ids []string
	for i := range 25 { // the list has more than one page
		o, err := p.Refund(t.Context(), part(fmt.Sprintf("A-1-refund-%d", i)))
		require.NoError(t, err)
		require.Equal(t, psp.RefundProcessed, o.Status)
		require.EqualValues(t, 1000, o.Amount)
		ids = append(ids, o.ID)
	}
	for i, id := range ids {
		o, err := p.Refund(t.Context(), part(fmt.Sprintf("A-1-refund-%d", i)))
		require.NoError(t, err)
		require.Equal(t, id, o.ID, "another was made")
		o, err = p.RefundStatus(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, psp.RefundProcessed, o.Status)
	}
	require.EqualValues(t, 25*1000, backOf(sim, "A-1"))
	other := part("A-1-refund-0")
	other.Amount = 999
	_, err := p.Refund(t.Context(), other)
	require.ErrorIs(t, err, psp.ErrDeclined, "one of another amount was taken for it")
}

// TestFlutterwaveRefundWhoseAnswerIsLost asks again for a refund that was made.
func TestFlutterwaveRefundWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	id := paidAt(t, openFlutterwave(t, sim.URL()+"/v3"), "A-1", "")
	loses := &losesAnswers{next: &http.Transport{DisableKeepAlives: true}}
	p := openFlutterwave(t, serve(t, loses.to(sim.URL()))+"/v3")
	r := psp.RefundRequest{Key: "A-1-refund-0", Reference: "A-1", ProviderID: id, Amount: 10000, Currency: "NGN"}
	_, err := p.Refund(t.Context(), r)
	require.True(t, psp.Ambiguous(err), "%v", err)
	for range 2 {
		o, err := p.Refund(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, psp.RefundProcessed, o.Status)
	}
	require.EqualValues(t, 10000, backOf(sim, "A-1"))
}

// TestFlutterwaveRefundFailsThenWorks has a refund fail, which is sent again only once it is
// named as known to have failed.
func TestFlutterwaveRefundFailsThenWorks(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p := openFlutterwave(t, sim.URL()+"/v3")
	r := psp.RefundRequest{Key: "A-1-refund-0", Reference: "A-1", ProviderID: paidAt(t, p, "A-1", "refundfails"), Amount: 30050, Currency: "NGN"}
	first, err := p.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, psp.RefundFailed, first.Status)
	again, err := p.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Zero(t, backOf(sim, "A-1"))
	r.After = first.ID
	second, err := p.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, psp.RefundProcessed, second.Status)
	require.EqualValues(t, 30050, backOf(sim, "A-1"))
	_, err = p.RefundStatus(t.Context(), "unconfirmed")
	require.ErrorIs(t, err, psp.ErrUnknownReference, "what an earlier release noted is looked for again")
}

// TestFlutterwaveRefundStatus reads a single refund, which does not say its currency. So nobody knows how many minor
// units its amount is, and the outcome has no amount.
func TestFlutterwaveRefundStatus(t *testing.T) {
	t.Parallel()
	s := &script{status: 200, body: `{"status":"success","message":"Refund fetched","data":{"id":75923,"amount_refunded":5000,"status":"completed","tx_id":908790}}`}
	o, err := openFlutterwave(t, serve(t, s)).RefundStatus(t.Context(), "75923")
	require.NoError(t, err)
	require.Equal(t, psp.RefundOutcome{ID: "75923", Status: psp.RefundProcessed}, o)
}

// TestFlutterwaveRefundsAreReadInEachSpelling reads lists as the provider's pages show them.
func TestFlutterwaveRefundsAreReadInEachSpelling(t *testing.T) {
	t.Parallel()
	for _, item := range []string{
		`{"id":75923,"amount_refunded":69,"status":"completed","comment":"K","created_at":"2021-01-24T09:18:37.000Z","account_id":73362,"transaction_id":908790}`,
		`{"id":75923,"AmountRefunded":69,"status":"completed-bank-transfer","comments":"K","TransactionId":908790}`,
		`{"id":75923,"amount_refunded":"69.00","status":"completed-momo","comments":"K","tx_id":908790}`,
	} {
		s := &script{status: 200, body: `{"status":"success","message":"Refunds fetched","meta":{"page_info":{"total":1,"current_page":1,"total_pages":1}},"data":[` + item + `]}`}
		p := openFlutterwave(t, serve(t, s))
		o, err := p.Refund(t.Context(), psp.RefundRequest{Key: "K", Reference: "A-1", ProviderID: "908790", Amount: 6900, Currency: "NGN"})
		require.NoError(t, err, item)
		require.Equal(t, psp.RefundOutcome{ID: "75923", Status: psp.RefundProcessed, Amount: 6900, Currency: "NGN"}, o, item)
		require.Len(t, s.requests(), 1)
		require.Equal(t, "/refunds?id=908790&page=1", s.requests()[0].path)
	}
}

package payments_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-json-experiment/json/v1"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
)

// TestMollieOutcomes ends payments in every way.
func TestMollieOutcomes(t *testing.T) {
	t.Parallel()
	p := openMollie(t, simulate(t, paysim.Config{}).URL()+"/v2", "")
	for _, c := range []struct {
		modes, outcome string
		status         psp.Status
		amount         int64
	}{
		{"success", "", psp.Pending, 30050},
		{"success", "success", psp.Succeeded, 30050},
		{"success", "failed", psp.Pending, 30050}, // another way to pay may be tried on the same page
		{"success", "processing", psp.Processing, 30050},
		{"short=50", "success", psp.Succeeded, 30000},
		{"over=1", "success", psp.Succeeded, 30051},
		{"auto", "", psp.Succeeded, 30050},
		{"reversed=0s", "success", psp.Refunded, 30050},
	} {
		reference := "M-" + url.PathEscape(c.modes[:4]) + "-" + c.outcome
		t.Run(c.modes+" "+c.outcome, func(t *testing.T) {
			begun, err := p.Begin(t.Context(), dollars(reference, c.modes))
			require.NoError(t, err)
			if c.outcome != "" {
				checkout(t, begun, c.outcome)
			}
			got, err := p.Verify(t.Context(), psp.Asked{Reference: reference, ProviderID: begun.ProviderID})
			require.NoError(t, err)
			require.Equal(t, c.status, got.Status)
			require.Equal(t, c.amount, got.Amount)
			require.Equal(t, "USD", got.Currency)
			_, err = p.Verify(t.Context(), psp.Asked{Reference: "another", ProviderID: begun.ProviderID})
			require.ErrorIs(t, err, psp.ErrFault, "a payment of another charge")
		})
	}
	for _, id := range []string{"", "tr_", "tr_1", "../refunds", "tr_1?x=1", "tr_1/../../x"} {
		_, err := p.Verify(t.Context(), psp.Asked{Reference: "M-1", ProviderID: id})
		require.ErrorIs(t, err, psp.ErrUnknownReference, id)
	}
}

// TestMollieRefundsOnce sends parts of a charge back, each asked for again, over more than one page of
// the list.
func TestMollieRefundsOnce(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{RefundStep: time.Nanosecond})
	p := openMollie(t, sim.URL()+"/v2", "")
	begun, err := p.Begin(t.Context(), dollars("R-1", "auto"))
	require.NoError(t, err)
	part := func(i int) psp.RefundRequest {
		return psp.RefundRequest{Key: fmt.Sprintf("R-1-refund-%d", i), Reference: "R-1", ProviderID: begun.ProviderID, Amount: 100, Currency: "USD"}
	}
	ids := map[string]int{}
	for i := range 105 {
		o, err := p.Refund(t.Context(), part(i))
		require.NoError(t, err)
		require.EqualValues(t, 100, o.Amount)
		require.NotContains(t, ids, o.ID)
		ids[o.ID] = i
	}
	for id, i := range ids {
		if i%7 != 0 {
			continue
		}
		o, err := p.Refund(t.Context(), part(i))
		require.NoError(t, err)
		require.Equal(t, id, o.ID, "another was made")
		o, err = p.RefundStatus(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, psp.RefundProcessed, o.Status)
	}
	require.EqualValues(t, 105*100, backOf(sim, "R-1"))
	rest := part(1_000)
	rest.Amount = 30050
	_, err = p.Refund(t.Context(), rest)
	require.ErrorIs(t, err, psp.ErrDeclined)
	rest.Amount = 0 // all that is left
	o, err := p.Refund(t.Context(), rest)
	require.NoError(t, err)
	require.EqualValues(t, 30050-105*100, o.Amount)
	last, err := p.Refund(t.Context(), part(1_001))
	require.NoError(t, err, "all of it went back already")
	require.Equal(t, psp.RefundProcessed, last.Status)
	for _, id := range []string{"", "tr_1", "re_1", "tr_1/re_", "tr_1/re_1", "tr_1/re_1/x"} {
		_, err := p.RefundStatus(t.Context(), id)
		require.ErrorIs(t, err, psp.ErrUnknownReference, id)
	}
}

// TestMollieRefundFails tries a refund anew only after it is known to have failed.
func TestMollieRefundFails(t *testing.T) {
	t.Parallel()
	p := openMollie(t, simulate(t, paysim.Config{RefundStep: time.Nanosecond}).URL()+"/v2", "")
	begun, err := p.Begin(t.Context(), dollars("F-1", "auto,refundfails=1"))
	require.NoError(t, err)
	r := psp.RefundRequest{Key: "F-1-refund", Reference: "F-1", ProviderID: begun.ProviderID, Amount: 100, Currency: "USD"}
	_, err = p.Refund(t.Context(), r)
	require.NoError(t, err)
	o, err := p.Refund(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, psp.RefundFailed, o.Status)
	r.After = o.ID
	again, err := p.Refund(t.Context(), r)
	require.NoError(t, err)
	require.NotEqual(t, o.ID, again.ID)
}

// TestMollieNotices takes only what comes to an address that a payment was made with.
func TestMollieNotices(t *testing.T) {
	t.Parallel()
	mollie := &script{status: 201, body: `{"id":"tr_1","status":"open","amount":{"currency":"USD","value":"300.50"},"metadata":{"reference":"N.1"},"_links":{"checkout":{"href":"https://pay.example/1"}}}`}
	p := openMollie(t, serve(t, mollie), "https://tickets.example/hook")
	_, err := p.Begin(t.Context(), dollars("N.1", ""))
	require.NoError(t, err)
	var sent struct {
		Webhook string `json:"webhookUrl"`
		Amount  struct{ Currency, Value string }
	}
	require.NoError(t, json.Unmarshal([]byte(mollie.requests()[0].body), &sent))
	require.Equal(t, "USD 300.50", sent.Amount.Currency+" "+sent.Amount.Value)
	hook, err := url.Parse(sent.Webhook)
	require.NoError(t, err)
	reference, mac := hook.Query().Get("reference"), hook.Query().Get("sig")
	n, err := p.Notice([]byte("id=tr_1"), reference+"."+mac)
	require.NoError(t, err)
	require.Equal(t, "N.1", n.Reference)
	for _, signature := range []string{"", ".", "N.1.", "N.1", "." + mac, "N.2." + mac, "N.1." + mac[:63] + "g", "N.1." + mac + "0"} {
		_, err := p.Notice([]byte("id=tr_1"), signature)
		require.ErrorIs(t, err, psp.ErrSignature, signature)
	}
	for _, body := range []string{"", "{}", "id=", "id=tr_", "id=ord_1", "id=tr_1%00", "%"} {
		_, err := p.Notice([]byte(body), reference+"."+mac)
		require.ErrorIs(t, err, psp.ErrNotice, body)
	}
}

// TestMollieRefusals maps what Mollie answers to our reasons.
func TestMollieRefusals(t *testing.T) {
	t.Parallel()
	for body, c := range map[string]struct {
		status int
		want   error
	}{
		`{"status":422,"title":"Unprocessable Entity","detail":"The amount is lower than the minimum","field":"amount"}`: {422, psp.ErrTooLittle},
		`{"status":422,"title":"Unprocessable Entity","detail":"The webhook URL is invalid","field":"webhookUrl"}`:       {422, psp.ErrDeclined},
		`{"status":409,"title":"Conflict","detail":"x"}`:                                                                 {http.StatusConflict, psp.ErrFault},
		`{"status":503,"title":"Service Unavailable","detail":"x"}`:                                                      {503, psp.ErrFault},
		`{"status":429,"title":"Too Many Requests","detail":"x"}`:                                                        {429, psp.ErrThrottled},
		`{"status":401,"title":"Unauthorized Request","detail":"x"}`:                                                     {401, psp.ErrDeclined},
		`<html>`: {403, psp.ErrDeclined},
		`{"id":"tr_1","status":"open","amount":{"currency":"USD"},"metadata":{"reference":"A-1"},"_links":{"checkout":{"href":"javascript:x"}}}`:   {201, psp.ErrFault},
		`{"id":"tr_1","status":"open","amount":{"currency":"USD"},"metadata":{"reference":"B-1"},"_links":{"checkout":{"href":"https://pay.me"}}}`: {201, psp.ErrFault},
		`{"id":"tr_1","status":"odd","amount":{"currency":"USD"},"metadata":{"reference":"A-1"},"_links":{"checkout":{"href":"https://pay.me"}}}`:  {201, psp.ErrFault},
	} {
		p := openMollie(t, serve(t, &script{status: c.status, body: body}), "")
		_, err := p.Begin(t.Context(), dollars("A-1", ""))
		require.ErrorIs(t, err, c.want, body)
	}
	_, err := payments.Open(payments.Config{Mollie: psp.Account{URL: "http://mollie.example", SecretKey: "live_x"}}, nil)
	require.ErrorContains(t, err, "https only")
}

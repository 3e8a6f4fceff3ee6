package payments_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
)

// dollars is a charge of 300.50 USD.
func dollars(reference, modes string) psp.Charge {
	c := charge(reference)
	c.Currency = "USD"
	if modes != "" {
		c.Metadata = map[string]string{"paysim": modes}
	}
	return c
}

// TestStripeOutcomes ends checkout sessions in every way.
func TestStripeOutcomes(t *testing.T) {
	t.Parallel()
	now := newClock()
	now.at.Store(time.Now().UnixNano()) // sessions say when they end
	sim := simulate(t, paysim.Config{Now: now.now})
	p := openStripe(t, sim.URL()+"/v1")
	for _, c := range []struct {
		modes, outcome string
		status         psp.Status
		amount         int64
	}{
		{"success", "", psp.Pending, 30050},
		{"success", "success", psp.Succeeded, 30050},
		{"success", "failed", psp.Pending, 30050}, // another card may be tried on the same page
		{"success", "abandoned", psp.Pending, 30050},
		{"success", "processing", psp.Processing, 30050},
		{"short=50", "success", psp.Succeeded, 30000},
		{"over=1", "success", psp.Succeeded, 30051},
		{"auto", "", psp.Succeeded, 30050},
		{"reversed=0s", "success", psp.Refunded, 30050},
	} {
		reference := "S-" + url.PathEscape(c.modes[:4]) + "-" + c.outcome
		t.Run(c.modes+" "+c.outcome, func(t *testing.T) {
			begun, err := p.Begin(t.Context(), dollars(reference, c.modes))
			require.NoError(t, err)
			require.NotEmpty(t, begun.ProviderID)
			if c.outcome != "" {
				checkout(t, begun, c.outcome)
			}
			for range 2 {
				got, err := p.Verify(t.Context(), psp.Asked{Reference: reference, ProviderID: begun.ProviderID})
				require.NoError(t, err)
				require.Equal(t, c.status, got.Status)
				require.Equal(t, c.amount, got.Amount)
				require.EqualValues(t, 30050, got.RequestedAmount)
				require.Equal(t, "USD", got.Currency)
			}
			_, err = p.Verify(t.Context(), psp.Asked{Reference: "another", ProviderID: begun.ProviderID})
			require.ErrorIs(t, err, psp.ErrFault, "a session of another charge")
		})
	}
	_, err := p.Verify(t.Context(), psp.Asked{Reference: "S-1"})
	require.ErrorIs(t, err, psp.ErrUnknownReference)
	for _, id := range []string{"cs_test_1", "../refunds", "cs_test_1?x=1", "cs_test_1/../../x"} {
		_, err = p.Verify(t.Context(), psp.Asked{Reference: "S-1", ProviderID: id})
		require.ErrorIs(t, err, psp.ErrUnknownReference, id)
	}
}

// TestStripeBeginsOnce repeats a charge: the same one leads to the same page, also later, and another under its
// reference is refused. One that Stripe has not seen in its time needs another reference.
func TestStripeBeginsOnce(t *testing.T) {
	t.Parallel()
	p := openStripe(t, simulate(t, paysim.Config{}).URL()+"/v1")
	c := dollars("O-1", "")
	first, err := p.Begin(t.Context(), c)
	require.NoError(t, err)
	began := time.Now().Unix()
	require.Eventually(t, func() bool { return time.Now().Unix() > began }, time.Minute, 10*time.Millisecond)
	again, err := p.Begin(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, first, again)
	other := c
	other.Amount++
	_, err = p.Begin(t.Context(), other)
	require.ErrorIs(t, err, psp.ErrDuplicateReference)
	late := dollars("O-2", "")
	late.At = late.At.Add(-2 * time.Minute)
	_, err = p.Begin(t.Context(), late)
	require.ErrorIs(t, err, psp.ErrDuplicateReference)
	require.ErrorIs(t, p.Check(t.Context(), psp.Price{Amount: 49, Currency: "USD"}), psp.ErrTooLittle)
	require.ErrorIs(t, p.Check(t.Context(), psp.Price{Amount: 5000, Currency: "KWD"}), psp.ErrCurrency)
}

// TestStripeRefundsOnce sends parts of a charge back, each asked for again and again.
func TestStripeRefundsOnce(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{RefundStep: time.Nanosecond})
	p := openStripe(t, sim.URL()+"/v1")
	begun, err := p.Begin(t.Context(), dollars("R-1", "auto"))
	require.NoError(t, err)
	part := func(i int) psp.RefundRequest {
		return psp.RefundRequest{Key: fmt.Sprintf("R-1-refund-%d", i), Reference: "R-1", ProviderID: begun.ProviderID, Amount: 100, Currency: "USD"}
	}
	ids := map[string]int{}
	for i := range 105 { // the list has more than one page
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
	rest.Amount = 30050 - 105*100
	_, err = p.Refund(t.Context(), rest)
	require.NoError(t, err)
	last, err := p.Refund(t.Context(), part(1_001))
	require.NoError(t, err, "all of it went back already")
	require.Equal(t, psp.RefundProcessed, last.Status)
	o, err := p.Verify(t.Context(), psp.Asked{Reference: "R-1", ProviderID: begun.ProviderID})
	require.NoError(t, err)
	require.Equal(t, psp.Refunded, o.Status)
}

// TestStripeRefundFails tries a refund anew only after it is known to have failed.
func TestStripeRefundFails(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{RefundStep: time.Nanosecond})
	p := openStripe(t, sim.URL()+"/v1")
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
	again, err = p.RefundStatus(t.Context(), again.ID)
	require.NoError(t, err)
	require.Equal(t, psp.RefundProcessed, again.Status)
}

// TestStripeNotices takes only what one of the secrets has signed, and lately.
func TestStripeNotices(t *testing.T) {
	t.Parallel()
	p := openStripe(t, "http://127.0.0.1:9/v1")
	const body = `{"id":"evt_1","type":"checkout.session.completed","data":{"object":{"client_reference_id":"N-1"}}}`
	mac := func(key, body string, at time.Time) string {
		m := hmac.New(sha256.New, []byte(key))
		fmt.Fprintf(m, "%d.%s", at.Unix(), body)
		return hex.EncodeToString(m.Sum(nil))
	}
	now := time.Now()
	stamp := func(at time.Time) string { return "t=" + strconv.FormatInt(at.Unix(), 10) }
	good := stamp(now) + ",v1=" + mac(secret, body, now)
	for header, fine := range map[string]bool{
		good: true,
		stamp(now) + ",v1=" + mac("whsec_old", body, now):                                     true,
		stamp(now) + ",v1=" + mac("whsec_other", body, now) + ",v1=" + mac(secret, body, now): true,
		stamp(now) + ", v1=" + mac(secret, body, now) + ",v0=00":                              true,
		stamp(now) + ",v1=" + mac("whsec_other", body, now):                                   false,
		stamp(now) + ",v0=" + mac(secret, body, now):                                          false,
		stamp(now) + ",v1=" + mac(secret, body+" ", now):                                      false,
		stamp(now.Add(time.Second)) + ",v1=" + mac(secret, body, now):                         false,
		stamp(now.Add(-time.Hour)) + ",v1=" + mac(secret, body, now.Add(-time.Hour)):          false,
		stamp(now.Add(time.Hour)) + ",v1=" + mac(secret, body, now.Add(time.Hour)):            false,
		"v1=" + mac(secret, body, now):                                                        false,
		"t=x,v1=" + mac(secret, body, now):                                                    false,
		"":                                                                                    false,
		",":                                                                                   false,
	} {
		n, err := p.Notice([]byte(body), header)
		if !fine {
			require.ErrorIs(t, err, psp.ErrSignature, header)
			continue
		}
		require.NoError(t, err, header)
		require.Equal(t, psp.Notice{Event: "checkout.session.completed", Reference: "N-1", Key: "evt_1"}, n)
	}
	_, err := p.Notice([]byte("[]"), stamp(now)+",v1="+mac(secret, "[]", now))
	require.ErrorIs(t, err, psp.ErrNotice)
}

// TestStripeRefusals maps what Stripe answers to our reasons.
func TestStripeRefusals(t *testing.T) {
	t.Parallel()
	for body, c := range map[string]struct {
		status int
		want   error
	}{
		`{"error":{"type":"invalid_request_error","code":"amount_too_small","message":"x"}}`: {400, psp.ErrTooLittle},
		`{"error":{"type":"idempotency_error","message":"x"}}`:                               {400, psp.ErrDuplicateReference},
		`{"error":{"type":"invalid_request_error","message":"busy"}}`:                        {http.StatusConflict, psp.ErrFault},
		`{"error":{"type":"api_error","message":"x"}}`:                                       {500, psp.ErrFault},
		`{"error":{"type":"rate_limit_error","message":"x"}}`:                                {429, psp.ErrThrottled},
		`{"error":{"type":"authentication_error","message":"x"}}`:                            {401, psp.ErrDeclined},
		`<html>`: {403, psp.ErrDeclined},
		`{"id":"cs_1","currency":"usd","client_reference_id":"A-1","status":"open","url":"javascript:x"}`:   {200, psp.ErrFault},
		`{"id":"cs_1","currency":"usd","client_reference_id":"B-1","status":"open","url":"https://pay.me"}`: {200, psp.ErrFault},
	} {
		p := openStripe(t, serve(t, &script{status: c.status, body: body}))
		_, err := p.Begin(t.Context(), dollars("A-1", ""))
		require.ErrorIs(t, err, c.want, body)
	}
}

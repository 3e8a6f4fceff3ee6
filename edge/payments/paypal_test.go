package payments_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
)

// TestPaypalCaptures has an order that its buyer has approved be asked about by many at a time: its money is taken once.
// What PayPal refuses to take is a payment that has failed.
func TestPaypalCaptures(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p := openPaypal(t, sim.URL()+"/paypal")
	begun, err := p.Begin(t.Context(), dollars("many", "success"))
	require.NoError(t, err)
	back := checkout(t, begun, "success")
	require.Contains(t, back, "token="+begun.ProviderID)
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			o, err := p.Verify(t.Context(), psp.Asked{Reference: "many", ProviderID: begun.ProviderID})
			if err != nil || o.Status != psp.Succeeded || o.Amount != 30050 || o.PaidAt.IsZero() {
				t.Errorf("%+v %v", o, err)
			}
		})
	}
	asking.Wait()
	require.EqualValues(t, 30050, sim.Stats().Totals["USD"].Paid)
	require.EqualValues(t, 1, sim.Stats().Calls["paypal_token"])

	begun, err = p.Begin(t.Context(), dollars("refused", "success"))
	require.NoError(t, err)
	begun.AuthorizationURL += "?paysim=failed"
	checkout(t, begun, "success")
	o, err := p.Verify(t.Context(), psp.Asked{Reference: "refused", ProviderID: begun.ProviderID})
	require.NoError(t, err)
	require.Equal(t, psp.Failed, o.Status)
	require.Equal(t, "INSTRUMENT_DECLINED", o.Message)
}

// TestPaypalToken has PayPal forget the access token: the call is made with another. A client whom PayPal gives none is told so.
func TestPaypalToken(t *testing.T) {
	t.Parallel()
	var given atomic.Int64
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.HasSuffix(r.URL.Path, "/token"):
			if r.Header.Get("Authorization") != "Basic Y2xpZW50OnNrX3Rlc3RfNGY5YjIxYzA3ZGU4YTY1MzEyOTA=" || string(body) != "grant_type=client_credentials" {
				w.WriteHeader(http.StatusUnauthorized)
			}
			fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600}`, given.Add(1))
		case r.Header.Get("Authorization") != "Bearer token-2":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, `{"id":"5O1","status":"CREATED","purchase_units":[{"custom_id":"A-1","amount":{"currency_code":"USD","value":"300.50"}}]}`)
		}
	}))
	p := openPaypal(t, address)
	for range 2 {
		o, err := p.Verify(t.Context(), psp.Asked{Reference: "A-1", ProviderID: "5O1"})
		require.NoError(t, err)
		require.Equal(t, psp.Pending, o.Status)
	}
	require.EqualValues(t, 2, given.Load())

	refusing := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	_, err := openPaypal(t, refusing).Verify(t.Context(), psp.Asked{Reference: "A-1", ProviderID: "5O1"})
	require.ErrorIs(t, err, psp.ErrDeclined)
}

// TestPaypalNotices takes only what PayPal vouches for, byte by byte.
func TestPaypalNotices(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p := openPaypal(t, sim.URL()+"/paypal")
	const body = `{ "id":"WH-1", "event_type":"PAYMENT.CAPTURE.COMPLETED", "summary":"<3 & more", "resource":{"custom_id":"A-1"} }`
	signed := func(body, hook string) string {
		return "SHA256withRSA https://api.paypal.com/v1/notifications/certs/CERT-1 id-1 2026-11-28T00:00:00Z " +
			paysim.PayPalSignature("client:"+secret, "id-1", "2026-11-28T00:00:00Z", hook, []byte(body))
	}
	const hook = "8PT597110X687430LKGECATA"
	n, err := p.Notice([]byte(body), signed(body, hook))
	require.NoError(t, err)
	require.Equal(t, psp.Notice{Event: "PAYMENT.CAPTURE.COMPLETED", Reference: "A-1", Key: "WH-1"}, n)
	for name, of := range map[string][2]string{
		"another body":    {strings.Replace(body, "A-1", "A-2", 1), signed(body, hook)},
		"another webhook": {body, signed(body, "8PT597110X687430LKGECATB")},
		"no signature":    {body, ""},
		"a part of it":    {body, "SHA256withRSA  id-1 2026-11-28T00:00:00Z x"},
		"no JSON":         {body[1:], signed(body[1:], hook)},
		"more JSON":       {body + `,"webhook_id":"x"`, signed(body, hook)},
		"no object":       {` "WH-1"`, signed(` "WH-1"`, hook)},
	} {
		_, err := p.Notice([]byte(of[0]), of[1])
		require.ErrorIs(t, err, psp.ErrSignature, name)
	}
	_, err = p.Notice([]byte(`{}`), signed(`{}`, hook))
	require.ErrorIs(t, err, psp.ErrNotice)

	g, err := payments.Open(payments.Config{PayPal: psp.Account{SecretKey: "no colon"}}, nil)
	require.Error(t, err)
	require.Nil(t, g)
}

// TestPaypalAsksAgain has PayPal hang up when it is asked whether it has signed a notice. Asking changes nothing, so it
// is asked again.
func TestPaypalAsksAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/token"):
			_, _ = io.WriteString(w, `{"access_token":"token","expires_in":3600}`)
		case asked.Add(1) == 1:
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, `{"verification_status":"SUCCESS"}`)
		}
	}))
	n, err := openPaypal(t, address).Notice([]byte(`{"id":"WH-1","event_type":"CHECKOUT.ORDER.APPROVED"}`), "a b c d e")
	require.NoError(t, err)
	require.Equal(t, "WH-1", n.Key)
	require.EqualValues(t, 2, asked.Load())
}

// TestPaypalTakesNothingOfTheOver has a buyer approve an order that takes no more money: none is taken.
func TestPaypalTakesNothingOfTheOver(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p := openPaypal(t, sim.URL()+"/paypal")
	begun, err := p.Begin(t.Context(), dollars("over", "success"))
	require.NoError(t, err)
	over := psp.Asked{Reference: "over", ProviderID: begun.ProviderID, Over: true}
	o, err := p.Verify(t.Context(), over)
	require.NoError(t, err)
	require.Equal(t, psp.Pending, o.Status)
	checkout(t, begun, "success")
	o, err = p.Verify(t.Context(), over)
	require.NoError(t, err)
	require.Equal(t, psp.Cancelled, o.Status)
	require.Zero(t, sim.Stats().Totals["USD"].Paid)

	over.Over = false
	o, err = p.Verify(t.Context(), over)
	require.NoError(t, err)
	require.Equal(t, psp.Succeeded, o.Status)
	over.Over = true // what was taken in time is told all the same
	o, err = p.Verify(t.Context(), over)
	require.NoError(t, err)
	require.Equal(t, psp.Succeeded, o.Status)
}

// TestPaypalTokenHangs has PayPal not answer requests for an access token. Nobody waits longer than for any other call, not
// even for a forged notice, and after some failures calls fail at once.
func TestPaypalTokenHangs(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	address := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(done) })
	const patience = 300 * time.Millisecond
	g, err := payments.Open(payments.Config{PayPal: psp.Account{
		URL: address, SecretKey: psp.Secret("client:" + secret), NoticeSecret: "8PT597110X687430LKGECATA", Timeout: patience,
	}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("paypal")
	require.NoError(t, err)
	var calls sync.WaitGroup
	began := time.Now()
	for range 12 {
		calls.Go(func() { _, _ = p.Notice([]byte(`{}`), "a b c d e") })
		calls.Go(func() {
			_, err := p.Verify(t.Context(), psp.Asked{Reference: "A-1", ProviderID: "5O1"})
			if !psp.Ambiguous(err) && !errors.Is(err, psp.ErrPaused) {
				t.Errorf("%v", err)
			}
		})
	}
	calls.Wait()
	require.Less(t, time.Since(began), 4*patience)
	_, err = p.Verify(t.Context(), psp.Asked{Reference: "A-1", ProviderID: "5O1"})
	require.ErrorIs(t, err, psp.ErrPaused)
}

// TestPaypalSecrets has PayPal say back what it was sent: no error has the client's secret or an access token.
func TestPaypalSecrets(t *testing.T) {
	t.Parallel()
	const token = "A21AAF_an_access_token"
	for _, status := range []int{http.StatusInternalServerError, http.StatusTeapot, http.StatusTooManyRequests} {
		p := openPaypal(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/token") {
				fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600}`, token)
				return
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, "%s of client:%s", r.Header.Get("Authorization"), secret)
		})))
		_, err := p.Verify(t.Context(), psp.Asked{Reference: "A-1", ProviderID: "5O1"})
		require.ErrorContains(t, err, "[secret]")
		require.NotContains(t, err.Error(), secret)
		require.NotContains(t, err.Error(), token)
	}
}

// TestPaypalForgets has an order be one that PayPal has forgotten, as it does with all that nobody approves: nothing can be paid
// there any more, and the buyer may begin again.
func TestPaypalForgets(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p := openPaypal(t, sim.URL()+"/paypal")
	o, err := p.Verify(t.Context(), psp.Asked{Reference: "A-1", ProviderID: "5O123"})
	require.NoError(t, err)
	require.Equal(t, psp.Expired, o.Status)
	_, err = p.Verify(t.Context(), psp.Asked{Reference: "A-1"})
	require.ErrorIs(t, err, psp.ErrUnknownReference)
}

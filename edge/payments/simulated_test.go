package payments_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
)

// clock is a simulator's clock that the test moves.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

// checkout does what a visitor of the page does, and returns where it leads.
func checkout(t *testing.T, begun psp.Begun, outcome string) string {
	t.Helper()
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.PostForm(begun.AuthorizationURL, url.Values{"outcome": {outcome}})
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Less(t, resp.StatusCode, 400)
	return resp.Header.Get("Location")
}

// misbehaving is a charge with modes of its own.
func misbehaving(reference, modes string) psp.Charge {
	c := charge(reference)
	c.Metadata = map[string]string{"paysim": modes}
	return c
}

func TestChargeAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p, _ := open(t, psp.Account{URL: sim.URL()})
	ctx := t.Context()

	_, err := p.Verify(ctx, psp.Asked{Reference: "A-1"})
	require.ErrorIs(t, err, psp.ErrUnknownReference)

	begun, err := p.Begin(ctx, charge("A-1"))
	require.NoError(t, err)
	require.Equal(t, sim.URL()+"/checkout/"+begun.AccessCode, begun.AuthorizationURL)
	_, err = p.Begin(ctx, charge("A-1"))
	require.ErrorIs(t, err, psp.ErrDuplicateReference)

	out, err := p.Verify(ctx, psp.Asked{Reference: "A-1"})
	require.NoError(t, err)
	require.Equal(t, psp.Pending, out.Status)
	require.Zero(t, out.PaidAt)

	back := checkout(t, begun, "success")
	require.Equal(t, "https://tickets.example/return?reference=A-1&trxref=A-1", back)
	for range 2 {
		out, err = p.Verify(ctx, psp.Asked{Reference: "A-1"})
		require.NoError(t, err)
		require.Equal(t, psp.Succeeded, out.Status)
		require.EqualValues(t, 30050, out.Amount)
		require.EqualValues(t, 30050, out.RequestedAmount)
		require.Equal(t, "NGN", out.Currency)
		require.WithinDuration(t, time.Now(), out.PaidAt, time.Minute)
	}
	checkout(t, begun, "failed")
	out, err = p.Verify(ctx, psp.Asked{Reference: "A-1"})
	require.NoError(t, err)
	require.Equal(t, psp.Succeeded, out.Status, "a paid charge was undone")
}

func TestWrongKeyAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	sim2 := paysim.New(paysim.Config{SecretKey: "sk_test_other"})
	srv := httptest.NewUnstartedServer(nil)
	sim2.Start(srv.Listener)
	t.Cleanup(func() { require.NoError(t, sim2.Stop(context.Background())) })
	for u, want := range map[string]error{sim.URL(): nil, sim2.URL(): psp.ErrDeclined} {
		p, _ := open(t, psp.Account{URL: u})
		_, err := p.Begin(t.Context(), charge("A-1"))
		require.ErrorIs(t, err, want)
		if want != nil {
			require.Contains(t, err.Error(), "Invalid key")
		}
	}
}

func TestOutcomesAgainstSimulator(t *testing.T) {
	t.Parallel()
	now := newClock()
	sim := simulate(t, paysim.Config{Now: now.now})
	p, _ := open(t, psp.Account{URL: sim.URL()})
	verify := func(t *testing.T, reference string) psp.Outcome {
		t.Helper()
		o, err := p.Verify(t.Context(), psp.Asked{Reference: reference})
		require.NoError(t, err)
		return o
	}
	begin := func(t *testing.T, reference, modes, outcome string) {
		t.Helper()
		begun, err := p.Begin(t.Context(), misbehaving(reference, modes))
		require.NoError(t, err)
		if outcome != "" {
			checkout(t, begun, outcome)
		}
	}
	for _, c := range []struct {
		modes, outcome string
		status         psp.Status
		amount         int64
	}{
		{"success", "success", psp.Succeeded, 30050},
		{"success", "failed", psp.Failed, 30050},
		{"success", "abandoned", psp.Pending, 30050},
		{"success", "ongoing", psp.Processing, 30050},
		{"success", "processing", psp.Processing, 30050},
		{"success", "pending", psp.Processing, 30050},
		{"success", "queued", psp.Processing, 30050},
		{"failed", "success", psp.Failed, 30050},
		{"abandoned", "success", psp.Pending, 30050},
		{"short=50", "success", psp.Succeeded, 30000},
		{"short", "success", psp.Succeeded, 15025},
		{"over=1", "success", psp.Succeeded, 30051},
		{"over", "success", psp.Succeeded, 45075},
		{"auto", "", psp.Succeeded, 30050},
		{"reversed=0s", "success", psp.Refunded, 30050},
	} {
		reference := strings.NewReplacer("=", ".").Replace(c.modes + "-" + c.outcome)
		t.Run(reference, func(t *testing.T) {
			begin(t, reference, c.modes, c.outcome)
			got := verify(t, reference)
			require.Equal(t, c.status, got.Status)
			require.Equal(t, c.amount, got.Amount)
			require.EqualValues(t, 30050, got.RequestedAmount)
		})
	}
	t.Run("pending three times", func(t *testing.T) {
		begin(t, "pend", "pending=3", "success")
		for range 3 {
			require.Equal(t, psp.Processing, verify(t, "pend").Status)
		}
		require.Equal(t, psp.Succeeded, verify(t, "pend").Status)
		require.Equal(t, psp.Succeeded, verify(t, "pend").Status)
	})
	t.Run("a failed card, then another", func(t *testing.T) {
		begun, err := p.Begin(t.Context(), charge("again"))
		require.NoError(t, err)
		checkout(t, begun, "failed")
		require.Equal(t, psp.Failed, verify(t, "again").Status)
		checkout(t, begun, "success")
		require.Equal(t, psp.Succeeded, verify(t, "again").Status)
	})
	t.Run("late money and a reversal later", func(t *testing.T) {
		begin(t, "late", "late=30m,reversed=24h", "success")
		require.Equal(t, psp.Pending, verify(t, "late").Status)
		now.pass(29 * time.Minute)
		require.Equal(t, psp.Pending, verify(t, "late").Status)
		now.pass(time.Minute)
		require.Equal(t, psp.Succeeded, verify(t, "late").Status)
		now.pass(24 * time.Hour)
		require.Equal(t, psp.Refunded, verify(t, "late").Status)
	})
}

func TestFaultsAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	account := psp.Account{URL: sim.URL()}
	for modes, want := range map[string]error{
		"error":        psp.ErrFault,
		"error=503":    psp.ErrFault,
		"error=429":    psp.ErrThrottled,
		"reset":        psp.ErrFault,
		"malformed":    psp.ErrFault,
		"timeout=10m":  psp.ErrTimeout,
		"slow=10m":     psp.ErrTimeout,
		"slow=1ms":     nil,
		"error@0":      nil,
		"slow=1ms..1s": nil,
	} {
		t.Run(modes, func(t *testing.T) {
			t.Parallel()
			a := account
			if errors.Is(want, psp.ErrTimeout) {
				a.Timeout = 200 * time.Millisecond
			}
			p, _ := open(t, a)
			reference := strings.NewReplacer("=", "", "@", ".").Replace(modes)
			_, err := p.Begin(t.Context(), misbehaving(reference, modes))
			require.ErrorIs(t, err, want)
			require.Equal(t, want != nil && !errors.Is(want, psp.ErrThrottled), psp.Ambiguous(err))
		})
	}
	t.Run("the answer is lost, the charge is there", func(t *testing.T) {
		t.Parallel()
		p, _ := open(t, account)
		_, err := p.Begin(t.Context(), misbehaving("lost", "lost"))
		require.True(t, psp.Ambiguous(err))
		_, err = p.Begin(t.Context(), charge("lost"))
		require.ErrorIs(t, err, psp.ErrDuplicateReference)
	})
	t.Run("a read is repeated through resets", func(t *testing.T) {
		t.Parallel()
		sim := simulate(t, paysim.Config{Seed: 5})
		p, _ := open(t, psp.Account{URL: sim.URL()})
		_, err := p.Begin(t.Context(), charge("A-1"))
		require.NoError(t, err)
		sim.SetModes(modes(t, "reset@0.4"))
		for range 10 {
			_, err := p.Verify(t.Context(), psp.Asked{Reference: "A-1"})
			require.NoError(t, err)
		}
		require.Greater(t, sim.Stats().Calls["verify"], int64(10))
	})
}

func TestBreakerAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p, logs := open(t, psp.Account{
		URL: sim.URL(), Breaker: psp.Breaker{Failures: 3, Pause: 500 * time.Millisecond},
	})
	_, err := p.Begin(t.Context(), charge("A-1"))
	require.NoError(t, err)

	sim.SetModes(modes(t, "error"))
	for range 3 {
		_, err := p.Begin(t.Context(), charge("A-2"))
		require.ErrorIs(t, err, psp.ErrFault)
	}
	before := sim.Stats().Calls["initialize"]
	_, err = p.Begin(t.Context(), charge("A-2"))
	require.ErrorIs(t, err, psp.ErrPaused)
	require.Equal(t, before, sim.Stats().Calls["initialize"])

	sim.SetModes(nil)
	require.Eventually(t, func() bool {
		_, err := p.Verify(t.Context(), psp.Asked{Reference: "A-1"})
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	_, err = p.Begin(t.Context(), charge("A-3"))
	require.NoError(t, err)
	require.Contains(t, logs.String(), "payment provider answers again")
}

func TestRefundsAgainstSimulator(t *testing.T) {
	t.Parallel()
	now := newClock()
	sim := simulate(t, paysim.Config{Now: now.now, RefundStep: time.Hour})
	p, _ := open(t, psp.Account{URL: sim.URL()})
	paid := func(t *testing.T, reference, modes string) {
		t.Helper()
		_, err := p.Begin(t.Context(), misbehaving(reference, modes+",auto"))
		require.NoError(t, err)
	}
	status := func(t *testing.T, id string) psp.RefundStatus {
		t.Helper()
		o, err := p.RefundStatus(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, id, o.ID)
		return o.Status
	}

	t.Run("in parts, to the end", func(t *testing.T) {
		paid(t, "parts", "success")
		req := psp.RefundRequest{Key: "k1", Reference: "parts", Amount: 10000, Currency: "NGN"}
		first, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, psp.RefundPending, first.Status)
		again, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, first, again, "a repeat made a second refund")

		_, err = p.Refund(t.Context(), psp.RefundRequest{Key: "k2", Reference: "parts", Amount: 20051})
		require.ErrorIs(t, err, psp.ErrDeclined)
		second, err := p.Refund(t.Context(), psp.RefundRequest{Key: "k2", Reference: "parts"})
		require.NoError(t, err)
		require.EqualValues(t, 20050, second.Amount)
		_, err = p.Refund(t.Context(), psp.RefundRequest{Key: "k3", Reference: "parts", Amount: 1})
		require.ErrorIs(t, err, psp.ErrDeclined)

		now.pass(time.Hour)
		require.Equal(t, psp.RefundProcessing, status(t, first.ID))
		now.pass(time.Hour)
		require.Equal(t, psp.RefundProcessed, status(t, first.ID))
		o, err := p.Verify(t.Context(), psp.Asked{Reference: "parts"})
		require.NoError(t, err)
		require.Equal(t, psp.Refunded, o.Status)
	})
	t.Run("the answer is lost, the repeat finds it", func(t *testing.T) {
		sim := simulate(t, paysim.Config{})
		p, _ := open(t, psp.Account{URL: sim.URL(), Timeout: 5 * time.Second})
		_, err := p.Begin(t.Context(), misbehaving("lostrefund", "auto"))
		require.NoError(t, err)
		lossy := &losesAnswers{next: http.DefaultTransport.(*http.Transport).Clone()}
		defer lossy.next.CloseIdleConnections()
		via := serve(t, lossy.to(sim.URL()))
		q, _ := open(t, psp.Account{URL: via})
		req := psp.RefundRequest{Key: "k1", Reference: "lostrefund", Amount: 10000}

		_, err = q.Refund(t.Context(), req)
		require.True(t, psp.Ambiguous(err), "%v", err)
		again, err := q.Refund(t.Context(), req)
		require.NoError(t, err)
		require.EqualValues(t, 10000, again.Amount)
		require.EqualValues(t, 1, sim.Stats().Calls["refund"])
	})
	for _, c := range []struct {
		modes string
		end   psp.RefundStatus
	}{
		{"refund=needs-attention", psp.RefundNeedsAttention},
		{"refund=failed", psp.RefundFailed},
		{"refund=pending", psp.RefundPending},
		{"refund=processing", psp.RefundProcessing},
	} {
		t.Run(c.modes, func(t *testing.T) {
			reference := strings.ReplaceAll(c.modes, "=", ".")
			paid(t, reference, c.modes)
			made, err := p.Refund(t.Context(), psp.RefundRequest{Key: "k", Reference: reference})
			require.NoError(t, err)
			now.pass(3 * time.Hour)
			require.Equal(t, c.end, status(t, made.ID))
			o, err := p.Verify(t.Context(), psp.Asked{Reference: reference})
			require.NoError(t, err)
			require.Equal(t, psp.Succeeded, o.Status)
		})
	}
	t.Run("fails twice, then arrives, once", func(t *testing.T) {
		paid(t, "again", "refundfails=2")
		req := psp.RefundRequest{Key: "k", Reference: "again", Amount: 10000, Currency: "NGN"}
		for range 2 {
			made, err := p.Refund(t.Context(), req)
			require.NoError(t, err)
			require.NotEqual(t, req.After, made.ID)
			require.Equal(t, psp.RefundPending, made.Status)
			now.pass(3 * time.Hour)
			for range 2 { // no other is sent before the caller says that it knows
				again, err := p.Refund(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, psp.RefundOutcome{ID: made.ID, Status: psp.RefundFailed, Amount: 10000, Currency: "NGN"}, again)
			}
			req.After = made.ID
		}
		last, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		now.pass(3 * time.Hour)
		for _, after := range []string{"", req.After, last.ID} {
			req.After = after
			again, err := p.Refund(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, psp.RefundOutcome{ID: last.ID, Status: psp.RefundProcessed, Amount: 10000, Currency: "NGN"}, again)
		}
		req.Amount++
		_, err = p.Refund(t.Context(), req)
		require.ErrorIs(t, err, psp.ErrDeclined, "what stands under the key is of another amount")
	})
	t.Run("the balance is too small, twice", func(t *testing.T) {
		paid(t, "broke", "refundrefused=2,refundslow=10h")
		req := psp.RefundRequest{Key: "k", Reference: "broke", Amount: 30050}
		for range 2 {
			_, err := p.Refund(t.Context(), req)
			require.ErrorIs(t, err, psp.ErrDeclined)
		}
		made, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		now.pass(9 * time.Hour)
		require.Equal(t, psp.RefundPending, status(t, made.ID))
		now.pass(2 * time.Hour)
		require.Equal(t, psp.RefundProcessing, status(t, made.ID))
	})
	t.Run("a charge that the provider has returned already", func(t *testing.T) {
		paid(t, "charged-back", "reversed")
		made, err := p.Refund(t.Context(), psp.RefundRequest{Key: "k", Reference: "charged-back", Amount: 30050, Currency: "NGN"})
		require.NoError(t, err)
		require.Equal(t, psp.RefundOutcome{Status: psp.RefundProcessed, Amount: 30050, Currency: "NGN"}, made)
	})
	t.Run("what was not paid, or is not known", func(t *testing.T) {
		_, err := p.Begin(t.Context(), charge("unpaid"))
		require.NoError(t, err)
		_, err = p.Refund(t.Context(), psp.RefundRequest{Key: "k", Reference: "unpaid"})
		require.ErrorIs(t, err, psp.ErrDeclined)
		_, err = p.Refund(t.Context(), psp.RefundRequest{Key: "k", Reference: "nobody"})
		require.ErrorIs(t, err, psp.ErrUnknownReference)
		_, err = p.RefundStatus(t.Context(), "12345")
		require.ErrorIs(t, err, psp.ErrUnknownReference)
	})
}

// losesAnswers passes requests on and breaks the connection instead of
// answering the first POST.
type losesAnswers struct {
	next *http.Transport
	lost atomic.Bool
}

func (l *losesAnswers) to(base string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.RequestURI(), r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		out.Header = r.Header.Clone()
		resp, err := l.next.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer resp.Body.Close()
		if r.Method == http.MethodPost && l.lost.CompareAndSwap(false, true) {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}
}

func TestWebhooksAgainstSimulator(t *testing.T) {
	t.Parallel()
	type hook struct {
		notice psp.Notice
		err    error
	}
	hooks := make(chan hook, 100)
	var p psp.Provider
	ready := make(chan struct{})
	target := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-ready
		body, _ := io.ReadAll(r.Body)
		n, err := p.Notice(body, r.Header.Get("X-Paystack-Signature"))
		hooks <- hook{n, err}
	}))
	sim := simulate(t, paysim.Config{WebhookURL: target, RefundStep: time.Millisecond})
	p, _ = open(t, psp.Account{URL: sim.URL()})
	close(ready)
	pay := func(reference, modes string) {
		begun, err := p.Begin(t.Context(), misbehaving(reference, modes))
		require.NoError(t, err)
		checkout(t, begun, "success")
	}

	pay("twice", "duplicate")
	one, two := <-hooks, <-hooks
	require.NoError(t, one.err)
	require.Equal(t, "charge.success", one.notice.Event)
	require.Equal(t, "twice", one.notice.Reference)
	require.Equal(t, one, two)

	pay("forged", "badsig")
	require.ErrorIs(t, (<-hooks).err, psp.ErrSignature)

	pay("silent", "drop,refund=needs-attention")
	_, err := p.Refund(t.Context(), psp.RefundRequest{Key: "k", Reference: "twice"})
	require.NoError(t, err)
	seen := map[string]bool{}
	for range 6 { // three statuses, each twice
		h := <-hooks
		require.NoError(t, h.err)
		require.Equal(t, "twice", h.notice.Reference, "a dropped webhook was sent")
		seen[h.notice.Event] = true
	}
	require.Equal(t, map[string]bool{"refund.pending": true, "refund.processing": true, "refund.processed": true}, seen)
}

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

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
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
func checkout(t *testing.T, begun payments.Begun, outcome string) string {
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
func misbehaving(reference, modes string) payments.Charge {
	c := charge(reference)
	c.Metadata = map[string]string{"paysim": modes}
	return c
}

func TestChargeAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p, _ := open(t, payments.Account{URL: sim.URL()})
	ctx := t.Context()

	_, err := p.Verify(ctx, payments.Asked{Reference: "A-1"})
	require.ErrorIs(t, err, payments.ErrUnknownReference)

	begun, err := p.Begin(ctx, charge("A-1"))
	require.NoError(t, err)
	require.Equal(t, sim.URL()+"/checkout/"+begun.AccessCode, begun.AuthorizationURL)
	_, err = p.Begin(ctx, charge("A-1"))
	require.ErrorIs(t, err, payments.ErrDuplicateReference)

	out, err := p.Verify(ctx, payments.Asked{Reference: "A-1"})
	require.NoError(t, err)
	require.Equal(t, payments.Pending, out.Status)
	require.Zero(t, out.PaidAt)

	back := checkout(t, begun, "success")
	require.Equal(t, "https://tickets.example/return?reference=A-1&trxref=A-1", back)
	for range 2 {
		out, err = p.Verify(ctx, payments.Asked{Reference: "A-1"})
		require.NoError(t, err)
		require.Equal(t, payments.Succeeded, out.Status)
		require.EqualValues(t, 30050, out.Amount)
		require.EqualValues(t, 30050, out.RequestedAmount)
		require.Equal(t, "NGN", out.Currency)
		require.WithinDuration(t, time.Now(), out.PaidAt, time.Minute)
	}
	checkout(t, begun, "failed")
	out, err = p.Verify(ctx, payments.Asked{Reference: "A-1"})
	require.NoError(t, err)
	require.Equal(t, payments.Succeeded, out.Status, "a paid charge was undone")
}

func TestWrongKeyAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	sim2 := paysim.New(paysim.Config{SecretKey: "sk_test_other"})
	srv := httptest.NewUnstartedServer(nil)
	sim2.Start(srv.Listener)
	t.Cleanup(func() { require.NoError(t, sim2.Stop(context.Background())) })
	for u, want := range map[string]error{sim.URL(): nil, sim2.URL(): payments.ErrDeclined} {
		p, _ := open(t, payments.Account{URL: u})
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
	p, _ := open(t, payments.Account{URL: sim.URL()})
	verify := func(t *testing.T, reference string) payments.Outcome {
		t.Helper()
		o, err := p.Verify(t.Context(), payments.Asked{Reference: reference})
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
		status         payments.Status
		amount         int64
	}{
		{"success", "success", payments.Succeeded, 30050},
		{"success", "failed", payments.Failed, 30050},
		{"success", "abandoned", payments.Pending, 30050},
		{"success", "ongoing", payments.Processing, 30050},
		{"success", "processing", payments.Processing, 30050},
		{"success", "pending", payments.Processing, 30050},
		{"success", "queued", payments.Processing, 30050},
		{"failed", "success", payments.Failed, 30050},
		{"abandoned", "success", payments.Pending, 30050},
		{"short=50", "success", payments.Succeeded, 30000},
		{"short", "success", payments.Succeeded, 15025},
		{"over=1", "success", payments.Succeeded, 30051},
		{"over", "success", payments.Succeeded, 45075},
		{"auto", "", payments.Succeeded, 30050},
		{"reversed=0s", "success", payments.Refunded, 30050},
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
			require.Equal(t, payments.Processing, verify(t, "pend").Status)
		}
		require.Equal(t, payments.Succeeded, verify(t, "pend").Status)
		require.Equal(t, payments.Succeeded, verify(t, "pend").Status)
	})
	t.Run("a failed card, then another", func(t *testing.T) {
		begun, err := p.Begin(t.Context(), charge("again"))
		require.NoError(t, err)
		checkout(t, begun, "failed")
		require.Equal(t, payments.Failed, verify(t, "again").Status)
		checkout(t, begun, "success")
		require.Equal(t, payments.Succeeded, verify(t, "again").Status)
	})
	t.Run("late money and a reversal later", func(t *testing.T) {
		begin(t, "late", "late=30m,reversed=24h", "success")
		require.Equal(t, payments.Pending, verify(t, "late").Status)
		now.pass(29 * time.Minute)
		require.Equal(t, payments.Pending, verify(t, "late").Status)
		now.pass(time.Minute)
		require.Equal(t, payments.Succeeded, verify(t, "late").Status)
		now.pass(24 * time.Hour)
		require.Equal(t, payments.Refunded, verify(t, "late").Status)
	})
}

func TestFaultsAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	account := payments.Account{URL: sim.URL()}
	for modes, want := range map[string]error{
		"error":        payments.ErrFault,
		"error=503":    payments.ErrFault,
		"error=429":    payments.ErrThrottled,
		"reset":        payments.ErrFault,
		"malformed":    payments.ErrFault,
		"timeout=10m":  payments.ErrTimeout,
		"slow=10m":     payments.ErrTimeout,
		"slow=1ms":     nil,
		"error@0":      nil,
		"slow=1ms..1s": nil,
	} {
		t.Run(modes, func(t *testing.T) {
			t.Parallel()
			a := account
			if errors.Is(want, payments.ErrTimeout) {
				a.Timeout = 200 * time.Millisecond
			}
			p, _ := open(t, a)
			reference := strings.NewReplacer("=", "", "@", ".").Replace(modes)
			_, err := p.Begin(t.Context(), misbehaving(reference, modes))
			require.ErrorIs(t, err, want)
			require.Equal(t, want != nil && !errors.Is(want, payments.ErrThrottled), payments.Ambiguous(err))
		})
	}
	t.Run("the answer is lost, the charge is there", func(t *testing.T) {
		t.Parallel()
		p, _ := open(t, account)
		_, err := p.Begin(t.Context(), misbehaving("lost", "lost"))
		require.True(t, payments.Ambiguous(err))
		_, err = p.Begin(t.Context(), charge("lost"))
		require.ErrorIs(t, err, payments.ErrDuplicateReference)
	})
	t.Run("a read is repeated through resets", func(t *testing.T) {
		t.Parallel()
		sim := simulate(t, paysim.Config{Seed: 5})
		p, _ := open(t, payments.Account{URL: sim.URL()})
		_, err := p.Begin(t.Context(), charge("A-1"))
		require.NoError(t, err)
		sim.SetModes(modes(t, "reset@0.4"))
		for range 10 {
			_, err := p.Verify(t.Context(), payments.Asked{Reference: "A-1"})
			require.NoError(t, err)
		}
		require.Greater(t, sim.Stats().Calls["verify"], int64(10))
	})
}

func TestBreakerAgainstSimulator(t *testing.T) {
	t.Parallel()
	sim := simulate(t, paysim.Config{})
	p, logs := open(t, payments.Account{
		URL: sim.URL(), Breaker: payments.Breaker{Failures: 3, Pause: 500 * time.Millisecond},
	})
	_, err := p.Begin(t.Context(), charge("A-1"))
	require.NoError(t, err)

	sim.SetModes(modes(t, "error"))
	for range 3 {
		_, err := p.Begin(t.Context(), charge("A-2"))
		require.ErrorIs(t, err, payments.ErrFault)
	}
	before := sim.Stats().Calls["initialize"]
	_, err = p.Begin(t.Context(), charge("A-2"))
	require.ErrorIs(t, err, payments.ErrPaused)
	require.Equal(t, before, sim.Stats().Calls["initialize"])

	sim.SetModes(nil)
	require.Eventually(t, func() bool {
		_, err := p.Verify(t.Context(), payments.Asked{Reference: "A-1"})
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
	p, _ := open(t, payments.Account{URL: sim.URL()})
	paid := func(t *testing.T, reference, modes string) {
		t.Helper()
		_, err := p.Begin(t.Context(), misbehaving(reference, modes+",auto"))
		require.NoError(t, err)
	}
	status := func(t *testing.T, id string) payments.RefundStatus {
		t.Helper()
		o, err := p.RefundStatus(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, id, o.ID)
		return o.Status
	}

	t.Run("in parts, to the end", func(t *testing.T) {
		paid(t, "parts", "success")
		req := payments.RefundRequest{Key: "k1", Reference: "parts", Amount: 10000, Currency: "NGN"}
		first, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, payments.RefundPending, first.Status)
		again, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, first, again, "a repeat made a second refund")

		_, err = p.Refund(t.Context(), payments.RefundRequest{Key: "k2", Reference: "parts", Amount: 20051})
		require.ErrorIs(t, err, payments.ErrDeclined)
		second, err := p.Refund(t.Context(), payments.RefundRequest{Key: "k2", Reference: "parts"})
		require.NoError(t, err)
		require.EqualValues(t, 20050, second.Amount)
		_, err = p.Refund(t.Context(), payments.RefundRequest{Key: "k3", Reference: "parts", Amount: 1})
		require.ErrorIs(t, err, payments.ErrDeclined)

		now.pass(time.Hour)
		require.Equal(t, payments.RefundProcessing, status(t, first.ID))
		now.pass(time.Hour)
		require.Equal(t, payments.RefundProcessed, status(t, first.ID))
		o, err := p.Verify(t.Context(), payments.Asked{Reference: "parts"})
		require.NoError(t, err)
		require.Equal(t, payments.Refunded, o.Status)
	})
	t.Run("the answer is lost, the repeat finds it", func(t *testing.T) {
		sim := simulate(t, paysim.Config{})
		p, _ := open(t, payments.Account{URL: sim.URL(), Timeout: 5 * time.Second})
		_, err := p.Begin(t.Context(), misbehaving("lostrefund", "auto"))
		require.NoError(t, err)
		lossy := &losesAnswers{next: http.DefaultTransport.(*http.Transport).Clone()}
		defer lossy.next.CloseIdleConnections()
		via := serve(t, lossy.to(sim.URL()))
		q, _ := open(t, payments.Account{URL: via})
		req := payments.RefundRequest{Key: "k1", Reference: "lostrefund", Amount: 10000}

		_, err = q.Refund(t.Context(), req)
		require.True(t, payments.Ambiguous(err), "%v", err)
		again, err := q.Refund(t.Context(), req)
		require.NoError(t, err)
		require.EqualValues(t, 10000, again.Amount)
		require.EqualValues(t, 1, sim.Stats().Calls["refund"])
	})
	for _, c := range []struct {
		modes string
		end   payments.RefundStatus
	}{
		{"refund=needs-attention", payments.RefundNeedsAttention},
		{"refund=failed", payments.RefundFailed},
		{"refund=pending", payments.RefundPending},
		{"refund=processing", payments.RefundProcessing},
	} {
		t.Run(c.modes, func(t *testing.T) {
			reference := strings.ReplaceAll(c.modes, "=", ".")
			paid(t, reference, c.modes)
			made, err := p.Refund(t.Context(), payments.RefundRequest{Key: "k", Reference: reference})
			require.NoError(t, err)
			now.pass(3 * time.Hour)
			require.Equal(t, c.end, status(t, made.ID))
			o, err := p.Verify(t.Context(), payments.Asked{Reference: reference})
			require.NoError(t, err)
			require.Equal(t, payments.Succeeded, o.Status)
		})
	}
	t.Run("fails twice, then arrives, once", func(t *testing.T) {
		paid(t, "again", "refundfails=2")
		req := payments.RefundRequest{Key: "k", Reference: "again", Amount: 10000, Currency: "NGN"}
		for range 2 {
			made, err := p.Refund(t.Context(), req)
			require.NoError(t, err)
			require.NotEqual(t, req.After, made.ID)
			require.Equal(t, payments.RefundPending, made.Status)
			now.pass(3 * time.Hour)
			for range 2 { // no other is sent before the caller says that it knows
				again, err := p.Refund(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, payments.RefundOutcome{ID: made.ID, Status: payments.RefundFailed, Amount: 10000, Currency: "NGN"}, again)
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
			require.Equal(t, payments.RefundOutcome{ID: last.ID, Status: payments.RefundProcessed, Amount: 10000, Currency: "NGN"}, again)
		}
		req.Amount++
		_, err = p.Refund(t.Context(), req)
		require.ErrorIs(t, err, payments.ErrDeclined, "what stands under the key is of another amount")
	})
	t.Run("the balance is too small, twice", func(t *testing.T) {
		paid(t, "broke", "refundrefused=2,refundslow=10h")
		req := payments.RefundRequest{Key: "k", Reference: "broke", Amount: 30050}
		for range 2 {
			_, err := p.Refund(t.Context(), req)
			require.ErrorIs(t, err, payments.ErrDeclined)
		}
		made, err := p.Refund(t.Context(), req)
		require.NoError(t, err)
		now.pass(9 * time.Hour)
		require.Equal(t, payments.RefundPending, status(t, made.ID))
		now.pass(2 * time.Hour)
		require.Equal(t, payments.RefundProcessing, status(t, made.ID))
	})
	t.Run("a charge that the provider has returned already", func(t *testing.T) {
		paid(t, "charged-back", "reversed")
		made, err := p.Refund(t.Context(), payments.RefundRequest{Key: "k", Reference: "charged-back", Amount: 30050, Currency: "NGN"})
		require.NoError(t, err)
		require.Equal(t, payments.RefundOutcome{Status: payments.RefundProcessed, Amount: 30050, Currency: "NGN"}, made)
	})
	t.Run("what was not paid, or is not known", func(t *testing.T) {
		_, err := p.Begin(t.Context(), charge("unpaid"))
		require.NoError(t, err)
		_, err = p.Refund(t.Context(), payments.RefundRequest{Key: "k", Reference: "unpaid"})
		require.ErrorIs(t, err, payments.ErrDeclined)
		_, err = p.Refund(t.Context(), payments.RefundRequest{Key: "k", Reference: "nobody"})
		require.ErrorIs(t, err, payments.ErrUnknownReference)
		_, err = p.RefundStatus(t.Context(), "12345")
		require.ErrorIs(t, err, payments.ErrUnknownReference)
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
		notice payments.Notice
		err    error
	}
	hooks := make(chan hook, 100)
	var p payments.Provider
	ready := make(chan struct{})
	target := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-ready
		body, _ := io.ReadAll(r.Body)
		n, err := p.Notice(body, r.Header.Get("X-Paystack-Signature"))
		hooks <- hook{n, err}
	}))
	sim := simulate(t, paysim.Config{WebhookURL: target, RefundStep: time.Millisecond})
	p, _ = open(t, payments.Account{URL: sim.URL()})
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
	require.ErrorIs(t, (<-hooks).err, payments.ErrSignature)

	pay("silent", "drop,refund=needs-attention")
	_, err := p.Refund(t.Context(), payments.RefundRequest{Key: "k", Reference: "twice"})
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

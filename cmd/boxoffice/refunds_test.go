package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/engine"
)

// lateMoney makes an order whose money came after it was cancelled, so that it
// has to go back. The modes are those of its transaction at the simulator.
func (s *shop) lateMoney(ticketType, modes string) back {
	s.t.Helper()
	id, token := s.place("late@example.org", ticketType, 1)
	paying := s.pay(id, token).is(200, "")
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
	s.settle(paying.str("authorizationUrl")+"?paysim="+modes, "success")
	require.Equal(s.t, "processing", s.verify(id, token).is(200, "").str("refunds.0.status"))
	return back{id, token, paying.str("reference"), 2625, "refunded"}
}

// looks has the sweep look at the order's first refund until something about it
// is as wanted. Else it would look again in a minute or more.
func (s *shop) looks(b back, want string, what func() string) {
	s.t.Helper()
	order, err := engine.ParseID(b.id)
	require.NoError(s.t, err)
	require.Eventually(s.t, func() bool {
		s.endRefundPause(order)
		return what() == want
	}, time.Minute, 50*time.Millisecond, "want %s", want)
}

// endRefundPause makes an order's first refund due for another look. It leaves one
// alone that is due, because the sweep claims a refund only as it has read it. A look
// that is being taken loses its claim, which the only sweep of the test does not mind.
func (s *shop) endRefundPause(order engine.OrderID) {
	s.t.Helper()
	const end = `UPDATE refunds SET not_before = now() WHERE order_id = $1 AND position = 0 AND not_before > now()`
	_, err := s.pool.Exec(s.t.Context(), end, [16]byte(order))
	require.NoError(s.t, err)
}

func (s *shop) refundStatus(b back) func() string {
	return func() string { return s.order(b.id, b.token).str("refunds.0.status") }
}

// TestRefundFailsThenWorks has the provider fail refunds: each is sent again,
// under a key of its own, until one arrives, and the money goes back once.
func TestRefundFailsThenWorks(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.provider(payments.Account{Breaker: payments.Breaker{Failures: 1000}})
	_, ids := s.onSale(with(typeBody(25, 1000), object{"maxPerCustomer": 1000}))
	for modes, calls := range map[string]int64{
		"":                                1,
		"refundfails=2":                   3,
		"refundrefused=2":                 3,
		"refundrefused=1,refundfails=1":   3,
		"refundslow=500ms,refundfails":    2,
		"refund=processed,refundslow=1ms": 1,
	} {
		before := s.sim.Stats().Calls["refund"]
		b := s.lateMoney(ids[0], modes)
		s.looks(b, "processed", s.refundStatus(b))
		require.Equal(t, b.amount, s.sentBack(b.reference), modes)
		require.Equal(t, "refunded", s.order(b.id, b.token).str("status"), modes)
		require.Equal(t, calls, s.sim.Stats().Calls["refund"]-before, modes)
	}
}

// TestRefundIsAlarmedAndPaced has every attempt to send money back fail. What
// the provider does is noted, logged and counted, and the pauses grow.
func TestRefundIsAlarmedAndPaced(t *testing.T) {
	t.Parallel()
	var logs lockedBuffer
	s := openLogged(t, slog.New(slog.NewTextHandler(&logs, nil)))
	_, ids := s.onSale(typeBody(25, 100))
	require.Contains(t, s.metric(), "boxoffice_refunds_open 0\n")
	b := s.lateMoney(ids[0], "refund=failed,refundslow=1ms")
	order, err := engine.ParseID(b.id)
	require.NoError(t, err)

	for failures := range 5 {
		s.becomes(fmt.Sprint(failures+1), func() string { // the sweep looks at once, until that attempt has failed
			const due = `UPDATE refunds SET not_before = NULL WHERE order_id = $1 AND failures = $2`
			_, err := s.pool.Exec(t.Context(), due, [16]byte(order), failures)
			require.NoError(t, err)
			return fmt.Sprint(s.refundPace(order).failures)
		})
		at := s.refundPace(order)
		require.InDelta(t, (time.Minute << failures).Seconds(), time.Until(at.notBefore).Seconds(), 30, "the pause doubles")
		require.Equal(t, "failed", s.order(b.id, b.token).str("refunds.0.status"))
	}
	require.Equal(t, int64(0), s.sentBack(b.reference))
	require.Contains(t, s.metric(), "boxoffice_refunds_stuck 1\n")
	require.Contains(t, s.metric(), "boxoffice_refunds_open 1\n")
	require.NotContains(t, s.metric(), "boxoffice_refunds_failed_total 0\n")
	require.Contains(t, logs.String(), `msg="refund does not move" reference=`+b.reference)
	require.Contains(t, logs.String(), "key="+b.reference+"-refund-0")
}

// lockedBuffer collects the lines of a log.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

type pace struct {
	failures  int
	notBefore time.Time
}

func (s *shop) refundPace(order engine.OrderID) (p pace) {
	s.t.Helper()
	const read = `SELECT coalesce(max(failures), 0), coalesce(max(not_before), 'epoch') FROM refunds WHERE order_id = $1 AND position = 0`
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), read, [16]byte(order)).Scan(&p.failures, &p.notBefore))
	return p
}

// TestRefundRecord reads a refund where it is told: in the order and in the
// fact, under one id.
func TestRefundRecord(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100))
	b := s.lateMoney(ids[0], "")
	s.looks(b, "processed", s.refundStatus(b))
	order := s.order(b.id, b.token)
	require.Equal(t, b.id+"-r1", order.str("refunds.0.id"))
	require.Equal(t, b.id, order.str("refunds.0.orderId"))
	require.Equal(t, "26.25 USD", order.str("refunds.0.amount")+" "+order.str("refunds.0.currency"))
	require.NotEmpty(t, order.str("refunds.0.providerRef"))
	for _, null := range words("ticketId message decisionNote decidedAt") {
		require.Nil(t, order.data("refunds.0."+null), null)
	}
	s.becomes("1", func() string {
		list, _ := s.own("GET", "/organizer/facts?types=refund.processed", nil).is(200, "").data("items").([]any)
		return fmt.Sprint(len(list))
	})
	fact := s.own("GET", "/organizer/facts?types=refund.processed", nil).is(200, "")
	require.Equal(t, order.data("refunds.0"), fact.data("items.0.data.refund"))
}

// TestFirstAttemptHidesNoOther has a provider that answers for some attempts of
// an order only: who paid the others gets their tickets.
func TestFirstAttemptHidesNoOther(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.provider(payments.Account{Timeout: 2 * time.Second, Breaker: payments.Breaker{Failures: 1000}})
	_, ids := s.onSale(with(typeBody(25, 100), object{"maxPerCustomer": 100}))
	for _, modes := range []string{"error=500", "error=400", "malformed", "reset", "timeout=1m"} {
		id, token := s.place("ada@example.org", ids[0], 1)
		first := s.pay(id, token).is(200, "")
		s.settle(first.str("authorizationUrl"), "failed")
		require.Equal(t, "failed", s.verify(id, token).is(200, "").str("payments.0.status"))
		second := s.checkout(id, token)
		s.settle(first.str("authorizationUrl")+"?paysim="+modes, "pending")
		s.settle(second, "success")
		for range 2 { // nor does it take away what is bought
			require.Equal(t, "completed", s.verify(id, token).is(200, "").str("status"), modes)
		}
	}
}

// TestPaidTwiceAfterCompletion pays an order that another attempt has completed:
// the money goes back, whether a verify sees it or the sweep.
func TestPaidTwiceAfterCompletion(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100))
	for _, by := range []string{"verify", "sweep"} {
		id, token := s.place(by+"@example.org", ids[0], 1)
		first := s.pay(id, token).is(200, "")
		s.settle(first.str("authorizationUrl"), "failed")
		require.Equal(t, "pending", s.verify(id, token).is(200, "").str("status"))
		s.settle(s.checkout(id, token), "success")
		require.Equal(t, "completed", s.verify(id, token).is(200, "").str("status"))
		s.settle(first.str("authorizationUrl"), "success")
		if by == "verify" {
			for range 3 {
				require.Len(t, s.verify(id, token).is(200, "").data("refunds"), 1)
			}
		} else {
			s.becomes("1", func() string { // the row may come late, and a look that is under way may put the next one off
				const makeDue = `UPDATE payments SET created_at = now() - interval '1 hour', next_check = now() WHERE reference = $1 AND (next_check IS NULL OR next_check > now())`
				_, err := s.pool.Exec(t.Context(), makeDue, first.str("reference"))
				require.NoError(t, err)
				list, _ := s.order(id, token).data("refunds").([]any)
				return fmt.Sprint(len(list))
			})
		}
		o := s.order(id, token)
		require.Equal(t, "completed", o.str("status"))
		require.Equal(t, "26.25 twice "+first.str("reference"), o.str("refunds.0.amount")+" "+o.str("refunds.0.reason")+" "+o.str("refunds.0.reference"))
		s.refunded(back{id, token, first.str("reference"), 2625, "completed"})
	}
}

// TestProviderLeftOut pays without naming a provider.
func TestProviderLeftOut(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(25, 100))
	id, token := s.place("ada@example.org", ids[0], 1)
	a := s.call("POST", "/orders/"+id+"/pay", object{"token": token}).is(200, "")
	require.Equal(t, "paystack", a.str("provider"))
	require.Equal(t, a.str("reference"), s.pay(id, token).is(200, "").str("reference"), "it is the same attempt")
	require.Equal(t, a.str("reference"), s.call("POST", "/orders/"+id+"/pay", object{"token": token, "provider": nil}).is(200, "").str("reference"))
	none, err := payments.Open(payments.Config{}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(none.Close)
	s.areas.Sales.Gateways.Close()
	s.areas.Sales.Gateways = none
	s.call("POST", "/orders/"+id+"/pay", object{"token": token}).is(503, "PROVIDER_NOT_CONFIGURED")
	s.pay(id, token).is(503, "PROVIDER_NOT_CONFIGURED")
}

// TestReturnURL pays and follows the checkout back.
func TestReturnURL(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(with(typeBody(25, 1000), object{"maxPerCustomer": 1000}))
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for asked, leads := range map[string]string{
		"":                                "http://" + s.cfg.Listen + "/orders/ID?reference=REF&trxref=REF",
		"https://shop.example/thanks?a=b": "https://shop.example/thanks?a=b&reference=REF&trxref=REF",
		"http://localhost:3000/back":      "http://localhost:3000/back?reference=REF&trxref=REF",
		"http://127.0.0.1/":               "http://127.0.0.1/?reference=REF&trxref=REF",
	} {
		id, token := s.place("ada@example.org", ids[0], 1)
		body := object{"token": token, "provider": "paystack"}
		if asked != "" {
			body["returnUrl"] = asked
		}
		paying := s.call("POST", "/orders/"+id+"/pay", body).is(200, "")
		req, err := http.NewRequestWithContext(t.Context(), "POST", paying.str("authorizationUrl"), strings.NewReader("outcome=success"))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := browser.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 303, res.StatusCode)
		leads = strings.NewReplacer("REF", paying.str("reference"), "ID", id).Replace(leads)
		require.Equal(t, leads, res.Header.Get("Location"), asked)
		require.NotContains(t, leads, token)
	}
	id, token := s.place("ada@example.org", ids[0], 1)
	for _, asked := range []string{
		"http://shop.example/", "javascript:alert(1)", "//shop.example/", "/thanks", "https://", "https://me:pw@shop.example/",
		"ftp://localhost/", "http://localhost.example/", "https://a b/", "https://shop.example/\n", "thanks",
	} {
		s.call("POST", "/orders/"+id+"/pay", object{"token": token, "returnUrl": asked}).invalid("returnUrl", "format")
	}
	s.call("POST", "/orders/"+id+"/pay", object{"token": token, "returnUrl": "https://shop.example/" + text(1980)}).invalid("returnUrl", "max_length")
	require.Empty(t, s.order(id, token).data("payments"), "nothing was begun")
	s.areas.Sales.Env = "live"
	s.call("POST", "/orders/"+id+"/pay", object{"token": token, "returnUrl": "http://localhost:3000/"}).invalid("returnUrl", "format")
}

// TestRefundTerms reads of tickets whether their money may be asked back, before
// their event is cancelled and after.
func TestRefundTerms(t *testing.T) {
	t.Parallel()
	s := open(t)
	deadline := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	eventID, ids := s.onSale(typeBody(0, 100), with(typeBody(0, 100), object{"refundable": true, "refundDeadline": deadline}))
	o := s.call("POST", "/orders", object{"guestEmail": "ada@example.org", "items": lines(ids[0], 1, ids[1], 1)}).is(201, "")
	id, token := o.str("id"), o.str("accessToken")
	require.NotContains(t, o.keys("tickets.0"), "refundable", "a repeat is the same, whatever becomes of the event")
	terms := func() string {
		a := s.order(id, token)
		return fmt.Sprint(a.data("tickets.0.refundable"), a.data("tickets.0.refundEligible"), " ", a.data("tickets.1.refundable"), a.data("tickets.1.refundEligible"))
	}
	require.Equal(t, fmt.Sprint(false, false, " ", true, true), terms())
	require.NotContains(t, s.order(id, token).keys("tickets.0"), "refundDeadline")
	at, err := time.Parse(time.RFC3339, s.order(id, token).str("tickets.1.refundDeadline"))
	require.NoError(t, err)
	require.Equal(t, deadline, at.UTC().Format(time.RFC3339))

	s.own("DELETE", "/organizer/events/"+eventID, nil).is(200, "")
	s.becomes(fmt.Sprint(true, true, " ", true, true), terms)
	require.Equal(t, "issued", s.order(id, token).str("tickets.0.status"))
	require.NotContains(t, s.order(id, token).keys("tickets.1"), "refundDeadline", "none binds any more")
}

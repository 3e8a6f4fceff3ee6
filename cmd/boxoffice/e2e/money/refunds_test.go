package money

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/psp"
	"boxoffice/engine"
)

// lateMoney makes an order whose money came after it was cancelled, so that it
// has to go back. The modes are those of its transaction at the simulator.
func lateMoney(s *nodetest.Shop, ticketType, modes string) nodetest.Refund {
	s.T.Helper()
	id, token := s.Place("late@example.org", ticketType, 1)
	paying := s.Pay(id, token).Is(200, "")
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	s.Settle(paying.Str("authorizationUrl")+"?paysim="+modes, "success")
	require.Equal(s.T, "processing", s.Verify(id, token).Is(200, "").Str("refunds.0.status"))
	return nodetest.Refund{ID: id, Token: token, Reference: paying.Str("reference"), Amount: 2625, Status: "refunded"}
}

// looks has the sweep look at the order's first refund until something about it
// is as wanted. Else it would look again in a minute or more.
func looks(s *nodetest.Shop, b nodetest.Refund, want string, what func() string) {
	s.T.Helper()
	order, err := engine.ParseID(b.ID)
	require.NoError(s.T, err)
	require.Eventually(s.T, func() bool {
		s.EndRefundPause(order)
		return what() == want
	}, time.Minute, 50*time.Millisecond, "want %s", want)
}

func refundStatus(s *nodetest.Shop, b nodetest.Refund) func() string {
	return func() string { return s.Order(b.ID, b.Token).Str("refunds.0.status") }
}

// TestRefundFailsThenWorks has the provider fail refunds: each is sent again,
// under a key of its own, until one arrives, and the money goes back once.
func TestRefundFailsThenWorks(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	provider(s, psp.Account{Breaker: psp.Breaker{Failures: 1000}})
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 1000), nodetest.Object{"maxPerCustomer": 1000}))
	for modes, calls := range map[string]int64{
		"":                                1,
		"refundfails=2":                   3,
		"refundrefused=2":                 3,
		"refundrefused=1,refundfails=1":   3,
		"refundslow=500ms,refundfails":    2,
		"refund=processed,refundslow=1ms": 1,
	} {
		before := s.Sim().Stats().Calls["refund"]
		b := lateMoney(s, ids[0], modes)
		looks(s, b, "processed", refundStatus(s, b))
		require.Equal(t, b.Amount, s.SentBack(b.Reference), modes)
		require.Equal(t, "refunded", s.Order(b.ID, b.Token).Str("status"), modes)
		require.Equal(t, calls, s.Sim().Stats().Calls["refund"]-before, modes)
	}
}

// TestRefundIsAlarmedAndPaced has every attempt to send money back fail. What
// the provider does is noted, logged and counted, and the pauses grow.
func TestRefundIsAlarmedAndPaced(t *testing.T) {
	t.Parallel()
	var logs nodetest.LogBuffer
	s := nodetest.OpenLogged(t, slog.New(slog.NewTextHandler(&logs, nil)))
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	require.Contains(t, s.Metric(), "boxoffice_refunds_open 0\n")
	b := lateMoney(s, ids[0], "refund=failed,refundslow=1ms")
	order, err := engine.ParseID(b.ID)
	require.NoError(t, err)

	for failures := range 5 {
		s.Becomes(fmt.Sprint(failures+1), func() string { // the sweep looks at once, until that attempt has failed
			const due = `UPDATE refunds SET not_before = NULL WHERE order_id = $1 AND failures = $2`
			_, err := s.Pool().Exec(t.Context(), due, [16]byte(order), failures)
			require.NoError(t, err)
			return fmt.Sprint(refundPace(s, order).failures)
		})
		at := refundPace(s, order)
		require.InDelta(t, (time.Minute << failures).Seconds(), time.Until(at.notBefore).Seconds(), 30, "the pause doubles")
		require.Equal(t, "failed", s.Order(b.ID, b.Token).Str("refunds.0.status"))
	}
	require.Equal(t, int64(0), s.SentBack(b.Reference))
	require.Contains(t, s.Metric(), "boxoffice_refunds_stuck 1\n")
	require.Contains(t, s.Metric(), "boxoffice_refunds_open 1\n")
	require.NotContains(t, s.Metric(), "boxoffice_refunds_failed_total 0\n")
	require.Contains(t, logs.String(), `msg="refund does not move" reference=`+b.Reference)
	require.Contains(t, logs.String(), "key="+b.Reference+"-refund-0")
}

type pace struct {
	failures  int
	notBefore time.Time
}

func refundPace(s *nodetest.Shop, order engine.OrderID) (p pace) {
	s.T.Helper()
	const read = `SELECT coalesce(max(failures), 0), coalesce(max(not_before), 'epoch') FROM refunds WHERE order_id = $1 AND position = 0`
	require.NoError(s.T, s.Pool().QueryRow(s.T.Context(), read, [16]byte(order)).Scan(&p.failures, &p.notBefore))
	return p
}

// TestRefundRecord reads a refund where it is told: in the order and in the
// fact, under one id.
func TestRefundRecord(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	b := lateMoney(s, ids[0], "")
	looks(s, b, "processed", refundStatus(s, b))
	order := s.Order(b.ID, b.Token)
	require.Equal(t, b.ID+"-r1", order.Str("refunds.0.id"))
	require.Equal(t, b.ID, order.Str("refunds.0.orderId"))
	require.Equal(t, "26.25 USD", order.Str("refunds.0.amount")+" "+order.Str("refunds.0.currency"))
	require.NotEmpty(t, order.Str("refunds.0.providerRef"))
	for _, null := range nodetest.Words("ticketId message decisionNote decidedAt") {
		require.Nil(t, order.Data("refunds.0."+null), null)
	}
	s.Becomes("1", func() string {
		list, _ := s.Own("GET", "/organizer/facts?types=refund.processed", nil).Is(200, "").Data("items").([]any)
		return fmt.Sprint(len(list))
	})
	fact := s.Own("GET", "/organizer/facts?types=refund.processed", nil).Is(200, "")
	require.Equal(t, order.Data("refunds.0"), fact.Data("items.0.data.refund"))
}

// TestFirstAttemptHidesNoOther has a provider that answers for some attempts of
// an order only: who paid the others gets their tickets.
func TestFirstAttemptHidesNoOther(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	provider(s, psp.Account{Timeout: 2 * time.Second, Breaker: psp.Breaker{Failures: 1000}})
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"maxPerCustomer": 100}))
	for _, modes := range []string{"error=500", "error=400", "malformed", "reset", "timeout=1m"} {
		id, token := s.Place("ada@example.org", ids[0], 1)
		first := s.Pay(id, token).Is(200, "")
		s.Settle(first.Str("authorizationUrl"), "failed")
		require.Equal(t, "failed", s.Verify(id, token).Is(200, "").Str("payments.0.status"))
		second := s.Checkout(id, token)
		s.Settle(first.Str("authorizationUrl")+"?paysim="+modes, "pending")
		s.Settle(second, "success")
		for range 2 { // nor does it take away what is bought
			require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"), modes)
		}
	}
}

// TestPaidTwiceAfterCompletion pays an order that another attempt has completed:
// the money goes back, whether a verify sees it or the sweep.
func TestPaidTwiceAfterCompletion(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	for _, by := range []string{"verify", "sweep"} {
		id, token := s.Place(by+"@example.org", ids[0], 1)
		first := s.Pay(id, token).Is(200, "")
		s.Settle(first.Str("authorizationUrl"), "failed")
		require.Equal(t, "pending", s.Verify(id, token).Is(200, "").Str("status"))
		s.Settle(s.Checkout(id, token), "success")
		require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))
		s.Settle(first.Str("authorizationUrl"), "success")
		if by == "verify" {
			for range 3 {
				require.Len(t, s.Verify(id, token).Is(200, "").Data("refunds"), 1)
			}
		} else {
			s.Becomes("1", func() string { // the row may come late, and a look that is under way may put the next one off
				const makeDue = `UPDATE payments SET created_at = now() - interval '1 hour', next_check = now() WHERE reference = $1 AND (next_check IS NULL OR next_check > now())`
				_, err := s.Pool().Exec(t.Context(), makeDue, first.Str("reference"))
				require.NoError(t, err)
				list, _ := s.Order(id, token).Data("refunds").([]any)
				return fmt.Sprint(len(list))
			})
		}
		o := s.Order(id, token)
		require.Equal(t, "completed", o.Str("status"))
		require.Equal(t, "26.25 twice "+first.Str("reference"), o.Str("refunds.0.amount")+" "+o.Str("refunds.0.reason")+" "+o.Str("refunds.0.reference"))
		s.Refunded(nodetest.Refund{ID: id, Token: token, Reference: first.Str("reference"), Amount: 2625, Status: "completed"})
	}
}

// TestProviderLeftOut pays without naming a provider.
func TestProviderLeftOut(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	a := s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token}).Is(200, "")
	require.Equal(t, "paystack", a.Str("provider"))
	require.Equal(t, a.Str("reference"), s.Pay(id, token).Is(200, "").Str("reference"), "it is the same attempt")
	require.Equal(t, a.Str("reference"), s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token, "provider": nil}).Is(200, "").Str("reference"))
	none, err := payments.Open(payments.Config{}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(none.Close)
	s.Areas().Sales.Gateways.Close()
	s.Areas().Sales.Gateways = none
	s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token}).Is(503, "PROVIDER_NOT_CONFIGURED")
	s.Pay(id, token).Is(503, "PROVIDER_NOT_CONFIGURED")
}

// TestReturnURL pays and follows the checkout back.
func TestReturnURL(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 1000), nodetest.Object{"maxPerCustomer": 1000}))
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for asked, leads := range map[string]string{
		"":                                "http://" + s.Config().Listen + "/o/ID?reference=REF&trxref=REF",
		"https://shop.example/thanks?a=b": "https://shop.example/thanks?a=b&reference=REF&trxref=REF",
		"http://localhost:3000/back":      "http://localhost:3000/back?reference=REF&trxref=REF",
		"http://127.0.0.1/":               "http://127.0.0.1/?reference=REF&trxref=REF",
	} {
		id, token := s.Place("ada@example.org", ids[0], 1)
		body := nodetest.Object{"token": token, "provider": "paystack"}
		if asked != "" {
			body["returnUrl"] = asked
		}
		paying := s.Call("POST", "/orders/"+id+"/pay", body).Is(200, "")
		req, err := http.NewRequestWithContext(t.Context(), "POST", paying.Str("authorizationUrl"), strings.NewReader("outcome=success"))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := browser.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 303, res.StatusCode)
		leads = strings.NewReplacer("REF", paying.Str("reference"), "ID", id).Replace(leads)
		require.Equal(t, leads, res.Header.Get("Location"), asked)
		require.NotContains(t, leads, token)
	}
	id, token := s.Place("ada@example.org", ids[0], 1)
	for _, asked := range []string{
		"http://shop.example/", "javascript:alert(1)", "//shop.example/", "/thanks", "https://", "https://me:pw@shop.example/",
		"ftp://localhost/", "http://localhost.example/", "https://a b/", "https://shop.example/\n", "thanks",
	} {
		s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token, "returnUrl": asked}).Invalid("returnUrl", "format")
	}
	s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token, "returnUrl": "https://shop.example/" + nodetest.Text(1980)}).Invalid("returnUrl", "max_length")
	require.Empty(t, s.Order(id, token).Data("payments"), "nothing was begun")
	s.Areas().Sales.Env = "live"
	s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"token": token, "returnUrl": "http://localhost:3000/"}).Invalid("returnUrl", "format")
}

// TestRefundTerms reads of tickets whether their money may be asked back, before
// their event is cancelled and after.
func TestRefundTerms(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	deadline := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	eventID, ids := s.OnSale(nodetest.TypeBody(0, 100), nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"refundable": true, "refundDeadline": deadline}))
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "items": nodetest.Lines(ids[0], 1, ids[1], 1)}).Is(201, "")
	id, token := o.Str("id"), o.Str("accessToken")
	require.Equal(t, fmt.Sprint(false, true), fmt.Sprint(o.Data("tickets.0.refundable"), o.Data("tickets.1.refundable")))
	require.NotContains(t, o.Keys("tickets.0"), "refundEligible", "a repeat is the same, whatever becomes of the event")
	terms := func() string {
		a := s.Order(id, token)
		return fmt.Sprint(a.Data("tickets.0.refundable"), a.Data("tickets.0.refundEligible"), " ", a.Data("tickets.1.refundable"), a.Data("tickets.1.refundEligible"))
	}
	require.Equal(t, fmt.Sprint(false, false, " ", true, true), terms())
	require.Nil(t, s.Order(id, token).Data("tickets.0.refundDeadline"))
	at, err := time.Parse(time.RFC3339, s.Order(id, token).Str("tickets.1.refundDeadline"))
	require.NoError(t, err)
	require.Equal(t, deadline, at.UTC().Format(time.RFC3339))

	s.Own("DELETE", "/organizer/events/"+eventID, nil).Is(200, "")
	s.Becomes(fmt.Sprint(true, true, " ", true, true), terms)
	require.Equal(t, "issued", s.Order(id, token).Str("tickets.0.status"))
	require.Nil(t, s.Order(id, token).Data("tickets.1.refundDeadline"), "none binds any more")
}

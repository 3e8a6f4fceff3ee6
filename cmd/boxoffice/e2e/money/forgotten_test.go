package money

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/persistence/receipts"
)

// lateShop is a shop whose clock a test sets forward, until its event's ledger has forgotten orders.
type lateShop struct {
	*nodetest.Shop
	kind  string       // of the event's tickets
	ahead atomic.Int64 // nanoseconds
}

func openLateShop(t *testing.T, providers ...string) *lateShop {
	t.Helper()
	s := new(lateShop)
	s.Shop = nodetest.Open(t, func(c *node.Config) {
		c.PaysimProviders, c.PaysimCallbacks, c.LimitsScale = providers, true, 1_000
		c.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	})
	const day = 24 * time.Hour
	_, ids := s.Sell(nodetest.Object{"startDate": nodetest.Stamp(100 * day), "endDate": nodetest.Stamp(101 * day)},
		nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(90 * day)}))
	s.kind = ids[0]
	return s
}

// forget waits until the ledger has closed an order that has ended, sets the clock forward and closes another order. By
// then the ledger knows nothing of the first one any more.
func (s *lateShop) forget(id string, after time.Duration) {
	s.T.Helper()
	of, err := engine.ParseID(id)
	require.NoError(s.T, err)
	closeAnother := func() {
		other, token := s.Place("eve@example.org", s.kind, 1)
		s.Call("POST", "/orders/"+other+"/cancel?token="+token, nil).Is(200, "")
		s.Closed(other)
	}
	closeAnother()
	s.ahead.Add(int64(after))
	closeAnother()
	_, err = s.Cluster().Ask(s.T.Context(), engine.EventRef(of.Event()), ledger.GetOrder{Order: of})
	refusal, ok := errors.AsType[*engine.Refusal](err)
	require.True(s.T, ok && refusal.Code == engine.OrderNotFound, "%v", err)
}

// signIn signs the organizer in anew, because the session has ended since the clock was set forward.
func (s *lateShop) signIn() {
	s.T.Helper()
	s.Token = s.Call("POST", "/auth/login", nodetest.Object{"email": s.Email("owner"), "password": "correct horse"}).Is(200, "").Str("accessToken")
}

// ofMonth is longer than a ledger keeps the record of an order that was never paid.
const ofMonth = 31 * 24 * time.Hour

// TestTransferOfForgottenOrders has money come for orders that their ledger has forgotten. What comes for a paid one
// goes back, and what comes for one that was never paid is left for a person.
func TestTransferOfForgottenOrders(t *testing.T) {
	t.Parallel()
	s := openLateShop(t, "transfer")
	paid, token, told := transferred(s.Shop, s.kind, "ada@example.org")
	unpaid, other, asked := transferred(s.Shop, s.kind, "bob@example.org")
	require.Equal(t, map[string]int{"lines": 1, "matched": 1}, importLines(s.Shop, line(1, "26.25", "USD", told.Str("transfer.reference"))))
	s.Closed(paid)
	s.ahead.Add(int64(8 * 24 * time.Hour))
	s.Becomes("expired", s.Status(unpaid, other))
	s.forget(unpaid, ofMonth)

	s.signIn()
	s.Own("POST", "/organizer/orders/"+unpaid+"/paid", nodetest.Object{"amount": 26.25}).Is(409, "ORDER_NOT_PAYABLE")
	require.Equal(t, map[string]int{"lines": 2, "overpaid": 1, "unknown": 1}, importLines(s.Shop,
		line(2, "26.25", "USD", told.Str("transfer.reference")), line(3, "26.25", "USD", asked.Str("transfer.reference"))))
	o := s.Order(paid, token)
	require.Equal(t, "completed 26.25 deposit true", o.Str("status")+" "+o.Str("refunds.0.amount")+" "+o.Str("refunds.0.reason")+" "+o.Str("refunds.0.manual"))
	require.Equal(t, "expired", s.Order(unpaid, other).Str("status"))
	left, err := receipts.New(s.Pool()).Unsettled(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestCoinsOfForgottenOrder has coins come to an address that was paid, when the ledger has forgotten the order. They
// are listed, so that a person sends them back.
func TestCoinsOfForgottenOrder(t *testing.T) {
	t.Parallel()
	s := openLateShop(t, "nowpayments")
	id, token := s.Place("ada@example.org", s.kind, 1)
	a := payWith(s.Shop, id, token, nodetest.Object{"payCurrency": "usdcbsc"}).Is(200, "")
	s.Settle(deposit(s.Shop, a), "success")
	s.Becomes("completed", s.Status(id, token))
	s.Closed(id)
	s.forget(id, 25*time.Hour)

	s.Settle(openAgain(s.Shop, a.Str("reference"), "26.25"), "success")
	s.Becomes("26.25 deposit", func() string {
		if refunds, _ := s.Order(id, token).Data("refunds").([]any); len(refunds) == 0 {
			return ""
		}
		o := s.Order(id, token)
		return o.Str("refunds.0.amount") + " " + o.Str("refunds.0.reason")
	})
}

// TestForgottenAttemptIsNotAskedAbout has the ledger forget an order that was never paid: nobody asks about its attempt
// any more, so that the sweep has time for the others.
func TestForgottenAttemptIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	s := openLateShop(t, "paystack")
	id, token := s.Place("ada@example.org", s.kind, 1)
	reference := s.Pay(id, token).Is(200, "").Str("reference")
	s.ahead.Add(int64(time.Hour))
	s.Becomes("expired", s.Status(id, token))
	s.forget(id, ofMonth)

	_, err := s.Pool().Exec(t.Context(), `UPDATE payments SET next_check = now() WHERE reference = $1`, reference)
	require.NoError(t, err)
	s.Becomes("never", func() (next string) {
		const find = `SELECT coalesce(next_check::text, 'never') FROM payments WHERE reference = $1`
		require.NoError(t, s.Pool().QueryRow(t.Context(), find, reference).Scan(&next))
		return next
	})
}

package money

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

func dollars(s *nodetest.Shop) string {
	s.T.Helper()
	return s.Own("GET", "/organizer/wallets", nil).Is(200, "").Balances()["USD"]
}

// TestProceeds has what is sold reach the organization's wallet, and refunds take it back.
func TestProceeds(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, types := s.OnSale(nodetest.TypeBody(40, 10), nodetest.With(nodetest.TypeBody(0, 5), nodetest.Object{"name": "Free"}))
	s.Place("free@example.org", types[1], 1)
	order, token := s.Place("ann@example.org", types[0], 2)
	s.Settle(s.Checkout(order, token), "success")
	s.Verify(order, token).Is(200, "")
	s.Becomes("0.00 80.00", func() string { return dollars(s) })

	s.Own("POST", "/organizer/orders/"+order+"/refund", nodetest.Object{"reason": "ill", "amount": 30}).Is(200, "")
	id, err := engine.ParseID(order)
	require.NoError(t, err)
	s.Becomes("processed", func() string {
		s.EndRefundPause(id)
		return s.Own("GET", "/organizer/orders/"+order, nil).Is(200, "").Str("refunds.0.status")
	})
	s.Becomes("0.00 50.00", func() string { return dollars(s) })
	t.Log("after a restart it is told again, which changes nothing")
	s.Restart()
	s.Place("free@example.org", types[1], 1) // wakes the event
	entries := s.Own("GET", "/organizer/wallets/USD/entries", nil).Is(200, "")
	require.Len(t, entries.Data("items"), 2)
	require.Equal(t, "refund 30.00 0.00 50.00", entries.Str("items.0.kind")+" "+entries.Str("items.0.amount")+" "+entries.Str("items.0.balance")+" "+entries.Str("items.0.pendingBalance"))
	require.Equal(t, "sale 80.00", entries.Str("items.1.kind")+" "+entries.Str("items.1.amount"))

	t.Log("nothing is paid out yet")
	list := s.Own("GET", "/organizer/payouts", nil).Is(200, "")
	require.Empty(t, list.Data("items"))
	require.Nil(t, list.Data("nextCursor"))
	s.Own("GET", "/organizer/payouts?limit=0", nil).Invalid("limit", "minimum")
	s.Own("GET", "/organizer/payouts?orgId=999999", nil).Is(404, "NOT_FOUND")
	s.Own("GET", "/organizer/payouts/1", nil).Is(404, "PAYOUT_NOT_FOUND")
	s.Own("GET", "/organizer/payouts/1?orgId=999999", nil).Is(404, "NOT_FOUND")
	s.Call("GET", "/organizer/payouts/1", nil).Is(401, "UNAUTHORIZED")
	s.Call("GET", "/organizer/payouts", nil).Is(401, "UNAUTHORIZED")
	s.As(s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret")).Own("GET", "/organizer/payouts", nil).Is(403, "FORBIDDEN")
}

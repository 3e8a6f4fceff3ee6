package people

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestAnalytics adds up what an event and its organization have sold.
func TestAnalytics(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(0, 100))
	paid := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	s.Settle(s.Checkout(paid.Str("id"), paid.Str("accessToken")), "success")
	total := s.Verify(paid.Str("id"), paid.Str("accessToken")).Is(200, "").Str("total")
	free := s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[1], 1)).Is(201, "")
	s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[0], 1)).Is(201, "") // pending
	s.Scan(event, free.Str("tickets.0.qr"), "door").Is(200, "")
	path := "/organizer/events/" + event + "/analytics"
	a := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, []any{event, "sales", "day", "USD", 3.0, total}, []any{a.Data("eventId"), a.Data("metric"), a.Data("interval"), a.Data("currency"), a.Data("total.count"), a.Data("total.amount")})
	for metric, want := range map[string][]any{
		"orders": {2.0, total}, "revenue": {2.0, total}, "refunds": {0.0, "0.00"}, "checkins": {1.0, "0.00"},
	} {
		for _, interval := range []string{"hour", "day", "week", "month"} {
			a := s.Own("GET", path+"?metric="+metric+"&interval="+interval, nil).Is(200, "")
			require.Equal(t, want, []any{a.Data("total.count"), a.Data("total.amount")}, metric)
		}
	}
	s.Customers("", 2)
	sum := s.Own("GET", "/organizer/analytics/summary?orgId="+s.Org(), nil).Is(200, "")
	require.Equal(t, []any{1.0, 1.0, 2.0, 3.0, 1.0, 2.0, "USD", total, "0.00", total}, []any{
		sum.Data("events.total"), sum.Data("events.live"), sum.Data("orders"), sum.Data("tickets"), sum.Data("checkedIn"), sum.Data("customers"),
		sum.Data("revenue.0.currency"), sum.Data("revenue.0.gross"), sum.Data("revenue.0.refunded"), sum.Data("revenue.0.net"),
	})
	s.Own("GET", path+"?metric=x", nil).Invalid("metric", "enum")
	s.Own("GET", path+"?interval=x", nil).Invalid("interval", "enum")
	eve := s.Register("kim@example.org")
	eve.Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
	eve.Own("GET", "/organizer/analytics/summary?orgId="+s.Org(), nil).Is(404, "NOT_FOUND")
	s.Call("GET", path, nil).Is(401, "UNAUTHORIZED")
}

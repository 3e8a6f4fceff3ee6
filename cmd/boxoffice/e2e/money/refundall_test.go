package money

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestRefundAll gives the money of an event's orders back, whatever became of its dates.
func TestRefundAll(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, types := s.OnSale(nodetest.TypeBody(20, 20), nodetest.With(nodetest.TypeBody(0, 5), nodetest.Object{"name": "Free"}))
	path := "/organizer/events/" + event + "/refund-all"
	s.Own("GET", path, nil).Is(404, "NOT_FOUND")
	s.Own("POST", path, nodetest.Object{}).Invalid("reason", "required")
	s.Own("POST", path, nodetest.Object{"reason": nodetest.Text(2001)}).Invalid("reason", "max_length")
	var orders []string
	for i := range 3 {
		order, token := s.Place(fmt.Sprintf("buyer%d@example.org", i), types[0], 1)
		s.Settle(s.Checkout(order, token), "success")
		s.Verify(order, token).Is(200, "")
		orders = append(orders, order)
	}
	s.Place("free@example.org", types[1], 1)
	s.Own("POST", "/organizer/orders/"+orders[0]+"/refund", nodetest.Object{"reason": "ill"}).Is(200, "")
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "flood"}).Is(200, "")
	begun := s.Own("POST", path, nodetest.Object{"reason": "flood"}).Is(200, "")
	require.Equal(t, "running 3 0", begun.Str("status")+" "+begun.Str("total")+" "+begun.Str("refunded"))
	progress := func() string {
		a := s.Own("GET", path, nil).Is(200, "")
		return a.Str("status") + " " + a.Str("total") + " " + a.Str("refunded") + " " + a.Str("skipped") + " " + a.Str("reason")
	}
	s.Becomes("finished 3 2 1 flood", progress)
	for _, order := range orders[1:] {
		s.Becomes("21.00 flood refunded", func() string { // with the fee, for the event was cancelled
			a := s.Own("GET", "/organizer/orders/"+order, nil).Is(200, "")
			return a.Str("refunds.0.amount") + " " + a.Str("refunds.0.reason") + " " + a.Str("tickets.0.status")
		})
	}
	for _, order := range orders {
		s.Becomes("refunded", func() string { return s.Own("GET", "/organizer/orders/"+order, nil).Is(200, "").Str("status") })
	}
	s.Own("POST", path, nodetest.Object{"reason": "again"}).Is(200, "") // begins anew, and finds nothing
	s.Becomes("finished 0 0 0 again", progress)

	s.Call("GET", path, nil).Is(401, "UNAUTHORIZED")
	s.Register(s.Email("eve")).Own("POST", path, nodetest.Object{"reason": "x"}).Is(404, "EVENT_NOT_FOUND")
	s.As(s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret")).Own("POST", path, nodetest.Object{"reason": "x"}).Is(403, "FORBIDDEN")
}

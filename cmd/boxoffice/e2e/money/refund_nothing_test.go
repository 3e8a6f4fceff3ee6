package money

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestRefundOfNothing ends paid tickets without money, by both of the organization's doors.
func TestRefundOfNothing(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(refundable(10))
	o := s.BuyPaid("ada@example.org", ids[0], 2)
	id, first, second := o.Str("id"), o.Str("tickets.0.id"), o.Str("tickets.1.id")
	s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"amount": 0, "reason": "a donation"}).Invalid("amount", "minimum")
	done := s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"ticketIds": []string{first}, "amount": 0, "reason": "a donation"}).Is(200, "")
	require.Equal(t, "0.00", done.Str("amount"))
	require.Equal(t, "processed", done.Str("status"))
	ada := s.Buyer("ada@example.org")
	asked := ada.Own("POST", "/users/me/refunds", nodetest.Object{"ticketId": second, "reason": illness}).Is(201, "")
	approved := s.Own("POST", "/organizer/refunds/"+asked.Str("id")+"/approve", nodetest.Object{"amount": 0}).Is(200, "")
	require.Equal(t, done.Str("status"), approved.Str("status"))
	require.NoError(t, s.Settled(t.Context()))
	after := s.Own("GET", "/organizer/orders/"+id, nil).Is(200, "")
	require.Equal(t, []any{"refunded", "refunded"}, []any{after.Data("tickets.0.status"), after.Data("tickets.1.status")})
}

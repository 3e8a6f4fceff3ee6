package nodetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

// Refund is a payment that goes back, and the status that its order gets by that.
type Refund struct {
	ID, Token string // of the order
	Reference string // of the payment
	Amount    int64  // in minor units
	Status    string
}

// Refunded waits until the simulator has returned the money of each payment and the node has learnt
// that it arrived. Each payment is the first refund of its order.
func (s *Shop) Refunded(all ...Refund) {
	s.T.Helper()
	for _, r := range all {
		s.Becomes(fmt.Sprint(r.Amount), func() string { return fmt.Sprint(s.SentBack(r.Reference)) })
	}
	for _, r := range all {
		order, err := engine.ParseID(r.ID)
		require.NoError(s.T, err)
		s.Becomes("processed", func() string {
			s.EndRefundPause(order)
			return s.Order(r.ID, r.Token).Str("refunds.0.status")
		})
		a := s.Order(r.ID, r.Token)
		require.Equal(s.T, r.Status, a.Str("status"))
		require.NotNil(s.T, a.Data("refunds.0.processedAt"))
		require.Contains(s.T, Encode(s.T, a.Data("payments")), `"refunded"`)
	}
}

// SentBack returns how much the simulator has returned of a payment, in minor units.
func (s *Shop) SentBack(reference string) int64 {
	s.T.Helper()
	rows, _ := s.Sim().Transactions(0, "", 1000)
	for _, r := range rows {
		if r.Reference == reference {
			return r.Refunded
		}
	}
	return 0
}

// EndRefundPause makes an order's first refund due for another look. It does not change a refund
// that is due already, because the sweep claims a refund only as it has read it. A look that is being
// taken loses its claim, which does no harm because a test's node has only one sweep.
func (s *Shop) EndRefundPause(order engine.OrderID) {
	s.T.Helper()
	const end = `UPDATE refunds SET not_before = now() WHERE order_id = $1 AND position = 0 AND not_before > now()`
	_, err := s.Pool().Exec(s.T.Context(), end, [16]byte(order))
	require.NoError(s.T, err)
}

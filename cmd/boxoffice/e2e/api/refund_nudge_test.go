package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestRefundIsSentAtOnce grants refunds, each when the money of the one before has left. The sweep
// comes round every two seconds: five such refunds would take it eight seconds at least.
func TestRefundIsSentAtOnce(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(refundable(25))
	o := buyPaid(s, "ada@example.org", ids[0], 1)
	reference := o.Str("payments.0.reference")
	began := time.Now()
	for sent := int64(1); sent <= 5; sent++ {
		s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"amount": 1, "reason": "the queue was long"}).Is(200, "")
		require.Eventually(t, func() bool { return sentBack(s, reference) == 100*sent }, 10*time.Second, 5*time.Millisecond)
	}
	require.Less(t, time.Since(began), 6*time.Second)
}

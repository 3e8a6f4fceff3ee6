package money

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

// TestRefundIsRetriedManyTimesAtOnce has an organizer press "send again" several times while the provider is slow. It
// does not recognize a refund that it is working on, so only one request may be made.
func TestRefundIsRetriedManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	paying := s.Pay(id, token).Is(200, "")
	s.Settle(paying.Str("authorizationUrl")+"?paysim=refundfails=1,slow=700ms", "success")
	require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))
	back := s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"reason": "r", "amount": 5}).Is(200, "").Str("id")
	of, err := engine.ParseID(id)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		s.EndRefundPause(of)
		return refundPace(s, of).failures > 0
	}, time.Minute, 20*time.Millisecond)

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { s.Own("POST", "/organizer/refunds/"+back+"/retry", nil) })
	}
	all.Wait()
	s.Becomes("processed", func() string {
		s.EndRefundPause(of)
		return s.Order(id, token).Str("refunds.0.status")
	})
	require.Equal(t, int64(500), s.SentBack(paying.Str("reference")))
}

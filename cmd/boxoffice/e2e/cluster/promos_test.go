package cluster

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestPromoContest has 2,000 buyers of four events, at two nodes, after one code of 100 uses.
// All 100 are granted and never one more, and once the orders have run out there are 100
// again.
func TestPromoContest(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two")
	var types, events []string
	for range 4 {
		event, ids := shops[0].Sell(nil, nodetest.TypeBody(20, 1000))
		types, events = append(types, ids[0]), append(events, event)
	}
	shops[1].Token = shops[0].Token
	shops[0].Own("POST", "/organizer/promo-codes", nodetest.Object{
		"code": "CONTEST", "discountType": "percentage", "discountValue": 10, "maxUses": 100, "validFrom": "2020-01-01T00:00:00Z", "validUntil": "2035-01-01T00:00:00Z",
	}).Is(201, "")
	setWindow := func(d time.Duration) {
		for _, event := range events {
			shops[0].Window(event, d)
		}
	}
	rush := func(wave string, buyers int) []nodetest.Answer {
		t.Helper()
		var refused, next atomic.Int64
		var mu sync.Mutex
		var granted []nodetest.Answer
		var all sync.WaitGroup
		began := time.Now()
		for b := range 16 {
			all.Go(func() {
				for i := int(next.Add(1)); i <= buyers; i = int(next.Add(1)) {
					body := nodetest.With(nodetest.OrderBody(fmt.Sprintf("%s-%d@example.org", wave, i), types[i%len(types)], 1), nodetest.Object{"promoCode": "contest"})
					a := shops[b%2].Patient("POST", "/orders", body)
					if a.Status != 201 {
						a.Refused(409, "PROMO_CODE_INVALID", nodetest.Object{"reason": "MAX_USES_REACHED"})
						refused.Add(1)
						continue
					}
					mu.Lock()
					granted = append(granted, a)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		t.Logf("%s: %d buyers in %v", wave, buyers, time.Since(began).Round(time.Millisecond))
		require.Len(t, granted, 100, wave)
		require.EqualValues(t, buyers-100, refused.Load(), wave)
		return granted
	}
	// No order runs out during a rush: the first has a window of an hour, and the second, of a tenth of
	// the buyers, one of 20 s.
	setWindow(time.Hour)
	cancelled := rush("first", 2000)
	for _, o := range cancelled {
		shops[0].Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
	}
	closed := func(orders []nodetest.Answer) {
		for _, o := range orders {
			shops[0].Closed(o.Str("id")) // the code has its use back
		}
	}
	closed(cancelled)
	setWindow(20 * time.Second)
	orders := rush("second", 200)
	valid := func(s *nodetest.Shop) string {
		return fmt.Sprint(s.Call("POST", "/tickets/promo/validate", nodetest.Object{"code": "contest", "eventId": events[0], "subtotal": 20}).Is(200, "").Data("valid"))
	}
	for _, s := range shops {
		require.Equal(t, "false", valid(s))
	}
	for _, s := range shops {
		require.Eventually(t, func() bool { return valid(s) == "true" }, 2*time.Minute, 100*time.Millisecond)
	}
	for _, o := range orders {
		require.Eventually(t, func() bool { return shops[0].Order(o.Str("id"), o.Str("accessToken")).Str("status") == "expired" }, 2*time.Minute, 100*time.Millisecond)
	}
	closed(orders)
	setWindow(time.Hour)
	rush("third", 200)
}

package server_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
)

// TestTurnedAwayForWantOfProcessors has more orders begin than the processors can do, while something
// else keeps them busy. New orders are turned away, and what was begun goes on.
func TestTurnedAwayForWantOfProcessors(t *testing.T) {
	c := newClient(t)
	release := spinProcessors(t)
	inside := 0
	require.Eventually(t, func() bool {
		for c.Server.EnterCrowd() {
			inside++
			if inside%64 == 0 {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond, "nobody is turned away")

	var res edgetest.Response
	require.Eventually(t, func() bool {
		res = c.Do(t, "POST", "/api/v1/orders", orderBody)
		return res.Status == 503
	}, time.Minute, time.Millisecond)
	require.Contains(t, string(res.Body), `"code":"OVERLOADED"`)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Equal(t, 200, c.Do(t, "GET", "/api/v1/events", nil).Status)
	require.NotEqual(t, 503, c.Do(t, "POST", "/api/v1/orders/ord_1/pay", nil).Status)

	release()
	for range inside {
		c.Server.LeaveCrowd()
	}
	require.Equal(t, 201, c.Do(t, "POST", "/api/v1/orders", orderBody).Status)
}

// spinProcessors keeps the processors busy until the function that it returns is called.
func spinProcessors(t *testing.T) (release func()) {
	t.Helper()
	var over atomic.Bool
	var all sync.WaitGroup
	for range 32 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for !over.Load() {
				for began := time.Now(); time.Since(began) < time.Millisecond; {
				}
				runtime.Gosched()
			}
		})
	}
	release = sync.OnceFunc(func() {
		over.Store(true)
		all.Wait()
	})
	t.Cleanup(release)
	return release
}

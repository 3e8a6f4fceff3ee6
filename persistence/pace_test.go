package persistence_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence"
)

// TestPace makes sure that a server which accepts no connections is still asked again by all that
// want one, but slowly, and that nobody waits once it is back.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := persistence.NewPace()
		var tries, waiting atomic.Int64
		var back atomic.Bool
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for !back.Load() {
					waiting.Add(1)
					err := p.Before(t.Context(), nil)
					waiting.Add(-1)
					if err != nil {
						return
					}
					tries.Add(1)
					<-time.After(time.Millisecond) // the server refuses
				}
			})
		}
		<-time.After(10 * time.Second)
		require.Less(t, tries.Load(), int64(300))
		require.Greater(t, tries.Load(), int64(100))
		require.EqualValues(t, 16, waiting.Load())

		back.Store(true)
		require.NoError(t, p.After(t.Context(), nil))
		was := time.Now()
		all.Wait()
		require.Less(t, time.Since(was), 100*time.Millisecond)
	})
}

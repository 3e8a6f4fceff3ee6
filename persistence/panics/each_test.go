package panics_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/persistence/panics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDoEach makes sure that DoEach does all items of a list, no more at a time than it may, and
// that an item which panics does not keep the others from being done.
func TestDoEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		var now, most, done atomic.Int64
		began := time.Now()
		panics.DoEach(log, "each", []int{0, 1, 2, 3, 4, 5}, 2, func(i int) {
			if at := now.Add(1); at > most.Load() {
				most.Store(at)
			}
			defer now.Add(-1)
			<-time.After(time.Second)
			if i == 1 {
				panic("the second")
			}
			done.Add(1)
		})
		require.Equal(t, int64(2), most.Load())
		require.Equal(t, int64(5), done.Load())
		require.Equal(t, 3*time.Second, time.Since(began), "two at a time")
	})
}

package rooms

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSharing has a crowd read at once: the first reads, and after it one for all others.
func TestSharing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSharing[int]()
		var reads atomic.Int64
		slow := func(last int) (int, error) {
			reads.Add(1)
			<-time.After(20 * time.Millisecond)
			return last + 1, nil
		}
		var crowd sync.WaitGroup
		for range 500 {
			crowd.Go(func() {
				n, err := s.read(t.Context(), slow)
				if err != nil || n < 1 || n > 2 {
					t.Errorf("%d %v", n, err)
				}
			})
		}
		crowd.Wait()
		require.EqualValues(t, 2, reads.Load())

		fails := func(int) (int, error) {
			reads.Add(1)
			<-time.After(time.Second)
			return 0, errors.New("away")
		}
		for range 100 { // nobody waits for more than two reads that fail
			crowd.Go(func() {
				if _, err := s.read(t.Context(), fails); err == nil {
					t.Error("no error")
				}
			})
		}
		crowd.Wait()
		require.EqualValues(t, 4, reads.Load())
		n, err := s.read(t.Context(), slow)
		require.NoError(t, err)
		require.Equal(t, 3, n)

		gone, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		go func() { _, _ = s.read(t.Context(), func(int) (int, error) { <-hold; return 0, nil }) }()
		synctest.Wait()
		cancel()
		_, err = s.read(gone, slow)
		require.ErrorIs(t, err, context.Canceled)
		close(hold)
	})
}

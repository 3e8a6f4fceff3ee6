package numbers_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/numbers"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// TestLeasedNumbersAreUnique leases numbers as four nodes do at once.
func TestLeasedNumbersAreUnique(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := make(map[int64]bool)
	for range 4 {
		l := numbers.New(pool, "event_numbers")
		wg.Go(func() {
			for range 50 {
				n, err := l.Next(t.Context())
				mu.Lock()
				require.NoError(t, err)
				require.False(t, seen[n], "number %d twice", n)
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 200)
}

// TestACommandKeepsItsNumber repeats commands on several nodes at once: each has one number, and no
// two have the same.
func TestACommandKeepsItsNumber(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	numbersOf := make(map[byte]map[int64]bool)
	for range 4 {
		l := numbers.New(pool, "event_numbers")
		wg.Go(func() {
			for command := range byte(10) {
				n, err := l.ForCommand(t.Context(), [32]byte{command})
				mu.Lock()
				require.NoError(t, err)
				if numbersOf[command] == nil {
					numbersOf[command] = make(map[int64]bool)
				}
				numbersOf[command][n] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	all := make(map[int64]bool)
	for command, of := range numbersOf {
		require.Len(t, of, 1, "command %d", command)
		for n := range of {
			require.False(t, all[n])
			all[n] = true
		}
	}
}

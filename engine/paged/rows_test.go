package paged_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/paged"
)

// TestRows compares rows with a slice, under changes in random order. What was frozen must not
// change.
func TestRows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var rows paged.Rows[uint64]
		var want []uint64
		var frozen [][]uint64
		var then []uint64
		grow := 700 + rng.IntN(3_000)
		for range 8_000 {
			switch n := len(want); {
			case n == 0 || n < grow && rng.IntN(3) > 0:
				v := rng.Uint64()
				rows.Append(v)
				want = append(want, v)
			case rng.IntN(200) == 0:
				frozen, then = rows.Freeze(), slices.Clone(want)
			case rng.IntN(2) == 0:
				i, v := rng.IntN(n), rng.Uint64()
				rows.Set(i, v)
				want[i] = v
			default:
				i := rng.IntN(n)
				require.Equal(t, want[n-1], rows.Remove(i))
				want[i] = want[n-1]
				want = want[:n-1]
				grow -= rng.IntN(3) // so that the rows are empty now and then
			}
			require.Equal(t, len(want), rows.Len())
			if n := len(want); n > 0 {
				i := rng.IntN(n)
				require.Equal(t, want[i], rows.At(i))
			}
		}
		require.True(t, slices.Equal(want, slices.Collect(rows.All())))
		require.True(t, slices.Equal(then, slices.Concat(frozen...)))
	}
}

// TestRowsOf makes sure that two lists that continue one snapshot don't affect each other.
func TestRowsOf(t *testing.T) {
	t.Parallel()
	var first paged.Rows[int]
	for i := range 5 {
		first.Append(i)
	}
	snapshot := first.Freeze()
	second, third := paged.RowsOf(snapshot), paged.RowsOf(snapshot)
	first.Append(10)
	second.Append(20)
	third.Append(30)
	third.Set(0, 31)
	require.Equal(t, []int{0, 1, 2, 3, 4, 10}, slices.Collect(first.All()))
	require.Equal(t, []int{0, 1, 2, 3, 4, 20}, slices.Collect(second.All()))
	require.Equal(t, []int{31, 1, 2, 3, 4, 30}, slices.Collect(third.All()))
	require.Equal(t, []int{0, 1, 2, 3, 4}, slices.Concat(snapshot...))
}

// TestQueue compares a queue with a slice. What was frozen must not change.
func TestQueue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var queue paged.Queue[uint64]
		var want []uint64
		var frozen [][]uint64
		var then []uint64
		for range 8_000 {
			switch n := len(want); {
			case n == 0 || rng.IntN(3) > 0:
				v := rng.Uint64()
				queue.Push(v)
				want = append(want, v)
			case rng.IntN(200) == 0:
				frozen, then = queue.Freeze(), slices.Clone(want)
			case rng.IntN(2) == 0:
				i, v := rng.IntN(n), rng.Uint64()
				queue.Set(i, v)
				want[i] = v
			default:
				gone := rng.IntN(min(n, 3+rng.IntN(700))) + 1
				queue.Drop(gone)
				want = want[gone:]
			}
			require.Equal(t, len(want), queue.Len())
			if n := len(want); n > 0 {
				i := rng.IntN(n)
				require.Equal(t, want[i], queue.At(i))
				require.Equal(t, want[n-1], queue.At(n-1))
			}
		}
		require.True(t, slices.Equal(then, slices.Concat(frozen...)))
	}
}

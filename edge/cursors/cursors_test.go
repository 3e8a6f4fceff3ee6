package cursors

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCursor(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]int64{{0, 0}, {1, 2}, {LastMoment, math.MaxInt64}} {
		got, err := Read(*Of(keys...), LastMoment, math.MaxInt64)
		require.NoError(t, err)
		require.Equal(t, keys, got)
	}
	none, err := Read("", 1)
	require.NoError(t, err)
	require.Nil(t, none)
	for _, keys := range [][]int64{{1}, {1, 2, 3}, {-1, 1}, {1, -1}, {LastMoment + 1, 1}, {math.MinInt64, 1}} {
		_, err := Read(*Of(keys...), LastMoment, math.MaxInt64)
		require.Error(t, err, "%v", keys)
	}
}

// TestMomentCursor pages through rows of which some have the same moment, each row once.
func TestMomentCursor(t *testing.T) {
	t.Parallel()
	rows := []int64{9, 7, 7, 7, 7, 7, 3, 3, 1}
	var seen []int64
	cursor := ""
	for len(seen) < len(rows) {
		before, skip, err := ReadMoment(cursor)
		require.NoError(t, err)
		from := slices.IndexFunc(rows, func(at int64) bool { return cursor == "" || at <= before }) + skip
		page := rows[from:min(from+2, len(rows))]
		require.NotEmpty(t, page)
		seen = append(seen, page...)
		cursor = *OfMoment(page, func(at *int64) int64 { return *at }, before, skip)
	}
	require.Equal(t, rows, seen)
}

// FuzzCursor reads whatever clients make of cursors: each list takes those that
// it has made, and no other text for the same place.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "x", *Of(1), *Of(1, 2), *Of(-1, math.MaxInt64), "AAAAAAAAAAB", "A00000\n00000", "____", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, limits := range [][]int64{{math.MaxInt64}, {LastMoment, math.MaxInt64}} {
			keys, err := Read(s, limits...)
			if err != nil || keys == nil {
				require.Nil(t, keys)
				continue
			}
			for i, k := range keys {
				require.True(t, k >= 0 && k <= limits[i])
			}
			require.Equal(t, s, *Of(keys...))
		}
	})
}

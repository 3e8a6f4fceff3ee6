package paged_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

func request(n int64) engine.Request {
	return engine.Request{ID: engine.NumberedID(1, n), Print: uint64(n)}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const day, most = 24 * 3600 * 1000, 100
	a := paged.NewAnswers[uint64]()
	for n := range int64(1000) {
		a.Put(request(n), n, uint64(n), most)
		require.LessOrEqual(t, a.Len(), most, "the memory is bounded")
	}
	_, _, ok := a.Find(request(899), 1000)
	require.False(t, ok, "the oldest are forgotten")
	for _, n := range []int64{900, 950, 999} {
		value, same, ok := a.Find(request(n), n+day)
		require.True(t, ok && same)
		require.Equal(t, uint64(n), value)
		_, same, ok = a.Find(engine.Request{ID: request(n).ID, Print: 1}, n)
		require.True(t, ok && !same, "another request under its ID")
		_, _, ok = a.Find(request(n), n+day+1)
		require.False(t, ok, "after a day")
	}
	a.Put(request(900), 1000, 7, most)
	for n := range int64(most) {
		a.Put(request(2000+n), 1001, 0, 2*most)
	}
	value, _, ok := a.Find(request(900), 1001)
	require.True(t, ok)
	require.Equal(t, uint64(7), value, "the newer of two under one ID")

	frozen, values := a.Freeze()
	a.Put(request(5000), 1002, 0, most)
	b := paged.NewAnswers[uint64]()
	require.True(t, b.Thaw(frozen, slices.Concat(values...)))
	value, _, ok = b.Find(request(900), 1001)
	require.True(t, ok)
	require.Equal(t, uint64(7), value)
	_, _, ok = b.Find(request(5000), 1002)
	require.False(t, ok, "it came after the snapshot")
	c := paged.NewAnswers[uint64]()
	require.False(t, c.Thaw(frozen, nil), "columns of unequal length")
	require.True(t, c.Thaw(nil, nil))

	b.Put(request(6000), 3*day, 0, most)
	require.Less(t, b.Len(), frozen.IDs.Len(), "two of long ago go for one that comes")
}

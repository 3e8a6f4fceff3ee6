package committed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/journal"
)

func TestStockForgets(t *testing.T) {
	t.Parallel()
	s := committed.NewStock(10)
	// created is a batch in which a ticket type says what there is of it.
	created := func(ref engine.Ref, seq, left int64) {
		f := &inventory.Created{Details: &inventory.Details{Quantity: left}}
		s.Observe(&journal.Batch{Records: []journal.Record{{Ref: ref, First: seq, Last: seq, Facts: []engine.Fact{f}}}})
	}
	answer := func(n int64) func() (int64, error) { return func() (int64, error) { return n, nil } }
	for i := range 25 {
		_, err := s.Load(engine.InventoryRef(1, int64(i)), answer(0))
		require.NoError(t, err)
		created(engine.InventoryRef(1, int64(i)), 1, int64(i))
	}
	known := 0
	for i := range 25 {
		if left, ok := s.Get(engine.InventoryRef(1, int64(i))); ok {
			known++
			require.EqualValues(t, i, left)
		}
	}
	require.Equal(t, 5, known)
	ref, other := engine.InventoryRef(1, 24), engine.InventoryRef(2, 24)
	created(ref, 5, 50)
	created(ref, 4, 40)
	_, err := s.Load(ref, answer(0))
	require.NoError(t, err)
	left, ok := s.Get(ref)
	require.True(t, ok)
	require.EqualValues(t, 50, left, "a later fact is known")
	_, err = s.Load(other, answer(0))
	require.NoError(t, err)
	created(other, 5, 50)
	s.Retain(func(event int64) bool { return event == 2 })
	_, ok = s.Get(ref)
	require.False(t, ok)
	_, ok = s.Get(other)
	require.True(t, ok)

	left, err = s.Load(ref, func() (int64, error) {
		s.Retain(func(int64) bool { return false })
		return 7, nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 7, left)
	_, ok = s.Get(ref)
	require.False(t, ok, "facts after the answer may be missed")
	_, err = s.Load(ref, answer(7))
	require.NoError(t, err)
	left, _ = s.Get(ref)
	require.EqualValues(t, 7, left)

	t.Log("a former owner's late facts are of no use, and facts beside an answer are")
	s.Retain(func(int64) bool { return false })
	created(ref, 6, 60)
	_, ok = s.Get(ref)
	require.False(t, ok)
	_, err = s.Load(ref, func() (int64, error) {
		created(ref, 8, 5)
		_, ok := s.Get(ref)
		require.True(t, ok)
		return 6, nil
	})
	require.NoError(t, err)
	left, _ = s.Get(ref)
	require.EqualValues(t, 5, left)
}

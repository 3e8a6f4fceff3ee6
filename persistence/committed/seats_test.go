package committed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/journal"
)

// TestAForgottenMapIsNotWatched makes sure that nobody begins to watch a map that no facts reach any more: one that was
// forgotten to make room, or because facts about it may have been missed, after the watcher got it. A map that is
// watched stays.
func TestAForgottenMapIsNotWatched(t *testing.T) {
	t.Parallel()
	s := committed.NewSeats(1)
	load := func(event int64) *committed.SeatMap {
		m, err := s.Load(event, func() (*seatmap.Map, error) { return &seatmap.Map{Position: 1}, nil })
		require.NoError(t, err)
		return m
	}
	first := load(1)
	second := load(2) // there is room for one
	_, ok := first.Watch(func() {})
	require.False(t, ok)
	_, known := s.Get(1)
	require.False(t, known)

	require.Empty(t, s.Retain(func(int64) bool { return false }))
	_, ok = second.Watch(func() {})
	require.False(t, ok)

	third := load(3)
	w, ok := third.Watch(func() {})
	require.True(t, ok)
	load(4)
	require.Equal(t, []int64{3}, s.Retain(func(int64) bool { return false }))
	w.Close()
	again := load(3)
	require.Same(t, third, again)
	_, ok = again.Watch(func() {})
	require.True(t, ok)
}

// TestPricesThatWereMissed has a watched map loaded again with other prices, after the fact that changed them was
// missed. The watcher is woken and takes the whole map; if nothing was changed it sleeps on.
func TestPricesThatWereMissed(t *testing.T) {
	t.Parallel()
	s := committed.NewSeats(1)
	load := func(position uint64, typ int64) *committed.SeatMap {
		m, err := s.Load(1, func() (*seatmap.Map, error) {
			v := &seatmap.Map{Layout: &seatmap.Layout{Version: 1, Sections: []seatmap.Section{{ID: "stalls"}}}, Position: position}
			v.Prices = []seatmap.SectionPrice{{Section: "stalls", Type: typ}}
			return v, nil
		})
		require.NoError(t, err)
		return m
	}
	woken := 0
	w, ok := load(1, 7).Watch(func() { woken++ })
	require.True(t, ok)
	for position, typ := range []int64{7, 8} {
		s.Retain(func(int64) bool { return false })
		load(uint64(position+2), typ) //nolint:gosec // a few
		require.Equal(t, position, woken)
	}
	_, _, view, another := w.Take(false)
	require.True(t, another)
	require.Equal(t, []int64{8}, view.Types)
}

// TestFactsWhileALoadWaits has so many batches committed while a map's actor is asked that Seats does not keep all of
// them. The loaded map has all facts nevertheless.
func TestFactsWhileALoadWaits(t *testing.T) {
	t.Parallel()
	s := committed.NewSeats(1)
	seq := int64(1)
	answer := func() *seatmap.Map {
		v := &seatmap.Map{Layout: &seatmap.Layout{Version: 1, Sections: []seatmap.Section{{ID: "stalls"}}}, Position: uint64(seq)} //nolint:gosec // positive
		v.Prices = []seatmap.SectionPrice{{Section: "stalls", Type: seq}}
		return v
	}
	commit := func() {
		seq++
		s.Observe(&journal.Batch{Records: []journal.Record{{
			Ref: engine.Ref{Kind: engine.KindSeatmap, Home: 1}, First: seq, Facts: []engine.Fact{&seatmap.PricedFact{Types: []int64{seq}}},
		}}})
	}
	m, err := s.Load(1, func() (*seatmap.Map, error) {
		v := answer()
		for seq < 15_000 {
			commit()
		}
		return v, nil
	})
	require.NoError(t, err)
	require.Equal(t, []int64{seq}, m.View().Types)
	commit()
	require.Equal(t, []int64{seq}, m.View().Types)
}

package event

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// TestTypesHaveAPlace fills an event with ticket types: there is no place for one more, neither for
// one that is being made nor for one that was made without a place.
func TestTypesHaveAPlace(t *testing.T) {
	t.Parallel()
	s, _ := New(engine.EventRef(7)).(*State)
	now := time.UnixMilli(1)
	tell := func(c engine.Command) engine.Decision {
		d := s.Decide(c, now)
		for _, f := range d.Facts {
			s.Apply(f)
		}
		return d
	}
	tell(Create{Details: Details{Category: "music", Capacity: NoCapacity}})
	for i := range int64(MaxTypes) {
		d := tell(keeper.Offer{Keeper: engine.InventoryRef(7, i+1)})
		require.Len(t, d.Facts, 1)
		require.Empty(t, d.Sends, "nobody is there to hear it")
		require.Empty(t, tell(keeper.Offer{Keeper: engine.InventoryRef(7, i+1)}).Facts, "asked again")
	}

	t.Log("a place alone is no ticket type")
	require.Zero(t, tell(Get{}).Reply.(*Record).Types, "it may never become one")
	require.False(t, tell(GetType{Type: 1}).Reply.(*TypeReply).Has)
	require.Equal(t, engine.Validation, tell(Move{To: StatusPublished}).Reply.(*engine.Refusal).Code)
	place := ledger.Place{Order: engine.OrderID{1}, Lines: []order.Line{{Type: 1, Quantity: 1}}}
	require.Equal(t, engine.TicketTypeNotFound, tell(place).Reply.(*engine.Refusal).Code)

	t.Log("what has a place offers itself, what has none does not")
	require.Len(t, tell(keeper.Offer{Keeper: engine.InventoryRef(7, 1), Revision: 1, SaleEnd: 10}).Facts, 1)
	require.True(t, tell(GetType{Type: 1}).Reply.(*TypeReply).Has)
	require.Equal(t, 1, tell(Get{}).Reply.(*Record).Types)
	for _, revision := range []uint64{0, 1} {
		d := tell(keeper.Offer{Keeper: engine.InventoryRef(7, MaxTypes+1), Revision: revision})
		require.Empty(t, d.Facts)
		require.Len(t, d.Sends, int(revision), "it need not be offered again")
		r := d.Reply.(*engine.Refusal)
		require.Equal(t, engine.Conflict, r.Code)
		require.Equal(t, TypeLimit{MaxTypes}, r.Details)
	}
}

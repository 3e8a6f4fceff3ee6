package event

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// TestLines makes sure that every keeper of an order has exactly one of its places, and that every
// ticket has the seat that its line names for it.
func TestLines(t *testing.T) {
	t.Parallel()
	s, ok := New(engine.EventRef(1)).(*State)
	require.True(t, ok)
	rapid.Check(t, func(t *rapid.T) {
		o := &order.Order{ID: engine.NumberedID(1, 1), FirstTicket: rapid.Uint32Range(1, 1_000).Draw(t, "first")}
		var seats []string
		for i := range rapid.IntRange(1, 20).Draw(t, "lines") {
			l := order.Line{Type: int64(i + 1), Quantity: rapid.Int64Range(1, 5).Draw(t, "quantity")}
			seated := rapid.Bool().Draw(t, "seated")
			for range l.Quantity {
				seat := ""
				if seated {
					seat = fmt.Sprintf("A%d", len(seats))
					l.Seats, o.Shopper = append(l.Seats, seat), &order.Shopper{Holder: "ann"}
				}
				seats = append(seats, seat)
			}
			o.Lines = append(o.Lines, l)
		}
		keepers := len(o.Lines)
		if o.TakesSeats() {
			keepers++
		}
		require.Equal(t, keepers, allPlaces(o).len())
		for line := range keepers {
			require.True(t, allPlaces(o).has(line))
			require.Equal(t, line, placeOf(o, s.keeperOf(o, line)))
		}
		require.Equal(t, -1, placeOf(o, engine.InventoryRef(1, 21)))
		require.Equal(t, o.TakesSeats(), placeOf(o, engine.SeatmapRef(1)) >= 0)
		for i, seat := range seats {
			require.Equal(t, seat, o.Seat(o.FirstTicket+uint32(i)))
		}
		require.Empty(t, o.Seat(o.FirstTicket-1))
		require.Empty(t, o.Seat(o.FirstTicket+uint32(len(seats))))
	})
}

// TestMostLines takes the largest possible order through its keepers: a ticket type for each line,
// and the seat map.
func TestMostLines(t *testing.T) {
	t.Parallel()
	const most = MaxLines
	r := newRush(t)
	p := Place{Order: engine.NumberedID(1, 1), Email: "buyer@example.com", Customer: 1, Holder: "ann"}
	for i := range int64(most) {
		r.tell(keeper.Offer{Keeper: engine.InventoryRef(1, i+1), Revision: 2, SaleEnd: r.now.Add(time.Hour).UnixMilli(), Seated: true})
		p.Lines = append(p.Lines, order.Line{Type: i + 1, Quantity: 1, Seats: []string{fmt.Sprintf("A%d", i+1)}})
	}
	asked := r.tell(p).Asks
	require.Len(t, asked, most+1)
	seats, ok := asked[most].Cmd.(keeper.Reserve)
	require.True(t, ok)
	require.Equal(t, engine.SeatmapRef(1), asked[most].To)
	require.Len(t, seats.Line.Seats, most)
	require.Len(t, seats.Line.SeatTypes, most)
	require.Equal(t, "ann", seats.Line.Holder)
	var d engine.Decision
	for i, s := range asked {
		require.Empty(t, d.Answers, "after %d keepers of %d", i, len(asked))
		d = r.tell(keeper.Granted{Claim: seats.Claim, Keeper: s.To})
	}
	require.Len(t, d.Answers, 1)
	require.Len(t, d.Sends, most+1, "a free order is sold at once")
	for _, s := range d.Sends {
		require.IsType(t, keeper.Commit{}, s.Cmd)
		require.NotNil(t, r.state.open.get(p.Order))
		require.NotZero(t, r.state.settling[p.Order])
		r.tell(keeper.Closed{Claim: seats.Claim, Keeper: s.To})
	}
	require.Zero(t, r.state.settling[p.Order])
	require.NoError(t, r.state.Check())
}

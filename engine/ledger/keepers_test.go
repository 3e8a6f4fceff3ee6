package ledger

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
)

// TestLines makes sure that every keeper of an order has exactly one of its places, and that every
// ticket has the seat that its line names for it.
func TestLines(t *testing.T) {
	t.Parallel()
	b := New(1)
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
		require.Equal(t, keepers, places.All(o).Len())
		for line := range keepers {
			require.True(t, places.All(o).Has(line))
			require.Equal(t, line, places.Of(o, places.KeeperOf(b.home, o, line)))
		}
		require.Equal(t, -1, places.Of(o, engine.InventoryRef(1, 21)))
		require.Equal(t, o.TakesSeats(), places.Of(o, engine.SeatmapRef(1)) >= 0)
		for i, seat := range seats {
			require.Equal(t, seat, o.Seat(o.FirstTicket+uint32(i)))
		}
		require.Empty(t, o.Seat(o.FirstTicket-1))
		require.Empty(t, o.Seat(o.FirstTicket+uint32(len(seats))))
	})
}

package admission

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// TestTickets mints orders and finds each ticket's order and holder again.
func TestTickets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var minted columns
		var holders []string
		var orders []engine.OrderID
		for n := range rapid.IntRange(1, 30).Draw(t, "orders") {
			o := &order.Order{ID: engine.NumberedID(1, int64(n)), Name: rapid.SampledFrom([]string{"", "Ann", "Bob Ööö"}).Draw(t, "name")}
			for range rapid.IntRange(1, 3).Draw(t, "lines") {
				l := order.Line{Type: 1, Quantity: rapid.Int64Range(1, 5).Draw(t, "quantity")}
				l.AttendeeName = rapid.SampledFrom([]string{"", "Eve"}).Draw(t, "attendee")
				o.Lines = append(o.Lines, l)
				name := l.AttendeeName
				if name == "" {
					name = o.Name
				}
				for range l.Quantity {
					holders, orders = append(holders, name), append(orders, o.ID)
				}
			}
			require.Equal(t, uint32(len(holders))-uint32(o.Tickets())+1, minted.next())
			minted.mintTickets(o)
		}
		require.Equal(t, len(holders), minted.len())
		total := uint32(0)
		for g := range minted.groups() {
			total += minted.size(g)
		}
		require.Equal(t, uint32(len(holders)), total)
		for i := range holders {
			serial := uint32(i + 1)
			require.Equal(t, holders[i], minted.holderOf(serial))
			require.Equal(t, orders[i], minted.order.At(minted.groupOf(serial)))
		}
	})
}

// TestGates counts more gates than the counters tell apart.
func TestGates(t *testing.T) {
	t.Parallel()
	g := newGates()
	for i := range 3 * maxGates {
		g.admit(string(rune('a'+i%26))+engine.NumberedID(0, int64(i)).String(), int64(i)*60_000)
		g.deny("deny" + engine.NumberedID(0, int64(i)).String())
	}
	require.Len(t, g.counts, maxGates+1)
	require.Equal(t, otherGates, g.counts[maxGates].Name)
	require.Len(t, g.minutes, maxMinutes)
	var scanned int64
	for _, c := range g.counts {
		scanned += c.Scanned
		require.Equal(t, c.Scanned, c.Admitted+c.Denied)
	}
	require.Equal(t, int64(6*maxGates), scanned)
	g.admit("late", 0)
	require.Equal(t, int64(2), g.minutes[maxMinutes-1].Count, "a clock that jumped back counts in the last minute")
}

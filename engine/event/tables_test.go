package event

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// TestFee compares the fee with 5 % in exact arithmetic, rounded half up.
func TestFee(t *testing.T) {
	t.Parallel()
	for price, fee := range map[int64]int64{0: 0, 1: 0, 9: 0, 10: 1, 29: 1, 30: 2, 100: 5, 109: 5, 110: 6, 2_000: 100} {
		require.Equal(t, fee, order.Fee(price), "price %d", price)
	}
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Int64Range(0, 1_000_000_000_000).Draw(t, "price")
		exact := new(big.Rat).SetFrac64(price*order.FeeBasisPoints, 10_000)
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(order.Fee(price)), exact)
		require.True(t, off.Cmp(big.NewRat(-1, 2)) > 0 && off.Cmp(big.NewRat(1, 2)) <= 0, "%d: off by %s", price, off)
	})
}

// TestTotal makes sure that fees are rounded per ticket, and that absorbing them
// moves them from the buyer to the payout and nothing else.
func TestTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var o order.Order
		var subtotal, fees, tickets int64
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			l := order.Line{
				Quantity: rapid.Int64Range(1, 100).Draw(t, "quantity"), UnitPrice: rapid.Int64Range(0, 10_000_000).Draw(t, "price"),
			}
			o.Lines = append(o.Lines, l)
			for range l.Quantity {
				subtotal, fees, tickets = subtotal+l.UnitPrice, fees+order.Fee(l.UnitPrice), tickets+1
			}
		}
		o.SumUp(false)
		require.Equal(t, [4]int64{subtotal, fees, 0, subtotal + fees}, [4]int64{o.Subtotal, o.Fees, o.Absorbed, o.Total})
		o.SumUp(true)
		require.Equal(t, [4]int64{subtotal, 0, fees, subtotal}, [4]int64{o.Subtotal, o.Fees, o.Absorbed, o.Total})
		require.Equal(t, tickets, o.Tickets())
	})
}

// TestPast compares the past with a plain list: it knows the last outcome of a closed order for at
// least 24 hours, and does not grow for ever.
func TestPast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type closed struct {
			at     int64
			status string
			print  uint64
		}
		p, last := newPast(), make(map[engine.OrderID]closed)
		var now, recent int64
		var ats []int64
		for n := range rapid.IntRange(1, 300).Draw(t, "orders") {
			now += rapid.Int64Range(0, pastMillis/20).Draw(t, "pause")
			o := &order.Order{
				ID:          engine.NumberedID(1, rapid.Int64Range(1, 100).Draw(t, "order")),
				Status:      rapid.SampledFrom(statuses).Draw(t, "status"),
				Fingerprint: uint64(n),
			}
			p.add(o, now)
			last[o.ID] = closed{now, o.Status, o.Fingerprint}
			ats = append(ats, now)
			for id, c := range last {
				status, print, ok := p.find(id)
				if c.at > now-pastMillis {
					require.True(t, ok, "forgotten after %d ms", now-c.at)
				}
				if ok {
					require.Equal(t, closed{c.at, status, print}, c)
				}
			}
			recent = 0
			for _, at := range ats {
				if at > now-pastMillis {
					recent++
				}
			}
		}
		require.Equal(t, p.ids.Len(), p.status.Len())
		require.Equal(t, p.ids.Len(), p.prints.Len())
		require.Equal(t, p.ids.Len(), p.at.Len())
		require.LessOrEqual(t, len(p.index), p.ids.Len())
		require.GreaterOrEqual(t, int64(p.ids.Len()), recent)
		for i := range 400 { // much later, everything is forgotten
			p.add(&order.Order{ID: engine.NumberedID(2, int64(i)), Status: order.StatusCompleted}, now+2*pastMillis)
		}
		require.Equal(t, 400, p.ids.Len())
		require.Len(t, p.index, 400)
	})
}

// TestQueue takes a queue through clocks that jump back and forth: it is always in order, and
// entries that are due at the same time come out in the order they came in.
func TestQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var now, n int64
		held := make(map[int64]int64) // number to due
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = max(0, now+rapid.Int64Range(-500, 1_000).Draw(t, "jump"))
			if rapid.Bool().Draw(t, "push") {
				n++
				q.push(now+1_000, engine.NumberedID(1, n))
				held[n] = now + 1_000
			} else {
				limit := rapid.IntRange(0, 5).Draw(t, "limit")
				ready := q.ready(now, limit)
				require.LessOrEqual(t, len(ready), limit)
				due := 0
				for _, at := range held {
					if at <= now {
						due++
					}
				}
				require.Len(t, ready, min(limit, due))
				for _, o := range q.pop(len(ready)) {
					require.LessOrEqual(t, o.at, now)
					require.Equal(t, held[o.id.Number()], o.at)
					delete(held, o.id.Number())
				}
			}
			require.Equal(t, len(held), q.items.Len())
			for i := 1; i < q.items.Len(); i++ {
				a, b := q.items.At(i-1), q.items.At(i)
				require.True(t, a.at < b.at || a.at == b.at && a.id.Number() < b.id.Number(), "%v before %v", a, b)
			}
			if len(held) > 0 {
				require.Equal(t, q.items.At(0).at, q.due)
			} else {
				require.Zero(t, q.due)
			}
		}
	})
}

// TestOrderTable compares the table with a map.
func TestOrderTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, want := newOrderTable(), make(map[engine.OrderID]*order.Order)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			id := engine.NumberedID(1, rapid.Int64Range(1, 10).Draw(t, "order"))
			if rapid.Bool().Draw(t, "put") {
				want[id] = &order.Order{ID: id, Total: rapid.Int64().Draw(t, "total")}
				table.put(want[id])
			} else {
				delete(want, id)
				table.drop(id)
			}
			require.Equal(t, len(want), table.rows.Len())
			for id, o := range want {
				require.Equal(t, o, table.get(id))
			}
			require.Nil(t, table.get(engine.NumberedID(2, 1)))
		}
	})
}

// TestTickets mints orders and finds each ticket's order and holder again.
func TestTickets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var minted tickets
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

package tables

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
		p, last := NewClosed(), make(map[engine.OrderID]closed)
		var now, recent int64
		var ats []int64
		for n := range rapid.IntRange(1, 300).Draw(t, "orders") {
			now += rapid.Int64Range(0, pastMillis/20).Draw(t, "pause")
			o := &order.Order{
				ID:          engine.NumberedID(1, rapid.Int64Range(1, 100).Draw(t, "order")),
				Status:      rapid.SampledFrom(statuses).Draw(t, "status"),
				Fingerprint: uint64(n),
			}
			p.Add(o, now)
			last[o.ID] = closed{now, o.Status, o.Fingerprint}
			ats = append(ats, now)
			for id, c := range last {
				status, print, ok := p.Find(id)
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
			p.Add(&order.Order{ID: engine.NumberedID(2, int64(i)), Status: order.StatusCompleted}, now+2*pastMillis)
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
		var q Queue
		var now, n int64
		held := make(map[int64]int64) // number to due
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = max(0, now+rapid.Int64Range(-500, 1_000).Draw(t, "jump"))
			if rapid.Bool().Draw(t, "push") {
				n++
				q.Push(now+1_000, engine.NumberedID(1, n))
				held[n] = now + 1_000
			} else {
				limit := rapid.IntRange(0, 5).Draw(t, "limit")
				ready := q.Ready(now, limit)
				require.LessOrEqual(t, len(ready), limit)
				due := 0
				for _, at := range held {
					if at <= now {
						due++
					}
				}
				require.Len(t, ready, min(limit, due))
				for _, o := range q.Pop(len(ready)) {
					require.LessOrEqual(t, o.At, now)
					require.Equal(t, held[o.ID.Number()], o.At)
					delete(held, o.ID.Number())
				}
			}
			require.Equal(t, len(held), q.items.Len())
			for i := 1; i < q.items.Len(); i++ {
				a, b := q.items.At(i-1), q.items.At(i)
				require.True(t, a.At < b.At || a.At == b.At && a.ID.Number() < b.ID.Number(), "%v before %v", a, b)
			}
			if len(held) > 0 {
				require.Equal(t, q.items.At(0).At, q.due)
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
		table, want := NewOrders(), make(map[engine.OrderID]*order.Order)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			id := engine.NumberedID(1, rapid.Int64Range(1, 10).Draw(t, "order"))
			if rapid.Bool().Draw(t, "put") {
				want[id] = &order.Order{ID: id, Total: rapid.Int64().Draw(t, "total")}
				table.Put(want[id])
			} else {
				delete(want, id)
				table.Drop(id)
			}
			require.Equal(t, len(want), table.rows.Len())
			for id, o := range want {
				require.Equal(t, o, table.Get(id))
			}
			require.Nil(t, table.Get(engine.NumberedID(2, 1)))
		}
	})
}

package event

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// rush is an event on sale with one ticket type, whose time and keepers the test drives itself.
type rush struct {
	tb    testing.TB
	state *State
	now   time.Time
}

func newRush(tb testing.TB) *rush {
	tb.Helper()
	r := &rush{tb: tb, now: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)}
	r.state, _ = New(engine.EventRef(1)).(*State)
	r.tell(engine.Wake{Epoch: 1})
	r.tell(Create{Details: Details{
		Category: "music", Currency: "USD", Capacity: NoCapacity, OrderWindow: 900_000,
		StartAt: r.now.Add(48 * time.Hour).UnixMilli(), EndAt: r.now.Add(50 * time.Hour).UnixMilli(),
	}})
	r.tell(keeper.Offer{Keeper: engine.InventoryRef(1, 1), Revision: 1, SaleEnd: r.now.Add(48 * time.Hour).UnixMilli()})
	r.tell(Move{To: StatusPublished})
	return r
}

func (r *rush) tell(cmd engine.Command) engine.Decision {
	d := r.state.Decide(cmd, r.now)
	for _, f := range d.Facts {
		r.state.Apply(f)
	}
	return d
}

// buy places the n-th order, and makes its keeper grant and close it.
func (r *rush) buy(n int, price int64, from uint64) {
	who := uint64(n+1) * 0x9e3779b97f4a7c15 // a hash, as the edge sends it
	p := ledger.Place{
		Order: engine.NumberedID(1, int64(n+1)), Alias: engine.NumberedID(1, int64(-n-2)), Fingerprint: 1, Email: "buyer@example.com",
		Customer: who, Client: who & from, Lines: []order.Line{{Type: 1, Quantity: 1}},
	}
	d := r.tell(p)
	reserve, ok := d.Asks[0].Cmd.(keeper.Reserve)
	require.True(r.tb, ok)
	r.tell(keeper.Granted{Claim: reserve.Claim, Keeper: engine.InventoryRef(1, 1), Price: price, Name: "GA"})
	if price == 0 {
		r.tell(keeper.Closed{Claim: reserve.Claim, Keeper: engine.InventoryRef(1, 1)})
	}
	if next := r.state.Next(); !next.IsZero() && !next.After(r.now) {
		r.tell(engine.Wake{})
	}
	r.now = r.now.Add(40 * time.Microsecond)
}

// TestLateMoneyWaits makes sure that only new orders are asked for at once, and without a floor
// (docs/adr/0009).
func TestLateMoneyWaits(t *testing.T) {
	t.Parallel()
	r := newRush(t)
	id := engine.NumberedID(1, 1)
	d := r.tell(ledger.Place{Order: id, Email: "buyer@example.com", Customer: 1, Lines: []order.Line{{Type: 1, Quantity: 1}}})
	require.Empty(t, d.Sends)
	reserve, ok := d.Asks[0].Cmd.(keeper.Reserve)
	require.True(t, ok)
	require.Zero(t, reserve.Floor)
	r.tell(keeper.Granted{Claim: reserve.Claim, Keeper: engine.InventoryRef(1, 1), Price: 2_000, Name: "GA"})
	begun, ok := r.tell(ledger.BeginPayment{Order: id, Provider: "paystack", Number: "n"}).Reply.(*ledger.OrderReply)
	require.True(t, ok)
	paid := begun.Order.Attempts[0]
	for r.now = r.now.Add(time.Hour); r.state.book.Find(id).Unpaid(); {
		r.tell(engine.Wake{})
	}
	d = r.tell(ledger.ReportPayment{Order: id, Reference: paid.Reference, Status: order.AttemptSucceeded, Received: paid.Amount, Currency: "USD"})
	require.Empty(t, d.Asks)
	reserve, ok = d.Sends[0].Cmd.(keeper.Reserve)
	require.True(t, ok)
	require.True(t, reserve.Line.Late)
	require.NotZero(t, reserve.Floor)
}

// TestOvertakenWhileLoading lets an activation load an order that its successor sold: the
// activation claimed first and read the journal last. It stays sound until it is fenced, and what
// it asks its keepers for meanwhile ends below the floor.
func TestOvertakenWhileLoading(t *testing.T) {
	t.Parallel()
	r := newRush(t)
	sold := &order.Order{
		ID: engine.NumberedID(1, 1), Serial: keeper.NewSerial(3, 1), Status: order.StatusPending, Customer: 1,
		ExpiresAt: r.now.Add(time.Hour).UnixMilli(), Lines: []order.Line{{Type: 1, Quantity: 1, UnitPrice: 2_000}}, Total: 2_000,
	}
	r.state.Apply(&order.Created{Order: sold})
	r.tell(engine.Wake{Epoch: 2})
	d := r.tell(ledger.Place{Order: engine.NumberedID(1, 2), Email: "buyer@example.com", Customer: 2, Lines: []order.Line{{Type: 1, Quantity: 1}}})
	reserve, ok := d.Asks[0].Cmd.(keeper.Reserve)
	require.True(t, ok)
	release, ok := r.tell(keeper.Inquire{Keeper: engine.InventoryRef(1, 1), Claims: []keeper.Claim{{Order: engine.NumberedID(1, 3), Serial: 1}}}).Sends[0].Cmd.(keeper.Release)
	require.True(t, ok)
	require.Less(t, reserve.Serial, release.Floor)
	require.Zero(t, reserve.Floor)
	require.NoError(t, r.state.Check())
}

// isClosed reports whether the ledger remembers only how an order ended.
func (r *rush) isClosed(id engine.OrderID) bool {
	reply, ok := r.tell(ledger.GetOrder{Order: id}).Reply.(*ledger.OrderReply)
	require.True(r.tb, ok)
	return reply.Past
}

// TestMostLines takes the largest possible order through its keepers: a ticket type for each line,
// and the seat map.
func TestMostLines(t *testing.T) {
	t.Parallel()
	const most = ledger.MaxLines
	r := newRush(t)
	p := ledger.Place{Order: engine.NumberedID(1, 1), Email: "buyer@example.com", Customer: 1, Holder: "ann"}
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
	for i, s := range d.Sends {
		require.IsType(t, keeper.Commit{}, s.Cmd)
		if i == most {
			r.now = r.now.Add(3 * time.Second)
			require.Equal(t, []engine.Send{s}, r.tell(engine.Wake{}).Sends, "only the last keeper is told again")
		}
		require.False(t, r.isClosed(p.Order))
		r.tell(keeper.Closed{Claim: seats.Claim, Keeper: s.To})
	}
	r.now = r.now.Add(time.Second)
	r.tell(engine.Wake{})
	require.True(t, r.isClosed(p.Order))
	require.NoError(t, r.state.Check())
}

// BenchmarkPlace measures what the event's actor spends on an order of a rush at 25,000 a second:
// sold at a box office, which no velocity rule counts, and to buyers with an address each.
func BenchmarkPlace(b *testing.B) {
	for _, bb := range []struct {
		name  string
		price int64
		from  uint64
	}{{"paid/box office", 2_000, 0}, {"paid/buyers", 2_000, math.MaxUint64}, {"free/box office", 0, 0}, {"free/buyers", 0, math.MaxUint64}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			r := newRush(b)
			for n := 0; b.Loop(); n++ {
				r.buy(n, bb.price, bb.from)
			}
		})
	}
}

package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// soldOut returns the facts of an event with so many paid orders of one ticket each, of which every
// fifth ticket is checked in, and a fifth as many unpaid orders.
func soldOut(orders int) []engine.Fact {
	at := Epoch.UnixMilli()
	facts := []engine.Fact{&event.Created{Details: &event.Details{
		Title: "Show", Category: "music", Currency: "USD", Capacity: event.NoCapacity, OrderWindow: 900_000,
		StartAt: at + 3_600_000, EndAt: at + 7_200_000,
	}, At: at}}
	for i := range orders + orders/5 {
		o := &order.Order{
			ID: engine.NumberedID(1, int64(i+1)), Serial: keeper.NewSerial(1, uint32(i+1)), Fingerprint: uint64(i),
			Status: order.StatusPending, Email: fmt.Sprintf("buyer%d@example.com", i), Name: fmt.Sprintf("Buyer Number %d", i),
			Customer: uint64(i) * 0x9e3779b97f4a7c15, Client: uint64(i)*0x9e3779b97f4a7c15 + 1, Currency: "USD", Subtotal: 2_000, Fees: 100, Total: 2_100,
			Lines:     []order.Line{{Type: 1, Name: "GA", Quantity: 1, UnitPrice: 2_000}},
			CreatedAt: at, UpdatedAt: at, ExpiresAt: at + 900_000,
		}
		facts = append(facts, &order.Created{Order: o})
		if i >= orders {
			continue
		}
		facts = append(facts,
			&order.Completed{ID: o.ID, Serial: o.Serial, First: uint32(i + 1), At: at},
			&ledger.OrderClosed{IDs: []engine.OrderID{o.ID}, At: at})
		if i%5 == 0 {
			facts = append(facts, &admission.CheckedIn{Ticket: uint32(i + 1), At: at, Gate: "North", Device: "d", Key: uint64(i)})
		}
	}
	return facts
}

// reserved returns the facts of a ticket type with so many units sold to as many buyers, and a
// fifth as many reserved.
func reserved(units int) []engine.Fact {
	facts := []engine.Fact{&inventory.Created{Details: &inventory.Details{Name: "GA", Quantity: int64(2 * units)}}}
	for i := range units + units/5 {
		c := keeper.Claim{Order: engine.NumberedID(1, int64(i+1)), Serial: keeper.NewSerial(1, uint32(i+1))}
		facts = append(facts, &keeper.ReservedFact{Claim: c, Floor: 1, Quantity: 1, Customer: uint64(i)})
		if i < units {
			facts = append(facts, &keeper.CommittedFact{Claim: c, Floor: 1})
		}
	}
	return facts
}

// big returns a state of an event and one of a ticket type, each with size tickets sold.
func big(tb testing.TB, size int) map[engine.Ref]engine.State {
	tb.Helper()
	states := make(map[engine.Ref]engine.State)
	for ref, facts := range map[engine.Ref][]engine.Fact{
		engine.EventRef(1): soldOut(size), engine.InventoryRef(1, 1): reserved(size),
	} {
		kind, err := all.Kind(ref.Kind)
		require.NoError(tb, err)
		s := kind.New(ref)
		for _, f := range facts {
			s.Apply(f)
		}
		require.NoError(tb, s.Check())
		states[ref] = s
	}
	return states
}

// thaw decodes a snapshot as a load does.
func thaw(tb testing.TB, ref engine.Ref, b []byte) engine.State {
	tb.Helper()
	kind, err := all.Kind(ref.Kind)
	require.NoError(tb, err)
	v := kind.Frozen()
	require.NoError(tb, codec.Unmarshal(b, v))
	s, err := kind.Thaw(ref, v)
	require.NoError(tb, err)
	return s
}

// TestFreezeThaw takes a state of each kind through a snapshot: the result is the same to the byte,
// and later changes of the state do not change what it froze.
func TestFreezeThaw(t *testing.T) {
	t.Parallel()
	for ref, s := range big(t, 1_000) {
		frozen := s.Freeze()
		b, err := codec.Marshal(frozen)
		require.NoError(t, err)
		require.NoError(t, CompareStates(s, thaw(t, ref, b)))

		for _, f := range more(ref, 1_000) {
			s.Apply(f)
		}
		require.NoError(t, s.Check())
		again, err := codec.Marshal(frozen)
		require.NoError(t, err)
		require.Equal(t, b, again, "%s changes what it has frozen", ref.Name())
		require.Error(t, CompareStates(s, thaw(t, ref, b)))
	}
}

// more returns facts that change a bit of everything in a big state.
func more(ref engine.Ref, size int) []engine.Fact {
	at := Epoch.Add(time.Minute).UnixMilli()
	open := func(i int) keeper.Claim {
		return keeper.Claim{Order: engine.NumberedID(1, int64(size+i)), Serial: keeper.NewSerial(1, uint32(size+i))}
	}
	if ref.Kind == engine.KindInventory {
		return []engine.Fact{
			&keeper.CommittedFact{Claim: open(1)}, &keeper.ReleasedFact{Claim: open(2)},
			&keeper.ReservedFact{Claim: keeper.Claim{Order: open(2).Order, Serial: keeper.NewSerial(2, 1)}, Quantity: 1, Customer: 3},
		}
	}
	return []engine.Fact{
		&order.Completed{ID: open(1).Order, Serial: open(1).Serial, First: uint32(size + 1), At: at},
		&order.Ended{ID: open(2).Order, Status: order.StatusCancelled, At: at},
		&ledger.OrderClosed{IDs: []engine.OrderID{open(1).Order, open(2).Order}, At: at},
		&order.PaymentBegun{ID: open(3).Order, Attempt: order.Attempt{Reference: "r", Status: order.AttemptPending}, ExpiresAt: at},
		&admission.CheckedIn{Ticket: 2, At: at, Gate: "South"}, &admission.CheckInDenied{Ticket: 2, At: at, Gate: "North"},
		&event.Moved{From: event.StatusDraft, To: event.StatusPublished, At: at},
	}
}

// BenchmarkFreeze measures what a snapshot costs its actor at 100,000 tickets: at most 5 ms.
func BenchmarkFreeze(b *testing.B) {
	for ref, s := range big(b, 100_000) {
		b.Run(ref.Kind.String(), func(b *testing.B) {
			for b.Loop() {
				s.Freeze()
			}
		})
	}
}

// BenchmarkThaw measures what loading costs at 100,000 tickets, including decoding: with the
// database's part at most 500 ms.
func BenchmarkThaw(b *testing.B) {
	for ref, s := range big(b, 100_000) {
		bytes, err := codec.Marshal(s.Freeze())
		require.NoError(b, err)
		b.Run(ref.Kind.String(), func(b *testing.B) {
			b.ReportMetric(float64(len(bytes)), "bytes")
			for b.Loop() {
				thaw(b, ref, bytes)
			}
		})
	}
}

// BenchmarkReplay measures what loading costs without a snapshot.
func BenchmarkReplay(b *testing.B) {
	facts := soldOut(100_000)
	kind, err := all.Kind(engine.KindEvent)
	require.NoError(b, err)
	for b.Loop() {
		s := kind.New(engine.EventRef(1))
		for _, f := range facts {
			s.Apply(f)
		}
	}
	b.ReportMetric(float64(len(facts)), "facts")
}

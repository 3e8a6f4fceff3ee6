package keeper

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
)

// TestSerials compares the set with a plain map.
func TestSerials(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, want := make(serials), make(map[Serial]bool)
		draw := func(name string) Serial {
			return NewSerial(rapid.Int32Range(1, 3).Draw(t, name), rapid.Uint32Range(0, 300).Draw(t, name))
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := draw("serial")
			s.add(n)
			want[n] = true
		}
		floor := draw("floor")
		s.forget(floor)
		for epoch := int32(1); epoch <= 3; epoch++ {
			for n := range uint32(301) {
				if serial := NewSerial(epoch, n); serial >= floor {
					require.Equal(t, want[serial], s.has(serial), "%d.%d", epoch, n)
				}
			}
		}
		words := s.freeze()
		require.Len(t, words, 2*len(s))
		for i := 0; i < len(words); i += 2 {
			require.Equal(t, s[words[i]], words[i+1])
			require.True(t, i == 0 || words[i-2] < words[i], "in order")
		}
	})
}

func TestSerial(t *testing.T) {
	t.Parallel()
	require.Equal(t, int32(7), NewSerial(7, 9).Epoch())
	require.Less(t, NewSerial(1, 1<<32-1), NewSerial(2, 0))
	require.Less(t, NewSerial(2, 1), NewSerial(2, 2))
}

// TestBook compares a book with a plain model of the protocol, under messages in any order, with
// snapshots in between.
func TestBook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := NewBook()
		held := make(map[engine.OrderID]*ReservedFact)
		over := make(map[Claim]bool)
		var at int64
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			at += rapid.Int64Range(-5_000, 20_000).Draw(t, "jump")
			order := rapid.Int64Range(1, 8).Draw(t, "order")
			c := Claim{Order: engine.NumberedID(1, order)}
			// No two orders share a serial, as a ledger makes sure.
			c.Serial = NewSerial(rapid.Int32Range(1, 3).Draw(t, "epoch"), uint32(order*100)+rapid.Uint32Range(0, 3).Draw(t, "n"))
			state, h := b.Look(c)
			mine := held[c.Order]
			switch {
			case mine != nil && mine.Claim == c:
				require.Equal(t, Open, state)
				require.Equal(t, mine.Quantity, h.Quantity)
			case over[c] || mine != nil && mine.Claim.Serial > c.Serial:
				require.Equal(t, Ended, state)
			case mine != nil:
				require.Equal(t, Replaces, state)
			default:
				require.Equal(t, Unknown, state)
			}
			switch step := rapid.IntRange(0, 5).Draw(t, "step"); {
			case step < 2 && (state == Unknown || state == Replaces):
				f := &ReservedFact{Claim: c, At: at, Quantity: rapid.Int64Range(1, 4).Draw(t, "quantity")}
				if old, replaced := b.Reserve(f); mine != nil {
					require.True(t, replaced)
					require.Equal(t, mine.Claim, old.Claim)
					over[mine.Claim] = true
				}
				held[c.Order] = f
			case step == 2 && state == Open:
				was, open := b.End(c, 0)
				require.True(t, open)
				require.Equal(t, h, was)
				delete(held, c.Order)
				over[c] = true
			case step == 3 && state == Open:
				b.applyConfirmed(&ConfirmedFact{Claims: []Claim{c}})
			case step == 4:
				b = Thaw(b.Freeze())
			case step == 5:
				ask, f := b.Inquire(at)
				for _, c := range ask {
					require.Equal(t, c, held[c.Order].Claim)
				}
				if f != nil {
					b.applyInquired(f)
				}
			}
			require.NoError(t, b.Check())
			require.Equal(t, len(held), b.Len())
			var sum int64
			for _, f := range held {
				sum += f.Quantity
			}
			require.Equal(t, sum, b.Quantity())
		}
	})
}

// TestBookFloor makes sure that everything below the floor counts as ended, except what is still
// held, and that the book does not remember each of those serials.
func TestBookFloor(t *testing.T) {
	t.Parallel()
	b := NewBook()
	claim := func(n uint32) Claim { return Claim{engine.NumberedID(1, int64(n)), NewSerial(1, n)} }
	b.Reserve(&ReservedFact{Claim: claim(1), Quantity: 1})
	for n := uint32(2); n < 10_000; n++ {
		b.Reserve(&ReservedFact{Claim: claim(n), Quantity: 1, Floor: claim(n).Serial})
		b.End(claim(n), claim(n+1).Serial)
	}
	require.LessOrEqual(t, len(b.ended), 2)
	state, _ := b.Look(claim(1))
	require.Equal(t, Open, state)
	state, _ = b.Look(Claim{engine.NumberedID(9, 9), NewSerial(1, 5_000)})
	require.Equal(t, Ended, state, "a late Reserve of a serial below the floor")
	state, _ = b.Look(claim(10_000))
	require.Equal(t, Unknown, state)
}

// TestBookBars makes sure that a release that came before its reservation is forgotten after a
// crash and below the floor.
func TestBookBars(t *testing.T) {
	t.Parallel()
	b := NewBook()
	c := Claim{engine.NumberedID(1, 1), NewSerial(1, 1)}
	b.applyBarred(&BarredFact{Claim: c})
	state, _ := b.Look(c)
	require.Equal(t, Barred, state)
	again := Thaw(b.Freeze())
	state, _ = again.Look(c)
	require.Equal(t, Unknown, state)
	b.End(Claim{engine.NumberedID(1, 2), NewSerial(1, 2)}, NewSerial(2, 1))
	require.Empty(t, b.barred)
	state, _ = b.Look(c)
	require.Equal(t, Ended, state)
}

// TestBookInquires asks about many reservations in parts, again and again until each is confirmed
// or ended.
func TestBookInquires(t *testing.T) {
	t.Parallel()
	b := NewBook()
	const n = 3 * MaxInquire
	for i := range uint32(n) {
		b.Reserve(&ReservedFact{Claim: Claim{engine.NumberedID(1, int64(i)), NewSerial(1, i)}, At: 1, Quantity: 1})
	}
	due := inquireAt(1)
	require.Equal(t, due, b.Due())
	ask, f := b.Inquire(due - 1)
	require.Empty(t, ask)
	require.Nil(t, f)
	asked := make(map[Claim]bool)
	for now := range 3 {
		now := due + int64(now)*inquireRest
		require.Equal(t, now, b.Due())
		early, _ := b.Inquire(now - 1)
		require.Empty(t, early)
		ask, f = b.Inquire(now)
		require.Len(t, ask, MaxInquire)
		for _, c := range ask {
			asked[c] = true
		}
		b.applyInquired(f)
	}
	require.Len(t, asked, n)
	require.Equal(t, inquireAt(due), b.Due())
	b.applyConfirmed(&ConfirmedFact{Claims: ask})
	for now := b.Due(); ; now = b.Due() {
		more, f := b.Inquire(now)
		if len(more) == 0 {
			b.applyInquired(f)
			break
		}
		for _, c := range more {
			require.NotContains(t, ask, c)
			b.End(c, 0)
		}
		b.applyInquired(f)
	}
	require.Zero(t, b.Due())
	require.Equal(t, MaxInquire, b.Len())
}

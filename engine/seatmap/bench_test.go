package seatmap_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/codec"
)

// hall returns a map of so many seats, in rows of 25 with an aisle in the middle and 40 rows to a
// section.
func hall(seats int) *seatmap.Layout {
	l := &seatmap.Layout{Map: [16]byte{9}, Version: 1, Width: 10_000, Height: 15_000, Focus: [2]int32{5_000, 0}}
	for i := range seats {
		row, n := i/25, i%25
		section := row / 40
		if n == 0 {
			if row%40 == 0 {
				l.Sections = append(l.Sections, seatmap.Section{ID: fmt.Sprint(100 + section), Name: fmt.Sprint("Block ", section)})
			}
			l.Rows = append(l.Rows, seatmap.Row{Section: int32(section), Label: fmt.Sprint(row % 40)})
		}
		l.SeatIDs = append(l.SeatIDs, fmt.Sprintf("%d-%d-%d", 100+section, row%40, n+1))
		l.Labels = append(l.Labels, fmt.Sprint(n+1))
		l.SeatRow = append(l.SeatRow, int32(row))
		l.SeatX = append(l.SeatX, int32(section%10*1_000+n*30))
		l.SeatY = append(l.SeatY, int32(section/10*1_200+row%40*30))
		l.SeatKind = append(l.SeatKind, seatmap.Standard)
		l.Gap = append(l.Gap, n == 12)
	}
	return l
}

// opened returns the seat map of a hall in which every seat is for sale.
func opened(t testing.TB, l *seatmap.Layout) engine.State {
	s := seatmap.New(ref)
	var prices seatmap.Price
	for i, section := range l.Sections {
		prices.Sections = append(prices.Sections, seatmap.SectionPrice{Section: section.ID, Type: int64(1 + i%4)})
	}
	do(t, s, seatmap.Attach{Layout: l})
	do(t, s, prices)
	return s
}

var dawn = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func do(t testing.TB, s engine.State, c engine.Command) engine.Decision {
	d := s.Decide(c, dawn)
	for _, f := range d.Facts {
		s.Apply(f)
	}
	if r, ok := d.Reply.(*engine.Refusal); ok {
		require.NoError(t, r)
	}
	return d
}

func holder(i int) string { return fmt.Sprintf("session-%08d-4f1c-9a77-5b2c63e0d1aa", i) }

// crowded returns a hall in the middle of its sale: a third of the seats is sold in fours, a third
// is held in fours, and a few are blocked.
func crowded(t testing.TB, seats int) engine.State {
	l := hall(seats)
	s := opened(t, l)
	for i := 0; i+4 <= seats; i += 4 {
		ids := []string(l.SeatIDs[i : i+4])
		switch i / 4 % 3 {
		case 0:
			do(t, s, seatmap.Hold{Holder: holder(i), Principal: uint64(i), Seats: ids})
		case 1:
			c := keeper.Claim{Order: engine.NumberedID(1, int64(i)), Serial: keeper.NewSerial(1, uint32(i))}
			line := keeper.Line{Seats: ids}
			for k := range ids {
				line.SeatTypes = append(line.SeatTypes, int64(1+l.SectionOf(int32(i+k))%4))
			}
			do(t, s, keeper.Reserve{Claim: c, Line: line})
			if i/4%2 == 0 {
				do(t, s, keeper.Commit{Claim: c})
			}
		default:
			if i%25 == 0 {
				do(t, s, seatmap.Block{Block: ids})
			}
		}
	}
	require.NoError(t, s.Check())
	return s
}

// BenchmarkHold measures 2,000 shoppers who each hold four seats, and then another four, and so on,
// on a map of 20,000.
func BenchmarkHold(b *testing.B) {
	l := hall(20_000)
	s := opened(b, l)
	commands := make([]engine.Command, 0, 4_000)
	for i := range 4_000 {
		at := i/5*25 + i%5*4
		commands = append(commands, seatmap.Hold{
			Holder: holder(i % 2_000), Principal: uint64(i), Seats: l.SeatIDs[at : at+4],
		})
	}
	b.ReportAllocs()
	held, n := 0, 0
	for b.Loop() {
		d := s.Decide(commands[n%len(commands)], dawn)
		for _, f := range d.Facts {
			s.Apply(f)
			held++
		}
		n++
	}
	b.ReportMetric(float64(held)/float64(n), "facts/op")
}

// BenchmarkHoldFact states the bytes that a hold of four seats takes in the journal.
func BenchmarkHoldFact(b *testing.B) {
	l := hall(20_000)
	s := opened(b, l)
	d := s.Decide(seatmap.Hold{Holder: holder(1), Principal: 1 << 60, Seats: l.SeatIDs[10_000:10_004]}, dawn)
	var buf []byte
	for b.Loop() {
		var err error
		buf, err = codec.AppendFact(buf[:0], d.Facts[0])
		require.NoError(b, err)
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

// BenchmarkBest asks for the best four of 20,000 seats, of which a share is taken at random, so
// that the free seats lie in pieces.
func BenchmarkBest(b *testing.B) {
	for _, taken := range []float64{0, 0.5, 0.9, 0.99} {
		b.Run(fmt.Sprintf("taken=%v", taken), func(b *testing.B) {
			l := hall(20_000)
			s := opened(b, l)
			random := rand.New(rand.NewPCG(1, 2))
			var block []string
			for _, id := range l.SeatIDs {
				if random.Float64() < taken {
					block = append(block, id)
				}
			}
			for ids := range slices.Chunk(block, seatmap.MaxBlocks) {
				do(b, s, seatmap.Block{Block: ids})
			}
			took := make([]time.Duration, 0, 1<<16)
			section := 0
			for b.Loop() {
				c := seatmap.BestAvailable{Holder: "somebody", Quantity: 4}
				if section++; section%2 == 0 {
					c.Type = int64(1 + section/2%4)
				}
				began := time.Now()
				s.Decide(c, dawn)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}

// BenchmarkFreeze copies 70,000 seats for a snapshot, and states its size.
func BenchmarkFreeze(b *testing.B) {
	const seats = 70_000
	s := crowded(b, seats)
	var f any
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		f = s.Freeze()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	bytes, err := codec.Marshal(f)
	require.NoError(b, err)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(len(bytes))/seats, "bytes/seat")
	empty, err := codec.Marshal(opened(b, hall(seats)).Freeze())
	require.NoError(b, err)
	b.ReportMetric(float64(len(empty))/seats, "empty-bytes/seat")
}

// BenchmarkActivate makes the state of 70,000 seats from its snapshot's bytes.
func BenchmarkActivate(b *testing.B) {
	bytes, err := codec.Marshal(crowded(b, 70_000).Freeze())
	require.NoError(b, err)
	for b.Loop() {
		activate(b, bytes)
	}
}

func activate(t testing.TB, bytes []byte) engine.State {
	f := new(seatmap.Frozen)
	require.NoError(t, codec.Unmarshal(bytes, f))
	s, err := seatmap.Thaw(ref, f)
	require.NoError(t, err)
	return s
}

// BenchmarkView packs the states of 70,000 seats.
func BenchmarkView(b *testing.B) {
	s := crowded(b, 70_000)
	for b.Loop() {
		s.Decide(seatmap.View{}, dawn)
	}
}

// BenchmarkMemory states what a seat takes, once activated.
func BenchmarkMemory(b *testing.B) {
	const seats = 70_000
	for name, state := range map[string]engine.State{"free": opened(b, hall(seats)), "crowded": crowded(b, seats)} {
		bytes, err := codec.Marshal(state.Freeze())
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := activate(b, bytes)
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(s)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/seats, "bytes/seat")
		})
	}
}

package seatmap_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/codec"
)

// TestLayoutValidates breaks a good layout in many ways.
func TestLayoutValidates(t *testing.T) {
	t.Parallel()
	good := func() *seatmap.Layout { return enginetest.NewLayout(1, "floor:A=ss|w", "floor:B=scs", "back:C=ss") }
	require.NoError(t, good().Validate())
	require.NoError(t, hall(seatmap.MaxSeats).Validate())
	for name, spoil := range map[string]func(l *seatmap.Layout){
		"the version":                  func(l *seatmap.Layout) { l.Version = 0 },
		"1 to 100000 seats, not 0":     func(l *seatmap.Layout) { *l = seatmap.Layout{Version: 1} },
		"1 to 100000 seats, not 10000": func(l *seatmap.Layout) { *l = *hall(seatmap.MaxSeats + 1) },
		"1 to 500 sections, not 0":     func(l *seatmap.Layout) { l.Sections = nil },
		"1 to 500 sections, not 501":   func(l *seatmap.Layout) { l.Sections = make([]seatmap.Section, 501) },
		"0 rows":                       func(l *seatmap.Layout) { l.Rows = nil },
		"9 rows":                       func(l *seatmap.Layout) { l.Rows = make([]seatmap.Row, 9) },
		"units, not 0 x":               func(l *seatmap.Layout) { l.Width = 0 },
		"x 1000001":                    func(l *seatmap.Layout) { l.Height = seatmap.MaxCanvas + 1 },
		"focal point":                  func(l *seatmap.Layout) { l.Focus[1] = -1 },
		"7 entries":                    func(l *seatmap.Layout) { l.Gap = l.Gap[:7] },
		`section "a b": not an id`:     func(l *seatmap.Layout) { l.Sections[0].ID = "a b" },
		`section "floor" stands twice`: func(l *seatmap.Layout) { l.Sections[1].ID = "floor" },
		`section "floor": not a name`:  func(l *seatmap.Layout) { l.Sections[0].Name = "\xff" },
		"row 1 is in no section":       func(l *seatmap.Layout) { l.Rows[1].Section = 2 },
		"row 2 is not with its":        func(l *seatmap.Layout) { l.Rows[0].Section, l.Rows[1].Section, l.Rows[2].Section = 1, 1, 0 },
		"row 1: not a label":           func(l *seatmap.Layout) { l.Rows[1].Label = strings.Repeat("x", 41) },
		`seat "": not an id`:           func(l *seatmap.Layout) { l.SeatIDs[3] = "" },
		`seat "A/1": not an id`:        func(l *seatmap.Layout) { l.SeatIDs[3] = "A/1" },
		`seat "A1" stands twice`:       func(l *seatmap.Layout) { l.SeatIDs[3] = "A1" },
		`seat "B1" is not with`:        func(l *seatmap.Layout) { l.SeatRow[2], l.SeatRow[3] = 1, 0 },
		`seat "C2" is not with`:        func(l *seatmap.Layout) { l.SeatRow[7] = 3 },
		`seat "B2" is not on the`:      func(l *seatmap.Layout) { l.SeatX[4] = l.Width + 1 },
		`seat "B3" is not on the`:      func(l *seatmap.Layout) { l.SeatY[5] = -1 },
		`seat "A2" is of no kind`:      func(l *seatmap.Layout) { l.SeatKind[1] = 3 },
		`seat "A2": not a label`:       func(l *seatmap.Layout) { l.Labels[1] = "\xff" },
	} {
		l := good()
		spoil(l)
		require.ErrorContains(t, l.Validate(), name)
		r, ok := seatmap.New(ref).Decide(seatmap.Attach{Layout: l}, dawn).Reply.(*engine.Refusal)
		require.True(t, ok)
		require.Equal(t, engine.Validation, r.Code)
	}
}

// TestLimits sends commands at their bounds and beyond them.
func TestLimits(t *testing.T) {
	t.Parallel()
	l := hall(10_000)
	s := opened(t, l)
	refused := func(c engine.Command) {
		r, ok := s.Decide(c, dawn).Reply.(*engine.Refusal)
		require.True(t, ok, "%T", c)
		require.Equal(t, engine.Validation, r.Code)
	}
	for _, time := range []int64{seatmap.MinHold, seatmap.MaxHold, 0} {
		do(t, s, seatmap.Attach{Layout: l, HoldTime: time})
	}
	refused(seatmap.Attach{Layout: l, HoldTime: seatmap.MinHold - 1})
	refused(seatmap.Attach{Layout: l, HoldTime: seatmap.MaxHold + 1})
	refused(seatmap.Attach{})

	require.Len(t, do(t, s, seatmap.Hold{Holder: "somebody", Seats: l.SeatIDs[:50]}).Reply.(*seatmap.Selection).Held, 50)
	refused(seatmap.Hold{Holder: "somebody", Seats: l.SeatIDs[:51]})
	refused(seatmap.Hold{Seats: l.SeatIDs[:1]})
	refused(seatmap.BestAvailable{Quantity: 2})
	require.Len(t, do(t, s, seatmap.BestAvailable{Holder: "another", Quantity: 50}).Reply.(*seatmap.Best).Held, 50)

	require.Equal(t, 5_000, do(t, s, seatmap.Block{Block: l.SeatIDs[5_000:]}).Reply.(*seatmap.Blocking).Blocked)
	require.Equal(t, 5_000, do(t, s, seatmap.Block{Unblock: l.SeatIDs[5_000:]}).Reply.(*seatmap.Blocking).Unblocked)
	refused(seatmap.Block{Block: l.SeatIDs[4_999:]})
	refused(seatmap.Block{Unblock: l.SeatIDs[4_999:]})
	require.NoError(t, s.Check())
}

// TestExpiryInParts lets more selections end than one Wake can end, so that it takes several.
func TestExpiryInParts(t *testing.T) {
	t.Parallel()
	const seats, each = 20_000, 40
	l := hall(seats)
	s := opened(t, l)
	for i := 0; i < seats; i += each {
		do(t, s, seatmap.Hold{Holder: holder(i), Seats: l.SeatIDs[i : i+each]})
	}
	do(t, s, engine.Wake{}) // tells the ticket types their sizes
	for revision := range uint64(8) {
		do(t, s, keeper.ResizeSeen{Revision: revision})
	}
	now, wakes := dawn, 0
	for !s.Next().IsZero() {
		require.False(t, s.Next().Before(dawn.Add(seatmap.DefaultHold*time.Millisecond)))
		now = s.Next()
		for _, f := range s.Decide(engine.Wake{}, now).Facts {
			require.LessOrEqual(t, len(f.(*seatmap.ExpiredFact).Seats), 5_000+each)
			s.Apply(f)
		}
		wakes++
		require.LessOrEqual(t, wakes, seats/5_000+1)
	}
	require.Equal(t, dawn.Add(seatmap.DefaultHold*time.Millisecond), now.UTC())
	require.Equal(t, seats, s.Decide(seatmap.Get{}, now).Reply.(*seatmap.Record).Available)
	require.NoError(t, s.Check())
}

// TestThawRefuses gives Thaw broken snapshots.
func TestThawRefuses(t *testing.T) {
	t.Parallel()
	_, err := seatmap.Thaw(ref, nil)
	require.Error(t, err)
	for name, spoil := range map[string]func(f *seatmap.Frozen){
		"seats of orders":   func(f *seatmap.Frozen) { f.SoldSeats = f.SoldSeats[1:] },
		"holders":           func(f *seatmap.Frozen) { f.Holders = f.Holders[1:] },
		"a seat":            func(f *seatmap.Frozen) { f.Blocked = append(f.Blocked, 4_000) },
		"a seat below":      func(f *seatmap.Frozen) { f.HeldSeats[0] = -1 },
		"prices":            func(f *seatmap.Frozen) { f.Prices = f.Prices[1:] },
		"a slot":            func(f *seatmap.Frozen) { f.Prices[0] = 9 },
		"types":             func(f *seatmap.Frozen) { f.Types = append(f.Types, 7) },
		"a map":             func(f *seatmap.Frozen) { f.Layout.Gap = nil },
		"no map":            func(f *seatmap.Frozen) { f.Layout = nil },
		"a seat held twice": func(f *seatmap.Frozen) { f.HeldSeats[1] = f.HeldSeats[0] },
		"a sold seat held":  func(f *seatmap.Frozen) { f.HeldSeats[3] = f.SoldSeats[0] },
		"an order's seats":  func(f *seatmap.Frozen) { f.Book.Pages[0][0].Quantity++ },
	} {
		b, err := codec.Marshal(crowded(t, 1_000).Freeze())
		require.NoError(t, err)
		f := new(seatmap.Frozen)
		require.NoError(t, codec.Unmarshal(b, f))
		spoil(f)
		_, err = seatmap.Thaw(ref, f)
		require.Error(t, err, name)
	}
}

// TestRepricing takes a section off sale while its seats are held: they stay held until their
// holder asks again, and no order gets them.
func TestRepricing(t *testing.T) {
	t.Parallel()
	l := enginetest.NewLayout(1, "floor:A=ssss")
	s := opened(t, l)
	do(t, s, seatmap.Hold{Holder: "ann", Seats: l.SeatIDs})
	do(t, s, seatmap.Price{})
	require.Equal(t, 4, s.Decide(seatmap.Get{}, dawn).Reply.(*seatmap.Record).Held)
	r := do(t, s, seatmap.Hold{Holder: "ann", Seats: l.SeatIDs}).Reply.(*seatmap.Selection)
	require.Empty(t, r.Held)
	require.Equal(t, seatmap.NotForSale, r.Reasons[0])
	c := keeper.Claim{Order: engine.NumberedID(1, 1), Serial: keeper.NewSerial(1, 1)}
	d := do(t, s, keeper.Reserve{Claim: c, Line: keeper.Line{Seats: l.SeatIDs[:1], SeatTypes: []int64{1}}})
	require.Equal(t, engine.Validation, d.Sends[0].Cmd.(keeper.Refused).Refusal.Code)
}

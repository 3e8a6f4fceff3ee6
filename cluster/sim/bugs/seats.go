package bugs

import (
	"maps"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// holdsTwice is a seat map that gives a seat which one shopper holds to another shopper who asks for it.
type holdsTwice struct{ engine.State }

// Decide gives what another holds.
func (h *holdsTwice) Decide(c engine.Command, now time.Time) engine.Decision {
	d := h.State.Decide(c, now)
	ask, hold := c.(seatmap.Hold)
	sel, ok := d.Reply.(*seatmap.Selection)
	m, seats := h.State.(*seatmap.State)
	if !hold || !ok || !seats || len(d.Facts) > 0 {
		return d
	}
	// Facts name seats by their indexes in the layout, and holders know ids.
	layout := m.Decide(seatmap.View{}, now).Reply.(*seatmap.Map).Layout
	f := &seatmap.HeldFact{
		Holder: ask.Holder, Principal: ask.Principal, At: now.UnixMilli(), Since: now.UnixMilli(), Until: now.UnixMilli() + seatmap.MinHold,
	}
	m.Selections(func(holder string, _ int64, ids []string) {
		for _, id := range ids {
			if holder != ask.Holder && slices.Contains(sel.Failed, id) {
				f.Took = append(f.Took, int32(slices.Index(layout.SeatIDs, id)))
			}
		}
	})
	if len(f.Took) > 0 {
		slices.Sort(f.Took)
		d.Facts = []engine.Fact{f}
	}
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (h *holdsTwice) Check() error { return nil }

// takesNoSeats is a ledger that makes an order even if the seat map has refused its seats.
type takesNoSeats struct{ engine.State }

// Decide takes the seat map's no for a yes.
func (t *takesNoSeats) Decide(c engine.Command, now time.Time) engine.Decision {
	if r, no := c.(keeper.Refused); no && r.Keeper.Kind == engine.KindSeatmap {
		c = keeper.Granted{Claim: r.Claim, Keeper: r.Keeper}
	}
	return t.State.Decide(c, now)
}

// endsTakenHolds is a seat map that frees the seats of an order when the time of
// their hold would be up.
type endsTakenHolds struct {
	engine.State
	until map[keeper.Claim]int64
	taken map[keeper.Claim]*seatmap.ReservedFact
}

// Next advances the clocks.
func (t *endsTakenHolds) Next() time.Time {
	next := t.State.Next()
	for claim := range t.taken {
		if at := time.UnixMilli(t.until[claim]); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// Decide lets the clocks of holds go on.
func (t *endsTakenHolds) Decide(c engine.Command, now time.Time) engine.Decision {
	m, seats := t.State.(*seatmap.State)
	if !seats {
		return t.State.Decide(c, now)
	}
	// The end of a hold is noted before the reservation, because the hold is gone after it.
	if r, ok := c.(keeper.Reserve); ok {
		m.Selections(func(_ string, until int64, ids []string) {
			if slices.Contains(r.Line.Seats, ids[0]) {
				t.until[r.Claim] = until
			}
		})
	}
	d := t.State.Decide(c, now)
	for _, f := range d.Facts {
		if f, ok := f.(*seatmap.ReservedFact); ok && t.until[f.Reservation.Claim] != 0 {
			t.taken[f.Reservation.Claim] = f
		}
	}
	if _, timer := c.(engine.Wake); !timer {
		return d
	}
	// Only seats that are still reserved are freed, and not those that were paid for in the meantime.
	m.Open(func(h keeper.Held) {
		if f := t.taken[h.Claim]; f != nil && t.until[h.Claim] <= now.UnixMilli() {
			d.Facts = append(d.Facts, &seatmap.ReleasedFact{Claim: h.Claim, Floor: f.Reservation.Floor, Seats: f.Seats})
		}
	})
	maps.DeleteFunc(t.taken, func(c keeper.Claim, _ *seatmap.ReservedFact) bool { return t.until[c] <= now.UnixMilli() })
	return d
}

// endsHoldsLate is a seat map that wants to be woken ten seconds late.
type endsHoldsLate struct{ engine.State }

// Next is late.
func (e *endsHoldsLate) Next() time.Time {
	next := e.State.Next()
	if next.IsZero() {
		return next
	}
	return next.Add(10 * time.Second)
}

// forgetsHeld is a seat map whose snapshots don't have what networks have newly held.
type forgetsHeld struct{ engine.State }

// Freeze forgets the networks.
func (h *forgetsHeld) Freeze() any {
	f, ok := h.State.Freeze().(*seatmap.Frozen)
	if ok {
		f.Networks, f.SpanBegan, f.SpanSeats = nil, nil, nil
	}
	return f
}

package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// What the event has earned is kept as running totals, which follow from the facts about its
// orders. The organization's wallet is told the totals when they change, but at most once in
// tellMillis, and keeps the newest. So a rush costs the wallet one fact in five seconds instead of
// one an order, and a crash of either side neither loses nor doubles anything.
//
// What is sold is pending first. It clears some time after the event is completed or, for a product
// without an end, after each purchase. Refunds take from what is pending first, and then from what
// is cleared.

const (
	tellMillis     = 5_000
	clearEnded     = 2 * 24 * 3600 * 1000 // after completion
	clearPurchased = 7 * 24 * 3600 * 1000 // after the purchase
	earningGrain   = 3600 * 1000          // purchases of an hour clear together
)

// earnings are the totals. Money is in minor units.
type earnings struct {
	Sales     int64     `cbor:"1,keyasint"` // after the platform's share is taken off
	Refunds   int64     `cbor:"2,keyasint"`
	Revision  uint64    `cbor:"3,keyasint"`
	Completed int64     `cbor:"4,keyasint,omitempty"` // when the event was completed, unix milliseconds
	Ripe      bool      `cbor:"5,keyasint,omitempty"` // whether all sales of a completed event are cleared
	Young     []earning `cbor:"6,keyasint,omitempty"` // sales that have not cleared, of products without a date, by time
}

// telling is how far the wallet knows the totals. It is volatile: after a restart the wallet is
// told once more.
type telling struct {
	seen uint64 // the revision that the wallet has acknowledged
	at   int64  // when the wallet was told last, unix milliseconds
}

// freeze returns the totals for a snapshot, or nil if nothing was ever earned.
func (e *earnings) freeze() *earnings {
	if e.Revision == 0 && e.Completed == 0 {
		return nil
	}
	c := *e
	c.Young = slices.Clone(e.Young)
	return &c
}

// earning is what was sold within an hour.
type earning struct {
	Until int64 `cbor:"1,keyasint"` // unix milliseconds
	Sales int64 `cbor:"2,keyasint"`
}

// isEndless reports whether the event has no end after which its sales clear.
func (s *State) isEndless() bool {
	switch ProductType(s.details.Category) {
	case ProductReservation:
		return true
	case ProductDigital:
		return s.details.EndAt == 0
	}
	return false
}

// addEarnings adds what a sold order has earned.
func (s *State) addEarnings(o *order.Order, at int64) {
	e := &s.earned
	sales := o.Earns()
	if sales == 0 {
		return
	}
	e.Sales += sales
	e.Revision++
	if s.details == nil || ProductType(s.details.Category) == ProductEvent {
		return
	}
	until := at - at%earningGrain + earningGrain
	if n := len(e.Young); n > 0 && e.Young[n-1].Until >= until {
		e.Young[n-1].Sales += sales
		return
	}
	e.Young = append(e.Young, earning{until, sales})
}

// giveBack adds to the totals what a fact about an order has given back.
func (s *State) giveBack(was, is *order.Order) {
	if back := is.GaveBack() - was.GaveBack(); back != 0 {
		s.earned.Refunds += back
		s.earned.Revision++
	}
}

// sumProceeds returns the totals as the wallet is told them.
func (s *State) sumProceeds() keeper.Proceeds {
	e := &s.earned
	p := keeper.Proceeds{Event: s.ref.ID, Revision: e.Revision, Sales: e.Sales, Refunds: e.Refunds}
	young := e.Sales
	switch {
	case s.isEndless():
		young = 0
		for _, y := range e.Young {
			young += y.Sales
		}
	case e.Ripe:
		young = 0
	}
	net := e.Sales - e.Refunds
	p.Cleared = net - min(young, max(net, 0))
	return p
}

// tellAt returns when the wallet is to be told, or 0 for never.
func (s *State) tellAt() int64 {
	if s.details == nil || s.telling.seen >= s.earned.Revision {
		return 0
	}
	return max(1, s.telling.at+tellMillis)
}

// ripenAt returns when sales clear next, or 0 for never.
func (s *State) ripenAt() int64 {
	e := &s.earned
	switch {
	case s.details == nil:
	case s.isEndless():
		if len(e.Young) > 0 {
			return e.Young[0].Until + clearPurchased
		}
	case e.Completed != 0 && !e.Ripe && e.Sales != 0:
		return e.Completed + clearEnded
	}
	return 0
}

// wakeProceeds clears the sales that are due, and tells the wallet.
func (s *State) wakeProceeds(d *engine.Decision, now int64) {
	if at := s.ripenAt(); at != 0 && at <= now {
		d.Facts = append(d.Facts, &Ripened{At: now})
		return // the next Wake, which comes at once, tells the wallet
	}
	if at := s.tellAt(); at != 0 && at <= now {
		d.Facts = append(d.Facts, &ProceedsTold{At: now})
		d.Sends = append(d.Sends, engine.Send{To: engine.WalletRef(s.details.Org, s.details.Currency), Cmd: s.sumProceeds()})
	}
}

// applyRipened clears the sales that are due.
func (s *State) applyRipened(f *Ripened) {
	e := &s.earned
	e.Revision++
	n := 0
	for n < len(e.Young) && e.Young[n].Until+clearPurchased <= f.At {
		n++
	}
	e.Young = e.Young[n:]
	if s.details != nil && !s.isEndless() {
		e.Ripe = e.Completed != 0
	}
}

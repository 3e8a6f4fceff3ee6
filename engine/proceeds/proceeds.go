// Package proceeds sums up what an event has earned, and tells the organization's wallet.
//
// The sums are running totals, which follow from the facts about the event's orders. The wallet is
// told the totals when they change, but at most once in tellMillis, and keeps the newest. So a rush
// costs the wallet one fact in five seconds instead of one an order, and a crash of either side
// neither loses nor doubles anything.
//
// What is sold is pending first. It clears some time after the event is completed or, for a product
// without an end, after each purchase. Refunds take from what is pending first, and then from what
// is cleared.
package proceeds

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

const (
	tellMillis     = 5_000                // between two messages to the wallet, at least; milliseconds, as the next three
	clearEnded     = 2 * 24 * 3600 * 1000 // after completion
	clearPurchased = 7 * 24 * 3600 * 1000 // after the purchase
	earningGrain   = 3600 * 1000          // purchases of an hour clear together
)

// Totals are an event's sums, and how far the wallet knows them. The zero value is an event that
// has earned nothing.
type Totals struct {
	sums Frozen
	seen uint64 // the revision that the wallet has acknowledged; volatile: after a restart the wallet is told once more
	told int64  // when the wallet was told last, unix milliseconds; volatile
}

// Frozen are the sums as snapshots have them. Money is in minor units.
type Frozen struct {
	Sales     int64   `cbor:"1,keyasint"` // sales after the platform's share is taken off, minor units
	Refunds   int64   `cbor:"2,keyasint"`
	Revision  uint64  `cbor:"3,keyasint"`
	Completed int64   `cbor:"4,keyasint,omitempty"` // when the event was completed, unix milliseconds
	Ripe      bool    `cbor:"5,keyasint,omitempty"` // whether all sales of a completed event are cleared
	Young     []Sales `cbor:"6,keyasint,omitempty"` // sales of reservations and digital products that have not cleared, by time
}

// Sales is what the sales of one hour have earned. Until is the end of the hour.
type Sales struct {
	Until int64 `cbor:"1,keyasint"` // unix milliseconds
	Sales int64 `cbor:"2,keyasint"`
}

// Terms say whose sales these are and when they clear. The zero value stands for an event that does not exist:
// nobody is told anything, and nothing clears.
type Terms struct {
	Event   int64      // number of the event, or 0
	Wallet  engine.Ref // wallet that is told of the proceeds
	Endless bool       // whether the event has no end after which its sales clear
}

type (
	// Cleared clears the sales that are old enough. At is unix milliseconds.
	Cleared struct {
		At int64 `cbor:"1,keyasint"`
	}
	// Told notes when the wallet was told what the event has earned. It is volatile.
	Told struct{ At int64 }
	// Heard notes that the wallet has acknowledged a revision. It is volatile.
	Heard struct{ Revision uint64 }
)

// These are the types of the facts above. They share one range of numbers with the other facts of an event's actor.
const (
	typeCleared engine.FactType = 50

	typeTold  = engine.VolatileFrom + 11
	typeHeard = engine.VolatileFrom + 12
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Cleared) FactType() engine.FactType { return typeCleared }
func (*Told) FactType() engine.FactType    { return typeTold }
func (*Heard) FactType() engine.FactType   { return typeHeard }

// Facts lists the facts that go to the journal, with their numbers and their public names.
var Facts = []engine.FactDef{
	{Type: typeCleared, Name: "event.cleared", New: func() engine.Fact { return new(Cleared) }},
}

// Freeze returns the sums for a snapshot, or nil if nothing was ever earned and the event was not completed.
func (t *Totals) Freeze() *Frozen {
	if t.sums.Revision == 0 && t.sums.Completed == 0 {
		return nil
	}
	return t.sums.copy()
}

// Thaw returns the totals that a snapshot describes.
func Thaw(f *Frozen) Totals {
	if f == nil {
		return Totals{}
	}
	return Totals{sums: *f.copy()}
}

func (f *Frozen) copy() *Frozen {
	c := *f
	c.Young = slices.Clone(f.Young)
	return &c
}

// AddSale adds what a sold order has earned. dated says that the sale clears after its event. Other sales may
// clear one by one, so the totals remember in which hour each was made.
func (t *Totals) AddSale(o *order.Order, dated bool, at int64) {
	f := &t.sums
	sales := o.Earns()
	if sales == 0 {
		return
	}
	f.Sales += sales
	f.Revision++
	if dated {
		return
	}
	until := at - at%earningGrain + earningGrain
	if n := len(f.Young); n > 0 && f.Young[n-1].Until >= until {
		f.Young[n-1].Sales += sales
		return
	}
	f.Young = append(f.Young, Sales{until, sales})
}

// GiveBack adds to the totals what a fact about an order has given back.
func (t *Totals) GiveBack(was, is *order.Order) {
	if back := is.GaveBack() - was.GaveBack(); back != 0 {
		t.sums.Refunds += back
		t.sums.Revision++
	}
}

// Complete notes when the event was completed. Its sales clear clearEnded later, unless they clear one by one
// (Terms.Endless).
func (t *Totals) Complete(at int64) { t.sums.Completed = at }

// Apply applies a fact about the totals.
func (t *Totals) Apply(f engine.Fact, terms Terms) {
	switch f := f.(type) {
	case *Cleared:
		t.applyCleared(f, terms)
	case *Told:
		t.told = f.At
	case *Heard:
		t.seen = max(t.seen, f.Revision)
	}
}

// applyCleared clears the sales that are due: of an endless event (Terms.Endless) those that are old enough, of any
// other event all at once (Ripe), once it has been completed. It raises the revision in any case.
func (t *Totals) applyCleared(f *Cleared, terms Terms) {
	t.sums.Revision++
	n := 0
	for n < len(t.sums.Young) && t.sums.Young[n].Until+clearPurchased <= f.At {
		n++
	}
	t.sums.Young = t.sums.Young[n:]
	if terms.Event != 0 && !terms.Endless {
		t.sums.Ripe = t.sums.Completed != 0
	}
}

// sumUp returns the totals in the form in which the wallet is told them.
func (t *Totals) sumUp(terms Terms) keeper.Proceeds {
	f := &t.sums
	p := keeper.Proceeds{Event: terms.Event, Revision: f.Revision, Sales: f.Sales, Refunds: f.Refunds}
	young := f.Sales
	switch {
	case terms.Endless:
		young = 0
		for _, y := range f.Young {
			young += y.Sales
		}
	case f.Ripe:
		young = 0
	}
	net := f.Sales - f.Refunds
	p.Cleared = net - min(young, max(net, 0))
	return p
}

// TellAt returns when the wallet is to be told, in unix milliseconds, or 0 for never.
func (t *Totals) TellAt(terms Terms) int64 {
	if terms.Event == 0 || t.seen >= t.sums.Revision {
		return 0
	}
	return max(1, t.told+tellMillis)
}

// ClearAt returns when sales clear next, in unix milliseconds, or 0 for never.
func (t *Totals) ClearAt(terms Terms) int64 {
	f := &t.sums
	switch {
	case terms.Event == 0:
	case terms.Endless:
		if len(f.Young) > 0 {
			return f.Young[0].Until + clearPurchased
		}
	case f.Completed != 0 && !f.Ripe && f.Sales != 0:
		return f.Completed + clearEnded
	}
	return 0
}

// Wake clears the sales that are due. If none are due, it tells the wallet the totals, if it is time for that.
func (t *Totals) Wake(d *engine.Decision, terms Terms, now int64) {
	if at := t.ClearAt(terms); at != 0 && at <= now {
		d.Facts = append(d.Facts, &Cleared{At: now})
		return // the next Wake, which comes at once, tells the wallet
	}
	if at := t.TellAt(terms); at != 0 && at <= now {
		d.Facts = append(d.Facts, &Told{At: now})
		d.Sends = append(d.Sends, engine.Send{To: terms.Wallet, Cmd: t.sumUp(terms)})
	}
}

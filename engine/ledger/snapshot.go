package ledger

import (
	"errors"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
)

// FrozenOrders are those fields of an event's snapshot that have its orders. Closed orders are columns.
type FrozenOrders struct {
	Open []*order.Order `cbor:"7,keyasint,omitempty"` // open orders in old snapshots, which did not pack them
	Late []*order.Order `cbor:"8,keyasint,omitempty"` // late orders of such snapshots

	LateIDs paged.IDs           `cbor:"10,keyasint"` // late orders in the order in which they are forgotten; LateAt has the times, in unix milliseconds
	LateAt  paged.Column[int64] `cbor:"11,keyasint"`

	OpenPacked []paged.TextPage `cbor:"12,keyasint"` // open orders as they are packed in memory (Order.Pack)
	LatePacked []paged.TextPage `cbor:"13,keyasint"`

	PastIDs    paged.Paged[engine.OrderID] `cbor:"20,keyasint"`
	PastStatus paged.Paged[byte]           `cbor:"21,keyasint"`
	PastPrints paged.Paged[uint64]         `cbor:"22,keyasint"`
	PastAt     paged.Paged[int64]          `cbor:"23,keyasint"`
}

// FrozenBuyers are the orders that the velocity rules count, as columns with one entry for each order. They are
// fields of the event's snapshot, too.
type FrozenBuyers struct {
	MadeAt   paged.Field[int64]  `cbor:"50,keyasint"` // unix milliseconds when each was made
	MadeBy   paged.Field[uint64] `cbor:"51,keyasint"` // its buyer (order.CustomerOf)
	MadeFrom paged.Field[uint64] `cbor:"52,keyasint"` // hash of the address that it came from
}

// Freeze returns a copy for a snapshot. It shares the pages of orders with the book, and copies only the due
// times of late orders.
func (b *Book) Freeze() (f FrozenOrders, buyers FrozenBuyers) {
	f = FrozenOrders{
		OpenPacked: b.openOrders.Freeze(), LatePacked: b.lateOrders.Freeze(),
	}
	f.PastIDs, f.PastStatus, f.PastPrints, f.PastAt = b.closedOrders.Freeze()
	buyers.MadeAt, buyers.MadeBy, buyers.MadeFrom = b.buyers.Freeze()
	for l := range b.lateDue.All() {
		f.LateIDs, f.LateAt = append(f.LateIDs, l.ID), append(f.LateAt, l.At)
	}
	return f, buyers
}

// Thaw fills a new book with what a decoded snapshot describes. It returns an error if columns that belong together
// differ in length, or if an order can't be unpacked.
func (b *Book) Thaw(f *FrozenOrders, buyers *FrozenBuyers) error {
	if !f.hasEvenColumns() || !buyers.hasEvenColumns() {
		return errors.New("columns of unequal length")
	}
	b.buyers.Thaw(buyers.MadeAt.Numbers(), buyers.MadeBy.Numbers(), buyers.MadeFrom.Numbers())
	if err := b.thawOrders(f); err != nil {
		return err
	}
	b.closedOrders.Thaw(slices.Concat(f.PastIDs...), slices.Concat(f.PastStatus...), slices.Concat(f.PastPrints...), slices.Concat(f.PastAt...))
	return nil
}

// hasEvenColumns reports whether columns that belong together have the same length.
func (f *FrozenOrders) hasEvenColumns() bool {
	n := f.PastIDs.Len()
	return len(f.LateIDs) == len(f.LateAt) && f.PastStatus.Len() == n && f.PastPrints.Len() == n && f.PastAt.Len() == n
}

// hasEvenColumns reports whether columns that belong together have the same length.
func (f *FrozenBuyers) hasEvenColumns() bool {
	n := len(f.MadeAt.Numbers())
	return len(f.MadeBy.Numbers()) == n && len(f.MadeFrom.Numbers()) == n
}

// thawOrders fills the tables of open and late orders, whose records a snapshot of an earlier release has as structs
// (Open, Late) and later ones packed. It also restores what follows from the records: units, the orders that the
// velocity rules count as unpaid, times of expiry, and what keepers have to be told again.
func (b *Book) thawOrders(f *FrozenOrders) error {
	for _, o := range f.Open {
		b.openOrders.Put(o)
		b.watchThawed(o)
	}
	for _, o := range f.Late {
		b.lateOrders.Put(o)
		b.thawReturns(o)
	}
	if err := b.openOrders.Thaw(f.OpenPacked, b.watchThawed); err != nil {
		return err
	}
	if err := b.lateOrders.Thaw(f.LatePacked, b.thawReturns); err != nil {
		return err
	}
	for i, id := range f.LateIDs {
		b.lateDue.Push(f.LateAt[i], id)
	}
	b.sendDue.Sort()
	return nil
}

// thawReturns makes the ledger tell the keepers again about an order's granted refunds and its moved ticket,
// where they have not acknowledged it.
func (b *Book) thawReturns(o *order.Order) {
	for i := range o.Refunds {
		b.startReturning(o, i, o.UpdatedAt)
	}
	b.startMoved(o, o.UpdatedAt)
}

// watchThawed counts an open order's units if it is unpaid, and notes when it is due: at the end of its window
// or, if the order has ended, when its end has to be told to the keepers again.
func (b *Book) watchThawed(o *order.Order) {
	b.thawReturns(o)
	if !o.Unpaid() {
		b.settling[o.ID] = places.All(o)
		b.sendDue.Append(o.EndedAt+resendMillis, o.ID) // sorted when all are in
		return
	}
	b.unitsTaken += o.Tickets()
	b.buyers.CountUnpaid(o, 1)
	b.expiry.Add(o.ExpiresAt, o.ID)
}

package ledger

import (
	"fmt"

	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Check returns the first broken invariant of the orders, or nil. It compares the units taken, what the velocity rules
// count and the floor with the orders that are open or being placed, and each order's status with its tickets.
func (b *Book) Check() error {
	var taken, inPlacing int64
	for o := range b.openOrders.All() {
		if o.Unpaid() {
			taken += o.Tickets()
		}
		if o.Status == order.StatusCompleted && !o.Sold() || o.Unpaid() && o.Sold() {
			return fmt.Errorf("ledger: order %s is %s with first ticket %d", o.ID, o.Status, o.FirstTicket)
		}
	}
	for _, p := range b.placing {
		inPlacing += p.order.Tickets()
	}
	if taken += inPlacing; taken != b.unitsTaken || inPlacing != b.unitsInPlacing {
		return fmt.Errorf("ledger: %d units taken, %d of them in placing; counted %d and %d", taken, inPlacing, b.unitsTaken, b.unitsInPlacing)
	}
	if err := b.checkBuyers(); err != nil {
		return err
	}
	return b.checkFloor()
}

// checkBuyers compares what the velocity rules count with the orders.
func (b *Book) checkBuyers() error {
	var open, placing []*order.Order
	for o := range b.openOrders.All() {
		if o.Unpaid() {
			open = append(open, o)
		}
	}
	for _, p := range b.placing {
		if p.late == nil {
			placing = append(placing, p.order)
		}
	}
	return b.buyers.Check(open, placing)
}

// checkFloor returns an error if the serial of an open order, or of one that is being placed, lies below the
// floor. It checks nothing before the first Woken, and nothing in an activation that has read sales of its
// successor from the journal: the successor's claims are of a later epoch, so this activation's own serials are
// below them. That does no harm, because this activation is fenced and none of its serials becomes a fact.
func (b *Book) checkFloor() error {
	overtaken := b.alive.Len() > 0 && b.alive.At(0).Serial.Epoch() > b.epoch
	if b.epoch == 0 || overtaken {
		return nil
	}
	floor := b.lowestAlive()
	below := func(n keeper.Serial) bool { return n < floor }
	for o := range b.openOrders.All() {
		if below(o.Serial) {
			return fmt.Errorf("ledger: order %s lies below the floor", o.ID)
		}
	}
	for id, p := range b.placing {
		if below(p.order.Serial) {
			return fmt.Errorf("ledger: order %s is placed below the floor", id)
		}
	}
	return nil
}

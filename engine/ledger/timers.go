package ledger

import (
	"cmp"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// These are the ledger's delays in milliseconds, and how much one Wake does.
const (
	placeMillis   = 4_000            // how long an order, or a ticket that moves, waits for keepers
	resendMillis  = 2_000            // how long until an end, a return or a move that is not acknowledged is told again
	closeMillis   = 1_000            // how long acknowledged ends wait to be journaled together
	recheckMillis = 60_000           // how long until an order with money in flight is looked at again
	pinMillis     = 24 * 3600 * 1000 // how long after its window an order ends although money is in flight
	wakeLimit     = 256              // most orders of each sort that one Wake acts on
)

// Wake acts on the orders that are due, up to wakeLimit of each sort: it gives up placings and moves that keepers have
// not answered in time, tells ends and returns again, ends unpaid orders whose window is over, and closes orders. It
// adds Elapsed if orders may have expired or if the event asks for it (elapsed).
func (b *Book) Wake(d *engine.Decision, t *Terms, elapsed bool, now int64) {
	acted := Acted{At: now}
	// Callers get an answer once placeMillis are over, even if a keeper does not answer.
	for _, p := range b.placeDue.Ready(now, wakeLimit) {
		if q := b.placing[p.ID]; q != nil && q.at+placeMillis <= now && q.isFirst() {
			d.Add(b.dropPlacing(q, engine.Refuse(engine.Unavailable, nil), -1))
		}
		if m := b.moving[p.ID]; m != nil && m.at+placeMillis <= now {
			d.Add(b.dropMove(m, engine.Refuse(engine.Unavailable, nil), true))
		}
	}
	for _, o := range b.sendDue.Ready(now, wakeLimit) {
		acted.Settling++
		if mask := b.settling[o.ID]; !mask.Empty() {
			ended := b.openOrders.Get(o.ID)
			b.tellKeepers(d, ended, mask, ended.Sold())
		}
	}
	for _, id := range b.expired[:min(len(b.expired), wakeLimit)] {
		acted.Due++
		if o := b.openOrders.Get(id); o != nil && b.isOver(t, o, now) {
			status := o.EndStatus()
			if t.Cancelled {
				status = order.StatusCancelled
			}
			d.Add(b.endOrder(o, status, now)) // the reply of endOrder goes to nobody
		}
	}
	acted.Returns = b.resendReturns(d, now)
	if acted.Settling+acted.Due+acted.Returns > 0 {
		d.Facts = append(d.Facts, &acted)
	}
	if b.closeAt != 0 && b.closeAt <= now {
		d.Facts = append(d.Facts, &OrderClosed{IDs: b.toClose, At: now})
	}
	if elapsed || len(b.expired) == 0 && b.expiry.Next() != 0 && b.expiry.Next() <= now {
		d.Facts = append(d.Facts, &Elapsed{At: now})
	}
}

// isOver reports whether an order is unpaid and its time is up, or its event is cancelled. Money in flight
// keeps an order alive for a day after its window, but not if the event is cancelled.
func (b *Book) isOver(t *Terms, o *order.Order, now int64) bool {
	if !o.Unpaid() {
		return false
	}
	return t.Cancelled || o.ExpiresAt <= now && (!o.InFlight() || o.ExpiresAt+pinMillis <= now)
}

// startAgain begins a new activation: its serials count from 1 again, under the new epoch. It also lists the
// claims that are alive, in the order of their serials.
func (b *Book) startAgain(epoch int32) {
	b.epoch, b.counter = epoch, 0
	var alive []keeper.Claim
	for o := range b.openOrders.All() {
		alive = append(alive, keeper.Claim{Order: o.ID, Serial: o.Serial})
	}
	for serial, r := range b.returning {
		alive = append(alive, keeper.Claim{Order: r.order, Serial: serial})
	}
	for serial, id := range b.moved {
		alive = append(alive, keeper.Claim{Order: id, Serial: serial})
	}
	slices.SortFunc(alive, func(a, b keeper.Claim) int { return cmp.Compare(a.Serial, b.Serial) })
	b.alive.Drop(b.alive.Len())
	for _, c := range alive {
		b.alive.Push(c)
	}
}

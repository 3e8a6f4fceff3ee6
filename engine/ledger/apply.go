package ledger

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/ledger/tables"
	"boxoffice/engine/order"
	"boxoffice/engine/velocity"
	"boxoffice/engine/waitlist"
)

// Apply applies a fact. It returns the order before and after it. Both are nil if the order is not there, if the
// fact makes an order or ends an unpaid one, and for facts about anything else.
func (b *Book) Apply(f engine.Fact) (was, is *order.Order) {
	switch f := f.(type) {
	case *order.Created:
		b.applyOrderCreated(f)
	case *order.Completed:
		return b.applyOrderCompleted(f)
	case *order.Ended:
		b.applyOrderEnded(f)
	case *order.RefundDecided:
		return b.applyRefundDecided(f)
	case *order.RefundReturned:
		return b.applyRefundReturned(f)
	case *order.TicketRescheduled:
		return b.applyRescheduled(f)
	case *order.RescheduleSettled:
		return b.applyRescheduleSettled(f)
	case order.Fact:
		return b.changeOrder(f.OrderID(), f.Fold)
	case *OrderClosed:
		b.applyOrderClosed(f)
	case *OrderRecalled:
		b.applyRecalled(f)
	case *waitlist.OfferMade:
		b.applyOffered(f.Order)
	case *waitlist.EntryEnded:
		b.applyOfferEnded(f)
	case *velocity.Guessed:
		b.buyers.AddGuess(f)
	default:
		b.applyVolatile(f)
	}
	return nil, nil
}

// applyVolatile applies a fact that is not journaled, and ignores all others.
func (b *Book) applyVolatile(f engine.Fact) {
	switch f := f.(type) {
	case *Placing:
		b.applyPlacing(f)
	case *LineGranted:
		b.applyGranted(f)
	case *FeeAsked:
		b.applyFeeAsked(f)
	case *Dropped:
		b.applyDropped(f.ID)
	case *Moving:
		b.applyMoving(f)
	case *MoveDropped:
		b.applyMoveDropped(f.ID)
	case *LineSettled:
		b.applyLineSettled(f)
	case *ReturnSeen:
		b.applyReturnSeen(f)
	case *Woken:
		b.startAgain(f.Epoch)
	case *Elapsed:
		b.applyElapsed(f)
	case *Acted:
		b.applyActed(f)
	}
}

// EndAll makes the next Wakes end every unpaid order. It moves them all from expiry to expired, because an
// order in both would be ended twice.
func (b *Book) EndAll() {
	b.expired, b.expiry = nil, tables.Heap{}
	for o := range b.openOrders.All() {
		if o.Unpaid() {
			b.expired = append(b.expired, o.ID)
		}
	}
}

// changeOrder replaces an order by a changed copy of it, and returns both; nil if it is not there.
func (b *Book) changeOrder(id engine.OrderID, to func(*order.Order) *order.Order) (was, is *order.Order) {
	for _, table := range [...]*tables.Orders{&b.openOrders, &b.lateOrders} {
		if o := table.Get(id); o != nil {
			after := to(o)
			table.Put(after)
			return o, after
		}
	}
	return nil, nil
}

// applyPlacing counts the order's units from now on, and the order among its buyer's unless late money brings
// it. So orders that are placed in the meantime can't take the same room.
func (b *Book) applyPlacing(f *Placing) {
	p := f.placing
	b.counter++
	b.placing[p.order.ID] = p
	b.alive.Push(keeper.Claim{Order: p.order.ID, Serial: p.order.Serial})
	b.unitsTaken += p.order.Tickets()
	b.unitsInPlacing += p.order.Tickets()
	b.placeDue.Push(p.at+placeMillis, p.order.ID)
	if p.late == nil {
		p.slots = b.buyers.Begin(p.order)
	}
}

// applyGranted takes a keeper off those for which an order waits. The order gets what the keeper has granted, such as
// prices, unless late money pays for it: then it keeps the terms under which it was placed.
func (b *Book) applyGranted(f *LineGranted) {
	p := b.placing[f.ID]
	if p.waiting = p.waiting.Without(f.Line); p.waiting.Empty() && p.group != nil {
		p.group.waiting--
	}
	if p.late == nil {
		takeGrant(p.order, f)
	}
}

// applyDropped forgets an order that was being placed. Its units are no longer taken. The velocity rules no longer
// count it, unless late money has brought it back: then they have not counted it again.
func (b *Book) applyDropped(id engine.OrderID) {
	if p := b.placing[id]; p != nil {
		if p.late == nil {
			b.buyers.TakeBack(p.order, p.slots)
		}
		b.endPlacing(id)
		b.unitsTaken -= p.order.Tickets()
		b.raiseFloor()
	}
}

// endPlacing ends an order's wait for its keepers. Its units stay in unitsTaken.
func (b *Book) endPlacing(id engine.OrderID) {
	b.unitsInPlacing -= b.placing[id].order.Tickets()
	delete(b.placing, id)
	b.trimPlaceDue()
}

// trimPlaceDue drops the entries at the front of placeDue whose orders, or tickets that move, no longer wait.
func (b *Book) trimPlaceDue() {
	b.placeDue.Trim(func(d tables.Due) bool {
		p, m := b.placing[d.ID], b.moving[d.ID]
		return (p == nil || p.at+placeMillis > d.At) && (m == nil || m.at+placeMillis > d.At)
	})
}

// applyOrderCreated ends an order's wait for its keepers and opens the order, to expire at the end of its window. If
// the order was an offer to somebody on the waitlist, the claimed offer takes its place, with the new window. Any other
// order that the book has already is left as it is.
func (b *Book) applyOrderCreated(f *order.Created) {
	o := f.Order
	if o == nil {
		return
	}
	if was := b.Find(o.ID); was != nil {
		if was.Status == order.StatusOffered { // the offer has been claimed
			b.openOrders.Put(o)
			b.expiry.Forget(o.ID)
			b.expiry.Add(o.ExpiresAt, o.ID)
			b.buyers.CountUnpaid(o, 1)
		}
		return
	}
	// After a crash the journal is read without Placing, which is volatile: then the units and the buyer's order are
	// counted here.
	p := b.placing[o.ID]
	if p != nil {
		b.endPlacing(o.ID)
	} else {
		b.unitsTaken += o.Tickets()
	}
	b.openOrders.Put(o)
	b.expiry.Add(o.ExpiresAt, o.ID)
	if p == nil {
		p = &placing{slots: b.buyers.Begin(o)}
	}
	b.buyers.FinishOrder(o, p.slots)
	b.buyers.CountUnpaid(o, 1)
}

// applyOrderCompleted notes a sale, and returns the order before and after it, or nil if the order is not here or was
// sold already. Its units count as sold tickets from now on and no longer in unitsTaken, and its keepers have to
// acknowledge the sale. An order that had ended before its money came is opened again (keepOpen).
func (b *Book) applyOrderCompleted(f *order.Completed) (was, is *order.Order) {
	o := b.Find(f.ID)
	if o == nil || o.Sold() {
		return nil, nil
	}
	switch {
	case o.Unpaid():
		b.buyers.CountUnpaid(o, -1)
		b.unitsTaken -= o.Tickets()
	case b.placing[o.ID] != nil: // the order had ended, and its stock was taken again
		b.endPlacing(o.ID)
		b.unitsTaken -= o.Tickets()
		b.keepOpen(o.ID)
	default: // late money, too, but in a replay of the journal, which has no Placing because that is volatile
		b.keepOpen(o.ID)
	}
	sold := f.Fold(o)
	b.openOrders.Put(sold)
	b.settleFrom(sold, f.At)
	return o, sold
}

// keepOpen takes an order off the lists of those that are late or to be closed. Late money has completed it, so its
// keepers have to acknowledge its end once more. If the order becomes late again, its record is kept for lateMillis
// from then on.
func (b *Book) keepOpen(id engine.OrderID) {
	if _, _, late := b.lateOrders.HeadOf(id); late {
		b.lateOrders.Drop(id)
		b.lateDue.Forget(id)
	}
	b.toClose = slices.DeleteFunc(b.toClose, func(c engine.OrderID) bool { return c == id })
	if len(b.toClose) == 0 {
		b.closeAt = 0
	}
}

// applyOrderEnded ends an unpaid order without a sale: its units are free, it no longer counts among its buyer's unpaid
// orders, and its keepers are to acknowledge the end. For any other order it does nothing. The entry in expiry stays,
// and is dropped when it is due.
func (b *Book) applyOrderEnded(f *order.Ended) {
	o := b.openOrders.Get(f.ID)
	if o == nil || !o.Unpaid() {
		return
	}
	b.buyers.CountUnpaid(o, -1)
	o = f.Fold(o)
	b.unitsTaken -= o.Tickets()
	b.openOrders.Put(o)
	b.settleFrom(o, f.At)
}

// settleFrom makes the ledger tell the order's end to its keepers again until all have acknowledged it.
func (b *Book) settleFrom(o *order.Order, at int64) {
	b.settling[o.ID] = places.All(o)
	b.sendDue.Push(at+resendMillis, o.ID)
	b.raiseFloor()
}

// applyLineSettled notes that one keeper has acknowledged an order's end. After the last one the order is to be closed
// (toClose), together with others, closeMillis after the first of them.
func (b *Book) applyLineSettled(f *LineSettled) {
	left := b.settling[f.ID].Without(f.Line)
	if b.settling[f.ID] = left; left.Empty() {
		b.toClose = append(b.toClose, f.ID)
		if b.closeAt == 0 {
			b.closeAt = f.At + closeMillis
		}
		b.sendDue.Trim(func(d tables.Due) bool { return b.settling[d.ID].Empty() })
	}
}

// applyOrderClosed closes orders whose keepers have all acknowledged their end: only their outcome is kept. The record
// of an order for which money may still come, or which was rescheduled, is kept for lateMillis more. Late records
// whose time is up are dropped, a few at a time, but those with an owed refund or an unacknowledged move stay.
func (b *Book) applyOrderClosed(f *OrderClosed) {
	for _, id := range f.IDs {
		o := b.openOrders.Get(id)
		if o == nil || o.Unpaid() {
			continue
		}
		b.openOrders.Drop(id)
		delete(b.settling, id)
		if o.MoneyMayCome() || o.Rescheduled != nil { // otherwise a caller might bring a record from before the move
			b.lateOrders.Put(o)
			b.lateDue.Push(f.At+lateMillis, id)
		}
		b.closedOrders.Add(o, f.At)
	}
	for _, l := range b.lateDue.Pop(len(b.lateDue.Ready(f.At, 2*len(f.IDs)))) {
		if o := b.lateOrders.Get(l.ID); o != nil && (o.OwesRefund() || o.Unsettled() != nil) {
			b.lateDue.Push(f.At+lateMillis, l.ID)
		} else {
			b.lateOrders.Drop(l.ID)
		}
	}
	b.toClose, b.closeAt = nil, 0
	b.raiseFloor()
}

// applyElapsed moves orders whose window has closed to the list expired, as long as that has fewer than
// 4*wakeLimit.
func (b *Book) applyElapsed(f *Elapsed) {
	for len(b.expired) < 4*wakeLimit && b.expiry.Next() != 0 && b.expiry.Next() <= f.At {
		b.expired = append(b.expired, b.expiry.Take())
	}
}

// applyActed removes from the heads of sendDue, returnDue and expired as many entries as the fact says. It puts
// an order back, to be looked at later, if keepers still have to acknowledge its end, its returns or its moves,
// or if it is still unpaid.
func (b *Book) applyActed(f *Acted) {
	for _, o := range b.sendDue.Pop(f.Settling) {
		if !b.settling[o.ID].Empty() {
			b.sendDue.Push(f.At+resendMillis, o.ID)
		}
	}
	for _, one := range b.returnDue.Pop(f.Returns) {
		if o := b.Find(one.ID); len(b.returnsOf(one.ID)) > 0 || o != nil && o.Unsettled() != nil {
			b.returnDue.Push(f.At+resendMillis, one.ID)
		}
	}
	for _, id := range b.expired[:f.Due] {
		if o := b.openOrders.Get(id); o != nil && o.Unpaid() {
			at := o.ExpiresAt
			if at <= f.At {
				at = f.At + recheckMillis
			}
			b.expiry.Add(at, id)
		}
	}
	b.expired = b.expired[f.Due:]
}

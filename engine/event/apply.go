package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// Apply applies a fact to the state. A fact that does not fit the state, such as one about an order
// that is not there, changes nothing.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Placing:
		s.applyPlacing(f)
	case *LineGranted:
		s.applyGranted(f)
	case *FeeAsked:
		s.applyFeeAsked(f)
	case *Dropped:
		s.applyDropped(f.ID)
	case *Moving:
		s.applyMoving(f)
	case *MoveDropped:
		s.applyMoveDropped(f.ID)
	case *Guessed:
		by := [2]uint64{buyer: f.Customer, address: f.Client}
		s.tries.finish(by, s.tries.begin(by), f.At)
	case *order.Created:
		s.applyOrderCreated(f)
	case *order.Completed:
		s.applyOrderCompleted(f)
	case *order.Ended:
		s.applyOrderEnded(f)
	case *LineSettled:
		s.applyLineSettled(f)
	case *OrderRecalled:
		s.applyRecalled(f)
	case *order.RefundDecided:
		s.applyRefundDecided(f)
	case *order.RefundReturned:
		s.applyRefundReturned(f)
	case *ReturnSeen:
		s.applyReturnSeen(f)
	case *OrderClosed:
		s.applyOrderClosed(f)
	case *CheckedIn:
		s.applyCheckedIn(f)
	case *CheckInDenied:
		s.gates.deny(f.Gate)
		s.answerScan(f.Request, f.At, f.Ticket, f.Status, f.Reason)
	case *CheckInUndone:
		s.applyUndone(f)
	case *Ripened:
		s.applyRipened(f)
	case *ProceedsTold:
		s.telling.at = f.At
	case *ProceedsHeard:
		s.telling.seen = max(s.telling.seen, f.Revision)
	case *Woken:
		s.startAgain(f.Epoch)
	case *Elapsed:
		s.applyElapsed(f)
	case *Acted:
		s.applyActed(f)
	default:
		s.applyRecord(f)
	}
}

// applyRecord applies facts about the event itself and about payments.
func (s *State) applyRecord(f engine.Fact) {
	switch f := f.(type) {
	case *Created:
		s.details, s.status, s.created = f.Details, StatusDraft, f.At
		s.noteChange(f.At)
	case *Updated:
		s.details = f.Details
		s.noteChange(f.At)
	case *Moved:
		s.status = f.To
		switch f.To {
		case StatusCancelled:
			s.endAll()
		case StatusCompleted:
			s.earned.Completed = f.At
		}
		s.noteChange(f.At)
	case *Removed:
		s.details, s.status = nil, ""
		s.noteChange(f.At)
	case *Offered:
		s.offers[f.Offer.Keeper.ID] = f.Offer
		s.line.Judge(s.offers)
		s.judgeAgain(f.At)
	case *waitlist.Joined, *waitlist.OfferMade, *waitlist.Claimed, *waitlist.EntryEnded, *waitlist.CalledFact, *waitlist.SetFact,
		*waitlist.Held, *waitlist.Seen, *waitlist.Judged:
		s.applyLine(f)
	case *PersonErased:
		s.applyPersonErased(f)
	case *order.Erased:
		s.applyErased(f)
	case *order.TicketRescheduled:
		s.applyRescheduled(f)
	case *order.RescheduleSettled:
		s.applyRescheduleSettled(f)
	case *order.TransferOffered, *order.TransferRevoked, *order.TicketTransferred:
		s.applyTransfer(f.(order.Fact)) //nolint:errcheck,forcetypeassert // each of them is an order.Fact
	case order.Fact:
		s.changeOrder(f.OrderID(), f.Fold)
	}
}

func (s *State) applyCheckedIn(f *CheckedIn) {
	if !s.minted.has(f.Ticket) {
		return
	}
	i := int(f.Ticket) - 1
	if !isEnded(s.minted.status.At(i)) { // false if the ticket was refunded after an offline device had let it in
		s.minted.setStatus(f.Ticket, ticketCheckedIn)
	}
	s.minted.at.Set(i, f.At)
	s.minted.gate.Set(i, s.gates.admit(f.Gate, f.At))
	s.minted.device.Set(i, deviceHash(f.Device))
	s.minted.key.Set(i, f.Key)
	s.answerScan(f.Request, f.At, f.Ticket, ScanSuccess, "")
	s.endTransfer(f.Ticket, order.TransferStatusRevoked, f.At) // a ticket whose holder is inside can't be passed on
}

// endAll makes the next Wakes end every unpaid order. Each of them is either in expiry or in due,
// never in both, because otherwise it would be ended twice.
func (s *State) endAll() {
	s.due, s.expiry = nil, expiryHeap{}
	for o := range s.open.all() {
		if o.Unpaid() {
			s.due = append(s.due, o.ID)
		}
	}
}

// noteChange notes that the record has changed, and has the event's status judged again.
func (s *State) noteChange(at int64) {
	s.updated = at
	s.rev++
	s.judgeAgain(at)
}

// noteFilling has the event's status judged again when the event has become full or has stopped
// being full.
func (s *State) noteFilling(was bool, at int64) {
	if s.isFull() != was {
		s.judgeAgain(at)
	}
}

// judgeAgain makes the next Wake judge the event's status.
func (s *State) judgeAgain(at int64) {
	s.clock = at
	s.line.Stir()
	s.boundary = s.nextBoundary()
	if s.details != nil && s.dueStatus(at) != s.status {
		s.boundary = at
	}
}

// changeOrder replaces an order by a changed copy of it.
func (s *State) changeOrder(id engine.OrderID, to func(*order.Order) *order.Order) {
	for _, table := range [...]*orderTable{&s.open, &s.late} {
		if o := table.get(id); o != nil {
			after := to(o)
			table.put(after)
			s.giveBack(o, after)
			return
		}
	}
}

func (s *State) applyPlacing(f *Placing) {
	p := f.placing
	s.counter++
	s.placing[p.order.ID] = p
	s.alive.Push(keeper.Claim{Order: p.order.ID, Serial: p.order.Serial})
	s.live += p.order.Tickets()
	s.begun += p.order.Tickets()
	s.placeDue.push(p.at+placeMillis, p.order.ID)
	if p.late == nil && isCounted(p.order) {
		p.doers = s.made.begin(doersOf(p.order))
	}
	if p.offer {
		s.line.Ask(p.order.ID, new(s.offers[p.order.Lines[0].Type]), p.at)
	}
}

func (s *State) applyGranted(f *LineGranted) {
	p := s.placing[f.ID]
	if p.waiting = p.waiting.without(f.Line); p.waiting.empty() && p.group != nil {
		p.group.waiting--
	}
	if p.late == nil {
		takeGrant(p.order, f)
	}
}

// applyDropped forgets an order that was being placed.
func (s *State) applyDropped(id engine.OrderID) {
	if p := s.placing[id]; p != nil {
		if p.late == nil && isCounted(p.order) {
			s.made.takeBack(doersOf(p.order), p.doers)
		}
		s.endPlacing(id)
		s.live -= p.order.Tickets()
		s.line.Stir()
		s.raiseFloor()
	}
}

// endPlacing ends an order's wait for its keepers.
func (s *State) endPlacing(id engine.OrderID) {
	s.begun -= s.placing[id].order.Tickets()
	delete(s.placing, id)
	s.trimPlaceDue()
}

// trimPlaceDue drops the entries at the front of the queue that no longer wait for their keepers.
func (s *State) trimPlaceDue() {
	s.placeDue.trim(func(d dueOrder) bool {
		p, m := s.placing[d.id], s.moving[d.id]
		return (p == nil || p.at+placeMillis > d.at) && (m == nil || m.at+placeMillis > d.at)
	})
}

func (s *State) applyOrderCreated(f *order.Created) {
	o, full := f.Order, s.isFull()
	if o == nil {
		return
	}
	if was := s.find(o.ID); was != nil {
		if was.Status == order.StatusOffered { // the offer has been claimed
			s.open.put(o)
			s.expiry.forget(o.ID)
			s.expiry.add(o.ExpiresAt, o.ID)
			s.countUnpaid(o, 1)
		}
		return
	}
	p := s.placing[o.ID]
	if p != nil {
		s.endPlacing(o.ID)
	} else {
		s.live += o.Tickets()
	}
	s.noteFilling(full, o.CreatedAt)
	s.open.put(o)
	s.expiry.add(o.ExpiresAt, o.ID)
	if isCounted(o) {
		if p == nil {
			p = &placing{doers: s.made.begin(doersOf(o))}
		}
		s.made.finish(doersOf(o), p.doers, o.CreatedAt)
		s.countUnpaid(o, 1)
	}
}

// countUnpaid adds n, which is 1 or -1, to the count of a buyer's unpaid orders. A free order is
// not counted, because it is completed as soon as it is made.
func (s *State) countUnpaid(o *order.Order, n int32) {
	if isCounted(o) && o.Total > 0 {
		s.made.countUnpaid(o.Customer, n)
	}
}

func (s *State) applyOrderCompleted(f *order.Completed) {
	o, full := s.find(f.ID), s.isFull()
	if o == nil || o.Sold() {
		return
	}
	if o.Unpaid() {
		s.countUnpaid(o, -1)
	} else { // the order had ended, and its stock was taken again
		if s.placing[o.ID] != nil {
			s.endPlacing(o.ID)
		} else {
			s.live += o.Tickets()
		}
		s.noteFilling(full, f.At)
		s.late.drop(o.ID)
		s.keepOpen(o.ID)
	}
	o = f.Fold(o)
	s.open.put(o)
	s.minted.mintTickets(o)
	s.addEarnings(o, f.At)
	s.settleFrom(o, f.At)
}

// keepOpen takes an order off the list of those to close, because it has to be settled once more.
func (s *State) keepOpen(id engine.OrderID) {
	s.closing = slices.DeleteFunc(s.closing, func(c engine.OrderID) bool { return c == id })
	if len(s.closing) == 0 {
		s.closeAt = 0
	}
}

func (s *State) applyOrderEnded(f *order.Ended) {
	o, full := s.open.get(f.ID), s.isFull()
	if o == nil || !o.Unpaid() {
		return
	}
	s.countUnpaid(o, -1)
	o = f.Fold(o)
	s.live -= o.Tickets()
	s.line.Stir()
	s.noteFilling(full, f.At)
	s.open.put(o)
	s.settleFrom(o, f.At)
}

// settleFrom makes the ledger tell the order's end to its keepers until all have acknowledged it.
func (s *State) settleFrom(o *order.Order, at int64) {
	s.settling[o.ID] = allPlaces(o)
	s.sendDue.push(at+resendMillis, o.ID)
	s.raiseFloor()
}

func (s *State) applyLineSettled(f *LineSettled) {
	left := s.settling[f.ID].without(f.Line)
	if s.settling[f.ID] = left; left.empty() {
		s.closing = append(s.closing, f.ID)
		if s.closeAt == 0 {
			s.closeAt = f.At + closeMillis
		}
		s.sendDue.trim(func(d dueOrder) bool { return s.settling[d.id].empty() })
	}
}

func (s *State) applyOrderClosed(f *OrderClosed) {
	for _, id := range f.IDs {
		o := s.open.get(id)
		if o == nil || o.Unpaid() {
			continue
		}
		s.open.drop(id)
		delete(s.settling, id)
		if o.MoneyMayCome() || o.Rescheduled != nil { // a caller might bring a record from before the move
			s.late.put(o)
			s.lateDue.push(f.At+lateMillis, id)
		}
		s.past.add(o, f.At)
	}
	for _, l := range s.lateDue.pop(len(s.lateDue.ready(f.At, 2*len(f.IDs)))) {
		if o := s.late.get(l.id); o != nil && (o.OwesRefund() || o.Unsettled() != nil) {
			s.lateDue.push(f.At+lateMillis, l.id)
		} else {
			s.late.drop(l.id)
		}
	}
	s.closing, s.closeAt = nil, 0
	s.raiseFloor()
}

// applyElapsed moves the orders whose window has closed to the list of due orders.
func (s *State) applyElapsed(f *Elapsed) {
	for len(s.due) < 4*wakeLimit && s.expiry.next() != 0 && s.expiry.next() <= f.At {
		s.due = append(s.due, s.expiry.take())
	}
	s.clock = max(s.clock, f.At)
	s.line.Stir()
	s.boundary = s.nextBoundary()
}

// applyActed takes what was acted on off the lists, and puts back what has to be looked at again.
func (s *State) applyActed(f *Acted) {
	for _, o := range s.sendDue.pop(f.Settling) {
		if !s.settling[o.id].empty() {
			s.sendDue.push(f.At+resendMillis, o.id)
		}
	}
	for _, one := range s.returnDue.pop(f.Returns) {
		if o := s.find(one.id); len(s.returnsOf(one.id)) > 0 || o != nil && o.Unsettled() != nil {
			s.returnDue.push(f.At+resendMillis, one.id)
		}
	}
	for _, id := range s.due[:f.Due] {
		if o := s.open.get(id); o != nil && o.Unpaid() {
			at := o.ExpiresAt
			if at <= f.At {
				at = f.At + recheckMillis
			}
			s.expiry.add(at, id)
		}
	}
	s.due = s.due[f.Due:]
}

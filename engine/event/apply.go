package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Apply takes a fact in. One that has no place in the state, as that of an order
// which is not there, changes nothing.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Placing:
		s.applyPlacing(f)
	case *LineGranted:
		s.applyGranted(f)
	case *Dropped:
		s.applyDropped(f.ID)
	case *Guessed:
		by := [2]uint64{buyer: f.Customer, address: f.Client}
		s.tries.done(by, s.tries.begin(by), f.At)
	case *OrderCreated:
		s.applyOrderCreated(f)
	case *OrderCompleted:
		s.applyOrderCompleted(f)
	case *OrderEnded:
		s.applyOrderEnded(f)
	case *LineSettled:
		s.applyLineSettled(f)
	case *OrderClosed:
		s.applyOrderClosed(f)
	case *CheckedIn:
		s.applyCheckedIn(f)
	case *CheckInDenied:
		s.gates.deny(f.Gate)
		s.answerScan(f.Request, f.At, f.Ticket, f.Status, f.Reason)
	case *Woken:
		s.woken(f.Epoch)
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
		s.touch(f.At)
	case *Updated:
		s.details = f.Details
		s.touch(f.At)
	case *Moved:
		s.status = f.To
		if f.To == StatusCancelled {
			s.endAll()
		}
		s.touch(f.At)
	case *Removed:
		s.details, s.status = nil, ""
		s.touch(f.At)
	case *Offered:
		s.offers[f.Offer.Keeper.ID] = f.Offer
		s.judgeAgain(f.At)
	case OrderFact:
		s.change(f.OrderID(), f.Fold)
	}
}

func (s *State) applyCheckedIn(f *CheckedIn) {
	if !s.minted.has(f.Ticket) {
		return
	}
	i := int(f.Ticket) - 1
	s.minted.status.Set(i, ticketCheckedIn)
	s.minted.at.Set(i, f.At)
	s.minted.gate.Set(i, s.gates.admit(f.Gate, f.At))
	s.minted.device.Set(i, deviceHash(f.Device))
	s.minted.key.Set(i, f.Key)
	s.answerScan(f.Request, f.At, f.Ticket, ScanSuccess, "")
}

// endAll has the next Wakes end every unpaid order. Each of them is either in
// expiry or in due, never in both, or it would be ended twice.
func (s *State) endAll() {
	s.due, s.expiry = nil, expiryHeap{}
	for o := range s.open.all() {
		if o.Unpaid() {
			s.due = append(s.due, o.ID)
		}
	}
}

// touch notes a change of the record, and has its status judged again.
func (s *State) touch(at int64) {
	s.updated = at
	s.rev++
	s.judgeAgain(at)
}

// filled has the event's status judged again when it is full and was not, or was full and
// is not any more.
func (s *State) filled(was bool, at int64) {
	if s.full() != was {
		s.judgeAgain(at)
	}
}

// judgeAgain has the next Wake look at the event's status.
func (s *State) judgeAgain(at int64) {
	s.clock = at
	s.boundary = s.nextBoundary()
	if s.details != nil && s.dueStatus(at) != s.status {
		s.boundary = at
	}
}

// change replaces an order by a changed copy.
func (s *State) change(id engine.OrderID, to func(*Order) *Order) {
	if o := s.open.get(id); o != nil {
		s.open.put(to(o))
	} else if o := s.late.get(id); o != nil {
		s.late.put(to(o))
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
	if p.late == nil && p.order.counts() {
		p.doers = s.made.begin(p.order.doers())
	}
}

func (s *State) applyGranted(f *LineGranted) {
	p := s.placing[f.ID]
	p.waiting &^= 1 << f.Line
	if p.late == nil && f.Line < len(p.order.Lines) {
		lines := slices.Clone(p.order.Lines)
		lines[f.Line].UnitPrice, lines[f.Line].Name = f.Price, f.Name
		p.order.Lines = lines
	}
}

// applyDropped forgets an order being placed.
func (s *State) applyDropped(id engine.OrderID) {
	if p := s.placing[id]; p != nil {
		if p.late == nil && p.order.counts() {
			s.made.undone(p.order.doers(), p.doers)
		}
		s.placed(id)
		s.live -= p.order.Tickets()
		s.raiseFloor()
	}
}

// placed ends an order's wait for its keepers.
func (s *State) placed(id engine.OrderID) {
	s.begun -= s.placing[id].order.Tickets()
	delete(s.placing, id)
	s.placeDue.trim(func(d dueOrder) bool {
		p := s.placing[d.id]
		return p == nil || p.at+placeMillis > d.at
	})
}

func (s *State) applyOrderCreated(f *OrderCreated) {
	o, full := f.Order, s.full()
	if o == nil || s.find(o.ID) != nil {
		return
	}
	p := s.placing[o.ID]
	if p != nil {
		s.placed(o.ID)
	} else {
		s.live += o.Tickets()
	}
	s.filled(full, o.CreatedAt)
	s.open.put(o)
	s.expiry.add(o.ExpiresAt, o.ID)
	if o.counts() {
		if p == nil {
			p = &placing{doers: s.made.begin(o.doers())}
		}
		s.made.done(o.doers(), p.doers, o.CreatedAt)
		s.opened(o, 1)
	}
}

// opened counts a buyer's unpaid orders: one more or one less. A free order is
// paid as soon as it is made.
func (s *State) opened(o *Order, n int32) {
	if o.counts() && o.Total > 0 {
		s.made.opened(o.Customer, n)
	}
}

func (s *State) applyOrderCompleted(f *OrderCompleted) {
	o, full := s.find(f.ID), s.full()
	if o == nil || o.Status == Completed {
		return
	}
	if o.Unpaid() {
		s.opened(o, -1)
	} else { // stock was taken again
		if s.placing[o.ID] != nil {
			s.placed(o.ID)
		} else {
			s.live += o.Tickets()
		}
		s.filled(full, f.At)
		s.late.drop(o.ID)
		s.reopen(o.ID)
	}
	o = f.Fold(o)
	s.open.put(o)
	s.minted.mint(o)
	s.settleFrom(o, f.At)
}

// reopen takes an order that is settled anew off the list of those to close.
func (s *State) reopen(id engine.OrderID) {
	s.closing = slices.DeleteFunc(s.closing, func(c engine.OrderID) bool { return c == id })
	if len(s.closing) == 0 {
		s.closeAt = 0
	}
}

func (s *State) applyOrderEnded(f *OrderEnded) {
	o, full := s.open.get(f.ID), s.full()
	if o == nil || !o.Unpaid() {
		return
	}
	s.opened(o, -1)
	o = f.Fold(o)
	s.live -= o.Tickets()
	s.filled(full, f.At)
	s.open.put(o)
	s.settleFrom(o, f.At)
}

// settleFrom has the order's end told to its keepers until all acknowledge.
func (s *State) settleFrom(o *Order, at int64) {
	s.settling[o.ID] = allLines(o)
	s.sendDue.push(at+resendMillis, o.ID)
	s.raiseFloor()
}

func (s *State) applyLineSettled(f *LineSettled) {
	s.settling[f.ID] &^= 1 << f.Line
	if s.settling[f.ID] == 0 {
		s.closing = append(s.closing, f.ID)
		if s.closeAt == 0 {
			s.closeAt = f.At + closeMillis
		}
		s.sendDue.trim(func(d dueOrder) bool { return s.settling[d.id] == 0 })
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
		if o.moneyMayCome() {
			s.late.put(o)
			s.lateDue.push(f.At+lateMillis, id)
		}
		s.past.add(o, f.At)
	}
	for _, l := range s.lateDue.pop(len(s.lateDue.ready(f.At, 2*len(f.IDs)))) {
		if o := s.late.get(l.id); o != nil && o.owesRefund() {
			s.lateDue.push(f.At+lateMillis, l.id)
		} else {
			s.late.drop(l.id)
		}
	}
	s.closing, s.closeAt = nil, 0
	s.raiseFloor()
}

// applyElapsed brings out the orders whose window has closed.
func (s *State) applyElapsed(f *Elapsed) {
	for len(s.due) < 4*wakeLimit && s.expiry.next() != 0 && s.expiry.next() <= f.At {
		s.due = append(s.due, s.expiry.take())
	}
	s.clock = max(s.clock, f.At)
	s.boundary = s.nextBoundary()
}

// applyActed takes what was acted on off the lists, and puts back what is to be
// looked at again.
func (s *State) applyActed(f *Acted) {
	for _, o := range s.sendDue.pop(f.Settling) {
		if s.settling[o.id] != 0 {
			s.sendDue.push(f.At+resendMillis, o.id)
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

package event

import (
	"cmp"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// These are the ledger's delays in milliseconds, and how much one Wake does.
const (
	placeMillis   = 4_000            // how long an order waits for its keepers
	resendMillis  = 2_000            // how long until an end that is not acknowledged is told again
	closeMillis   = 1_000            // how long acknowledged ends wait to be journaled together
	recheckMillis = 60_000           // how long until an order with money in flight is looked at again
	pinMillis     = 24 * 3600 * 1000 // how long after its window an order with unreported money ends
	wakeLimit     = 256              // most orders of each sort that one Wake acts on
)

// decideWake acts on all that is due.
func (s *State) decideWake(c engine.Wake, now int64) engine.Decision {
	var d engine.Decision
	if c.Epoch > 0 {
		d.Facts = append(d.Facts, &Woken{Epoch: c.Epoch})
		return d
	}
	acted := Acted{At: now}
	for _, p := range s.placeDue.ready(now, wakeLimit) {
		if q := s.placing[p.id]; q != nil && q.at+placeMillis <= now && q.isFirst() {
			mergeDecision(&d, s.dropPlacing(q, engine.Refuse(engine.Unavailable, nil), -1))
		}
		if m := s.moving[p.id]; m != nil && m.at+placeMillis <= now {
			mergeDecision(&d, s.dropMove(m, engine.Refuse(engine.Unavailable, nil), true))
		}
	}
	for _, o := range s.sendDue.ready(now, wakeLimit) {
		acted.Settling++
		if mask := s.settling[o.id]; !mask.empty() {
			ended := s.open.get(o.id)
			s.tellKeepers(&d, ended, mask, ended.Sold())
		}
	}
	for _, id := range s.due[:min(len(s.due), wakeLimit)] {
		acted.Due++
		if o := s.open.get(id); o != nil && s.isOver(o, now) {
			status := o.EndStatus()
			if s.status == StatusCancelled {
				status = order.StatusCancelled
			}
			mergeDecision(&d, s.endOrder(o, status, now)) // nobody waits for its reply
		}
	}
	acted.Returns = s.resendReturns(&d, now)
	if acted.Settling+acted.Due+acted.Returns > 0 {
		d.Facts = append(d.Facts, &acted)
	}
	s.wakeClock(&d, now)
	s.wakeProceeds(&d, now)
	s.wakeLine(&d, now)
	return d
}

// isOver reports whether an unpaid order's time is up. Money in flight keeps the order alive for a
// day.
func (s *State) isOver(o *order.Order, now int64) bool {
	if !o.Unpaid() {
		return false
	}
	return s.status == StatusCancelled || o.ExpiresAt <= now && (!o.InFlight() || o.ExpiresAt+pinMillis <= now)
}

// wakeClock journals the acknowledged ends, changes the event's status when a sale window or a date
// calls for it, and moves the orders that may have expired to the due ones.
func (s *State) wakeClock(d *engine.Decision, now int64) {
	if s.closeAt != 0 && s.closeAt <= now {
		d.Facts = append(d.Facts, &OrderClosed{IDs: s.closing, At: now})
	}
	elapsed := s.boundary != 0 && s.boundary <= now
	if elapsed || len(s.due) == 0 && s.expiry.next() != 0 && s.expiry.next() <= now {
		d.Facts = append(d.Facts, &Elapsed{At: now})
	}
	if elapsed { // after Elapsed, because the move has the status judged anew
		if to := s.dueStatus(now); to != s.status {
			d.Facts = append(d.Facts, &Moved{From: s.status, To: to, At: now})
		}
	}
}

// mergeDecision adds the facts, answers and sends of another decision.
func mergeDecision(d *engine.Decision, more engine.Decision) {
	d.Facts = append(d.Facts, more.Facts...)
	d.Answers = append(d.Answers, more.Answers...)
	d.Sends = append(d.Sends, more.Sends...)
	d.Asks = append(d.Asks, more.Asks...)
}

// startAgain begins a new activation. It tells again what the last activation left unsettled.
func (s *State) startAgain(epoch int32) {
	s.epoch, s.counter = epoch, 0
	var alive []keeper.Claim
	for o := range s.open.all() {
		alive = append(alive, keeper.Claim{Order: o.ID, Serial: o.Serial})
	}
	for serial, r := range s.returning {
		alive = append(alive, keeper.Claim{Order: r.order, Serial: serial})
	}
	for serial, id := range s.moved {
		alive = append(alive, keeper.Claim{Order: id, Serial: serial})
	}
	slices.SortFunc(alive, func(a, b keeper.Claim) int { return cmp.Compare(a.Serial, b.Serial) })
	s.alive.Drop(s.alive.Len())
	for _, c := range alive {
		s.alive.Push(c)
	}
}

package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// A ticket of a reservation moves to another date or slot in three steps, each of which can be
// repeated or undone if it is lost: the calendar reserves the new place while the ticket still has
// its old one; the ledger notes that the ticket has moved; the calendar sells the new place and
// takes the old one back, in one fact. An order moves one ticket at a time, because the calendar
// knows a reservation by its order.

// moving is a ticket that waits for its new place. A crash forgets it.
type moving struct {
	serial  keeper.Serial
	order   engine.OrderID
	record  *order.Order // the order's record, as the caller brought it
	ticket  uint32
	version byte           // version of the holder who asks
	to      keeper.Booking // the new place
	at      int64          // since when it waits, unix milliseconds
}

// decideReschedule asks the calendar for a ticket's new place.
func (s *State) decideReschedule(c Reschedule, at int64) engine.Decision {
	o, _ := s.recallOrder(c.Order, c.Record, at)
	if o == nil || s.details == nil {
		return refuse(engine.TicketNotFound, nil)
	}
	from, ok := o.Booking(c.Ticket)
	if _, _, mine := o.LineOf(c.Ticket); !mine || !o.Sold() || c.Version != s.hands.of(c.Ticket).Version {
		return refuse(engine.TicketNotFound, nil)
	}
	if !ok {
		return engine.Decision{Reply: &engine.Refusal{Code: engine.Conflict, Message: "The ticket is for no date of its own."}}
	}
	if r := s.refuseMove(o, c.Ticket, at); r != nil {
		return engine.Decision{Reply: r}
	}
	if from.Date == c.Date && from.Slot == c.Slot {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	m := &moving{
		serial: keeper.NewSerial(s.epoch, s.counter+1), order: o.ID, record: c.Record, ticket: c.Ticket, version: c.Version, at: at,
		to: keeper.Booking{Date: c.Date, Slot: c.Slot, Units: 1, Within: from.Date == c.Date, Beside: unitsBeside(o, c.Ticket, c.Date)},
	}
	if was := s.moving[o.ID]; was != nil {
		if was.ticket == m.ticket && was.version == m.version && was.to == m.to {
			return engine.Decision{Hold: &was.order}
		}
		return refuse(engine.Unavailable, nil)
	}
	if o.Unsettled() != nil || s.settling[o.ID].has(len(o.Lines)+calendarPlace) || len(s.returnsOf(o.ID)) > 0 {
		// The calendar has not yet acknowledged the order's sale, another of its moves or a refund.
		// It would ignore a serial lower than this one as late.
		return refuse(engine.Unavailable, nil)
	}
	return engine.Decision{
		Hold: &m.order, Facts: []engine.Fact{&Moving{moving: m}},
		Sends: []engine.Send{{To: engine.CalendarRef(s.ref.Home), Cmd: keeper.Reserve{
			Claim: m.claim(), Floor: s.lowestAlive(), Line: keeper.Line{Quantity: 1, Customer: o.Customer, Bookings: []keeper.Booking{m.to}},
		}}},
	}
}

func (m *moving) claim() keeper.Claim { return keeper.Claim{Order: m.order, Serial: m.serial} }

// unitsBeside returns how many units of a date an order has without one of its tickets.
func unitsBeside(o *order.Order, ticket uint32, date keeper.Day) (n int64) {
	for other := o.FirstTicket; int64(other) < int64(o.FirstTicket)+o.Tickets(); other++ {
		if v := o.VisitOf(other); other != ticket && v != nil && v.Date == date {
			n++
		}
	}
	return n
}

// refuseMove returns the reason why a ticket can't be moved to another date now, or nil.
func (s *State) refuseMove(o *order.Order, ticket uint32, at int64) *engine.Refusal {
	reason := s.refuseTicket(ticket)
	if reason == "" && slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Gives(ticket) }) {
		reason = RefundRequested
	}
	switch {
	case reason != "":
		return engine.Refuse(engine.RefundNotEligible, NotEligible{Reason: reason})
	case Ended(s.status):
		return engine.Refuse(engine.InvalidTransition, Transition{From: s.status, To: s.status, Allowed: []string{}})
	case s.hands.of(ticket).Last.Pending(at):
		return engine.Refuse(engine.NotTransferable, NotTransferable{Reason: NotTransferablePending})
	}
	return nil
}

// decideMoveGranted moves the ticket to the place that the calendar has reserved, unless something
// has happened to the ticket meanwhile.
func (s *State) decideMoveGranted(m *moving, c keeper.Granted, at int64) engine.Decision {
	o, facts := s.recallOrder(m.order, m.record, at)
	switch {
	case o == nil || len(c.Visits) != 1 || m.version != s.hands.of(m.ticket).Version:
		return s.dropMove(m, engine.Refuse(engine.TicketNotFound, nil), true)
	case o.Unsettled() != nil:
		return s.dropMove(m, engine.Refuse(engine.Unavailable, nil), true)
	}
	if r := s.refuseMove(o, m.ticket, at); r != nil {
		return s.dropMove(m, r, true)
	}
	from, _ := o.Booking(m.ticket)
	from.Within = m.to.Within
	f := &order.TicketRescheduled{ID: o.ID, Ticket: m.ticket, Visit: c.Visits[0], From: from, Serial: m.serial, At: at}
	after := f.Fold(o)
	d := engine.Decision{
		Facts:   append(facts, f),
		Answers: []engine.Answer{{Key: m.order, Reply: &OrderReply{Order: after, Status: after.Status}}},
	}
	s.sendMoved(&d, after)
	return d
}

// sendMoved tells the calendar to sell the new place of a ticket that has moved, and to take the
// old one back.
func (s *State) sendMoved(d *engine.Decision, o *order.Order) {
	if r := o.Unsettled(); r != nil {
		d.Sends = append(d.Sends, engine.Send{To: engine.CalendarRef(s.ref.Home), Cmd: keeper.Commit{
			Claim: keeper.Claim{Order: o.ID, Serial: r.Serial}, Floor: s.lowestAlive(), Back: &r.From,
		}})
	}
}

// dropMove forgets a move that the calendar did not grant, or that came too late.
func (s *State) dropMove(m *moving, why *engine.Refusal, release bool) engine.Decision {
	d := engine.Decision{
		Facts:   []engine.Fact{&MoveDropped{ID: m.order}},
		Answers: []engine.Answer{{Key: m.order, Reply: why}},
	}
	if release {
		d.Sends = []engine.Send{{To: engine.CalendarRef(s.ref.Home), Cmd: keeper.Release{Claim: m.claim(), Floor: s.lowestAlive()}}}
	}
	return d
}

// refuseMoved words the calendar's refusal of a new place with the field names of the request's
// body.
func (s *State) refuseMoved(m *moving, why *engine.Refusal) *engine.Refusal {
	switch details := why.Details.(type) {
	case keeper.DateCap:
		if o, _ := s.recallOrder(m.order, m.record, 0); o != nil {
			line, _, _ := o.LineOf(m.ticket)
			details.TicketTypeID = s.typeID(&o.Lines[line])
		}
		return engine.Refuse(why.Code, details)
	case keeper.Issues:
		named := keeper.Issues{Issues: slices.Clone(details.Issues)}
		for i := range named.Issues {
			named.Issues[i].Path = map[string]string{"items[0].reservationDate": "date", "items[0].reservationSlotId": "slotId"}[named.Issues[i].Path]
		}
		return engine.Refuse(why.Code, named)
	}
	return why
}

func (s *State) applyMoving(f *Moving) {
	m := f.moving
	s.counter++
	s.moving[m.order] = m
	s.alive.Push(m.claim())
	s.placeDue.push(m.at+placeMillis, m.order)
}

func (s *State) applyMoveDropped(id engine.OrderID) {
	s.endMoving(id)
	s.raiseFloor()
}

// endMoving ends a ticket's wait for its new place.
func (s *State) endMoving(id engine.OrderID) {
	delete(s.moving, id)
	s.trimPlaceDue()
}

func (s *State) applyRescheduled(f *order.TicketRescheduled) {
	s.endMoving(f.ID)
	s.changeOrder(f.ID, f.Fold)
	if s.minted.has(f.Ticket) {
		s.minted.moveVisit(f.Ticket, &f.Visit)
	}
	if o := s.find(f.ID); o != nil {
		s.startMoved(o, f.At)
	}
}

// startMoved makes the ledger tell the calendar that a ticket has moved, until the calendar
// acknowledges it.
func (s *State) startMoved(o *order.Order, at int64) {
	if r := o.Unsettled(); r != nil {
		s.moved[r.Serial] = o.ID
		s.returnDue.push(at+resendMillis, o.ID)
	}
}

func (s *State) applyRescheduleSettled(f *order.RescheduleSettled) {
	s.changeOrder(f.ID, f.Fold)
	delete(s.moved, f.Serial)
	s.raiseFloor()
}

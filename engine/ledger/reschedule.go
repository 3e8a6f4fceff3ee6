package ledger

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
)

// A ticket of a reservation moves to another date or slot in three steps. Each step can be repeated or undone if it
// is lost: the calendar reserves the new place while the ticket still has its old one; the ledger notes that the
// ticket has moved; the calendar sells the new place and takes the old one back, in one fact. An order moves one
// ticket at a time, because the calendar knows a reservation by its order.

// moving is a ticket that waits for its new place. A crash forgets it.
type moving struct {
	serial  keeper.Serial
	order   engine.OrderID
	record  *order.Order // the order's record, as the caller brought it
	ticket  uint32
	version byte           // version of the holder who asks
	to      keeper.Booking // the new place
	at      int64          // unix milliseconds since when it waits
}

// decideReschedule asks the calendar for a ticket's new place. The caller waits until the calendar has
// answered. A ticket that has that place already is answered at once. While another move of the order waits, or while
// the calendar has not acknowledged an earlier message about the order, it is refused as UNAVAILABLE.
func (b *Book) decideReschedule(c Reschedule, t *Terms, at int64) engine.Decision {
	o, _, r := b.recallOrder(t, c.Order, c.Record, at)
	if r != nil {
		return engine.Decision{Reply: r}
	}
	if o == nil || !t.Exists {
		return refuse(engine.TicketNotFound, nil)
	}
	from, ok := o.Booking(c.Ticket)
	if _, _, mine := o.LineOf(c.Ticket); !mine || !o.Sold() || c.Version != b.holderVersion(t, c.Ticket) {
		return refuse(engine.TicketNotFound, nil)
	}
	if !ok {
		return refuse(engine.NotReservation, nil)
	}
	if r := b.refuseMove(t, o, c.Ticket, at); r != nil {
		return engine.Decision{Reply: r}
	}
	if from.Date == c.Date && from.Slot == c.Slot {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	m := &moving{
		serial: keeper.NewSerial(b.epoch, b.counter+1), order: o.ID, record: c.Record, ticket: c.Ticket, version: c.Version, at: at,
		to: keeper.Booking{Date: c.Date, Slot: c.Slot, Units: 1, Within: from.Date == c.Date, Beside: o.CountBeside(c.Ticket, c.Date)},
	}
	if was := b.moving[o.ID]; was != nil {
		if was.ticket == m.ticket && was.version == m.version && was.to == m.to {
			return engine.Decision{WaitKey: &was.order}
		}
		return refuse(engine.Unavailable, nil)
	}
	if o.Unsettled() != nil || b.settling[o.ID].Has(len(o.Lines)+places.Calendar) || len(b.returnsOf(o.ID)) > 0 {
		// The calendar has not yet acknowledged the order's sale, another of its moves or a refund. Once the
		// calendar had the new reservation, it would ignore the messages about these as late, because their
		// serials are lower.
		return refuse(engine.Unavailable, nil)
	}
	return engine.Decision{
		WaitKey: &m.order, Facts: []engine.Fact{&Moving{moving: m}},
		Sends: []engine.Send{{To: engine.CalendarRef(b.home), Cmd: keeper.Reserve{
			Claim: m.claim(), Floor: b.lowestAlive(), Line: keeper.Line{Quantity: 1, Customer: o.Customer, Bookings: []keeper.Booking{m.to}},
		}}},
	}
}

func (m *moving) claim() keeper.Claim { return keeper.Claim{Order: m.order, Serial: m.serial} }

// Why a ticket can't move to another date (docs/rules.md, Reservations). Other reasons are those for which its
// refund would be refused.
const (
	moveOff     = "off"
	moveTooLate = "too_late"
	moveUsed    = "used"
	movePending = "pending_transfer"
)

// NotReschedulable is the detail of RESCHEDULE_NOT_POSSIBLE.
type NotReschedulable struct {
	Reason string `json:"reason"`
}

// refuseMove returns the reason why a ticket can't be moved to another date now, or nil.
func (b *Book) refuseMove(t *Terms, o *order.Order, ticket uint32, at int64) *engine.Refusal {
	if t.Cancelled {
		return engine.Refuse(engine.EventCancelled, nil)
	}
	reason := b.refuseTicket(t, ticket)
	switch {
	case reason == refundCheckedIn:
		reason = moveUsed
	case reason != "":
	case slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Gives(ticket) }):
		reason = RefundRequested
	case b.isOffered(t, ticket, at):
		reason = movePending
	case t.Fixed:
		reason = moveOff
	case t.Over || at >= o.MoveDeadline(ticket):
		reason = moveTooLate
	default:
		return nil
	}
	return engine.Refuse(engine.NotReschedulable, NotReschedulable{Reason: reason})
}

// holderVersion returns the version of a ticket's holder, or 0 if there is no such ticket.
func (b *Book) holderVersion(t *Terms, ticket uint32) byte {
	found, _ := t.Tickets.Find(ticket)
	return found.Version
}

// isOffered reports whether a transfer of a ticket is pending.
func (b *Book) isOffered(t *Terms, ticket uint32, at int64) bool {
	found, _ := t.Tickets.Find(ticket)
	return found.Last.Pending(at)
}

// decideMoveGranted moves the ticket to the place that the calendar has reserved, unless something has happened
// to the ticket or its order since.
func (b *Book) decideMoveGranted(t *Terms, m *moving, c keeper.Granted, at int64) engine.Decision {
	o, facts, r := b.recallOrder(t, m.order, m.record, at)
	switch {
	case r != nil:
		return b.dropMove(m, r, true)
	case o == nil || len(c.Visits) != 1 || m.version != b.holderVersion(t, m.ticket):
		return b.dropMove(m, engine.Refuse(engine.TicketNotFound, nil), true)
	case o.Unsettled() != nil:
		return b.dropMove(m, engine.Refuse(engine.Unavailable, nil), true)
	}
	if r := b.refuseMove(t, o, m.ticket, at); r != nil {
		return b.dropMove(m, r, true)
	}
	from, _ := o.Booking(m.ticket)
	from.Within = m.to.Within
	f := &order.TicketRescheduled{ID: o.ID, Ticket: m.ticket, Visit: c.Visits[0], From: from, Serial: m.serial, At: at}
	after := f.Fold(o)
	d := engine.Decision{
		Facts:   append(facts, f),
		Answers: []engine.Answer{{Key: m.order, Reply: &OrderReply{Order: after, Status: after.Status}}},
	}
	b.sendMoved(&d, after)
	return d
}

// sendMoved tells the calendar to sell the new place of a ticket that has moved, and to take the old one back,
// if the order has such a move that the calendar has not acknowledged.
func (b *Book) sendMoved(d *engine.Decision, o *order.Order) {
	if r := o.Unsettled(); r != nil {
		d.Sends = append(d.Sends, engine.Send{To: engine.CalendarRef(b.home), Cmd: keeper.Commit{
			Claim: keeper.Claim{Order: o.ID, Serial: r.Serial}, Floor: b.lowestAlive(), Back: &r.From,
		}})
	}
}

// dropMove forgets a move that the calendar did not grant in time, or that is not possible any more, and
// answers its caller. release says that the calendar may have reserved the new place, so that it must give the
// place back.
func (b *Book) dropMove(m *moving, why *engine.Refusal, release bool) engine.Decision {
	d := engine.Decision{
		Facts:   []engine.Fact{&MoveDropped{ID: m.order}},
		Answers: []engine.Answer{{Key: m.order, Reply: why}},
	}
	if release {
		d.Sends = []engine.Send{{To: engine.CalendarRef(b.home), Cmd: keeper.Release{Claim: m.claim(), Floor: b.lowestAlive()}}}
	}
	return d
}

// refuseMoved words the calendar's refusal of a new place with the field names of the request's body, and adds
// the ticket type to a refusal for a date's cap.
func (b *Book) refuseMoved(t *Terms, m *moving, why *engine.Refusal) *engine.Refusal {
	switch details := why.Details.(type) {
	case keeper.DateCap:
		if o, _, _ := b.recallOrder(t, m.order, m.record, 0); o != nil {
			line, _, _ := o.LineOf(m.ticket)
			details.TicketTypeID = b.typeID(&o.Lines[line])
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

func (b *Book) applyMoving(f *Moving) {
	m := f.moving
	b.counter++
	b.moving[m.order] = m
	b.alive.Push(m.claim())
	b.placeDue.Push(m.at+placeMillis, m.order)
}

func (b *Book) applyMoveDropped(id engine.OrderID) {
	b.endMoving(id)
	b.raiseFloor()
}

// endMoving ends a ticket's wait for its new place.
func (b *Book) endMoving(id engine.OrderID) {
	delete(b.moving, id)
	b.trimPlaceDue()
}

func (b *Book) applyRescheduled(f *order.TicketRescheduled) (was, is *order.Order) {
	b.endMoving(f.ID)
	if was, is = b.changeOrder(f.ID, f.Fold); is != nil {
		b.startMoved(is, f.At)
	}
	return was, is
}

// startMoved makes the ledger tell the calendar that a ticket has moved, until the calendar
// acknowledges it.
func (b *Book) startMoved(o *order.Order, at int64) {
	if r := o.Unsettled(); r != nil {
		b.moved[r.Serial] = o.ID
		b.returnDue.Push(at+resendMillis, o.ID)
	}
}

func (b *Book) applyRescheduleSettled(f *order.RescheduleSettled) (was, is *order.Order) {
	was, is = b.changeOrder(f.ID, f.Fold)
	delete(b.moved, f.Serial)
	b.raiseFloor()
	return was, is
}

// Package event is the kind of an event: it owns the event's record and life cycle, its orders from
// placing to their end, its tickets and its gates. It is the ledger of the reservation protocol
// (engine/keeper).
//
// Invariants: an order is completed exactly when its tickets exist; unpaid orders and issued
// tickets never exceed the event's capacity; a ticket is admitted once; an order's end is told to
// its keepers until each has acknowledged it; a repeated Place makes no second order and gets the
// answer of the first (Order.Placed); an order with seats gets all of them or is not made
// (keepers.go). Limits: wakeLimit in timers.go bounds how much one Wake does; 20 lines an order, 20
// payment attempts an order, 1,000 gates.
//
// The ledger keeps open orders whole, one compact record a ticket, and for 24 hours the ids and
// outcomes of ended orders; the read model has the rest. For the velocity rules (velocity.go) it
// remembers who made the orders of the last ten minutes, a million at most (tally.go). That memory
// is built from facts and is part of snapshots, so that a crash gives nobody a fresh allowance.
package event

import (
	"math"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
	"boxoffice/engine/waitlist"
)

// State is an event's memory.
type State struct {
	ref     engine.Ref
	details *Details // nil until created, and again when a draft is removed
	status  string
	created int64 // unix milliseconds
	updated int64
	rev     uint64
	offers  map[int64]keeper.Offer // by ticket type's number

	open    orderTable // unpaid, or ended and not yet acknowledged by all keepers
	late    orderTable // ended unpaid after an attempt to pay: money may still come
	past    past       // ids and outcomes of closed orders
	live    int64      // units that are being placed, are in unpaid orders, or are issued
	begun   int64      // those of live that are being placed
	made    tally      // the orders of ten minutes, for the velocity rules
	minted  tickets
	hands   hands
	line    *waitlist.Line // nil: nobody has ever joined the waitlist
	gates   gates
	scans   paged.Answers[uint64] // answers to scans: the ticket's serial, with the verdict in the lowest byte
	expiry  expiryHeap
	lateDue queue // when late orders are forgotten
	earned  earnings
	telling telling // how far the wallet knows what was earned

	epoch     int32  // this field and those below are volatile
	counter   uint32 // serials made by this activation
	placing   map[engine.OrderID]*placing
	tries     tally                     // wrong presale codes of a minute
	alive     paged.Queue[keeper.Claim] // claims by serial; the first live one is the floor
	settling  map[engine.OrderID]places // lines whose keeper has not acknowledged the end, by placeOf
	closing   []engine.OrderID          // orders whose end is acknowledged but not yet journaled
	closeAt   int64
	placeDue  queue
	sendDue   queue
	returnDue queue
	returning map[keeper.Serial]returning // refunds whose tickets are being given back, by the refunds' serials
	moving    map[engine.OrderID]*moving
	moved     map[keeper.Serial]engine.OrderID // orders of tickets whose old place the calendar has not acknowledged
	due       []engine.OrderID                 // orders that may have expired
	clock     int64                            // time up to which sale windows and dates have been judged
	boundary  int64                            // time of the next sale window or date after clock; 0: none
}

// placing is an order that waits for its keepers. A crash forgets it.
type placing struct {
	order   *order.Order // lines get name and price as keepers grant them
	at      int64        // since when it waits, unix milliseconds
	presale string
	scale   float64        // multiplies the velocity rules
	doers   [2]uint32      // slots in the tally
	waiting places         // keepers that have not granted yet
	late    *ReportPayment // money that came after the order's end, or nil
	group   *group         // the orders of the same PlaceAll; nil for an order by itself
	offer   bool           // whether it is an offer to somebody on the waitlist (waiting.go)
}

// New returns the empty state of an event.
func New(ref engine.Ref) engine.State {
	return &State{
		ref:       ref,
		offers:    make(map[int64]keeper.Offer),
		open:      newOrderTable(),
		late:      newOrderTable(),
		past:      newPast(),
		made:      newTally(orderSpan),
		tries:     newTally(presaleSpan),
		gates:     newGates(),
		scans:     paged.NewAnswers[uint64](),
		placing:   make(map[engine.OrderID]*placing),
		settling:  make(map[engine.OrderID]places),
		returning: make(map[keeper.Serial]returning),
		moving:    make(map[engine.OrderID]*moving),
		moved:     make(map[keeper.Serial]engine.OrderID),
	}
}

func (s *State) makeRecord() *Record {
	return &Record{
		Number: s.ref.ID, Details: s.details, Status: s.status, CreatedAt: s.created, UpdatedAt: s.updated,
		Revision: s.rev, Types: len(s.offers), Sold: s.minted.len() > 0,
	}
}

// findMade returns an order that somebody has made, if the ledger has its record. An offer to
// somebody on the waitlist counts only once it is claimed.
func (s *State) findMade(id engine.OrderID) *order.Order {
	if o := s.find(id); o != nil && o.Status != order.StatusOffered {
		return o
	}
	return nil
}

// find returns an order whose record the ledger has.
func (s *State) find(id engine.OrderID) *order.Order {
	if o := s.open.get(id); o != nil {
		return o
	}
	return s.late.get(id)
}

// lowestAlive returns the serial below which none of the event's orders is alive.
func (s *State) lowestAlive() keeper.Serial {
	if s.alive.Len() > 0 {
		return s.alive.At(0).Serial
	}
	return keeper.NewSerial(s.epoch, s.counter+1)
}

// isAlive reports whether a claim's serial is still in use: its order is being placed or open, its
// ticket is being moved, or its refund is being given back.
func (s *State) isAlive(c keeper.Claim) bool {
	if p := s.placing[c.Order]; p != nil && p.order.Serial == c.Serial {
		return true
	}
	if m := s.moving[c.Order]; m != nil && m.serial == c.Serial {
		return true
	}
	if _, ok := s.returning[c.Serial]; ok {
		return true
	}
	if _, ok := s.moved[c.Serial]; ok {
		return true
	}
	serial, _, ok := s.open.headOf(c.Order)
	return ok && serial == c.Serial
}

// raiseFloor drops the claims at the front that have ended.
func (s *State) raiseFloor() {
	for s.alive.Len() > 0 && !s.isAlive(s.alive.At(0)) {
		s.alive.Drop(1)
	}
}

// Next returns when the state wants its next Wake.
func (s *State) Next() time.Time {
	if len(s.due) > 0 {
		return time.UnixMilli(1)
	}
	next := int64(math.MaxInt64)
	for _, t := range [...]int64{s.placeDue.due, s.sendDue.due, s.returnDue.due, s.closeAt, s.expiry.next(), s.boundary, s.tellAt(), s.ripenAt(), s.line.Due(s.offers)} {
		if t > 0 && t < next {
			next = t
		}
	}
	if next == math.MaxInt64 {
		return time.Time{}
	}
	return time.UnixMilli(next)
}

// Tickets returns the number of tickets issued and not refunded, for the audit.
func (s *State) Tickets() int { return s.minted.len() - s.minted.ended }

// TicketsOf returns the number of tickets of a ticket type issued and not refunded, for the audit.
func (s *State) TicketsOf(ticketType int64) int64 {
	var n int64
	for i := range s.minted.groups() {
		if s.minted.kind.At(i) == ticketType {
			n += int64(s.minted.size(i)) - s.minted.endedIn(i)
		}
	}
	return n
}

// Orders calls f for every order whose record the ledger has, for the audit.
func (s *State) Orders(f func(*order.Order)) {
	for o := range s.open.all() {
		f(o)
	}
	for o := range s.late.all() {
		f(o)
	}
}

// Package event is the kind of an event: it owns the event's record and life cycle. Its parts are
// packages of their own: the ledger of its orders (engine/ledger), its tickets and gates
// (engine/admission), what buyers did lately (engine/velocity), its proceeds (engine/proceeds) and
// its waitlist (engine/waitlist). Decide asks these parts, and Apply gives each the facts that concern it.
//
// Invariants, beside the invariants of the parts: no order makes unpaid orders and issued tickets exceed the
// event's capacity; a ticket type has a place among MaxTypes before it is created.
package event

import (
	"math"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/waitlist"
)

// State is an event's memory. Apply builds it from the facts, or Thaw from a snapshot.
type State struct {
	ref     engine.Ref
	details *Details // nil until created, and again once removed
	status  string
	created int64 // unix milliseconds
	updated int64
	rev     uint64
	offers  map[int64]keeper.Offer // last offer of each ticket type, by the type's number

	book    ledger.Book
	tickets admission.Tickets
	line    *waitlist.Line // the waitlist; nil until the first fact about it
	earned  proceeds.Totals

	clock    int64 // unix milliseconds up to which sale windows and dates have been judged; volatile, as is the next field
	boundary int64 // unix milliseconds at which dueStatus may change next; 0 for never
}

// New returns the empty state of an event.
func New(ref engine.Ref) engine.State {
	return &State{ref: ref, offers: make(map[int64]keeper.Offer), book: ledger.New(ref.Home), tickets: admission.New()}
}

// makeRecord returns the event's record as it is now. Room stays 0: only Get fills it in.
func (s *State) makeRecord() *Record {
	issued, _ := s.tickets.Count()
	return &Record{
		Number: s.ref.ID, Details: s.details, Status: s.status, CreatedAt: s.created, UpdatedAt: s.updated,
		Revision: s.rev, Types: s.countTypes(), Sold: issued > 0,
	}
}

// Next returns the earliest time at which one of the event's parts has something to do. It is the
// zero time if none has.
func (s *State) Next() time.Time {
	next, terms := int64(math.MaxInt64), s.makeClearingTerms()
	for _, t := range [...]int64{s.book.Next(), s.boundary, s.earned.TellAt(terms), s.earned.ClearAt(terms), s.line.Due(s.offers)} {
		if t > 0 && t < next {
			next = t
		}
	}
	if next == math.MaxInt64 {
		return time.Time{}
	}
	return time.UnixMilli(next)
}

// makeOrderTerms returns what the ledger must know about the event to decide about orders.
func (s *State) makeOrderTerms() ledger.Terms {
	t := ledger.Terms{
		Status: s.status, Selling: isSelling(s.status), Cancelled: s.status == StatusCancelled, Over: Ended(s.status),
		Offers: s.offers, Line: s.line, Tickets: &s.tickets,
	}
	if d := s.details; d != nil {
		product := ProductType(d.Category)
		t.Exists, t.Dated, t.Digital = true, product == ProductReservation, product == ProductDigital
		t.Org, t.Currency, t.OrderWindow, t.AbsorbFees = d.Org, d.Currency, d.OrderWindow, d.AbsorbFees
		t.Fixed, t.Hurried = d.NoRescheduling, d.NoExtensions
		t.StartAt, t.EndAt, t.Velocity, t.RoomForAll = d.StartAt, d.EndAt, &d.Velocity, s.roomForAll()
	}
	return t
}

// unitsTaken returns how many units count against the capacity: the units of orders that are being
// placed or unpaid, and of issued tickets that were not refunded.
func (s *State) unitsTaken() int64 {
	taken, _ := s.book.Units()
	return taken + int64(s.Tickets())
}

// roomLeft returns how many more units the event's capacity admits; math.MaxInt64 if there is no
// limit.
func (s *State) roomLeft() int64 {
	if s.details.Capacity == NoCapacity {
		return math.MaxInt64
	}
	return max(0, s.details.Capacity-s.unitsTaken())
}

// roomForAll returns how many units the capacity admits for buyers who are not on the waitlist.
// What is set aside for the waitlist is not among them.
func (s *State) roomForAll() int64 {
	room := s.roomLeft()
	if room == math.MaxInt64 {
		return room
	}
	return max(0, room-s.line.Reserved(s.offers))
}

// isFull reports whether the capacity is used up by the orders that have been made and by what is
// set aside for the waitlist. Orders that are still being placed don't count, because they may
// fail.
func (s *State) isFull() bool {
	if s.details == nil || s.details.Capacity == NoCapacity {
		return false
	}
	_, inPlacing := s.book.Units()
	return s.unitsTaken()-inPlacing+s.line.Reserved(s.offers) >= s.details.Capacity
}

// makeGateTerms returns what the tickets and gates must know about the event. The event must exist.
func (s *State) makeGateTerms() *admission.Terms {
	t := &admission.Terms{
		Cancelled: s.status == StatusCancelled, Completed: s.status == StatusCompleted, ChangedAt: s.updated,
		DoorsAt: s.details.DoorsAt, Capacity: s.details.Capacity,
		IDCheck: s.details.IDCheck, RotatingOnly: s.details.RotatingOnly, OfflineDoorCodes: s.details.OfflineDoorCodes,
		Exits: s.details.Exits, InsideLimit: s.details.InsideLimit,
	}
	if t.DoorsAt == 0 {
		t.DoorsAt = s.details.StartAt
	}
	return t
}

// makeClearingTerms returns which wallet is told of the event's proceeds, and whether the event has no end after
// which its sales clear: reservations have none, nor have digital products without an end date. It returns zero
// Terms if there is no event.
func (s *State) makeClearingTerms() proceeds.Terms {
	if s.details == nil {
		return proceeds.Terms{}
	}
	product := ProductType(s.details.Category)
	return proceeds.Terms{
		Event: s.ref.ID, Wallet: engine.WalletRef(s.details.Org, s.details.Currency),
		Endless: product == ProductReservation || product == ProductDigital && s.details.EndAt == 0,
	}
}

// Tickets returns the number of tickets issued and not refunded, for the audit.
func (s *State) Tickets() int {
	issued, ended := s.tickets.Count()
	return issued - ended
}

// TicketsOf returns the number of tickets of a ticket type issued and not refunded, for the audit.
func (s *State) TicketsOf(ticketType int64) int64 { return s.tickets.CountType(ticketType) }

// Orders calls f for every order whose record the ledger has, for the audit.
func (s *State) Orders(f func(*order.Order)) {
	for o := range s.book.Open() {
		f(o)
	}
	for o := range s.book.Late() {
		f(o)
	}
}

// Package seatmap is the kind of a seated event's seats: it owns the attached map, which ticket type each
// section is sold as, what shoppers hold, what orders have taken, and what the organizer has blocked. It is a
// keeper of the reservation protocol (engine/keeper) for orders, and tells ticket types how many seats they
// have (keeper.Resize). The edge sends it commands, and the ledger of its event reserves seats from it. It has
// no goroutine: it ends holds when it is woken.
//
// A shopper's selection is what one holder holds. Hold and BestAvailable replace it as a whole, and each change
// starts its time again. But while the holder keeps any of its seats, it lasts at most three times the hold's
// time since it began, so that nobody can keep a good seat from others for ever by changing the selection. If
// the same asker selects the same seats again, the time does not start again. For a day, a repeated request with an
// idempotency key gets its first answer again, unless that was a refusal. A shopper who asks for more time gets
// the hold's time on top, ten times at most. A hold ends at the first half second on or after its time.
//
// Invariants: a seat is free, held by one holder, taken by one order, or blocked; a ticket type's
// size is the number of its seats that are not blocked, where sold seats count for the type that
// they were sold as; the map does not change while a seat is taken; every hold ends. A holder
// without seats is forgotten. Limits: MaxSeats on a map, MaxSelection seats a holder, MaxHeld a
// principal and MaxNewlyHeld a network (velocity.go), MaxBlocks a call, maxTypes ticket types.
//
// A seat takes about 140 bytes of memory, and 170 in the middle of a sale (BenchmarkMemory); in a
// snapshot 17 and 26 (BenchmarkFreeze). A hold of four seats takes 93 bytes of the journal.
package seatmap

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/pace"
	"boxoffice/engine/paged"
)

// These are the limits of commands and of what is remembered.
const (
	MaxSelection = 50
	MaxBlocks    = 5_000
	maxTypes     = 10_000 // slots (sizes): the ticket types that sections have ever been priced to, and one for no type
)

// The bounds of a hold's time in milliseconds.
const (
	MinHold     = 60_000
	MaxHold     = 3_600_000
	DefaultHold = 300_000
	// longest is how many times the hold's time a selection may last in all, without the time that Extend adds.
	longest = 3
)

// The modes of an event's seating.
const (
	Reserved = "reserved" // every ticket is a seat
	GAMixed  = "ga_mixed" // some ticket types have no seats
)

// Status is the state of a seat that the public sees.
type Status uint8

// The states of a seat. Map.States has the same numbers.
const (
	Available Status = 0
	Held      Status = 1
	Sold      Status = 2 // including seats of unpaid orders
	Blocked   Status = 3
)

// seat is the state of one seat. At most one of hold, sale and blocked is set.
type seat struct {
	hold    *hold
	sale    *sale
	counts  uint16 // slot in sizes of the type that the seat counts for
	blocked bool
}

func (s *seat) isFree() bool { return s.hold == nil && s.sale == nil && !s.blocked }

// status returns the seat's public status. A seat of an order that is not paid yet is Sold, too.
func (s *seat) status() Status {
	switch {
	case s.sale != nil:
		return Sold
	case s.hold != nil:
		return Held
	case s.blocked:
		return Blocked
	default:
		return Available
	}
}

// State is the memory of an event's seats.
type State struct {
	ref   engine.Ref
	facts uint64 // number of facts journaled so far, which is the position in the stream

	plan     *plan // the map in a form for searching; nil if no map is attached
	mode     string
	holdTime int64    // milliseconds that a selection is held
	prices   []uint16 // slot of each section's ticket type; 0 if the section is not for sale

	seats   []seat
	vacant  []int32  // free seats of each row
	tallies [4]int32 // how many seats have each status
	holds   holds
	pace    pace.Pace
	sales   map[keeper.Claim]*sale
	book    keeper.Book
	sizes   sizes
	answers paged.Answers[*Answered] // answers to shoppers' requests, which are never changed
}

// New returns the empty state of an event's seats.
func New(ref engine.Ref) engine.State {
	return &State{
		ref: ref, holds: newHolds(), pace: pace.New(), sales: make(map[keeper.Claim]*sale), book: keeper.NewBook(), sizes: newSizes(),
		answers: paged.NewAnswers[*Answered](),
	}
}

// putSeat gives a seat another state, and keeps all counts of seats right. A free or held seat counts for its
// section's type, a blocked one for none, and a taken one for the type in to.counts.
func (s *State) putSeat(i int32, to seat) {
	was := &s.seats[i]
	switch {
	case to.blocked:
		to.counts = 0
	case to.sale == nil:
		to.counts = s.prices[s.plan.SectionOf(i)]
	}
	if was.isFree() != to.isFree() {
		if to.isFree() {
			s.vacant[s.plan.SeatRow[i]]++
		} else {
			s.vacant[s.plan.SeatRow[i]]--
		}
	}
	s.tallies[was.status()]--
	s.tallies[to.status()]++
	s.sizes.moveSeat(was.counts, to.counts)
	*was = to
}

// Next returns when the state wants its next Wake: to end holds, to ask about reservations that nobody has
// confirmed, or to tell a ticket type its size. It returns the zero time for never.
func (s *State) Next() time.Time {
	due := s.book.Due()
	for _, t := range [...]int64{s.holds.nextEnd(), s.sizes.nextTelling()} {
		if t != 0 && (due == 0 || t < due) {
			due = t
		}
	}
	if due == 0 {
		return time.Time{}
	}
	return time.UnixMilli(due)
}

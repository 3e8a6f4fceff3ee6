// Package judge checks whether what happens in the simulated world is right. It keeps the journal's truth by rules
// of its own, which share no code with the kinds that it judges: every committed fact against all facts before it
// (Take), every message that leaves an actor (MayLeave), every answer (Answer), and the whole once the world is
// quiet (Settled). It acts in nothing; what it must know of the world, and what follows from a fact out there, is
// in World. A file has the rules of one word.
package judge

import (
	"errors"
	"fmt"
	"time"

	"boxoffice/cluster/sim/clock"
	"boxoffice/cluster/sim/judge/rooms"
	"boxoffice/cluster/sim/judge/seats"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/waitlist"
)

// World is what the judge knows of the world, and what the world does because of a fact.
type World struct {
	Jumps bool // the clocks of nodes are wrong by up to an hour
	// HoldScale multiplies the limits of how many seats one holder may hold.
	HoldScale float64

	Now      func() int64                                     // returns the microseconds since the start
	Reach    func(fault, met string)                          // counts that a fault has met something
	Places   func(engine.OrderID) []*ledger.Place             // returns the commands that have tried to place an order under an id
	DayAt    func(event, at int64) keeper.Day                 // returns the date where an event is, at a time in unix milliseconds
	Received func(reference string) int64                     // returns the minor units that the provider has of an attempt to pay
	Replay   func(engine.Ref) (engine.State, error)           // returns the state of a stream, made from its snapshot and the facts after it
	Owner    func(engine.Ref) (engine.State, time.Time, bool) // returns the state of the activation that owns a stream, and its node's clock; false: no node is at work on it

	PayBack   func(id engine.OrderID, position int, r order.Refund) // is told of a refund that is due
	WatchHold func(engine.Ref, *seatmap.HeldFact)                   // is told of a selection, whose end must come in time
	WatchRoom func(ref engine.Ref, turn int, due int64)             // is told of an admission that is due, at a time in unix milliseconds
}

// Show names the actors of one event.
type Show struct {
	Event engine.Ref
	Seats engine.Ref // zero: the event has no seats
	Dates engine.Ref // zero: its tickets are for no date of their own
	Types []engine.Ref
}

const (
	millisecond = clock.Millisecond
	second      = clock.Second
)

// Truth is what the journal says, kept by rules of its own: each fact that is committed is judged against all facts
// before it.
type Truth struct {
	world   World
	stocks  map[engine.Ref]*stock // by the keeper: what it has of tickets, or of a promo code's uses
	books   map[int64]*book       // by the number of the event: its orders and tickets
	seats   *seats.Seats
	diaries map[int64]*diary // by the number of the event: what is booked of its dates
	rooms   *rooms.Rooms
	earned  map[int64]keeper.Proceeds // by the number of the event: what it has earned, as far as the wallet was told
	fees    map[string]int64          // taken, by order
	// early are orders whose Place was refused while there was no such order, though a repeat of it may have made the
	// order since (see NoteRefusals).
	early map[engine.OrderID]bool
}

// New makes a judge who has seen nothing.
func New(w World) *Truth {
	t := &Truth{
		world: w, stocks: make(map[engine.Ref]*stock), books: make(map[int64]*book), diaries: make(map[int64]*diary),
		rooms:  rooms.New(rooms.World{Now: w.Now, Replay: w.Replay, Owner: w.Owner, Watch: w.WatchRoom}),
		earned: make(map[int64]keeper.Proceeds), fees: make(map[string]int64), early: make(map[engine.OrderID]bool),
	}
	t.seats = seats.New(seats.World{HoldScale: w.HoldScale, Reach: w.Reach, Places: w.Places, Order: t.Order, Gone: t.goneSeats, Replay: w.Replay, Watch: w.WatchHold})
	return t
}

// Take judges a committed fact against all facts before it, and keeps it. The simulator calls it in the order of the
// commits.
func (t *Truth) Take(ref engine.Ref, f engine.Fact) error {
	switch ref.Kind { //nolint:exhaustive // the rest is the ledger's
	case engine.KindInventory:
		return t.takeStock(ref, t.stockOf(ref), f)
	case engine.KindCalendar:
		return t.takeDates(ref, t.diaryOf(ref.Home), f)
	case engine.KindPromo:
		return t.takeCode(ref, t.stockOf(ref), f)
	case engine.KindSeatmap:
		return t.takeSeats(ref, f)
	case engine.KindWallet:
		return t.takeWallet(ref, f)
	case engine.KindQueue:
		return t.rooms.Take(ref, f)
	}
	b := t.bookOf(ref.Home)
	switch f := f.(type) {
	case *order.Created:
		return t.judgeCreated(ref, b, f)
	case *order.Completed:
		return t.judgeCompleted(ref, b, f)
	case *order.Extended:
		return t.judgeExtended(b, f)
	case *order.Ended:
		return t.judgeEnded(b, f)
	case *ledger.OrderClosed:
		return t.judgeClosed(ref, b, f)
	case *admission.GatePassed, *admission.CheckInDenied, *admission.PassageUndone:
		return b.takePassage(f)
	case *admission.CheckedIn, *admission.CheckInUndone, *order.TransferOffered, *order.TransferRevoked, *order.TicketTransferred:
		return t.takeTicket(b, f)
	case *order.TicketRescheduled:
		return t.judgeRescheduled(ref, b, f)
	case *order.RescheduleSettled:
		return t.judgeRescheduleSettled(ref, b, f)
	case *order.RefundDecided:
		return t.judgeRefundDecided(b, f)
	case *order.RefundReturned:
		return t.judgeReturned(ref, b, f)
	case *ledger.OrderRecalled:
		return t.judgeRecalled(b, f)
	// These two cases are interfaces which the types above satisfy too, so they come after them.
	case waitlist.Fact:
		return t.takeLine(ref, b, f)
	case *order.Erased:
		return b.judgeErased(f)
	case order.Fact:
		return t.judgeMoney(b, f)
	default:
		return t.judgeEvent(b, f)
	}
}

// takeSeats judges a committed fact of a seat map. A reservation brings a floor, which is judged as for any other keeper.
func (t *Truth) takeSeats(ref engine.Ref, f engine.Fact) error {
	if err := t.seats.Take(ref, f); err != nil {
		return err
	}
	if r, ok := f.(*seatmap.ReservedFact); ok {
		return t.aboveFloor(t.bookOf(ref.Home), r.Reservation.Claim, r.Reservation.Floor)
	}
	return nil
}

// judgeEvent judges the facts about the event itself: its record, its status, its end.
func (t *Truth) judgeEvent(b *book, f engine.Fact) error {
	switch f := f.(type) {
	case *event.Created:
		if b.status != "" || b.removed {
			return errors.New("the event is created twice")
		}
		b.status, b.details, b.roomiest = event.StatusDraft, *f.Details, f.Details.Capacity
	// Orders that were under way when the capacity changed are judged by the larger one for a while (see capacityAt).
	case *event.Updated:
		b.lowered, b.roomiest = t.world.Now(), b.capacityAt(t.world.Now())
		b.details = *f.Details
	case *event.Moved:
		if f.From != b.status || f.From == f.To {
			return fmt.Errorf("moved from %s to %s, was %s", f.From, f.To, b.status)
		}
		if f.From == event.StatusCancelled || f.From == event.StatusCompleted {
			return fmt.Errorf("%s is final, and moved to %s", f.From, f.To)
		}
		b.status = f.To
	case *event.Removed:
		b.status, b.removed = "", true
	case *event.Offered, *proceeds.Cleared:
	case *event.PersonErased:
		return b.judgePersonErased(f)
	case *waitlist.SetFact:
		b.line.byHand = b.line.byHand || !f.Auto
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

// Order returns an order of an event as its facts say, or nil if there is none.
func (t *Truth) Order(event int64, id engine.OrderID) *order.Order {
	if sl := t.bookOf(event).orders[id]; sl != nil {
		return sl.order
	}
	return nil
}

// OrdersNaming returns an event's orders that name a person, in the order of their making.
func (t *Truth) OrdersNaming(event int64, customer uint64) (orders []*order.Order) {
	b := t.bookOf(event)
	for _, id := range b.ids {
		if o := b.orders[id].order; namesPerson(o, customer) {
			orders = append(orders, o)
		}
	}
	return orders
}

// Holds returns whether a selection of seats is still the last one of its holder.
func (t *Truth) Holds(ref engine.Ref, f *seatmap.HeldFact) bool {
	return t.seats.Holds(ref, f)
}

// Turns returns how often the due time of a room's next admission has changed. A watcher gives up once the number is
// another, because the admission is due at another time then.
func (t *Truth) Turns(ref engine.Ref) int { return t.rooms.Turns(ref) }

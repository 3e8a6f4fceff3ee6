// Package ledger is the ledger of an event's orders: it places them with their keepers, takes their
// payments, gives back what they took, and remembers how they ended (engine/keeper has the protocol).
//
// Invariants: an order is completed exactly when its tickets exist; an order's end is told to its keepers until
// each has acknowledged it; a repeated Place makes no second order and gets the answer of the first
// (Order.Placed); an order with seats gets all of them or is not made. Limits: wakeLimit bounds how much one
// Wake does; an order has at most MaxLines lines, buyerAttempts payment attempts of its buyer and linkAttempts
// by its payment link. Open and late orders are kept whole. Of each closed order, the id and the outcome are
// kept for at least 24 hours; the read model has the rest.
//
// The event asks Book in its Decide and gives it each fact about an order in its Apply. Terms carry everything about
// the event, its tickets and its waitlist that a decision needs.
package ledger

import (
	"iter"
	"math"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/ledger/tables"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
	"boxoffice/engine/velocity"
	"boxoffice/engine/waitlist"
)

// Book holds the orders of an event, from placing to their end. Use New.
type Book struct {
	home           int64           // number of the event
	openOrders     tables.Orders   // orders that are unpaid, or have ended and are not closed yet (OrderClosed)
	lateOrders     tables.Orders   // closed orders whose record is kept: money may still move, a ticket has moved, or a request has brought the record back
	closedOrders   tables.Closed   // ids and outcomes of closed orders, whether or not their record is kept
	unitsTaken     int64           // units that are being placed or are in unpaid orders
	unitsInPlacing int64           // the part of unitsTaken that is being placed
	buyers         velocity.Buyers // what the velocity rules count
	expiry         tables.Heap     // when unpaid orders have to be looked at
	lateDue        tables.Queue    // when late orders may be forgotten

	epoch     int32                            // this field and those below are volatile
	counter   uint32                           // serials made by this activation
	placing   map[engine.OrderID]*placing      // orders that wait for their keepers
	alive     paged.Queue[keeper.Claim]        // claims in the order of their serials; the serial of the first live one is the floor
	settling  map[engine.OrderID]places.Set    // places whose keepers have not acknowledged the order's end (places.Of)
	toClose   []engine.OrderID                 // orders whose end all keepers have acknowledged, and for which OrderClosed is still to be journaled
	closeAt   int64                            // unix milliseconds when OrderClosed is due for toClose; 0 if that is empty
	placeDue  tables.Queue                     // when orders and tickets have waited long enough for their keepers
	sendDue   tables.Queue                     // when ends are told to keepers again
	returnDue tables.Queue                     // when returns and moves are told to keepers again
	returning map[keeper.Serial]returning      // refunds whose tickets are being given back, by the refunds' serials
	moving    map[engine.OrderID]*moving       // tickets that wait for a new place, by their orders
	moved     map[keeper.Serial]engine.OrderID // orders of moved tickets whose move the calendar has not acknowledged, by the moves' serials
	expired   []engine.OrderID                 // orders that may have expired, to be looked at by the next Wake
}

// Terms are what the ledger must know about the event to decide about orders. Times are unix milliseconds.
type Terms struct {
	Exists      bool // false before the event is created and after it is removed; then only the fields up to Tickets are set
	Status      string
	Selling     bool
	Cancelled   bool
	Over        bool // whether nothing of the event changes any more
	Offers      map[int64]keeper.Offer
	Line        *waitlist.Line
	Tickets     *admission.Tickets
	Org         int64
	Currency    string
	OrderWindow int64 // milliseconds that a pending order lives
	AbsorbFees  bool
	Dated       bool // whether each ticket is for a date of its own
	Digital     bool
	Fixed       bool // whether tickets may not move to another date
	Hurried     bool // whether buyers get no more time to pay
	StartAt     int64
	EndAt       int64
	Velocity    *velocity.Limits
	RoomForAll  int64 // units that the event's capacity admits for buyers who are not on the waitlist
}

// placing is an order that waits for its keepers. A crash forgets it.
type placing struct {
	order   *order.Order // lines get name and price as keepers grant them
	at      int64        // unix milliseconds since when it waits
	presale string
	scale   float64        // multiplies the limits of the velocity rules
	slots   velocity.Slots // the buyer's slots in Book.buyers
	waiting places.Set     // keepers that have not granted yet
	late    *ReportPayment // money that came after the order's end, or nil
	group   *group         // the orders of the same PlaceAll; nil for an order by itself
	offer   bool           // whether it is an offer to somebody on the waitlist (offers.go)
}

// New returns the empty book of the event with a number.
func New(home int64) Book {
	return Book{
		home:         home,
		openOrders:   tables.NewOrders(),
		lateOrders:   tables.NewOrders(),
		closedOrders: tables.NewClosed(),
		buyers:       velocity.New(),
		placing:      make(map[engine.OrderID]*placing),
		settling:     make(map[engine.OrderID]places.Set),
		returning:    make(map[keeper.Serial]returning),
		moving:       make(map[engine.OrderID]*moving),
		moved:        make(map[keeper.Serial]engine.OrderID),
	}
}

func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// Decide decides on the commands about orders. mine is false for a command about something else, and for a
// waitlist.Leave of an entry that no order is offered to.
func (b *Book) Decide(c engine.Command, t *Terms, at int64) (d engine.Decision, mine bool) {
	switch c := c.(type) {
	case Place:
		return b.decidePlace(c, t, at), true
	case keeper.Granted:
		return b.decideGranted(c, t, at), true
	case keeper.Closed:
		return b.decideClosed(c, at), true
	case PlaceAll:
		return b.decidePlaceAll(c, t, at), true
	case keeper.Refused:
		return b.decideRefused(c, t, at), true
	case keeper.Inquire:
		return b.decideInquire(c), true
	case keeper.Returned:
		return b.decideReturned(c, at), true
	case GetOrder:
		return b.decideGetOrder(c), true
	case CancelOrder:
		return b.decideCancel(c, at), true
	case ExtendOrder:
		return b.decideExtend(c, t, at), true
	case BeginPayment:
		return b.decideBegin(c, t, at), true
	case OpenPayment:
		return b.decideAddress(c, at), true
	case ReportDeposit:
		return b.decideDeposit(c, t, at), true
	case ReportPayment:
		return b.decideReport(c, t, at), true
	case ReportRefund:
		return b.decideRefund(c, at), true
	case Reschedule:
		return b.decideReschedule(c, t, at), true
	case AskRefund:
		return b.decideAskRefund(c, t, at), true
	case DecideRefund:
		return b.decideOnRefund(c, t, at), true
	case waitlist.Claim:
		return b.decideClaimOffer(c, t, at), true
	case waitlist.Leave:
		return b.decideLeaveOffer(c, t, at)
	}
	return engine.Decision{}, false
}

// findMade returns an order that somebody has made, if the ledger has its record. An offer to
// somebody on the waitlist counts only once it is claimed.
func (b *Book) findMade(id engine.OrderID) *order.Order {
	if o := b.Find(id); o != nil && o.Status != order.StatusOffered {
		return o
	}
	return nil
}

// Find returns an order whose record the ledger has.
func (b *Book) Find(id engine.OrderID) *order.Order {
	if o := b.openOrders.Get(id); o != nil {
		return o
	}
	return b.lateOrders.Get(id)
}

// lowestAlive returns the serial below which none of the event's orders is alive.
func (b *Book) lowestAlive() keeper.Serial {
	if b.alive.Len() > 0 {
		return b.alive.At(0).Serial
	}
	return keeper.NewSerial(b.epoch, b.counter+1)
}

// isAlive reports whether a claim's serial is still in use: its order is being placed or open, the move of its
// ticket has not ended at the calendar, or the tickets of its refund are being given back.
func (b *Book) isAlive(c keeper.Claim) bool {
	if p := b.placing[c.Order]; p != nil && p.order.Serial == c.Serial {
		return true
	}
	if m := b.moving[c.Order]; m != nil && m.serial == c.Serial {
		return true
	}
	if _, ok := b.returning[c.Serial]; ok {
		return true
	}
	if _, ok := b.moved[c.Serial]; ok {
		return true
	}
	serial, _, ok := b.openOrders.HeadOf(c.Order)
	return ok && serial == c.Serial
}

// raiseFloor drops the claims at the front that have ended.
func (b *Book) raiseFloor() {
	for b.alive.Len() > 0 && !b.isAlive(b.alive.At(0)) {
		b.alive.Drop(1)
	}
}

func (b *Book) decideGetOrder(c GetOrder) engine.Decision {
	if o := b.findMade(c.Order); o != nil {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	if status, _, ok := b.closedOrders.Find(c.Order); ok {
		return engine.Decision{Reply: &OrderReply{Past: true, Status: status}}
	}
	return refuse(engine.OrderNotFound, nil)
}

// decideCancel cancels an unpaid order. A repeat succeeds, also when only the order's outcome is known. Any other order
// is refused, and an offer to somebody on the waitlist counts as unknown.
func (b *Book) decideCancel(c CancelOrder, at int64) engine.Decision {
	o := b.findMade(c.Order)
	if o == nil {
		if status, _, ok := b.closedOrders.Find(c.Order); ok {
			return pastReply(status, engine.OrderNotCancellable)
		}
		return refuse(engine.OrderNotFound, nil)
	}
	switch {
	case o.Status == order.StatusCancelled:
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	case !o.Unpaid():
		return refuse(engine.OrderNotCancellable, OrderState{Status: o.Status, Reason: "only unpaid orders are cancelled"})
	}
	return b.endOrder(o, order.StatusCancelled, at)
}

// pastReply answers a cancellation of an order if only the order's outcome is known. A cancelled order is answered
// with success again; any other is refused.
func pastReply(status string, code engine.Code) engine.Decision {
	if status == order.StatusCancelled {
		return engine.Decision{Reply: &OrderReply{Past: true, Status: status}}
	}
	return refuse(code, OrderState{Status: status, Reason: "only unpaid orders are cancelled"})
}

// endOrder ends an unpaid order without a sale: it tells the keepers to give back what they have set aside, and
// notes refunds of money that came short of the price. An order that is offered to an entry ends together with
// the entry (EndOffer).
func (b *Book) endOrder(o *order.Order, status string, at int64) engine.Decision {
	if o.Status == order.StatusOffered {
		return b.EndOffer(o, status, at)
	}
	d := foldFacts(o, append([]engine.Fact{&order.Ended{ID: o.ID, Status: status, At: at}}, o.RefundShort("", at)...))
	b.tellKeepers(&d, o, places.All(o), false)
	return d
}

// tellKeepers adds to d a message to each keeper at the places: Commit if the order was sold, otherwise
// Release.
func (b *Book) tellKeepers(d *engine.Decision, o *order.Order, lines places.Set, sold bool) {
	claim, floor := keeper.Claim{Order: o.ID, Serial: o.Serial}, b.lowestAlive()
	lines.Each(func(place int) {
		var c engine.Command = keeper.Release{Claim: claim, Floor: floor}
		if sold {
			c = keeper.Commit{Claim: claim, Floor: floor}
		}
		d.Sends = append(d.Sends, engine.Send{To: places.KeeperOf(b.home, o, place), Cmd: c})
	})
}

// IsPlacing reports whether an order waits for its keepers.
func (b *Book) IsPlacing(id engine.OrderID) bool { return b.placing[id] != nil }

// Next returns when the ledger wants its next Wake, in unix milliseconds; 0 for never. It is 1, a time that is
// past, while orders wait in expired.
func (b *Book) Next() int64 {
	if len(b.expired) > 0 {
		return 1
	}
	next := int64(math.MaxInt64)
	for _, at := range [...]int64{b.placeDue.Next(), b.sendDue.Next(), b.returnDue.Next(), b.closeAt, b.expiry.Next()} {
		if at > 0 && at < next {
			next = at
		}
	}
	if next == math.MaxInt64 {
		return 0
	}
	return next
}

// Units returns how many units are being placed or are in unpaid orders, and how many of them are
// being placed.
func (b *Book) Units() (taken, inPlacing int64) { return b.unitsTaken, b.unitsInPlacing }

// Open yields a copy of each order that is unpaid, or has ended and is not yet closed.
func (b *Book) Open() iter.Seq[*order.Order] { return b.openOrders.All() }

// Late yields a copy of each order that is closed and whose record is kept nevertheless.
func (b *Book) Late() iter.Seq[*order.Order] { return b.lateOrders.All() }

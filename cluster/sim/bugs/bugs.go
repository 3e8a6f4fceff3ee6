// Package bugs has mistakes that are planted on purpose, to find out if the simulator finds them. A bug is planted in
// one of two ways. For some, the simulated world compares the bug's name at the place where it then makes the
// mistake. For others, Wrap puts a wrapper around the state of a kind of actor, and the wrapper decides wrongly.
// Nothing here judges, and only tests plant bugs.
package bugs

import (
	"fmt"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// Bug is the name of a mistake that is planted on purpose. The simulator must find it.
type Bug string

// These are the bugs. Each comment says what goes wrong while the bug is planted.
const (
	NoFence       Bug = "no-fence"       // the journal takes facts of any epoch
	LateClaim     Bug = "late-claim"     // an activation loads first and claims then
	ShortSnapshot Bug = "short-snapshot" // loading skips the first fact after the snapshot
	NoRelease     Bug = "no-release"     // an ended order's release is told once and never again
	NoInquiry     Bug = "no-inquiry"     // a keeper never asks about what it holds
	StaleAck      Bug = "stale-ack"      // a keeper acknowledges a release that it knows nothing of
	NoDedupe      Bug = "no-dedupe"      // a command that is sent again is taken for a new one
	BlindExpiry   Bug = "blind-expiry"   // an order found due is ended later without another look
	TwoHolders    Bug = "two-holders"    // a seat that one shopper holds is held for another too
	SeatlessOrder Bug = "seatless-order" // an order is made though its seats were refused
	PaidTooLate   Bug = "paid-too-late"  // a hold's clock goes on while its seats are being paid
	LateExpiry    Bug = "late-expiry"    // holds end ten seconds after their time
	JointApart    Bug = "joint-apart"    // what rests on another actor's facts is durable without them
	ForgetsHeld   Bug = "forgets-held"   // what a network has newly held is forgotten at a restart
	OldCode       Bug = "old-code"       // a code of an earlier holder admits
	KeepsTickets  Bug = "keeps-tickets"  // a refund leaves its tickets good
	ReturnsTwice  Bug = "returns-twice"  // stock comes back as often as its keeper is told
	LosesReturns  Bug = "loses-returns"  // what a refund gives back is told once and never again
	UsedTwice     Bug = "used-twice"     // a use of a promo code is consumed as often as its keeper is told
	UTCDates      Bug = "utc-dates"      // a date is judged in UTC
	ForgetsSlot   Bug = "forgets-slot"   // what a refund gives back is taken off the date and not off its slot
	KeepsPlace    Bug = "keeps-place"    // a ticket that moves to another date keeps its old place
	LosesMoves    Bug = "loses-moves"    // the calendar is told of a moved ticket once, and never again
	FeeFirst      Bug = "fee-first"      // a fee is debited before there are tickets
	DeafWallet    Bug = "deaf-wallet"    // a wallet acknowledges what was earned and does not note it
	PasserBy      Bug = "passer-by"      // units that are set aside for the waitlist are sold to anybody
	KeptOffer     Bug = "kept-offer"     // an offer that has run out is not given on
	EarlyReceipt  Bug = "early-receipt"  // a visitor gets a receipt before his entry is durable
	LateComers    Bug = "late-comers"    // the root changes after the round: visitors who came later are drawn too
	FallingPlace  Bug = "falling-place"  // when the clock goes back, a room's served place goes back by one
	SameDraw      Bug = "same-draw"      // two draws have one number
	SharedWork    Bug = "shared-work"    // one proof of work shows two persons the same place
	OldTime       Bug = "old-time"       // an order that was given more time ends at the time that it had
	ComesTwice    Bug = "comes-twice"    // somebody comes in by a ticket whose holder is inside
	ArrivalOrder  Bug = "arrival-order"  // passages count in the order in which devices tell of them
	LateProof     Bug = "late-proof"     // a proof counts from when it is heard, not from when it was asked for
	OthersCursor  Bug = "others-cursor"  // a follower advances with the cursor of another shard
	OldMap        Bug = "old-map"        // a node begins and claims where its map says that a shard is, whatever is there
	ForgetsShard  Bug = "forgets-shard"  // a burial is over though a shard has not closed the writers
)

// All lists the bugs, so that a test can try each one. A bug that is missing here can't be named (Parse).
var All = []Bug{
	NoFence, LateClaim, ShortSnapshot, NoRelease, NoInquiry, StaleAck, NoDedupe, BlindExpiry, LateProof, JointApart,
	TwoHolders, SeatlessOrder, PaidTooLate, LateExpiry, ForgetsHeld, OldCode, KeepsTickets, ReturnsTwice, LosesReturns, DeafWallet, UsedTwice, UTCDates, ForgetsSlot, KeepsPlace, LosesMoves, FeeFirst,
	ComesTwice, ArrivalOrder, PasserBy, KeptOffer, OldTime, EarlyReceipt, LateComers, FallingPlace, SameDraw, SharedWork,
	OthersCursor, OldMap, ForgetsShard,
}

// Parse reads a bug's name; "" is no bug.
func Parse(name string) (Bug, error) {
	if name == "" || slices.Contains(All, Bug(name)) {
		return Bug(name), nil
	}
	return "", fmt.Errorf("no bug %q: have %v", name, All)
}

// Wrap returns the state of an actor with the bug planted in it. A bug of the simulated world, or of another kind of
// actor, leaves the state as it is.
func (b Bug) Wrap(ref engine.Ref, s engine.State) engine.State {
	if ref.Kind == engine.KindQueue {
		return b.wrapRoom(ref, s)
	}
	ledger, seats := ref.Kind == engine.KindEvent, ref.Kind == engine.KindSeatmap
	switch {
	case b == DeafWallet && ref.Kind == engine.KindWallet:
		return &deafWallet{s}
	case b == TwoHolders && seats:
		return &holdsTwice{s}
	case b == PaidTooLate && seats:
		return &endsTakenHolds{State: s, until: make(map[keeper.Claim]int64), taken: make(map[keeper.Claim]*seatmap.ReservedFact)}
	case b == LateExpiry && seats:
		return &endsHoldsLate{s}
	case b == ForgetsHeld && seats:
		return &forgetsHeld{s}
	case b == OldCode && ledger:
		return &admitsOld{s}
	case b == ComesTwice && ledger:
		return &letsInTwice{s}
	case b == ArrivalOrder && ledger:
		return &sortsByArrival{State: s, latest: make(map[uint32]int64)}
	case b == KeepsTickets && ledger:
		return &keepsTickets{s}
	case b == LosesReturns && ledger:
		return &forgetsReturns{s}
	case b == ReturnsTwice && ref.Kind == engine.KindInventory:
		return &returnsTwice{s}
	case b == UTCDates && ref.Kind == engine.KindCalendar:
		return &judgesInUTC{s}
	case b == ForgetsSlot && ref.Kind == engine.KindCalendar:
		return &forgetsSlots{s}
	case b == KeepsPlace && ref.Kind == engine.KindCalendar:
		return &keepsPlaces{s}
	case b == LosesMoves && ledger:
		return &forgetsMoves{s}
	case b == FeeFirst && ref.Kind == engine.KindWallet:
		return &feeFirst{s}
	case b == UsedTwice && ref.Kind == engine.KindPromo:
		return &consumesTwice{s}
	case b == PasserBy && ref.Kind == engine.KindInventory:
		return &sellsSetAside{s}
	case b == KeptOffer && ledger:
		return &keepsExpired{State: s}
	case b == OldTime && ledger:
		return &endsExtended{s}
	case b == SeatlessOrder && ledger:
		return &takesNoSeats{s}
	case b == NoRelease && ledger:
		return &tellsOnce{s}
	case b == NoDedupe && ledger:
		return &forgetsCommands{State: s}
	case b == BlindExpiry && ledger:
		return &endsBlindly{State: s}
	case b == NoInquiry && !ledger:
		return &neverAsks{s}
	case b == StaleAck && !ledger:
		return &acknowledgesAll{s, ref}
	default:
		return s
	}
}

// neverAsks is a keeper that does not inquire.
type neverAsks struct{ engine.State }

// Decide drops the inquiries.
func (n *neverAsks) Decide(c engine.Command, now time.Time) engine.Decision {
	d := n.State.Decide(c, now)
	d.Sends = slices.DeleteFunc(d.Sends, func(s engine.Send) bool {
		_, inquiry := s.Cmd.(keeper.Inquire)
		return inquiry
	})
	return d
}

// acknowledgesAll is a keeper that says that it has released what it never held.
type acknowledgesAll struct {
	engine.State
	ref engine.Ref
}

// Decide acknowledges every release.
func (a *acknowledgesAll) Decide(c engine.Command, now time.Time) engine.Decision {
	d := a.State.Decide(c, now)
	if r, release := c.(keeper.Release); release && len(d.Sends) == 0 {
		d.Sends = []engine.Send{{To: engine.EventRef(a.ref.Home), Cmd: keeper.Closed{Claim: r.Claim, Keeper: a.ref}}}
	}
	return d
}

// tellsOnce is a ledger that never repeats a Release, not even when asked.
type tellsOnce struct{ engine.State }

// Decide drops the repeated releases.
func (t *tellsOnce) Decide(c engine.Command, now time.Time) engine.Decision {
	d := t.State.Decide(c, now)
	_, asked := c.(keeper.Inquire)
	// The first telling is the one that comes with the end of the order. It is left alone.
	ended := slices.ContainsFunc(d.Facts, func(f engine.Fact) bool {
		_, ok := f.(*order.Ended)
		return ok
	})
	if _, timer := c.(engine.Wake); asked || timer && !ended {
		d.Sends = slices.DeleteFunc(d.Sends, func(s engine.Send) bool {
			_, release := s.Cmd.(keeper.Release)
			return release
		})
	}
	return d
}

// forgetsCommands is a ledger that takes a Place sent again for another one.
type forgetsCommands struct {
	engine.State
	again byte
}

// Decide changes the id of a repeated Place, so that the ledger takes the command for a new order.
func (t *forgetsCommands) Decide(c engine.Command, now time.Time) engine.Decision {
	d := t.State.Decide(c, now)
	p, place := c.(ledger.Place)
	// A reply with an order may be the answer to a repeat. Each time the id is another one.
	if r, known := d.Reply.(*ledger.OrderReply); place && known && r != nil {
		t.again++
		p.Order[7] ^= t.again
		return t.State.Decide(p, now)
	}
	return d
}

// endsBlindly is a ledger that ends an order that it once found due, without
// looking again whether it has been paid in the meantime.
type endsBlindly struct {
	engine.State
	due []engine.OrderID
}

// Decide notes unpaid orders shortly before their time, and ends those noted.
func (t *endsBlindly) Decide(c engine.Command, now time.Time) engine.Decision {
	d := t.State.Decide(c, now)
	ledger, ok := t.State.(interface{ Orders(func(*order.Order)) })
	if !ok {
		return d
	}
	// A wake with epoch 0 is the actor's own timer, at which orders expire.
	if w, timer := c.(engine.Wake); timer && w.Epoch == 0 {
		ledger.Orders(func(o *order.Order) {
			if slices.Contains(t.due, o.ID) && o.Status == order.StatusCompleted {
				d.Facts = append(d.Facts, &order.Ended{ID: o.ID, Status: order.StatusExpired, At: now.UnixMilli()})
			}
		})
		t.due = nil
	}
	// An order is noted up to half a second before its time, so that it can still be paid in between.
	ledger.Orders(func(o *order.Order) {
		if o.Unpaid() && o.ExpiresAt <= now.UnixMilli()+500 {
			t.due = append(t.due, o.ID)
		}
	})
	return d
}

// endsExtended is a ledger that forgets that an order was given more time.
type endsExtended struct{ engine.State }

// Decide ends the unpaid orders whose time was up before they were given more.
func (t *endsExtended) Decide(c engine.Command, now time.Time) engine.Decision {
	d := t.State.Decide(c, now)
	ledger, ok := t.State.(interface{ Orders(func(*order.Order)) })
	if w, timer := c.(engine.Wake); !ok || !timer || w.Epoch != 0 {
		return d
	}
	ledger.Orders(func(o *order.Order) {
		if o.Status == order.StatusPending && o.Extensions > 0 && !o.Extended && o.PlacedUntil <= now.UnixMilli() && o.ExpiresAt > now.UnixMilli() {
			d.Facts = append(d.Facts, &order.Ended{ID: o.ID, Status: order.StatusExpired, At: now.UnixMilli()})
		}
	})
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (t *endsExtended) Check() error { return nil }

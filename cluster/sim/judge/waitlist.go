package judge

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// line is what the judge knows of an event's waitlist, by its facts.
type line struct {
	entries map[engine.OrderID]*waiter
	ids     []engine.OrderID // by number
	// byHand is true if the organizer has ever turned the automatic offers off. From then on anybody may be offered
	// something before others who have waited for longer.
	byHand bool
	stuck  map[int64]int // by ticket type: how often in a row something fitting was not offered
}

// waiter is an entry of a waitlist, by its facts.
type waiter struct {
	waitlist.Entry
	// safe is true once this person was answered that he waits. From then on nobody may overtake him.
	safe bool
}

// newLine makes an empty waitlist.
func newLine() line {
	return line{entries: make(map[engine.OrderID]*waiter), stuck: make(map[int64]int)}
}

// takeLine judges a committed fact about a waitlist and keeps it.
func (t *Truth) takeLine(ref engine.Ref, b *book, f waitlist.Fact) error {
	switch f := f.(type) {
	case *waitlist.Joined:
		return b.judgeJoined(f.Entry)
	case *waitlist.OfferMade:
		return t.judgeOffered(ref, b, f.Order)
	case *waitlist.Claimed:
		e := b.line.entries[f.ID]
		if e == nil || e.Status != waitlist.StatusOffered || f.At >= e.ExpiresAt {
			return fmt.Errorf("entry %s is claimed: %+v", enginetest.OrderName(f.ID), e)
		}
		e.Status = waitlist.StatusClaimed
	case *waitlist.EntryEnded:
		return b.endEntry(f)
	case *waitlist.CalledFact:
		for _, id := range f.IDs {
			if e := b.line.entries[id]; e == nil || e.Status != waitlist.StatusWaiting {
				return fmt.Errorf("entry %s is called: %+v", enginetest.OrderName(id), e)
			}
		}
	}
	return nil
}

// judgeJoined judges a new entry. Entries are numbered without gaps, nobody waits twice for one ticket type, and one
// network has no more than waitlist.MaxOfNetwork entries.
func (b *book) judgeJoined(e *waitlist.Entry) error {
	if b.line.entries[e.ID] != nil || e.Number != uint64(len(b.line.ids))+1 || e.Status != waitlist.StatusWaiting {
		return fmt.Errorf("entry %d is no new one: %+v", len(b.line.ids)+1, e)
	}
	// All entries are looked at, also those that have ended, because the rules are about everybody who ever joined.
	neighbours := 0
	for _, id := range b.line.ids {
		was := b.line.entries[id]
		alive := was.Status == waitlist.StatusWaiting || was.Status == waitlist.StatusOffered
		if alive && was.Customer == e.Customer && was.Type == e.Type {
			return fmt.Errorf("customer %d waits twice", e.Customer)
		}
		// An entry whose offer has expired still counts for its network: a script could otherwise join without end.
		if was.Client == e.Client && (alive || was.Status == waitlist.StatusExpired) {
			neighbours++
		}
	}
	if neighbours >= waitlist.MaxOfNetwork {
		return fmt.Errorf("network %d has %d entries", e.Client, neighbours+1)
	}
	b.line.entries[e.ID] = &waiter{Entry: *e}
	b.line.ids = append(b.line.ids, e.ID)
	return nil
}

// judgeOffered judges an offer: its entry waits, its stock is reserved, and nobody who has waited for longer would
// have been content with as many units.
func (t *Truth) judgeOffered(ref engine.Ref, b *book, o *order.Order) error {
	e := b.line.entries[o.ID]
	if e == nil || e.Status != waitlist.StatusWaiting || o.Status != order.StatusOffered || len(o.Lines) != 1 || o.Tickets() != e.Quantity {
		return fmt.Errorf("order %s is offered to %+v", enginetest.OrderName(o.ID), e)
	}
	typ := o.Lines[0].Type
	for _, id := range b.line.ids {
		old := b.line.entries[id]
		// The entries behind this one have waited for less long.
		if old == e {
			break
		}
		if !b.line.byHand && old.Status == waitlist.StatusWaiting && old.Type == typ && old.Quantity <= e.Quantity {
			return fmt.Errorf("entry %d is offered what entry %d has waited for longer", e.Number, old.Number)
		}
	}
	if c := b.capacityAt(t.world.Now()); c != event.NoCapacity && b.liveUnits()+o.Tickets() > c {
		return fmt.Errorf("offer %s: %d + %d exceed the capacity %d", enginetest.OrderName(o.ID), b.liveUnits(), o.Tickets(), c)
	}
	if err := b.offeredFor(e, o); err != nil {
		return err
	}
	// An offer is an order that nobody has claimed yet. It has no status that an answer could tell.
	e.Status, e.Given, e.ExpiresAt, e.OfferedAt = waitlist.StatusOffered, typ, o.ExpiresAt, o.CreatedAt
	b.orders[o.ID] = &sale{order: o, statuses: map[string]bool{}, refunds: make(map[string]int64)}
	b.ids = append(b.ids, o.ID)
	return t.judgeReserved(ref, b, o, o.Serial)
}

// offeredFor judges for how long an entry keeps its offer. People who let offers pass before get shorter ones: an hour
// after the first, and waitlist.MinOfferMinutes after more.
func (b *book) offeredFor(e *waiter, o *order.Order) error {
	most, passed := int64(waitlist.DefaultOfferMinutes), 0
	for _, was := range b.line.entries {
		ended := was.Status == waitlist.StatusExpired || was.Status == waitlist.StatusCancelled
		if was.Customer == e.Customer && was.OfferedAt != 0 && ended {
			passed++
			most = waitlist.MinOfferMinutes
		}
	}
	if passed == 1 {
		most = 60
	}
	if o.ExpiresAt-o.CreatedAt > most*60*second/millisecond {
		return fmt.Errorf("entry %d, after %d offers, gets one until %d at %d", e.Number, passed, o.ExpiresAt, o.CreatedAt)
	}
	return nil
}

// endEntry judges the end of an entry that waits or has an offer. An offer may not expire before its time.
func (b *book) endEntry(f *waitlist.EntryEnded) error {
	e := b.line.entries[f.ID]
	switch {
	case e == nil || e.Status != waitlist.StatusWaiting && e.Status != waitlist.StatusOffered:
		return fmt.Errorf("entry %s ends: %+v", enginetest.OrderName(f.ID), e)
	case f.Status == waitlist.StatusExpired && (e.Status != waitlist.StatusOffered || f.At < e.ExpiresAt):
		return fmt.Errorf("entry %s expires: %+v", enginetest.OrderName(f.ID), e)
	}
	// The offer ends with its entry. Its order counts as ended, so that its keepers may release what they hold.
	if sl := b.orders[f.ID]; sl != nil {
		ended := *sl.order
		ended.Status = f.Status
		sl.order, sl.ended = &ended, true
	}
	e.Status = f.Status
	return nil
}

// judgeClaimed judges the creation of an order that was offered before: it has the reservation and the total of the
// offer.
func (b *book) judgeClaimed(o *order.Order) error {
	sl, e := b.orders[o.ID], b.line.entries[o.ID]
	if e == nil || e.Status != waitlist.StatusClaimed || o.Serial != sl.order.Serial || o.Total != sl.order.Total || o.Status != order.StatusPending {
		return fmt.Errorf("order %s is claimed as %+v, entry %+v", enginetest.OrderName(o.ID), o, e)
	}
	sl.order, sl.statuses[o.Status] = o, true
	return nil
}

// findOvertaken returns an entry whose person was told that he waits for this ticket type, and who still does. It is
// nil if there is none.
func (b *book) findOvertaken(typ int64) *waiter {
	for _, id := range b.line.ids {
		if e := b.line.entries[id]; e.safe && e.Status == waitlist.StatusWaiting && e.Type == typ {
			return e
		}
	}
	return nil
}

// JudgeLine makes sure, in a world without faults, that units of an event don't lie free while somebody waits whom
// they fit. It is called again and again, and complains only after more than 12 calls in a row: an offer takes some
// time.
func (t *Truth) JudgeLine(sh Show) error {
	b := t.bookOf(sh.Event.ID)
	for _, ref := range sh.Types {
		e := t.findForgotten(&sh, ref)
		if e == nil {
			b.line.stuck[ref.ID] = 0
			continue
		}
		if b.line.stuck[ref.ID]++; b.line.stuck[ref.ID] > 12 {
			return fmt.Errorf("%s has %d units free, and entry %d waits for %d", ref.Name(), t.stockOf(ref).countLeft(), e.Number, e.Quantity)
		}
	}
	return nil
}

// findForgotten returns the first entry that fits in what is free of a ticket type and that has no offer, or nil.
func (t *Truth) findForgotten(sh *Show, ref engine.Ref) *waiter {
	b, st := t.bookOf(sh.Event.ID), t.stockOf(ref)
	_, clock, owned := t.world.Owner(sh.Event)
	if !owned {
		return nil
	}
	// By the clock of the node that owns the event the type is on sale.
	d, now := &st.details, clock.UnixMilli()
	if b.line.byHand || d.Seated || d.Hidden || now < d.SaleStart || now >= d.SaleEnd || !slices.Contains(event.Public, b.status) {
		return nil
	}
	// This is more than any ticket type has: neither the event nor the type limits it.
	room := int64(1 << 40)
	if b.details.Capacity != event.NoCapacity {
		room = b.details.Capacity - b.liveUnits()
	}
	if left := st.countLeft(); left != inventory.Unlimited {
		room = min(room, left)
	}
	for _, id := range b.line.ids {
		if e := b.line.entries[id]; e.Status == waitlist.StatusWaiting && e.Type == ref.ID && e.Quantity <= room {
			return e
		}
	}
	return nil
}

// takeAwaited judges the fact by which a ticket type notes whether somebody waits for it.
func (st *stock) takeAwaited(f *inventory.Awaited) error {
	// Notes of the waitlist may overtake each other, and the ticket type must drop an older one.
	if f.Revision <= st.awaitRev {
		return fmt.Errorf("await %d follows %d", f.Revision, st.awaitRev)
	}
	st.awaited, st.awaitRev = f.On, f.Revision
	if f.Left != st.forSale() {
		return fmt.Errorf("awaited with %d left, not %d", f.Left, st.forSale())
	}
	return nil
}

// dropPromises notes that nobody who waits for a ticket type is safe from being overtaken any more. It is called when
// the type becomes one that is sold by seat: such a type has no waitlist, and sells to others again (docs/adr/0018).
func (b *book) dropPromises(typ int64) {
	for _, e := range b.line.entries {
		if e.Type == typ {
			e.safe = false
		}
	}
}

// forSale returns how many units a ticket type may sell to anybody: none while somebody in the waitlist waits for
// them.
func (st *stock) forSale() int64 {
	if st.awaited && !st.details.Seated {
		return 0
	}
	return st.countLeft()
}

// judgeOvertaking returns an error if a buyer's reservation takes units of a ticket type for which somebody waits who
// was promised that nobody overtakes him. The reservation of an offer is excused; nobody has placed its order.
func (t *Truth) judgeOvertaking(ref engine.Ref, st *stock, f *keeper.ReservedFact) error {
	b := t.bookOf(ref.Home)
	if ref.Kind != engine.KindInventory || t.world.Places(f.Claim.Order) == nil || st.details.Seated {
		return nil
	}
	if e := b.findOvertaken(ref.ID); e != nil {
		return fmt.Errorf("%s takes %d, for which entry %d waits", enginetest.ClaimName(f.Claim), f.Quantity, e.Number)
	}
	return nil
}

// notePlaced notes that somebody was told of his place in the waitlist, and checks that the entry is in the journal.
func (t *Truth) notePlaced(ref engine.Ref, p *waitlist.Placed) error {
	e := t.bookOf(ref.Home).line.entries[p.Entry.ID]
	if e == nil || e.Customer != p.Entry.Customer || e.Type != p.Entry.Type {
		return fmt.Errorf("the entry is %+v", e)
	}
	seated := t.stockOf(engine.InventoryRef(ref.Home, e.Type)).details.Seated // a type that became seated has no waitlist any more
	e.safe = e.safe || p.Entry.Status == waitlist.StatusWaiting && !seated
	return nil
}

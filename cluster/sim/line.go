package sim

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

// hasLines reports whether the shows of a seed have waitlists. One in four does: the others
// are the same runs as before there were any.
func hasLines(seed uint64) bool { return seed%4 == 1 }

// openLine has people wait for a show's tickets, and the organizer offer them some.
func (s *Sim) openLine(sh *show) {
	for range s.between(8, 40) {
		s.after(s.between(second, s.swarm.load), func() { s.wait(sh) })
	}
	one := int64(1) // minute
	s.after(s.between(0, 5*second), func() { s.ask(sh.ref, waitlist.Set{OfferMinutes: &one}, 0, nil) })
	if !s.chance(.25) {
		return
	}
	for range s.between(1, 6) {
		s.after(s.between(0, s.swarm.load), func() {
			auto := s.chance(.5)
			s.ask(sh.ref, waitlist.Set{Auto: &auto}, 3, nil)
			s.ask(sh.ref, waitlist.Call{Count: s.between(1, 5)}, 3, nil)
		})
	}
}

// wait puts somebody in line, who may leave, claim what he is offered, or forget it.
func (s *Sim) wait(sh *show) {
	if len(sh.types) == 0 {
		return
	}
	s.orders++
	email := fmt.Sprintf("waiter%d@example.com", 100+s.rng.Uint64N(30))
	join := waitlist.Join{
		ID: engine.NumberedID(sh.ref.ID, int64(s.orders)), Quantity: s.between(1, 4), Customer: order.CustomerOf(email),
		Email: email, Name: "Waiter", Client: s.orders%12 + 1, //nolint:gosec // counts
	}
	if s.chance(.8) {
		join.Type = sh.types[s.rng.IntN(len(sh.types))].ID
	}
	if s.orders%3 == 0 { // somebody types the address, and nothing comes of it
		typed := join
		typed.Unproven = true
		s.ask(sh.ref, typed, 0, nil)
	}
	s.ask(sh.ref, join, 1+s.rng.IntN(5), func(r engine.Reply) {
		p, in := r.(*waitlist.Placed)
		if !in {
			if s.chance(.5) { // not sold out: he asks again
				s.after(s.between(second, 10*second), func() { s.wait(sh) })
			}
			return
		}
		id := p.Entry.ID
		if s.fates.chance(.1) {
			s.after(s.fateIn(40), func() { s.forgetPerson(sh, email) })
		}
		for s.chance(.4) {
			s.after(s.between(0, 40*second), func() { s.ask(sh.ref, waitlist.Leave{ID: id}, 3, nil) })
		}
		for s.chance(.6) {
			s.after(s.between(0, 60*second), func() { s.claimOffer(sh, id) })
		}
	})
}

// claimOffer takes what an entry is offered, and pays it.
func (s *Sim) claimOffer(sh *show, id engine.OrderID) {
	s.ask(sh.ref, waitlist.Claim{ID: id}, 3, func(r engine.Reply) {
		reply, ok := r.(*event.OrderReply)
		if !ok || reply.Order == nil {
			return
		}
		switch o := reply.Order; {
		case o.Status == order.StatusCompleted:
			s.attend(sh, o)
		case o.Unpaid() && s.chance(.7):
			s.after(s.between(millisecond, 3*second), func() { s.pay(sh, o, "paystack") })
		}
	})
}

// line is a waitlist by its facts.
type line struct {
	entries map[engine.OrderID]*waiter
	ids     []engine.OrderID // by number
	byHand  bool             // it was not automatic at some time
	stuck   map[int64]int    // by ticket type: how often in a row something fitting was not offered
}

// waiter is an entry by its facts.
type waiter struct {
	waitlist.Entry
	safe bool // he has been answered: nobody may overtake him
}

func newLine() line {
	return line{entries: make(map[engine.OrderID]*waiter), stuck: make(map[int64]int)}
}

// takeLine judges a committed fact about a waitlist and keeps it.
func (t *truth) takeLine(ref engine.Ref, b *book, f waitlist.Fact) error {
	switch f := f.(type) {
	case *waitlist.Joined:
		return b.joined(f.Entry)
	case *waitlist.OfferMade:
		return t.offered(ref, b, f.Order)
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

func (b *book) joined(e *waitlist.Entry) error {
	if b.line.entries[e.ID] != nil || e.Number != uint64(len(b.line.ids))+1 || e.Status != waitlist.StatusWaiting {
		return fmt.Errorf("entry %d is no new one: %+v", len(b.line.ids)+1, e)
	}
	neighbours := 0
	for _, id := range b.line.ids {
		was := b.line.entries[id]
		alive := was.Status == waitlist.StatusWaiting || was.Status == waitlist.StatusOffered
		if alive && was.Customer == e.Customer && was.Type == e.Type {
			return fmt.Errorf("customer %d waits twice", e.Customer)
		}
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

// offered judges an offer: its entry waits, its stock is reserved, and no older entry would
// have been content with that.
func (t *truth) offered(ref engine.Ref, b *book, o *order.Order) error {
	e := b.line.entries[o.ID]
	if e == nil || e.Status != waitlist.StatusWaiting || o.Status != order.StatusOffered || len(o.Lines) != 1 || o.Tickets() != e.Quantity {
		return fmt.Errorf("order %s is offered to %+v", enginetest.OrderName(o.ID), e)
	}
	typ := o.Lines[0].Type
	for _, id := range b.line.ids {
		old := b.line.entries[id]
		if old == e {
			break
		}
		if !b.line.byHand && old.Status == waitlist.StatusWaiting && old.Type == typ && old.Quantity <= e.Quantity {
			return fmt.Errorf("entry %d is offered what entry %d has waited for longer", e.Number, old.Number)
		}
	}
	if c := b.capacity(t.sim.now); c != event.NoCapacity && b.live()+o.Tickets() > c {
		return fmt.Errorf("offer %s: %d + %d exceed the capacity %d", enginetest.OrderName(o.ID), b.live(), o.Tickets(), c)
	}
	if err := b.offeredFor(e, o); err != nil {
		return err
	}
	e.Status, e.Given, e.ExpiresAt, e.OfferedAt = waitlist.StatusOffered, typ, o.ExpiresAt, o.CreatedAt
	b.orders[o.ID] = &sale{order: o, statuses: map[string]bool{}, refunds: make(map[string]int64)}
	b.ids = append(b.ids, o.ID)
	return t.reserved(ref, b, o, o.Serial)
}

// offeredFor judges how long an entry keeps its offer: who has let offers pass gets shorter ones.
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

func (b *book) endEntry(f *waitlist.EntryEnded) error {
	e := b.line.entries[f.ID]
	switch {
	case e == nil || e.Status != waitlist.StatusWaiting && e.Status != waitlist.StatusOffered:
		return fmt.Errorf("entry %s ends: %+v", enginetest.OrderName(f.ID), e)
	case f.Status == waitlist.StatusExpired && (e.Status != waitlist.StatusOffered || f.At < e.ExpiresAt):
		return fmt.Errorf("entry %s expires: %+v", enginetest.OrderName(f.ID), e)
	}
	if sl := b.orders[f.ID]; sl != nil {
		ended := *sl.order
		ended.Status = f.Status
		sl.order, sl.ended = &ended, true
	}
	e.Status = f.Status
	return nil
}

// claimed takes the creation of an order that was offered.
func (b *book) claimed(o *order.Order) error {
	sl, e := b.orders[o.ID], b.line.entries[o.ID]
	if e == nil || e.Status != waitlist.StatusClaimed || o.Serial != sl.order.Serial || o.Total != sl.order.Total || o.Status != order.StatusPending {
		return fmt.Errorf("order %s is claimed as %+v, entry %+v", enginetest.OrderName(o.ID), o, e)
	}
	sl.order, sl.statuses[o.Status] = o, true
	return nil
}

// overtaken is somebody who was told that he waits for a ticket type, and does.
func (b *book) overtaken(typ int64) *waiter {
	for _, id := range b.line.ids {
		if e := b.line.entries[id]; e.safe && e.Status == waitlist.StatusWaiting && e.Type == typ {
			return e
		}
	}
	return nil
}

// judgeLines makes sure, in a world without faults, that what is free does not lie there
// while somebody waits whom it fits.
func (s *Sim) judgeLines() {
	for _, sh := range s.shows {
		b := s.truth.book(sh.ref.ID)
		for _, ref := range sh.types {
			if e := s.forgotten(sh, s.truth.stock(ref), ref); e == nil {
				b.line.stuck[ref.ID] = 0
			} else if b.line.stuck[ref.ID]++; b.line.stuck[ref.ID] > 12 {
				s.failf("%s has %d units free, and entry %d waits for %d", ref.Name(), s.truth.stock(ref).left(), e.Number, e.Quantity)
			}
		}
	}
}

// forgotten is somebody whom what is free of a ticket type fits, and who only waits.
func (s *Sim) forgotten(sh *show, st *stock, ref engine.Ref) *waiter {
	b, d, owner := s.truth.book(sh.ref.ID), &st.details, s.current(sh.ref)
	if owner == nil {
		return nil
	}
	now := s.millis(s.now) + owner.node.offset.Milliseconds() // by whose clock it is on sale
	if b.line.byHand || d.Seated || d.Hidden || now < d.SaleStart || now >= d.SaleEnd || !slices.Contains(event.Public, b.status) {
		return nil
	}
	room := int64(1 << 40)
	if b.details.Capacity != event.NoCapacity {
		room = b.details.Capacity - b.live()
	}
	if left := st.left(); left != inventory.Unlimited {
		room = min(room, left)
	}
	for _, id := range b.line.ids {
		if e := b.line.entries[id]; e.Status == waitlist.StatusWaiting && e.Type == ref.ID && e.Quantity <= room {
			return e
		}
	}
	return nil
}

// takeAwaited takes what a ticket type knows of those who wait for it.
func (st *stock) takeAwaited(f *inventory.Awaited) error {
	if f.Revision <= st.awaitRev {
		return fmt.Errorf("await %d follows %d", f.Revision, st.awaitRev)
	}
	st.awaited, st.awaitRev = f.On, f.Revision
	if f.Left != st.forSale() {
		return fmt.Errorf("awaited with %d left, not %d", f.Left, st.forSale())
	}
	return nil
}

// unguard takes from those who wait for a ticket type that is sold by seat now what they were
// promised: it has no waitlist, and sells to others again (docs/adr/0018).
func (b *book) unguard(typ int64) {
	for _, e := range b.line.entries {
		if e.Type == typ {
			e.safe = false
		}
	}
}

// forSale is what a ticket type may sell to anybody.
func (st *stock) forSale() int64 {
	if st.awaited && !st.details.Seated {
		return 0
	}
	return st.left()
}

// overtakes says whom the order of a buyer overtakes that reserves units of a ticket type.
// The entry of one that is an offer may be in the same batch, behind this.
func (t *truth) overtakes(ref engine.Ref, st *stock, f *keeper.ReservedFact) error {
	b := t.book(ref.Home)
	if ref.Kind != engine.KindInventory || t.sim.places[f.Claim.Order] == nil || st.details.Seated {
		return nil
	}
	if e := b.overtaken(ref.ID); e != nil {
		return fmt.Errorf("%s takes %d, for which entry %d waits", claimed(f.Claim), f.Quantity, e.Number)
	}
	return nil
}

// placed notes that somebody was told of his place in line.
func (t *truth) placed(ref engine.Ref, p *waitlist.Placed) error {
	e := t.book(ref.Home).line.entries[p.Entry.ID]
	if e == nil || e.Customer != p.Entry.Customer || e.Type != p.Entry.Type {
		return fmt.Errorf("the entry is %+v", e)
	}
	seated := t.stock(engine.InventoryRef(ref.Home, e.Type)).details.Seated // and has no waitlist any more
	e.safe = e.safe || p.Entry.Status == waitlist.StatusWaiting && !seated
	return nil
}

package acts

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// hasLines returns whether the shows of a seed have waitlists. One seed in four has them.
func hasLines(seed uint64) bool { return seed%4 == 1 }

// openLine lets people join the waitlist of a show, and in some runs lets the organizer decide about offers by hand.
func (s *Script) openLine(sh *show) {
	for range s.Between(8, 40) {
		s.After(s.Between(second, s.load.Span), func() { s.joinLine(sh) })
	}
	one := int64(1) // An offer lasts a minute, so that it can run out while the world goes on.
	s.After(s.Between(0, 5*second), func() { s.ask(sh.ref, waitlist.Set{OfferMinutes: &one}, 0, nil) })
	if !s.Chance(.25) {
		return
	}
	for range s.Between(1, 6) {
		s.After(s.Between(0, s.load.Span), func() {
			auto := s.Chance(.5)
			s.ask(sh.ref, waitlist.Set{Auto: &auto}, 3, nil)
			s.ask(sh.ref, waitlist.Call{Count: s.Between(1, 5)}, 3, nil)
			for later := range int64(9) { // sooner or later something has come free that no rule has offered yet
				s.After((later+1)*5*second, func() { s.ask(sh.ref, waitlist.Call{Count: 3}, 3, nil) })
			}
		})
	}
}

// joinLine puts somebody on the waitlist. They may leave again, claim an offer, or forget it.
func (s *Script) joinLine(sh *show) {
	if len(sh.types) == 0 {
		return
	}
	s.orders++
	email := fmt.Sprintf("waiter%d@example.com", 100+s.Rng.Uint64N(30))
	join := waitlist.Join{
		ID: engine.NumberedID(sh.ref.ID, int64(s.orders)), Quantity: s.Between(1, 4), Customer: order.CustomerOf(email),
		Email: email, Name: "Waiter", Client: s.orders%12 + 1, //nolint:gosec // counts
	}
	if s.Chance(.8) {
		join.Type = sh.types[s.Rng.IntN(len(sh.types))].ID
	}
	if s.orders%3 == 0 { // Somebody has only typed the address, so no place in line may come of it.
		typed := join
		typed.Unproven = true
		s.ask(sh.ref, typed, 0, nil)
	}
	s.ask(sh.ref, join, 1+s.Rng.IntN(5), func(r engine.Reply) {
		p, in := r.(*waitlist.Placed)
		if !in {
			if s.Chance(.5) { // The type is not sold out yet: they ask again later.
				s.After(s.Between(second, 10*second), func() { s.joinLine(sh) })
			}
			return
		}
		id := p.Entry.ID
		if s.fates.chance(.1) {
			s.After(s.fateIn(40), func() { s.forgetPerson(sh, email) })
		}
		for s.Chance(.4) {
			s.After(s.Between(0, 40*second), func() { s.ask(sh.ref, waitlist.Leave{ID: id}, 3, nil) })
		}
		for s.Chance(.6) {
			s.After(s.Between(0, 60*second), func() { s.claimOffer(sh, id) })
		}
	})
}

// claimOffer claims what an entry is offered, which makes an order, and mostly pays for it.
func (s *Script) claimOffer(sh *show, id engine.OrderID) {
	s.ask(sh.ref, waitlist.Claim{ID: id}, 3, func(r engine.Reply) {
		reply, ok := r.(*ledger.OrderReply)
		if !ok || reply.Order == nil {
			return
		}
		switch o := reply.Order; {
		case o.Status == order.StatusCompleted:
			s.scanTickets(sh, o)
		case o.Unpaid() && s.Chance(.7):
			s.After(s.Between(millisecond, 3*second), func() { s.payOrder(sh, o, "paystack") })
		}
	})
}

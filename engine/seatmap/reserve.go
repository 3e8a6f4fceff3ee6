package seatmap

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// protocol returns the map's side of the reservation protocol.
func (s *State) protocol() keeper.Protocol {
	return keeper.Protocol{Self: s.ref, Ledger: engine.EventRef(s.ref.Home), Book: &s.book, Goods: s}
}

// GrantLine returns the grant of reserved seats. Their prices come from their ticket types.
func (s *State) GrantLine(c keeper.Reserve) keeper.Granted {
	return keeper.Granted{Claim: c.Claim, Keeper: s.ref}
}

// ReserveLine adds the fact that takes all seats of an order. RefuseLine has found that the order may have
// them.
func (s *State) ReserveLine(d *engine.Decision, c keeper.Reserve, replaced keeper.Held, at int64) {
	f := &ReservedFact{
		Reservation: keeper.ReservedFact{
			Claim: c.Claim, Floor: c.Floor, At: at, Quantity: int64(len(c.Line.Seats)), Customer: c.Line.Customer,
		},
	}
	f.Seats, _ = s.find(c.Line.Seats, nil)
	f.Types = s.otherTypes(&c.Line, f.Seats)
	if mine := s.sales[replaced.Claim]; mine != nil {
		for _, i := range mine.seats {
			if !contains(f.Seats, i) {
				f.Freed = append(f.Freed, i)
			}
		}
	}
	d.Facts = append(d.Facts, f)
}

// CommitLine adds the fact that a reservation's seats are sold for good.
func (s *State) CommitLine(d *engine.Decision, c keeper.Commit, _ keeper.Held, _ int64) {
	d.Facts = append(d.Facts, &keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor})
}

// ReleaseLine adds the fact that gives a reservation's seats back.
func (s *State) ReleaseLine(d *engine.Decision, c keeper.Release, h keeper.Held, _ int64) {
	d.Facts = append(d.Facts, &ReleasedFact{Claim: c.Claim, Floor: c.Floor, Seats: s.sales[h.Claim].seats})
}

// RefuseLine returns the reason why an order can't have its seats, or nil. For late money it checks neither the
// seats' ticket types nor the rule for companion seats, because the order met them when it was placed.
func (s *State) RefuseLine(l *keeper.Line, replaced keeper.Held, _ int64) *engine.Refusal {
	if s.plan == nil {
		return engine.Refuse(engine.NoSeating, nil)
	}
	if len(l.Seats) == 0 || len(l.SeatTypes) != len(l.Seats) {
		return &engine.Refusal{Code: engine.Validation, Message: "An order of seats names each with its ticket type."}
	}
	seats, unknown := s.find(l.Seats, nil)
	if len(unknown) > 0 {
		return &engine.Refusal{Code: engine.Validation, Message: "The map has no such seats.", Details: Seats{unknown}}
	}
	if len(seats) != len(l.Seats) {
		return &engine.Refusal{Code: engine.Validation, Message: "A seat is ordered twice."}
	}
	mine := s.sales[replaced.Claim]
	var taken, other []string
	// An order that replaces its reservation may keep the seats that it has.
	for k, id := range l.Seats {
		i := s.plan.index[id]
		if !s.mayTake(&s.seats[i], l, mine) {
			taken = append(taken, id)
		}
		if s.sectionType(i) != l.SeatTypes[k] {
			other = append(other, id)
		}
	}
	// Another type is reported before a taken seat: the order has to change in any case. For late money the price is
	// agreed already.
	switch {
	case len(other) > 0 && !l.Late:
		return &engine.Refusal{Code: engine.Validation, Message: "Seats are sold as another ticket type.", Details: Seats{other}}
	case !l.Late && !s.plan.isAttended(seats):
		return &engine.Refusal{
			Code: engine.Validation, Message: "Companion seats are sold with a wheelchair place, at most three to each.",
		}
	case len(taken) > 0:
		return engine.Refuse(engine.SeatTaken, Seats{taken})
	}
	return nil
}

// mayTake reports whether an order may take a seat: it is free, or the order has it already, or it
// is held by the order's holder or, if the order names no holder, by its principal.
func (s *State) mayTake(one *seat, l *keeper.Line, mine *sale) bool {
	switch h := one.hold; {
	case one.isFree():
		return true
	case h == nil:
		return one.sale != nil && one.sale == mine
	case l.Holder != "":
		return h.holder == l.Holder
	default:
		return l.Principal != 0 && h.principal == l.Principal
	}
}

// sectionType returns the ticket type that a seat's section is sold as; 0 for none.
func (s *State) sectionType(i int32) int64 { return s.sizes.list[s.prices[s.plan.SectionOf(i)]].typ }

// otherTypes returns the types that seats are sold as, one for each, or nil if they are the types of their sections.
func (s *State) otherTypes(l *keeper.Line, seats []int32) []int64 {
	same, types := true, make([]int64, len(seats))
	for k, id := range l.Seats {
		i := s.plan.index[id]
		same = same && s.sectionType(i) == l.SeatTypes[k]
		for n := range seats {
			if seats[n] == i {
				types[n] = l.SeatTypes[k]
			}
		}
	}
	if same {
		return nil
	}
	return types
}

// decideReturn gives back those of the named seats that are still sold under the claim. Before the sale
// is committed it does not answer, and the ledger asks again.
func (s *State) decideReturn(c keeper.Return, at int64) engine.Decision {
	// Only a sale that has been committed has seats to give back. A claim that was released has no sale below.
	if state, _ := s.book.Look(c.Claim); state != keeper.Ended {
		return engine.Decision{}
	}
	returned := keeper.Returned{Claim: c.Claim, Keeper: s.ref, Under: c.Under, Seats: c.Seats}
	d := engine.Decision{Sends: []engine.Send{{To: engine.EventRef(s.ref.Home), Cmd: returned}}}
	one := s.sales[c.Claim]
	if one == nil {
		return d
	}
	f := &ReturnedFact{Claim: c.Claim, At: at}
	named, _ := s.find(c.Seats, nil)
	for _, i := range named {
		if s.seats[i].sale == one {
			f.Seats = append(f.Seats, i)
		}
	}
	if len(f.Seats) > 0 {
		d.Facts = []engine.Fact{f}
	}
	return d
}

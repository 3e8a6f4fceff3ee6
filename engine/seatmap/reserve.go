package seatmap

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

func (s *State) ledger() engine.Ref { return engine.EventRef(s.ref.Event) }

func (s *State) tell(c engine.Command) []engine.Send {
	return []engine.Send{{To: s.ledger(), Cmd: c}}
}

// decideReserve takes the seats of an order: all of them or none.
func (s *State) decideReserve(c keeper.Reserve, at int64) engine.Decision {
	standing, old := s.book.Standing(c.Claim)
	switch standing {
	case keeper.Open:
		return engine.Decision{Sends: s.tell(keeper.Granted{Claim: c.Claim, Keeper: s.ref})}
	case keeper.Ended, keeper.Barred:
		return engine.Decision{} // late: its ledger has stopped waiting
	case keeper.Unknown, keeper.Replaces:
	}
	var mine *sale // what the order has under an earlier serial counts as given back
	if standing == keeper.Replaces {
		mine = s.sales[old.Claim]
	}
	if r := s.objection(&c.Line, mine); r != nil {
		return engine.Decision{Sends: s.tell(keeper.Refused{Claim: c.Claim, Keeper: s.ref, Refusal: r})}
	}
	f := &ReservedFact{
		Reservation: keeper.ReservedFact{
			Claim: c.Claim, Floor: c.Floor, At: at, Quantity: int64(len(c.Line.Seats)), Customer: c.Line.Customer,
		},
	}
	f.Seats, _ = s.find(c.Line.Seats, nil)
	f.Types = s.otherTypes(&c.Line, f.Seats)
	if mine != nil {
		for _, i := range mine.seats {
			if !contains(f.Seats, i) {
				f.Freed = append(f.Freed, i)
			}
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{f},
		Sends: s.tell(keeper.Granted{Claim: c.Claim, Keeper: s.ref}),
	}
}

// objection is why an order can't have its seats, or nil. Late money is judged
// by the seats alone.
func (s *State) objection(l *keeper.Line, mine *sale) *engine.Refusal {
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
	var taken, other []string
	for k, id := range l.Seats {
		i := s.plan.index[id]
		if !s.mayTake(&s.seats[i], l, mine) {
			taken = append(taken, id)
		}
		if s.sectionType(i) != l.SeatTypes[k] {
			other = append(other, id)
		}
	}
	switch {
	case len(other) > 0 && !l.Late:
		return &engine.Refusal{Code: engine.Validation, Message: "Seats are sold as another ticket type.", Details: Seats{other}}
	case !l.Late && !s.plan.attended(seats):
		return &engine.Refusal{
			Code: engine.Validation, Message: "Companion seats are sold with a wheelchair place, at most three to each.",
		}
	case len(taken) > 0:
		return engine.Refuse(engine.SeatTaken, Seats{taken})
	}
	return nil
}

// mayTake says whether a seat is free for an order: held by its own holder, or,
// when it names none, by its own principal.
func (s *State) mayTake(one *seat, l *keeper.Line, mine *sale) bool {
	switch h := one.hold; {
	case one.free():
		return true
	case h == nil:
		return one.sale != nil && one.sale == mine
	case l.Holder != "":
		return h.holder == l.Holder
	default:
		return l.Principal != 0 && h.principal == l.Principal
	}
}

// sectionType is the ticket type that a seat's section is sold as; 0 for none.
func (s *State) sectionType(i int32) int64 { return s.sizes.list[s.prices[s.plan.SectionOf(i)]].typ }

// otherTypes are the types that seats are sold as, or nil if they are those of
// their sections.
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

func (s *State) decideCommit(c keeper.Commit) engine.Decision {
	d := s.acknowledge(c.Claim)
	switch standing, _ := s.book.Standing(c.Claim); standing {
	case keeper.Open:
		d.Facts = []engine.Fact{&keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor}}
	case keeper.Ended:
	case keeper.Unknown, keeper.Replaces, keeper.Barred:
		// A ledger commits only what was granted: this activation has been
		// succeeded by one that holds the reservation. The ledger asks again.
		return engine.Decision{}
	}
	return d
}

func (s *State) decideRelease(c keeper.Release) engine.Decision {
	d := s.acknowledge(c.Claim)
	switch standing, _ := s.book.Standing(c.Claim); standing {
	case keeper.Unknown, keeper.Replaces, keeper.Barred:
		// The ledger waits only for what was granted: either its Reserve was
		// lost, and it does not wait, or this activation has been succeeded
		// by one that holds the reservation, and must not speak for it.
		return engine.Decision{Facts: []engine.Fact{&keeper.BarredFact{Claim: c.Claim}}}
	case keeper.Open:
		d.Facts = []engine.Fact{&ReleasedFact{Claim: c.Claim, Floor: c.Floor, Seats: s.sales[c.Claim].seats}}
	case keeper.Ended:
	}
	return d
}

func (s *State) acknowledge(c keeper.Claim) engine.Decision {
	return engine.Decision{Sends: s.tell(keeper.Closed{Claim: c, Keeper: s.ref})}
}

// decideReturn gives back seats that the claim was sold, and still has. Before
// the sale is committed it says nothing: the ledger asks again.
func (s *State) decideReturn(c keeper.Return, at int64) engine.Decision {
	if standing, _ := s.book.Standing(c.Claim); standing != keeper.Ended {
		return engine.Decision{}
	}
	d := engine.Decision{Sends: s.tell(keeper.Returned{Claim: c.Claim, Keeper: s.ref, Seats: c.Seats})}
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

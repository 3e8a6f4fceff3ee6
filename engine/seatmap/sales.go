package seatmap

import "boxoffice/engine/keeper"

// sale is the seats that an order has taken. They are the order's until its reservation is released or, once the
// reservation is committed, until they are returned. A sale is never changed, only replaced.
type sale struct {
	claim keeper.Claim
	seats []int32 // indices of the sold seats, ascending
}

// takeSeats gives seats to an order, even if others hold them. types are the slots of the types that they are
// sold as.
func (s *State) takeSeats(claim keeper.Claim, seats []int32, types []uint16) {
	one := &sale{claim: claim, seats: seats}
	for k, i := range seats {
		s.loseSeat(i)
		s.putSeat(i, seat{sale: one, counts: types[k]})
	}
	s.sales[claim] = one
}

// giveBack frees seats of an order: all of them if only is nil, or those in only, an ascending list. If the claim has no
// seats, it does nothing.
func (s *State) giveBack(claim keeper.Claim, only []int32) {
	one := s.sales[claim]
	if one == nil {
		return
	}
	rest := &sale{claim: claim}
	for _, i := range one.seats {
		if int(i) >= len(s.seats) || s.seats[i].sale != one { // in a damaged journal the map may be missing
			continue
		}
		if only != nil && !contains(only, i) {
			rest.seats = append(rest.seats, i)
			s.seats[i].sale = rest
			continue
		}
		s.putSeat(i, seat{})
	}
	s.sales[claim] = rest
	if len(rest.seats) == 0 {
		delete(s.sales, claim)
	}
}

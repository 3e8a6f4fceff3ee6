package calendar

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// forgetDays is how many days after a date its counts are dropped, at the earliest. Until then, the counts go
// down when a visit is refunded.
const forgetDays = 30

// Apply applies a fact to the state. It keeps the counts taken and visits in step with the
// reservations.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *Configured:
		if s.config == nil {
			s.created = f.At
		}
		s.config, s.slots = f.Config, f.Slots
		s.rev++
	case *Reserved:
		s.applyReserved(f)
	case *Moved:
		s.book.End(f.Claim, f.Floor)
		// The new place was counted when it was reserved, so only the old one is taken off.
		s.dropBookings(f.Claim)
		s.takeBack([]keeper.Booking{f.Back}, f.Customer)
	case *keeper.CommittedFact:
		s.book.End(f.Claim, f.Floor)
		s.dropBookings(f.Claim)
	case *keeper.ReleasedFact:
		if h, open := s.book.End(f.Claim, f.Floor); open {
			s.takeBookings(s.bookings[f.Claim.Order], h.Customer, -1)
		}
		s.dropBookings(f.Claim)
	case *keeper.ReturnedFact:
		s.book.End(f.Claim, f.Floor)
		s.takeBack(f.Bookings, f.Customer)
	default:
		s.book.Apply(f)
	}
}

// applyReserved counts a reservation, in place of the order's earlier one if it had one. It also forgets the counts of
// dates that are long past.
func (s *State) applyReserved(f *Reserved) {
	units := sum(f.Bookings, func(*keeper.Booking) bool { return true })
	old, replaced := s.book.Reserve(&keeper.ReservedFact{Claim: f.Claim, Floor: f.Floor, At: f.At, Quantity: units, Customer: f.Customer})
	if replaced {
		s.takeBookings(s.bookings[f.Claim.Order], old.Customer, -1)
	}
	s.bookings[f.Claim.Order] = f.Bookings
	s.takeBookings(f.Bookings, f.Customer, 1)
	// Every reservation brings the date of its decision, which is the only clock that Apply has.
	s.forgetBefore(f.Today - forgetDays)
}

// dropBookings forgets what an order had booked, once none of its reservations is open.
func (s *State) dropBookings(c keeper.Claim) {
	if state, _ := s.book.Look(c); state == keeper.Ended {
		if _, held := s.book.Held(c.Order); !held {
			delete(s.bookings, c.Order)
		}
	}
}

// takeBookings adds bookings to the counts of places and of visits, or subtracts them if sign is -1. A
// booking with Within set changes only the count of its slot, because its ticket stays on the same date.
func (s *State) takeBookings(bookings []keeper.Booking, customer uint64, sign int64) {
	for _, b := range bookings {
		n := sign * b.Units
		if b.Slot != "" {
			addTo(s.taken, place{b.Date, b.Slot}, n)
		}
		if !b.Within {
			addTo(s.taken, place{b.Date, ""}, n)
			addTo(s.visits, visit{customer, b.Date}, n)
		}
	}
}

// takeBack subtracts returned places from the counts. It skips dates whose counts are forgotten,
// because they would fall below 0.
func (s *State) takeBack(bookings []keeper.Booking, customer uint64) {
	for _, b := range bookings {
		if b.Date >= s.swept {
			s.takeBookings([]keeper.Booking{b}, customer, -1)
		}
	}
}

// addTo adds to a count, and drops the count if it becomes 0.
func addTo[K comparable](counts map[K]int64, key K, n int64) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}

// forgetBefore drops the counts of all dates before a day, at most once for each day. It drops
// nothing as long as an open reservation is for such a date, because its release would make a count
// negative.
func (s *State) forgetBefore(day keeper.Day) {
	if day <= s.swept || len(s.bookings) > 0 && s.openBefore(day) {
		return
	}
	s.swept = day
	for p := range s.taken {
		if p.date < day {
			delete(s.taken, p)
		}
	}
	for v := range s.visits {
		if v.date < day {
			delete(s.visits, v)
		}
	}
}

// openBefore reports whether an open reservation is for a date before a day.
func (s *State) openBefore(day keeper.Day) bool {
	for _, bookings := range s.bookings {
		for _, b := range bookings {
			if b.Date < day {
				return true
			}
		}
	}
	return false
}

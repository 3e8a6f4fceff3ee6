package calendar

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Frozen is the snapshot of a calendar. Its lists are in a fixed order.
type Frozen struct {
	Config  *Config           `cbor:"1,keyasint"`
	Created int64             `cbor:"2,keyasint"`
	Rev     uint64            `cbor:"3,keyasint"`
	Slots   uint32            `cbor:"4,keyasint"`
	Book    keeper.FrozenBook `cbor:"5,keyasint"`
	Orders  []FrozenOrder     `cbor:"6,keyasint"`
	Taken   []FrozenCount     `cbor:"7,keyasint"`
	Visits  []FrozenVisit     `cbor:"8,keyasint"`
	Swept   keeper.Day        `cbor:"9,keyasint"`
}

// These are the elements of a snapshot's lists.
type (
	// FrozenOrder is an open reservation's bookings.
	FrozenOrder struct {
		Order    engine.OrderID   `cbor:"1,keyasint"`
		Bookings []keeper.Booking `cbor:"2,keyasint"`
	}
	// FrozenCount is the number of units taken of a date or slot.
	FrozenCount struct {
		Date  keeper.Day `cbor:"1,keyasint"`
		Slot  string     `cbor:"2,keyasint,omitempty"`
		Units int64      `cbor:"3,keyasint"`
	}
	// FrozenVisit is the number of units that a customer has of a date.
	FrozenVisit struct {
		Customer uint64     `cbor:"1,keyasint"`
		Date     keeper.Day `cbor:"2,keyasint"`
		Units    int64      `cbor:"3,keyasint"`
	}
)

// Freeze returns a copy that shares only what never changes.
func (s *State) Freeze() any {
	f := &Frozen{Config: s.config, Created: s.created, Rev: s.rev, Slots: s.slots, Book: s.book.Freeze(), Swept: s.swept}
	for id, bookings := range s.bookings {
		f.Orders = append(f.Orders, FrozenOrder{id, bookings})
	}
	slices.SortFunc(f.Orders, func(a, b FrozenOrder) int { return bytes.Compare(a.Order[:], b.Order[:]) })
	for p, n := range s.taken {
		f.Taken = append(f.Taken, FrozenCount{p.date, p.slot, n})
	}
	slices.SortFunc(f.Taken, func(a, b FrozenCount) int { return compareCounts(Count(a), Count(b)) })
	for v, n := range s.visits {
		f.Visits = append(f.Visits, FrozenVisit{v.customer, v.date, n})
	}
	slices.SortFunc(f.Visits, func(a, b FrozenVisit) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Customer, b.Customer))
	})
	return f
}

// Thaw returns the state that a decoded snapshot describes, or an error if the state breaks an invariant (Check).
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok {
		return nil, fmt.Errorf("calendar: snapshot of %s is a %T", ref.Name(), frozen)
	}
	s, _ := New(ref).(*State)
	s.config, s.created, s.rev, s.slots, s.swept = f.Config, f.Created, f.Rev, f.Slots, f.Swept
	s.book = keeper.Thaw(f.Book)
	for _, o := range f.Orders {
		s.bookings[o.Order] = o.Bookings
	}
	for _, c := range f.Taken {
		s.taken[place{c.Date, c.Slot}] = c.Units
	}
	for _, v := range f.Visits {
		s.visits[visit{v.Customer, v.Date}] = v.Units
	}
	return s, s.Check()
}

// equal reports whether two configurations have the same content.
func (c *Config) equal(other *Config) bool {
	return c.Mode == other.Mode && c.DailyCapacity == other.DailyCapacity && c.MaxPerCustomer == other.MaxPerCustomer &&
		c.MaxAdvanceDays == other.MaxAdvanceDays && c.NoGroups == other.NoGroups && c.MultiDay == other.MultiDay &&
		slices.Equal(c.ClosedDates, other.ClosedDates) && slices.Equal(c.ClosedWeekdays, other.ClosedWeekdays) &&
		slices.Equal(c.Slots, other.Slots) && slices.Equal(c.Zone, other.Zone)
}

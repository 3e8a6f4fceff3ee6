// Package calendar is the kind of a reservation event's dates: it owns their slots, capacities and
// closed days, and what is booked, and is a keeper of the reservation protocol (engine/keeper).
//
// A unit is a ticket for a date, or for a slot of a date. The capacity of a date bounds its units
// over all slots, and the capacity of a slot its own units; both apply. A customer may have a
// limited number of units of one date. Dates are in the event's time zone. The edge sends the
// zone's offsets with the configuration, so this package needs no list of time zones.
//
// Invariants: units held and sold of a date or slot never exceed its capacity as it was when they
// were granted; lowering a capacity or closing a date leaves bookings as they are. Limits: MaxSlots
// slots, MaxAhead days ahead, MaxClosed closed dates; counts of dates that are long over are
// dropped. The edge and the event's ledger send it commands. It wakes to ask about reservations
// that the ledger has not confirmed, and has no goroutine.
package calendar

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Limits of a calendar.
const (
	MaxSlots  = 100
	MaxClosed = 1_000
	MaxAhead  = 90 // days
	// NoCapacity is the capacity of a date or slot without a limit.
	NoCapacity = -1
)

// These are the modes of a calendar: a visitor books a whole date, or a slot of a date.
const (
	DateOnly = "date_only"
	DateTime = "date_time"
)

// Config is what an organizer sets about the dates of an event.
type Config struct {
	Mode           string       `cbor:"1,keyasint"`
	DailyCapacity  int64        `cbor:"2,keyasint"` // units of a date, or NoCapacity
	MaxPerCustomer int64        `cbor:"3,keyasint"` // units of one customer and date
	MaxAdvanceDays int64        `cbor:"4,keyasint"`
	NoGroups       bool         `cbor:"5,keyasint,omitempty"` // whether an order may take only one unit of a date
	MultiDay       bool         `cbor:"6,keyasint,omitempty"` // whether an order may take several dates
	ClosedDates    []keeper.Day `cbor:"7,keyasint,omitempty"`
	ClosedWeekdays []int        `cbor:"8,keyasint,omitempty"` // weekdays without visits, from 0 for Sunday
	Slots          []Slot       `cbor:"9,keyasint,omitempty"`
	Zone           []Transition `cbor:"10,keyasint"` // offsets of the event's time zone, ordered by time
}

// Slot is a part of each date, such as a tour. Times are in minutes of the day. A slot whose end is
// not after its start ends on the next day.
type Slot struct {
	ID        string `cbor:"1,keyasint"`
	Label     string `cbor:"2,keyasint"`
	Start     int64  `cbor:"3,keyasint"`
	End       int64  `cbor:"4,keyasint"`
	Capacity  int64  `cbor:"5,keyasint"` // units of the slot on a date, or NoCapacity
	SortOrder int64  `cbor:"6,keyasint,omitempty"`
	Paused    bool   `cbor:"7,keyasint,omitempty"`
}

// Transition is the time from which a time zone has an offset.
type Transition struct {
	At     int64 `cbor:"1,keyasint"` // unix milliseconds
	Offset int64 `cbor:"2,keyasint"` // milliseconds east of UTC
}

// place is a date, or a slot of one.
type place struct {
	date keeper.Day
	slot string // id of the slot; "" stands for the date as a whole
}

// visit is the key of a count: one customer on one date.
type visit struct {
	customer uint64
	date     keeper.Day
}

// State is a calendar's memory.
type State struct {
	ref      engine.Ref
	config   *Config // nil until configured; replaced, never changed
	created  int64   // unix milliseconds
	rev      uint64
	slots    uint32 // number of slots ever made, from which new ids are derived
	book     keeper.Book
	bookings map[engine.OrderID][]keeper.Booking // bookings of the open reservations
	taken    map[place]int64                     // units held and sold of each date and slot
	visits   map[visit]int64                     // units held and sold, by customer and date
	swept    keeper.Day                          // the first date whose counts are kept; counts of earlier dates are dropped
}

// New returns the empty state of a calendar.
func New(ref engine.Ref) engine.State {
	return &State{
		ref: ref, book: keeper.NewBook(), bookings: make(map[engine.OrderID][]keeper.Booking),
		taken: make(map[place]int64), visits: make(map[visit]int64),
	}
}

// Record describes a calendar, as its actor answers.
type Record struct {
	Config   Config
	Revision uint64
	Today    keeper.Day
	Taken    []Count // counts of dates from today on; only for a Get with Counts
}

// Left returns how many places of a capacity are still free on a date, or NoCapacity if there is no limit. slot
// is "" for the date as a whole.
func (r *Record) Left(day keeper.Day, slot string, capacity int64) int64 {
	if capacity == NoCapacity {
		return NoCapacity
	}
	i, taken := slices.BinarySearchFunc(r.Taken, Count{Date: day, Slot: slot}, func(a, b Count) int {
		if a.Date != b.Date {
			return int(a.Date - b.Date)
		}
		return strings.Compare(a.Slot, b.Slot)
	})
	if !taken {
		return capacity
	}
	return max(0, capacity-r.Taken[i].Units)
}

// Count is the number of units of a date, or of a slot of it, that are held and sold.
type Count struct {
	Date  keeper.Day
	Slot  string // id of the slot; "" stands for the date as a whole
	Units int64
}

// makeRecord returns the calendar's record. The calendar must have been configured.
func (s *State) makeRecord(now int64) *Record {
	return &Record{Config: *s.config, Revision: s.rev, Today: s.config.dayOf(now)}
}

// listCounts lists the units that are taken of dates from a day on, in the order of the dates.
func (s *State) listCounts(from keeper.Day) []Count {
	var all []Count
	for p, n := range s.taken {
		if p.date >= from && n > 0 {
			all = append(all, Count{Date: p.date, Slot: p.slot, Units: n})
		}
	}
	slices.SortFunc(all, compareCounts)
	return all
}

// findSlot returns the slot with an id, or nil.
func (c *Config) findSlot(id string) *Slot {
	for i := range c.Slots {
		if c.Slots[i].ID == id {
			return &c.Slots[i]
		}
	}
	return nil
}

// dayMillis is a day of 24 hours in milliseconds. Days on which the clock changes are longer or shorter; offsetAt has
// the difference.
const dayMillis = 24 * 3600 * 1000

// offsetAt returns how many milliseconds the event's zone adds to UTC at a time. It is 0 before the
// first transition that is known.
func (c *Config) offsetAt(at int64) int64 {
	n, _ := slices.BinarySearchFunc(c.Zone, at+1, func(t Transition, at int64) int { return int(max(-1, min(1, t.At-at))) })
	if n == 0 {
		return 0
	}
	return c.Zone[n-1].Offset
}

// dayOf returns the date that it is in the event's zone at a time, in unix milliseconds.
func (c *Config) dayOf(at int64) keeper.Day {
	// Times before 1970 are negative, and Go rounds a division towards zero.
	local := at + c.offsetAt(at)
	day := local / dayMillis
	if local%dayMillis < 0 {
		day--
	}
	return keeper.Day(day)
}

// momentOf returns when a minute of a date is in the event's zone, in unix milliseconds. For a minute that the clock
// skips it returns the moment at which that minute would be if the clock had not skipped. For a minute that comes
// twice it returns the first.
func (c *Config) momentOf(day keeper.Day, minute int64) int64 {
	local := int64(day)*dayMillis + minute*60_000
	// Near a change of the clock a local time may have either offset, so both are tried.
	early := local - c.offsetAt(local-dayMillis)
	late := local - c.offsetAt(local+dayMillis)
	for _, at := range [...]int64{early, late} {
		if at+c.offsetAt(at) == local {
			return at
		}
	}
	return max(early, late)
}

// Next returns when the state wants its next Wake, to ask about reservations that the ledger has not confirmed.
// It returns the zero time for never.
func (s *State) Next() time.Time {
	if due := s.book.Due(); due != 0 {
		return time.UnixMilli(due)
	}
	return time.Time{}
}

// Check returns the first broken invariant, or nil: each open reservation has its bookings, no count is negative, a
// date has at least the units of its slots, and the units of all customers together equal the units of the dates.
func (s *State) Check() error {
	if err := s.book.Check(); err != nil {
		return err
	}
	if len(s.bookings) != s.book.Len() {
		return fmt.Errorf("calendar: %d reservations in the book, bookings of %d", s.book.Len(), len(s.bookings))
	}
	dates, slots := make(map[keeper.Day]int64), make(map[keeper.Day]int64)
	for p, n := range s.taken {
		if n < 0 {
			return fmt.Errorf("calendar: %d units of %s %s", n, p.date, p.slot)
		}
		if p.slot == "" {
			dates[p.date] += n
		} else {
			slots[p.date] += n
		}
	}
	// A ticket that moves within its date counts for two slots of the date, but only once for the
	// date itself.
	for _, open := range s.bookings {
		for _, b := range open {
			if b.Within { // the ticket still has another slot of the date
				slots[b.Date] -= b.Units
			}
		}
	}
	for day, n := range slots {
		if dates[day] < n {
			return fmt.Errorf("calendar: %d units in slots of %s, %d on the date", n, day, dates[day])
		}
	}
	visits := make(map[keeper.Day]int64)
	for v, n := range s.visits {
		if n < 0 {
			return fmt.Errorf("calendar: a customer has %d units of %s", n, v.date)
		}
		visits[v.date] += n
	}
	if !maps.Equal(nonZero(visits), nonZero(dates)) {
		return fmt.Errorf("calendar: customers have %v, dates %v", visits, dates)
	}
	return nil
}

// nonZero drops the counts that are 0.
func nonZero(counts map[keeper.Day]int64) map[keeper.Day]int64 {
	maps.DeleteFunc(counts, func(_ keeper.Day, n int64) bool { return n == 0 })
	return counts
}

// Units returns how many units of a date and slot are held and sold, for the audit.
func (s *State) Units(day keeper.Day, slot string) int64 { return s.taken[place{day, slot}] }

// Open calls f for every open reservation, for the audit.
func (s *State) Open(f func(keeper.Held)) { s.book.Each(f) }

// Holds reports whether a claim has an open reservation of exactly this quantity, for the audit.
func (s *State) Holds(c keeper.Claim, quantity int64) bool {
	state, h := s.book.Look(c)
	return state == keeper.Open && h.Quantity == quantity
}

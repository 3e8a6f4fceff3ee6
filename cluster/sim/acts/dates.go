package acts

import (
	"fmt"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

const (
	hour    = 3600 * second
	dayLong = 24 * hour
	// bookAhead is how many days ahead bookings are drawn. The last of these days is one more than the calendar
	// admits.
	bookAhead = 6
)

// dates are the calendar of a show whose tickets are for dates, as its organizer has it.
type dates struct {
	ref  engine.Ref
	east int64 // how far the show's clock is ahead of UTC, in milliseconds
	// slots are the ids that the calendar has last answered; there are none if days are booked as a whole.
	slots []string
	// multi says that one order may have tickets for several days.
	multi bool
}

// hasDates draws whether a show's tickets are for dates of a calendar.
func (s *Script) hasDates() bool { return s.fates.chance(.3) }

// openDates gives a show its calendar, with capacities small enough to be reached, and draws later changes.
func (s *Script) openDates(sh *show) {
	// The zones are far apart, so that the date at the show is often not the date in UTC.
	zone := [...]int64{-11, 0, 13}[s.fates.IntN(3)]
	sh.dates = &dates{ref: engine.CalendarRef(sh.ref.ID), east: zone * hour / millisecond, multi: s.fates.chance(.5)}
	// Small limits are drawn, so that dates, slots and customers reach them within one run.
	conf := calendar.Config{
		Mode: calendar.DateOnly, DailyCapacity: 3 + s.fates.Int64N(12), MaxPerCustomer: 1 + s.fates.Int64N(8),
		MaxAdvanceDays: bookAhead - 1, NoGroups: s.fates.chance(.1), MultiDay: sh.dates.multi,
		Zone: []calendar.Transition{{At: 0, Offset: sh.dates.east}},
	}
	if s.fates.chance(.2) {
		conf.DailyCapacity = calendar.NoCapacity
	}
	if s.fates.chance(.6) {
		conf.Mode = calendar.DateTime
		for i := range 1 + s.fates.Int64N(3) {
			conf.Slots = append(conf.Slots, calendar.Slot{Label: fmt.Sprint("slot ", i), Start: 60 * i, End: 60 * (i + 1), Capacity: 1 + s.fates.Int64N(8)})
		}
	}
	s.setDates(sh, conf)
	for range s.fates.IntN(4) {
		s.After(second+s.fates.Int64N(s.load.Span), func() { s.changeDates(sh, conf) })
	}
}

// setDates sends the calendar a configuration, and learns from the answer which ids its slots have.
func (s *Script) setDates(sh *show, conf calendar.Config) {
	s.ask(sh.dates.ref, calendar.Configure{Config: conf}, 0, func(r engine.Reply) {
		if rec, ok := r.(*calendar.Record); ok {
			sh.dates.slots = nil
			for i := range rec.Config.Slots {
				sh.dates.slots = append(sh.dates.slots, rec.Config.Slots[i].ID)
			}
		}
	})
}

// changeDates makes one change of a calendar while people book: it closes a date, changes the capacity, or drops a
// slot.
func (s *Script) changeDates(sh *show, conf calendar.Config) {
	// The configuration is shared by all changes of this show, so a change works on its own list of slots.
	conf.Slots = slices.Clone(conf.Slots)
	switch s.fates.IntN(3) {
	case 0:
		conf.ClosedDates = []keeper.Day{s.someDay(sh)}
	case 1:
		conf.DailyCapacity = 1 + s.fates.Int64N(20)
	default:
		if len(conf.Slots) > 1 {
			conf.Slots = conf.Slots[1:]
		}
	}
	s.setDates(sh, conf)
}

// dayAt returns the date at the show, at a time in unix milliseconds.
func (d *dates) dayAt(at int64) keeper.Day {
	return keeper.Day(time.UnixMilli(at+d.east).Unix() / (24 * 3600)) //nolint:gosec // within this century
}

// someDay draws a date from today on. Today and the last day can't be booked, so that refusals are drawn too.
func (s *Script) someDay(sh *show) keeper.Day {
	return sh.dates.dayAt(s.Millis(s.Now())) + keeper.Day(s.fates.IntN(bookAhead+1)) //nolint:gosec // a few
}

// nameDates gives each line of an order a date, and a slot if the calendar has slots.
func (s *Script) nameDates(sh *show, p *ledger.Place) {
	if sh.dates == nil {
		return
	}
	day := s.someDay(sh)
	p.Lines = slices.Clone(p.Lines)
	if n := len(p.Lines); s.fates.chance(.3) { // a second date of the same type
		p.Lines = append(p.Lines, order.Line{Type: p.Lines[n-1].Type, Quantity: 1})
	}
	// Half of the lines keep the day of the line before them; the others draw another day.
	for i := range p.Lines {
		if i > 0 && s.fates.chance(.5) {
			day = s.someDay(sh)
		}
		visit := &keeper.Visit{Date: day}
		if n := len(sh.dates.slots); n > 0 {
			visit.Slot = sh.dates.slots[s.fates.IntN(n)]
		}
		p.Lines[i].Visit = visit
	}
}

// moveTicket asks to move one of an order's tickets to another date. It asks as the ticket's first holder, or as a
// later holder, which is refused while there is none.
func (s *Script) moveTicket(sh *show, o *order.Order, ticket uint32) {
	// The order may have been refunded since the move was drawn.
	now := s.truth.Order(sh.ref.Home, o.ID)
	if now == nil || !now.Sold() || sh.dates == nil {
		return
	}
	c := ledger.Reschedule{Order: o.ID, Record: now, Ticket: ticket, Version: 1, Date: s.someDay(sh)}
	if n := len(sh.dates.slots); n > 0 {
		c.Slot = sh.dates.slots[s.fates.IntN(n)]
	}
	if v := now.VisitOf(ticket); v != nil && s.fates.chance(.3) {
		c.Date = v.Date // another slot of the same date
	}
	if s.fates.chance(.1) {
		c.Version = 2
	}
	s.ask(sh.ref, c, 1+s.fates.IntN(4), nil)
}

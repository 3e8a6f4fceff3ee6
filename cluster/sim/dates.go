package sim

import (
	"fmt"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

const (
	hour    = 3600 * second
	dayLong = 24 * hour
	// bookAhead is how many days ahead most bookings are.
	bookAhead = 6
)

// dates are the calendar of a show whose tickets are for dates, as its organizer has it.
type dates struct {
	ref   engine.Ref
	east  int64 // of UTC, milliseconds
	slots []string
	multi bool
}

// hasDates draws whether a show's tickets are for dates.
func (s *Sim) hasDates() bool { return s.fates.chance(.3) }

// openDates gives a show its calendar.
func (s *Sim) openDates(sh *show) {
	zone := [...]int64{-11, 0, 13}[s.fates.IntN(3)]
	sh.dates = &dates{ref: engine.CalendarRef(sh.ref.ID), east: zone * hour / millisecond, multi: s.fates.chance(.5)}
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
		s.after(second+s.fates.Int64N(s.swarm.load), func() { s.changeDates(sh, conf) })
	}
}

func (s *Sim) setDates(sh *show, conf calendar.Config) {
	s.ask(sh.dates.ref, calendar.Configure{Config: conf}, 0, func(r engine.Reply) {
		if rec, ok := r.(*calendar.Record); ok {
			sh.dates.slots = nil
			for i := range rec.Config.Slots {
				sh.dates.slots = append(sh.dates.slots, rec.Config.Slots[i].ID)
			}
		}
	})
}

// changeDates closes a date, pauses a slot, or changes what fits.
func (s *Sim) changeDates(sh *show, conf calendar.Config) {
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

// dayAt is the date at a time, in unix milliseconds, where the show is.
func (d *dates) dayAt(at int64) keeper.Day {
	return keeper.Day(time.UnixMilli(at+d.east).Unix() / (24 * 3600)) //nolint:gosec // within this century
}

// someDay draws a date from today on. Today and the last day cannot be booked.
func (s *Sim) someDay(sh *show) keeper.Day {
	return sh.dates.dayAt(s.millis(s.now)) + keeper.Day(s.fates.IntN(bookAhead+1)) //nolint:gosec // a few
}

// nameDates gives an order's lines dates.
func (s *Sim) nameDates(sh *show, p *event.Place) {
	if sh.dates == nil {
		return
	}
	day := s.someDay(sh)
	p.Lines = slices.Clone(p.Lines)
	if n := len(p.Lines); s.fates.chance(.3) { // a second date of the same type
		p.Lines = append(p.Lines, order.Line{Type: p.Lines[n-1].Type, Quantity: 1})
	}
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

// diary is a calendar by its facts.
type diary struct {
	config *calendar.Config
	held   map[engine.OrderID]*calendar.Reserved
	ended  map[keeper.Claim]string
	taken  map[placeInTime]int64
	visits map[visitor]int64
}

// placeInTime is a date, or a slot of one.
type placeInTime struct {
	date keeper.Day
	slot string
}

type visitor struct {
	customer uint64
	date     keeper.Day
}

func (t *truth) diary(number int64) *diary {
	d := t.diaries[number]
	if d == nil {
		d = &diary{
			held: make(map[engine.OrderID]*calendar.Reserved), ended: make(map[keeper.Claim]string),
			taken: make(map[placeInTime]int64), visits: make(map[visitor]int64),
		}
		t.diaries[number] = d
	}
	return d
}

// count adds bookings, or takes them off.
func (d *diary) count(bookings []keeper.Booking, customer uint64, sign int64) {
	for _, b := range bookings {
		if b.Slot != "" {
			d.taken[placeInTime{b.Date, b.Slot}] += sign * b.Units
		}
		if !b.Within {
			d.taken[placeInTime{b.Date, ""}] += sign * b.Units
			d.visits[visitor{customer, b.Date}] += sign * b.Units
		}
	}
}

// takeDates judges a committed fact of a calendar and keeps it.
func (t *truth) takeDates(ref engine.Ref, d *diary, f engine.Fact) error {
	switch f := f.(type) {
	case *calendar.Configured:
		d.config = f.Config
	case *calendar.Reserved:
		return t.takeBooked(ref, d, f)
	case *calendar.Moved:
		return t.takeMoved(ref, d, f)
	case *keeper.CommittedFact:
		sl := t.book(ref.Home).orders[f.Claim.Order]
		if h := d.held[f.Claim.Order]; h == nil || h.Claim != f.Claim || sl == nil || !sl.order.Sold() || sl.order.Serial != f.Claim.Serial {
			return fmt.Errorf("%s is sold, its booking is %+v, its order %+v", claimed(f.Claim), h, sl)
		}
		d.end(f.Claim, "sold")
	case *keeper.ReleasedFact:
		h := d.held[f.Claim.Order]
		if h == nil || h.Claim != f.Claim {
			return fmt.Errorf("%s is released and not reserved", claimed(f.Claim))
		}
		sl := t.book(ref.Home).orders[f.Claim.Order]
		if sl != nil && (sl.order.Serial == f.Claim.Serial && (sl.order.Unpaid() || sl.order.Sold()) || isMoved(sl.order, f.Claim.Serial)) {
			return fmt.Errorf("%s is released, its order is %s", claimed(f.Claim), sl.order.Status)
		}
		d.count(h.Bookings, h.Customer, -1)
		d.end(f.Claim, "released")
	case *keeper.ReturnedFact:
		if d.ended[f.Claim] == "returned" {
			return fmt.Errorf("%s gives back twice", claimed(f.Claim))
		}
		var units int64
		for _, b := range f.Bookings {
			units += b.Units
		}
		if n := t.backUnits(f.Claim); units == 0 || units != n {
			return fmt.Errorf("%s gives back %d, its refund has %d", claimed(f.Claim), units, n)
		}
		d.ended[f.Claim] = "returned"
		d.count(f.Bookings, f.Customer, -1)
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

func (d *diary) end(c keeper.Claim, how string) {
	delete(d.held, c.Order)
	d.ended[c] = how
}

// backUnits is how many tickets a refund gives back.
func (t *truth) backUnits(c keeper.Claim) (n int64) {
	if sl := t.book(c.Order.Event()).orders[c.Order]; sl != nil {
		for i := range sl.order.Refunds {
			if r := &sl.order.Refunds[i]; r.Approved() && r.Ask.Serial == c.Serial {
				n += int64(len(r.Ask.Tickets))
			}
		}
	}
	return n
}

// takeBooked judges a reservation: its dates are open, where the show is, and neither a
// date nor a slot nor a customer has more than fits.
func (t *truth) takeBooked(ref engine.Ref, d *diary, f *calendar.Reserved) error {
	if how, dead := d.ended[f.Claim]; dead {
		return fmt.Errorf("%s is reserved again after it was %s", claimed(f.Claim), how)
	}
	if old := d.held[f.Claim.Order]; old != nil {
		if old.Claim.Serial >= f.Claim.Serial {
			return fmt.Errorf("%s replaces %s", claimed(f.Claim), claimed(old.Claim))
		}
		t.sim.reach("dates", "replaced")
		d.count(old.Bookings, old.Customer, -1)
		d.end(old.Claim, "replaced")
	}
	d.held[f.Claim.Order] = f
	d.count(f.Bookings, f.Customer, 1)
	b := t.book(ref.Home)
	sl := b.orders[f.Claim.Order]
	late := sl != nil && sl.ended
	today := t.sim.shows[ref.Home-1].dates.dayAt(f.At)
	for _, k := range f.Bookings {
		i := slices.IndexFunc(d.config.Slots, func(s calendar.Slot) bool { return s.ID == k.Slot })
		ahead := int64(k.Date - today)
		switch {
		case late && (!sl.order.Sold() || sl.order.Serial > f.Claim.Serial): // for money that came late; of no use once it was taken under another serial
		case ahead < 1 || ahead > d.config.MaxAdvanceDays || slices.Contains(d.config.ClosedDates, k.Date):
			return fmt.Errorf("%s books %+v on %s: %+v", claimed(f.Claim), k, today, d.config)
		case (d.config.Mode == calendar.DateTime) != (i >= 0) || i >= 0 && d.config.Slots[i].Paused:
			return fmt.Errorf("%s books slot %q: %+v", claimed(f.Claim), k.Slot, d.config.Slots)
		case !k.Within && d.visits[visitor{f.Customer, k.Date}] > d.config.MaxPerCustomer:
			return fmt.Errorf("%s books %+v: customer %d has %d", claimed(f.Claim), k, f.Customer, d.visits[visitor{f.Customer, k.Date}])
		}
		if n := d.taken[placeInTime{k.Date, ""}]; d.config.DailyCapacity != calendar.NoCapacity && n > d.config.DailyCapacity && !k.Within {
			return fmt.Errorf("%s books %+v: the date has %d of %d", claimed(f.Claim), k, n, d.config.DailyCapacity)
		}
		if i >= 0 {
			if n := d.taken[placeInTime{k.Date, k.Slot}]; n > d.config.Slots[i].Capacity {
				return fmt.Errorf("%s books %+v: the slot has %d of %d", claimed(f.Claim), k, n, d.config.Slots[i].Capacity)
			}
		}
	}
	return t.aboveFloor(b, f.Claim, f.Floor)
}

// has reports whether an order has its dates, under a serial.
func (d *diary) has(o *order.Order, serial keeper.Serial) error {
	h := d.held[o.ID]
	if h == nil || h.Claim.Serial != serial || len(h.Bookings) != len(o.Lines) {
		return fmt.Errorf("order %s has no dates reserved: %+v", enginetest.OrderName(o.ID), h)
	}
	for i := range o.Lines {
		if k, l := h.Bookings[i], &o.Lines[i]; l.Visit == nil || k.Date != l.Visit.Date || k.Slot != l.Visit.Slot || k.Units != l.Quantity {
			return fmt.Errorf("order %s has %+v for line %+v", enginetest.OrderName(o.ID), k, l)
		}
	}
	return nil
}

// closed reports whether an order's dates are sold or released, as the order has ended.
func (d *diary) closed(o *order.Order) error {
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	if h := d.held[o.ID]; h != nil && h.Claim == claim {
		return fmt.Errorf("order %s is closed and its dates are reserved", enginetest.OrderName(o.ID))
	}
	if sold := d.ended[claim] == "sold"; sold != o.Sold() {
		return fmt.Errorf("order %s is closed as %s, its dates are %q", enginetest.OrderName(o.ID), o.Status, d.ended[claim])
	}
	return nil
}

// settledDates makes sure that no date is held any more, and that the calendar's actor has
// the journal's counts.
func (s *Sim) settledDates(sh *show) error {
	if sh.dates == nil {
		return nil
	}
	d := s.truth.diary(sh.ref.ID)
	if len(d.held) > 0 {
		return fmt.Errorf("%d bookings are still reserved", len(d.held))
	}
	if err := s.truth.booked(sh.ref); err != nil {
		return err
	}
	a := s.current(sh.dates.ref)
	rec, ok := a.state.Decide(calendar.Get{Counts: true}, enginetest.Epoch).Reply.(*calendar.Record)
	if !ok {
		return nil // it was never configured
	}
	has := make(map[placeInTime]int64)
	for _, c := range rec.Taken {
		has[placeInTime{c.Date, c.Slot}] = c.Units
	}
	for p, n := range d.taken {
		if p.date >= rec.Today && has[p] != n {
			return fmt.Errorf("%s has %d units of %s %q, booked are %d", sh.dates.ref.Name(), has[p], p.date, p.slot, n)
		}
	}
	return nil
}

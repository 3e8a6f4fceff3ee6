package calendar

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Decide decides what a command does, and changes nothing itself. It refuses an unknown command with INTERNAL.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	if d, decided := s.protocol().Decide(c, at); decided {
		return d
	}
	switch c := c.(type) {
	case keeper.Return:
		return s.protocol().DecideReturn(c, func(d *engine.Decision) {
			d.Facts = append(d.Facts, &keeper.ReturnedFact{Claim: c.Claim, Floor: c.Floor, Customer: c.Customer, Bookings: c.Bookings, At: at})
		})
	case engine.Wake:
		var d engine.Decision
		s.protocol().DecideWake(&d, at)
		return d
	case Configure:
		return s.decideConfigure(c, at)
	case Get:
		if s.config == nil {
			return refuse(engine.NotFound, nil)
		}
		r := s.makeRecord(at)
		if c.Counts {
			r.Taken = s.listCounts(r.Today)
		}
		return engine.Decision{Reply: r}
	default:
		return refuse(engine.Internal, nil)
	}
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// decideConfigure replaces the configuration, and gives ids to the slots: a slot that was there before (knownSlot)
// keeps its id. A slot that was left out stays, paused, if somebody has booked it from today on. An equal
// configuration changes nothing.
func (s *State) decideConfigure(c Configure, at int64) engine.Decision {
	conf, made := c.Config, s.slots
	var kept []string
	conf.Slots = slices.Clone(conf.Slots)
	for i := range conf.Slots {
		slot := &conf.Slots[i]
		if slot.ID = s.knownSlot(slot, kept); slot.ID == "" {
			made++
			slot.ID = slotID(s.ref.Home, made)
		}
		kept = append(kept, slot.ID)
	}
	if s.config != nil {
		today := s.config.dayOf(at)
		// A slot that was left out but is booked from today on stays, paused: the holders of its tickets still come.
		for _, was := range s.config.Slots {
			if !slices.Contains(kept, was.ID) && s.isBooked(was.ID, today) {
				was.Paused = true
				conf.Slots = append(conf.Slots, was)
			}
		}
		if s.config.equal(&conf) {
			return engine.Decision{Reply: s.makeRecord(at)}
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{&Configured{Config: &conf, Slots: made, At: at}},
		Reply: &Record{Config: conf, Revision: s.rev + 1, Today: conf.dayOf(at)},
	}
}

// knownSlot returns the id of the existing slot that a slot of a new configuration stands for, or "". kept are
// the ids that earlier slots of the new configuration have got.
func (s *State) knownSlot(slot *Slot, kept []string) string {
	if s.config == nil {
		return ""
	}
	for _, was := range s.config.Slots {
		same := slot.ID == "" && was.Label == slot.Label && was.Start == slot.Start && was.End == slot.End
		if (was.ID == slot.ID || same) && !slices.Contains(kept, was.ID) {
			return was.ID
		}
	}
	return ""
}

// isBooked reports whether somebody has units of a slot on a day or later.
func (s *State) isBooked(slot string, from keeper.Day) bool {
	for p, n := range s.taken {
		if p.slot == slot && p.date >= from && n > 0 {
			return true
		}
	}
	return false
}

// slotID returns the id of an event's n-th slot. It is computed, so that deciding again gives the
// same id.
func slotID(event int64, n uint32) string {
	b := binary.BigEndian.AppendUint32(nil, n)
	b = binary.BigEndian.AppendUint64(b, uint64(event)*0x9e3779b97f4a7c15+uint64(n)*0xbf58476d1ce4e5b9)
	return "slot_" + base64.RawURLEncoding.EncodeToString(b[1:])[:10]
}

// protocol returns the calendar's side of the reservation protocol.
func (s *State) protocol() keeper.Protocol {
	return keeper.Protocol{Self: s.ref, Ledger: engine.EventRef(s.ref.Home), Book: &s.book, Goods: s}
}

// RefuseLine returns the reason why bookings can't be reserved, or nil. For late money it checks only the
// capacities.
func (s *State) RefuseLine(l *keeper.Line, replaced keeper.Held, at int64) *engine.Refusal {
	if s.config == nil {
		return engine.Refuse(engine.Unavailable, nil) // the configuration has not come yet
	}
	// Late money was paid for an order that had passed these checks when it was placed.
	if !l.Late {
		for i := range l.Bookings {
			if r := s.refuseBooking(l.Bookings, i, at); r != nil {
				return r
			}
		}
	}
	back := s.bookings[replaced.Claim.Order]
	for i := range l.Bookings {
		if r := s.refuseUnits(l, i, back); r != nil {
			return r
		}
	}
	return nil
}

// refuseBooking checks what does not depend on what is taken: whether the date and slot exist and
// are open, and whether an order may have this booking together with its others.
func (s *State) refuseBooking(all []keeper.Booking, i int, at int64) *engine.Refusal {
	b, conf := &all[i], s.config
	issue := func(field, code, message string) *engine.Refusal {
		path := fmt.Sprintf("items[%d].%s", b.Line, field)
		return engine.Refuse(engine.Validation, keeper.Issues{Issues: []keeper.Issue{{Path: path, Code: code, Message: message}}})
	}
	switch slot := conf.findSlot(b.Slot); {
	case conf.Mode == DateTime && b.Slot == "":
		return issue("reservationSlotId", "required", "is required: these tickets are for a slot of the date")
	case conf.Mode == DateTime && slot == nil:
		return issue("reservationSlotId", "enum", "is no slot of this event")
	case conf.Mode != DateTime && b.Slot != "":
		return issue("reservationSlotId", "enum", "must not be given: these tickets are for the whole date")
	case b.Date != all[0].Date && !conf.MultiDay:
		return issue("reservationDate", "enum", "must be the other lines' date: an order is for one")
	default:
		if reason := conf.whyClosed(b.Date, slot, at); reason != "" {
			return engine.Refuse(engine.DateUnavailable, keeper.DateClosed{Date: b.Date.String(), SlotID: optional(b.Slot), Reason: reason})
		}
	}
	return nil
}

// whyClosed returns the reason why a date or slot can't be booked now, or "". The first date that can
// be booked is tomorrow.
func (c *Config) whyClosed(date keeper.Day, slot *Slot, at int64) string {
	switch today := c.dayOf(at); {
	case date <= today:
		return "past"
	case int64(date-today) > c.MaxAdvanceDays:
		return "too_far"
	case c.Closed(date):
		return "closed"
	case slot != nil && slot.Paused:
		return "paused"
	}
	return ""
}

// Closed reports whether nothing takes place on a date.
func (c *Config) Closed(date keeper.Day) bool {
	return slices.Contains(c.ClosedDates, date) || slices.Contains(c.ClosedWeekdays, int(date.Weekday()))
}

// refuseUnits returns the reason why the i-th booking can't be reserved, or nil. It counts the bookings before it
// too, of all lines of the order, and leaves out what the order gives back. It checks the capacities of the date
// and the slot, but only the slot's for a ticket that moves within its date. It checks the limits of one
// customer, except for late money, for orders of the organization, for offers to the waitlist and for a ticket
// that moves within its date.
func (s *State) refuseUnits(l *keeper.Line, i int, back []keeper.Booking) *engine.Refusal {
	b, conf := &l.Bookings[i], s.config
	onDate := func(o *keeper.Booking) bool { return o.Date == b.Date && !o.Within }
	wantedDate := sum(l.Bookings[:i+1], onDate)
	wantedSlot := sum(l.Bookings[:i+1], func(o *keeper.Booking) bool { return o.Date == b.Date && o.Slot == b.Slot })
	backDate := sum(back, onDate)
	backSlot := sum(back, func(o *keeper.Booking) bool { return o.Date == b.Date && o.Slot == b.Slot })
	if !l.Late && !l.Unbound && !b.Within {
		if conf.NoGroups && wantedDate+b.Beside > 1 {
			return engine.Refuse(engine.ExceedsMaxPerOrder, keeper.DateCap{Line: b.Line, Date: b.Date.String(), Max: 1, AlreadyHeld: b.Beside, Requested: wantedDate})
		}
		has := s.visits[visit{l.Customer, b.Date}] - backDate
		if has+wantedDate > conf.MaxPerCustomer {
			return engine.Refuse(engine.ExceedsMaxPerBuyer, keeper.DateCap{
				Line: b.Line, Date: b.Date.String(), Max: conf.MaxPerCustomer, AlreadyHeld: has, Requested: wantedDate,
			})
		}
	}
	// What the order gives back by the same reservation is free for it.
	left := conf.leftOf(s.taken[place{b.Date, ""}]-backDate, conf.DailyCapacity)
	if b.Within {
		left = NoCapacity // the date has the ticket already
	}
	short := left != NoCapacity && wantedDate > left
	if slot := conf.findSlot(b.Slot); slot != nil {
		of := conf.leftOf(s.taken[place{b.Date, b.Slot}]-backSlot, slot.Capacity)
		short = short || of != NoCapacity && wantedSlot > of
		if left == NoCapacity || of != NoCapacity && of < left {
			left = of
		}
	}
	if short {
		return engine.Refuse(engine.SlotFull, keeper.DateFull{Date: b.Date.String(), SlotID: optional(b.Slot), Requested: b.Units, Remaining: left})
	}
	return nil
}

// sum adds up the units of the bookings for which the function of returns true.
func sum(all []keeper.Booking, of func(*keeper.Booking) bool) int64 {
	var n int64
	for i := range all {
		if of(&all[i]) {
			n += all[i].Units
		}
	}
	return n
}

// optional returns a text for a field that is null in the JSON if the text is empty.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// leftOf returns what a capacity still admits, or NoCapacity.
func (c *Config) leftOf(taken, capacity int64) int64 {
	if capacity == NoCapacity {
		return NoCapacity
	}
	return max(0, capacity-taken)
}

// GrantLine returns the grant of a line, with the times at which the tickets of each booking admit.
func (s *State) GrantLine(c keeper.Reserve) keeper.Granted {
	return keeper.Granted{Claim: c.Claim, Keeper: s.ref, Visits: s.visitsOf(c.Line.Bookings)}
}

// visitsOf returns the visits of bookings, one for each.
func (s *State) visitsOf(bookings []keeper.Booking) []keeper.Visit {
	all := make([]keeper.Visit, len(bookings))
	for i, b := range bookings {
		v := keeper.Visit{Date: b.Date, Slot: b.Slot, Start: s.config.momentOf(b.Date, 0), End: s.config.momentOf(b.Date+1, 0)}
		if slot := s.config.findSlot(b.Slot); slot != nil {
			v.Label, v.Start = slot.Label, s.config.momentOf(b.Date, slot.Start)
			// A slot whose end is not after its start ends on the next day.
			if v.End = s.config.momentOf(b.Date, slot.End); slot.End <= slot.Start {
				v.End = s.config.momentOf(b.Date+1, slot.End)
			}
		}
		// Gates admit for the whole date, and longer if the slot ends later.
		v.Opens, v.Closes = s.config.momentOf(b.Date, 0), max(v.End, s.config.momentOf(b.Date+1, 0))
		all[i] = v
	}
	return all
}

// ReserveLine adds the fact that sets a line's units aside.
func (s *State) ReserveLine(d *engine.Decision, c keeper.Reserve, _ keeper.Held, at int64) {
	d.Facts = append(d.Facts, &Reserved{
		Claim: c.Claim, Floor: c.Floor, At: at, Customer: c.Line.Customer, Bookings: c.Line.Bookings, Today: s.config.dayOf(at),
	})
}

// CommitLine adds the fact that sells the reserved units. A ticket that moves gives its old place back in the
// same fact, so that it always has a place.
func (s *State) CommitLine(d *engine.Decision, c keeper.Commit, h keeper.Held, _ int64) {
	if c.Back != nil {
		d.Facts = append(d.Facts, &Moved{Claim: c.Claim, Floor: c.Floor, Back: *c.Back, Customer: h.Customer})
		return
	}
	d.Facts = append(d.Facts, &keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor})
}

// ReleaseLine adds the fact that gives the reserved units back.
func (s *State) ReleaseLine(d *engine.Decision, c keeper.Release, _ keeper.Held, _ int64) {
	d.Facts = append(d.Facts, &keeper.ReleasedFact{Claim: c.Claim, Floor: c.Floor})
}

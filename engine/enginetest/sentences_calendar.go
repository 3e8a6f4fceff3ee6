package enginetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"boxoffice/engine/calendar"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
)

// sayCalendar reads what happens to the event's calendar. Its zone is an hour east of UTC unless a
// story sets it otherwise; slots are written label/start/end/capacity.
//
//	calendar opens DailyCapacity=2 MaxAdvanceDays=30     calendar changes slots=Noon/12:00/13:00/20
//	calendar is read                                     ann places 2 GA#2030-01-03/Noon
func (w *story) sayCalendar(c *character, verb string, args []string) error {
	conf := calendar.Config{
		Mode: calendar.DateOnly, DailyCapacity: calendar.NoCapacity, MaxPerCustomer: 10, MaxAdvanceDays: 30, MultiDay: true,
		Zone: []calendar.Transition{{At: 0, Offset: time.Hour.Milliseconds()}},
	}
	// "calendar is read" asks for the counts of all dates too.
	if verb == "is" {
		return w.tell(c, calendar.Get{Counts: true})
	}
	// A configuration replaces the one before, so a change begins with the calendar as it is.
	if r, ok := c.state.Decide(calendar.Get{}, w.now).Reply.(*calendar.Record); ok && verb == "changes" {
		conf = r.Config
	}
	var settings []string
	for _, arg := range args {
		value, ofSlots := strings.CutPrefix(arg, "slots=")
		closed, ofDates := strings.CutPrefix(arg, "closed=")
		switch {
		case ofSlots:
			// New slots replace all earlier ones, and the calendar's mode becomes DateTime.
			conf.Mode, conf.Slots = calendar.DateTime, nil
			for text := range strings.SplitSeq(value, ",") {
				slot, err := readSlot(text)
				if err != nil {
					return err
				}
				conf.Slots = append(conf.Slots, slot)
			}
		case ofDates:
			day, err := keeper.ParseDay(closed)
			if err != nil {
				return err
			}
			conf.ClosedDates = append(conf.ClosedDates, day)
		default:
			settings = append(settings, arg)
		}
	}
	if err := w.set(&conf, settings); err != nil {
		return err
	}
	return w.tell(c, calendar.Configure{Config: conf})
}

// readSlot reads a slot such as "Noon/12:00/13:00/20": its label, the minutes of the day at which it begins and
// ends, and its capacity.
func readSlot(text string) (slot calendar.Slot, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return slot, fmt.Errorf("%q is no slot", text)
	}
	slot = calendar.Slot{Label: parts[0]}
	for i, to := range []*int64{&slot.Start, &slot.End} {
		at, err := time.Parse("15:04", parts[i+1])
		if err != nil {
			return slot, err
		}
		*to = int64(at.Hour()*60 + at.Minute())
	}
	slot.Capacity, err = strconv.ParseInt(parts[3], 10, 64)
	return slot, err
}

// bookedLine reads "GA#2030-01-03/Noon": the ticket type, and the date and slot of its tickets. Without a # the
// tickets are for no date, and the visit is nil.
func (w *story) bookedLine(text string) (typ string, visit *keeper.Visit, err error) {
	typ, when, booked := strings.Cut(text, "#")
	if !booked {
		return typ, nil, nil
	}
	date, label, _ := strings.Cut(when, "/")
	day, err := keeper.ParseDay(date)
	if err != nil {
		return typ, nil, err
	}
	return typ, &keeper.Visit{Date: day, Slot: w.slotNamed(label)}, nil
}

// sayRescheduled reads the date and slot to which a ticket of an order is moved.
//
//	ticket 1 is rescheduled ann 2030-01-04/Noon
func (w *story) sayRescheduled(ticket uint32, words []string) error {
	_, visit, err := w.bookedLine("#" + words[1])
	if err != nil {
		return err
	}
	id := w.order(words[0])
	c := ledger.Reschedule{Order: id, Record: w.records[id], Ticket: ticket, Version: 1, Date: visit.Date, Slot: visit.Slot}
	if err := w.set(&c, words[2:]); err != nil {
		return err
	}
	return w.tellEvent(c)
}

// slotNamed returns the id of a slot of the calendar, by its label. Without such a slot it returns the label,
// so that a story can name a slot that does not exist.
func (w *story) slotNamed(label string) string {
	for _, c := range w.actors {
		if r, ok := c.state.Decide(calendar.Get{}, w.now).Reply.(*calendar.Record); ok {
			for _, slot := range r.Config.Slots {
				if slot.Label == label {
					return slot.ID
				}
			}
		}
	}
	return label
}

// showVisit writes the date and slot of tickets.
func (w *story) showVisit(v *keeper.Visit) string {
	s := " on " + v.Date.String()
	if v.Slot != "" {
		s += "/" + v.Label
	}
	if v.Start != 0 {
		s += fmt.Sprintf(" (%s to %s)", w.clock(v.Start), w.clock(v.End))
	}
	return s
}

// showCalendar writes a calendar's state.
func showCalendar(r *calendar.Record) string {
	parts := []string{fmt.Sprintf("revision %d, today %s", r.Revision, r.Today)}
	for _, slot := range r.Config.Slots {
		s := fmt.Sprintf("%s is %s of %d", slot.ID, slot.Label, slot.Capacity)
		if slot.Paused {
			s += ", paused"
		}
		parts = append(parts, s)
	}
	for _, c := range r.Taken {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d on %s %s", c.Units, c.Date, c.Slot)))
	}
	return strings.Join(parts, "; ")
}

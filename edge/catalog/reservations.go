package catalog

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
)

// defaultCalendar returns the configuration that a calendar has until its organizer changes it.
func defaultCalendar() calendar.Config {
	return calendar.Config{Mode: calendar.DateOnly, DailyCapacity: calendar.NoCapacity, MaxPerCustomer: 10, MaxAdvanceDays: 30}
}

// editCalendar writes into a calendar's configuration the fields that were sent, and returns what is wrong with
// them. A list that is sent replaces the whole former list. editCalendar writes faulty values too, so the
// caller must drop conf if there are issues. Mode date_time without slots is an issue even if neither was sent.
func editCalendar(conf *calendar.Config, f *api.ReservationFields) []route.Issue {
	var issues []route.Issue
	add := func(path, code, message string) {
		issues = append(issues, route.Issue{Path: "reservation." + path, Code: code, Message: message})
	}
	f.Mode.Into(&conf.Mode)
	f.DailyCapacity.Into(&conf.DailyCapacity)
	f.MaxPerCustomerPerDay.Into(&conf.MaxPerCustomer)
	f.MaxAdvanceDays.Into(&conf.MaxAdvanceDays)
	if f.AllowGroups.Set {
		conf.NoGroups = !f.AllowGroups.Value
	}
	f.AllowMultiDay.Into(&conf.MultiDay)
	if f.ClosedDates.Set {
		conf.ClosedDates = nil
		for i, text := range f.ClosedDates.Value {
			day, err := keeper.ParseDay(text)
			if err != nil {
				add("closedDates["+strconv.Itoa(i)+"]", route.IssueFormat, "must be a date from 1970 on")
			}
			conf.ClosedDates = append(conf.ClosedDates, day)
		}
	}
	if f.ClosedWeekdays.Set {
		conf.ClosedWeekdays = nil
		for _, n := range f.ClosedWeekdays.Value {
			conf.ClosedWeekdays = append(conf.ClosedWeekdays, int(n))
		}
	}
	if f.Slots.Set {
		conf.Slots = make([]calendar.Slot, len(f.Slots.Value))
		for i := range f.Slots.Value {
			var wrong string
			if conf.Slots[i], wrong = readSlot(&f.Slots.Value[i]); wrong != "" {
				add(fmt.Sprintf("slots[%d].%s", i, wrong), route.IssueFormat, "must be a time as HH:MM")
			}
		}
	}
	if conf.Mode == calendar.DateTime && len(conf.Slots) == 0 {
		add("slots", route.IssueRequired, "are required in mode date_time")
	}
	return issues
}

// readSlot reads a slot of a day. If a field is no time of day, wrong is its name.
func readSlot(f *api.ReservationSlot) (s calendar.Slot, wrong string) {
	s = calendar.Slot{ID: f.ID, Label: f.Label, Capacity: calendar.NoCapacity, SortOrder: f.SortOrder, Paused: f.Status == "paused"}
	if f.Capacity.Set && !f.Capacity.Null {
		s.Capacity = f.Capacity.Value
	}
	var ok bool
	if s.Start, ok = readMinute(f.StartTime); !ok {
		return s, "startTime"
	}
	if s.End, ok = readMinute(f.EndTime); !ok {
		return s, "endTime"
	}
	return s, ""
}

// readMinute reads HH:MM as minutes since midnight.
func readMinute(text string) (int64, bool) {
	t, err := time.Parse("15:04", text)
	return int64(t.Hour()*60 + t.Minute()), err == nil && len(text) == 5
}

// showMinute writes minutes since midnight as HH:MM.
func showMinute(n int64) string { return fmt.Sprintf("%02d:%02d", n/60, n%60) }

// These are the first and the last year for which a calendar knows its zone's offsets from UTC.
const (
	zoneFrom = 2020
	zoneTo   = 2100
)

// transitionsOf lists when a time zone changes its offset from UTC, for the calendar's actor, which has no database of
// time zones. It compares the offsets of each day and the next, and then searches for the moment of the change. It
// does not step from one Time.ZoneBounds to the next, because these make no progress at the end of leap years.
func transitionsOf(zone string) ([]calendar.Transition, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("time zone of an event: %w", err)
	}
	const day = 24 * 3600
	offset := func(unix int64) int {
		_, seconds := time.Unix(unix, 0).In(loc).Zone()
		return seconds
	}
	at := time.Date(zoneFrom, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	end := time.Date(zoneTo, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	was := offset(at)
	all := []calendar.Transition{{At: at * 1_000, Offset: int64(was) * 1_000}}
	for ; at < end; at += day {
		if now := offset(at + day); now != was {
			first := sort.Search(day, func(n int) bool { return offset(at+int64(n)) != was })
			all = append(all, calendar.Transition{At: (at + int64(first)) * 1_000, Offset: int64(now) * 1_000})
			was = now
		}
	}
	return all, nil
}

// calendarOf returns the new configuration of a reservation calendar: the present or the default one with the fields
// that the request sends. number is 0 for an event that does not exist yet. For an event that is not a reservation
// calendar it returns nil, and an issue if the request sends a configuration.
func (h *Handlers) calendarOf(c *route.Call, number int64, t *event.Details, f route.Opt[api.ReservationFields]) (*calendar.Config, []route.Issue, error) {
	if event.ProductType(t.Category) != event.ProductReservation {
		if f.Set && !f.Null {
			return nil, []route.Issue{{Path: "reservation", Code: route.IssueUnsupported, Message: "is for the category reservations"}}, nil
		}
		return nil, nil, nil
	}
	conf := defaultCalendar()
	if number != 0 {
		r, err := cluster.AskFor[calendar.Record](c.Context, h.Node, engine.CalendarRef(number), calendar.Get{})
		switch {
		case err == nil:
			conf = r.Config
		case !isRefused(err, engine.NotFound):
			return nil, nil, err
		}
	}
	var err error
	if conf.Zone, err = transitionsOf(t.Timezone); err != nil {
		return nil, nil, err
	}
	return &conf, editCalendar(&conf, &f.Value), nil
}

// isRefused reports whether an actor refused with a code.
func isRefused(err error, code engine.Code) bool {
	r, ok := err.(*engine.Refusal) //nolint:errorlint // AskFor returns refusals bare
	return ok && r.Code == code
}

// configure sends a configuration to an event's calendar. It does nothing if conf is nil, as for an event that is not
// a reservation calendar.
func (h *Handlers) configure(c *route.Call, number int64, conf *calendar.Config) (*calendar.Record, error) {
	if conf == nil {
		return nil, nil //nolint:nilnil // an event without a calendar
	}
	r, err := cluster.AskFor[calendar.Record](c.Context, h.Node, engine.CalendarRef(number), calendar.Configure{Config: *conf})
	h.Pages.ForgetCalendar(number)
	return r, err
}

// reservationView shows a calendar's configuration. With own false, for the public, it leaves out paused slots, the
// limits for a day and for a customer, the rules for groups and for several days, and the closed dates and weekdays. It
// returns nil if r is nil.
func reservationView(r *calendar.Record, own bool) *api.Reservation {
	if r == nil {
		return nil
	}
	conf := &r.Config
	v := &api.Reservation{Mode: conf.Mode, MaxAdvanceDays: conf.MaxAdvanceDays, Slots: []api.SlotView{}}
	for _, s := range sortedSlots(conf) {
		if s.Paused && !own {
			continue
		}
		slot := api.SlotView{
			ID: s.ID, Label: s.Label, StartTime: showMinute(s.Start), EndTime: showMinute(s.End), SortOrder: s.SortOrder, Status: "active",
			Capacity: showCapacity(s.Capacity),
		}
		if s.Paused {
			slot.Status = "paused"
		}
		v.Slots = append(v.Slots, slot)
	}
	if !own {
		return v
	}
	groups, closed := !conf.NoGroups, []string{}
	for _, day := range conf.ClosedDates {
		closed = append(closed, day.String())
	}
	v.DailyCapacity, v.MaxPerCustomerPerDay, v.AllowGroups, v.AllowMultiDay = &conf.DailyCapacity, &conf.MaxPerCustomer, &groups, &conf.MultiDay
	v.ClosedDates, v.ClosedWeekdays = closed, append([]int{}, conf.ClosedWeekdays...)
	return v
}

// sortedSlots returns the slots in the order in which pages show them: by SortOrder, and slots with the same
// SortOrder by their start.
func sortedSlots(conf *calendar.Config) []calendar.Slot {
	return slices.SortedStableFunc(slices.Values(conf.Slots), func(a, b calendar.Slot) int {
		if a.SortOrder != b.SortOrder {
			return int(a.SortOrder - b.SortOrder)
		}
		return int(a.Start - b.Start)
	})
}

// showCapacity returns a capacity as answers show it: nil, which becomes null, if there is no limit.
func showCapacity(n int64) *int64 {
	if n == calendar.NoCapacity {
		return nil
	}
	return &n
}

// findDates shows which dates can be booked. It answers from the calendar that this node has in memory, which may
// be a moment old; the order itself asks the calendar's actor.
func (h *Handlers) findDates(c *route.Call, in *api.FindDates) (*api.Availability, error) {
	number, p, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	if event.ProductType(p.Event.Details.Category) != event.ProductReservation {
		return nil, &engine.Refusal{Code: engine.NotReservation}
	}
	r, err := h.Pages.Calendar(c.Context, h.Node, number)
	if err != nil {
		return nil, err
	}
	// Today can no longer be booked. The calendar knows which day it is in the event's time zone.
	first, last := r.Today+1, r.Today+keeper.Day(r.Config.MaxAdvanceDays)
	v := &api.Availability{Mode: r.Config.Mode, WindowStart: first.String(), WindowEnd: last.String(), Days: []api.DayView{}}
	from, to := first, last
	if in.From != "" {
		if day, err := keeper.ParseDay(in.From); err == nil {
			from = max(first, day)
		}
	}
	if in.To != "" {
		day, err := keeper.ParseDay(in.To)
		if err != nil {
			day = 0 // a day before all that can be booked, so that the answer has none
		}
		to = min(last, day)
	}
	for day := from; day <= to; day++ {
		v.Days = append(v.Days, dayView(r, day, event.Ended(p.Event.Status)))
	}
	return v, nil
}

// dayView shows how many places are left on a date and in its slots. If every slot has a limit, a date has no more
// places left than its slots together. Once the event is over, every date is closed.
func dayView(r *calendar.Record, day keeper.Day, over bool) api.DayView {
	conf := &r.Config
	v := api.DayView{Date: day.String(), Closed: over || conf.Closed(day)}
	left := r.Left(day, "", conf.DailyCapacity)
	if conf.Mode == calendar.DateTime {
		v.Slots = []api.SlotLeft{}
		var inSlots int64
		bounded := true
		for _, s := range sortedSlots(conf) {
			if s.Paused {
				continue
			}
			// A slot never has more places left than its date.
			of := lesser(left, r.Left(day, s.ID, s.Capacity))
			if v.Closed {
				of = 0
			}
			if of == calendar.NoCapacity {
				bounded = false
			} else {
				inSlots += of
			}
			v.Slots = append(v.Slots, api.SlotLeft{SlotID: s.ID, Label: s.Label, StartTime: showMinute(s.Start), EndTime: showMinute(s.End), Remaining: showCapacity(of)})
		}
		if bounded {
			left = lesser(left, inSlots)
		}
	}
	if v.Closed {
		left = 0
	}
	v.Remaining, v.SoldOut = showCapacity(left), left == 0
	return v
}

// lesser returns the lesser of two numbers of places. NoCapacity counts as more than any number.
func lesser(a, b int64) int64 {
	switch {
	case a == calendar.NoCapacity:
		return b
	case b == calendar.NoCapacity:
		return a
	}
	return min(a, b)
}

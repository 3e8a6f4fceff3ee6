package mail

import (
	"slices"
	"time"

	ics "github.com/arran4/golang-ical"
)

// Calendar is a calendar file (RFC 5545) with an event or its booked visits, for the reader's calendar.
type Calendar struct {
	Method string // PUBLISH or CANCEL (RFC 5546)
	Body   []byte
}

// local is the layout of a local date and time in a calendar file; date is the layout of a day alone.
const local = "20060102T150405"

const date = "20060102"

// Visit is a time that was booked in a reservation calendar and at which its tickets admit. Its times are in
// the time zone of the place.
type Visit struct {
	ID         string // unique among all visits
	Start, End time.Time
	AllDay     bool // a whole day is booked, without a time of day
	Label      string
	Cancelled  bool // the visit's tickets admit nobody any more
}

// When returns the visit's time in words, in the place's time zone and after its label if it has one. For a whole
// day it returns only the day and the name of the time zone.
func (v Visit) When(l Language) string { return v.describeVisit(wordsOf[l]) }

// describeVisit does what When does, with the words of a language. The label stays as the organizer wrote it.
func (v Visit) describeVisit(w *words) string {
	if v.AllDay {
		return w.showDay(v.Start) + " (" + v.Start.Location().String() + ")"
	}
	at := w.showSpan(v.Start, v.End)
	if v.Label != "" {
		return v.Label + ": " + at
	}
	return at
}

// describeUnlinked returns what When returns, but first cleans the organizer's label (cleanLabel), so that a
// mail program makes no link of it.
func (v Visit) describeUnlinked(w *words) string {
	v.Label = cleanLabel(v.Label)
	return v.describeVisit(w)
}

// Calendar returns the calendar file of the event, or of its booked visits; nil if there is neither a start nor
// a visit. Each entry has an id that stays and the event's revision, so a calendar program treats a later file
// as a change of the same entries, and removes what is cancelled.
func (e *Event) Calendar(l Language) *Calendar { return e.makeCalendar(wordsOf[l]) }

// HasCalendar reports whether Calendar returns a file: whether the event has a start, Visits or Gone.
func (e *Event) HasCalendar() bool { return len(e.Visits)+len(e.Gone) > 0 || !e.Start.IsZero() }

// makeCalendar does what Calendar does, with the words of a language. The visits in e.Gone are in the file as
// cancelled. If everything in the file is cancelled, its method is CANCEL, and otherwise PUBLISH.
func (e *Event) makeCalendar(w *words) *Calendar {
	if !e.HasCalendar() {
		return nil
	}
	visits := slices.Concat(e.Visits, e.Gone)
	for i := range e.Gone {
		visits[len(e.Visits)+i].Cancelled = true
	}
	if len(visits) == 0 {
		visits = []Visit{e.asVisit()}
	}
	c := ics.NewCalendarFor("Boxoffice")
	first, last, method := visits[0].Start, visits[0].Start, ics.MethodCancel
	for i := range visits {
		visits[i].End = later(visits[i].Start, visits[i].End)
		if !e.isVoid() && !visits[i].Cancelled {
			method = ics.MethodPublish // a file of METHOD:CANCEL may have only cancelled entries
		}
		if visits[i].Start.Before(first) {
			first = visits[i].Start
		}
		last = later(last, visits[i].End)
	}
	c.SetMethod(method)
	c.Components = append(c.Components, describeZone(first, last))
	for i := range visits {
		e.addVisit(c, &visits[i], w)
	}
	return &Calendar{Method: string(method), Body: []byte(c.Serialize(ics.WithNewLineWindows))}
}

// asVisit returns the time of the event itself as a visit, for events for which nobody books a visit.
func (e *Event) asVisit() Visit { return Visit{ID: e.ID, Start: e.Start, End: later(e.Start, e.End)} }

// Program holds an organization's events, for the calendars of people who subscribe to them.
type Program struct {
	Name string // the organization's name
	Page string // the address of the organization's page
	// Events are the events to show. Each must have a Start and a Page.
	Events []*Event
}

// refreshAfter asks a calendar program to fetch the file again every hour (RFC 7986, 5.7). People change
// an organization's events by hand, so once an hour is often enough.
const refreshAfter = "PT1H"

// Calendar returns the program as a calendar file. Its events have the same ids and revisions as in the
// files in mails, so that a calendar that has both files shows an event once.
func (p *Program) Calendar(l Language) []byte {
	c := ics.NewCalendarFor("Boxoffice")
	c.SetMethod(ics.MethodPublish)
	c.SetName(cleanLabel(p.Name))
	c.SetUrl(p.Page)
	c.SetRefreshInterval(refreshAfter, ics.WithValue(string(ics.ValueDataTypeDuration)))
	type span struct{ first, last time.Time }
	var zones []string // in the order of the events, so that the same program always makes the same file
	spans := make(map[string]span)
	visits := make([]Visit, len(p.Events))
	for i, e := range p.Events {
		visits[i] = e.asVisit()
		name := e.Start.Location().String()
		s, known := spans[name]
		if !known {
			zones, s = append(zones, name), span{e.Start, e.Start}
		}
		if e.Start.Before(s.first) {
			s.first = e.Start
		}
		s.last = later(s.last, visits[i].End)
		spans[name] = s
	}
	for _, name := range zones {
		c.Components = append(c.Components, describeZone(spans[name].first, spans[name].last))
	}
	for i, e := range p.Events {
		e.addVisit(c, &visits[i], wordsOf[l])
	}
	return []byte(c.Serialize(ics.WithNewLineWindows))
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// addVisit adds a visit to a calendar file, with the event's title, place, page and revision. Its start and end are
// written as local times, for which the file must describe the zone, or both in UTC if the local time of one occurs
// twice on its day. A visit of a whole day is written as dates. The visit is cancelled if it says so itself or if
// the event is void.
func (e *Event) addVisit(c *ics.Calendar, at *Visit, w *words) {
	v := c.AddEvent(at.ID)
	v.SetDtStampTime(e.Changed)
	v.SetModifiedAt(e.Changed)
	v.SetSequence(e.Revision)
	if at.AllDay {
		day := &ics.KeyValues{Key: string(ics.ParameterValue), Value: []string{string(ics.ValueDataTypeDate)}}
		v.SetProperty(ics.ComponentPropertyDtStart, at.Start.Format(date), day)
		v.SetProperty(ics.ComponentPropertyDtEnd, at.Start.AddDate(0, 0, 1).Format(date), day)
	} else if isAmbiguous(at.Start) || isAmbiguous(at.End.In(at.Start.Location())) {
		// A local time that comes twice means the first (RFC 5545, 3.3.5); a time in UTC comes once.
		v.SetProperty(ics.ComponentPropertyDtStart, at.Start.UTC().Format(local+"Z"))
		v.SetProperty(ics.ComponentPropertyDtEnd, at.End.UTC().Format(local+"Z"))
	} else {
		tz := &ics.KeyValues{Key: string(ics.ParameterTzid), Value: []string{at.Start.Location().String()}}
		v.SetProperty(ics.ComponentPropertyDtStart, at.Start.Format(local), tz)
		v.SetProperty(ics.ComponentPropertyDtEnd, at.End.In(at.Start.Location()).Format(local), tz)
	}
	v.SetSummary(cleanLabel(e.Title))
	if at.Label != "" {
		v.SetDescription(cleanLabel(at.Label))
	}
	if place := e.showPlace(w); place != "" {
		v.SetLocation(place)
	}
	if e.Page != "" {
		v.SetURL(e.Page)
	}
	v.SetStatus(ics.ObjectStatusConfirmed)
	if e.isVoid() || at.Cancelled {
		v.SetStatus(ics.ObjectStatusCancelled)
	}
}

// isAmbiguous reports whether the clocks in the time's zone show this time of day twice on that day, because
// they are put back and so repeat an hour of the night.
func isAmbiguous(at time.Time) bool {
	begin, end := at.ZoneBounds()
	_, offset := at.Zone()
	if !begin.IsZero() {
		_, before := begin.Add(-time.Second).Zone()
		if at.Add(time.Duration(offset-before) * time.Second).Before(begin) {
			return true
		}
	}
	if end.IsZero() {
		return false
	}
	_, after := end.Zone()
	return !at.Add(time.Duration(offset-after) * time.Second).Before(end)
}

// describeZone describes the time zone of from between two times: each offset from UTC that holds in
// between, with the moment when it began (RFC 5545, 3.6.5). For a zone that never had another offset, that
// moment is the beginning of 1970.
func describeZone(from, to time.Time) *ics.VTimezone {
	z := ics.NewTimezone(from.Location().String())
	for at := from; ; {
		begin, end := at.ZoneBounds()
		name, _ := at.Zone()
		was := at
		if begin.IsZero() { // the zone never had another offset
			begin = time.Date(1970, 1, 1, 0, 0, 0, 0, at.Location())
		} else {
			was = begin.Add(-time.Second)
		}
		observed := ics.ComponentBase{}
		// RFC 5545 wants the moment of a change in the local time that held before the change.
		_, offset := was.Zone()
		observed.SetProperty(ics.ComponentPropertyDtStart, begin.UTC().Add(time.Duration(offset)*time.Second).Format(local))
		observed.SetProperty(ics.ComponentProperty(ics.PropertyTzoffsetfrom), was.Format("-0700"))
		observed.SetProperty(ics.ComponentProperty(ics.PropertyTzoffsetto), at.Format("-0700"))
		observed.SetProperty(ics.ComponentProperty(ics.PropertyTzname), name)
		if at.IsDST() {
			z.Components = append(z.Components, &ics.Daylight{ComponentBase: observed})
		} else {
			z.Components = append(z.Components, &ics.Standard{ComponentBase: observed})
		}
		if end.IsZero() || end.After(to) {
			return z
		}
		at = end
	}
}

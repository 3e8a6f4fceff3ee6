package mail

import (
	"slices"
	"time"

	ics "github.com/arran4/golang-ical"
)

// Calendar is an event for the reader's calendar (RFC 5545).
type Calendar struct {
	Method string // PUBLISH or CANCEL (RFC 5546)
	Body   []byte
}

// local is the layout of a time of day on the clocks of a place.
const local = "20060102T150405"

const date = "20060102"

// Visit is when a ticket of a reservation admits, on the clocks of its place.
type Visit struct {
	ID         string // unique among all visits
	Start, End time.Time
	AllDay     bool // it is booked for the date alone
	Label      string
	Cancelled  bool // its tickets admit nobody any more
}

// When is the visit's time in words, on the clocks of its place.
func (v Visit) When(l Language) string { return v.describeVisit(wordsOf[l]) }

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

// describeUnlinked is the visit's time in a mail, in which the organizer's label is no link.
func (v Visit) describeUnlinked(w *words) string {
	v.Label = cleanLabel(v.Label)
	return v.describeVisit(w)
}

// Calendar is the calendar file of the event, or of its booked visits; nil if it takes place at no
// time of its own. Because the file carries the event's id and revision, a calendar takes a later
// file as a change of the same event, and removes what is cancelled.
func (e *Event) Calendar(l Language) *Calendar { return e.makeCalendar(wordsOf[l]) }

// HasCalendar reports whether there is a calendar file.
func (e *Event) HasCalendar() bool { return len(e.Visits)+len(e.Gone) > 0 || !e.Start.IsZero() }

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
			method = ics.MethodPublish // a file of METHOD:CANCEL may have nothing else
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

// asVisit is the time of the event itself, for everybody who attends it.
func (e *Event) asVisit() Visit { return Visit{ID: e.ID, Start: e.Start, End: later(e.Start, e.End)} }

// Program is what an organization has on, for the calendars of people who subscribe to it.
type Program struct {
	Name string // of the organization
	Page string // its address
	// Events have a time of their own. Their Page is not empty.
	Events []*Event
}

// refreshAfter tells a calendar how often to ask for a program again (RFC 7986, 5.7). Programs change by
// hand, so once an hour is often enough.
const refreshAfter = "PT1H"

// Calendar is the program as a calendar file. The ids and revisions of its events are those of the files
// in mails, so that a calendar which has both shows an event once.
func (p *Program) Calendar(l Language) []byte {
	c := ics.NewCalendarFor("Boxoffice")
	c.SetMethod(ics.MethodPublish)
	c.SetName(cleanLabel(p.Name))
	c.SetUrl(p.Page)
	c.SetRefreshInterval(refreshAfter, ics.WithValue(string(ics.ValueDataTypeDuration)))
	type span struct{ first, last time.Time }
	var zones []string // in the order of the events, so that the same program is the same file
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

// addVisit adds a visit to a calendar file.
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

// isAmbiguous reports whether the clocks of the time's place show it twice: when they are put back,
// an hour of the night is repeated.
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

// describeZone describes the clocks of a place between two times: each offset with the moment when it began
// (RFC 5545, 3.6.5).
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
		// The moment is given on the clocks as they were before it.
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

package mail

import (
	"time"

	ics "github.com/arran4/golang-ical"
)

// Calendar is an event for the reader's calendar (RFC 5545).
type Calendar struct {
	Method string // PUBLISH or CANCEL (RFC 5546)
	Body   []byte
}

const (
	publish = ics.MethodPublish
	cancel  = ics.MethodCancel
)

// local is a time of day on the clocks of a place.
const local = "20060102T150405"

// calendar is the event's file; nil for one that is at no time of its own. The
// event's id and its revision let a calendar take a later file as a change of the
// same event.
func (e *Event) calendar(method ics.Method) *Calendar {
	if e.Start.IsZero() {
		return nil
	}
	c := ics.NewCalendarFor("Boxoffice")
	c.SetMethod(method)
	end := e.End
	if end.Before(e.Start) {
		end = e.Start
	}
	c.Components = append(c.Components, zone(e.Start, end))
	v := c.AddEvent(e.ID)
	v.SetDtStampTime(e.Changed)
	v.SetSequence(e.Revision)
	tz := &ics.KeyValues{Key: string(ics.ParameterTzid), Value: []string{e.Start.Location().String()}}
	v.SetProperty(ics.ComponentPropertyDtStart, e.Start.Format(local), tz)
	v.SetProperty(ics.ComponentPropertyDtEnd, end.In(e.Start.Location()).Format(local), tz)
	v.SetSummary(label(e.Title))
	if place := e.Where(); place != "" {
		v.SetLocation(place)
	}
	v.SetStatus(ics.ObjectStatusConfirmed)
	if method == cancel {
		v.SetStatus(ics.ObjectStatusCancelled)
	}
	return &Calendar{Method: string(method), Body: []byte(c.Serialize(ics.WithNewLineWindows))}
}

// zone is what the clocks of a place show from one time to another: each offset
// with the moment that it began (RFC 5545, 3.6.5).
func zone(from, to time.Time) *ics.VTimezone {
	z := ics.NewTimezone(from.Location().String())
	for at := from; ; {
		begin, end := at.ZoneBounds()
		name, _ := at.Zone()
		was := at
		if begin.IsZero() { // it has always been so
			begin = time.Date(1970, 1, 1, 0, 0, 0, 0, at.Location())
		} else {
			was = begin.Add(-time.Second)
		}
		observed := ics.ComponentBase{}
		// The moment is told by the clocks as they were before it.
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

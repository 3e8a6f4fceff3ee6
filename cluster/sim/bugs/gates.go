package bugs

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/admission"
)

// letsInTwice is a ledger that lets people in by a ticket whose holder is inside.
type letsInTwice struct{ engine.State }

// Decide admits a scan that should be refused, because the ticket's holder is already inside.
func (l *letsInTwice) Decide(c engine.Command, now time.Time) engine.Decision {
	d := l.State.Decide(c, now)
	scan, is := c.(admission.Scan)
	if !is || scan.Out || len(d.Facts) != 1 {
		return d
	}
	if denied, ok := d.Facts[0].(*admission.CheckInDenied); ok && denied.Status == admission.ScanDuplicate {
		d.Facts = []engine.Fact{&admission.GatePassed{Ticket: scan.Ticket, At: denied.At, Gate: scan.Gate, Device: scan.Device, Method: scan.Method, Key: scan.Key}}
		d.Reply = &admission.ScanReply{Status: admission.ScanSuccess, Ticket: scan.Ticket, At: denied.At, Gate: scan.Gate}
	}
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (l *letsInTwice) Check() error { return nil }

// sortsByArrival is a ledger that orders passages through a gate by the time at which it heard of them. Devices
// without a network tell of them later, so the true order may be another one.
type sortsByArrival struct {
	engine.State
	latest map[uint32]int64
}

// Apply gives passages the time of the last one if theirs is earlier.
func (a *sortsByArrival) Apply(f engine.Fact) {
	switch p := f.(type) {
	case *admission.CheckedIn:
		a.latest[p.Ticket] = max(a.latest[p.Ticket], p.At)
	case *admission.GatePassed:
		c := *p
		a.latest[p.Ticket] = max(a.latest[p.Ticket]+1, p.At)
		c.At = a.latest[p.Ticket]
		f = &c
	case *admission.CheckInDenied:
		if p.Passed {
			c := *p
			a.latest[p.Ticket] = max(a.latest[p.Ticket]+1, p.At)
			c.At = a.latest[p.Ticket]
			f = &c
		}
	}
	a.State.Apply(f)
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (a *sortsByArrival) Check() error { return nil }

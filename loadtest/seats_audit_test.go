package loadtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/viewers"
)

// story makes an AckLog's entries, of seconds since its beginning.
type story struct {
	began   time.Time
	entries []Entry
}

func (s *story) at(second float64) time.Time {
	return s.began.Add(time.Duration(second * float64(time.Second)))
}

func (s *story) tell(second float64, buyer int, what string, more ...func(*Entry)) {
	e := Entry{At: s.at(second), What: what, Buyer: buyer}
	for _, f := range more {
		f(&e)
	}
	s.entries = append(s.entries, e)
}

func (s *story) until(second float64, seats ...string) func(*Entry) {
	return func(e *Entry) { e.Seats, e.Until = seats, s.at(second) }
}

func ordered(id, status string, seats ...string) func(*Entry) {
	return func(e *Entry) {
		e.Order, e.Status, e.Key = id, status, id
		e.Items = []item{{Quantity: len(seats), VenueSeatIDs: seats}}
	}
}

// audited is the audit of a story, whose orders are as they were acknowledged.
func (s *story) audited() *seatAudit {
	a := &seatAudit{audit: &audit{byOrder: map[string]*claim{}}, bySeat: map[string][]having{}, orders: map[string]*claim{}}
	a.fold(s.entries)
	for _, c := range a.claims {
		c.found = order{ID: c.order, Status: c.status, Items: c.items}
	}
	a.had(s.entries)
	a.checkHolders()
	a.checkGrants(s.entries)
	return a
}

// failed are the names of the checks that found something.
func (a *seatAudit) failed() (names []string) {
	for _, c := range a.checks {
		if c.Failed > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestSeatAudit: what must not happen to seats is found, and nothing else.
func TestSeatAudit(t *testing.T) {
	t.Parallel()
	const twice, double, grants = "no seat had by two shoppers at a time", "no seat in two orders", "orders of seats still held are granted"
	for name, c := range map[string]struct {
		tell func(s *story)
		want string
	}{
		"held in turn": {func(s *story) {
			s.tell(0, 1, ackHeld, s.until(60, "a"))
			s.tell(5, 1, askSeats)
			s.tell(6, 2, ackHeld, s.until(66, "a"))
		}, ""},
		"held after its time": {func(s *story) {
			s.tell(0, 1, ackHeld, s.until(60, "a"))
			s.tell(60.1, 2, ackHeld, s.until(120, "a"))
		}, ""},
		"held by two": {func(s *story) {
			s.tell(0, 1, ackHeld, s.until(60, "a", "b"))
			s.tell(5, 2, ackHeld, s.until(65, "b"))
			s.tell(6, 1, askSeats)
		}, twice},
		"held by two, one before that": {func(s *story) {
			s.tell(0, 1, ackHeld, s.until(60, "a"))
			s.tell(1, 2, ackHeld, s.until(61, "b"))
			s.tell(2, 2, askSeats)
			s.tell(3, 2, ackHeld, s.until(63, "a"))
		}, twice},
		"ordered, then held": {func(s *story) {
			s.tell(0, 1, ackPlaced, ordered("o1", pending, "a"))
			s.tell(5, 2, ackHeld, s.until(65, "a"))
		}, twice},
		"ordered, cancelled, then held": {func(s *story) {
			s.tell(0, 1, ackPlaced, ordered("o1", pending, "a"))
			s.tell(4, 1, askCancel, ordered("o1", ""))
			s.tell(5, 1, ackStatus, ordered("o1", cancelled))
			s.tell(5, 2, ackHeld, s.until(65, "a"))
		}, ""},
		"in two orders": {func(s *story) {
			s.tell(0, 1, ackPlaced, ordered("o1", completed, "a"))
			s.tell(1, 1, ackPlaced, ordered("o2", pending, "b", "a"))
		}, double},
		"refused while held": {func(s *story) {
			s.tell(0, 1, ackHeld, s.until(60, "a"))
			s.tell(5, 1, askSeats)
			s.tell(6, 1, ackRefused, s.until(60, "a"))
		}, grants},
		"refused after its time": {func(s *story) {
			s.tell(0, 1, ackHeld, s.until(60, "a"))
			s.tell(59, 1, askSeats)
			s.tell(61, 1, ackRefused, s.until(60, "a"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{began: time.Now()}
			c.tell(s)
			require.Equal(t, c.want, strings.Join(s.audited().failed(), ", "))
		})
	}
}

// TestLeftHoldsEnd: when a hold that was left has ended is what viewers saw, or
// who had the seat next.
func TestLeftHoldsEnd(t *testing.T) {
	t.Parallel()
	s := &story{began: time.Now()}
	h := having{seat: "a", buyer: 1, from: s.at(0), to: s.at(60), until: s.at(60), left: true}
	saw := func(second float64, to viewers.State) viewers.Change {
		return viewers.Change{At: s.at(second), To: to}
	}
	other := having{seat: "a", buyer: 2, from: s.at(61)}
	for name, c := range map[string]struct {
		later   []having
		history []viewers.Change
		end     float64
		over    bool
	}{
		"seen":                {nil, []viewers.Change{saw(0.1, viewers.Held), saw(60.4, viewers.Available)}, 60.4, true},
		"seen late":           {nil, []viewers.Change{saw(0.1, viewers.Held), saw(70, viewers.Available)}, 70, true},
		"early":               {nil, []viewers.Change{saw(0.1, viewers.Held), saw(30, viewers.Available)}, 30, true},
		"never":               {nil, []viewers.Change{saw(0.1, viewers.Held)}, 0, false},
		"what was before it":  {nil, []viewers.Change{saw(0.1, viewers.Available), saw(0.2, viewers.Held), saw(60.2, viewers.Sold)}, 60.2, true},
		"from one to another": {[]having{other}, []viewers.Change{saw(0.1, viewers.Held), saw(90, viewers.Available)}, 61, true},
		"its own again":       {[]having{{buyer: 1, from: s.at(61)}}, []viewers.Change{saw(0.1, viewers.Held)}, 0, false},
	} {
		end, over := ended(h, c.later, c.history)
		require.Equal(t, c.over, over, name)
		if over {
			require.Equal(t, s.at(c.end), end, name)
		}
	}
}

// TestApart: lists of seats in any order are compared, repeats and all.
func TestApart(t *testing.T) {
	t.Parallel()
	require.Empty(t, apart([]string{"a", "b"}, []string{"b", "a"}))
	require.Equal(t, []string{"a", "c"}, apart([]string{"a", "b"}, []string{"b", "c"}))
	require.Equal(t, []string{"a"}, apart([]string{"a"}, []string{"a", "a"}))
}

package seats

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// story makes an AckLog's entries, of seconds since its beginning.
type story struct {
	began   time.Time
	entries []rush.Entry
}

func (s *story) at(second float64) time.Time {
	return s.began.Add(time.Duration(second * float64(time.Second)))
}

func (s *story) tell(second float64, buyer int, what string, more ...func(*rush.Entry)) {
	e := rush.Entry{At: s.at(second), What: what, Buyer: buyer}
	for _, f := range more {
		f(&e)
	}
	s.entries = append(s.entries, e)
}

func (s *story) until(second float64, seats ...string) func(*rush.Entry) {
	return func(e *rush.Entry) { e.Seats, e.Until = seats, s.at(second) }
}

func ordered(id, status string, seats ...string) func(*rush.Entry) {
	return func(e *rush.Entry) {
		e.Order, e.Status, e.Key = id, status, id
		e.Items = []rush.Item{{Quantity: len(seats), VenueSeatIDs: seats}}
	}
}

// audited is the audit of a story, whose orders are as they were acknowledged.
func (s *story) audited() *seatAudit {
	a := &seatAudit{Audit: &rush.Audit{ByOrder: map[string]*rush.Claim{}}, bySeat: map[string][]possession{}, orders: map[string]*rush.Claim{}}
	a.Fold(s.entries)
	for _, c := range a.Claims {
		c.Found = rush.Order{ID: c.Order, Status: c.Status, Items: c.Items}
	}
	a.collectPossessions(s.entries)
	a.checkHolders()
	a.checkGrants(s.entries)
	return a
}

// failed are the names of the checks that found something.
func (a *seatAudit) failed() (names []string) {
	for _, c := range a.Checks {
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
			s.tell(0, 1, rush.AckHeld, s.until(60, "a"))
			s.tell(5, 1, rush.AskSeats)
			s.tell(6, 2, rush.AckHeld, s.until(66, "a"))
		}, ""},
		"held after its time": {func(s *story) {
			s.tell(0, 1, rush.AckHeld, s.until(60, "a"))
			s.tell(60.1, 2, rush.AckHeld, s.until(120, "a"))
		}, ""},
		"held by two": {func(s *story) {
			s.tell(0, 1, rush.AckHeld, s.until(60, "a", "b"))
			s.tell(5, 2, rush.AckHeld, s.until(65, "b"))
			s.tell(6, 1, rush.AskSeats)
		}, twice},
		"held by two, one before that": {func(s *story) {
			s.tell(0, 1, rush.AckHeld, s.until(60, "a"))
			s.tell(1, 2, rush.AckHeld, s.until(61, "b"))
			s.tell(2, 2, rush.AskSeats)
			s.tell(3, 2, rush.AckHeld, s.until(63, "a"))
		}, twice},
		"ordered, then held": {func(s *story) {
			s.tell(0, 1, rush.AckPlaced, ordered("o1", rush.Pending, "a"))
			s.tell(5, 2, rush.AckHeld, s.until(65, "a"))
		}, twice},
		"ordered, cancelled, then held": {func(s *story) {
			s.tell(0, 1, rush.AckPlaced, ordered("o1", rush.Pending, "a"))
			s.tell(4, 1, rush.AskCancel, ordered("o1", ""))
			s.tell(5, 1, rush.AckStatus, ordered("o1", rush.Cancelled))
			s.tell(5, 2, rush.AckHeld, s.until(65, "a"))
		}, ""},
		"in two orders": {func(s *story) {
			s.tell(0, 1, rush.AckPlaced, ordered("o1", rush.Completed, "a"))
			s.tell(1, 1, rush.AckPlaced, ordered("o2", rush.Pending, "b", "a"))
		}, double},
		"refused while held": {func(s *story) {
			s.tell(0, 1, rush.AckHeld, s.until(60, "a"))
			s.tell(5, 1, rush.AskSeats)
			s.tell(6, 1, rush.AckRefused, s.until(60, "a"))
		}, grants},
		"refused after its time": {func(s *story) {
			s.tell(0, 1, rush.AckHeld, s.until(60, "a"))
			s.tell(59, 1, rush.AskSeats)
			s.tell(61, 1, rush.AckRefused, s.until(60, "a"))
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
	h := possession{seat: "a", buyer: 1, from: s.at(0), to: s.at(60), until: s.at(60), left: true}
	saw := func(second float64, to viewers.State) viewers.Change {
		return viewers.Change{At: s.at(second), To: to}
	}
	other := possession{seat: "a", buyer: 2, from: s.at(61)}
	for name, c := range map[string]struct {
		later   []possession
		history []viewers.Change
		end     float64
		over    bool
	}{
		"seen":                {nil, []viewers.Change{saw(0.1, viewers.Held), saw(60.4, viewers.Available)}, 60.4, true},
		"seen late":           {nil, []viewers.Change{saw(0.1, viewers.Held), saw(70, viewers.Available)}, 70, true},
		"early":               {nil, []viewers.Change{saw(0.1, viewers.Held), saw(30, viewers.Available)}, 30, true},
		"never":               {nil, []viewers.Change{saw(0.1, viewers.Held)}, 0, false},
		"what was before it":  {nil, []viewers.Change{saw(0.1, viewers.Available), saw(0.2, viewers.Held), saw(60.2, viewers.Sold)}, 60.2, true},
		"from one to another": {[]possession{other}, []viewers.Change{saw(0.1, viewers.Held), saw(90, viewers.Available)}, 61, true},
		"its own again":       {[]possession{{buyer: 1, from: s.at(61)}}, []viewers.Change{saw(0.1, viewers.Held)}, 0, false},
	} {
		end, over := findEnd(h, c.later, c.history)
		require.Equal(t, c.over, over, name)
		if over {
			require.Equal(t, s.at(c.end), end, name)
		}
	}
}

// TestApart: lists of seats in any order are compared, repeats and all.
func TestApart(t *testing.T) {
	t.Parallel()
	require.Empty(t, listDifferences([]string{"a", "b"}, []string{"b", "a"}))
	require.Equal(t, []string{"a", "c"}, listDifferences([]string{"a", "b"}, []string{"b", "c"}))
	require.Equal(t, []string{"a"}, listDifferences([]string{"a"}, []string{"a", "a"}))
}

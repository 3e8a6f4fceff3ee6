package waitlist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

const hour = int64(time.Hour / time.Millisecond)

// enter puts an entry of a customer in line.
func enter(l *Line, customer uint64, at int64) *Entry {
	n := l.nextNumber()
	e := &Entry{ID: engine.NumberedID(1, int64(n)), Number: n, Type: 1, Quantity: 1, Customer: customer, At: at, Status: StatusWaiting}
	l.Apply(&Joined{Entry: e})
	return e
}

// pass offers an entry something, which it lets run out, and returns when.
func pass(l *Line, e *Entry, now, begins int64) int64 {
	ends := now + l.OfferMillis(e, now, begins)
	l.Apply(&OfferMade{Order: &order.Order{ID: e.ID, Lines: []order.Line{{Type: 1, Quantity: 1}}, CreatedAt: now, ExpiresAt: ends}})
	l.Apply(&EntryEnded{ID: e.ID, Status: StatusExpired, At: ends})
	return ends
}

// TestFakesPass: however many of those in line don't want it, a ticket that comes free is offered
// to somebody who does while there is time, though each of them may keep it for 12 hours.
func TestFakesPass(t *testing.T) {
	t.Parallel()
	for days, fakes := range map[int64]int{1: 20, 7: 40, 30: 60} {
		l, now, begins := New(), int64(0), days*24*hour
		for i := range fakes {
			now = pass(l, enter(l, uint64(i+1), 0), now, begins)
		}
		real := enter(l, 1_000, 0)
		require.Less(t, now+l.OfferMillis(real, now, begins), begins, "%d fakes, %d days", fakes, days)
	}
}

// TestOfferMillis: an address that lets offers pass gets shorter ones, in this line alone; and none
// is longer than a tenth of the time left, if that is no less than 15 minutes.
func TestOfferMillis(t *testing.T) {
	t.Parallel()
	const far = 1_000 * hour
	l := New()
	for _, want := range []int64{12 * hour, hour, hour / 4, hour / 4} {
		e := enter(l, 1, 0)
		require.Equal(t, want, l.OfferMillis(e, 0, far))
		pass(l, e, 1, far)
	}
	other := enter(l, 2, 0)
	for left, want := range map[int64]int64{far: 12 * hour, 120 * hour: 12 * hour, 60 * hour: 6 * hour, 5 * hour: hour / 2, hour: hour / 4, 0: hour / 4, -hour: hour / 4} {
		require.Equal(t, want, l.OfferMillis(other, far, far+left), left)
	}
	l.OfferMinutes = 20
	require.Equal(t, hour/3, l.OfferMillis(other, 0, far))
}

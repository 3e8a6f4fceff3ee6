package mailqueue

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/event"
	"boxoffice/engine/order"
)

func (w *world) cancel() {
	w.happen(&event.Moved{From: event.StatusOnSale, To: event.StatusCancelled, At: w.at()})
}

// confirmed lets the confirmations of orders go, which are no part of a test.
func (w *world) confirmed() {
	_, err := w.pool.Exec(w.t.Context(), `DELETE FROM river_job WHERE kind = 'mail'`)
	require.NoError(w.t, err)
}

// TestCancelledEvent: everybody with tickets hears of it, once, page by page; and
// those who were sent off a page by a death in the middle are too.
func TestCancelledEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.created()
	buyers := people(0, 2*pageSize+pageSize/2)
	w.happen(w.bought(buyers...)...)
	again := w.bought("P00000@example.org", "p00001@example.org") // who are buyers already
	again[2].(*order.Created).Order.Lines[0].AttendeeEmail = "friend@example.org"
	w.happen(again...)
	w.happen(w.order("pending@example.org"))
	w.serial++
	w.cancel()
	w.happen(w.order("later@example.org"), &order.Completed{ID: w.id(), First: w.serial, At: w.at()})
	w.confirmed()

	var deaths atomic.Int64
	dying := func(ctx context.Context, l *Mail) (bool, error) {
		if deaths.Add(1) == 300 {
			_, err := w.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%mails%' AND query NOT LIKE '%CREATE%'`)
			require.NoError(t, err)
		}
		return w.sent.send(ctx, l)
	}
	stop := w.work(dying)
	require.Eventually(t, func() bool { return len(w.sent.all()) > pageSize }, within, 1e6)
	stop()
	_, err := w.pool.Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state IN ('running', 'retryable')`) // as River does with those of the dead
	require.NoError(t, err)
	w.work(w.sent.send)
	w.done()
	want := append(slices.Clone(buyers), "friend@example.org")
	got := slices.Compact(w.sent.addresses(EventCancelled)) // a mail that was being sent is sent again
	if i := slices.Index(got, "P00000@example.org"); i >= 0 {
		got[i] = "p00000@example.org" // whose order came first by its id
	}
	require.ElementsMatch(t, want, got)
	put := map[string]int{}
	for _, l := range w.put() {
		put[l.ID]++
		require.EqualValues(t, number, l.Event)
	}
	require.Len(t, put, len(want))
	require.Len(t, w.put(), len(want))
}

// TestChangedEvent: what holders of tickets are told, and what not.
func TestChangedEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(w.sent.send)
	w.created()
	w.updated(func(d *event.Details) { d.Title = "Draft" }) // nobody has tickets
	w.updated()
	w.soon()
	w.happen(w.bought("ada@example.org", "eve@example.org")...)
	w.done()
	require.Empty(t, w.sent.addresses(EventChanged))
	was := KnownOf(details())
	for name, c := range map[string]struct {
		change func(*event.Details)
		mailed bool
	}{
		"title":       {func(d *event.Details) { d.Title = "Saturday\x00 Night" }, true},
		"start":       {func(d *event.Details) { d.StartAt += 3_600_000 }, true},
		"end":         {func(d *event.Details) { d.EndAt += 3_600_000 }, true},
		"time zone":   {func(d *event.Details) { d.Timezone = "Africa/Lagos" }, true},
		"venue":       {func(d *event.Details) { d.VenueName = "Club" }, true},
		"address":     {func(d *event.Details) { d.VenueAddress = "Street 2" }, true},
		"online":      {func(d *event.Details) { d.VenueType = "online" }, true},
		"description": {func(d *event.Details) { d.Description = "Come!" }, false},
		"doors":       {func(d *event.Details) { d.DoorsAt = 1_899_999_000_000 }, false},
		"capacity":    {func(d *event.Details) { d.Capacity = 100 }, false},
	} {
		told := w.told(c.change)
		if !c.mailed {
			require.Empty(t, told, name)
			continue
		}
		require.Len(t, told, 2, name)
		for _, l := range told {
			require.Equal(t, &was, l.Was, name)
		}
		require.Len(t, w.told(), 2, "%s, and back", name)
	}
	w.updated(func(d *event.Details) { d.Title = "Saturday" })
	w.happen(w.bought("late@example.org")...) // knows
	w.soon()
	w.done()
	require.NotContains(t, w.sent.addresses(EventChanged), "late@example.org")
}

// told are the mails that a change leads to.
func (w *world) told(change ...func(*event.Details)) []Mail {
	w.t.Helper()
	before := len(w.sent.all())
	w.updated(change...)
	w.soon()
	w.done()
	return w.sent.all()[before:]
}

// soon lets what waits for an event to be left alone come about.
func (w *world) soon() {
	_, err := w.pool.Exec(w.t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state = 'scheduled'`)
	require.NoError(w.t, err)
}

// TestSecondThoughts: who corrects himself within a while writes once, or not at
// all.
func TestSecondThoughts(t *testing.T) {
	t.Parallel()
	title := func(s string) func(*event.Details) { return func(d *event.Details) { d.Title = s } }
	w := newWorld(t)
	w.created()
	w.happen(w.bought("ada@example.org")...)
	w.confirmed()
	w.updated(title("Wrong"))
	w.updated()
	w.soon()
	w.work(w.sent.send)
	w.done()
	require.Empty(t, w.sent.all())
	for i, c := range []struct{ now, was string }{{"Two", "Friday Night"}, {"Four", "Two"}} {
		w.updated(title(fmt.Sprint("Typo ", i)))
		w.updated(title(c.now))
		w.soon()
		w.done()
		require.Len(t, w.sent.all(), i+1)
		require.Equal(t, c.was, w.sent.all()[i].Was.Title)
	}
	w.updated(title("Five"))
	w.cancel()
	w.soon()
	w.done()
	require.Len(t, w.sent.addresses(EventChanged), 2, "an event that is cancelled does not change")
	require.Len(t, w.sent.addresses(EventCancelled), 1)
}

package cluster_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// absent is a journal whose database is away at times: a claim fails, or waits.
type absent struct {
	journal.Journal
	away    atomic.Bool
	tried   atomic.Int64 // claims
	decided atomic.Int64 // facts of the event
}

func (a *absent) Claim(ctx context.Context, ref engine.Ref) (journal.Claim, error) {
	a.tried.Add(1)
	if a.away.Load() {
		return journal.Claim{}, errors.New("the database is away")
	}
	return a.Journal.Claim(ctx, ref)
}

func (a *absent) Append(e *journal.Entry) {
	if e.Ref == engine.EventRef(eventNo) {
		a.decided.Add(int64(len(e.Facts)))
	}
	a.Journal.Append(e)
}

// An order's time comes while its event can't be loaded. It expires when the database
// is back, without a word to the event from anybody.
func TestATimerSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 2000, 1)
	untilIdle(t, n)
	ask(t, n, engine.EventRef(eventNo), place(1, 1))
	stop(t, n, j)

	var ahead atomic.Int64
	ahead.Store(int64(20 * time.Minute)) // past the order's
	a := &absent{}
	a.away.Store(true)
	n, j = w.node(t, func(c *cluster.Config) {
		a.Journal, c.Journal = c.Journal, a
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	defer stop(t, n, j)
	require.Eventually(t, func() bool { return a.tried.Load() > 0 && n.Actors() == 0 }, 5*time.Second, time.Millisecond)
	ahead.Add(int64(10 * time.Second))
	a.away.Store(false)
	// Nobody is asked, not even the ticket type: it would ask the event.
	require.Eventually(t, func() bool { return a.decided.Load() > 0 }, 10*time.Second, time.Millisecond)
}

package publicfacts_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
)

func TestID(t *testing.T) {
	t.Parallel()
	id := publicfacts.ID(1, 2, "order.completed", 0)
	require.Equal(t, id, publicfacts.ID(1, 2, "order.completed", 0))
	require.Regexp(t, regexp.MustCompile(`^evt_[0-9a-z]{26}$`), id)
	seen := map[string]bool{}
	for _, other := range []string{
		id, publicfacts.ID(2, 2, "order.completed", 0), publicfacts.ID(1, 3, "order.completed", 0), publicfacts.ID(1, 2, "order.created", 0), publicfacts.ID(1, 2, "order.completed", 1),
	} {
		require.False(t, seen[other])
		seen[other] = true
	}
}

// TestTells makes sure that facts are published as they left things, even if the read model is
// ahead.
func TestTells(t *testing.T) {
	t.Parallel()
	w := newWorld(t, persisttest.Migrated(t))
	ref := engine.EventRef(1)
	w.write(ref, created(1), orderOf(1, 1), &order.PaymentBegun{ID: orderID(1, 1), Attempt: order.Attempt{Reference: "a", At: 5}})
	w.write(engine.InventoryRef(1, 4), &inventory.Created{Details: &inventory.Details{Name: "GA"}, At: 2})
	w.write(ref, complete(1, 1, 1), orderOf(1, 2), &order.Ended{ID: orderID(1, 2), Status: order.StatusExpired, At: 7})
	w.write(ref, &admission.CheckedIn{Ticket: 1, At: 8, Gate: "North"}, &admission.CheckInDenied{Ticket: 1, At: 9}, &admission.CheckInDenied{Ticket: 99, At: 9})
	w.model.Start(w.journal)
	var sunk []publicfacts.Fact
	s := publicfacts.New(w.pool, journal.NewReader(w.pool), vault{}, teller{}, func(_ context.Context, _ pgx.Tx, facts []publicfacts.Fact) error {
		sunk = append(sunk, facts...)
		return nil
	})
	f := w.follow(s)
	w.offer = f.Offer
	f.Start(w.journal)
	w.write(ref, &event.Moved{From: "draft", To: "published", At: 10})
	w.passed(f)
	require.Equal(t, []row{
		{"*event.Created", 1, `{"event":"published","title":"Event 1"}`},
		{"*order.Created", 2, `{"email":"1@example.org","event":"published","order":"pending","title":"Event 1"}`},
		{"*order.Completed", 4, `{"email":"1@example.org","event":"published","order":"completed","title":"Event 1"}`},
		{"*order.Completed", 4, `{"email":"1@example.org","event":"published","order":"completed","title":"Event 1"}`},
		{"*order.Created", 5, `{"email":"2@example.org","event":"published","order":"pending","title":"Event 1"}`},
		{"*order.Ended", 6, `{"email":"2@example.org","event":"published","order":"expired","title":"Event 1"}`},
		{"*admission.CheckedIn", 7, `{"email":"1@example.org","event":"published","gate":"North","title":"Event 1"}`},
		{"*admission.CheckInDenied", 8, `{"event":"published","known":true,"title":"Event 1"}`},
		{"*admission.CheckInDenied", 9, `{"event":"published","known":false,"title":"Event 1"}`},
		{"*event.Moved", 10, `{"event":"published","title":"Event 1"}`},
	}, w.told(s, ref))
	require.Equal(t, []row{{"*inventory.Created", 1, `{"event":"published","title":"Event 1","type":"GA"}`}}, w.told(s, engine.InventoryRef(1, 4)))
	require.Len(t, sunk, 11)
	ids := map[string]bool{}
	for i, fact := range sunk {
		ids[fact.ID] = true
		if i > 0 {
			require.Greater(t, fact.Position, sunk[i-1].Position)
		}
	}
	require.Len(t, ids, 11)
}

// TestRemoved publishes facts about drafts that are gone by then.
func TestRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, persisttest.Migrated(t))
	ref := engine.EventRef(1)
	later := details(1)
	later.Title = "Renamed"
	w.write(ref, created(1), &event.Moved{From: "draft", To: "published", At: 2}, orderOf(1, 1))
	w.write(ref, &order.Ended{ID: orderID(1, 1), Status: order.StatusCancelled, At: 3}, &event.Updated{Details: later, At: 4})
	w.write(engine.InventoryRef(1, 4), &inventory.Created{Details: &inventory.Details{Name: "GA"}, At: 2})
	w.write(ref, &event.Moved{From: "published", To: "draft", At: 5}, &event.Removed{At: 6})
	w.model.Start(w.journal)
	s := publicfacts.New(w.pool, journal.NewReader(w.pool), vault{}, teller{})
	f := w.follow(s)
	w.offer = f.Offer
	f.Start(w.journal)
	w.write(engine.EventRef(2), created(2))
	w.passed(f)
	rows := w.told(s, ref)
	require.Len(t, rows, 6)
	for _, r := range rows {
		require.Contains(t, r.Data, `"event":"draft"`)
		require.Contains(t, r.Data, `"title":"Renamed"`)
	}
	require.Len(t, w.told(s, engine.InventoryRef(1, 4)), 1)
}

// TestWaitsForTheReadModel holds the read model up and makes sure that Apply waits.
func TestWaitsForTheReadModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, persisttest.Migrated(t))
	s := publicfacts.New(w.pool, journal.NewReader(w.pool), vault{}, teller{})
	applying := make(chan struct{}, 1000)
	f := w.follow(s, func(c *follower.Config) {
		c.Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			applying <- struct{}{}
			return s.Apply(ctx, tx, batches)
		}
	})
	w.offer = f.Offer
	f.Start(w.journal)
	w.write(engine.EventRef(1), created(1), orderOf(1, 1))
	<-applying
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, f.Passed(ctx), context.DeadlineExceeded)
	require.Empty(t, w.told(s, engine.EventRef(1)))
	w.model.Start(w.journal)
	w.passed(f)
	require.Len(t, w.told(s, engine.EventRef(1)), 2)
	select {
	case err := <-f.Failed():
		require.NoError(t, err)
	default:
	}
}

// TestToldOnce cuts connections within transactions and replaces the follower, as kill -9 does. No
// fact is published twice or left out, and neither is a sink's effect.
func TestToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, persisttest.Migrated(t))
	_, err := w.pool.Exec(t.Context(), `CREATE TABLE effects (id text PRIMARY KEY)`)
	require.NoError(t, err)
	s := publicfacts.New(w.pool, journal.NewReader(w.pool), vault{}, teller{}, func(ctx context.Context, tx pgx.Tx, facts []publicfacts.Fact) error {
		for _, f := range facts {
			if _, err := tx.Exec(ctx, `INSERT INTO effects VALUES ($1)`, f.ID); err != nil {
				return err
			}
		}
		return nil
	})
	var mu sync.Mutex
	calls, cuts := 0, 0
	apply := func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if err := s.Apply(ctx, tx, batches); err != nil || calls%3 != 0 {
			return err
		}
		cuts++
		if calls%2 == 0 { // from outside, so that the commit meets a dead connection
			_, err := w.pool.Exec(ctx, `SELECT pg_terminate_backend($1)`, tx.Conn().PgConn().PID())
			return err
		}
		_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
		return err
	}
	newFollower := func() *follower.Follower {
		return w.follow(s, func(c *follower.Config) { c.Apply, c.MaxBatch = apply, 20 })
	}
	var current *follower.Follower
	w.offer = func(b *journal.Batch) {
		mu.Lock()
		f := current
		mu.Unlock()
		f.Offer(b)
	}
	current = newFollower()
	w.model.Start(w.journal)
	current.Start(w.journal)
	const events, lives, orders = 3, 6, 15
	for number := int64(1); number <= events; number++ {
		w.write(engine.EventRef(number), created(number))
	}
	for life := range lives {
		var last []settled
		for n := range orders {
			for number := int64(1); number <= events; number++ {
				k := life*orders + n + 1
				last = append(last, w.append(engine.EventRef(number), orderOf(number, k), complete(number, k, uint32(k))))
			}
		}
		for _, done := range last {
			require.NoError(t, <-done)
		}
		next := newFollower()
		mu.Lock()
		old := current
		current = next
		mu.Unlock()
		kill(old)
		next.Start(w.journal)
	}
	w.write(engine.EventRef(1), &admission.CheckInDenied{})
	w.passed(current)
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, cuts, 3)
	for number := int64(1); number <= events; number++ {
		want := []string{"*event.Created 1"}
		for k := range lives * orders {
			seq := 2 * (k + 1)
			want = append(want, fmt.Sprintf("*order.Created %d", seq), fmt.Sprintf("*order.Completed %d", seq+1), fmt.Sprintf("*order.Completed %d", seq+1))
		}
		if number == 1 {
			want = append(want, fmt.Sprintf("*admission.CheckInDenied %d", 2*lives*orders+2))
		}
		var got []string
		for _, r := range w.told(s, engine.EventRef(number)) {
			got = append(got, fmt.Sprintf("%s %d", r.Type, r.Seq))
		}
		require.Equal(t, want, got)
	}
	var facts, effects, common int
	const compare = `SELECT (SELECT count(*) FROM facts), (SELECT count(*) FROM effects), (SELECT count(*) FROM facts JOIN effects USING (id))`
	require.NoError(t, w.pool.QueryRow(t.Context(), compare).Scan(&facts, &effects, &common))
	require.Equal(t, events+3*events*lives*orders+1, facts)
	require.Equal(t, facts, effects)
	require.Equal(t, facts, common)
}

// brokenVault panics when it seals the facts of one event.
type brokenVault struct{ vault }

func (v brokenVault) Seal(label string, context, text []byte) []byte {
	if strings.Contains(string(text), "Event 13") {
		panic("no key")
	}
	return v.vault.Seal(label, context, text)
}

// TestPanicWhileInserting makes the sealing of a fact panic, which happens while rows are made for
// COPY. That fact is set aside, and the others are published.
func TestPanicWhileInserting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, persisttest.Migrated(t))
	s := publicfacts.New(w.pool, journal.NewReader(w.pool), brokenVault{}, teller{})
	f := w.follow(s, func(c *follower.Config) {
		d := follower.NewDigester(c.Name, c.Log, s.Apply, nil)
		c.Apply, c.Digesters = d.Apply, []*follower.Digester{d}
	})
	w.model.Start(w.journal)
	w.offer = f.Offer
	for _, number := range []int64{12, 13, 14} {
		w.write(engine.EventRef(number), created(number))
	}
	f.Start(w.journal)
	w.passed(f)
	require.Len(t, w.told(s, engine.EventRef(12)), 1)
	require.Empty(t, w.told(s, engine.EventRef(13)))
	require.Len(t, w.told(s, engine.EventRef(14)), 1)
	counts, err := follower.CountAsides(t.Context(), w.pool)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{publicfacts.Follower: 1}, counts)
}

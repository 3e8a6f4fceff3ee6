package retention_test

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/audit"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/retention"
	"boxoffice/persistence/snapshot"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// world is a journal whose clock the test sets, with one actor at a time.
type world struct {
	t     *testing.T
	home  *pgxpool.Pool
	pool  *pgxpool.Pool // of the journal
	j     *journal.Postgres
	now   atomic.Int64 // unix seconds
	saved *snapshot.Store
}

var first = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	pool := persisttest.Migrated(t)
	return openWorld(t, pool, pool)
}

func openWorld(t *testing.T, home, pool *pgxpool.Pool) *world {
	w := &world{t: t, home: home, pool: pool}
	w.now.Store(first.Unix())
	w.saved = snapshot.New(w.pool)
	var err error
	w.j, err = journal.Open(t.Context(), journal.Config{
		Pool: w.pool, Node: "node", Lanes: 1, AllowUnsafe: true, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(w.now.Load(), 0) },
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(t, w.j.Stop(ctx))
	})
	return w
}

type settled chan error

func (s settled) Settled(err error) { s <- err }

// actor is an event to which the test adds facts.
type actor struct {
	*world
	ref   engine.Ref
	claim journal.Claim
	state engine.State
	seq   int64
}

func (w *world) actor(number int64) *actor {
	a := &actor{world: w, ref: engine.EventRef(number)}
	a.state = event.New(a.ref)
	var err error
	a.claim, err = w.j.Claim(w.t.Context(), a.ref)
	require.NoError(w.t, err)
	a.tell(&event.Created{Details: &event.Details{Title: "Show"}, At: 1})
	return a
}

func (a *actor) tell(facts ...engine.Fact) {
	a.t.Helper()
	e := &journal.Entry{Ref: a.ref, Claim: a.claim, First: a.seq + 1, Facts: facts, Owner: make(settled, 1)}
	for _, f := range facts {
		var err error
		e.Bytes, err = codec.AppendFact(e.Bytes, f)
		require.NoError(a.t, err)
		a.state.Apply(f)
		a.seq++
	}
	a.j.Append(e)
	require.NoError(a.t, <-e.Owner.(settled))
}

func (a *actor) change(n int64) {
	a.t.Helper()
	a.tell(&event.Updated{Details: &event.Details{Title: "Show"}, At: n})
}

func (a *actor) save() {
	a.t.Helper()
	require.NoError(a.t, a.saved.Save(a.t.Context(), a.claim.Stream, a.seq, a.claim.Epoch, func(out io.Writer) error {
		return codec.Write(out, a.state.Freeze(), func() error { return nil })
	}))
}

// indexed waits until the spans cover all facts.
func (w *world) indexed() {
	w.t.Helper()
	began := time.Now()
	require.Eventually(w.t, func() bool { return w.j.Unindexed() < time.Since(began) }, time.Minute, 10*time.Millisecond)
}

func (w *world) follow(name string) {
	w.t.Helper()
	rows, _ := w.pool.Query(w.t.Context(), `SELECT writer, max(batch) FROM journal GROUP BY writer`) // ForEachRow returns its error
	var writer int32
	var batch int64
	_, err := pgx.ForEachRow(rows, []any{&writer, &batch}, func() error {
		_, err := w.home.Exec(w.t.Context(), `INSERT INTO followers (name, writer, batch) VALUES ($1, $2, $3)
ON CONFLICT (name, writer) DO UPDATE SET batch = excluded.batch`, name, writer, batch)
		return err
	})
	require.NoError(w.t, err)
}

func (w *world) days() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT count(DISTINCT day) FROM journal`).Scan(&n))
	return n
}

func (w *world) sweep() error {
	k := retention.New(w.home, w.pool, 24*time.Hour, slog.New(slog.DiscardHandler), "readmodel")
	return k.Sweep(w.t.Context(), first.Add(10*24*time.Hour))
}

func (w *world) auditClean() {
	w.t.Helper()
	r, err := audit.Run(w.t.Context(), journal.NewReader(w.pool))
	require.NoError(w.t, err)
	require.Empty(w.t, r.Findings)
}

// TestSweep makes sure that a day is dropped when nothing needs it any more, and not before.
func TestSweep(t *testing.T) {
	t.Parallel()
	t.Run("at home", func(t *testing.T) {
		t.Parallel()
		sweepsInTime(t, newWorld(t))
	})
	t.Run("apart", func(t *testing.T) {
		t.Parallel()
		home, pool := persisttest.Apart(t)
		sweepsInTime(t, openWorld(t, home, pool))
	})
}

func sweepsInTime(t *testing.T, w *world) {
	t.Helper()
	idle, busy := w.actor(1), w.actor(2)
	idle.save()
	busy.save()
	busy.change(2)
	w.now.Add(24 * 3600)
	busy.change(3)
	w.indexed()
	held := func(why, by string) {
		t.Helper()
		var h *retention.Held
		require.ErrorAs(t, w.sweep(), &h)
		require.Equal(t, retention.Held{Why: why, By: by}, *h)
		require.Equal(t, 2, w.days())
		w.auditClean()
	}
	held("a follower has not passed the day", "readmodel")
	w.follow("readmodel")
	held("a stream has no snapshot of the day's facts", "event/2/2")
	busy.save()
	var writer int32
	require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT writer FROM journal WHERE batch = 1`).Scan(&writer))
	_, err := w.home.Exec(t.Context(), `INSERT INTO set_aside (follower, stream_id, seq, last_seq, writer, batch, aggregate, type, error)
VALUES ('facts', 1, 1, 1, $1, 1, 'event/1/1', 'x', 'x')`, writer)
	require.NoError(t, err)
	held("a fact of the day is set aside", "facts event/1/1")
	_, err = w.home.Exec(t.Context(), `UPDATE set_aside SET done_at = now()`)
	require.NoError(t, err)
	require.NoError(t, w.sweep())
	require.Zero(t, w.days(), "both days are old")
	w.auditClean()

	// The actor that was idle continues from its floor, and its snapshots still load as what they
	// are.
	for _, a := range []*actor{idle, busy} {
		v, _, err := w.saved.Load(t.Context(), a.claim.Stream, snapshot.Latest)
		require.NoError(t, err)
		require.Equal(t, snapshot.Version{Epoch: a.claim.Epoch, Seq: a.seq, Founded: true}, v)
		a.change(4)
		a.save()
		a.change(5)
		a.save()
		a.change(6)
		a.save()
	}
	w.indexed()
	w.auditClean()
	s, err := retention.Stand(t.Context(), w.home, w.pool)
	require.NoError(t, err)
	require.Contains(t, s.Held, "a follower")
}

// TestSweepCutOff makes sure that a sweep that is cut off anywhere, while actors go on, leaves
// streams that can be loaded.
func TestSweepCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var actors []*actor
	for n := range int64(20) {
		actors = append(actors, w.actor(n+1))
	}
	for round := range int64(16) {
		for i, a := range actors {
			if a.change(round); (round+int64(i))%3 == 0 {
				a.save()
			}
		}
		if round%4 == 3 {
			w.now.Add(24 * 3600)
		}
		w.indexed()
		w.follow("readmodel")
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(round)*time.Millisecond)
		k := retention.New(w.home, w.pool, 24*time.Hour, slog.New(slog.DiscardHandler), "readmodel")
		_ = k.Sweep(ctx, time.Unix(w.now.Load(), 0)) // the sweep is cut off
		cancel()
		w.auditClean()
	}
	for _, a := range actors {
		a.save()
	}
	require.NoError(t, w.sweep())
	require.LessOrEqual(t, w.days(), 2)
	w.auditClean()
}

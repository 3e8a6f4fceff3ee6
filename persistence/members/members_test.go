package members_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

const (
	within = 30 * time.Second // what a busy machine may take for anything
	beat   = 50 * time.Millisecond
	// A lease that is longer than a busy machine stalls a test in which no node may die.
	longLease = 5 * time.Second
)

// node is a member under test.
type node struct {
	*members.Lease
	t     *testing.T
	id    string
	lists chan []members.Member // lists that it was told
	beats atomic.Int64
}

// join makes a node a member until the test ends.
func join(t *testing.T, pool *pgxpool.Pool, name string, changes ...func(*members.Config)) *node {
	t.Helper()
	n := &node{t: t, id: members.NewID(name), lists: make(chan []members.Member, 1000)}
	cfg := members.Config{
		Conn: pool.Config().ConnConfig, Log: slog.New(slog.DiscardHandler), Beat: beat, Lease: longLease,
		Self:    members.Member{ID: n.id, Name: name, Link: name + ":1", HTTP: name + ":2"},
		Changed: func(list []members.Member) { n.lists <- list },
		Info: func() []byte {
			n.beats.Add(1)
			return []byte(`{"version": "test"}`)
		},
	}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	n.Lease, err = members.Join(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { n.stop() })
	return n
}

// stop may be called twice.
func (n *node) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	require.NoError(n.t, n.Stop(ctx))
}

// sees waits until the node is told of exactly these members.
func (n *node) sees(want ...*node) []members.Member {
	n.t.Helper()
	ids := make([]string, len(want))
	for i, w := range want {
		ids[i] = w.id
	}
	slices.Sort(ids)
	return n.told(func(list []members.Member) bool {
		return slices.EqualFunc(list, ids, func(m members.Member, id string) bool { return m.ID == id })
	})
}

func (n *node) told(enough func([]members.Member) bool) []members.Member {
	n.t.Helper()
	var last []members.Member
	for late := time.After(within); ; {
		select {
		case last = <-n.lists:
			if enough(last) {
				return last
			}
		case <-late:
			require.FailNow(n.t, "not told so", "last: %v", last)
		}
	}
}

// beatsOn waits until the node has beaten some more.
func (n *node) beatsOn() {
	n.t.Helper()
	from := n.beats.Load()
	require.Eventually(n.t, func() bool { return n.beats.Load() > from+5 }, within, time.Millisecond)
}

// isLost waits until the node hears that it has been taken for dead.
func (n *node) isLost() {
	n.t.Helper()
	select {
	case err := <-n.Lost():
		require.ErrorIs(n.t, err, members.ErrLost)
	case <-time.After(within):
		require.FailNow(n.t, "not lost")
	}
}

// lives fails the test if the node was told that it is dead.
func (n *node) lives() {
	n.t.Helper()
	select {
	case err := <-n.Lost():
		require.NoError(n.t, err)
	default:
		require.NoError(n.t, n.Fresh())
	}
}

func TestMembersSeeEachOther(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	a := join(t, pool, "a")
	list := a.sees(a)
	require.Equal(t, members.Member{ID: a.id, Name: "a", Link: "a:1", HTTP: "a:2"}, list[0])
	require.True(t, strings.HasPrefix(a.id, "a#"), a.id)
	b := join(t, pool, "b")
	b.sees(a, b)
	a.sees(a, b)
	require.NoError(t, a.Fresh())

	var version string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT info->>'version' FROM nodes WHERE id = $1`, b.id).Scan(&version))
	require.Equal(t, "test", version)

	b.Leave()
	list = a.told(func(list []members.Member) bool { return list[len(list)-1].Leaving })
	require.Equal(t, []string{a.id, b.id}, []string{list[0].ID, list[1].ID}, "one that leaves is still there")
	require.False(t, list[0].Leaving)
	b.stop()
	a.sees(a)
	a.lives()
}

// TestNewsDoesNotWaitForABeat makes sure that changes of the table are told by NOTIFY, so that
// nobody waits for a beat.
func TestNewsDoesNotWaitForABeat(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	seldom := func(c *members.Config) { c.Beat, c.Lease = time.Hour, 3*time.Hour }
	a := join(t, pool, "a", seldom)
	b := join(t, pool, "b", seldom)
	a.sees(a, b)
	b.Leave()
	a.told(func(list []members.Member) bool { return list[1].Leaving })
	b.stop()
	a.sees(a)
}

// TestAStalledNodeIsBuried makes sure that a node which stalls is buried after the lease: its
// journal can't write any more, and it hears of it when it goes on.
func TestAStalledNodeIsBuried(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	const lease = 500 * time.Millisecond
	a := join(t, pool, "a", func(c *members.Config) { c.Lease = lease })
	stall := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(stall) })
	var stalled atomic.Bool
	b := join(t, pool, "b", func(c *members.Config) {
		c.Lease = lease
		c.Info = func() []byte {
			if stalled.Load() {
				<-stall
			}
			return []byte("{}")
		}
	})
	t.Cleanup(goOn)
	a.sees(a, b)
	j := openJournal(t, pool, b.id)
	scribe := persisttest.NewScribe(t, j, engine.EventRef(1))
	require.NoError(t, scribe.Append(1).Wait(t))

	stalled.Store(true)
	a.sees(a)
	require.Error(t, b.Fresh(), "it knows by its own clock")
	require.ErrorIs(t, scribe.Append(1).Wait(t), journal.ErrFenced)
	select {
	case err := <-j.Failed():
		require.ErrorIs(t, err, journal.ErrWriterClosed)
	case <-time.After(within):
		require.FailNow(t, "the journal goes on")
	}
	goOn()
	b.isLost()
	a.lives()
}

func openJournal(t *testing.T, pool *pgxpool.Pool, id string) *journal.Postgres {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: id, Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Lanes: 1})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	})
	return j
}

// TestTheSameNameJoinsAgain makes sure that a node which joins again under its name replaces its
// earlier lifetime at once, long before that one's lease is over.
func TestTheSameNameJoinsAgain(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	watcher := join(t, pool, "watcher")
	old := join(t, pool, "a")
	watcher.sees(watcher, old)
	j := openJournal(t, pool, old.id)
	scribe := persisttest.NewScribe(t, j, engine.EventRef(1))

	again := join(t, pool, "a")
	require.NotEqual(t, old.id, again.id)
	again.sees(watcher, again)
	watcher.sees(watcher, again)
	require.ErrorIs(t, scribe.Append(1).Wait(t), journal.ErrFenced)
	old.isLost()
	again.lives()
}

// line is a connection to the database that the test can cut.
type line struct {
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (l *line) config(c *pgx.ConnConfig) *pgx.ConnConfig {
	c = c.Copy()
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.down {
			return nil, net.ErrClosed
		}
		conn, err := dial(ctx, network, addr)
		l.conns = append(l.conns, conn)
		return conn, err
	}
	return c
}

func (l *line) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
	for _, c := range l.conns {
		if c != nil {
			_ = c.Close() // perhaps closed before
		}
	}
	l.conns = nil
}

// TestAnOutageBuriesNobody makes sure that an outage of the database buries nobody, however long it
// is, and that /readyz shows it. The same holds if all connections are cut.
func TestAnOutageBuriesNobody(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	const lease = 2 * time.Second
	var l line
	over := func(c *members.Config) { c.Conn, c.Lease = l.config(c.Conn), lease }
	a, b := join(t, pool, "a", over), join(t, pool, "b", over)
	a.sees(a, b)
	b.sees(a, b)

	l.cut(true)
	require.Eventually(t, func() bool { return a.Fresh() != nil && b.Fresh() != nil }, within, time.Millisecond)
	<-time.After(lease) // one more lease
	l.cut(false)
	require.Eventually(t, func() bool { return a.Fresh() == nil && b.Fresh() == nil }, within, time.Millisecond)

	for range 3 {
		l.cut(false)
		a.beatsOn()
		b.beatsOn()
	}
	a.lives()
	b.lives()
	require.Empty(t, a.lists, "nobody was away")
	var there int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM nodes WHERE id IN ($1, $2)`, a.id, b.id).Scan(&there))
	require.Equal(t, 2, there)
}

// TestTheClockOfTheDatabaseJumps makes sure that the database's clock may jump, because no
// statement compares times. The test has a now() of its own, which is found before the server's.
func TestTheClockOfTheDatabaseJumps(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	for _, sql := range []string{
		`CREATE TABLE clock (jump interval NOT NULL)`,
		`INSERT INTO clock VALUES ('0')`,
		`CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT pg_catalog.now() + jump FROM clock'`,
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	jumpy := func(c *members.Config) {
		c.Conn = c.Conn.Copy()
		c.Conn.RuntimeParams["search_path"] = "public, pg_catalog"
	}
	a, b := join(t, pool, "a", jumpy), join(t, pool, "b", jumpy)
	a.sees(a, b)
	b.sees(a, b)
	for _, jump := range []string{"1 day", "-1 day", "10 years", "0"} {
		_, err := pool.Exec(t.Context(), `UPDATE clock SET jump = $1::text::interval`, jump)
		require.NoError(t, err)
		a.beatsOn()
		b.beatsOn()
		var jumped bool
		require.NoError(t, pool.QueryRow(t.Context(),
			`SELECT bool_and(seen BETWEEN now() + jump - interval '1 hour' AND now() + jump + interval '1 hour') FROM nodes, clock`).Scan(&jumped))
		require.True(t, jumped, "the test's clock is not looked at")
	}
	a.lives()
	b.lives()
	require.Empty(t, a.lists)
}

// TestBuriedApart makes sure that the writers of a dead member are closed in a journal that is in
// another database, however often that is interrupted, and that it is fenced before that by claims.
func TestBuriedApart(t *testing.T) {
	t.Parallel()
	home, entries := persisttest.Apart(t)
	log := slog.New(slog.DiscardHandler)
	dead := members.Member{ID: members.NewID("a"), Name: "a", Link: "a:1", HTTP: "a:2"}
	require.NoError(t, members.Add(t.Context(), home, dead, true, log))
	j := openJournal(t, entries, dead.ID)
	moved, stays := persisttest.NewScribe(t, j, engine.EventRef(1)), persisttest.NewScribe(t, j, engine.EventRef(2))
	require.NoError(t, moved.Append(1).Wait(t))
	require.NoError(t, stays.Append(1).Wait(t))
	next := dead
	next.ID = members.NewID("a")
	require.NoError(t, members.Add(t.Context(), home, next, true, log), "its next lifetime buries it")
	heir := openJournal(t, entries, next.ID)
	persisttest.NewScribe(t, heir, engine.EventRef(1))
	require.ErrorIs(t, moved.Append(1).Wait(t), journal.ErrFenced, "the claim fences what the writer, still open, sends")
	require.NoError(t, stays.Append(1).Wait(t), "nobody has claimed this one")

	away, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, members.CloseBuried(away, home, []*pgxpool.Pool{entries}))
	gone, err := pgxpool.New(t.Context(), "host=/nowhere user=none")
	require.NoError(t, err)
	t.Cleanup(gone.Close)
	require.Error(t, members.CloseBuried(t.Context(), home, []*pgxpool.Pool{gone}), "the journal is away")
	for range 2 {
		require.NoError(t, members.CloseBuried(t.Context(), home, []*pgxpool.Pool{entries}))
		require.Error(t, stays.Append(1).Wait(t))
	}
	writers, err := j.Writers(t.Context())
	require.NoError(t, err)
	for _, w := range writers {
		require.Equal(t, w.Node == dead.ID, w.Closed, w.Node)
	}
	var left int
	require.NoError(t, home.QueryRow(t.Context(), `SELECT count(*) FROM burials`).Scan(&left))
	require.Zero(t, left)
}

// TestBuriedWhereTheShardIs makes sure that a burial does not end where a shard has been: the dead member may have
// writers in its new place.
func TestBuriedWhereTheShardIs(t *testing.T) {
	t.Parallel()
	home, divided := persisttest.Sharded(t, 2)
	shards := persisttest.PoolsOf(divided)
	dead := members.NewID("a")
	_, err := home.Exec(t.Context(), `INSERT INTO burials (node) VALUES ($1)`, dead)
	require.NoError(t, err)
	require.ErrorContains(t, members.CloseBuried(t.Context(), home, shards[:1]), "2 shards", "a database is not looked at")
	_, err = home.Exec(t.Context(), `UPDATE shards SET version = version + 2 WHERE shard = 1`)
	require.NoError(t, err)
	require.ErrorContains(t, members.CloseBuried(t.Context(), home, shards), "in another place")
	var burials int
	require.NoError(t, home.QueryRow(t.Context(), `SELECT count(*) FROM burials`).Scan(&burials))
	require.Equal(t, 1, burials)
	_, err = shards[1].Exec(t.Context(), `UPDATE journal_mark SET version = version + 2`)
	require.NoError(t, err)
	require.NoError(t, members.CloseBuried(t.Context(), home, shards))
	require.NoError(t, home.QueryRow(t.Context(), `SELECT count(*) FROM burials`).Scan(&burials))
	require.Zero(t, burials)
}

// TestBuriedInAllShards makes sure that a burial ends only when the dead member's writers are closed in
// every database of the journal, also if the first attempt found one of them away.
func TestBuriedInAllShards(t *testing.T) {
	t.Parallel()
	home, divided := persisttest.Sharded(t, 2)
	shards := persisttest.PoolsOf(divided)
	dead := members.NewID("a")
	_, err := home.Exec(t.Context(), `INSERT INTO burials (node) VALUES ($1)`, dead)
	require.NoError(t, err)
	for _, shard := range shards {
		_, err := shard.Exec(t.Context(), `INSERT INTO writers (node) VALUES ($1), ('b#1')`, dead)
		require.NoError(t, err)
	}
	state := func() string {
		var burials int
		require.NoError(t, home.QueryRow(t.Context(), `SELECT count(*) FROM burials`).Scan(&burials))
		var open [2]int
		for i, shard := range shards {
			require.NoError(t, shard.QueryRow(t.Context(), `SELECT count(*) FROM writers WHERE closed_at IS NULL`).Scan(&open[i]))
		}
		return fmt.Sprint(burials, open)
	}
	gone, err := pgxpool.New(t.Context(), "host=/nowhere user=none")
	require.NoError(t, err)
	t.Cleanup(gone.Close)
	require.Error(t, members.CloseBuried(t.Context(), home, []*pgxpool.Pool{gone, shards[1]}))
	require.Equal(t, "1 [2 1]", state(), "what can be closed is closed, and the member is not forgotten")
	require.NoError(t, members.CloseBuried(t.Context(), home, shards))
	require.Equal(t, "0 [1 1]", state())
}

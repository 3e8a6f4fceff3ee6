// Package members keeps the list of a cluster's nodes in Postgres. A cluster uses it unless the configuration
// chooses etcd or a fixed list, because it needs no further component (docs/adr/0008).
//
// A live node raises its beat, a number in its row. Each node watches the others' beats with its own monotonic
// clock. If a beat has stood still for a lease while the watching node's own beats went through, the watcher
// deletes that node's row and closes the dead node's writers, which fences everything that the dead node may
// still send. The list is in home, the database that has everything but the journal. If the journal is in another
// database, CloseBuried closes the writers.
//
// No two clocks are compared, so a clock that jumps kills no node. An outage of the database kills none either,
// because every node begins to watch again after it. A node whose row is gone was taken for dead and must end:
// Lost gets an error.
//
// Join starts one goroutine with a connection of its own. Stop ends the goroutine and deletes the row.
package members

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Member is one lifetime of a node.
type Member struct {
	ID      string `json:"id"`      // id of this lifetime, never used again
	Name    string `json:"name"`    // name of the node, the same after a restart
	Link    string `json:"link"`    // host:port where other nodes reach it
	HTTP    string `json:"http"`    // host:port where it serves the API
	Leaving bool   `json:"leaving"` // whether it is handing its actors over and takes none
}

// NewID returns a name for one lifetime of a node. Its random end keeps it from ever being used
// again.
func NewID(node string) string { return node + "#" + strings.ToLower(rand.Text()[:8]) }

// ErrLost says that other nodes have taken this node for dead.
var ErrLost = errors.New("members: taken for dead by another node")

// Config says how a node keeps its lease. Zero times stand for the defaults given here.
type Config struct {
	Conn *pgx.ConnConfig
	Self Member
	Log  *slog.Logger
	// Apart says that the journal is in another database: see Bury.
	Apart bool
	// Changed is called with every new list, sorted by ID and including this node. It must not
	// block.
	Changed func([]Member)
	// Info returns what the node reports about itself with each beat, as JSON.
	Info func() []byte

	Beat  time.Duration // time between beats; default 400 ms
	Lease time.Duration // time without a new beat after which a node counts as dead; default 1.5 s
}

// Lease is a node's membership, from Join to Stop. The fields from watch on belong to its
// goroutine.
type Lease struct {
	cfg    Config
	cancel context.CancelFunc
	done   chan struct{}
	leave  chan struct{} // asks to note that the node is leaving
	lost   chan error

	beaten atomic.Int64 // when the last beat went through, unix nanoseconds

	watch   Watch
	last    time.Time // time of the last beat that went through
	told    []Member
	leaving bool
}

// channel returns the name of the channel on which members notify each other. Each schema has its
// own, so that several clusters can share a database.
const channel = `SELECT 'boxoffice_members_' || md5(current_schema())`

// Join makes the node a member and keeps it one. Earlier lifetimes of the same name are buried.
// When Join returns, the node is on the list.
func Join(ctx context.Context, cfg Config) (*Lease, error) {
	if cfg.Beat == 0 {
		cfg.Beat = 400 * time.Millisecond
	}
	if cfg.Lease == 0 {
		cfg.Lease = 1500 * time.Millisecond
	}
	if cfg.Info == nil {
		cfg.Info = func() []byte { return []byte("{}") }
	}
	l := &Lease{cfg: cfg, done: make(chan struct{}), leave: make(chan struct{}, 1), lost: make(chan error, 1)}
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.addSelf(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	go l.run(life, conn)
	return l, nil
}

// Seen is a member as the table of nodes shows it, for people who look at the cluster.
type Seen struct {
	Member
	Joined time.Time
	Silent time.Duration // since its last beat, by the database's clock
	Info   []byte        // what it reported about itself then, JSON
}

// List returns the members, sorted by name.
func List(ctx context.Context, pool *pgxpool.Pool) ([]Seen, error) {
	const list = `
SELECT id, name, link, http, leaving, joined, extract(epoch FROM clock_timestamp() - seen)::float8, info::text
FROM nodes ORDER BY name, joined`
	rows, err := pool.Query(ctx, list)
	if err != nil {
		return nil, fmt.Errorf("members: list: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Seen, err error) {
		var silent float64
		err = row.Scan(&s.ID, &s.Name, &s.Link, &s.HTTP, &s.Leaving, &s.Joined, &silent, &s.Info)
		s.Silent = time.Duration(silent * float64(time.Second))
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("members: list: %w", err)
	}
	return all, nil
}

// Lost gets ErrLost when the node's row is gone. It gets at most one error.
func (l *Lease) Lost() <-chan error { return l.lost }

// Fresh returns an error if no beat has gone through for the time of a lease. In that case other
// nodes take this one for dead, or soon will.
func (l *Lease) Fresh() error {
	if ago := time.Since(time.Unix(0, l.beaten.Load())); ago > l.cfg.Lease {
		return fmt.Errorf("members: no beat for %s", ago.Round(time.Second))
	}
	return nil
}

// Leave marks this node as leaving on the list, so that its actors go to the other nodes. It does not wait for
// that.
func (l *Lease) Leave() {
	select {
	case l.leave <- struct{}{}:
	default:
	}
}

// Stop ends the membership for good: it stops the goroutine, deletes the node's row and notifies the other
// nodes, which would otherwise notice only after a lease.
func (l *Lease) Stop(ctx context.Context) error {
	l.cancel()
	<-l.done
	conn, err := pgx.ConnectConfig(ctx, l.cfg.Conn.Copy())
	if err != nil {
		return fmt.Errorf("members: leave: %w", err)
	}
	return errors.Join(Remove(ctx, conn, l.cfg.Self.ID), l.notifyOthers(ctx, conn), conn.Close(ctx))
}

// connect opens a connection that listens to the notifications of other members.
func (l *Lease) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, l.cfg.Conn.Copy())
	if err != nil {
		return nil, fmt.Errorf("members: connect: %w", err)
	}
	var name string
	err = conn.QueryRow(ctx, channel).Scan(&name)
	if err == nil {
		_, err = conn.Exec(ctx, "LISTEN "+pgx.Identifier{name}.Sanitize())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("members: listen: %w", err), conn.Close(ctx))
	}
	return conn, nil
}

// notifyOthers makes all other members read the list now.
func (l *Lease) notifyOthers(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT pg_notify('boxoffice_members_' || md5(current_schema()), '')`)
	return err
}

// addSelf adds the node to the table, and ends its earlier lifetimes.
func (l *Lease) addSelf(ctx context.Context, conn *pgx.Conn) error {
	if err := Add(ctx, conn, l.cfg.Self, l.cfg.Apart, l.cfg.Log); err != nil {
		return err
	}
	if err := l.raiseBeat(ctx, conn); err != nil {
		return err
	}
	return l.notifyOthers(ctx, conn)
}

// run beats until the membership ends. It replaces a connection that fails, and goes on trying as
// long as necessary.
func (l *Lease) run(ctx context.Context, conn *pgx.Conn) {
	defer close(l.done)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for {
		err := l.awaitBeat(ctx, conn)
		if err == nil {
			err = l.beatAndBury(ctx, conn)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrLost):
			l.lost <- err
			return
		case err != nil:
			l.cfg.Log.WarnContext(ctx, "no beat", slog.Any("error", err))
			_ = conn.Close(ctx)
			next, err := l.reconnect(ctx)
			if err != nil {
				return // the context has ended
			}
			conn = next
		}
	}
}

// reconnect tries to connect until that succeeds or ctx ends.
func (l *Lease) reconnect(ctx context.Context) (*pgx.Conn, error) {
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*l.cfg.Beat)
		conn, err := l.connect(attempt)
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		select {
		case <-time.After(l.cfg.Beat / 2):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// gather is how long a member that was notified waits for further notifications. If many members
// come or go at once, each member then reads the list once, and not once for each of them.
const gather = 20 * time.Millisecond

// awaitBeat waits for the next beat, for a notification of another member, or for Leave, which sets l.leaving. It waits
// a little longer for further notifications (gather). It returns an error if the connection breaks or ctx ends.
func (l *Lease) awaitBeat(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, time.Until(l.last.Add(l.cfg.Beat)))
	defer cancel()
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() { // so that Leave does not wait for the next beat
		defer close(ended)
		select {
		case <-l.leave:
			l.leaving = true
			cancel()
		case <-stop:
		}
	}()
	_, err := conn.WaitForNotification(wait)
	for deadline := time.Now().Add(gather); err == nil; { // further notifications that come within gather are answered together
		more, done := context.WithDeadline(wait, deadline)
		_, err = conn.WaitForNotification(more)
		if done(); err != nil && more.Err() != nil {
			err = nil
			break
		}
	}
	close(stop)
	<-ended
	if ctx.Err() == nil && wait.Err() != nil {
		return nil
	}
	return err
}

// beatAndBury raises the beat, reports a list that has changed, and buries members that are dead.
func (l *Lease) beatAndBury(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Lease)
	defer cancel()
	if err := l.raiseBeat(ctx, conn); err != nil {
		return err
	}
	dead := l.watch.Dead(time.Now(), l.cfg.Lease)
	delete(dead, l.cfg.Self.ID)
	if buried, err := Bury(ctx, conn, dead, l.cfg.Apart, l.cfg.Log); err != nil || buried == 0 {
		return err // if another member has buried them first, that member notifies the others
	}
	return errors.Join(l.raiseBeat(ctx, conn), l.notifyOthers(ctx, conn))
}

// raiseBeat raises the node's beat and reads the list.
func (l *Lease) raiseBeat(ctx context.Context, conn *pgx.Conn) error {
	alive, beats, err := Beat(ctx, conn, l.cfg.Self.ID, l.leaving, l.cfg.Info())
	if err != nil {
		return err
	}
	return l.takeList(ctx, conn, alive, beats)
}

// takeList takes in a list that was read after a beat that went through. It calls Changed only if the list
// differs from the last one. If this node is on it as leaving for the first time, takeList notifies the others.
func (l *Lease) takeList(ctx context.Context, conn *pgx.Conn, list []Member, beats map[string]int64) error {
	now := time.Now()
	l.last = now
	l.beaten.Store(now.UnixNano())
	l.watch.Saw(now, l.cfg.Lease, beats)
	if slices.Equal(list, l.told) {
		return nil
	}
	hurry := l.leaving && !slices.ContainsFunc(l.told, func(m Member) bool { return m.ID == l.cfg.Self.ID && m.Leaving })
	l.told = list
	l.cfg.Changed(list)
	if hurry {
		return l.notifyOthers(ctx, conn)
	}
	return nil
}

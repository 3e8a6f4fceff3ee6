package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/snapshot"
	"boxoffice/persistence/wakes"
)

// roomAt is the case of a waiting room, by the API of its actor.
type roomAt struct {
	Visitors int     `json:"visitors"`
	Joins    float64 `json:"joins_per_second"`
	Memory   float64 `json:"memory_mb"`         // megabytes of the state alone
	Node     float64 `json:"memory_node_mb"`    // megabytes by which a node's heap has grown once the last snapshot is written
	Writing  float64 `json:"memory_writing_mb"` // megabytes by which it has grown while that snapshot is written
	Snapshot float64 `json:"snapshot_ms"`       // milliseconds for which the actor stands still
	Restart  float64 `json:"restart_s"`         // seconds from a snapshot to the state
	Verify   float64 `json:"verify_s"`          // seconds in which the verifier checks the root and all places
	Place    float64 `json:"place_us"`          // microseconds in which the verifier checks one visitor's place, with the proof
}

// joiners is how many visitors wait for an answer at a time.
const joiners = 2048

// snapshotSeconds is how long the last snapshot may take.
const snapshotSeconds = 12

// room is one room under test.
type room struct {
	ref    engine.Ref
	beacon *draw.TestBeacon
	begin  time.Time
	closes time.Time
}

// newRoom makes a room that is drawn after an hour.
func newRoom() (*room, error) {
	r := &room{ref: engine.QueueRef(1), begin: time.Now().Truncate(time.Second)}
	r.closes = r.begin.Add(time.Hour)
	var err error
	r.beacon, err = draw.NewTestBeacon(bytes.Repeat([]byte{1}, 32), r.begin.Unix()-100, 3)
	return r, err
}

// open is the command that opens the room.
func (r *room) open() queue.Open {
	closes := r.closes.UnixMilli()
	return queue.Open{Settings: queue.Settings{
		Event: "evt_bench", Chain: r.beacon.Chain, Rate: 6_000, Hold: 600_000,
		Rules: draw.Rules{
			Mode: draw.ByDraw, PartyMax: 4, Proof: draw.Classes[draw.ClassAddress], RegistersFrom: r.begin.UnixMilli(), ClosesAt: closes, OpensAt: closes,
			VoidAfter: 60,
		},
	}}
}

// join is the command by which a visitor with a proven address comes.
func (r *room) join(n int) queue.Join {
	leaf := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n))) //nolint:gosec // counts
	return queue.Join{Leaf: leaf, Class: draw.ClassAddress, Person: binary.BigEndian.Uint64(leaf[8:]) | 1}
}

// measureRoom measures what a million visitors take of memory and time.
func (b *bench) measureRoom(ctx context.Context) error {
	at := &roomAt{Visitors: b.cmd.Visitors}
	b.result.Room = at
	if err := measureState(at); err != nil {
		return fmt.Errorf("room: %w", err)
	}
	say("a room of %d: %.1f MB (goal: 64 for 1,000,000); a snapshot stops it for %.1f ms, a restart reads it in %.2f s", at.Visitors, at.Memory, at.Snapshot, at.Restart)
	database, err := b.newDatabase(ctx, "room")
	if err != nil {
		return err
	}
	if err := measureJoins(ctx, database, false, at); err != nil {
		return fmt.Errorf("room: %w", err)
	}
	return nil
}

// measureState fills the state alone, without an actor around it.
func measureState(at *roomAt) error {
	r, err := newRoom()
	if err != nil {
		return err
	}
	before := heapInUse()
	s := queue.New(r.ref)
	tell := func(c engine.Command) (refused error) {
		d := s.Decide(c, r.begin)
		for _, f := range d.Facts {
			s.Apply(f)
		}
		if no, ok := d.Reply.(*engine.Refusal); ok {
			return no
		}
		return nil
	}
	if err := tell(r.open()); err != nil {
		return err
	}
	for n := range at.Visitors {
		if err := tell(r.join(n)); err != nil {
			return err
		}
	}
	at.Memory = round(float64(heapInUse()-before) / 1e6)
	start := time.Now()
	frozen := s.Freeze()
	at.Snapshot = round(time.Since(start).Seconds() * 1000)
	start = time.Now()
	if _, err := queue.Thaw(r.ref, frozen); err != nil {
		return err
	}
	at.Restart = round(time.Since(start).Seconds())
	return s.Check()
}

// heapInUse returns the bytes of what is reachable.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // less than what the machine has
}

// measureJoins lets all visitors join through the actor of a node with a journal in Postgres, draws
// their places, and verifies them. Unsafe allows a database that may forget.
func measureJoins(ctx context.Context, database string, unsafe bool, at *roomAt) (err error) {
	r, err := newRoom()
	if err != nil {
		return err
	}
	n, stop, err := startActors(ctx, database, unsafe, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := n.Ask(ctx, r.ref, r.open()); err != nil {
		return err
	}
	leaves := make([]draw.Hash, at.Visitors)
	before, start := heapInUse(), time.Now()
	if err := r.joinAll(ctx, n.Node, leaves); err != nil {
		return err
	}
	at.Joins = round(float64(at.Visitors) / time.Since(start).Seconds())
	at.Node = math.Inf(1)
	for range snapshotSeconds {
		grown := round(float64(heapInUse()-before) / 1e6)
		at.Node, at.Writing = min(at.Node, grown), max(at.Writing, grown)
		wait(ctx, time.Second)
	}
	say("joins, each durable before its answer: %.0f/s (goal: 20,000); the node's heap has grown by %.1f MB (goal: 64 for 1,000,000), and by %.1f while a snapshot is written",
		at.Joins, at.Node, at.Writing)
	n.ahead.Store(int64(time.Hour + time.Second))
	if _, err := n.Ask(ctx, r.ref, r.join(at.Visitors)); err != nil { // it comes late, and closes the list
		return err
	}
	rec, err := cluster.AskFor[queue.Record](ctx, n.Node, r.ref, queue.Get{})
	if err != nil {
		return err
	}
	signature := r.beacon.Sign(rec.Settings.Rules.Round)
	if _, err := n.Ask(ctx, r.ref, queue.Bring{Signature: signature}); err != nil {
		return err
	}
	return r.verifyAll(ctx, n.Node, at, *rec.Statement, signature, leaves)
}

// joinAll lets all visitors join, many at a time, and files their leaves by the numbers of their entries.
func (r *room) joinAll(ctx context.Context, n *cluster.Node, leaves []draw.Hash) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var visitors sync.WaitGroup
	for range joiners {
		visitors.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(leaves) && ctx.Err() == nil; i = next.Add(1) - 1 {
				join := r.join(int(i))
				p, err := cluster.AskFor[queue.Placed](ctx, n, r.ref, join)
				if err != nil {
					cancel(fmt.Errorf("join: %w", err))
					return
				}
				leaves[p.Index] = join.Leaf
			}
		})
	}
	visitors.Wait()
	return context.Cause(ctx)
}

// verifyAll computes all places from the statement and the leaves of the answers, as anybody may,
// and compares them with what the room says.
func (r *room) verifyAll(ctx context.Context, n *cluster.Node, at *roomAt, s draw.Statement, signature []byte, leaves []draw.Hash) error {
	start := time.Now()
	verified, err := draw.Verify(s, &r.beacon.Chain, signature)
	if err != nil {
		return err
	}
	places, err := verified.Places(leaves)
	if err != nil {
		return err
	}
	at.Verify = round(time.Since(start).Seconds())
	const samples = 1000
	var own time.Duration
	for i := range samples {
		index := i * len(leaves) / samples
		p, err := cluster.AskFor[queue.Placed](ctx, n, r.ref, queue.Look{Leaf: leaves[index]})
		if err != nil {
			return err
		}
		proof, err := cluster.AskFor[queue.Proof](ctx, n, r.ref, queue.Prove{Leaf: leaves[index]})
		if err != nil {
			return err
		}
		start := time.Now()
		place, err := verified.Place(leaves[index], proof.Index, proof.Hashes)
		own += time.Since(start)
		if err != nil {
			return err
		}
		if p.Place != int64(place) || place != places[index] {
			return fmt.Errorf("audit: the room gives entry %d the place %d, the verifier %d and %d", index, p.Place, place, places[index])
		}
	}
	at.Place = round(own.Seconds() * 1e6 / samples)
	say("%d entries verified, root and all places: %.2f s (goal: 10 for 1,000,000); one with its proof: %.0f us", len(leaves), at.Verify, at.Place)
	return nil
}

// actors are a node's actors without its edge, with a clock that may be set ahead.
type actors struct {
	*cluster.Node
	ahead atomic.Int64 // nanoseconds
}

// startActors starts a node's journal and actors on a new database.
func startActors(ctx context.Context, database string, unsafe bool, r *room) (*actors, func() error, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(migrate.Up(ctx, conn), conn.Close(ctx)); err != nil {
		return nil, nil, err
	}
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return nil, nil, err
	}
	n, log := new(actors), slog.New(slog.DiscardHandler)
	j, err := journal.Open(ctx, journal.Config{Pool: pool, Node: "bench", Log: log, AllowUnsafe: unsafe, Sink: func(b *journal.Batch) { n.Observe(b) }})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	n.Node = cluster.Start(cluster.Config{
		Journal: j, Snapshots: snapshot.New(pool), Wakes: wakes.New(pool), Log: log, Backlog: j.Backlog,
		Now: func() time.Time { return r.begin.Add(time.Since(r.begin) + time.Duration(n.ahead.Load())) },
	})
	return n, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		defer pool.Close()
		return errors.Join(n.Stop(ctx), j.Stop(ctx))
	}, nil
}

package readmodel_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

const within = 30 * time.Second

// start is the world's first moment: clean milliseconds, not the wall clock's.
var start = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

// world is a node without a cluster: the real actors, one command at a time, on
// the real journal, followed by the read model.
type world struct {
	t       testing.TB
	pool    *pgxpool.Pool
	journal *journal.Postgres
	follow  *follower.Follower
	stock   *readmodel.Stock
	model   *readmodel.Model
	actors  map[engine.Ref]*actor
	now     time.Time
	orders  int
}

type actor struct {
	state engine.State
	claim journal.Claim
	next  int64
}

// Settled makes an actor the owner of its entries.
func (*actor) Settled(error) {}

func newWorld(t testing.TB) *world {
	t.Helper()
	pool := persisttest.Migrated(t)
	w := &world{
		t: t, pool: pool, stock: readmodel.NewStock(1000), model: readmodel.New(pool),
		actors: make(map[engine.Ref]*actor), now: start,
	}
	w.follow = w.follower()
	j, err := journal.Open(t.Context(), journal.Config{
		Pool: pool, Node: "node", Log: slog.New(slog.DiscardHandler),
		Sink: func(b *journal.Batch) {
			w.stock.Observe(b)
			w.follow.Offer(b)
		},
	})
	require.NoError(t, err)
	w.journal = j
	w.follow.Start(j)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
		require.NoError(t, w.follow.Stop(ctx))
	})
	return w
}

func (w *world) follower() *follower.Follower {
	return follower.New(follower.Config{
		Name: readmodel.Follower, Pool: w.pool, Apply: readmodel.NewWriter().Apply, Log: slog.New(slog.DiscardHandler),
		Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	})
}

// settled waits until the read model has taken in all that the actors wrote.
func (w *world) settled() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	for _, a := range w.actors {
		b := &barrier{done: make(chan error, 1)}
		w.journal.Append(&journal.Entry{Claim: a.claim, First: a.next, Owner: b})
		require.NoError(w.t, <-b.done)
	}
	require.NoError(w.t, w.follow.Passed(ctx))
}

type barrier struct{ done chan error }

func (b *barrier) Settled(err error) { b.done <- err }

func (w *world) actor(ref engine.Ref) *actor {
	a := w.actors[ref]
	if a == nil {
		kind, err := all.Kind(ref.Kind)
		require.NoError(w.t, err)
		claim, err := w.journal.Claim(w.t.Context(), ref)
		require.NoError(w.t, err)
		a = &actor{state: kind.New(ref), claim: claim, next: 1}
		w.actors[ref] = a
		w.do(ref, engine.Wake{Epoch: claim.Epoch})
	}
	return a
}

// do has an actor decide, journals its facts, delivers what it sends, and
// returns the reply to the command, held or not.
func (w *world) do(ref engine.Ref, c engine.Command) engine.Reply {
	w.t.Helper()
	a := w.actor(ref)
	d := a.state.Decide(c, w.now)
	var facts []engine.Fact
	var bytes []byte
	var scratch codec.Scratch
	for _, f := range d.Facts {
		if f.FactType().Volatile() {
			continue
		}
		var err error
		bytes, err = codec.AppendFact(bytes, f, &scratch)
		require.NoError(w.t, err)
		facts = append(facts, f)
	}
	for _, f := range d.Facts {
		a.state.Apply(f)
	}
	if len(facts) > 0 {
		w.journal.Append(&journal.Entry{Ref: ref, Claim: a.claim, First: a.next, Facts: facts, Bytes: bytes, Owner: a})
		a.next += int64(len(facts))
	}
	reply := d.Reply
	for _, answer := range d.Answers {
		reply = answer.Reply
	}
	for _, s := range d.Sends {
		if r := w.do(s.To, s.Cmd); d.Hold != nil {
			if o, ok := r.(*event.OrderReply); ok && o.Order.ID == *d.Hold {
				reply = r
			} else if r, ok := r.(*engine.Refusal); ok {
				reply = r
			} else if inner := w.heldReply; inner != nil {
				reply = inner
			}
		}
	}
	if d.Answers != nil {
		w.heldReply = reply
	}
	require.NoError(w.t, a.state.Check())
	return reply
}

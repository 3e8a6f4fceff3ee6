package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
	"boxoffice/persistence"
	"boxoffice/persistence/persisttest"
)

// withShards gives a node the journal's databases.
func withShards(urls ...string) func(*node.Config) {
	return func(c *node.Config) { c.JournalURLs = urls }
}

// oneInEach puts free tickets on sale for an event in each of two shards.
func oneInEach(s *nodetest.Shop, quantity int) (events, types [2]string) {
	s.T.Helper()
	for events[0] == "" || events[1] == "" {
		event, ticketType := free(s, quantity)
		id, err := engine.ParseID(event)
		require.NoError(s.T, err)
		shard := engine.BucketOf(id.Event()) * 2 / engine.Buckets
		events[shard], types[shard] = event, ticketType
	}
	return events, types
}

// TestAShardedJournal makes sure that nodes whose journal is in two databases sell, start again and take
// over from one another. Open audits the journal of both at the end.
func TestAShardedJournal(t *testing.T) {
	t.Parallel()
	urls := []string{persisttest.Empty(t), persisttest.Empty(t)}
	a := nodetest.Open(t, nodetest.Clustered("a", "", withShards(urls...)))
	b := nodetest.Open(t, nodetest.Clustered("b", a.Config().DatabaseURL, withShards(urls...)))
	settles(t, a, b)
	var types []string
	for range 3 {
		_, more := oneInEach(a, 100_000)
		types = append(types, more[:]...)
	}
	sellThroughRestart(t, a, b, types)
	for _, pool := range a.JournalPools() {
		var streams int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM streams`).Scan(&streams))
		require.Greater(t, streams, 5)
	}
}

// TestADeadNodesWritersInShards makes sure that what a node has left that died without stopping is
// closed in both databases.
func TestADeadNodesWritersInShards(t *testing.T) {
	t.Parallel()
	a := nodetest.Open(t, nodetest.Clustered("a", "", withShards(persisttest.Empty(t), persisttest.Empty(t))))
	for _, pool := range a.JournalPools() {
		_, err := pool.Exec(t.Context(), `WITH w AS (INSERT INTO writers (node) VALUES ('dead#1') RETURNING writer) INSERT INTO tails (writer) SELECT writer FROM w`)
		require.NoError(t, err)
	}
	_, err := a.Pool().Exec(t.Context(), `INSERT INTO nodes (id, name, link, http) VALUES ('dead#1', 'dead', '127.0.0.1:1', '127.0.0.1:1')`)
	require.NoError(t, err)
	for _, pool := range a.JournalPools() {
		a.Becomes("0", func() string {
			var open int
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM writers WHERE node = 'dead#1' AND closed_at IS NULL`).Scan(&open))
			return fmt.Sprint(open)
		})
	}
}

// times of a shard's outage: callers are told within the first, and buy again within the second, once
// its database answers. Other tests run beside this one, so the second is ten times what `loadtest chaos` holds a
// machine of its own to.
const (
	toldWithin = time.Second
	backWithin = 30 * time.Second
)

// TestAShardIsAway takes one of two shards away in three ways, under load: it stands still, it is killed,
// and it is stopped. The events of the other one are sold as before; those of the lost one are refused
// with 503 within a second, and sold again once it answers. No order has two effects.
func TestAShardIsAway(t *testing.T) {
	t.Parallel()
	lost := persisttest.StartOwn(t, nil)
	s := nodetest.Open(t, withShards(persisttest.StartOwn(t, nil).URL(), lost.URL()))
	events, types := oneInEach(s, 100_000)
	buys := newSeries(s, types[0])
	r := startRush(t, 2, types[1:], func() string { return s.URL })
	r.atLeast(30)
	order := func() nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody(uuid.NewString()+"@example.org", types[1], 1))
	}
	refused := func() {
		t.Helper()
		requireToldInTime(t, order)
		require.NoError(t, s.Ready(), "a node that has lost one shard is ready")
		require.Equal(t, []string{"shard 1 of the journal"}, s.Lacking())
	}
	back := func(since time.Time) {
		t.Helper()
		require.Eventually(t, func() bool { return order().Status == http.StatusCreated }, time.Minute, time.Millisecond)
		took := time.Since(since)
		t.Logf("back after %s", took.Round(time.Millisecond))
		require.Less(t, took, backWithin)
		require.Empty(t, s.Lacking())
	}

	lost.Signal(syscall.SIGSTOP) // it answers nobody
	lost.Signal(syscall.SIGSTOP) // nor does what it had begun to start meanwhile
	refused()
	lost.Signal(syscall.SIGCONT)
	back(lost.AwaitAnswer())

	lost.Signal(syscall.SIGKILL) // its supervisor starts it again
	back(lost.AwaitAnswer())

	lost.Stop()
	refused()
	before := buys.count()
	require.Eventually(t, func() bool { return buys.count() > before+30 || buys.wrong.Load() != nil }, time.Minute, time.Millisecond)
	buys.check()
	require.Eventually(t, func() bool { return listed(s, events[0]) > before+30 }, time.Minute, time.Millisecond, "lists of the others go on")
	lost.Start()
	back(lost.AwaitAnswer())

	r.end()
	buys.end()
	require.NoError(t, s.Settled(t.Context()))
	require.Equal(t, buys.count(), listed(s, events[0]))
	sold, _ := r.sold.Load(types[1])
	require.GreaterOrEqual(t, listed(s, events[1]), sold.(*atomic.Int64).Load(), "those with an unknown outcome count too")
	for _, event := range events {
		s.Becomes(fmt.Sprint(100_000-listed(s, event)), func() string { // the read model has each once
			return fmt.Sprint(s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Data("items.0.available"))
		})
	}
}

// requireToldInTime orders until it is told that nothing is sold, and requires that no answer took as long as
// one that nobody gave: an order waits for 5 s (route.DefaultTimeout). Then it orders until it is told within
// toldWithin, because a busy machine may be late once.
func requireToldInTime(t *testing.T, order func() nodetest.Answer) {
	t.Helper()
	var slowest time.Duration
	require.Eventually(t, func() bool {
		began := time.Now()
		status, took := order().Status, time.Since(began)
		slowest = max(slowest, took)
		return status == http.StatusServiceUnavailable && took < toldWithin
	}, time.Minute, time.Millisecond)
	require.Less(t, slowest, 4*toldWithin)
}

// formerLimit is a little more than the time after which a node ends whose only Postgres does not commit.
const formerLimit = 11 * time.Second

// TestAShardIsAwayFromACluster makes sure that no node of a cluster ends because one shard is away for
// long, that each node refuses its events in time, wherever their actors are, and sells the others'.
func TestAShardIsAwayFromACluster(t *testing.T) {
	t.Parallel()
	lost := persisttest.StartOwn(t, nil)
	urls := withShards(persisttest.Empty(t), lost.URL())
	a := nodetest.Open(t, nodetest.Clustered("a", "", urls))
	b := nodetest.Open(t, nodetest.Clustered("b", a.Config().DatabaseURL, urls))
	settles(t, a, b)
	b.Token = a.Token
	var here, there []string
	for range 4 { // some on each node
		_, types := oneInEach(a, 100_000)
		here, there = append(here, types[0]), append(there, types[1])
	}
	order := func(s *nodetest.Shop, ticketType string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody(uuid.NewString()+"@example.org", ticketType, 1))
	}
	var turn atomic.Int64
	r := startRush(t, 4, there, func() string {
		if turn.Add(1)%2 == 0 {
			return b.URL
		}
		return a.URL
	})
	r.atLeast(30)
	lost.Stop()
	require.Eventually(t, func() bool { return len(a.Lacking()) == 1 && len(b.Lacking()) == 1 }, time.Minute, time.Millisecond)
	// The read model may lack what the shard has committed last. Nobody who reads waits for that until the shard is back.
	for _, s := range []*nodetest.Shop{a, b} {
		ctx, cancel := context.WithTimeout(t.Context(), formerLimit)
		if err := s.Settled(ctx); err != nil {
			require.ErrorIs(t, err, persistence.ErrAway)
		}
		cancel()
	}
	waits := func(s *nodetest.Shop) bool { return s.Journal().States()[1].Waiting > formerLimit }
	require.Eventually(t, func() bool { return waits(a) || waits(b) }, time.Minute, 20*time.Millisecond, "the rush has left a batch")
	for _, s := range []*nodetest.Shop{a, b} {
		for _, ticketType := range there {
			order(s, ticketType).Is(http.StatusServiceUnavailable, "UNAVAILABLE")
			requireToldInTime(t, func() nodetest.Answer { return order(s, ticketType) })
		}
		for _, ticketType := range here {
			order(s, ticketType).Is(http.StatusCreated, "")
		}
		require.NoError(t, s.Ready())
		select {
		case err := <-s.Journal().Failed():
			require.NoError(t, err)
		default:
		}
	}
	lost.Start()
	since := lost.AwaitAnswer()
	for _, ticketType := range there {
		require.Eventually(t, func() bool {
			return order(a, ticketType).Status == http.StatusCreated && order(b, ticketType).Status == http.StatusCreated
		}, time.Minute, time.Millisecond)
	}
	require.Less(t, time.Since(since), backWithin)
	r.end()
	sold := r.total.Load()
	require.Eventually(t, func() bool {
		var orders int64
		require.NoError(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM orders`).Scan(&orders))
		return orders >= sold+int64(len(there)*2+len(here)*2)
	}, time.Minute, 20*time.Millisecond, "the read model has them too")
}

// listed counts the orders of an event in the read model.
func listed(s *nodetest.Shop, event string) (orders int64) {
	s.T.Helper()
	id, err := engine.ParseID(event)
	require.NoError(s.T, err)
	require.NoError(s.T, s.Pool().QueryRow(s.T.Context(), `SELECT count(*) FROM orders WHERE event_id = $1`, id.Event()).Scan(&orders))
	return orders
}

// series is one buyer after another of an event whose shard answers: none of them is refused.
type series struct {
	s      *nodetest.Shop
	bought atomic.Int64
	wrong  atomic.Pointer[string]
	done   chan struct{}
	buying sync.WaitGroup
	ending sync.Once
}

func newSeries(s *nodetest.Shop, ticketType string) *series {
	b := &series{s: s, done: make(chan struct{})}
	b.buying.Go(func() {
		for {
			select {
			case <-b.done:
				return
			default:
			}
			if a := s.Call("POST", "/orders", nodetest.OrderBody(uuid.NewString()+"@example.org", ticketType, 1)); a.Status != http.StatusCreated {
				text := fmt.Sprint(a.Status, a.Body)
				b.wrong.Store(&text)
				return
			}
			b.bought.Add(1)
		}
	})
	s.T.Cleanup(b.leave)
	return b
}

func (b *series) count() int64 { return b.bought.Load() }

func (b *series) leave() {
	b.ending.Do(func() { close(b.done) })
	b.buying.Wait()
}

func (b *series) end() {
	b.s.T.Helper()
	b.leave()
	b.check()
}

func (b *series) check() {
	b.s.T.Helper()
	if wrong := b.wrong.Load(); wrong != nil {
		require.Fail(b.s.T, "a buyer of the other shard was refused", "%s", *wrong)
	}
}

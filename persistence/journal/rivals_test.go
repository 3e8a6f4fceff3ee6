package journal_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// TestRivals lets three nodes claim streams from one another while they write,
// over connections of which one append in forty is cut, and while nodes are
// taken for dead: their writers are closed and their tails read.
func TestRivals(t *testing.T) {
	t.Parallel()
	for name, shards := range map[string]func(testing.TB) []journal.Shard{
		"one database": func(t testing.TB) []journal.Shard {
			return []journal.Shard{{Pool: persisttest.Migrated(t), Last: engine.Buckets - 1}}
		},
		"four shards": func(t testing.TB) []journal.Shard {
			_, shards := persisttest.Sharded(t, 4)
			for i := range shards {
				shards[i].Valve = nil // the contest starves whoever looks
			}
			return shards
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contestRivals(t, shards(t))
		})
	}
}

func contestRivals(t *testing.T, shards []journal.Shard) {
	var nodes []func() persisttest.Node
	var all []*node
	for i, name := range []string{"a", "b", "c"} {
		rng := newDice(uint64(i))
		mine := slices.Clone(shards)
		for k, shard := range mine {
			p := newProxy(t, shard.Pool.Config().ConnConfig, func() (cut, time.Duration) {
				if rng.below(40) > 0 {
					return noCut, 0
				}
				return 1 + cut(rng.below(int(cuts-1))), time.Duration(rng.below(50)) * time.Millisecond
			})
			mine[k].Lane = p.lane(shard.Pool)
		}
		n := startNode(t, mine, name)
		nodes, all = append(nodes, n.present), append(all, n)
	}
	reader := openShards(t, shards, "reader")
	undertaker := undertaker{t: t, j: reader, tails: make(map[int32]int64)}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { undertaker.run(ctx) })
	tally := persisttest.Rivalry{
		Nodes: nodes, Reader: reader, Streams: 20, Events: 10, Writers: 4, For: 8 * time.Second, Seed: 11, Buried: true,
	}.Run(t)
	cancel()
	wg.Wait()
	var retries int64
	for _, n := range all {
		retries += n.stop()
		n.compare(t, reader)
	}
	undertaker.judge()
	t.Logf("%+v, %d attempts sent again, %d writers closed", tally, retries, len(undertaker.tails))
	require.Positive(t, tally.Acked)
	require.Positive(t, tally.Fenced)
	require.Positive(t, tally.Joint)
	require.Positive(t, retries)
	require.NotEmpty(t, undertaker.tails)
	written := make(map[int]bool)
	for w := range undertaker.tails {
		written[int(w)%journal.MaxShards%len(shards)] = true
	}
	require.Len(t, written, len(shards), "all shards took part")
}

// dice is a seeded source for several goroutines.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{rng: rand.New(rand.NewPCG(seed, 1))} }

func (d *dice) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

// node is a journal that comes back when it failed, as a restarted process
// would.
type node struct {
	t       testing.TB
	cfg     journal.Config
	shards  []journal.Shard
	batches persisttest.Batches
	stopped chan struct{}
	wg      sync.WaitGroup

	mu      sync.Mutex
	j       *journal.Shards
	retries int64
}

func startNode(t testing.TB, shards []journal.Shard, name string, change ...func(*journal.Config)) *node {
	t.Helper()
	n := &node{t: t, shards: shards, stopped: make(chan struct{})}
	n.cfg = journal.Config{Node: name, Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Sink: n.batches.Sink}
	for _, c := range change {
		c(&n.cfg)
	}
	j, err := journal.OpenShards(t.Context(), n.cfg, shards)
	require.NoError(t, err)
	n.j = j
	n.wg.Go(n.keep)
	return n
}

func (n *node) present() persisttest.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	return persisttest.Node{Journal: n.j}
}

// keep opens the journal again after each failure.
func (n *node) keep() {
	for {
		select {
		case <-n.stopped:
			return
		case err := <-n.j.Failed():
			n.t.Logf("node %s: %v", n.cfg.Node, err)
		}
		n.count(n.j.Stop(n.t.Context()))
		j, err := journal.OpenShards(n.t.Context(), n.cfg, n.shards)
		for ; err != nil; j, err = journal.OpenShards(n.t.Context(), n.cfg, n.shards) {
			if n.t.Context().Err() != nil {
				return
			}
		}
		n.mu.Lock()
		n.j = j
		n.mu.Unlock()
	}
}

func (n *node) count(err error) {
	if err != nil {
		n.t.Errorf("node %s: stop: %v", n.cfg.Node, err)
	}
	n.retries += n.j.Stats().Retries
}

// stop ends the node and returns how often it sent a batch again.
func (n *node) stop() int64 {
	close(n.stopped)
	n.wg.Wait()
	n.count(n.j.Stop(n.t.Context()))
	return n.retries
}

// compare requires that followers were handed what the journal holds, without a
// gap, except for batches whose node died before it knew their fate.
func (n *node) compare(t testing.TB, reader *journal.Shards) {
	t.Helper()
	handed := make(map[int32][]*journal.Batch)
	for _, b := range n.batches.All() {
		handed[b.Writer] = append(handed[b.Writer], b)
	}
	for writer, batches := range handed {
		i := 0
		for b, err := range reader.ReadWriter(t.Context(), writer, 0) {
			require.NoError(t, err)
			require.Equal(t, int64(i)+1, b.Seq)
			if i < len(batches) {
				require.Equal(t, b.Seq, batches[i].Seq)
				requireSameRecords(t, b.Records, batches[i].Records)
			}
			i++
		}
		require.GreaterOrEqual(t, i, len(batches))
		require.LessOrEqual(t, i, len(batches)+1, "one batch at most was in flight")
	}
}

func requireSameRecords(t testing.TB, stored, handed []journal.Record) {
	t.Helper()
	byStream := make(map[int64]journal.Record)
	for _, r := range handed {
		r.Facts = nil
		byStream[r.Stream] = r
	}
	require.Len(t, stored, len(byStream))
	for _, r := range stored {
		require.Equal(t, byStream[r.Stream], r)
	}
}

// undertaker takes nodes for dead: it closes a writer, reads its tail, and in
// the end requires that nothing was written behind its back.
type undertaker struct {
	t     testing.TB
	j     *journal.Shards
	tails map[int32]int64
}

func (u *undertaker) run(ctx context.Context) {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := u.bury(context.WithoutCancel(ctx), n); err != nil {
			u.t.Errorf("close a writer: %v", err)
			return
		}
	}
}

func (u *undertaker) bury(ctx context.Context, n int) error {
	writers, err := u.j.Writers(ctx)
	if err != nil {
		return err
	}
	var live []journal.Writer
	for _, w := range writers {
		if !w.Closed && w.Node != "reader" {
			live = append(live, w)
		}
	}
	if len(live) == 0 {
		return nil
	}
	w := live[n%len(live)].ID
	if err := u.j.CloseWriter(ctx, w); err != nil {
		return err
	}
	u.tails[w], err = u.tail(ctx, w)
	return err
}

func (u *undertaker) tail(ctx context.Context, writer int32) (last int64, err error) {
	for b, err := range u.j.ReadWriter(ctx, writer, 0) {
		if err != nil {
			return 0, err
		}
		last = b.Seq
	}
	return last, nil
}

func (u *undertaker) judge() {
	u.t.Helper()
	for w, was := range u.tails {
		is, err := u.tail(u.t.Context(), w)
		require.NoError(u.t, err)
		require.Equal(u.t, was, is, "writer %d wrote after it was closed", w)
	}
}

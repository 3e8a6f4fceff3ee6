package persisttest

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Node is one lifetime of a node's journal. A node that starts again has another Node.
type Node struct {
	journal.Journal
	Gone <-chan struct{} // closed after a crash, when the owners of entries hear nothing more
}

// Rivalry is a contest in which nodes constantly claim streams from one another, and write to each
// stream that they believe they own. It shows whether the journal's fence holds.
type Rivalry struct {
	Nodes []func() Node // each returns the node's lifetime at that moment
	// Reader reads the store when the contest is over.
	Reader  journal.Journal
	Streams int // how many streams the nodes contend for
	Events  int // how many events the streams belong to, in turn
	Writers int // how many activations work on each node at a time
	For     time.Duration
	Seed    uint64
	Buried  bool   // writers may be closed too, which fences without a claim
	Ended   func() // called before the store is checked; nil: nothing is
}

// Tally counts what happened in a contest: claims, facts in the store, entries that rested on others, and the
// outcomes that owners heard. Unknown are the entries whose owner heard none, or that the journal was closed.
type Tally struct{ Claims, Facts, Joint, Acked, Fenced, Unknown int }

// deed is an entry and the outcome that its owner heard.
type deed struct {
	claim       journal.Claim
	first, last int64
	heard       bool
	err         error
	needs       *deed // the deed without which this one must not be in the store
}

// replay is what a new owner has read of a stream after its claim.
type replay struct {
	claim  journal.Claim
	tokens []uint64
}

// chronicle is a record of what all activations did and heard.
type chronicle struct {
	mu      sync.Mutex
	deeds   []*deed
	replays []replay
	// latest is the last deed with facts in each lane, on which the next one may rest.
	latest map[lane]*deed
}

// lane has the entries of one event in the order in which one journal gets them.
type lane struct {
	j     journal.Journal
	event int64
}

// drawNeed returns, from time to time, the latest deed of another stream in the same lane. The next
// deed then needs that one, and both may come into one batch.
func (l *chronicle) drawNeed(rng *rand.Rand, j journal.Journal, ref engine.Ref, claim journal.Claim) *deed {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.latest[lane{j, ref.Home}]
	if d == nil || d.claim.Stream == claim.Stream || rng.IntN(3) > 0 {
		return nil
	}
	return d
}

// Run holds the contest and then checks the store:
//
//   - every stream is gap-free and its epochs never fall;
//   - rows of older epochs are exactly what the next owner replayed;
//   - acknowledged facts are there, fenced ones are not;
//   - facts that need others are there only with those;
//   - a claim is fenced only by a later claim, or if Buried, or because of a claim that it needs.
func (r Rivalry) Run(t testing.TB) Tally {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), r.For)
	defer cancel()
	all := chronicle{latest: make(map[lane]*deed)}
	refs := make([]engine.Ref, r.Streams)
	for i := range refs {
		refs[i] = engine.InventoryRef(1+int64(i%r.Events), int64(i))
	}
	var wg sync.WaitGroup
	for n, node := range r.Nodes {
		for w := range r.Writers {
			rng := rand.New(rand.NewPCG(r.Seed, uint64(n*r.Writers+w)))
			wg.Go(func() {
				for ctx.Err() == nil {
					all.liveActivation(ctx, rng, node(), refs[rng.IntN(r.Streams)])
				}
			})
		}
	}
	wg.Wait()
	if r.Ended != nil {
		r.Ended()
	}
	return r.judge(t, &all)
}

// liveActivation is the life of one activation: it claims a stream, reads it, and writes a random
// number of entries. Several of them may be in flight. It ends at the first error.
func (l *chronicle) liveActivation(ctx context.Context, rng *rand.Rand, node Node, ref engine.Ref) {
	claim, err := node.Claim(ctx, ref)
	if err != nil {
		rest(ctx)
		return
	}
	read := replay{claim: claim}
	for r, err := range node.Load(ctx, claim.Stream, 0) {
		if err != nil {
			return
		}
		for at := 0; at < len(r.Bytes); at += tokenSize {
			read.tokens = append(read.tokens, binary.BigEndian.Uint64(r.Bytes[at:]))
		}
	}
	l.mu.Lock()
	l.replays = append(l.replays, read)
	l.mu.Unlock()

	// It goes on behind the last fact that it has read, as a real activation does.
	s := &Scribe{j: node, Ref: ref, Claim: claim, Next: int64(len(read.tokens)) + 1}
	depth := 1 + rng.IntN(8)
	var flight []*Verdict
	var deeds []*deed
	hear := func() (goOn bool) {
		select {
		case err := <-flight[0].heard:
			deeds[0].heard, deeds[0].err = true, err
			flight, deeds = flight[1:], deeds[1:]
			return err == nil
		case <-node.Gone:
			return false
		}
	}
	goOn := true
	for range rng.IntN(60) {
		if ctx.Err() != nil || !goOn {
			break
		}
		if len(flight) == depth {
			goOn = hear()
			continue
		}
		d := &deed{claim: claim, first: s.Next, needs: l.drawNeed(rng, node.Journal, ref, claim)}
		var needs journal.Claim
		if d.needs != nil {
			needs = d.needs.claim
		}
		v := s.AppendNeeding(rng.IntN(4), needs)
		d.last = s.Next - 1
		l.mu.Lock()
		l.deeds = append(l.deeds, d)
		if d.first <= d.last {
			l.latest[lane{node.Journal, ref.Home}] = d
		}
		l.mu.Unlock()
		flight, deeds = append(flight, v), append(deeds, d)
	}
	// The owner of each entry must hear an outcome, or the node has crashed.
	for len(flight) > 0 {
		before := len(flight)
		if hear(); len(flight) == before {
			return // the node has crashed
		}
	}
}

// rest waits a moment, so that a writer whose node is away does not try again all the time.
func rest(ctx context.Context) {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
	}
}

// judge compares the store with what every activation did, and with the outcomes that it heard.
func (r Rivalry) judge(t testing.TB, all *chronicle) Tally {
	t.Helper()
	streams := make(map[int64][]uint64)
	standing := make(map[journal.Claim]bool)
	tally := Tally{Claims: len(all.replays)}
	for _, read := range all.replays {
		id := read.claim.Stream
		if _, ok := streams[id]; !ok {
			streams[id] = LoadTokens(t, r.Reader, id, 0)
			tally.Facts += len(streams[id])
		}
		standing[read.claim] = true
		final := streams[id]
		n := len(read.tokens)
		require.GreaterOrEqual(t, len(final), n, "what was replayed is gone")
		require.True(t, slices.Equal(final[:n], read.tokens), "what was replayed has changed")
		// Everything behind a replay must be of its claim or of a later one.
		if n < len(final) { // epochs never fall, so one check is enough
			require.GreaterOrEqual(t, int32(final[n]>>32), read.claim.Epoch, "an older owner wrote behind a replay: %+v", read.claim)
		}
	}
	r.removeFenced(t, standing)
	// A deed is in the store if its first fact there is of its epoch. Barriers leave nothing.
	there := func(d *deed) bool {
		final := streams[d.claim.Stream]
		return d.first <= d.last && int64(len(final)) >= d.first && int32(final[d.first-1]>>32) == d.claim.Epoch
	}
	excused := all.listExcused(standing)
	for _, d := range all.deeds {
		final := streams[d.claim.Stream]
		if d.needs != nil && there(d) {
			tally.Joint++
			require.True(t, there(d.needs), "%+v is there without %+v, which it needs", *d, *d.needs)
		}
		switch {
		case d.heard && d.err == nil:
			tally.Acked++
			require.GreaterOrEqual(t, int64(len(final)), d.last, "acknowledged facts are missing: %+v", *d)
			require.True(t, d.first > d.last || slices.Equal(Tokens(d.claim.Epoch, d.first, d.last), final[d.first-1:d.last]),
				"acknowledged facts are not those in the store: %+v, but %x", *d, final[d.first-1:d.last])
		case errors.Is(d.err, journal.ErrFenced):
			tally.Fenced++
			require.False(t, standing[d.claim] && !r.Buried && !excused[d.claim], "fenced without a later claim: %+v", *d)
			if d.first <= d.last && int64(len(final)) >= d.first {
				require.NotEqual(t, d.claim.Epoch, int32(final[d.first-1]>>32), "refused facts are there: %+v", *d)
			}
		default:
			tally.Unknown++
			require.True(t, !d.heard || errors.Is(d.err, journal.ErrClosed), "%v", d.err)
		}
	}
	return tally
}

// listExcused returns the claims that may be refused although they stand: those that need a claim which does not
// stand, or one that is excused itself.
func (l *chronicle) listExcused(standing map[journal.Claim]bool) map[journal.Claim]bool {
	excused := make(map[journal.Claim]bool)
	for more := true; more; {
		more = false
		// One excuse may make another one, so it goes round until nothing is added.
		for _, d := range l.deeds {
			if d.needs != nil && !excused[d.claim] && (!standing[d.needs.claim] || excused[d.needs.claim]) {
				excused[d.claim], more = true, true
			}
		}
	}
	return excused
}

// removeFenced leaves in claims only those that still stand.
func (r Rivalry) removeFenced(t testing.TB, claims map[journal.Claim]bool) {
	t.Helper()
	var list []journal.Claim
	for c := range claims {
		list = append(list, c)
	}
	gone, err := r.Reader.Standing(t.Context(), list)
	require.NoError(t, err)
	for _, c := range gone {
		delete(claims, c)
	}
}

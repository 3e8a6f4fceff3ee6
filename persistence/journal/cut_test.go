package journal_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// step is what the proxy does with one append.
type step struct {
	kind  cut
	late  time.Duration
	held  chan struct{} // closed when the append has come, if not nil,
	until chan struct{} // and then it is held until this is closed
}

// TestCutInMidCommit cuts 200 connections around the append, in five ways, with
// and without a rival that claims one of the streams meanwhile. Every verdict
// must be what the journal says, and no stream may be torn.
func TestCutInMidCommit(t *testing.T) {
	t.Parallel()
	const rounds = 200
	pool := persisttest.Migrated(t)
	steps, drawn := make(chan step, 4), make(chan struct{}, 4)
	p := newProxy(t, pool.Config().ConnConfig, func() (cut, time.Duration) {
		select {
		case s := <-steps:
			if s.held != nil {
				close(s.held)
				<-s.until
			} else {
				drawn <- struct{}{}
			}
			return s.kind, s.late
		default:
			return noCut, 0
		}
	})
	j := open(t, pool, "cut", func(c *journal.Config) { c.Lanes, c.Lane = 1, p.lane(pool) })
	m := &midCommit{t: t, j: j, rival: open(t, pool, "rival"), steps: steps, drawn: drawn, rng: rand.New(rand.NewPCG(3, 3))}
	for i := range m.scribes {
		m.scribes[i] = persisttest.NewScribe(t, j, engine.InventoryRef(1, int64(i)))
	}
	for round := range rounds {
		m.round(1+cut(round)%(cuts-1), round%2 == 1)
	}
	p.performing.Wait() // also the last of those that land late
	m.judge()
	for kind, n := range m.counts {
		t.Logf("%-15v %d cuts: %d entries acknowledged, %d fenced", cut(kind), n.cuts, n.acked, n.fenced)
	}
	t.Logf("%d attempts sent again, 0 wrong verdicts", j.Stats().Retries)
	require.GreaterOrEqual(t, j.Stats().Retries, int64(rounds))
}

// midCommit is the state of TestCutInMidCommit. Of its streams the first is the
// plug, whose append is held at the proxy until the next batch is complete; the
// second is the one that rivals claim, the last one that its own node does.
type midCommit struct {
	t        *testing.T
	j, rival *journal.Postgres
	steps    chan step
	drawn    chan struct{}
	rng      *rand.Rand
	scribes  [5]*persisttest.Scribe
	written  []written
	counts   [cuts]struct{ cuts, acked, fenced int }
}

type written struct {
	claim       journal.Claim
	first, last int64
	err         error
}

func (m *midCommit) round(kind cut, rivaled bool) {
	held, until := make(chan struct{}), make(chan struct{})
	m.steps <- step{held: held, until: until}
	plug := m.scribes[0].Append(1)
	<-held
	var entries []written
	var verdicts []*persisttest.Verdict
	put := func(s *persisttest.Scribe, n int) {
		entries = append(entries, written{claim: s.Claim, first: s.Next, last: s.Next + int64(n) - 1})
		verdicts = append(verdicts, s.Append(n))
	}
	for range 2 {
		for _, s := range m.scribes[1:] {
			put(s, 1+m.rng.IntN(3))
		}
	}
	// The last stream is claimed again on the same node: an old and a new
	// activation write the same seqs in one batch.
	old := m.scribes[4]
	m.scribes[4] = persisttest.NewScribe(m.t, m.j, old.Ref)
	put(m.scribes[4], int(old.Next-m.scribes[4].Next))
	late := time.Duration(5+m.rng.IntN(100)) * time.Millisecond
	m.steps <- step{kind: kind, late: late}
	again := m.rng.IntN(3) == 0 // the second attempt is cut too
	if again {
		m.steps <- step{kind: 1 + cut(m.rng.IntN(int(cuts-1))), late: late / 2}
	}
	close(until)
	<-m.drawn
	if rivaled {
		s := persisttest.NewScribe(m.t, m.rival, m.scribes[1].Ref)
		w := written{claim: s.Claim, first: s.Next, last: s.Next}
		w.err = s.Append(1).Wait(m.t)
		require.NoError(m.t, w.err)
		m.written = append(m.written, w)
	}
	if again {
		<-m.drawn
	}
	require.NoError(m.t, plug.Wait(m.t))
	n := &m.counts[kind]
	n.cuts++
	for i, v := range verdicts {
		w := entries[i]
		w.err = v.Wait(m.t)
		switch {
		case w.claim == old.Claim:
			require.ErrorIs(m.t, w.err, journal.ErrFenced)
		case w.err == nil:
			n.acked++
		default:
			n.fenced++
			require.ErrorIs(m.t, w.err, journal.ErrFenced)
			require.True(m.t, rivaled && w.claim == m.scribes[1].Claim, "nobody claimed this stream")
		}
		m.written = append(m.written, w)
	}
	if rivaled { // whose facts got in just before the claim is fenced all the same
		require.ErrorIs(m.t, m.scribes[1].Append(1).Wait(m.t), journal.ErrFenced)
		m.scribes[1] = persisttest.NewScribe(m.t, m.j, m.scribes[1].Ref)
	}
}

// judge compares the verdicts with the journal, whose streams must be whole.
func (m *midCommit) judge() {
	streams := make(map[int64][]uint64)
	for _, s := range m.scribes {
		streams[s.Claim.Stream] = persisttest.LoadTokens(m.t, m.rival, s.Claim.Stream, 0)
	}
	for _, w := range m.written {
		stream := streams[w.claim.Stream]
		if w.err == nil {
			require.GreaterOrEqual(m.t, int64(len(stream)), w.last, "acknowledged and missing: %+v", w)
			require.Equal(m.t, persisttest.Tokens(w.claim.Epoch, w.first, w.last), stream[w.first-1:w.last])
			continue
		}
		require.True(m.t, errors.Is(w.err, journal.ErrFenced))
		if int64(len(stream)) >= w.first {
			require.NotEqual(m.t, w.claim.Epoch, int32(stream[w.first-1]>>32), "refused and there: %+v", w)
		}
	}
}

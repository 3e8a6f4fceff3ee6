package cluster_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/cluster/placement"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
)

// absent is a journal whose database is away at times: a claim fails, or waits.
type absent struct {
	journal.Journal
	away    atomic.Bool
	tried   atomic.Int64  // claims
	decided atomic.Int64  // facts of the event
	wait    chan struct{} // nil: claims do not wait
}

func (a *absent) Claim(ctx context.Context, ref engine.Ref) (journal.Claim, error) {
	a.tried.Add(1)
	if a.away.Load() {
		return journal.Claim{}, errors.New("the database is away")
	}
	if a.wait != nil {
		<-a.wait
	}
	return a.Journal.Claim(ctx, ref)
}

func (a *absent) Append(e *journal.Entry) {
	if e.Ref == engine.EventRef(eventNo) {
		a.decided.Add(int64(len(e.Facts)))
	}
	a.Journal.Append(e)
}

// withholding is a journal of two databases. The one that has event 42 gives no answer.
type withholding struct {
	journal.Journal
	away    chan struct{} // closed once that is known
	on      atomic.Bool
	entries atomic.Int64 // entries that it has kept to itself
}

func (w *withholding) Append(e *journal.Entry) {
	if w.on.Load() && e.Ref.Home == eventNo {
		w.entries.Add(1)
		return
	}
	w.Journal.Append(e)
}

func (w *withholding) shut(event int64) <-chan struct{} {
	if event == eventNo {
		return w.away
	}
	return nil
}

// A node that stops while one of the journal's databases is away puts the events of the
// others away in order. It waits for none whose facts can't be written.
func TestStopDoesNotWaitForAShardThatIsAway(t *testing.T) {
	t.Parallel()
	const other = eventNo + 1
	w := newWorld()
	a := &withholding{away: make(chan struct{})}
	n, j := w.node(t, func(c *cluster.Config) {
		a.Journal, c.Journal = c.Journal, a
		c.Shut = a.shut
	})
	onSale(t, n, 0, 5)
	a.on.Store(true)
	waits := make(chan error, 1)
	go func() {
		_, err := n.Ask(t.Context(), engine.EventRef(eventNo), place(1, 1))
		waits <- err
	}()
	require.Eventually(t, func() bool { return a.entries.Load() > 0 }, time.Minute, time.Millisecond)
	close(a.away)
	require.Error(t, <-waits)
	_, err := n.Ask(t.Context(), engine.EventRef(other), event.Get{})
	require.Error(t, err, "it was not made")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, n.Stop(ctx))
	_, parked := w.shelf.parkedAt(engine.EventRef(other))
	require.True(t, parked)
	require.NoError(t, j.Stop(t.Context()))
}

// An order's time comes while its event can't be loaded. It expires when the database
// is back, without a word to the event from anybody.
func TestATimerSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 2000, 1)
	untilIdle(t, n)
	ask(t, n, engine.EventRef(eventNo), place(1, 1))
	stop(t, n, j)

	var ahead atomic.Int64
	ahead.Store(int64(20 * time.Minute)) // past the order's
	a := &absent{}
	a.away.Store(true)
	n, j = w.node(t, func(c *cluster.Config) {
		a.Journal, c.Journal = c.Journal, a
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	defer stop(t, n, j)
	require.Eventually(t, func() bool { return a.tried.Load() > 0 && n.Actors() == 0 }, time.Minute, time.Millisecond)
	ahead.Add(int64(10 * time.Second))
	a.away.Store(false)
	// Nobody is asked, not even the ticket type: it would ask the event.
	require.Eventually(t, func() bool { return a.decided.Load() > 0 }, time.Minute, time.Millisecond)
}

// An actor whose time comes while its shard of the journal is known to be away is not loaded in vain, again and again.
// It is woken when the shard is back.
func TestNobodyIsWokenInAShardThatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, nil)
	onSale(t, n, 2000, 1)
	untilIdle(t, n)
	ask(t, n, engine.EventRef(eventNo), place(1, 1))
	stop(t, n, j)

	var ahead atomic.Int64
	ahead.Store(int64(20 * time.Minute)) // past the order's
	shut := make(chan struct{})
	var valve atomic.Pointer[chan struct{}]
	valve.Store(&shut)
	a := &absent{}
	a.away.Store(true)
	n, j = w.node(t, func(c *cluster.Config) {
		a.Journal, c.Journal = c.Journal, a
		c.Shut = func(int64) <-chan struct{} { return *valve.Load() }
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	defer stop(t, n, j)
	require.Eventually(t, func() bool { return a.tried.Load() > 0 && n.Actors() == 0 }, time.Minute, time.Millisecond)
	close(shut)
	tried := a.tried.Load()
	require.Never(t, func() bool {
		ahead.Add(int64(time.Second))
		return a.tried.Load() > tried
	}, 1500*time.Millisecond, 50*time.Millisecond)
	open := make(chan struct{})
	valve.Store(&open)
	a.away.Store(false)
	ahead.Add(int64(10 * time.Second))
	require.Eventually(t, func() bool { return a.decided.Load() > 0 }, time.Minute, time.Millisecond)
}

// An actor that is told more than it can deal with gets its Wake all the same: it asks
// for no other before.
func TestAWakeIsNotShed(t *testing.T) {
	t.Parallel()
	const most = 4 // tells that wait, at MaxInFlight 1
	a := &absent{wait: make(chan struct{})}
	n, j := newWorld().node(t, func(c *cluster.Config) {
		a.Journal, c.Journal = c.Journal, a
		c.MaxInFlight = 1
	})
	defer stop(t, n, j)
	defer close(a.wait)
	for range 2 * most {
		n.Tell(engine.EventRef(eventNo), admission.GateStats{})
	}
	require.EqualValues(t, most, n.Census().Deepest)
	n.Tell(engine.EventRef(eventNo), engine.Wake{})
	require.EqualValues(t, most+1, n.Census().Deepest)
}

// exhausted is a listener for which there are no descriptors left.
type exhausted struct {
	net.Listener
	tries chan struct{}
}

func (e *exhausted) Accept() (net.Conn, error) {
	select {
	case e.tries <- struct{}{}:
		return nil, errors.New("accept4: too many open files")
	default:
		return e.Listener.Accept()
	}
}

// A link that can't be accepted is no reason to ask for the next at once, with a
// warning each time.
func TestLinksAreAcceptedInMeasure(t *testing.T) {
	t.Parallel()
	const tries = 4
	e := &exhausted{tries: make(chan struct{}, tries)}
	began := time.Now()
	p := newPartyWith(t, func(name string, c *cluster.Config) {
		if name == "a" {
			e.Listener, c.Listen = c.Listen, e
		}
	}, "a", "b")
	p.onSaleFrom("b", p.eventOf("a"), 1)
	require.Len(t, e.tries, tries)
	require.GreaterOrEqual(t, time.Since(began), tries*50*time.Millisecond)
}

// eventOf is an event that a node owns when all know of each other.
func (p *party) eventOf(owner string) int64 {
	var list []members.Member
	for _, name := range p.names() {
		list = append(list, p.nodes[name].member)
	}
	for number := int64(1); ; number++ {
		if m, _ := placement.OwnerOf(list, number); m.Name == owner {
			return number
		}
	}
}

// wiretap passes links on to a member, and counts the bytes that go there.
func wiretap(t *testing.T, to members.Member) (tapped members.Member, sent *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	sent = new(atomic.Int64)
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to.Link)
			if err != nil {
				_ = in.Close()
				return
			}
			go func() { _, _ = io.Copy(io.MultiWriter(out, counter{sent}), in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	tapped = to
	tapped.Link = ln.Addr().String()
	return tapped, sent
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// One node has not heard yet that the other leaves: each takes the other for the
// owner. What they tell each other does not go to and fro as fast as the links can.
func TestATellDoesNotRunInCircles(t *testing.T) {
	t.Parallel()
	p := newPartyWith(t, nil)
	a, b := p.open("a"), p.open("b")
	seen, sent := wiretap(t, b.member)
	leaving := b.member
	leaving.Leaving = true
	a.TakeMembers([]members.Member{a.member, seen})
	b.TakeMembers([]members.Member{a.member, leaving})
	require.Eventually(t, func() bool { return a.Census().Links+b.Census().Links == 2 }, time.Minute, time.Millisecond)
	before := sent.Load()
	a.Tell(engine.EventRef(p.eventOf("b")), admission.GateStats{})
	require.Eventually(t, func() bool { return sent.Load() > before+100 }, time.Minute, time.Millisecond, "it does go on")
	require.Never(t, func() bool { return sent.Load() > before+10_000 }, 500*time.Millisecond, 10*time.Millisecond)
	a.TakeMembers([]members.Member{a.member, leaving})
}

// Several begin to follow an event while there is no link to its owner: none of them is
// told that he does because another is still about to.
func TestNobodyFollowsWithoutALink(t *testing.T) {
	t.Parallel()
	p := newPartyWith(t, nil)
	a, b := p.open("a"), p.open("b")
	away := b.member
	away.Link = "127.0.0.1:0"
	a.TakeMembers([]members.Member{a.member, away})
	number := p.eventOf("b")
	var followed atomic.Int64
	var viewers sync.WaitGroup
	for range 4 {
		viewers.Go(func() {
			for range 20_000 {
				if a.Follow(t.Context(), number) == nil {
					followed.Add(1)
				}
			}
		})
	}
	viewers.Wait()
	require.Zero(t, followed.Load())
}

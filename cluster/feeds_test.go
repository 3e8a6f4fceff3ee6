package cluster

import (
	"log/slog"
	"testing"
	"time"

	"github.com/puzpuzpuz/xsync/v4"
	"github.com/stretchr/testify/require"

	"boxoffice/cluster/wire"
	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
)

// viewer is a node "a" without goroutines, that has a working link to the member "b". The test answers its calls.
type viewer struct {
	*Node
	t        *testing.T
	b        *peer
	observed int
	kept     func(int64) bool // as last told
}

func newViewer(t *testing.T) *viewer {
	f := &viewer{t: t}
	f.Node = &Node{
		peers: xsync.NewMap[string, *peer](),
		cfg: Config{
			Log: slog.New(slog.DiscardHandler), MaxInFlight: 8,
			Observe: func(*journal.Batch) { f.observed++ },
			Missed:  func(kept func(int64) bool) { f.kept = kept },
		},
	}
	f.feeds = newFeeds(f.Node)
	f.b = &peer{n: f.Node, member: members.Member{ID: "b"}, link: newLink(nil), pending: make(map[int64]sentCall)}
	f.peers.Store("b", f.b)
	f.take("a", "b")
	return f
}

// take makes a list of members the newest one.
func (f *viewer) take(ids ...string) {
	list := make([]members.Member, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	f.placement.Store(newPlaced(list, "a"))
}

// eventOfB returns an event that b owns whether or not c is a member.
func (f *viewer) eventOfB() int64 {
	two, three := newPlaced([]members.Member{{ID: "a"}, {ID: "b"}}, "a"), newPlaced([]members.Member{{ID: "a"}, {ID: "b"}, {ID: "c"}}, "a")
	for event := int64(1); ; event++ {
		if two.OwnerOf(event) == 1 && three.OwnerOf(event) == 1 {
			return event
		}
	}
}

// follow begins to follow an event, and returns when b has been asked.
func (f *viewer) follow(event int64) (outcome <-chan error) {
	f.t.Helper()
	done, calls := make(chan error, 1), f.calls()
	go func() { done <- f.Follow(f.t.Context(), event) }()
	require.Eventually(f.t, func() bool { return f.calls() > calls }, time.Minute, time.Millisecond)
	return done
}

// calls is how many calls b has been sent.
func (f *viewer) calls() int64 {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	return f.b.last
}

// TestAFollowerIsNotEndedByAnother makes sure that an event is followed once its owner has agreed to somebody, whatever
// becomes of others who ask at the same time.
func TestAFollowerIsNotEndedByAnother(t *testing.T) {
	t.Parallel()
	f := newViewer(t)
	event := f.eventOfB()
	first := f.follow(event)
	f.cfg.MaxInFlight = 1
	require.Error(t, f.Follow(t.Context(), event), "too many calls wait")
	f.b.answerCall(1, nil, nil)
	require.NoError(t, <-first)
	require.True(t, f.feeds.comeFrom(event, "b"), "facts are dropped, and nobody is told")
	require.NoError(t, f.Follow(t.Context(), event))
	require.EqualValues(t, 1, f.calls(), "it is known that b has agreed")
}

// TestAFeedOutlivesAListOfMembers makes sure that a call which began by an older list of members ends no feed that the
// event's owner by the newer list has agreed to.
func TestAFeedOutlivesAListOfMembers(t *testing.T) {
	t.Parallel()
	f := newViewer(t)
	event := f.eventOfB()
	first := f.follow(event)
	f.take("a", "b", "c")
	second := f.follow(event)
	f.b.answerCall(2, nil, nil)
	require.NoError(t, <-second)
	f.b.answerCall(1, nil, nil)
	select {
	case err := <-first:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "it asks again")
	}
	require.EqualValues(t, 2, f.calls())
	require.True(t, f.feeds.comeFrom(event, "b"))
}

// TestNewerFactsEndTheirFeedOnly makes sure that facts which this release can't decode break no link: the readers of
// their event are told that they have missed some.
func TestNewerFactsEndTheirFeedOnly(t *testing.T) {
	t.Parallel()
	f := newViewer(t)
	event := f.eventOfB()
	other := event + 1
	for _, of := range []int64{event, other} {
		from := &source{member: "b"}
		from.sure.Store(true)
		f.feeds.sources.Store(of, from)
	}
	var w wire.Writer
	w.AppendRef(engine.SeatmapRef(event))
	w.AppendNumber(1)
	w.AppendNumber(1)
	w.AppendNumber(1)
	w.AppendBytes(codec.AppendBody(nil, engine.VolatileFrom-1, []byte{0xa0}))
	require.NoError(t, f.b.handleFrame(f.b.link, wire.FrameFacts, wire.NewReader(w.Bytes())))
	require.Zero(t, f.observed)
	require.NotNil(t, f.kept)
	require.False(t, f.kept(event))
	require.True(t, f.kept(other))
}

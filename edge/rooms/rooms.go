// Package rooms is the area of waiting rooms. It decides who may join, what visitors see of
// their places and of the draw, and who may order from an event with a room. The rooms themselves are actors
// (engine/queue). A room is steered if its organizer lets the service choose its rate, which is how many
// entries it admits in a minute: Keep then adjusts the rate to the load and to the tickets that are left.
//
// A visitor's token contains the number of the visitor's entry. So a node answers a poll from its copy of the
// room's record, which it reads from the actor again after roomLife. The actor is also asked for joining,
// admissions, proofs and changes. Every node reads from a table which events have a room, so that orders of
// other events cost nothing more.
package rooms

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/cluster"
	"boxoffice/edge/live"
	"boxoffice/edge/secrets"
	"boxoffice/edge/witness"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/rooms"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node    *cluster.Node
	Rooms   *rooms.Store
	Known   *live.Events
	Pages   *live.Pages
	Feed    *live.Feed
	Secrets *secrets.Master
	Mail    *mailqueue.Queue
	Beacon  *Beacon
	Witness *witness.Authority // nil: statements have no outside witness
	Busy    func() bool        // reports whether the node has about as many orders as it can handle
	BaseURL string             // how people reach the service
	Log     *slog.Logger
}

// Handlers answer the area's requests. Any goroutine may call their methods.
type Handlers struct {
	Deps
	// active holds the rooms by event, as Load last read them. The map is replaced as a whole and never changed,
	// so readers need no lock.
	active atomic.Pointer[map[int64]rooms.Room]
	// loading is held by Load, so that two loads never overlap.
	loading sync.Mutex
	// refused counts how often orders and holds were refused, by reason.
	refused *prometheus.CounterVec
	pace    orderPace
	// reads holds a *sharing[*room] by event, so that orders at the same moment share one read of the room.
	reads sync.Map
}

// New makes the handlers. They know no room before the first Load.
func New(d Deps) *Handlers {
	h := &Handlers{Deps: d, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "boxoffice_queue_refusals_total", Help: "Orders and seat holds that a waiting room refused, by reason.",
	}, []string{"reason"})}
	for _, reason := range reasons {
		h.refused.WithLabelValues(reason)
	}
	h.active.Store(&map[int64]rooms.Room{})
	return h
}

// Describe implements prometheus.Collector.
func (h *Handlers) Describe(out chan<- *prometheus.Desc) { h.refused.Describe(out) }

// Collect implements prometheus.Collector.
func (h *Handlers) Collect(out chan<- prometheus.Metric) { h.refused.Collect(out) }

// room is an event's waiting room as this node has last read it. It is shared by many requests and
// never changed.
type room struct {
	*queue.Record
	places *draw.Permutation // gives the places of the entries that were drawn; nil where people come by arrival, and before the draw
	token  []byte            // what an outside witness has signed of the statement; nil if none has
}

// roomKey returns the key of an event's room in the cache of pages.
func roomKey(number int64) string { return "room/" + strconv.FormatInt(number, 10) }

// roomLife is how old a node's copy of a room may be. It is short, because people may order as soon as the copy
// shows that they are admitted. A node reads a room from the actor at most about five times a second, however
// many people poll.
const roomLife = 200 * time.Millisecond

// readRoom returns the room of an event that has or had one, at most roomLife old, or older while the database is
// unreachable (live.CacheFor). If the copy is older, all callers at that moment share one read, because nothing else
// limits how many orders come at once.
func (h *Handlers) readRoom(ctx context.Context, number int64) (*room, error) {
	return live.CacheFor(ctx, h.Pages, roomLife, roomKey(number), func() (*room, error) {
		reads, _ := h.reads.LoadOrStore(number, newSharing[*room]())
		return reads.(*sharing[*room]).read(ctx, func(last *room) (*room, error) { return h.askRoom(ctx, number, last) }) //nolint:forcetypeassert,errcheck // nothing else is stored
	})
}

// askRoom asks the actor for a room. last is the room that the node read before, or nil. If it has the
// witness's token of the same draw, that is taken from it, because it never changes.
func (h *Handlers) askRoom(ctx context.Context, number int64, last *room) (*room, error) {
	r, err := cluster.AskFor[queue.Record](ctx, h.Node, engine.QueueRef(number), queue.Get{})
	if err != nil {
		return nil, err
	}
	m := newRoom(r)
	switch {
	case r.Statement == nil:
	case last != nil && last.token != nil && last.Statement.Draw == r.Statement.Draw:
		m.token = last.token
	default:
		m.token, err = h.Rooms.FindToken(ctx, number, r.Statement.Draw)
	}
	return m, err
}

// newRoom makes a room of the actor's record. It computes the permutation of the places once for
// all who are shown the room.
func newRoom(r *queue.Record) *room {
	m := &room{Record: r}
	if r.Statement != nil && r.Signature != nil {
		m.places = draw.NewPermutation(r.Statement.Key(r.Signature), r.Statement.Count)
	}
	return m
}

// placeOf returns the place of an entry in line, counted from 0. It returns false if the place is
// not known yet. Entries that came after the draw have their places by arrival.
func (r *room) placeOf(index uint32) (uint32, bool) {
	switch {
	case r.Phase != queue.Ordered.String():
		return 0, false
	case r.places != nil && index < r.Statement.Count:
		return r.places.Place(index), true
	}
	return index, true
}

// isOpened reports whether the event has a room now.
func (r *room) isOpened() bool { return r.Phase != queue.NoRoom.String() }

// stateAt returns the state of the room as answers show it. If the clock is past a change but the
// actor's timer has not run yet, it goes by the clock. So all nodes show a state from the same
// moment on.
func (r *room) stateAt(now time.Time) string {
	switch at := now.UnixMilli(); {
	case r.Phase == queue.Registering.String() && at < r.Settings.Rules.RegistersFrom:
		return "announced"
	case r.Phase == queue.Registering.String() && at >= r.Settings.Rules.ClosesAt: // its timer is about to run
		if r.Settings.Rules.Mode == draw.ByArrival {
			return queue.Ordered.String()
		}
		return queue.Closed.String()
	case r.Phase == queue.Ordered.String() && at < r.Settings.Rules.OpensAt:
		return "drawn"
	}
	return r.Phase
}

// hasRoom reports whether an event has a room, as far as this node has read.
func (h *Handlers) hasRoom(number int64) bool {
	_, ok := (*h.active.Load())[number]
	return ok
}

// followEvery is how often a node reads which events have a room. For that long, and for as long as it cannot
// read, a node may accept orders without an admission for a room that was opened on another node.
const followEvery = time.Second

// Follow reads which events have a room, again and again until the context ends. A node that cannot
// read goes on with what it knows.
func (h *Handlers) Follow(ctx context.Context) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if err := h.Load(ctx); err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "waiting rooms", slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Load reads which events have a room. Only one Load runs at a time: otherwise an older read that ends last could
// restore a list without a room that was just opened, and orders would need no admission.
func (h *Handlers) Load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	h.loading.Lock()
	defer h.loading.Unlock()
	list, err := h.Rooms.List(ctx)
	if err != nil {
		return err
	}
	active := make(map[int64]rooms.Room, len(list))
	for _, r := range list {
		active[r.Event] = r
	}
	h.active.Store(&active)
	// A read that runs just now loses its place in the map, which only costs one more read.
	h.reads.Range(func(number, _ any) bool {
		if _, has := active[number.(int64)]; !has { //nolint:forcetypeassert,errcheck // nothing else is stored
			h.reads.Delete(number)
		}
		return true
	})
	return nil
}

// loadTime is how long Load may take.
const loadTime = 2 * time.Second

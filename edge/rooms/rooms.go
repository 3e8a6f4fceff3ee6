// Package rooms is the area of waiting rooms: who may join, what visitors see of the line and of the
// draw, and who may order from an event with a room. The lines themselves are actors (engine/queue).
//
// A visitor's token says the number of the entry, so a poll is answered from a record of the room that
// the node keeps for a moment: only joining, being admitted and the proof ask the actor. Every node knows
// from a table which events have a room, so that orders of all others cost nothing more.
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

// Deps is what the handlers work with.
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
	Busy    func() bool        // the node has about as many orders as it can take
	BaseURL string             // how people reach the service
	Log     *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	active  atomic.Pointer[map[int64]rooms.Room] // the rooms by event, as they were last read; orders of other events cost only a look into it
	loading sync.Mutex                           // held by Load, so that one load follows another
	refused *prometheus.CounterVec               // how often orders and holds were refused, by reason
	pace    orderPace
	reads   sync.Map // reads of rooms that orders share: *sharing[*room] by event
}

// New makes the handlers. Before the first Follow they know no room.
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

// Describe makes the handlers a prometheus.Collector.
func (h *Handlers) Describe(out chan<- *prometheus.Desc) { h.refused.Describe(out) }

// Collect reads the counts.
func (h *Handlers) Collect(out chan<- prometheus.Metric) { h.refused.Collect(out) }

// room is an event's waiting room as this node has read it.
type room struct {
	*queue.Record
	places *draw.Permutation // gives the places of the entries that were drawn; nil where people come by arrival, and before the draw
	token  []byte            // what an outside witness has signed of the statement; nil if none has
}

// roomKey is the key of an event's room in the cache of pages.
func roomKey(number int64) string { return "room/" + strconv.FormatInt(number, 10) }

// roomLife is how old a room may be when it is shown. All whom it shows as admitted may order at once, so
// it is short; and however many look, a node asks the actor only so often.
const roomLife = 200 * time.Millisecond

// readRoom returns the room of an event that has or had one. The node keeps it for roomLife. Orders, which wait at no
// gate, share one read when it is too old.
func (h *Handlers) readRoom(ctx context.Context, number int64) (*room, error) {
	return live.CacheFor(ctx, h.Pages, roomLife, roomKey(number), func() (*room, error) {
		reads, _ := h.reads.LoadOrStore(number, newSharing[*room]())
		return reads.(*sharing[*room]).read(ctx, func(last *room) (*room, error) { return h.askRoom(ctx, number, last) }) //nolint:forcetypeassert,errcheck // nothing else is stored
	})
}

// askRoom asks the actor for a room. last is what the node read before, or nil: what a witness has signed of the same
// draw is taken from it, for that never changes.
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

// newRoom makes the permutation of the places once, for all who are shown the room.
func newRoom(r *queue.Record) *room {
	m := &room{Record: r}
	if r.Statement != nil && r.Signature != nil {
		m.places = draw.NewPermutation(r.Statement.Key(r.Signature), r.Statement.Count)
	}
	return m
}

// placeOf returns the place of an entry in line, from 0, or false if it is not known yet. An entry that came after
// the draw has the place of its arrival.
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

// stateAt returns the room's state as answers show it. It goes by the clock where the actor's timer has yet to run,
// so that all nodes show a state from the same moment on.
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

// followEvery is how often a node reads which events have a room.
const followEvery = time.Second

// Follow reads which events have a room, again and again until the context ends. A node that can't read
// keeps what it knows.
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

// Load reads which events have a room. One load follows another: if an earlier one ended last, it would
// put back what was so before a room was opened, and orders would pass the room by.
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
	h.reads.Range(func(number, _ any) bool { // one that is deleted during a read costs one read more
		if _, has := active[number.(int64)]; !has { //nolint:forcetypeassert,errcheck // nothing else is stored
			h.reads.Delete(number)
		}
		return true
	})
	return nil
}

const loadTime = 2 * time.Second

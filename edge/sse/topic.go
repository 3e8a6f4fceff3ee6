package sse

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/panics"
)

// Bounds of a topic's ring. It need not reach further back than the longest
// that a viewer may stall, and a snapshot is soon smaller than many frames.
const (
	ringFrames = 256
	ringBytes  = 256 << 10
)

// snapshotLife is how long a snapshot serves while frames follow it.
const snapshotLife = time.Second

// Event is one event of a stream.
type Event struct {
	Name string
	Data []byte // without line breaks, as JSON is
}

// Source is what a topic shows. The topic calls it from one goroutine at a
// time. It must not wait: viewers wait with it.
type Source interface {
	// Take returns what has changed since the last Take, nil if nothing has, and
	// with whole also all there is, at that same moment. The events of either
	// go out together; the topic keeps their data.
	Take(whole bool) (update, snapshot []Event)
	// Close is the last call.
	Close()
}

// Topic is what a viewer asks to see.
type Topic struct {
	Name string // unique in the hub
	// Open makes the source when the first viewer comes. The source calls
	// changed, which never waits, whenever there is something to take, from
	// any goroutine. ctx bounds Open only. A source may be opened while
	// another of the same name is being closed.
	Open func(ctx context.Context, changed func()) (Source, error)
}

// topic is a topic that has viewers.
type topic struct {
	hub    *Hub
	name   string
	epoch  string // sets its ids apart from those of every other topic
	source Source
	state  atomic.Pointer[state]
	wake   chan struct{} // of one
	wanted atomic.Bool   // somebody waits for a snapshot
	packed atomic.Bool   // somebody takes gzip

	ready   chan struct{} // closed when it is open, or err says why not
	err     error
	gone    chan struct{} // closed when its last viewer has left
	once    sync.Once
	viewers int // under the hub's lock
}

// state is what a topic's viewers may be sent at one moment. It never changes;
// another takes its place.
type state struct {
	frames   []*frame // the latest, in order
	bytes    int      // of frames
	last     uint64   // number of the last frame
	snapshot *frame   // nil: none that is new enough
	made     time.Time
	final    bool          // nothing follows
	next     chan struct{} // closed when another has taken its place
}

// first is the number of the first frame that is left.
func (s *state) first() uint64 { return s.last - uint64(len(s.frames)) + 1 }

func newTopic(h *Hub, name string) *topic {
	t := &topic{
		hub: h, name: name, epoch: strconv.FormatUint(rand.Uint64(), 36),
		wake: make(chan struct{}, 1), ready: make(chan struct{}), gone: make(chan struct{}),
		err: errors.New("the topic has not opened"),
	}
	t.state.Store(&state{next: make(chan struct{})})
	return t
}

// open opens the source and starts the topic, or leaves the error for all who
// wait.
func (t *topic) open(ctx context.Context, topic Topic) {
	defer close(t.ready)
	t.source, t.err = topic.Open(ctx, t.changed)
	if t.err == nil && !t.start() {
		t.source.Close()
		t.err = engine.Refuse(engine.Unavailable, nil)
	}
	if t.err != nil {
		t.hub.mu.Lock()
		t.hub.drop(t) // who comes next tries again
		t.hub.mu.Unlock()
	}
}

// start starts the topic, unless the hub has stopped.
func (t *topic) start() bool {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if t.hub.stopped {
		return false
	}
	t.ask()
	t.hub.running.Go(t.run)
	return true
}

// changed wakes the topic.
func (t *topic) changed() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// ask wants a snapshot made.
func (t *topic) ask() {
	t.wanted.Store(true)
	t.changed()
}

// run takes what changes until the last viewer has left.
func (t *topic) run() {
	defer t.source.Close()
	t.hub.metrics.topics.Inc()
	defer t.hub.metrics.topics.Dec()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for await(t, pace.C) && await(t, t.wake) {
		panics.Do(t.hub.cfg.Log, "topic of live streams", func() { t.take(time.Now()) })
		pace.Reset(t.hub.cfg.Pace)
	}
	end := *t.state.Load()
	end.final = true
	t.publish(&end)
	<-t.gone
}

// await waits for a signal of the topic. It reports whether the topic goes on.
func await[T any](t *topic, signal <-chan T) bool {
	select {
	case <-t.gone:
		return false
	case <-t.hub.stopping:
		return false
	case <-signal:
		return true
	}
}

// take makes a frame of what has changed, and a snapshot if one is wanted and
// the last is not from just now.
func (t *topic) take(now time.Time) {
	st := *t.state.Load()
	whole := t.wanted.Load() && (st.snapshot == nil || now.Sub(st.made) >= snapshotLife)
	if whole {
		t.wanted.Store(false) // before: who asks from now on may need the next one
	}
	update, snapshot := t.source.Take(whole)
	if len(update) == 0 && len(snapshot) == 0 {
		return
	}
	if len(update) > 0 {
		st.last++
		f := t.encode(st.last, update)
		st.frames = append(slices.Clip(st.frames), f) // a copy: viewers are at the others
		for st.bytes += len(f.plain); len(st.frames) > ringFrames || st.bytes > ringBytes; st.frames = st.frames[1:] {
			st.bytes -= len(st.frames[0].plain)
		}
		t.hub.metrics.frames.Inc()
		if now.Sub(st.made) >= snapshotLife || st.snapshot != nil && st.snapshot.number+1 < st.first() {
			st.snapshot = nil
		}
	}
	if len(snapshot) > 0 {
		st.snapshot, st.made = t.encode(st.last, snapshot), now
	}
	t.publish(&st)
}

// publish puts a state in the place of the last one and tells the writers.
func (t *topic) publish(st *state) {
	st.next = make(chan struct{})
	close(t.state.Swap(st).next)
	t.hub.writers.notify(t)
}

// encode makes a frame of events that go out together. Its last event carries
// the id: a stream that breaks off within the frame resumes before it.
func (t *topic) encode(number uint64, events []Event) *frame {
	size := 64
	for i := range events {
		size += len(events[i].Name) + len(events[i].Data) + len("event: \ndata: \n\n")
	}
	b := make([]byte, 0, size)
	for i := range events {
		if i == len(events)-1 {
			b = append(append(append(b, "id: "...), t.epoch...), '-')
			b = append(strconv.AppendUint(b, number, 10), '\n')
		}
		b = append(append(b, "event: "...), events[i].Name...)
		b = append(append(b, "\ndata: "...), events[i].Data...)
		b = append(b, "\n\n"...)
	}
	f := &frame{number: number, plain: b}
	f.form(t.packed.Load()) // a large snapshot takes milliseconds, which a writer would take from its other viewers
	return f
}

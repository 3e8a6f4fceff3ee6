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

// These are the most frames, and their most bytes, in a topic's ring. The ring may be short: a viewer that needs
// an older frame gets a snapshot, which is soon smaller than the many frames that the viewer missed.
const (
	ringFrames = 256
	ringBytes  = 256 << 10
)

// snapshotLife is the age at which a snapshot is dropped when the next frame is made. Until then, viewers that
// need one are sent the snapshot, followed by the frames since.
const snapshotLife = time.Second

// Event is one server-sent event.
type Event struct {
	Name string
	Data []byte // on one line, as compact JSON is: it becomes one data field of the stream
}

// Source is what a topic shows. The topic calls it from one goroutine at a time. Its methods must
// not wait, because all viewers of the topic would wait with them.
type Source interface {
	// Take returns what has changed since the last Take, or nil if nothing has changed. With whole it also
	// returns a snapshot of everything at the same moment. The events of update make one frame, and the events of
	// snapshot another. The topic keeps the events' data, so the source must not change it.
	Take(whole bool) (update, snapshot []Event)
	// Close releases the source. The topic calls no method after it.
	Close()
}

// Topic is what a viewer asks to see.
type Topic struct {
	Name string // unique in the hub
	// Open makes the source when the first viewer comes. The source must call changed whenever Take would
	// return something; it may do so from any goroutine, and changed never waits. ctx is the context of Open
	// only, not of the source. A source may be opened while another of the same name is being closed.
	Open func(ctx context.Context, changed func()) (Source, error)
}

// topic is a Topic that has viewers on this node, with what is sent to them.
type topic struct {
	hub    *Hub
	name   string
	epoch  string // random; begins the ids of the topic's events, so that no other topic has the same ids
	source Source
	state  atomic.Pointer[state]
	wake   chan struct{} // holds one signal
	wanted atomic.Bool   // a viewer waits for a snapshot
	packed atomic.Bool   // some viewer accepts gzip

	ready   chan struct{} // closed when the topic is open, or when err says why it is not
	err     error
	gone    chan struct{} // closed by dropTopic: its last viewer has left, it could not open, or the hub has stopped
	once    sync.Once
	viewers int // under the hub's lock
}

// state is what a topic's viewers may be sent at one moment. It never changes: the topic replaces
// it with a new state.
type state struct {
	frames   []*frame      // the latest, in order
	bytes    int           // the size of frames
	last     uint64        // number of the last frame
	snapshot *frame        // nil: there is none that is new enough
	made     time.Time     // when the last snapshot was made
	final    bool          // the hub stops, and no frame follows
	next     chan struct{} // closed when a newer state has replaced this one
}

// firstFrame is the number of the oldest frame in the ring.
func (s *state) firstFrame() uint64 { return s.last - uint64(len(s.frames)) + 1 }

// newTopic makes a topic that is not open yet. It sets err, which open replaces, so that waiting viewers get an
// error if Topic.Open panics.
func newTopic(h *Hub, name string) *topic {
	t := &topic{
		hub: h, name: name, epoch: strconv.FormatUint(rand.Uint64(), 36),
		wake: make(chan struct{}, 1), ready: make(chan struct{}), gone: make(chan struct{}),
		err: errors.New("the topic has not opened"),
	}
	t.state.Store(&state{next: make(chan struct{})})
	return t
}

// open opens the source and starts the topic. If that fails, it stores the error in t.err for every viewer that
// waits. In any case it closes ready.
func (t *topic) open(ctx context.Context, topic Topic) {
	defer close(t.ready)
	t.source, t.err = topic.Open(ctx, t.noteChange)
	if t.err == nil && !t.start() {
		t.source.Close()
		t.err = engine.Refuse(engine.Unavailable, nil)
	}
	if t.err != nil {
		t.hub.mu.Lock()
		t.hub.dropTopic(t) // the next viewer tries again
		t.hub.mu.Unlock()
	}
}

// start starts the topic's goroutine and asks for a first snapshot. It returns false if the hub has stopped.
func (t *topic) start() bool {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	if t.hub.stopped {
		return false
	}
	t.askSnapshot()
	t.hub.running.Go(t.run)
	return true
}

// noteChange wakes the topic. It never waits: if an earlier signal is still there, that signal covers this change
// too, because the topic then takes all changes.
func (t *topic) noteChange() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// askSnapshot requests a new snapshot for a viewer that cannot go on from the ring.
func (t *topic) askSnapshot() {
	t.wanted.Store(true)
	t.noteChange()
}

// run makes frames until the last viewer has left or the hub stops. It waits for the pace
// first and for a change second, so that a change after a quiet time is sent at once and
// many changes make one frame.
func (t *topic) run() {
	defer t.source.Close()
	t.hub.metrics.topics.Inc()
	defer t.hub.metrics.topics.Dec()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for awaitSignal(t, pace.C) && awaitSignal(t, t.wake) {
		panics.Do(t.hub.cfg.Log, "topic of live streams", func() { t.takeChanges(time.Now()) })
		pace.Reset(t.hub.cfg.Pace)
	}
	// If the hub stops, viewers are sent what they lack and a hint when to reconnect. Otherwise nobody is left.
	end := *t.state.Load()
	end.final = true
	t.publishState(&end)
	<-t.gone
}

// awaitSignal waits for the signal and returns true, or returns false once the topic's last viewer has left or
// the hub stops.
func awaitSignal[T any](t *topic, signal <-chan T) bool {
	select {
	case <-t.gone:
		return false
	case <-t.hub.stopping:
		return false
	case <-signal:
		return true
	}
}

// takeChanges makes a frame of what has changed. It makes a snapshot too if a viewer wants one and there is
// none, or only one that is older than snapshotLife.
func (t *topic) takeChanges(now time.Time) {
	st := *t.state.Load()
	whole := t.wanted.Load() && (st.snapshot == nil || now.Sub(st.made) >= snapshotLife)
	if whole {
		t.wanted.Store(false) // reset before Take: a viewer that asks after this point may need the next snapshot
	}
	update, snapshot := t.source.Take(whole)
	if len(update) == 0 && len(snapshot) == 0 {
		return
	}
	if len(update) > 0 {
		st.last++
		f := t.encode(st.last, update)
		st.frames = append(slices.Clip(st.frames), f) // clipped, so append copies: viewers still read the old frames
		for st.bytes += len(f.plain); len(st.frames) > ringFrames || st.bytes > ringBytes; st.frames = st.frames[1:] {
			st.bytes -= len(st.frames[0].plain)
		}
		t.hub.metrics.frames.Inc()
		if now.Sub(st.made) >= snapshotLife || st.snapshot != nil && st.snapshot.number+1 < st.firstFrame() {
			st.snapshot = nil
		}
	}
	if len(snapshot) > 0 {
		st.snapshot, st.made = t.encode(st.last, snapshot), now
	}
	t.publishState(&st)
}

// publishState replaces the topic's state, wakes the goroutines that wait for it (by
// closing the old state's next), and tells the shards.
func (t *topic) publishState(st *state) {
	st.next = make(chan struct{})
	close(t.state.Swap(st).next)
	t.hub.writers.notifyTopic(t)
}

// encode makes one frame of events that go out together. Only its last event carries the id, so a
// stream that breaks off within the frame resumes before it.
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
	f.wireBytes(t.packed.Load()) // packed here, because packing a large snapshot takes milliseconds for which a writer's other viewers would wait
	return f
}

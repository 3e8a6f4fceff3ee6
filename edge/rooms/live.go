package rooms

import (
	"bytes"
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/sse"
)

// livePace is how often a node with watchers reads a room, however many watch.
const livePace = time.Second

// watchQueue streams a room. All who watch one room on a node share a source.
func (h *Handlers) watchQueue(c *route.Call, in *api.WatchQueue) (sse.Topic, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return sse.Topic{}, err
	}
	return sse.Topic{
		Name: "queue/" + strconv.FormatInt(number, 10),
		Open: func(ctx context.Context, changed func()) (sse.Source, error) {
			return h.openSource(ctx, number, changed)
		},
	}, nil
}

// source is a room as a stream shows it. Its goroutine reads the room; Close ends it and waits for it.
type source struct {
	h       *Handlers
	number  int64
	changed func()
	latest  atomic.Pointer[frame]
	shown   *frame // the frame that Take returned last
	cancel  context.CancelFunc
	done    chan struct{}
}

// frame is a room at one moment, as JSON.
type frame struct {
	whole   []byte // all of it
	rest    []byte // all of it but the numbers, to see whether anything else has changed
	numbers []byte // its numbers alone, which is what most updates send
}

// numbers are what changes every second while people join and are admitted.
type numbers struct {
	Count  int64 `json:"count"`
	Served int64 `json:"served"`
}

// openSource reads the room once, so that a stream begins with it or is refused, and then starts the goroutine,
// which outlives the request.
func (h *Handlers) openSource(ctx context.Context, number int64, changed func()) (*source, error) {
	s := &source{h: h, number: number, changed: changed, done: make(chan struct{})}
	if err := s.read(ctx, h.Node.Now()); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	go s.follow(run)
	return s, nil
}

// follow reads the room again and again until Close.
func (s *source) follow(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(livePace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			bounded, cancel := context.WithTimeout(ctx, livePace)
			_ = s.read(bounded, s.h.Node.Now()) // the next tick reads again; watchers keep what they have
			cancel()
		}
	}
}

// read reads the room from the node's memory, and tells watchers if it differs.
func (s *source) read(ctx context.Context, now time.Time) error {
	r, err := s.h.findRoom(ctx, s.number)
	if err != nil {
		return err
	}
	v, err := s.h.showQueue(ctx, now, s.number, r)
	if err != nil {
		return err
	}
	f := new(frame)
	if f.whole, err = json.Marshal(v, route.Encoding); err != nil {
		return err
	}
	if f.numbers, err = json.Marshal(numbers{v.Count, v.Served}, route.Encoding); err != nil {
		return err
	}
	v.Count, v.Served = 0, 0
	if f.rest, err = json.Marshal(v, route.Encoding); err != nil {
		return err
	}
	if last := s.latest.Load(); last != nil && bytes.Equal(last.whole, f.whole) {
		return nil
	}
	s.latest.Store(f)
	s.changed()
	return nil
}

// Take returns the room if it is newer than what it returned last: its numbers alone, if nothing else has changed.
// whole asks for all of it in any case, for a watcher that has just come.
func (s *source) Take(whole bool) (update, snapshot []sse.Event) {
	latest := s.latest.Load()
	all := []sse.Event{{Name: "snapshot", Data: latest.whole}}
	if s.shown != latest {
		update = all
		if s.shown != nil && bytes.Equal(s.shown.rest, latest.rest) {
			update = []sse.Event{{Name: "numbers", Data: latest.numbers}}
		}
		s.shown = latest
	}
	if whole {
		snapshot = all
	}
	return update, snapshot
}

// Close ends the source's goroutine.
func (s *source) Close() {
	s.cancel()
	<-s.done
}

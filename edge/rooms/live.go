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

// livePace is how often a node reads a room that somebody watches, however many people watch it.
const livePace = time.Second

// watchQueue streams a room to a page that stays open. All people who watch the same room on a node
// share one source.
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

// source is a room as a stream shows it. Its goroutine reads the room at livePace. Close ends the
// goroutine and waits for it.
type source struct {
	h       *Handlers
	number  int64
	changed func()
	latest  atomic.Pointer[frame]
	shown   *frame // the frame that Take returned last
	cancel  context.CancelFunc
	done    chan struct{}
}

// frame is a room at one moment, as JSON. It is divided because most updates change only the
// numbers.
type frame struct {
	// whole is the whole room.
	whole []byte
	// rest is the room with its numbers set to 0. If it differs, more than the numbers has changed.
	rest []byte
	// numbers are the numbers alone, which most updates send.
	numbers []byte
}

// numbers are the counts that change every second while people join and are admitted.
type numbers struct {
	Count  int64 `json:"count"`
	Served int64 `json:"served"`
}

// openSource reads the room once, so that the first snapshot has the room, and returns an error if that fails. It
// then starts the source's goroutine, which goes on after the request until Close.
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

// follow reads the room at livePace until Close.
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
			// An error is dropped: the next tick reads again, and until then watchers keep what
			// they have.
			_ = s.read(bounded, s.h.Node.Now())
			cancel()
		}
	}
}

// read reads the room and, if what visitors see of it has changed, keeps that as the latest and calls s.changed. It
// also keeps the numbers alone, and the view without them: if only the numbers have changed, viewers are sent only
// these.
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
	// Two views without their numbers are equal if nothing else has changed.
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

// Take returns the room if it is newer than at the last call. If only the numbers have changed, it
// returns them alone. With whole it also returns a snapshot, for a watcher that has just come.
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

// Close ends the source's goroutine and waits for its end.
func (s *source) Close() {
	s.cancel()
	<-s.done
}

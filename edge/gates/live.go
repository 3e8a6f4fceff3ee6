package gates

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/sse"
	"boxoffice/engine"
	"boxoffice/engine/admission"
)

const (
	// liveTokenLife is how long a token waits to open a stream.
	liveTokenLife = time.Minute
	// livePace is how often a node with watchers asks the event for its numbers, however
	// many watch.
	livePace = 2 * time.Second
	// liveSilence is after how long watchers are told numbers that have not changed.
	liveSilence = 30 * time.Second
)

// openLiveToken makes a token that opens one stream. It is for readers that can send no header, as an EventSource
// in a browser.
func (h *Handlers) openLiveToken(c *route.Call, in *api.ByID) (*api.LiveToken, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	v := &api.LiveToken{Token: rand.Text(), ExpiresAt: api.Moment(c.Now.Add(liveTokenLife).UnixMilli())}
	return v, h.LiveTokens.Add(c.Context, number, v.Token, c.Now, v.ExpiresAt)
}

// watchGates streams the numbers of an event's gates.
func (h *Handlers) watchGates(c *route.Call, in *api.WatchGates) (sse.Topic, error) {
	number, err := h.findWatched(c, in.ID)
	if err != nil {
		return sse.Topic{}, err
	}
	return sse.Topic{
		Name: "gates/" + strconv.FormatInt(number, 10),
		Open: func(ctx context.Context, changed func()) (sse.Source, error) {
			return h.openGateSource(ctx, number, changed)
		},
	}, nil
}

// findWatched finds the event whose gates the caller may watch, by a credential of its
// organization or by a token that was made for the stream.
func (h *Handlers) findWatched(c *route.Call, id string) (int64, error) {
	if c.Principal.Kinds.Has(own) {
		return h.Known.FindOwn(c, id)
	}
	unknown := &engine.Refusal{Code: engine.Unauthorized, Message: "This token does not open the stream; each does so once, within a minute."}
	number, _, err := h.Known.ReadID(c.Context, id)
	if err != nil {
		if r, ok := err.(*engine.Refusal); ok && r.Code == engine.EventNotFound { //nolint:errorlint // refusals are not wrapped
			return 0, unknown
		}
		return 0, err
	}
	opens, err := h.LiveTokens.Redeem(c.Context, number, c.Principal.Token, c.Now)
	if err == nil && !opens {
		err = unknown
	}
	return number, err
}

// gateSource is the numbers of an event's gates as a stream shows them. Its goroutine
// asks the event; Close ends it and waits for it.
type gateSource struct {
	h       *Handlers
	number  int64
	changed func()
	latest  atomic.Pointer[gateFrame]
	shown   *gateFrame // the frame that Take returned last
	alarmed int64      // the highest alarm that this stream has told, in percent
	cancel  context.CancelFunc
	done    chan struct{}
}

// gateFrame is what the gates' numbers were at one moment.
type gateFrame struct {
	data  []byte    // the numbers as JSON
	at    time.Time // when the event was asked
	alarm int64     // in percent of the limit; 0: none
}

// openGateSource asks the event once, so that a stream begins with numbers or is refused, and then starts the
// goroutine. The goroutine outlives the request that has opened the stream.
func (h *Handlers) openGateSource(ctx context.Context, number int64, changed func()) (*gateSource, error) {
	s := &gateSource{h: h, number: number, changed: changed, done: make(chan struct{})}
	if err := s.askNumbers(ctx, time.Now()); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	go s.follow(run)
	return s, nil
}

// follow asks the event again and again until Close.
func (s *gateSource) follow(ctx context.Context) {
	defer close(s.done)
	ticker := time.NewTicker(livePace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			bounded, cancel := context.WithTimeout(ctx, livePace)
			_ = s.askNumbers(bounded, now) // the next tick asks again; watchers keep what they have
			cancel()
		}
	}
}

// askNumbers asks the event for the numbers, and tells watchers if they differ from the last ones, or those are
// old. Old numbers are told again so that a watcher knows that the stream lives.
func (s *gateSource) askNumbers(ctx context.Context, now time.Time) error {
	says, err := cluster.AskFor[admission.Stats](ctx, s.h.Node, engine.EventRef(s.number), admission.GateStats{})
	if err != nil {
		return err
	}
	view := s.h.statsView(s.number, says, now)
	data, err := json.Marshal(view, route.Encoding)
	if err != nil {
		return err
	}
	if last := s.latest.Load(); last != nil && bytes.Equal(last.data, data) && now.Sub(last.at) < liveSilence {
		return nil
	}
	frame := &gateFrame{data: data, at: now}
	if view.InsideAlarm != nil {
		frame.alarm = *view.InsideAlarm
	}
	s.latest.Store(frame)
	s.changed()
	return nil
}

// Take returns the numbers if they are newer than those that it returned last, with an alarm if it is higher than
// any before. whole asks for the numbers in any case, for a watcher that has just come.
func (s *gateSource) Take(whole bool) (update, snapshot []sse.Event) {
	latest := s.latest.Load()
	frame := []sse.Event{{Name: "snapshot", Data: latest.data}}
	if s.shown != latest {
		s.shown, update = latest, frame
		if latest.alarm > s.alarmed { // each is told once, though people go on going in and out
			s.alarmed = latest.alarm
			update = append(slices.Clone(frame), sse.Event{Name: "alarm", Data: latest.data})
		}
	}
	if whole {
		snapshot = frame
	}
	return update, snapshot
}

// Close ends the source's goroutine.
func (s *gateSource) Close() {
	s.cancel()
	<-s.done
}

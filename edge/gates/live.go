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
	// liveTokenLife is how long a token may wait before it opens a stream.
	liveTokenLife = time.Minute
	// livePace is how often a node with watchers asks the event for its counters, however many
	// people watch.
	livePace = 2 * time.Second
	// liveSilence is the time after which watchers get the counters again even if they have not changed.
	liveSilence = 30 * time.Second
)

// openLiveToken makes a token that opens one stream. It is for clients that can send no header,
// such as an EventSource in a browser. The token stands in the stream's address, so it works only
// once.
func (h *Handlers) openLiveToken(c *route.Call, in *api.ByID) (*api.LiveToken, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	v := &api.LiveToken{Token: rand.Text(), ExpiresAt: api.Moment(c.Now.Add(liveTokenLife).UnixMilli())}
	return v, h.LiveTokens.Add(c.Context, number, v.Token, c.Now, v.ExpiresAt)
}

// watchGates streams the counters of an event's gates.
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

// findWatched finds the event whose gates the caller may watch: by a credential of the event's organization, or
// by a token that was made for the stream. The call uses the token up. To a caller with a token, an event that
// does not exist is refused like a token that is not valid.
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

// gateSource is the counters of an event's gates as a stream shows them. Its goroutine asks the
// event at livePace. Close ends the goroutine and waits for it.
type gateSource struct {
	h       *Handlers
	number  int64
	changed func()
	latest  atomic.Pointer[gateFrame]
	shown   *gateFrame // the frame that Take returned last
	// alarmed is the highest alarm, in percent, that Take has returned.
	alarmed int64
	cancel  context.CancelFunc
	done    chan struct{}
}

// gateFrame is the counters of an event's gates at one moment.
type gateFrame struct {
	data  []byte    // the numbers as JSON
	at    time.Time // when the event was asked
	alarm int64     // the alarm, in percent of the limit (90 or 100); 0: none
}

// openGateSource asks the event once, so that a stream begins with counters or is refused. It then
// starts the goroutine, which outlives the request that opened the stream.
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

// follow asks the event at livePace until Close.
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
			// An error is dropped: the next tick asks again, and until then watchers keep what they
			// have.
			_ = s.askNumbers(bounded, now)
			cancel()
		}
	}
}

// askNumbers asks the event for its counters. If they differ from the latest, or if the latest are older than
// liveSilence, it keeps the new ones as the latest and calls s.changed. Unchanged counters are sent again so that a
// watcher knows that the stream is alive.
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

// Take returns the counters if they are newer than at its last call. It adds an alarm if the alarm
// is higher than any before. With whole it also returns a snapshot, for a watcher that has just
// come.
func (s *gateSource) Take(whole bool) (update, snapshot []sse.Event) {
	latest := s.latest.Load()
	frame := []sse.Event{{Name: "snapshot", Data: latest.data}}
	if s.shown != latest {
		s.shown, update = latest, frame
		// Each alarm is sent only once, because the number of people goes up and down around the limit.
		if latest.alarm > s.alarmed {
			s.alarmed = latest.alarm
			update = append(slices.Clone(frame), sse.Event{Name: "alarm", Data: latest.data})
		}
	}
	if whole {
		snapshot = frame
	}
	return update, snapshot
}

// Close ends the source's goroutine and waits until it has ended.
func (s *gateSource) Close() {
	s.cancel()
	<-s.done
}

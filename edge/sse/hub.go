// Package sse sends Server-Sent Events (WHATWG HTML, section 9.2) to tens of
// thousands of viewers. It owns the viewers' connections from the moment the
// edge has answered their request with Hub.Serve, and knows nothing of what is
// in the events.
//
// A viewer watches one topic. A topic lives from its first viewer to its last. One goroutine per
// topic asks its Source what has changed, at most 20 times a second, makes a frame of the changes,
// encodes it once and keeps it in a short ring. A viewer is little more than its place in that
// ring. Plain connections on Linux are written by GOMAXPROCS goroutines in all, with writes that
// never wait; every other connection (TLS, other systems) has a goroutine of its own. A viewer that
// falls off the ring is sent a snapshot; a viewer that takes nothing for five seconds is cut off.
//
// The edge makes one Hub with New and ends it with Stop, which ends every
// stream and waits for every goroutine.
package sse

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"boxoffice/engine"
)

// sendBuffer is the size of a viewer's send buffer in the kernel, in bytes (Linux doubles it). With
// the default size the kernel takes megabytes for a viewer that reads nothing before we notice.
const sendBuffer = 32 << 10

// Config configures a Hub. A zero value means the default that is given in brackets.
type Config struct {
	MaxViewers    int                   // most viewers of this node (20,000)
	MaxPerAddress int                   // most viewers from one address (256)
	Pace          time.Duration         // least time between two frames of a topic (50 ms)
	KeepAlive     time.Duration         // how long nothing is sent before a viewer is sent a comment (15 s)
	Refresh       time.Duration         // about how often a viewer is sent a new snapshot (1 min)
	Stall         time.Duration         // how long a viewer may take nothing before it is cut off (5 s)
	Metrics       prometheus.Registerer // required
	Log           *slog.Logger          // where panics are logged (nowhere)
}

// Hub has the topics and viewers of a node. Its methods may be called by any
// goroutine.
type Hub struct {
	cfg      Config
	born     time.Time
	metrics  *metrics
	writers  *writers
	comment  *frame     // an empty comment, which keeps a silent connection open
	hints    [16]*frame // when to reconnect: different times, so that viewers who lose their streams together return apart
	stopping chan struct{}
	cut      chan struct{}  // closed when streams must end at once
	live     sync.WaitGroup // streams that have begun
	running  sync.WaitGroup // the goroutines of topics and of shards

	// mu guards the fields below, and the count of viewers of each topic.
	mu        sync.Mutex
	stopped   bool
	viewers   int
	addresses map[netip.Addr]int
	topics    map[string]*topic
	direct    map[*viewer]struct{} // viewers that have a goroutine each
}

// New makes a hub and starts its writers.
func New(cfg Config) (*Hub, error) {
	cfg.MaxViewers = cmp.Or(cfg.MaxViewers, 20_000)
	cfg.MaxPerAddress = cmp.Or(cfg.MaxPerAddress, 256)
	cfg.Pace = cmp.Or(cfg.Pace, 50*time.Millisecond)
	cfg.KeepAlive = cmp.Or(cfg.KeepAlive, 15*time.Second)
	cfg.Refresh = cmp.Or(cfg.Refresh, time.Minute)
	cfg.Stall = cmp.Or(cfg.Stall, 5*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	h := &Hub{
		cfg: cfg, born: time.Now(), metrics: newMetrics(cfg.Metrics),
		comment:  &frame{plain: []byte(":\n\n")},
		stopping: make(chan struct{}), cut: make(chan struct{}),
		addresses: map[netip.Addr]int{}, topics: map[string]*topic{}, direct: map[*viewer]struct{}{},
	}
	for i := range h.hints {
		h.hints[i] = &frame{plain: fmt.Appendf(nil, "retry: %d\n\n", 1000+i*250)}
	}
	var err error
	if h.writers, err = startWriters(h); err != nil {
		return nil, fmt.Errorf("start sse writers: %w", err)
	}
	return h, nil
}

// now returns the time since the hub began, from a monotonic clock, so that a change of the
// wall clock cuts no viewer off.
func (h *Hub) now() time.Duration { return time.Since(h.born) }

// Request asks for a stream.
type Request struct {
	Topic  Topic
	Client netip.Addr // the address for which MaxPerAddress counts the viewer
	LastID string     // the header Last-Event-ID, which says where an earlier stream broke off; or empty
}

// Serve answers the request with a stream of the topic, or returns a refusal, the error of Topic.Open or the error
// of ctx. The stream begins when the server's handler has returned. Its HTTP header is the response's header at
// that moment, with everything that the edge sets on every answer. The server must not close hijacked connections.
// ctx limits how long Serve waits for a topic to open. A HEAD request gets only the header.
func (h *Hub) Serve(ctx context.Context, rc *fasthttp.RequestCtx, r Request) error {
	head := &rc.Response.Header
	packed := rc.Request.Header.HasAcceptEncoding("gzip")
	if !rc.IsHead() {
		v, err := h.enterTopic(ctx, &r)
		if err != nil {
			return err
		}
		v.packed, v.conn = packed, rc.Conn()
		rc.HijackSetNoResponse(true)
		rc.Hijack(func(net.Conn) { h.start(v, head.AppendBytes(nil), r.LastID) })
	}
	rc.SetStatusCode(fasthttp.StatusOK)
	head.SetContentType("text/event-stream")
	head.Set(fasthttp.HeaderCacheControl, "no-store")
	head.Set("X-Accel-Buffering", "no")
	if packed {
		head.SetContentEncoding("gzip")
	}
	// The stream has no length and no chunks, and ends when the connection ends. So the same bytes of a frame
	// serve HTTP/1.0 and HTTP/1.1. Clients reconnect in any case.
	head.SetConnectionClose()
	return nil
}

// enterTopic counts a viewer if the limits allow it, opens the viewer's topic if it is the
// first, and otherwise waits until the topic is open. On an error the viewer's place has
// been given back.
func (h *Hub) enterTopic(ctx context.Context, r *Request) (_ *viewer, err error) {
	t, first, err := h.admitViewer(r)
	if err != nil {
		h.metrics.refused.Inc()
		return nil, err
	}
	v := &viewer{topic: t, client: r.Client, lot: uint8(rand.IntN(len(h.hints)))} //nolint:gosec // 16 fit
	entered := false
	defer func() { // deferred, because Open may panic
		if !entered {
			h.releaseViewer(v)
		}
	}()
	if first {
		t.open(ctx, r.Topic)
	}
	select {
	case <-t.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.err != nil {
		return nil, t.err
	}
	entered = true
	return v, nil
}

// admitViewer counts a viewer, if the limits allow it, and returns the viewer's topic, which it makes if
// there is none. first reports whether the caller must still open the topic. The caller gives the viewer's
// place back with releaseViewer.
func (h *Hub) admitViewer(r *Request) (t *topic, first bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	later := 5 + rand.IntN(10) // seconds until the client should try again, when another viewer may have left
	switch {
	case h.stopped:
		return nil, false, engine.Refuse(engine.Unavailable, nil)
	case h.viewers >= h.cfg.MaxViewers:
		return nil, false, &engine.Refusal{Code: engine.Overloaded, Message: "Too many live streams.", Retry: later}
	case h.addresses[r.Client] >= h.cfg.MaxPerAddress:
		return nil, false, &engine.Refusal{Code: engine.RateLimited, Message: "Too many live streams from this address.", Retry: later}
	}
	t = h.topics[r.Topic.Name]
	if t == nil {
		t, first = newTopic(h, r.Topic.Name), true
		h.topics[r.Topic.Name] = t
	}
	h.viewers++
	h.addresses[r.Client]++
	t.viewers++
	return t, first, nil
}

// releaseViewer gives a viewer's place back, and ends its topic if the viewer was the topic's last.
func (h *Hub) releaseViewer(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.viewers--
	if h.addresses[v.client]--; h.addresses[v.client] == 0 {
		delete(h.addresses, v.client)
	}
	if v.topic.viewers--; v.topic.viewers == 0 {
		h.dropTopic(v.topic)
	}
}

// dropTopic ends a topic. The next viewer who asks for that name makes a new one, so a
// topic that is ending and its successor may exist side by side. The caller holds h.mu.
func (h *Hub) dropTopic(t *topic) {
	if h.topics[t.name] == t {
		delete(h.topics, t.name)
	}
	t.once.Do(func() { close(t.gone) })
}

// start begins the stream on the connection, which belongs to the hub from here on. The
// first bytes are the head of the HTTP answer and the hint when to come back after a break.
func (h *Hub) start(v *viewer, head []byte, lastID string) {
	h.mu.Lock()
	// Stop sets the field under the same lock, so it either sees this viewer in h.live or
	// the viewer sees that the hub has stopped.
	stopped := h.stopped
	if !stopped {
		h.live.Add(1)
		h.metrics.viewers.Inc()
	}
	h.mu.Unlock()
	if stopped {
		_ = v.conn.Close() // the viewer goes even if this fails
		h.releaseViewer(v)
		return
	}
	now := h.now()
	if v.packed {
		head = append(head, gzipHeader...)
		v.topic.packed.Store(true)
	}
	v.rest = append(head, h.hints[v.lot].wireBytes(v.packed)...)
	v.began, v.moved, v.refresh = now, now, h.refreshAt(now)
	v.resumeAfter(lastID)
	inner, plain := innerConnection(v.conn)
	if tcp, ok := inner.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // on failure the default remains, which only costs more memory
	}
	if plain && h.writers.takeViewer(v, inner) {
		return
	}
	go h.write(v) // on a goroutine of its own, so that the request's memory is freed
}

// closeConnection closes the connection of a viewer whose stream has ended.
func (h *Hub) closeConnection(v *viewer) {
	_ = v.conn.Close() // the viewer goes even if this fails
	h.releaseViewer(v)
	h.metrics.viewers.Dec()
	h.live.Done()
}

// refreshAt returns when a viewer is due a new snapshot: at a random time between three
// quarters and five quarters of Refresh from now, so that viewers who came together do not
// ask together.
func (h *Hub) refreshAt(now time.Duration) time.Duration {
	return now + h.cfg.Refresh*3/4 + rand.N(h.cfg.Refresh/2)
}

// Stop ends every stream. Each viewer is first sent what it lacks, if the topic still has it, and a hint when to
// reconnect. When ctx ends, viewers that have not taken these are cut off, and Stop returns an error. Stop returns
// when every goroutine of the hub has ended. A second call only waits for that.
func (h *Hub) Stop(ctx context.Context) error {
	h.mu.Lock()
	again := h.stopped
	h.stopped = true
	h.mu.Unlock()
	if again {
		h.running.Wait()
		return nil
	}
	close(h.stopping)
	ended := make(chan struct{})
	go func() {
		h.live.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("stop sse: %w", ctx.Err())
		close(h.cut)
		h.writers.wakeShards()
		h.closeDirect()
		<-ended
	}
	h.mu.Lock()
	for _, t := range h.topics { // A topic is left if a viewer's connection broke before the stream began.
		h.dropTopic(t)
	}
	h.mu.Unlock()
	h.writers.stop()
	h.running.Wait()
	return err
}

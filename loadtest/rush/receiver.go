package rush

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/openloop"
)

// Behaviour is the way in which an endpoint answers webhooks.
type Behaviour string

// The behaviours.
const (
	Healthy Behaviour = "healthy"
	// Takes the request and never answers.
	Hanging Behaviour = "hanging"
	// Answers 500.
	Failing Behaviour = "failing"
	// Answers 307 with an address that the service must not go to.
	Redirecting Behaviour = "redirecting"
	// Answers with headers that come one byte a second.
	Dripping Behaviour = "dripping"
)

// Receiver receives webhooks at endpoints of the harness. Each endpoint has a port of its own, so
// that the service takes each for another host. Close ends it.
type Receiver struct {
	server    *fasthttp.Server
	endpoints []*Endpoint
	serving   sync.WaitGroup
	listeners []net.Listener
	// Closing it ends the handlers that hang.
	done chan struct{}
	// How many requests came to the address of a redirect. The service must follow none.
	strayed atomic.Int64
}

// Endpoint is one endpoint.
type Endpoint struct {
	receiver  *Receiver
	behaviour Behaviour
	url       string
	org       *Organizer
	id        string // the endpoint's id at the service
	secret    string

	mu sync.Mutex
	// How often each fact has arrived, by the fact's id.
	seen     map[string]int
	orders   map[string]bool // the orders whose creation has arrived
	admitted map[string]int  // how many admissions have arrived, by ticket
	// For each event the seq of the first attempt that came last.
	last     map[string]int64
	Requests int64
	// How many requests had a wrong signature or could not be read.
	forged int64
	// How many first attempts came after a later fact of their event.
	unsorted int64
	lag      *hdrhistogram.Histogram
	// When the latest new fact arrived.
	latest time.Time
}

// maxLag is the longest delay that is told apart, in microseconds: an hour.
const maxLag = 3_600_000_000

// StartReceiver makes a receiver without endpoints. Close it.
func StartReceiver() *Receiver {
	m := &Receiver{done: make(chan struct{})}
	m.server = &fasthttp.Server{Handler: m.serveRequest, NoDefaultServerHeader: true, NoDefaultDate: true, MaxRequestBodySize: 16 << 20, Logger: silentLog{}}
	return m
}

// silentLog drops the server's complaints about requests that the service has given up.
type silentLog struct{}

// Printf drops.
func (silentLog) Printf(string, ...any) {}

// AddEndpoint makes an endpoint that listens, and subscribes it as the organizer to some types of
// facts, or to all if none is named.
func (m *Receiver) AddEndpoint(ctx context.Context, o *Organizer, how Behaviour, types ...string) error {
	if len(types) == 0 {
		types = []string{"*"}
	}
	// The endpoint listens before it is subscribed, because the first webhook may come at once.
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	h := &Endpoint{
		receiver: m, behaviour: how, org: o, url: fmt.Sprintf("http://%s/%d", ln.Addr(), len(m.endpoints)),
		seen: map[string]int{}, orders: map[string]bool{}, admitted: map[string]int{}, last: map[string]int64{}, lag: hdrhistogram.New(1, maxLag, 3),
	}
	m.endpoints = append(m.endpoints, h)
	m.listeners = append(m.listeners, ln)
	m.serving.Go(func() { _ = m.server.Serve(ln) }) // ends with Close
	var made struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	if err := o.Post(ctx, "/webhooks", map[string]any{"url": h.url, "events": types}, &made); err != nil {
		return err
	}
	h.id, h.secret = made.ID, made.Secret
	return nil
}

// Close ends the receiver, also if ctx has ended.
func (m *Receiver) Close(ctx context.Context) error {
	// The handlers that hang must end first, or the shutdown would wait for them.
	close(m.done)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := m.server.ShutdownWithContext(ctx)
	for _, ln := range m.listeners {
		_ = ln.Close() // Shutdown does not know one that is not served yet
	}
	m.serving.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // somebody holds a connection open, whose end is not waited for
	}
	return err
}

// EndpointsThat returns the endpoints that behave in one way.
func (m *Receiver) EndpointsThat(how Behaviour) []*Endpoint {
	var some []*Endpoint
	for _, h := range m.endpoints {
		if h.behaviour == how {
			some = append(some, h)
		}
	}
	return some
}

// serveRequest notes a request for the endpoint that its path names, and answers in that endpoint's
// way.
func (m *Receiver) serveRequest(ctx *fasthttp.RequestCtx) {
	at := time.Now()
	var n int
	// The only other address that the service ever sees is the one of a redirect.
	if _, err := fmt.Sscanf(string(ctx.Path()), "/%d", &n); err != nil || n >= len(m.endpoints) {
		m.strayed.Add(1)
		return
	}
	h := m.endpoints[n]
	h.noteRequest(ctx, at)
	switch h.behaviour {
	case Hanging:
		<-m.done
	case Failing:
		ctx.SetStatusCode(fasthttp.StatusInternalServerError)
	case Redirecting:
		ctx.Response.Header.Set("Location", strings.TrimSuffix(h.url, fmt.Sprintf("/%d", n))+"/elsewhere")
		ctx.SetStatusCode(fasthttp.StatusTemporaryRedirect)
	case Dripping:
		ctx.HijackSetNoResponse(true)
		ctx.Hijack(m.answerSlowly)
	case Healthy:
		ctx.SetStatusCode(fasthttp.StatusNoContent)
	}
}

// answerSlowly sends one byte a second, until the other side breaks off.
func (m *Receiver) answerSlowly(conn net.Conn) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	text := []byte("HTTP/1.1 200 OK\r\nX-Drip: ")
	for {
		if _, err := conn.Write(text); err != nil {
			return
		}
		text = []byte("x")
		select {
		case <-tick.C:
		case <-m.done:
			return
		}
	}
}

// deliveredFact is what the harness reads of a fact, in a webhook or in the feed.
type deliveredFact struct {
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Created time.Time `json:"created"`
	Seq     int64     `json:"seq"`
	Data    struct {
		Order  struct{ ID, EventID string } `json:"order"`
		Ticket struct{ ID, EventID string } `json:"ticket"`
	} `json:"data"`
}

// actingEvent returns the event whose actor decided the fact, if the fact is about an order or a
// ticket. Facts of one event come in order; facts of different events need not.
func (f *deliveredFact) actingEvent() string {
	if f.Data.Order.EventID != "" {
		return f.Data.Order.EventID
	}
	return f.Data.Ticket.EventID
}

// noteRequest notes a request. For an endpoint that is not healthy it only counts it.
func (h *Endpoint) noteRequest(ctx *fasthttp.RequestCtx, at time.Time) {
	h.mu.Lock()
	h.Requests++
	h.mu.Unlock()
	if h.behaviour != Healthy {
		return
	}
	body := ctx.PostBody()
	var f deliveredFact
	// The signature is checked before the lock is taken, because it needs nothing that the lock guards.
	genuine := h.isSignedBy(string(ctx.Request.Header.Peek("X-Service-Signature")), body, at) && json.Unmarshal(body, &f) == nil
	first := string(ctx.Request.Header.Peek("X-Service-Attempt")) == "1"
	h.mu.Lock()
	defer h.mu.Unlock()
	if !genuine {
		h.forged++
		return
	}
	h.seen[f.ID]++
	if h.seen[f.ID] > 1 {
		return
	}
	// Delay and order are measured at the first arrival. A repeat says nothing about them.
	h.latest = at
	_ = h.lag.RecordValue(min(max(1, at.Sub(f.Created).Microseconds()), maxLag)) // within its range
	switch f.Type {
	case "order.created":
		h.orders[f.Data.Order.ID] = true
	case Admitted:
		h.admitted[f.Data.Ticket.ID]++
	}
	// A repeated attempt may come late, so only first attempts must be in order.
	if event := f.actingEvent(); event != "" && first {
		if f.Seq < h.last[event] {
			h.unsorted++
		}
		h.last[event] = f.Seq
	}
}

// isSignedBy reports whether a body has a signature by the endpoint's secret that is at most five
// minutes old.
func (h *Endpoint) isSignedBy(signature string, body []byte, now time.Time) bool {
	at, sum, ok := strings.Cut(strings.TrimPrefix(signature, "t="), ",v1=")
	got, err := hex.DecodeString(sum)
	var seconds int64
	if _, scan := fmt.Sscan(at, &seconds); !ok || err != nil || scan != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(h.secret))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}

// Admitted is the type of the fact that a ticket was admitted.
const Admitted = "ticket.checked_in"

// Admissions returns how many admissions of each ticket have arrived.
func (h *Endpoint) Admissions() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.admitted)
}

// CountArrived returns how many facts have arrived, and how many deliveries were repeats.
func (h *Endpoint) CountArrived() (events, again int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.seen {
		again += int64(n - 1)
	}
	return int64(len(h.seen)), again
}

// DeliveryDelays returns the delays from a fact's moment to its first arrival, over some endpoints.
func DeliveryDelays(hooks []*Endpoint) openloop.Percentiles {
	all := hdrhistogram.New(1, maxLag, 3)
	for _, h := range hooks {
		h.mu.Lock()
		all.Merge(h.lag)
		h.mu.Unlock()
	}
	return openloop.PercentilesOf(all)
}

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// value is a metric's, the sum over its labels.
func value(s *nodetest.Shop, name string) (sum float64) {
	s.T.Helper()
	for line := range strings.Lines(s.Metric()) {
		fields := strings.Fields(line)
		if family, _, _ := strings.Cut(fields[0], "{"); family == name {
			v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			require.NoError(s.T, err)
			sum += v
		}
	}
	return sum
}

// settles waits until each of the nodes has links to all others.
func settles(t *testing.T, nodes ...*nodetest.Shop) {
	t.Helper()
	for _, s := range nodes {
		require.Eventually(t, func() bool {
			return value(s, "boxoffice_members") == float64(len(nodes)) && value(s, "boxoffice_links_up") == float64(len(nodes)-1) && value(s, "boxoffice_ready") == 1
		}, 30*time.Second, 20*time.Millisecond, s.Config().Node)
	}
}

// surely is own, again and again while a busy machine answers 503.
func surely(s *nodetest.Shop, method, path string, body any, status int) nodetest.Answer {
	s.T.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		a := s.Own(method, path, body)
		if a.Status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return a.Is(status, "")
		}
	}
}

// free puts free tickets on sale.
func free(s *nodetest.Shop, quantity int) (event, ticketType string) {
	s.T.Helper()
	event = surely(s, "POST", "/organizer/events", nodetest.EventBody(), 201).Str("id")
	ticketType = surely(s, "POST", "/organizer/events/"+event+"/tickets", nodetest.With(nodetest.TypeBody(0, quantity), nodetest.Object{"type": "free"}), 201).Str("id")
	surely(s, "POST", "/organizer/events/"+event+"/publish", nil, 200)
	return event, ticketType
}

// Two nodes with certificates, as files, share the work: what one sells the other
// shows, and both say how they stand.
func TestNodesOverMutualTLS(t *testing.T) {
	t.Parallel()
	certs := nodetest.Certificates(t)
	a := nodetest.Open(t, nodetest.Clustered("a", "", certs))
	b := nodetest.Open(t, nodetest.Clustered("b", a.Config().DatabaseURL, certs))
	settles(t, a, b)
	for range 16 { // some on each
		event, ticketType := free(a, 10)
		b.Token = a.Token // one organizer
		surely(b, "POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 2), 201)
		require.Equal(t, "8", surely(a, "GET", "/events/"+event+"/tickets", nil, 200).Str("items.0.available"))
	}
	require.Positive(t, value(a, "boxoffice_actors"))
	require.Positive(t, value(b, "boxoffice_actors"))
	require.Zero(t, value(a, "boxoffice_links_refused_total"))
}

// rush is buyers of free tickets, who come again under their key until they are
// told what became of it.
type rush struct {
	t      *testing.T
	url    func() string // of the next try
	done   chan struct{}
	ending sync.Once
	buyers sync.WaitGroup
	sold   sync.Map // ticket type -> *atomic.Int64
	total  atomic.Int64
	other  sync.Map // answers that are neither success nor "come again"
}

func startRush(t *testing.T, buyers int, types []string, url func() string) *rush {
	r := &rush{t: t, url: url, done: make(chan struct{})}
	for _, id := range types {
		r.sold.Store(id, new(atomic.Int64))
	}
	for i := range buyers {
		r.buyers.Go(func() {
			for n := i; ; n++ {
				select {
				case <-r.done:
					return
				default:
					r.buy(types[n%len(types)])
				}
			}
		})
	}
	t.Cleanup(r.leave) // a test that fails early must not audit a journal that still grows
	return r
}

// leave ends the buyers and waits for them.
func (r *rush) leave() {
	r.ending.Do(func() { close(r.done) })
	r.buyers.Wait()
}

// buy places one order, whatever it takes.
func (r *rush) buy(ticketType string) {
	body, err := json.Marshal(nodetest.OrderBody(uuid.NewString()+"@example.org", ticketType, 1))
	if err != nil {
		r.other.Store(err.Error(), true)
		return
	}
	key := uuid.NewString()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.url()+"/orders", bytes.NewReader(body))
		if err != nil {
			r.other.Store(err.Error(), true)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // the node is gone: another
		}
		text, _ := io.ReadAll(res.Body) // its connection may be cut
		_ = res.Body.Close()            // read
		switch res.StatusCode {
		case http.StatusCreated, http.StatusOK:
			sold, _ := r.sold.Load(ticketType)
			sold.(*atomic.Int64).Add(1)
			r.total.Add(1)
			return
		case http.StatusServiceUnavailable:
			if res.Header.Get("Retry-After") == "" {
				r.other.Store("503 without Retry-After: "+string(text), true)
			}
			<-time.After(20 * time.Millisecond)
		case http.StatusConflict: // of the try before, which nobody waits for
			<-time.After(20 * time.Millisecond)
		default:
			r.other.Store(res.Status+" "+string(text), true)
			return
		}
	}
	r.other.Store("an order got no answer within a minute", true)
}

func (r *rush) end() {
	r.t.Helper()
	r.leave()
	r.other.Range(func(what, _ any) bool {
		require.Fail(r.t, "a buyer was told", "%v", what)
		return true
	})
}

// atLeast waits until so many more orders are placed.
func (r *rush) atLeast(more int64) {
	r.t.Helper()
	from := r.total.Load()
	require.Eventually(r.t, func() bool { return r.total.Load() >= from+more }, time.Minute, 5*time.Millisecond)
}

// stopsWithin bounds an orderly stop under load: 10 s on a machine of its own.
const stopsWithin = 20 * time.Second

// A node under load stops in order and in time, and the other one has everything:
// no order fails that is repeated as told, and each has one effect. The package's
// search for leaks finds no goroutine of it.
func TestANodeStopsUnderLoad(t *testing.T) {
	t.Parallel()
	a := nodetest.Open(t, nodetest.Clustered("a", ""))
	b := nodetest.Open(t, nodetest.Clustered("b", a.Config().DatabaseURL))
	settles(t, a, b)
	var types []string
	events := map[string]string{}
	for range 6 {
		event, ticketType := free(a, 100_000)
		types = append(types, ticketType)
		events[ticketType] = event
	}
	var stopped atomic.Bool
	var turn atomic.Int64
	r := startRush(t, 12, types, func() string {
		if stopped.Load() || turn.Add(1)%2 == 0 {
			return b.URL
		}
		return a.URL
	})
	r.atLeast(50)
	began := time.Now()
	a.HandOver(t.Context())
	handed := time.Since(began)
	require.Zero(t, a.Cluster().Actors(), "all were handed over")
	ctx, cancel := context.WithTimeout(context.Background(), node.StopTime)
	defer cancel()
	require.NoError(t, a.Stop(ctx))
	took := time.Since(began)
	a.Stopped = true
	stopped.Store(true)
	require.Less(t, took, stopsWithin)
	t.Logf("handed over in %s, stopped in %s, with %d orders placed meanwhile and before", handed.Round(time.Millisecond), took.Round(time.Millisecond), r.total.Load())
	r.atLeast(50)
	r.end()
	for _, id := range types {
		sold, _ := r.sold.Load(id)
		available := b.Call("GET", "/events/"+events[id]+"/tickets", nil).Is(200, "").Data("items.0.available")
		require.EqualValues(t, 100_000-sold.(*atomic.Int64).Load(), available)
	}
	require.Eventually(t, func() bool { return value(b, "boxoffice_members") == 1 }, time.Minute, 20*time.Millisecond)
}

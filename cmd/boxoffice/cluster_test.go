package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

// together are nodes of one cluster, each of which has seen all others.
func together(t *testing.T, names ...string) []*shop {
	t.Helper()
	database := persisttest.DB(t)
	var shops []*shop
	for _, name := range names {
		shops = append(shops, open(t, func(c *config) {
			c.DatabaseURL, c.Node, c.Cluster, c.LinkListen = database, name, "postgres", "127.0.0.1:0"
			c.Beat, c.Lease = 100*time.Millisecond, 20*time.Second // nobody is taken for dead on a busy machine
		}))
	}
	for _, s := range shops {
		s.becomes(fmt.Sprint(len(names)), func() string {
			all, _ := s.cluster.Placed()
			return fmt.Sprint(all)
		})
	}
	return shops
}

// through is a house as another node shows it.
func (h *house) through(s *shop) *house {
	c := *h
	c.shop = s
	c.token = h.token
	return &c
}

// patient sends a request until the answer is another than that there is none now:
// passwords are hashed at low priority, and other tests keep the machine busy.
func (s *shop) patient(method, path string, body any, headers ...string) answer {
	for deadline := time.Now().Add(30 * time.Second); ; {
		a := s.call(method, path, body, headers...)
		if a.status != 503 || time.Now().After(deadline) {
			return a
		}
	}
}

// viewer is a stream of a house's seats.
type viewer struct {
	mu     sync.Mutex
	states map[string]string
}

func (h *house) watch(ctx context.Context, t *testing.T) *viewer {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", h.url+h.path+"seats/live", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // the goroutine below does
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	v := &viewer{states: map[string]string{}}
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		defer func() { _ = res.Body.Close() }()
		event := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = e
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var lists map[string][]string
				if json.Unmarshal([]byte(text), &lists) == nil {
					v.take(event == "snapshot", lists)
				}
			}
		}
	}()
	return v
}

func (v *viewer) take(whole bool, lists map[string][]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if whole {
		clear(v.states)
	}
	for state, seats := range lists {
		for _, seat := range seats {
			v.states[seat] = state
			if state == "released" || state == "unblocked" {
				delete(v.states, seat)
			}
		}
	}
}

func (v *viewer) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, seat := range slices.Sorted(maps.Keys(v.states)) {
		out = append(out, seat+" "+v.states[seat])
	}
	return strings.Join(out, ", ")
}

// Three nodes are one service: what is done through one is seen through the
// others, live, also while the node that has the event leaves.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two", "three")
	h := seatedIn(shops[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var viewers []*viewer
	for _, s := range shops {
		viewers = append(viewers, h.through(s).watch(ctx, t))
	}
	seen := func(want string) {
		t.Helper()
		for i, v := range viewers {
			shops[i].becomes(want, v.String)
		}
	}
	h.through(shops[1]).hold(adaHolds, "stalls-B-1", "stalls-B-2").is(200, "")
	seen("stalls-B-1 held, stalls-B-2 held")
	h.through(shops[2]).buy(adaHolds, h.stalls, "stalls-B-1", "stalls-B-2").is(201, "")
	seen("stalls-B-1 sold, stalls-B-2 sold")
	for _, s := range shops {
		s.becomes("38", func() string { return h.through(s).left(h.stalls) })
	}

	t.Log("the node that has the event leaves")
	owner := slices.IndexFunc(shops, func(s *shop) bool { return s.cluster.Actors() > 0 })
	drained := make(chan error, 1)
	go func() { drained <- shops[owner].drain(ctx) }()
	for i := range 20 {
		s := h.through(shops[i%3])
		s.patient("POST", h.path+"seats/hold", object{"holder": bobHolds, "seatIds": []string{fmt.Sprintf("stalls-C-%d", 1+i%3)}}).is(200, "")
	}
	require.NoError(t, <-drained)
	require.Zero(t, shops[owner].cluster.Actors())
	require.ErrorContains(t, shops[owner].ready(), "draining")
	h.through(shops[owner]).patient("POST", h.path+"seats/hold", object{"holder": bobHolds, "seatIds": []string{"stalls-D-1"}}).is(200, "")
	seen("stalls-B-1 sold, stalls-B-2 sold, stalls-D-1 held")
	for _, s := range shops {
		s.becomes("38", func() string { return h.through(s).left(h.stalls) })
	}
}

// An on-sale goes on while nodes come and go: every order is there once.
func TestOrdersWhileNodesLeave(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two", "three")
	const events = 8
	var types []string
	for range events {
		_, ids := shops[0].sell(nil, typeBody(0, 500))
		types = append(types, ids[0])
	}
	var placed [events]atomic.Int64
	stop := make(chan struct{})
	var buyers sync.WaitGroup
	for b := range 6 {
		s := shops[b%2] // through those that stay
		buyers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				e := (b + i) % events
				body := orderBody(fmt.Sprintf("b%d-%d@example.org", b, i), types[e], 1)
				key := fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", b, i)
				if a := s.patient("POST", "/orders", body, "Idempotency-Key", key); a.status == 201 {
					placed[e].Add(1)
				} else {
					t.Errorf("%d %v", a.status, a.body)
					return
				}
			}
		})
	}
	enough := func() {
		was := placed[0].Load()
		shops[0].becomes("true", func() string { return fmt.Sprint(placed[0].Load() > was+3) })
	}
	enough()
	require.NoError(t, shops[2].drain(t.Context()))
	enough()
	close(stop)
	buyers.Wait()
	for e, id := range types {
		event := number(t, id)
		r := shops[1].as(shops[0].token).own("GET", fmt.Sprintf("/checkin/event/%d/stats", event), nil).is(200, "")
		require.EqualValues(t, placed[e].Load(), r.data("ticketsIssued"))
	}
}

package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// together are nodes of one cluster, each of which has seen all others.
func together(t *testing.T, names ...string) []*nodetest.Shop {
	t.Helper()
	database, mails := persisttest.DB(t), t.TempDir()
	var shops []*nodetest.Shop
	for _, name := range names {
		shops = append(shops, nodetest.Open(t, func(c *node.Config) {
			c.DatabaseURL, c.Node, c.Cluster, c.LinkListen, c.MailDir = database, name, "postgres", "127.0.0.1:0", mails
			c.Beat, c.Lease = 100*time.Millisecond, 20*time.Second // nobody is taken for dead on a busy machine
		}))
	}
	for _, s := range shops {
		s.Becomes(fmt.Sprint(len(names)), func() string {
			all, _ := s.Cluster().Placed()
			return fmt.Sprint(all)
		})
	}
	return shops
}

// Three nodes are one service: what is done through one is seen through the
// others, live, also while the node that has the event leaves.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two", "three")
	h := nodetest.SeatedIn(shops[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var viewers []*nodetest.Viewer
	for _, s := range shops {
		viewers = append(viewers, h.Through(s).Watch(ctx, t))
	}
	seen := func(want string) {
		t.Helper()
		for i, v := range viewers {
			shops[i].Becomes(want, v.String)
		}
	}
	h.Through(shops[1]).Hold(nodetest.AdaHolds, "stalls-B-1", "stalls-B-2").Is(200, "")
	seen("stalls-B-1 held, stalls-B-2 held")
	h.Through(shops[2]).Buy(nodetest.AdaHolds, h.Stalls, "stalls-B-1", "stalls-B-2").Is(201, "")
	seen("stalls-B-1 sold, stalls-B-2 sold")
	for _, s := range shops {
		s.Becomes("38", func() string { return h.Through(s).Left(h.Stalls) })
	}

	t.Log("the node that has the event leaves")
	owner := slices.IndexFunc(shops, func(s *nodetest.Shop) bool { return s.Cluster().Actors() > 0 })
	drained := make(chan error, 1)
	go func() { drained <- shops[owner].Drain(ctx) }()
	for i := range 20 {
		s := h.Through(shops[i%3])
		s.Patient("POST", h.Path+"seats/hold", nodetest.Object{"holder": nodetest.BobHolds, "seatIds": []string{fmt.Sprintf("stalls-C-%d", 1+i%3)}}).Is(200, "")
	}
	require.NoError(t, <-drained)
	require.Zero(t, shops[owner].Cluster().Actors())
	require.ErrorContains(t, shops[owner].Ready(), "draining")
	h.Through(shops[owner]).Patient("POST", h.Path+"seats/hold", nodetest.Object{"holder": nodetest.BobHolds, "seatIds": []string{"stalls-D-1"}}).Is(200, "")
	seen("stalls-B-1 sold, stalls-B-2 sold, stalls-D-1 held")
	for _, s := range shops {
		s.Becomes("38", func() string { return h.Through(s).Left(h.Stalls) })
	}
}

// An on-sale goes on while nodes come and go: every order is there once.
func TestOrdersWhileNodesLeave(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two", "three")
	const events = 8
	var types []string
	for range events {
		_, ids := shops[0].Sell(nil, nodetest.TypeBody(0, 500))
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
				body := nodetest.OrderBody(fmt.Sprintf("b%d-%d@example.org", b, i), types[e], 1)
				key := fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", b, i)
				if a := s.Patient("POST", "/orders", body, "Idempotency-Key", key); a.Status == 201 {
					placed[e].Add(1)
				} else {
					t.Errorf("%d %v", a.Status, a.Body)
					return
				}
			}
		})
	}
	enough := func() {
		was := placed[0].Load()
		shops[0].Becomes("true", func() string { return fmt.Sprint(placed[0].Load() > was+3) })
	}
	enough()
	require.NoError(t, shops[2].Drain(t.Context()))
	enough()
	close(stop)
	buyers.Wait()
	for e, id := range types {
		event := nodetest.Number(t, id)
		r := shops[1].As(shops[0].Token).Own("GET", fmt.Sprintf("/checkin/event/%d/stats", event), nil).Is(200, "")
		require.EqualValues(t, placed[e].Load(), r.Data("ticketsIssued"))
	}
}

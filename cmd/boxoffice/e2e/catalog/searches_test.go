package catalog

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/loadtest/openloop"
)

var (
	searchedEvents = flag.Int("searched-events", 0, "of TestOrdersBesideSearches and TestSearchRate: events that are searched")
	searchRate     = flag.Float64("search-rate", 200, "of TestSearchRate: searches a second")
)

// TestSearchesWaitForThemselves holds the searched table locked: a crowd of searches is
// refused, some at once and the others after a second, and orders go on meanwhile.
func TestSearchesWaitForThemselves(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 100))
	s.Place("first@example.org", ids[0], 1)
	tx, err := s.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `LOCK TABLE events IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)

	const crowd = 60
	places := max(1, runtime.GOMAXPROCS(0)/2)
	answers := make(chan nodetest.Reply, crowd)
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() { answers <- s.Raw("GET", fmt.Sprintf("/events?q=x%d", i), "", "", "If-None-Match", `"x"`) })
	}
	refused := func() {
		r := <-answers
		assert.Equal(t, 503, r.Status, r.Body)
		assert.Contains(t, r.Body, "OVERLOADED")
		assert.NotEmpty(t, r.Header.Get("Retry-After"))
	}
	refused()
	for i := range 10 {
		s.Place(fmt.Sprintf("buyer%d@example.org", i), ids[0], 1)
	}
	for range crowd - places - 1 {
		refused()
	}
	require.NoError(t, tx.Rollback(t.Context()))
	for range places {
		r := <-answers
		require.Equal(t, 200, r.Status, r.Body)
	}
	all.Wait()
	require.Equal(t, 200, s.Raw("GET", "/events?q=after", "", "").Status, "all places are free again")
}

// TestPagesWaitForThemselves does the same with what the server writes for people: the calendars of organizers are
// searches too, and no page waits for longer than a request of the API.
func TestPagesWaitForThemselves(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(0, 100))
	id, token := s.Place("first@example.org", ids[0], 1)
	organizer := "/by/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("organizer.slug")
	tx, err := s.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `LOCK TABLE events, organizations, users IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)

	const crowd = 60
	answers := make(chan int, crowd)
	ask := func(path string) {
		res, _ := s.Get(path) //nolint:bodyclose // Get closes it
		answers <- res.StatusCode
	}
	for range crowd - 2 {
		go ask(organizer + "/calendar.ics")
	}
	go ask(organizer)
	go ask("/orders/" + id + "?token=" + token)
	for i := range crowd {
		select {
		case status := <-answers:
			require.Equal(t, 503, status)
		case <-time.After(time.Minute):
			t.Fatalf("%d pages still wait", crowd-i)
		}
	}
}

// TestOrdersBesideSearches measures what orders take while 24 connections search a list
// of many events, each time for something else and each time conditionally. It is run by
// hand, with -args -searched-events=20000.
func TestOrdersBesideSearches(t *testing.T) { //nolint:paralleltest // it measures
	if *searchedEvents == 0 {
		t.Skip("measures: -args -searched-events=20000")
	}
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, 100_000), nodetest.Object{"maxPerCustomer": 1}))
	const copies = `
INSERT INTO events SELECT (jsonb_populate_record(e, jsonb_build_object(
  'number', e.number + 1000000 + g, 'slug', e.slug || g, 'title', e.title || ' ' || md5(g::text)))).*
FROM events e, generate_series(1, $1) g`
	_, err := s.Pool().Exec(t.Context(), copies, *searchedEvents)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `ANALYZE events`)
	require.NoError(t, err)
	buyer := 0
	measure := func(what string) {
		took := make([]time.Duration, 1000)
		for i := range took {
			buyer++
			began := time.Now()
			s.Place(fmt.Sprintf("buyer%d@example.org", buyer), ids[0], 1)
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		t.Logf("%s: orders p50 %v, p99 %v", what, took[len(took)/2], took[len(took)*99/100])
	}
	measure("alone")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var answered, refused, asked atomic.Int64
	began := time.Now()
	for range 24 {
		all.Go(func() {
			for ctx.Err() == nil {
				r := s.Raw("GET", fmt.Sprintf("/events?q=%x", asked.Add(1)), "", "", "If-None-Match", `"x"`)
				if r.Status == 503 {
					refused.Add(1)
				} else {
					answered.Add(1)
				}
			}
		})
	}
	measure("beside 24 connections that search")
	cancel()
	all.Wait()
	t.Logf("searches: %.0f/s answered, %d refused", float64(answered.Load())/time.Since(began).Seconds(), refused.Load())
}

// TestSearchRate measures what searches take that come at a rate of their own, each for
// something else. It is run by hand, with -args -searched-events=100000.
func TestSearchRate(t *testing.T) { //nolint:paralleltest // it measures
	if *searchedEvents == 0 {
		t.Skip("measures: -args -searched-events=100000")
	}
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale, c.MaxPerAddress = 1e6, 1_000 }) // all come from one address
	fillCatalog(s, *searchedEvents)
	rows, err := s.Pool().Query(t.Context(), `SELECT title FROM events WHERE number > 1000000 ORDER BY md5(number::text) LIMIT 10000`)
	require.NoError(t, err)
	titles, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	schedule := openloop.Constant(*searchRate, 20*time.Second)
	stats, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"search"}, Warm: 3 * time.Second}, schedule, rand.New(rand.NewPCG(1, 1)), func(n int) openloop.Actor {
		return search{s, titles[n%len(titles)]}
	})
	require.NoError(t, err)
	t.Logf("%d events, %.0f searches a second: p50 %.0f ms, p99 %.0f ms (goal: 50); %d of %d refused", *searchedEvents, *searchRate,
		stats.All.Corrected.P50, stats.All.Corrected.P99, stats.All.Failed, stats.All.Count)
}

// search is a visitor who searches once.
type search struct {
	*nodetest.Shop
	text string
}

// Step sends the search.
func (v search) Step(context.Context) openloop.Result {
	a := v.Raw("GET", "/search?q="+url.QueryEscape(v.text), "", "")
	return openloop.Result{Status: a.Status, Done: true}
}

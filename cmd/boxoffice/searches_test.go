package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var searchedEvents = flag.Int("searched-events", 0, "of TestOrdersBesideSearches: events that are searched")

// TestSearchesWaitForThemselves holds the searched table locked: a crowd of searches is
// refused, some at once and the others after a second, and orders go on meanwhile.
func TestSearchesWaitForThemselves(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(nil, typeBody(0, 100))
	s.place("first@example.org", ids[0], 1)
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `LOCK TABLE events IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)

	const crowd = 60
	places := max(1, runtime.GOMAXPROCS(0)/2)
	answers := make(chan reply, crowd)
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() { answers <- s.raw("GET", fmt.Sprintf("/events?q=x%d", i), "", "", "If-None-Match", `"x"`) })
	}
	refused := func() {
		r := <-answers
		assert.Equal(t, 503, r.status, r.body)
		assert.Contains(t, r.body, "OVERLOADED")
		assert.NotEmpty(t, r.header.Get("Retry-After"))
	}
	refused()
	for i := range 10 {
		s.place(fmt.Sprintf("buyer%d@example.org", i), ids[0], 1)
	}
	for range crowd - places - 1 {
		refused()
	}
	require.NoError(t, tx.Rollback(t.Context()))
	for range places {
		r := <-answers
		require.Equal(t, 200, r.status, r.body)
	}
	all.Wait()
	require.Equal(t, 200, s.raw("GET", "/events?q=after", "", "").status, "all places are free again")
}

// TestOrdersBesideSearches measures what orders take while 24 connections search a list
// of many events, each time for something else and each time conditionally. It is run by
// hand, with -args -searched-events=20000.
func TestOrdersBesideSearches(t *testing.T) { //nolint:paralleltest // it measures
	if *searchedEvents == 0 {
		t.Skip("measures: -args -searched-events=20000")
	}
	s := open(t)
	_, ids := s.sell(nil, with(typeBody(0, 100_000), object{"maxPerCustomer": 1}))
	const copies = `
INSERT INTO events SELECT (jsonb_populate_record(e, jsonb_build_object(
  'number', e.number + 1000000 + g, 'slug', e.slug || g, 'title', e.title || ' ' || md5(g::text)))).*
FROM events e, generate_series(1, $1) g`
	_, err := s.pool.Exec(t.Context(), copies, *searchedEvents)
	require.NoError(t, err)
	_, err = s.pool.Exec(t.Context(), `ANALYZE events`)
	require.NoError(t, err)
	buyer := 0
	measure := func(what string) {
		took := make([]time.Duration, 1000)
		for i := range took {
			buyer++
			began := time.Now()
			s.place(fmt.Sprintf("buyer%d@example.org", buyer), ids[0], 1)
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
				r := s.raw("GET", fmt.Sprintf("/events?q=%x", asked.Add(1)), "", "", "If-None-Match", `"x"`)
				if r.status == 503 {
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

package sse_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/sse"
	"boxoffice/engine"
)

// TestComplete: viewers who come at any time see a snapshot and then every
// change, in order, with and without gzip.
func TestComplete(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		c := &counter{}
		s := serve(t, secure, c, sse.Config{Pace: time.Millisecond})
		const all = 2000
		first := s.watch(t, "/seats")
		require.Equal(t, "snapshot", first.must().name)
		var viewers sync.WaitGroup
		for i := range 40 {
			for range all / 40 {
				c.grow()
			}
			encoding := []string{"identity", "gzip"}[i%2]
			r := s.watch(t, "/seats", "Accept-Encoding: "+encoding)
			viewers.Go(func() {
				if m, err := r.next(); err != nil || m.name != "snapshot" {
					t.Errorf("first came %q, %v", m.name, err)
				} else {
					r.at = m.to
					r.until(all)
				}
			})
		}
		viewers.Wait()
		first.until(all)
		require.Less(t, s.metric(t, "frames"), all+1, "changes go out together")
		s.stop(t)
		first.end()
	})
}

func TestHead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		s := serve(t, secure, &counter{}, sse.Config{})
		r := s.watch(t, "/seats", "Accept-Encoding: gzip;q=0")
		r.must()
		h := r.head.Header
		require.Equal(t, "text/event-stream", h.Get("Content-Type"))
		require.Equal(t, "no-store", h.Get("Cache-Control"))
		require.Equal(t, "no", h.Get("X-Accel-Buffering"))
		require.Equal(t, "req_1", h.Get("X-Request-Id"), "what is set after the handler is sent too")
		require.Empty(t, h.Get("Content-Encoding"))
		require.Empty(t, h.Get("Content-Length"))
		require.Regexp(t, `^\d{4}$`, r.retry)

		head := read(t, s.dial(t, http.MethodHead, "/seats"), http.MethodHead)
		require.Equal(t, "text/event-stream", head.head.Header.Get("Content-Type"))
		require.Equal(t, 1, s.metric(t, "viewers"), "a HEAD is no viewer")
		s.stop(t)
	})
}

func TestResume(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		c := &counter{}
		s := serve(t, secure, c, sse.Config{Pace: time.Millisecond})
		stays := s.watch(t, "/seats")
		leaves := s.watch(t, "/seats")
		c.grow()
		stays.until(1)
		leaves.until(1)
		require.NoError(t, leaves.conn.Close())
		for n := 2; n <= 10; n++ {
			c.grow()
			stays.until(n)
		}
		back := s.watch(t, "/seats", "Last-Event-ID: "+leaves.lastID)
		back.at = leaves.at
		require.Equal(t, "update", back.must().name, "it goes on where it was")
		back.until(10)

		now := s.watch(t, "/seats", "Last-Event-ID: "+stays.lastID)
		now.at = 10
		c.grow()
		require.Equal(t, "update", now.must().name, "nothing was missing")

		epoch, _, _ := strings.Cut(stays.lastID, "-")
		for _, id := range []string{"other-3", epoch + "-999", epoch + "-", epoch, "-1", epoch + "-18446744073709551615"} {
			require.Equal(t, "snapshot", s.watch(t, "/seats", "Last-Event-ID: "+id).must().name, id)
		}
		s.stop(t)
	})
}

// TestRingIsBounded: what was long ago is not replayed.
func TestRingIsBounded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		c := &counter{}
		s := serve(t, secure, c, sse.Config{Pace: 100 * time.Microsecond})
		r := s.watch(t, "/seats")
		r.must()
		id := r.lastID
		for n := 1; n <= 300; n++ {
			c.grow()
			r.until(n)
		}
		back := s.watch(t, "/seats", "Last-Event-ID: "+id)
		require.Equal(t, "snapshot", back.must().name)
		back.until(300)
		s.stop(t)
	})
}

// TestFallBehind: a viewer that reads too slowly misses updates but no state.
func TestFallBehind(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		c := &counter{padding: strings.Repeat("x", 20_000)}
		s := serve(t, secure, c, sse.Config{Pace: time.Millisecond, Stall: patience})
		slow, quick := s.watch(t, "/seats"), s.watch(t, "/seats")
		slow.must()
		for n := 1; n <= 100; n++ {
			c.grow()
			quick.until(n)
		}
		snapshots := 0
		for slow.at < 100 {
			m, err := slow.next()
			require.NoError(t, err)
			if m.name == "snapshot" {
				snapshots++
			}
			slow.follow(m)
		}
		require.Positive(t, snapshots)
		require.Equal(t, snapshots, s.metric(t, "resyncs"))
		require.Zero(t, s.metric(t, "cut_off"))
		s.stop(t)
	})
}

// TestCutOff cuts off a viewer that takes nothing, and the others notice nothing.
func TestCutOff(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		const stall, idle = 500 * time.Millisecond, 20
		c := &counter{padding: strings.Repeat("x", 20_000)}
		s := serve(t, secure, c, sse.Config{Pace: time.Millisecond, Stall: stall})
		for range idle {
			s.dial(t, http.MethodGet, "/seats")
		}
		eventually(t, "all have come", func() bool { return s.metric(t, "viewers") == idle })
		r := s.watch(t, "/seats")
		r.must()
		for n := 1; s.metric(t, "cut_off") < idle; n++ {
			c.grow()
			r.until(n)
		}
		eventually(t, "they are gone", func() bool { return s.metric(t, "viewers") == 1 && s.ln.open.Load() == 1 })
		s.stop(t)
		r.end()
	})
}

// TestDripFeed has a viewer take a few bytes now and then, which keeps no frame for ever.
func TestDripFeed(t *testing.T) {
	t.Parallel()
	c := &counter{padding: strings.Repeat("x", 4<<20)}
	s := serve(t, false, c, sse.Config{Stall: 400 * time.Millisecond})
	conn := s.dial(t, http.MethodGet, "/seats")
	for b := make([]byte, 4096); s.metric(t, "cut_off") == 0; {
		if _, err := conn.Read(b); err != nil {
			break
		}
		wait(t, 10*time.Millisecond) // four megabytes would take ten seconds
	}
	eventually(t, "it is cut off", func() bool { return s.metric(t, "viewers") == 0 })
	require.Equal(t, 1, s.metric(t, "cut_off"))
	s.stop(t)
}

// wait lets time pass for a viewer that is slow on purpose.
func wait(t testing.TB, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

// TestLeavers counts out viewers that leave, without a write, and drops the topic with the last
// of them.
func TestLeavers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		cfg := sse.Config{}
		if secure {
			cfg.KeepAlive = 10 * time.Millisecond // is what notices them there
		}
		c := &counter{}
		s := serve(t, secure, c, cfg)
		var viewers []*stream
		for range 20 {
			r := s.watch(t, "/seats")
			r.must()
			viewers = append(viewers, r)
		}
		require.Equal(t, 20, s.metric(t, "viewers"))
		require.Equal(t, 1, s.metric(t, "topics"))
		for _, r := range viewers {
			require.NoError(t, r.conn.Close())
		}
		eventually(t, "all have left", func() bool { return s.metric(t, "viewers") == 0 && s.metric(t, "topics") == 0 })
		eventually(t, "the source is closed", func() bool { o, cl := c.lives(); return o == 1 && cl == 1 })
		require.Zero(t, s.ln.open.Load())
		require.Equal(t, int64(20), s.ln.closed.Load())

		require.Equal(t, "snapshot", s.watch(t, "/seats").must().name, "the next makes the topic anew")
		s.stop(t)
		opened, closed := c.lives()
		require.Equal(t, 2, opened)
		require.Equal(t, 2, closed)
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		c := &counter{}
		s := serve(t, secure, c, sse.Config{})
		plain, packed := s.watch(t, "/seats"), s.watch(t, "/seats", "Accept-Encoding: gzip")
		other := s.watch(t, "/gates")
		for _, r := range []*stream{plain, packed, other} {
			r.must()
			r.retry = ""
		}
		s.stop(t)
		for _, r := range []*stream{plain, packed, other} {
			r.end()
			require.NotEmpty(t, r.retry, "it says when to come back")
		}
		r := read(t, s.dial(t, http.MethodGet, "/seats"), http.MethodGet)
		require.Equal(t, http.StatusServiceUnavailable, r.head.StatusCode)
		s.stop(t) // again
	})
}

// TestStopInTime: those who do not take the end are cut off when the time is
// over.
func TestStopInTime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		c := &counter{padding: strings.Repeat("x", 8<<20)}
		s := serve(t, secure, c, sse.Config{Stall: time.Minute})
		s.dial(t, http.MethodGet, "/seats")
		eventually(t, "it is being written", func() bool { return s.metric(t, "viewers") == 1 })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, s.hub.Stop(ctx), context.Canceled)
		s.empty(t)
	})
}

func TestStopUnused(t *testing.T) {
	t.Parallel()
	serve(t, false, &counter{}, sse.Config{}).stop(t)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		s := serve(t, secure, &counter{}, sse.Config{MaxViewers: 3, MaxPerAddress: 2, KeepAlive: 10 * time.Millisecond})
		get := func(client string) *stream {
			return read(t, s.dial(t, http.MethodGet, "/seats", "X-Client: "+client), http.MethodGet)
		}
		one := get("192.0.2.1")
		one.must()
		get("192.0.2.1").must()
		refused := get("192.0.2.1")
		require.Equal(t, http.StatusTooManyRequests, refused.head.StatusCode)
		require.Regexp(t, `^[1-9]\d?$`, refused.head.Header.Get("Retry-After"))
		get("192.0.2.2").must()
		require.Equal(t, http.StatusServiceUnavailable, get("192.0.2.3").head.StatusCode)
		require.Equal(t, 2, s.metric(t, "refused"))
		require.Equal(t, 3, s.metric(t, "viewers"))

		require.NoError(t, one.conn.Close())
		eventually(t, "one has left", func() bool { return s.metric(t, "viewers") == 2 })
		get("192.0.2.1").must()
		s.stop(t)
	})
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	c := &counter{refuse: engine.Refuse(engine.EventNotFound, nil)}
	s := serve(t, false, c, sse.Config{MaxViewers: 1})
	for _, status := range []int{http.StatusNotFound, http.StatusInternalServerError} {
		require.Equal(t, status, read(t, s.dial(t, http.MethodGet, "/seats"), http.MethodGet).head.StatusCode)
		c.refuse = errors.New("broken")
	}
	c.refuse = nil
	s.watch(t, "/seats").must() // and nothing was left counted
	s.stop(t)
}

// TestOpenOnce: viewers who come while a topic opens wait for it, as long as
// they can.
func TestOpenOnce(t *testing.T) {
	t.Parallel()
	c := &counter{}
	begun, proceed := make(chan struct{}), make(chan struct{})
	hubTopic := sse.Topic{Name: "seats", Open: func(ctx context.Context, changed func()) (sse.Source, error) {
		close(begun)
		<-proceed
		return c.open(ctx, changed)
	}}
	s := serve(t, false, c, sse.Config{})
	enter := func(ctx context.Context) error { return sse.Enter(ctx, s.hub, hubTopic) }
	first := make(chan error)
	go func() { first <- enter(t.Context()) }()
	<-begun
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, enter(gone), context.Canceled)
	second := make(chan error)
	go func() { second <- enter(t.Context()) }()
	close(proceed)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	opened, _ := c.lives()
	require.Equal(t, 1, opened)
	s.stop(t) // though neither stream ever began
}

// TestSilence: a viewer that has nothing to see is kept, and is sent a snapshot
// now and then.
func TestSilence(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, secure bool) {
		s := serve(t, secure, &counter{}, sse.Config{KeepAlive: 20 * time.Millisecond, Refresh: 200 * time.Millisecond})
		for _, encoding := range []string{"identity", "gzip"} {
			r := s.watch(t, "/seats", "Accept-Encoding: "+encoding)
			for range 3 {
				require.Equal(t, "snapshot", r.must().name)
			}
			require.Positive(t, r.quiet)
		}
		s.stop(t)
	})
}

// TestPace: however fast changes come, frames do not.
func TestPace(t *testing.T) {
	t.Parallel()
	c := &counter{}
	s := serve(t, false, c, sse.Config{})
	r := s.watch(t, "/seats")
	r.must()
	began := time.Now()
	for n := 0; time.Since(began) < 500*time.Millisecond; n++ {
		c.grow()
	}
	r.until(c.at)
	require.LessOrEqual(t, s.metric(t, "frames"), int(time.Since(began)/(50*time.Millisecond))+1)
	s.stop(t)
}

// TestSoak: 2,000 viewers who come and go, and none of those who stay misses
// anything.
func TestSoak(t *testing.T) {
	t.Parallel()
	const viewers, topics, dialers = 2000, 4, 20
	c := make([]*counter, topics)
	for i := range c {
		c[i] = &counter{}
	}
	s := serve(t, false, c[0], sse.Config{Pace: 250 * time.Millisecond, MaxPerAddress: viewers}, c[1:]...)
	stopped := make(chan struct{})
	var growing, watching sync.WaitGroup
	for _, c := range c {
		growing.Go(func() {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					c.grow()
				case <-stopped:
					return
				}
			}
		})
	}
	var coming sync.WaitGroup
	for first := range dialers {
		coming.Go(func() {
			for i := first; i < viewers; i += dialers {
				r := s.watch(t, fmt.Sprintf("/%d", i%topics), []string{"Accept-Encoding: gzip", "Accept-Encoding: identity"}[i/topics%2])
				m, err := r.next()
				if err != nil || m.name != "snapshot" {
					t.Errorf("first came %q, %v", m.name, err)
					return
				}
				r.at = m.to
				watching.Go(func() {
					if i%5 == 0 { // leaves soon
						r.must()
						_ = r.conn.Close()
						return
					}
					r.end()
				})
			}
		})
	}
	coming.Wait()
	wait(t, time.Second)
	s.stop(t)
	close(stopped)
	growing.Wait()
	watching.Wait()
	require.Zero(t, s.metric(t, "cut_off"))
	require.Zero(t, s.metric(t, "resyncs"))
}

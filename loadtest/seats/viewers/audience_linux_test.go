package viewers_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/loadtest/seats/viewers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a stream of seats, of which one after the other is held: update n
// holds seat n-1. Who takes nothing for a second is cut off.
type service struct {
	names []string
	most  int // viewers

	mu     sync.Mutex
	cond   *sync.Cond
	here   int
	held   int
	frames map[int][]byte // by number
	closed bool
}

func serve(t *testing.T, names []string, held, most int) (s *service, host string) {
	t.Helper()
	s = &service{names: names, most: most, held: held, frames: map[int][]byte{}}
	s.cond = sync.NewCond(&s.mu)
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		s.mu.Lock()
		s.closed = true
		s.cond.Broadcast()
		s.mu.Unlock()
		server.CloseClientConnections()
		server.Close()
	})
	return s, strings.TrimPrefix(server.URL, "http://")
}

// hold holds the next seat.
func (s *service) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	s.frames[s.held] = fmt.Appendf(nil, "id: e-%d\nevent: seat_update\ndata: {\"held\":[%q]}\n\n", s.held, s.names[s.held-1])
	s.cond.Broadcast()
}

// ServeHTTP is a viewer's stream.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.here++
	full, at := s.here > s.most, s.held
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.here--
		s.mu.Unlock()
	}()
	if full {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	next := fmt.Appendf(nil, "id: e-%d\nevent: snapshot\ndata: {\"held\":[%s]}\n\n", at, quoted(s.names[:at]))
	if _, err := fmt.Sscanf(r.Header.Get("Last-Event-Id"), "e-%d", &at); err == nil {
		next = nil
	}
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(32 << 10) // else the kernel takes all for those who do not read
	}
	next = append([]byte("HTTP/1.1 200 OK\r\n\r\nretry: 1000\n\n"), next...)
	for {
		if c.SetWriteDeadline(time.Now().Add(time.Second)) != nil {
			return
		}
		if _, err := c.Write(next); err != nil {
			return
		}
		s.mu.Lock()
		for at == s.held && !s.closed {
			s.cond.Wait()
		}
		if s.closed {
			s.mu.Unlock()
			return
		}
		at++
		next = s.frames[at]
		s.mu.Unlock()
	}
}

func quoted(names []string) []byte {
	var b bytes.Buffer
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.Bytes()
}

// TestAudience: all come, see what there is and what changes, also those who did
// not read for a while.
func TestAudience(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 31_000 { // a snapshot of them is more than the buffers take
		names = append(names, fmt.Sprintf("seat-%05d", i))
	}
	const before = 30_000
	s, host := serve(t, names, before, 1000)
	c, err := viewers.Gather(viewers.Config{Host: host, Path: "/", Viewers: 300, Slow: 20, PerAddress: 10, Seats: names})
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(t, c.Joined(ctx))
	change := func(seat int) {
		granted := c.Mark(names[seat])
		s.hold()
		granted()
	}
	seen := func(seat int) {
		t.Helper()
		require.Eventually(t, func() bool {
			held := viewers.Available
			c.View(func(m *viewers.Map) { held = m.State(names[seat]) })
			return held == viewers.Held
		}, time.Minute, time.Millisecond)
	}
	all := func() {
		t.Helper()
		require.Eventually(t, func() bool { return c.Standing().Current == 300 }, time.Minute, time.Millisecond, "%+v", c.Standing())
	}
	c.Begin()
	for seat := before; seat < before+10; seat++ {
		change(seat)
		seen(seat)
	}
	all()
	m := c.End()
	require.EqualValues(t, 10*280, m.Marks)
	require.EqualValues(t, 10*280, m.Frames)
	require.Positive(t, m.Asked.ValueAtQuantile(50))
	require.Zero(t, m.Rejoins)

	c.Begin()
	c.Slow(true)
	require.Eventually(t, func() bool { return c.Standing().Current == 280 }, time.Minute, time.Millisecond)
	for seat := before + 10; seat < before+20; seat++ {
		change(seat)
		seen(seat)
	}
	require.Eventually(t, func() bool { // until the hub has cut slow ones off, and they are back
		m = c.End()
		c.Begin()
		return m.Rejoins > 0
	}, 20*time.Second, time.Second)
	c.Slow(false)
	require.NoError(t, c.Joined(ctx))
	change(before + 20)
	seen(before + 20)
	all()
	st := c.Standing()
	require.Empty(t, st.Findings)
	require.Zero(t, st.Skipped)
	require.EqualValues(t, 300, st.Joined)
	c.View(func(m *viewers.Map) { require.Len(t, m.In(viewers.Held), before+21) })
}

// TestRefused: who is not let in tries again, and is no finding.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, host := serve(t, []string{"a"}, 0, 5)
	c, err := viewers.Gather(viewers.Config{Host: host, Path: "/", Viewers: 10, Seats: []string{"a"}})
	require.NoError(t, err)
	defer c.Close()
	require.Eventually(t, func() bool {
		st := c.Standing()
		return st.Joined == 5 && st.Refused >= 10
	}, 20*time.Second, 10*time.Millisecond)
	require.Empty(t, c.Standing().Findings)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, c.Joined(ctx), "5 of 10")
}

func TestOnlyLoopback(t *testing.T) {
	t.Parallel()
	_, err := viewers.Gather(viewers.Config{Host: "192.0.2.1:80", Viewers: 1})
	require.ErrorContains(t, err, "loopback")
	_, err = viewers.Gather(viewers.Config{Host: "127.0.0.1:80", Viewers: 1 << 31})
	require.ErrorContains(t, err, "open files")
}

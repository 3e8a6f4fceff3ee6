package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

// scripted is a Sender that does what it is told and notes when it was asked.
type scripted struct {
	send func(ctx context.Context, m Message) error

	mu    sync.Mutex
	calls []time.Time
}

func (s *scripted) Send(ctx context.Context, m Message) error {
	s.mu.Lock()
	s.calls = append(s.calls, time.Now())
	s.mu.Unlock()
	return s.send(ctx, m)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestOutboxOverSMTP: the whole way, with a server that says "later" at first.
func TestOutboxOverSMTP(t *testing.T) {
	t.Parallel()
	calls := 0
	s := serve(t, startTLS, func(s *server) {
		s.rcpt = func(*smtp.Conn, string) error {
			if calls++; calls == 1 {
				return &smtp.SMTPError{Code: 450, Message: "greylisted"}
			}
			return nil
		}
	})
	o := NewOutbox(dialer(t, s, "smtp", true), quiet())
	require.NoError(t, o.Queue(LoginCode("ada@example.org", "Ada", "123456")))
	require.Equal(t, "ada@example.org", (<-s.got).to)
	require.NoError(t, o.Stop(t.Context()))
	require.InDelta(t, 1, testutil.ToFloat64(o.sent.WithLabelValues("login_code")), 0)
}

// TestOutboxRetries: the pauses between the attempts, and the end of them.
func TestOutboxRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			err      error
			failures int // before success
			pauses   []time.Duration
			sent     bool
		}{
			"at once":            {nil, 0, nil, true},
			"third time":         {&Failure{Code: 451}, 2, []time.Duration{time.Second, 10 * time.Second}, true},
			"never":              {&Failure{}, 9, []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute}, false},
			"permanent":          {&Failure{Code: 550, Permanent: true}, 9, nil, false},
			"an unknown failure": {errors.New("what"), 1, []time.Duration{time.Second}, true},
		} {
			left := c.failures
			s := &scripted{send: func(context.Context, Message) error {
				if left--; left >= 0 {
					return c.err
				}
				return nil
			}}
			o := NewOutbox(s, quiet())
			require.NoError(t, o.Queue(Message{Kind: "k"}), name)
			<-time.After(time.Hour)
			synctest.Wait()
			require.Len(t, s.calls, 1+len(c.pauses), name)
			for i, pause := range c.pauses {
				require.Equal(t, pause, s.calls[i+1].Sub(s.calls[i]), name)
			}
			require.Zero(t, o.pending(), name)
			sent, failed := testutil.ToFloat64(o.sent.WithLabelValues("k")), testutil.ToFloat64(o.failed.WithLabelValues("k"))
			require.InDelta(t, 1, sent+failed, 0, name)
			require.Equal(t, c.sent, sent == 1, name)
			require.NoError(t, o.Stop(t.Context()), name)
		}
	})
}

// TestOutboxDoesNotWaitForRetries: messages that wait for another attempt hold
// nobody up.
func TestOutboxDoesNotWaitForRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		taken := 0
		s := &scripted{send: func(_ context.Context, m Message) error {
			if m.To == "grey" {
				return &Failure{Code: 450}
			}
			taken++
			return nil
		}}
		o := NewOutbox(s, quiet())
		for range 50 {
			require.NoError(t, o.Queue(Message{To: "grey"}))
		}
		synctest.Wait()
		require.NoError(t, o.Queue(Message{To: "ada"}))
		synctest.Wait()
		require.Equal(t, 1, taken)
		require.Equal(t, 50, o.pending())
		_ = o.Stop(t.Context())
	})
}

func TestOutboxFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		o := NewOutbox(&scripted{send: func(context.Context, Message) error {
			<-release
			return nil
		}}, quiet())
		for range queueMax {
			require.NoError(t, o.Queue(Message{Kind: "k"}))
		}
		var refusal *engine.Refusal
		require.ErrorAs(t, o.Queue(Message{Kind: "k"}), &refusal)
		require.Equal(t, engine.Overloaded, refusal.Code)
		require.InDelta(t, queueMax, testutil.ToFloat64(o.queued), 0)
		close(release)
		require.NoError(t, o.Stop(t.Context()))
		require.InDelta(t, queueMax, testutil.ToFloat64(o.sent.WithLabelValues("k")), 0)
		require.ErrorAs(t, o.Queue(Message{Kind: "k"}), &refusal)
		require.Equal(t, engine.Unavailable, refusal.Code)
	})
}

// TestOutboxStop: what is queued is sent, what waits gets one more attempt at
// once, and a deadline cuts off what hangs.
func TestOutboxStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up := false
		s := &scripted{send: func(context.Context, Message) error {
			if up {
				return nil
			}
			return &Failure{Reason: "connection lost"}
		}}
		o := NewOutbox(s, quiet())
		for range 10 {
			require.NoError(t, o.Queue(Message{Kind: "k"}))
		}
		synctest.Wait()
		up = true
		begun := time.Now()
		require.NoError(t, o.Stop(t.Context()))
		require.Equal(t, begun, time.Now())
		require.InDelta(t, 10, testutil.ToFloat64(o.sent.WithLabelValues("k")), 0)
	})
	synctest.Test(t, func(t *testing.T) {
		o := NewOutbox(&scripted{send: func(ctx context.Context, _ Message) error {
			<-ctx.Done()
			return ctx.Err()
		}}, quiet())
		for range 10 {
			require.NoError(t, o.Queue(Message{Kind: "k"}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun := time.Now()
		require.ErrorContains(t, o.Stop(ctx), "10 messages")
		require.Equal(t, 3*time.Second, time.Since(begun))
	})
}

// TestOutboxMany: callers and workers at once.
func TestOutboxMany(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	o := NewOutbox(&scripted{send: func(_ context.Context, m Message) error {
		mu.Lock()
		defer mu.Unlock()
		seen[m.ID]++
		return nil
	}}, quiet())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				if err := o.Queue(Message{ID: fmt.Sprintf("%d-%d", i, j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, o.Stop(t.Context()))
	require.Len(t, seen, 800)
}

// TestOutboxLogsNoSecret: neither code nor address nor name, whatever fails.
func TestOutboxLogsNoSecret(t *testing.T) {
	t.Parallel()
	s := serve(t, startTLS, func(s *server) {
		s.rcpt = func(_ *smtp.Conn, to string) error {
			return &smtp.SMTPError{Code: 550, Message: "unknown: " + to}
		}
	})
	var log bytes.Buffer // written by one worker at a time: slog's handlers lock
	o := NewOutbox(dialer(t, s, "smtp", true), slog.New(slog.NewJSONHandler(&log, nil)))
	m := LoginCode("ada@example.org", "Lovelace", "424242")
	require.NoError(t, o.Queue(m))
	require.NoError(t, o.Queue(LoginCode("not an ada address", "Lovelace", "424242")))
	require.NoError(t, o.Stop(t.Context()))
	text := log.String()
	require.Contains(t, text, m.ID)
	require.Contains(t, text, `"kind":"login_code"`)
	require.Contains(t, text, "SMTP 550")
	for _, secret := range []string{"ada", "Lovelace", "424242"} {
		require.NotContains(t, strings.ReplaceAll(text, m.ID, ""), secret)
	}
}

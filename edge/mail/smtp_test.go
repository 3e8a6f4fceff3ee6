package mail

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// dialer is an SMTP to a server.
func dialer(t *testing.T, s *server, scheme string, login bool, change ...func(*SMTPConfig)) *SMTP {
	t.Helper()
	u := url.URL{Scheme: scheme, Host: s.addr}
	if login {
		u.User = url.UserPassword(user, password)
	}
	cfg := SMTPConfig{URL: u.String(), Origin: origin(t), TLS: s.clientTLS, Timeout: 5 * time.Second}
	for _, f := range change {
		f(&cfg)
	}
	out, err := NewSMTP(cfg)
	require.NoError(t, err)
	t.Cleanup(out.Close)
	return out
}

// failure is a *Failure that says nothing about the recipient.
func failure(t *testing.T, err error) *Failure {
	t.Helper()
	var f *Failure
	require.ErrorAs(t, err, &f)
	require.NotContains(t, f.Error(), "ada")
	return f
}

func TestSMTPDelivers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		protection protection
		scheme     string
		login      bool
		secure     bool
	}{
		"STARTTLS":                {startTLS, "smtp", true, true},
		"STARTTLS, no login":      {startTLS, "smtp", false, true},
		"TLS":                     {fromTheStart, "smtps", true, true},
		"loopback without TLS":    {none, "smtp", true, false},
		"plain, though it offers": {startTLS, "smtp+plain", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.protection)
			out := dialer(t, s, c.scheme, c.login)
			m := LoginCode(envelope("ada@example.org", "Ada Ünal"), "123456")
			require.NoError(t, out.Send(t.Context(), m))
			got := <-s.got
			require.Equal(t, "tickets@example.org", got.from)
			require.Equal(t, "ada@example.org", got.to)
			require.Equal(t, c.login, got.login)
			require.Equal(t, c.secure, got.secure)
			h := got.parse(t).Header
			require.Equal(t, "<"+m.ID+"@example.org>", h.Get("Message-ID"))
			require.Equal(t, "auto-generated", h.Get("Auto-Submitted"))
			from, err := h.AddressList("From")
			require.NoError(t, err)
			require.Equal(t, "Box Office", from[0].Name)
			to, err := h.AddressList("To")
			require.NoError(t, err)
			require.Equal(t, "Ada Ünal", to[0].Name)
			at, err := h.Date()
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), at, time.Minute)
		})
	}
}

// TestSMTPKeepsItsConnection: one connection for messages one after the other,
// also after one that was refused; and a new one once the server has hung up.
func TestSMTPKeepsItsConnection(t *testing.T) {
	t.Parallel()
	conns := make(chan *smtp.Conn, 10)
	s := serve(t, startTLS, func(s *server) {
		s.rcpt = func(c *smtp.Conn, to string) error {
			conns <- c
			if to == "nobody@example.org" {
				return &smtp.SMTPError{Code: 550, Message: "no such user <nobody@example.org>"}
			}
			return nil
		}
	})
	out := dialer(t, s, "smtp", true)
	send := func(to string) error {
		return out.Send(t.Context(), PasswordChanged(envelope(to, ""), "https://tickets.example.org/organizer"))
	}
	require.NoError(t, send("ada@example.org"))
	f := failure(t, send("nobody@example.org"))
	require.True(t, f.Permanent)
	require.Equal(t, 550, f.Code)
	require.NotContains(t, f.Error(), "nobody")
	require.NoError(t, send("ada@example.org"))
	require.EqualValues(t, 1, s.dials.Load())

	require.NoError(t, (<-conns).Conn().Close())
	require.NoError(t, send("ada@example.org"))
	require.EqualValues(t, 2, s.dials.Load())
}

// TestSMTPMany: a rush of messages, some workers at a time, goes over a few
// connections, also where the server counts what it takes on each: it closes the
// connection, or says so and leaves it open.
func TestSMTPMany(t *testing.T) {
	t.Parallel()
	const n, workers, limit = 600, 4, 30
	for name, c := range map[string]struct {
		code  int
		dials int64
	}{
		"no limit": {0, n/smtpMessages + workers},
		"closes":   {421, n/limit + workers},
		"refuses":  {452, n/limit + workers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			had := map[*smtp.Conn]int{}
			s := serve(t, none, func(s *server) {
				s.mail = func(c2 *smtp.Conn) error {
					mu.Lock()
					defer mu.Unlock()
					if had[c2]++; c.code != 0 && had[c2] > limit {
						return &smtp.SMTPError{Code: c.code, Message: "too many messages"}
					}
					return nil
				}
			})
			out := dialer(t, s, "smtp+plain", false)
			var senders sync.WaitGroup
			for range workers {
				senders.Go(func() {
					for range n / workers {
						if err := out.Send(t.Context(), PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")); err != nil {
							t.Error(err)
						}
					}
				})
			}
			seen := map[string]bool{}
			for range n {
				seen[(<-s.got).parse(t).Header.Get("Message-ID")] = true
			}
			senders.Wait()
			require.Len(t, seen, n)
			require.LessOrEqual(t, s.dials.Load(), c.dials)
		})
	}
}

func TestSMTPTemporaryThenTaken(t *testing.T) {
	t.Parallel()
	for _, code := range []int{421, 451} {
		calls := 0
		s := serve(t, startTLS, func(s *server) {
			s.data = func(*smtp.Conn) error {
				if calls++; calls == 1 {
					return &smtp.SMTPError{Code: code, Message: "later, ada@example.org"}
				}
				return nil
			}
		})
		out := dialer(t, s, "smtp", true)
		m := PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")
		f := failure(t, out.Send(t.Context(), m))
		require.Equal(t, code, f.Code)
		require.False(t, f.Permanent)
		require.NoError(t, out.Send(t.Context(), m))
		require.Equal(t, "<"+m.ID+"@example.org>", (<-s.got).parse(t).Header.Get("Message-ID"))
	}
}

func TestSMTPConnectionLost(t *testing.T) {
	t.Parallel()
	calls := 0
	s := serve(t, startTLS, func(s *server) {
		s.data = func(c *smtp.Conn) error {
			if calls++; calls == 1 {
				return c.Conn().Close()
			}
			return nil
		}
	})
	out := dialer(t, s, "smtp", true)
	m := PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")
	f := failure(t, out.Send(t.Context(), m))
	require.Zero(t, f.Code)
	require.False(t, f.Permanent)
	<-s.got // the server took it without our knowing
	require.NoError(t, out.Send(t.Context(), m))
}

// TestSMTPSlowServer: neither the timeout nor the end of the context waits for
// the server.
func TestSMTPSlowServer(t *testing.T) {
	t.Parallel()
	release, inside := make(chan struct{}), make(chan struct{}, 2)
	s := serve(t, startTLS, func(s *server) {
		s.data = func(*smtp.Conn) error {
			inside <- struct{}{}
			<-release
			return nil
		}
	})
	t.Cleanup(func() { close(release) })
	m := PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")

	hasty := dialer(t, s, "smtp", true, func(c *SMTPConfig) { c.Timeout = 200 * time.Millisecond })
	f := failure(t, hasty.Send(t.Context(), m))
	require.False(t, f.Permanent)
	<-inside

	patient := dialer(t, s, "smtp", true, func(c *SMTPConfig) { c.Timeout = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-inside
		cancel()
	}()
	f = failure(t, patient.Send(ctx, m))
	require.False(t, f.Permanent)
}

// TestSMTPSilentServer: a port that accepts and never says a word.
func TestSMTPSilentServer(t *testing.T) {
	t.Parallel()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ln.Close()) })
	out := dialer(t, &server{addr: ln.Addr().String()}, "smtp", false, func(c *SMTPConfig) { c.Timeout = 100 * time.Millisecond })
	f := failure(t, out.Send(t.Context(), PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")))
	require.False(t, f.Permanent)
}

// TestSMTPNoSession: what goes wrong before a message is nobody's fault, so that
// the message stays; and no word of a secret is in the error.
func TestSMTPNoSession(t *testing.T) {
	t.Parallel()
	s := serve(t, startTLS)
	m := PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")
	wrong := dialer(t, s, "smtp", false, func(c *SMTPConfig) { c.URL = "smtp://boxoffice:sesame@" + s.addr })
	f := failure(t, wrong.Send(t.Context(), m))
	require.Equal(t, 535, f.Code)
	require.False(t, f.Permanent)
	require.NotContains(t, f.Error(), "sesame")

	strangers := dialer(t, s, "smtp", true, func(c *SMTPConfig) { c.TLS = nil })
	f = failure(t, strangers.Send(t.Context(), m))
	require.False(t, f.Permanent)
	require.ErrorContains(t, f, "certificate")

	gone := dialer(t, &server{addr: "127.0.0.1:1"}, "smtp", false)
	require.ErrorContains(t, failure(t, gone.Send(t.Context(), m)), "refused")
	require.Empty(t, s.got)
}

// TestSMTPRequiresTLS: a server elsewhere that offers no STARTTLS, or whose offer
// somebody on the way took out, gets nothing.
func TestSMTPRequiresTLS(t *testing.T) {
	t.Parallel()
	s := serve(t, none)
	out := dialer(t, s, "smtp", true, func(c *SMTPConfig) {
		host, port, err := net.SplitHostPort(s.addr)
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1", host)
		c.URL = "smtp://boxoffice:sesame@elsewhere.example:" + port
	})
	out.host = "127.0.0.1" // the policy is of the URL's host
	f := failure(t, out.Send(t.Context(), PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")))
	require.ErrorContains(t, f, "STARTTLS")
	require.Empty(t, s.got)
}

func TestSMTPRefusesURL(t *testing.T) {
	t.Parallel()
	for _, u := range []string{
		"", "mail.example.org", "http://user:sesame@mail.example.org", "smtp://", "smtp://user:sesame@host:70000",
		"smtp://user:sesame@host:0", "smtp+plain://user:sesame@mail.example.org", "smtp://user:sesame%zz@host", "smtp://user:sesame@ho st",
	} {
		_, err := NewSMTP(SMTPConfig{URL: u, Origin: origin(t)})
		require.Error(t, err, u)
		require.NotContains(t, err.Error(), "sesame")
	}
	for _, u := range []string{"smtp://host", "smtps://user:p@host", "smtp+plain://host:25", "smtp+plain://u:p@127.0.0.1", "smtp://u:p@[::1]:2525"} {
		_, err := NewSMTP(SMTPConfig{URL: u, Origin: origin(t)})
		require.NoError(t, err, u)
	}
}

// TestSMTPIdle: a connection that nobody uses is given back with a QUIT, and a
// message that comes meanwhile dials anew.
func TestSMTPIdle(t *testing.T) {
	t.Parallel()
	s := serve(t, startTLS)
	out := dialer(t, s, "smtp", true)
	require.NoError(t, out.Send(t.Context(), PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")))
	out.mu.Lock()
	require.Len(t, out.idle, 1)
	out.idle[0].since = time.Now().Add(-smtpIdleTime)
	require.True(t, out.reaper.Stop())
	out.reaping.Done()
	out.mu.Unlock()
	out.closeIdle()
	require.Empty(t, out.idle)
	require.Nil(t, out.reaper)
	require.NoError(t, out.Send(t.Context(), PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")))
	require.EqualValues(t, 2, s.dials.Load())
}

// TestSMTPIdleTime: a connection that becomes idle while another one is waited for is closed after its own smtpIdleTime.
func TestSMTPIdleTime(t *testing.T) {
	t.Parallel()
	s := serve(t, startTLS)
	out := dialer(t, s, "smtp", true)
	require.NoError(t, out.Send(t.Context(), PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")))
	out.mu.Lock()
	out.idle[0].since = time.Now().Add(-smtpIdleTime + 10*time.Millisecond) // it came while the timer ran for another
	require.True(t, out.reaper.Stop())
	out.reaping.Done()
	out.reapLater()
	out.mu.Unlock()
	require.Eventually(t, func() bool {
		out.mu.Lock()
		defer out.mu.Unlock()
		return len(out.idle) == 0
	}, smtpIdleTime/2, 10*time.Millisecond)
}

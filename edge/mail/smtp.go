package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
)

const (
	smtpTimeout  = 15 * time.Second // for a dial, and for a message
	smtpIdleTime = 20 * time.Second // an unused connection is closed after this time
	smtpMessages = 100              // most messages on one connection, because servers limit them
)

// SMTPConfig configures NewSMTP.
type SMTPConfig struct {
	URL     string // smtps://, smtp:// (STARTTLS; optional on loopback) or smtp+plain://, with user:password@ and a port if need be
	Origin  Origin
	TLS     *tls.Config   // nil: the system's authorities
	Timeout time.Duration // for a dial, and for a message; 0: 15 s
}

// SMTP is a Sender that hands messages to a mail server. It keeps connections for the next messages, and
// closes those that stay idle (smtpIdleTime).
type SMTP struct {
	origin   Origin
	host     string
	tls      *tls.Config
	options  []gomail.Option
	implicit bool // TLS from the first byte

	mu     sync.Mutex
	idle   []*session
	reaper *time.Timer // runs closeIdle; nil when it is not set, and set while a connection is idle
	closed bool

	reaping sync.WaitGroup
}

// NewSMTP reads the configuration. It does not dial. Its errors don't contain the URL, which may
// hold a password.
func NewSMTP(cfg SMTPConfig) (*SMTP, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("the URL of the mail server is not one")
	}
	s := &SMTP{origin: cfg.Origin, host: u.Hostname(), implicit: u.Scheme == "smtps", tls: cfg.TLS}
	if s.tls == nil {
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if s.tls.ServerName == "" {
		s.tls = s.tls.Clone()
		s.tls.ServerName = s.host
	}
	security, err := security(u)
	if err != nil {
		return nil, err
	}
	port, err := port(u)
	if err != nil {
		return nil, err
	}
	s.options = []gomail.Option{
		security, gomail.WithPort(port), gomail.WithTLSConfig(s.tls), gomail.WithTimeout(smtpTimeout),
		gomail.WithoutNoop(), gomail.WithoutRset(), // This saves two round trips; Send retries if a connection is stale.
	}
	if cfg.Timeout > 0 {
		s.options = append(s.options, gomail.WithTimeout(cfg.Timeout))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithUsername(u.User.Username()), gomail.WithPassword(password),
			// The mechanisms that every server supports come first. They are safe, because TLS encrypts them.
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthCramMD5))
	}
	return s, nil
}

// security returns the encryption that the URL's scheme demands. It refuses to send credentials in the clear,
// except to this machine.
func security(u *url.URL) (gomail.Option, error) {
	a, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && a.IsLoopback()
	switch {
	case u.Scheme == "smtps":
		return gomail.WithSSL(), nil
	case u.Scheme == "smtp" && local:
		return gomail.WithTLSPolicy(gomail.TLSOpportunistic), nil
	case u.Scheme == "smtp":
		return gomail.WithTLSPolicy(gomail.TLSMandatory), nil
	case u.Scheme == "smtp+plain" && u.User != nil && !local:
		return nil, errors.New("the URL of the mail server has credentials, which smtp+plain would send in the clear")
	case u.Scheme == "smtp+plain":
		return gomail.WithTLSPolicy(gomail.NoTLS), nil
	}
	return nil, errors.New("the URL of the mail server begins with none of smtps://, smtp:// and smtp+plain://")
}

// port is the URL's port, or the usual one for its scheme.
func port(u *url.URL) (int, error) {
	switch {
	case u.Port() != "":
		n, err := strconv.Atoi(u.Port())
		if err != nil || n < 1 || n > 65535 {
			return 0, errors.New("the URL of the mail server has a port that is none")
		}
		return n, nil
	case u.Scheme == "smtps":
		return 465, nil
	}
	return 587, nil
}

// Send delivers a message to the server. If the server did not say whether it took the message, a
// second attempt may deliver it twice, with the same Message-ID. It uses an idle connection if there is one,
// and tries another if the server has taken nothing of the message on that one, because it was closed or served out.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg, err := s.origin.renderMessage(m)
	if err != nil {
		return err
	}
	for {
		c, err := s.takeIdle(), error(nil)
		reused := c != nil
		if !reused {
			if c, err = s.openSession(ctx); err != nil {
				return failDial(err)
			}
		}
		state, err := c.send(ctx, msg)
		if state == usable {
			s.putBack(c)
			return err
		}
		c.close()
		if !reused || state != stale || ctx.Err() != nil {
			return err
		}
	}
}

// failDial makes the failure for a session that could not be opened. It is never permanent, because the
// message is not the cause. If the server gave a reply, the failure's text names only its code, because a
// reply may quote an address. The reply itself is the cause, which must not be logged.
func failDial(err error) *Failure {
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return &Failure{Reason: "no session", Code: reply.Code, cause: err}
	}
	return &Failure{Reason: "no session: " + err.Error(), cause: err}
}

// takeIdle returns the idle connection that was used last, or nil.
func (s *SMTP) takeIdle() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle) - 1
	if n < 0 {
		return nil
	}
	c := s.idle[n]
	s.idle = s.idle[:n]
	return c
}

// putBack keeps a connection for the next message. It closes the connection instead if that has carried enough
// messages, or if the SMTP is closed.
func (s *SMTP) putBack(c *session) {
	c.since = time.Now()
	c.messages++
	if c.messages >= smtpMessages || !s.keepIdle(c) {
		c.quit()
	}
}

// keepIdle keeps a connection for the next message. It returns false once the SMTP is closed.
func (s *SMTP) keepIdle(c *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.idle = append(s.idle, c)
	if s.reaper == nil {
		s.reapLater()
	}
	return true
}

// reapLater runs closeIdle when the first idle connection has been idle for smtpIdleTime. The caller holds the lock.
func (s *SMTP) reapLater() {
	s.reaping.Add(1)
	s.reaper = time.AfterFunc(time.Until(s.idle[0].since.Add(smtpIdleTime)), func() {
		defer s.reaping.Done()
		s.closeIdle()
	})
}

// closeIdle closes the connections that have been idle for smtpIdleTime. If others are left, it runs again when the
// next of them has been idle for that long.
func (s *SMTP) closeIdle() {
	s.mu.Lock()
	old := 0 // those that have been idle longest come first
	for old < len(s.idle) && time.Since(s.idle[old].since) >= smtpIdleTime {
		old++
	}
	reaped := slices.Clone(s.idle[:old])
	s.idle = slices.Delete(s.idle, 0, old)
	s.reaper = nil
	if len(s.idle) > 0 {
		s.reapLater()
	}
	s.mu.Unlock()
	for _, c := range reaped {
		c.quit()
	}
}

// Close closes the idle connections. Send closes a busy connection after its message; Close does not wait for
// that. It may be called only once.
func (s *SMTP) Close() {
	s.mu.Lock()
	s.closed = true
	idle := s.idle
	s.idle = nil
	if s.reaper != nil && s.reaper.Stop() {
		s.reaping.Done()
	}
	s.mu.Unlock()
	for _, c := range idle {
		c.quit()
	}
	s.reaping.Wait()
}

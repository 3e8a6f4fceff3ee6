package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// session is one connection to the server, which carries one message at a time. The session closes the
// connection itself, because go-mail leaves it open after most errors and obeys a context only while
// it dials.
type session struct {
	mailer   *gomail.Client
	conn     net.Conn
	since    time.Time // when it became idle
	messages int       // how many messages it was used for
}

// openSession connects, encrypts and authenticates. ctx bounds all of that.
func (s *SMTP) openSession(ctx context.Context) (*session, error) {
	c := &session{}
	unwatch := func() bool { return true }
	connect := func(dialling context.Context, network, address string) (net.Conn, error) {
		conn, err := s.connectTo(dialling, network, address)
		if err != nil {
			return nil, err
		}
		c.conn = conn
		unwatch = c.closeWith(ctx) // It must be ctx, because the context dialling ends with the dial's time limit.
		return conn, nil
	}
	var err error
	c.mailer, err = gomail.NewClient(s.host, append(slices.Clip(s.options), gomail.WithDialContextFunc(connect))...)
	if err != nil {
		return nil, fmt.Errorf("mail client: %w", err)
	}
	err = c.mailer.DialWithContext(ctx)
	unwatch()
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// connectTo opens a connection to an address, with TLS from its first byte if the server is set up so (implicit).
func (s *SMTP) connectTo(ctx context.Context, network, address string) (net.Conn, error) {
	if s.implicit {
		return (&tls.Dialer{Config: s.tls}).DialContext(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// closeWith closes the connection when ctx ends, unless unwatch was called before.
func (c *session) closeWith(ctx context.Context) (unwatch func() bool) {
	return context.AfterFunc(ctx, func() { _ = c.conn.Close() })
}

// condition tells whether a session can be used after an attempt to send a message.
type condition int

const (
	usable condition = iota // the session can carry another message
	broken                  // the session can't be used; the server may have accepted the message
	stale                   // the session can't be used; the server has accepted nothing of the message
)

// shuttingDown is the server's code when it closes the connection (RFC 5321, 3.8).
const shuttingDown = 421

// send sends a message to the server and says what the session can be used for afterwards. An error is always
// a *Failure.
func (c *session) send(ctx context.Context, msg *gomail.Msg) (condition, error) {
	unwatch := c.closeWith(ctx)
	err := c.mailer.Send(msg)
	cut := !unwatch()
	switch {
	case err == nil && cut:
		return broken, nil
	case err == nil:
		return usable, nil
	}
	f := &Failure{Reason: "connection lost", cause: err}
	step, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return broken, f
	}
	if f.Code = step.ErrorCode(); f.Code != 0 {
		f.Reason, f.Permanent = "refused", f.Code >= 500
		f.Bounced = f.Permanent && step.Reason == gomail.ErrSMTPRcptTo
	}
	first := step.Reason == gomail.ErrConnCheck || step.Reason == gomail.ErrSMTPMailFrom
	switch gone := cut || f.Code == 0 || f.Code == shuttingDown; {
	// Nothing of this message was taken: the connection is closed (by the server, or by us because ctx has
	// ended), or the server refuses for now to begin a message on it.
	case first && (gone || !f.Permanent):
		return stale, f
	case gone, !first && step.Reason != gomail.ErrSMTPRcptTo:
		return broken, f // the connection has ended, or the error came within DATA, after which go-mail does not reset the session
	}
	return usable, f
}

// quit says goodbye to the server and closes the connection.
func (c *session) quit() {
	_ = c.conn.SetDeadline(time.Now().Add(time.Second))
	_ = c.mailer.Close() // the connection ends even if this fails
	c.close()
}

// close closes the connection.
func (c *session) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

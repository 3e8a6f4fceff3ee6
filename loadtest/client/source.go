package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Request is one HTTP request. Host is host:port. A header whose string is empty is left out.
type Request struct {
	Method, Host, Path string
	Bearer             string // Authorization
	Key                string // Idempotency-Key
	ContentType        string // of Body
	Body               []byte
}

// Source is one client address. It is safe for concurrent use; each request in
// flight has a connection of its own.
type Source struct {
	net *Network
	ip  netip.Addr

	mu     sync.Mutex
	idle   map[string][]*conn // the idle connections by host:port; the one used last comes last
	closed bool
}

// conn is one keep-alive connection with its buffers.
type conn struct {
	net.Conn
	in      *bufio.Reader
	out     []byte
	lastUse time.Time
}

// Addr returns the client address.
func (s *Source) Addr() netip.Addr { return s.ip }

// Do sends the request and reads the whole answer into resp. After an error it is unknown whether
// the server has carried the request out; Timeout tells timeouts from lost connections. It follows
// no redirects and does not retry.
func (s *Source) Do(ctx context.Context, req *Request, resp *fasthttp.Response) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	c, err := s.takeIdle(ctx, req.Host)
	if err != nil {
		return err
	}
	open, err := s.exchange(c, req, resp)
	if open {
		s.put(req.Host, c)
	}
	return err
}

// Open sends the request over n connections at once, which are then idle. Buyers who wait for an
// answer each need a connection of their own, so a load that measures answers opens them
// beforehand.
func (s *Source) Open(ctx context.Context, req *Request, n int) error {
	var err error
	var conns []*conn
	for range n {
		var c *conn
		if c, err = s.takeIdle(ctx, req.Host); err != nil {
			break
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		open, failed := s.exchange(c, req, &fasthttp.Response{})
		if open {
			s.put(req.Host, c)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// exchange sends a request and reads the answer. open tells whether the connection can be used for another request.
// After an error the connection is closed, because the rest of an answer may still be on its way.
func (s *Source) exchange(c *conn, req *Request, resp *fasthttp.Response) (open bool, err error) {
	now := time.Now()
	err = c.SetDeadline(now.Add(s.net.cfg.Timeout))
	if err == nil {
		c.out = s.appendRequest(c.out[:0], req)
		_, err = c.Write(c.out)
	}
	if err == nil {
		_, err = c.in.Peek(1) // Read would hide the error
	}
	if err == nil {
		err = resp.Read(c.in)
	}
	if err != nil {
		_ = c.Close() // the first error is the one that matters
		return false, fmt.Errorf("%s %s: %w", req.Method, req.Path, err)
	}
	if resp.ConnectionClose() {
		_ = c.Close()
		return false, nil
	}
	c.lastUse = now
	return true, nil
}

// Timeout reports whether err, from Do, was a timeout rather than a lost connection.
func Timeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// takeIdle returns the idle connection that was used last, or opens a new one. A connection that was unused for too
// long may have been closed by the server at the very moment, so it is closed instead of used.
func (s *Source) takeIdle(ctx context.Context, host string) (*conn, error) {
	s.mu.Lock()
	idle := s.idle[host]
	if last := len(idle) - 1; last >= 0 && time.Since(idle[last].lastUse) < s.net.cfg.IdleFor {
		c := idle[last]
		s.idle[host] = idle[:last]
		s.mu.Unlock()
		return c, nil
	}
	s.idle[host] = nil // the others are at least as old
	s.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
	nc, err := s.net.dialFrom(ctx, s.ip, host)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: nc, in: bufio.NewReaderSize(nc, 4096)}, nil
}

// put keeps a connection for the next request, unless enough are idle or the network is closed.
func (s *Source) put(host string, c *conn) {
	s.mu.Lock()
	keep := !s.closed && len(s.idle[host]) < s.net.cfg.PerIdle
	if keep {
		s.idle[host] = append(s.idle[host], c)
	}
	s.mu.Unlock()
	if !keep {
		_ = c.Close()
	}
}

// close closes the idle connections, and makes put close those that are in use when they come back.
func (s *Source) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.closeIdle()
}

// closeIdle closes the connections that no request uses. New requests open others.
func (s *Source) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, idle := range s.idle {
		for _, c := range idle {
			_ = c.Close()
		}
	}
	clear(s.idle)
}

// appendRequest writes a request in HTTP/1.1 behind b. The buffer is the connection's own and is used again, so a
// request costs no memory.
func (s *Source) appendRequest(b []byte, req *Request) []byte {
	header := func(name, value string) {
		if value != "" {
			b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
		}
	}
	b = append(append(append(append(b, req.Method...), ' '), req.Path...), " HTTP/1.1\r\n"...)
	header("Host", req.Host)
	if req.Bearer != "" {
		header("Authorization", "Bearer "+req.Bearer)
	}
	header("Idempotency-Key", req.Key)
	if s.net.cfg.Remote {
		header("X-Forwarded-For", s.ip.String())
	}
	if req.Body != nil || req.Method != "GET" {
		header("Content-Type", req.ContentType)
		header("Content-Length", strconv.Itoa(len(req.Body)))
	}
	return append(append(b, "\r\n"...), req.Body...)
}

// Dial opens a connection from the address for a caller that speaks HTTP itself.
func (s *Source) Dial(ctx context.Context, host string) (net.Conn, error) {
	return s.net.dialFrom(ctx, s.ip, host)
}

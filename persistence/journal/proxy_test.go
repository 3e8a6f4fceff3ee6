package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// cut is how a connection dies around an append.
type cut int

const (
	noCut cut = iota
	beforeSend
	afterSend
	afterReply
	replyTruncated
	landsLate
	cuts // how many
)

// String names the cut in reports.
func (c cut) String() string {
	return [...]string{"none", "before send", "after send", "after reply", "reply truncated", "lands late"}[c]
}

// proxy stands between a lane and Postgres and cuts connections.
type proxy struct {
	t        testing.TB
	listener net.Listener
	target   func(context.Context) (net.Conn, error)
	// plan is asked for each append: how to cut its connection, and how
	// late the append lands if it lands late.
	plan func() (cut, time.Duration)

	mu         sync.Mutex
	conns      map[net.Conn]bool
	wg         sync.WaitGroup
	performing sync.WaitGroup // cuts in progress
}

func newProxy(t testing.TB, server *pgx.ConnConfig, plan func() (cut, time.Duration)) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	network, address := pgconn.NetworkAddress(server.Host, server.Port)
	p := &proxy{t: t, listener: listener, plan: plan, conns: make(map[net.Conn]bool)}
	p.target = func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// lane is how lanes connect through the proxy.
func (p *proxy) lane(pool *pgxpool.Pool) *pgx.ConnConfig {
	c := pool.Config().ConnConfig.Copy()
	address := p.listener.Addr().(*net.TCPAddr)
	c.Host, c.Port = address.IP.String(), uint16(address.Port)
	return c
}

// close ends everything and waits.
func (p *proxy) close() {
	_ = p.listener.Close() // closed once
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close() // perhaps closed already
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *proxy) track(c net.Conn) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return c
}

func (p *proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close() // perhaps closed already
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := p.target(context.Background())
		if err != nil {
			_ = client.Close() // the server is away: so are we
			continue
		}
		s := &session{p: p, client: p.track(client), server: p.track(server), replies: make(chan []byte)}
		p.wg.Go(s.requests)
		p.wg.Go(s.answers)
	}
}

// session is one connection through the proxy.
type session struct {
	p              *proxy
	client, server net.Conn
	replies        chan []byte // unbuffered: the server's chunks after a cut was drawn

	mu  sync.Mutex
	cut bool // replies go to the channel, no longer to the client
}

// answers copies the server's chunks to the client until a cut takes them over.
func (s *session) answers() {
	defer close(s.replies)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.server.Read(buf)
		if n > 0 {
			s.mu.Lock()
			cut := s.cut
			if !cut {
				_, werr := s.client.Write(buf[:n])
				err = errors.Join(err, werr)
			}
			s.mu.Unlock()
			if cut {
				s.replies <- bytes.Clone(buf[:n])
			}
		}
		if err != nil {
			s.mu.Lock()
			if !s.cut {
				s.p.drop(s.client)
			}
			s.mu.Unlock()
			return
		}
	}
}

// requests copies the client's chunks to the server until an append is to be
// cut.
func (s *session) requests() {
	defer s.p.drop(s.client)
	defer s.p.drop(s.server)
	buf := make([]byte, 256<<10)
	for {
		n, err := s.client.Read(buf)
		if err != nil {
			return
		}
		if isAppend(buf[:n]) {
			if kind, late := s.p.plan(); kind != noCut {
				s.p.performing.Add(1)
				defer s.p.performing.Done()
				s.perform(kind, late, buf[:n])
				return
			}
		}
		if _, err := s.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// isAppend recognizes the Bind message of an append's statement.
func isAppend(chunk []byte) bool {
	return chunk[0] == 'B' && bytes.Contains(chunk[:min(64, len(chunk))], []byte("append_"))
}

func (s *session) perform(kind cut, late time.Duration, request []byte) {
	s.mu.Lock()
	s.cut = true
	s.mu.Unlock()
	if kind == beforeSend {
		s.hangUp()
		return
	}
	if kind == landsLate {
		s.p.drop(s.client)
		<-time.After(late)
	}
	if _, err := s.server.Write(request); err != nil {
		s.hangUp()
		return
	}
	if kind == afterSend {
		s.p.drop(s.client)
	}
	reply := <-s.replies // the server is done
	if kind == replyTruncated && len(reply) > 1 {
		_, _ = io.Copy(s.client, bytes.NewReader(reply[:len(reply)/2])) // may have gone
	}
	s.hangUp()
}

// hangUp closes both sides and lets answers end.
func (s *session) hangUp() {
	s.p.drop(s.client)
	s.p.drop(s.server)
	for range s.replies {
		// Nobody wants what still comes.
	}
}

// Package socket bounds the open connections of a listener, in total and per address. It also finds the address
// of the client whose request came through trusted proxies.
package socket

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/edge/route"
)

// Limits bound the open connections of a listener.
type Limits struct {
	Total      int
	PerAddress int
	Exempt     []netip.Prefix // addresses of proxies, which only the total bounds
}

// Counts are the listener's metrics.
type Counts struct {
	Open       prometheus.Gauge
	TurnedAway prometheus.Counter
}

// Listener counts its connections, in total and per address, and turns away those beyond a limit
// with a 503. We don't use fasthttp's own limit per address: it hides the connection and has failed
// for IPv6.
type Listener struct {
	net.Listener
	limits Limits
	counts Counts

	mu        sync.Mutex
	open      map[*conn]struct{}
	addresses map[netip.Addr]int
}

// Bound makes a listener that is bounded by limits.
func Bound(ln net.Listener, limits Limits, counts Counts) *Listener {
	return &Listener{Listener: ln, limits: limits, counts: counts, open: map[*conn]struct{}{}, addresses: map[netip.Addr]int{}}
}

// Open returns how many connections are open.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Accept returns the next connection that is within the limits. It turns away, and counts, those beyond the
// limits.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.admitConnection(c); counted != nil {
			return counted, nil
		}
		l.counts.TurnedAway.Inc()
		turnAway(c)
	}
}

// admitConnection counts the connection, or returns nil if there are too many already: in all, or from its address
// unless that is exempt.
func (l *Listener) admitConnection(c net.Conn) *conn {
	addr := peerAddress(c.RemoteAddr())
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limits.Total {
		return nil
	}
	if l.addresses[addr] >= l.limits.PerAddress && !route.Within(l.limits.Exempt, addr) {
		return nil
	}
	counted := &conn{Conn: c, addr: addr, listener: l}
	l.open[counted] = struct{}{}
	l.addresses[addr]++
	l.counts.Open.Inc()
	return counted
}

// forgetConnection takes a closed connection out of the counts. It does nothing if the connection was forgotten before.
func (l *Listener) forgetConnection(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if l.addresses[c.addr]--; l.addresses[c.addr] == 0 {
		delete(l.addresses, c.addr)
	}
	l.counts.Open.Dec()
}

// CloseAll cuts every connection that is still open.
func (l *Listener) CloseAll() {
	l.mu.Lock()
	open := make([]*conn, 0, len(l.open))
	for c := range l.open {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close() // the connection goes even if this fails
	}
}

// conn is a connection that its listener counts until it is closed.
type conn struct {
	net.Conn
	addr     netip.Addr
	listener *Listener
	linger   bool // the serving goroutine sets it before it closes
}

// Linger makes Close first read what the client still sends, for drainTime at most, so that the client
// gets to read the answer. It does nothing for a connection that Accept did not return. Only the
// goroutine that serves the connection may call it.
func Linger(c net.Conn) {
	if counted, ok := c.(*conn); ok {
		counted.linger = true
	}
}

// NetConn returns the connection that this one wraps, for writers that need its descriptor.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Close closes the connection and gives its place back, once.
func (c *conn) Close() error {
	if c.linger {
		c.drainBody()
	}
	c.listener.forgetConnection(c)
	return c.Conn.Close()
}

// drainBytes and drainTime bound how much drainBody reads, and for how long.
const (
	drainBytes = 8 << 20
	drainTime  = time.Second
)

// drainBody reads for a while before the connection is closed. Closing it with unread bytes resets it, and a
// client that is still sending too large a body would never read why it was refused.
func (c *conn) drainBody() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // if this fails, the connection is closed next anyway
	}
	_ = c.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, c.Conn, drainBytes)
}

// turnAway answers a connection beyond the limits with a 503 and closes it. The answer fits into an empty send
// buffer, so the write cannot block.
func turnAway(c net.Conn) {
	body := `{"error":{"code":"OVERLOADED","message":"Too many connections.","details":null},"meta":{"request_id":"` + uuid.NewString() + `"}}`
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: %d\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", RetrySeconds(), len(body), body)
	_ = c.Close() // there is nothing to do about either error
}

// RetrySeconds returns a random Retry-After of 1 to 3 s, so that clients that were turned away together do not
// come back together.
func RetrySeconds() int { return 1 + rand.IntN(3) }

// peerAddress returns the address at the other end. A connection without an IP address, such as a pipe or a
// local socket, counts as a connection from this machine.
func peerAddress(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		if addr, ok := netip.AddrFromSlice(tcp.IP); ok {
			return addr.Unmap()
		}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

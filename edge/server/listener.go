package server

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/route"
)

// limits bound the open connections of a listener.
type limits struct {
	total      int
	perAddress int
	exempt     []netip.Prefix // whose addresses only the total bounds: proxies
}

// limited is a listener that keeps count of its connections, in total and per
// address, and turns away those beyond a limit with a 503. fasthttp's own limit
// per address is not used: it hides the connection and has failed for IPv6.
type limited struct {
	net.Listener
	limits  limits
	metrics *metrics

	mu        sync.Mutex
	open      map[*conn]struct{}
	addresses map[netip.Addr]int
}

func bounded(ln net.Listener, l limits, m *metrics) *limited {
	return &limited{Listener: ln, limits: l, metrics: m, open: map[*conn]struct{}{}, addresses: map[netip.Addr]int{}}
}

// Accept returns the next connection that is within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.admit(c); counted != nil {
			return counted, nil
		}
		l.metrics.turnedAway.Inc()
		turnAway(c)
	}
}

// admit counts the connection, or returns nil if it is one too many.
func (l *limited) admit(c net.Conn) *conn {
	addr := peer(c.RemoteAddr())
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limits.total {
		return nil
	}
	if l.addresses[addr] >= l.limits.perAddress && !route.Within(l.limits.exempt, addr) {
		return nil
	}
	counted := &conn{Conn: c, addr: addr, listener: l}
	l.open[counted] = struct{}{}
	l.addresses[addr]++
	l.metrics.connections.Inc()
	return counted
}

func (l *limited) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[c]; !ok {
		return
	}
	delete(l.open, c)
	if l.addresses[c.addr]--; l.addresses[c.addr] == 0 {
		delete(l.addresses, c.addr)
	}
	l.metrics.connections.Dec()
}

// closeAll cuts every connection that is still open.
func (l *limited) closeAll() {
	l.mu.Lock()
	open := make([]*conn, 0, len(l.open))
	for c := range l.open {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close() // it goes either way
	}
}

// conn is a connection that its listener counts until it is closed.
type conn struct {
	net.Conn
	addr     netip.Addr
	listener *limited
	linger   bool // set by the serving goroutine before it closes
}

// NetConn is the connection below, for writers that need its descriptor.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Close closes the connection and gives its place back, once.
func (c *conn) Close() error {
	if c.linger {
		c.drain()
	}
	c.listener.forget(c)
	return c.Conn.Close()
}

// Bounds of a drain.
const (
	drainBytes = 8 << 20
	drainTime  = time.Second
)

// drain reads on for a while. A connection that is closed with bytes unread is
// reset, and a client still busy sending too large a body would never see why
// it was refused.
func (c *conn) drain() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // whatever fails here, the connection goes next
	}
	_ = c.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, c.Conn, drainBytes)
}

// turnAway answers a connection that is one too many and closes it. The answer
// fits an empty send buffer, so the write cannot block.
func turnAway(c net.Conn) {
	body := `{"error":{"code":"OVERLOADED","message":"Too many connections.","details":null},"meta":{"request_id":"` + uuid.NewString() + `"}}`
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: %d\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", retrySeconds(), len(body), body)
	_ = c.Close() // nothing to be done about either error
}

// peer is the address at the other end. A connection without an IP address,
// as through a pipe or a local socket, comes from this machine.
func peer(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		if addr, ok := netip.AddrFromSlice(tcp.IP); ok {
			return addr.Unmap()
		}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

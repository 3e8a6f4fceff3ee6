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
	exempt     []netip.Prefix // addresses of proxies, which only the total bounds
}

// limited is a listener that counts its connections, in total and per address, and turns away those
// beyond a limit with a 503. We don't use fasthttp's own limit per address: it hides the connection
// and has failed for IPv6.
type limited struct {
	net.Listener
	limits  limits
	metrics *metrics

	mu        sync.Mutex
	open      map[*conn]struct{}
	addresses map[netip.Addr]int
}

func boundListener(ln net.Listener, l limits, m *metrics) *limited {
	return &limited{Listener: ln, limits: l, metrics: m, open: map[*conn]struct{}{}, addresses: map[netip.Addr]int{}}
}

// Accept returns the next connection that is within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.admitConnection(c); counted != nil {
			return counted, nil
		}
		l.metrics.turnedAway.Inc()
		turnAway(c)
	}
}

// admitConnection counts the connection, or returns nil if there are too many already.
func (l *limited) admitConnection(c net.Conn) *conn {
	addr := peerAddress(c.RemoteAddr())
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

func (l *limited) forgetConnection(c *conn) {
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
		_ = c.Close() // the connection goes even if this fails
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
		c.drainBody()
	}
	c.listener.forgetConnection(c)
	return c.Conn.Close()
}

// Bounds of a drain.
const (
	drainBytes = 8 << 20
	drainTime  = time.Second
)

// drainBody reads on for a while before the connection is closed. Closing it with unread bytes resets
// it, and a client that is still sending too large a body would never read why it was refused.
func (c *conn) drainBody() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // if this fails, the connection is closed next anyway
	}
	_ = c.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, c.Conn, drainBytes)
}

// turnAway answers a connection that is one too many and closes it. The answer fits into an empty
// send buffer, so the write cannot block.
func turnAway(c net.Conn) {
	body := `{"error":{"code":"OVERLOADED","message":"Too many connections.","details":null},"meta":{"request_id":"` + uuid.NewString() + `"}}`
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: %d\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", retrySeconds(), len(body), body)
	_ = c.Close() // there is nothing to do about either error
}

// peerAddress is the address at the other end. A connection without an IP address, such as a pipe or a
// local socket, counts as from this machine.
func peerAddress(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		if addr, ok := netip.AddrFromSlice(tcp.IP); ok {
			return addr.Unmap()
		}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

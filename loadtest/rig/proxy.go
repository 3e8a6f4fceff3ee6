package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Proxy passes TCP connections on, and can be told to do so badly. It is the
// balancer in front of a cluster's nodes, and the wire between nodes, and from
// them to Postgres, that a chaos run cuts.
type Proxy struct {
	ln     net.Listener
	dial   func(ctx context.Context, from net.Addr) (net.Conn, error) // opens the connection to the other end
	ctx    context.Context                                            //nolint:containedctx // the proxy's life
	cancel context.CancelFunc
	wg     sync.WaitGroup

	Forth, Back Gate // hold up what goes to the other end, and what comes from it

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// startProxy listens on an address.
func startProxy(ctx context.Context, listen string, dial func(context.Context, net.Addr) (net.Conn, error)) (*Proxy, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{ln: ln, dial: dial, conns: make(map[net.Conn]struct{})}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.wg.Go(p.acceptConnections)
	return p, nil
}

// dialAlways dials one address for every caller.
func dialAlways(network, address string) func(context.Context, net.Addr) (net.Conn, error) {
	return func(ctx context.Context, _ net.Addr) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
	}
}

// address returns where the proxy listens.
func (p *Proxy) address() string { return p.ln.Addr().String() }

// acceptConnections passes each connection on by goroutines of its own, until the listener is closed.
func (p *Proxy) acceptConnections() {
	for {
		near, err := p.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		p.wg.Go(func() { p.passConnection(near) })
	}
}

// passConnection passes one connection on until both directions have ended. The two directions are copied by two
// goroutines, because each may be held up alone.
func (p *Proxy) passConnection(near net.Conn) {
	if !p.noteConnection(near) {
		return
	}
	defer p.forgetConnection(near)
	far, err := p.dial(p.ctx, near.RemoteAddr())
	if err != nil || !p.noteConnection(far) {
		return
	}
	defer p.forgetConnection(far)
	var back sync.WaitGroup
	back.Go(func() { p.copyOneWay(near, far, &p.Back) })
	p.copyOneWay(far, near, &p.Forth)
	back.Wait()
}

// copyOneWay copies one direction. While the gate is shut it holds what it has read, and reads nothing more, so the
// sender's window fills up. The end of the direction passes the gate as well: a node behind a shut gate does not
// hear that the other end has closed.
func (p *Proxy) copyOneWay(to, from net.Conn, g *Gate) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if g.waitUntilOpen(p.ctx) != nil {
			return
		}
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				_ = from.Close()
				return
			}
		}
		if err != nil {
			if half, ok := to.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			return
		}
	}
}

// noteConnection notes a connection, so that Cut can break it. After the proxy has stopped it closes the connection
// instead and returns false.
func (p *Proxy) noteConnection(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

// forgetConnection closes a connection that has ended, and takes it off the list for Cut.
func (p *Proxy) forgetConnection(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

// Cut breaks all connections with a reset, as a machine does that has lost them, and returns how many it were. New
// ones can be made at once. A connection through the proxy counts once, although it has two ends.
func (p *Proxy) Cut() (broken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
	return len(p.conns) / 2
}

// stop ends the listener and all connections, and waits for their goroutines. The context is cancelled first, so
// that a connection that is just being made is not noted any more.
func (p *Proxy) stop() {
	p.cancel()
	_ = p.ln.Close()
	p.Cut()
	p.wg.Wait()
}

// Gate lets bytes through, or holds them up as a network does that loses packets:
// what was sent arrives when it is open again, if the connection lives so long.
type Gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed when the gate opens again; nil: open
}

// Shut holds up what comes from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

// Open lets through what was held up, and all that comes.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// waitUntilOpen returns when the gate is open.
func (g *Gate) waitUntilOpen(ctx context.Context) error {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut == nil {
		return nil
	}
	select {
	case <-shut:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

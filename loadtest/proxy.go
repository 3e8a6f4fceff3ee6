package loadtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// proxy passes TCP connections on, and can be told to do so badly. It is the
// balancer in front of a cluster's nodes, and the wire between nodes, and from
// them to Postgres, that a chaos run cuts.
type proxy struct {
	ln     net.Listener
	dial   func(ctx context.Context, from net.Addr) (net.Conn, error) // to the other end
	ctx    context.Context                                            //nolint:containedctx // the proxy's life
	cancel context.CancelFunc
	wg     sync.WaitGroup

	there, back gate // for what goes to the other end, and comes from it

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// startProxy listens on an address.
func startProxy(ctx context.Context, listen string, dial func(context.Context, net.Addr) (net.Conn, error)) (*proxy, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &proxy{ln: ln, dial: dial, conns: make(map[net.Conn]struct{})}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.wg.Go(p.accept)
	return p, nil
}

// to dials one address, whoever comes.
func to(network, address string) func(context.Context, net.Addr) (net.Conn, error) {
	return func(ctx context.Context, _ net.Addr) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
	}
}

func (p *proxy) addr() string { return p.ln.Addr().String() }

func (p *proxy) accept() {
	for {
		near, err := p.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		p.wg.Go(func() { p.serve(near) })
	}
}

// serve passes one connection on until both sides have ended it.
func (p *proxy) serve(near net.Conn) {
	if !p.keep(near) {
		return
	}
	defer p.forget(near)
	far, err := p.dial(p.ctx, near.RemoteAddr())
	if err != nil || !p.keep(far) {
		return
	}
	defer p.forget(far)
	var back sync.WaitGroup
	back.Go(func() { p.pass(near, far, &p.back) })
	p.pass(far, near, &p.there)
	back.Wait()
}

// pass copies one direction, as far as the gate is open.
func (p *proxy) pass(to, from net.Conn, g *gate) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if g.wait(p.ctx) != nil {
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

// keep notes a connection, unless the proxy has stopped.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *proxy) forget(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

// cut breaks all connections, with a reset.
func (p *proxy) cut() (broken int) {
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

// stop ends all connections and waits.
func (p *proxy) stop() {
	p.cancel()
	_ = p.ln.Close()
	p.cut()
	p.wg.Wait()
}

// gate lets bytes through, or holds them up as a network does that loses packets:
// what was sent arrives when it is open again, if the connection lives so long.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed when the gate opens again; nil: open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// wait returns when the gate is open.
func (g *gate) wait(ctx context.Context) error {
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

package persistence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrAway says that one of several databases does not answer.
var ErrAway = errors.New("does not answer")

const (
	// probeEvery is the time between two looks at a database, and probeWithin how long it may take to
	// answer one. Together they are less than a second, within which callers are told.
	probeEvery  = 200 * time.Millisecond
	probeWithin = 600 * time.Millisecond
)

// Gate stands before one of several databases, so that a database that does not answer holds nobody
// up who needs another one. While the gate is shut, whoever wants a connection gets ErrAway at once,
// and the connections that were open have been cut. Its methods may be called by any goroutine.
type Gate struct {
	name  string
	state atomic.Pointer[gateState]
	heard atomic.Int64

	mu    sync.Mutex
	conns map[*gatedConn]struct{} // open
}

// gateState is whether the gate is shut, and never changes otherwise: a new one replaces it.
type gateState struct {
	shut  chan struct{} // closed once the gate is shut
	cause error         // why it is shut, nil while it is open
}

// NewGate makes an open gate; name is that of the database in errors and in the log.
func NewGate(name string) *Gate {
	g := &Gate{name: name, conns: make(map[*gatedConn]struct{})}
	g.state.Store(&gateState{shut: make(chan struct{})})
	return g
}

// Shut returns a channel that is closed when the gate is shut, or is closed already.
func (g *Gate) Shut() <-chan struct{} { return g.state.Load().shut }

// IsShut reports whether the gate is shut.
func (g *Gate) IsShut() bool { return g.state.Load().cause != nil }

// Err returns an ErrAway with the cause while the gate is shut.
func (g *Gate) Err() error {
	if cause := g.state.Load().cause; cause != nil {
		return fmt.Errorf("%s %w: %w", g.name, ErrAway, cause)
	}
	return nil
}

// Heard notes that the database has answered somebody, so that a probe which is late on a busy machine
// shuts nothing.
func (g *Gate) Heard() { g.heard.Add(1) }

// Guard makes a pool's connections pass the gate.
func (g *Gate) Guard(cfg *pgxpool.Config) {
	cfg.ConnConfig.DialFunc = g.Dial(cfg.ConnConfig.DialFunc)
	before := cfg.BeforeConnect
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if err := g.Err(); err != nil || before == nil {
			return err
		}
		return before(ctx, c)
	}
	cfg.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) { return true, g.Err() }
}

// Dial makes connections pass the gate.
func (g *Gate) Dial(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := g.Err(); err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &gatedConn{conn, g}
		g.mu.Lock()
		g.conns[c] = struct{}{}
		g.mu.Unlock()
		if err := g.Err(); err != nil { // it may have been shut before the connection was noted
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	}
}

// gatedConn is a connection that the gate can cut.
type gatedConn struct {
	net.Conn
	gate *Gate
}

// Close closes the connection.
func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.conns, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// Watch looks at the database again and again until the context ends, by a connection of its own, and
// shuts and opens the gate. look asks what must be right for the database to be used.
func (g *Gate) Watch(ctx context.Context, cfg *pgx.ConnConfig, log *slog.Logger, look func(context.Context, *pgx.Conn) error) {
	p := prober{cfg: cfg.Copy(), look: look}
	p.cfg.DialFunc = (&net.Dialer{}).DialContext
	defer func() { p.drop(context.WithoutCancel(ctx)) }()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		heard := g.heard.Load()
		err := p.probe(ctx)
		switch late := errors.Is(err, context.DeadlineExceeded); {
		case ctx.Err() != nil, late && g.heard.Load() != heard:
		case err == nil && g.open():
			log.InfoContext(ctx, "database answers again", slog.String("database", g.name))
		case err != nil && g.close(err):
			log.ErrorContext(ctx, "database does not answer", slog.String("database", g.name), slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Look looks at the database once, and shuts the gate if it does not answer.
func (g *Gate) Look(ctx context.Context, cfg *pgx.ConnConfig, look func(context.Context, *pgx.Conn) error) {
	p := prober{cfg: cfg.Copy(), look: look}
	p.cfg.DialFunc = (&net.Dialer{}).DialContext
	if err := p.probe(ctx); err != nil {
		g.close(err)
	}
	p.drop(ctx)
}

// open opens the gate, and reports whether it was shut.
func (g *Gate) open() bool {
	if !g.IsShut() {
		return false
	}
	g.state.Store(&gateState{shut: make(chan struct{})})
	return true
}

// close shuts the gate and cuts all connections. It reports whether the gate was open.
func (g *Gate) close(cause error) bool {
	was := g.state.Load()
	g.state.Store(&gateState{shut: was.shut, cause: cause})
	if was.cause != nil {
		return false
	}
	close(was.shut)
	g.mu.Lock()
	open := make([]*gatedConn, 0, len(g.conns))
	for c := range g.conns {
		open = append(open, c)
	}
	g.mu.Unlock()
	for _, c := range open {
		_ = c.Conn.Close() // its owner finds out, and closes it too
	}
	return true
}

// prober has the connection by which a gate looks at its database.
type prober struct {
	cfg  *pgx.ConnConfig
	look func(context.Context, *pgx.Conn) error
	conn *pgx.Conn // nil: connect
}

// probe returns nil if the database has answered as look wants it. A connection that has broken by
// itself proves nothing, so a new one is tried.
func (p *prober) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	if p.conn != nil {
		err := p.look(ctx, p.conn)
		if err == nil {
			return nil
		}
		p.drop(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, p.cfg)
	if err != nil {
		return err
	}
	p.conn = conn
	if err := p.look(ctx, conn); err != nil {
		p.drop(ctx)
		return err
	}
	return nil
}

// drop gives the connection up.
func (p *prober) drop(ctx context.Context) {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeEvery)
	defer cancel()
	_ = p.conn.Close(ctx) // it may have broken
	p.conn = nil
}

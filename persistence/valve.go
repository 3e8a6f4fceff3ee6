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
	// probeEvery is the time between two looks at a database, and probeWithin is how long a database may take to
	// answer one. Together they are less than a second, so callers get ErrAway within a second after the
	// database has gone away.
	probeEvery  = 200 * time.Millisecond
	probeWithin = 600 * time.Millisecond
	// lookWithin is how long a database may take to answer the one look of a tool. A tool that ran on a busy machine
	// would otherwise call a database away that is only slow, and nobody waits for a tool as a buyer does.
	lookWithin = 5 * time.Second
)

// Valve stands before one of several databases, so that a database that does not answer holds up only the callers
// that need it. While the valve is shut, a caller that wants a connection gets ErrAway at once, and the connections
// that were open have been cut. Its methods may be called by any goroutine.
type Valve struct {
	name  string
	state atomic.Pointer[valveState]
	heard atomic.Int64
	cuts  atomic.Int64 // how often all connections were cut

	mu    sync.Mutex
	conns map[*valveConn]struct{} // the open connections
}

// valveState tells whether the valve is shut. It never changes, except that its channel is closed; a new state
// replaces it.
type valveState struct {
	shut  chan struct{} // closed once the valve is shut
	cause error         // why it is shut, nil while it is open
}

// NewValve makes an open valve; name is the database's, for errors and the log.
func NewValve(name string) *Valve {
	v := &Valve{name: name, conns: make(map[*valveConn]struct{})}
	v.state.Store(&valveState{shut: make(chan struct{})})
	return v
}

// Shut returns a channel that is closed when the valve is shut, or is closed already.
func (v *Valve) Shut() <-chan struct{} { return v.state.Load().shut }

// IsShut reports whether the valve is shut.
func (v *Valve) IsShut() bool { return v.state.Load().cause != nil }

// Err returns an ErrAway with the cause while the valve is shut.
func (v *Valve) Err() error {
	if cause := v.state.Load().cause; cause != nil {
		return fmt.Errorf("%s %w: %w", v.name, ErrAway, cause)
	}
	return nil
}

// Heard notes that the database has answered somebody else than the prober. Watch then does not shut the valve
// if its own look gets no answer in time, which may happen on a busy machine.
func (v *Valve) Heard() { v.heard.Add(1) }

// Join puts the valve before a pool's connections: while it is shut, the pool makes no connection and lends none.
// Idle connections from before it was last shut are not lent either. It keeps the pool's own hooks, except
// PrepareConn.
func (v *Valve) Join(cfg *pgxpool.Config) {
	cfg.ConnConfig.DialFunc = v.Dial(cfg.ConnConfig.DialFunc)
	before := cfg.BeforeConnect
	cfg.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		if err := v.Err(); err != nil || before == nil {
			return err
		}
		return before(ctx, c)
	}
	after := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if after != nil {
			if err := after(ctx, c); err != nil {
				return err
			}
		}
		c.PgConn().CustomData()[cutsKey] = v.cuts.Load()
		return nil
	}
	// The pool does not know which of its idle connections were cut.
	cfg.PrepareConn = func(_ context.Context, c *pgx.Conn) (bool, error) {
		return c.PgConn().CustomData()[cutsKey] == v.cuts.Load(), v.Err()
	}
}

// cutsKey is the key under which a connection keeps what Valve.cuts was when the connection was made.
const cutsKey = "valve cuts"

// Dial returns dial with the valve before it: a shut valve refuses new connections, and cuts open ones.
func (v *Valve) Dial(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := v.Err(); err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &valveConn{conn, v}
		v.mu.Lock()
		v.conns[c] = struct{}{}
		v.mu.Unlock()
		if err := v.Err(); err != nil { // it may have been shut before the connection was noted
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	}
}

// valveConn is a connection that the valve can cut.
type valveConn struct {
	net.Conn
	valve *Valve
}

// Close closes the connection.
func (c *valveConn) Close() error {
	c.valve.mu.Lock()
	delete(c.valve.conns, c)
	c.valve.mu.Unlock()
	return c.Conn.Close()
}

// Watch checks the database again and again until the context ends, over a connection of its own, and shuts and
// opens the valve. look returns an error if the database must not be used. A look that only takes too long changes
// nothing if the database has answered somebody else during the look (Heard).
func (v *Valve) Watch(ctx context.Context, cfg *pgx.ConnConfig, log *slog.Logger, look func(context.Context, *pgx.Conn) error) {
	p := prober{cfg: cfg.Copy(), look: look}
	p.cfg.DialFunc = (&net.Dialer{}).DialContext
	defer func() { p.disconnect(context.WithoutCancel(ctx)) }()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		heard := v.heard.Load()
		err := p.lookOnce(ctx, probeWithin)
		switch late := errors.Is(err, context.DeadlineExceeded); {
		case ctx.Err() != nil, late && v.heard.Load() != heard:
		case err == nil && v.open():
			log.InfoContext(ctx, "database answers again", slog.String("database", v.name))
		case err != nil && v.close(err):
			log.ErrorContext(ctx, "database does not answer", slog.String("database", v.name), slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Look looks at the database once, and shuts the valve if the database does not answer or look returns an error. It
// never opens the valve.
func (v *Valve) Look(ctx context.Context, cfg *pgx.ConnConfig, look func(context.Context, *pgx.Conn) error) {
	p := prober{cfg: cfg.Copy(), look: look}
	p.cfg.DialFunc = (&net.Dialer{}).DialContext
	if err := p.lookOnce(ctx, lookWithin); err != nil {
		v.close(err)
	}
	p.disconnect(ctx)
}

// open opens the valve, and reports whether it was shut.
func (v *Valve) open() bool {
	if !v.IsShut() {
		return false
	}
	v.state.Store(&valveState{shut: make(chan struct{})})
	return true
}

// close shuts the valve and cuts all connections. It reports whether the valve was open. A valve that is shut already
// only gets the new cause.
func (v *Valve) close(cause error) bool {
	was := v.state.Load()
	v.state.Store(&valveState{shut: was.shut, cause: cause})
	if was.cause != nil {
		return false
	}
	close(was.shut)
	v.cuts.Add(1)
	v.mu.Lock()
	open := make([]*valveConn, 0, len(v.conns))
	for c := range v.conns {
		open = append(open, c)
	}
	v.mu.Unlock()
	for _, c := range open {
		_ = c.Conn.Close() // its owner finds out, and closes it too
	}
	return true
}

// prober has the connection by which a valve looks at its database.
type prober struct {
	cfg  *pgx.ConnConfig
	look func(context.Context, *pgx.Conn) error
	conn *pgx.Conn // the prober's connection; nil if it has to connect first
}

// lookOnce returns nil if the database has answered in time, and as look wants it. A connection that has broken by
// itself proves nothing, so a new one is tried.
func (p *prober) lookOnce(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if p.conn != nil {
		err := p.look(ctx, p.conn)
		if err == nil {
			return nil
		}
		p.disconnect(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, p.cfg)
	if err != nil {
		return err
	}
	p.conn = conn
	if err := p.look(ctx, conn); err != nil {
		p.disconnect(ctx)
		return err
	}
	return nil
}

// disconnect gives the connection up.
func (p *prober) disconnect(ctx context.Context) {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeEvery)
	defer cancel()
	_ = p.conn.Close(ctx) // it may have broken
	p.conn = nil
}

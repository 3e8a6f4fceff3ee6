package rig

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	restartPause = 100 * time.Millisecond // the pause before a node that has ended is started again
	restartMost  = 2 * time.Second        // the longest such pause, for a node that ends again and again
	healthTime   = 500 * time.Millisecond // how long one look at /readyz may take
)

// HealthEvery is the pause between two looks at a node's /readyz.
const HealthEvery = 100 * time.Millisecond

// Member is one node of a cluster: a process that is started again whenever it has ended, as long as the node is
// wanted. Its methods may be called by any goroutine.
type Member struct {
	Name string
	URL  string // http://127.0.0.1:port
	Link string // host:port for the other nodes' links

	Process         Process
	Links, Database *Proxy // the proxies through which others reach it, and it reaches the database; nil: there are no wires
	log             *slog.Logger
	Ready           atomic.Bool // /readyz answered 200 at the last look

	mu      sync.Mutex
	up      bool          // the node is to run
	program string        // the program that it starts next
	other   string        // the other release's program, if there is one; else the same
	kick    chan struct{} // tells the supervisor that up has changed
	Starts  atomic.Int64  // how often the node was started
}

// RandomBelow draws a number below n, for what no seed has to decide.
func RandomBelow(n int) int { return rand.IntN(n) } //nolint:gosec // no secret

// Host returns the host:port of the node's API.
func (m *Member) Host() string { return strings.TrimPrefix(m.URL, "http://") }

// PID returns the number of the node's process, 0 while it is not running.
func (m *Member) PID() int { return m.Process.PID() }

// Up starts the node, and keeps it running from now on.
func (m *Member) Up() { m.setWanted(true) }

// Down lets the node stay away once it has ended. It does not end it.
func (m *Member) Down() { m.setWanted(false) }

// setWanted sets whether the node is to run, and tells its supervisor.
func (m *Member) setWanted(up bool) {
	m.mu.Lock()
	m.up = up
	m.mu.Unlock()
	select {
	case m.kick <- struct{}{}:
	default: // It looks anyhow.
	}
}

// Wanted tells whether the node is to be up.
func (m *Member) Wanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.up
}

// SwapProgram makes the node run the other release's program from its next start on.
func (m *Member) SwapProgram() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.program, m.other = m.other, m.program
}

// start starts the node's process.
func (m *Member) start(ctx context.Context) (ended <-chan struct{}, err error) {
	m.mu.Lock()
	m.Process.binary = m.program
	m.mu.Unlock()
	return m.Process.Start(ctx)
}

// supervise runs the node until the context ends, and leaves ending the process to stop. After each end it waits
// before the next start. The pause doubles while the node ends soon after its start, and is short again for a node
// that has run for some time.
func (m *Member) supervise(ctx context.Context) {
	pause := restartPause
	for ctx.Err() == nil {
		if !m.Wanted() {
			select {
			case <-m.kick:
			case <-ctx.Done():
			}
			continue
		}
		began := time.Now()
		ended, err := m.start(ctx)
		if err == nil {
			m.Starts.Add(1)
			select {
			case <-ended:
			case <-ctx.Done():
				return
			}
			err = m.Process.howItEnded()
		}
		// The next look at /readyz is up to a tenth of a second away. Until then nobody must pick the node.
		m.Ready.Store(false)
		m.log.InfoContext(ctx, "node ended", slog.String("node", m.Name), slog.Any("error", err))
		if time.Since(began) > restartMost {
			pause = restartPause
		}
		Wait(ctx, pause)
		pause = min(2*pause, restartMost)
	}
}

// watchReadiness looks at /readyz again and again, as a balancer does. Each look opens a connection of its own,
// because the node may be another process by the next look.
func (m *Member) watchReadiness(ctx context.Context) {
	look := time.NewTicker(HealthEvery)
	defer look.Stop()
	httpClient := &http.Client{Timeout: healthTime, Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if m.PID() == 0 {
			m.Ready.Store(false)
			continue
		}
		m.Ready.Store(m.answersReady(ctx, httpClient))
	}
}

// answersReady asks /readyz once.
func (m *Member) answersReady(ctx context.Context, httpClient *http.Client) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// WaitReady waits until the watcher has found the node ready.
func (m *Member) WaitReady(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !m.Ready.Load() {
		select {
		case <-time.After(readyPoll):
		case <-ctx.Done():
			return fmt.Errorf("%s was not ready within %v: %w", m.Name, within, context.Cause(ctx))
		}
	}
	return nil
}

// stop ends the process in an orderly way. A process that stands still (SIGSTOP) would not hear of it, so it is let
// go on first.
func (m *Member) stop() error {
	if err := m.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	return m.Process.End(syscall.SIGTERM)
}

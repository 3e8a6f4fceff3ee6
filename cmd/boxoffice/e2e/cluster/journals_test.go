package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/embedded"
)

// sellThroughRestart sells tickets at the first of two nodes, at the second one while the first starts again, and at
// the first one again. The read model at home has each order once.
func sellThroughRestart(t *testing.T, a, b *nodetest.Shop, types []string) {
	t.Helper()
	var leads atomic.Pointer[nodetest.Shop]
	leads.Store(a)
	r := startRush(t, 4, types, func() string { return leads.Load().URL })
	r.atLeast(30)
	leads.Store(b)
	a.HandOver(t.Context())
	a.Restart()
	settles(t, a, b)
	leads.Store(a)
	r.atLeast(30)
	r.end()
	a.Becomes(fmt.Sprint(r.total.Load()), func() string { // the read model at home has each once
		var orders int64
		require.NoError(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM orders`).Scan(&orders))
		return fmt.Sprint(orders)
	})
}

// cluster is a Postgres of the test's own, for one shard.
type cluster struct {
	t      *testing.T
	dir    string
	server *embedded.Server
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	require.NoError(t, os.Chmod(filepath.Dir(c.dir), 0o755)) // for the user whom root drops to
	c.start()
	t.Cleanup(func() {
		c.signal(syscall.SIGCONT) // if the test fails before it has killed them
		c.stop()
	})
	return c
}

func (c *cluster) start() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	var err error
	c.server, err = embedded.Start(ctx, embedded.Config{Dir: c.dir, Log: slog.New(slog.DiscardHandler), Settings: map[string]string{"shared_buffers": "64MB"}})
	require.NoError(c.t, err)
}

func (c *cluster) stop() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(c.t, c.server.Stop(ctx))
}

func (c *cluster) signal(sig syscall.Signal) {
	for _, pid := range c.server.Pids() {
		_ = syscall.Kill(pid, sig)
	}
}

// awaitAnswer waits until the cluster answers, and returns when that was.
func (c *cluster) awaitAnswer() time.Time {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, c.server.URL())
		if err != nil {
			return false
		}
		_ = conn.Close(ctx)
		return true
	}, time.Minute, 5*time.Millisecond)
	return time.Now()
}

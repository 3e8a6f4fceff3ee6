package persisttest

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/embedded"
)

// OwnServer is a Postgres of a test's own, which the test may stop, kill and start again. It keeps its
// data beside DB's server, in memory if there is room, so that no disk that others keep busy makes it late.
type OwnServer struct {
	*embedded.Server
	t        testing.TB
	dir      string
	settings map[string]string
}

// ServerDir returns an empty folder beside that of DB's server, for a Postgres that the test starts or lets a program
// start. The folder is removed when the test ends.
func ServerDir(t testing.TB) string {
	t.Helper()
	slot, dir, err := takeSlot("own-")
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, slot.Close())
	})
	require.NoError(t, os.RemoveAll(dir))    // a killed run may have left something there
	require.NoError(t, os.Mkdir(dir, 0o755)) //nolint:gosec // Postgres's user must get through
	return dir
}

// StartOwn starts an empty Postgres with the given settings beside those of DB's. It is stopped and removed when
// the test ends.
func StartOwn(t testing.TB, own map[string]string) *OwnServer {
	t.Helper()
	s := &OwnServer{t: t, dir: ServerDir(t), settings: maps.Clone(settings)}
	s.settings["full_page_writes"] = "on" // a process that is killed may have written half of a page
	maps.Copy(s.settings, own)
	s.Start()
	t.Cleanup(func() {
		s.Signal(syscall.SIGCONT) // if the test fails before it lets them go on
		s.Stop()
	})
	return s
}

// Start starts the server on what it has stored, after Stop.
func (s *OwnServer) Start() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), startWithin)
	defer cancel()
	server, err := embedded.Start(ctx, embedded.Config{Dir: s.dir, Log: slog.New(slog.DiscardHandler), Settings: s.settings})
	require.NoError(s.t, err)
	s.Server = server
}

// Stop stops the server.
func (s *OwnServer) Stop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), startWithin)
	defer cancel()
	require.NoError(s.t, s.Server.Stop(ctx))
}

// Signal sends a signal to all processes of the server. One that is killed is started again by its supervisor.
func (s *OwnServer) Signal(sig syscall.Signal) {
	for _, pid := range s.Pids() {
		_ = syscall.Kill(pid, sig) // may have ended by itself
	}
}

// AwaitAnswer waits until the server answers, and returns when that was.
func (s *OwnServer) AwaitAnswer() time.Time {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, s.URL())
		if err != nil {
			return false
		}
		_ = conn.Close(ctx)
		return true
	}, startWithin, 5*time.Millisecond)
	return time.Now()
}

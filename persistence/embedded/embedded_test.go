package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// small keeps a server cheap enough to run a dozen of them at once.
var small = map[string]string{"shared_buffers": "16MB", "max_wal_size": "64MB", "min_wal_size": "32MB"}

const (
	startWithin  = 2 * time.Minute
	returnWithin = time.Minute // after any kill -9, on a machine that has other things to do
)

// dataDir is a directory that the user whom root drops to can reach.
func dataDir(t *testing.T) string {
	base, err := os.MkdirTemp("", "embedded") //nolint:usetesting // a Postgres whose node has just been killed writes to it after the test for a moment
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(base) == nil }, returnWithin, 10*time.Millisecond)
	})
	require.NoError(t, os.Chmod(base, 0o755))
	dir := filepath.Join(base, "data")
	require.NoError(t, os.Mkdir(dir, 0o755))
	return dir
}

func config(t testing.TB, dir string) Config {
	return Config{Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Settings: small}
}

func run(t *testing.T, dir string) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	s, err := Start(ctx, config(t, dir))
	require.NoError(t, err)
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startWithin)
	defer cancel()
	require.NoError(t, s.Stop(ctx))
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// keep commits a row that must survive what follows.
func keep(t *testing.T, url string) {
	t.Helper()
	_, err := connect(t, url).Exec(t.Context(), "CREATE TABLE kept AS SELECT 42 AS n")
	require.NoError(t, err)
}

func kept(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	var n int
	return errors.Join(conn.QueryRow(ctx, "SELECT n FROM kept").Scan(&n), conn.Close(ctx))
}

// requireBack waits until Postgres answers again, for which there is no signal.
func requireBack(t *testing.T, s *Server) {
	t.Helper()
	require.Eventually(t, func() bool { return kept(t.Context(), s.URL()) == nil }, returnWithin, 10*time.Millisecond)
}

func TestStartColdAndWarm(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	require.False(t, s.Attached())
	keep(t, s.URL())

	conn := connect(t, s.URL())
	for name, want := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "data_checksums": "on", "jit": "off",
		"listen_addresses": "", "server_encoding": "UTF8", "lc_collate": "C", "shared_buffers": "16MB",
	} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got))
		require.Equal(t, want, got, name)
	}
	pids := s.Pids()
	require.Greater(t, len(pids), 3, "the postmaster and its children")
	for _, pid := range pids {
		owner, _, err := ownerOf("/proc/" + strconv.Itoa(pid))
		require.NoError(t, err)
		require.NotZero(t, owner.uid, "no process runs as root")
	}

	stop(t, s)
	require.Empty(t, s.Pids(), "Stop waits for every process")
	require.Error(t, kept(t.Context(), s.URL()))

	began := time.Now()
	again := run(t, dir)
	require.Less(t, time.Since(began), returnWithin)
	require.NoError(t, kept(t.Context(), again.URL()))
	require.Equal(t, s.URL(), again.URL())
}

func TestPostgresReturnsAfterKill(t *testing.T) {
	t.Parallel()
	s := run(t, dataDir(t))
	keep(t, s.URL())
	for range 2 {
		signalAll(s.Pids(), syscall.SIGKILL)
		requireBack(t, s)
	}
}

// TestPostgresReturnsAfterKillOfPostmasterAlone makes sure that Postgres comes back although a busy
// session does not notice that its postmaster is gone, and Postgres starts no other postmaster
// beside it.
func TestPostgresReturnsAfterKillOfPostmasterAlone(t *testing.T) {
	t.Parallel()
	s := run(t, dataDir(t))
	keep(t, s.URL())
	conn := connect(t, s.URL())
	var wg sync.WaitGroup
	defer wg.Wait()
	began := make(chan struct{})
	wg.Go(func() {
		close(began)
		_, err := conn.Exec(t.Context(), "SELECT count(*) FROM generate_series(1, 10000000000)")
		require.Error(t, err)
	})
	<-began
	busy := int(conn.PgConn().PID())
	signalAll(s.Pids()[:1], syscall.SIGKILL)
	requireBack(t, s)
	require.NotContains(t, s.Pids(), busy)
}

func TestStartAfterLeftovers(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	keep(t, s.URL())
	pidFile := filepath.Join(s.files.cluster, "postmaster.pid")
	recorded, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	stop(t, s)

	stranger := sleeper(t, s.user)
	_, rest, _ := strings.Cut(string(recorded), "\n")
	socket := filepath.Join(s.files.socket, ".s.PGSQL.5432")
	for _, c := range []struct{ name, path, content string }{
		{"pid file names a live stranger", pidFile, strconv.Itoa(stranger) + "\n" + rest},
		{"pid file names a dead process", pidFile, "999999999\n" + rest},
		{"pid file is empty", pidFile, ""},
		{"socket lock names a live stranger", socket + ".lock", strconv.Itoa(stranger) + "\n" + rest},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(c.path, []byte(c.content), 0o600))
			require.NoError(t, os.Chown(c.path, int(s.user.uid), int(s.user.gid)))
			require.NoError(t, kept(t.Context(), run(t, dir).URL()))
			require.NoError(t, syscall.Kill(stranger, 0), "a stranger is left alone")
		})
	}
	t.Run("socket is taken", func(t *testing.T) {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
		require.NoError(t, err)
		defer l.Close()
		require.NoError(t, kept(t.Context(), run(t, dir).URL()))
	})
}

func TestSecondStartAttaches(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	var wg sync.WaitGroup
	servers := make([]*Server, 4)
	for i := range servers {
		wg.Go(func() {
			var err error
			servers[i], err = Start(t.Context(), config(t, dir))
			require.NoError(t, err)
		})
	}
	wg.Wait()
	var owner *Server
	for _, s := range servers {
		if !s.Attached() {
			require.Nil(t, owner, "one Server owns the directory")
			owner = s
		}
		require.NoError(t, ping(t.Context(), s.URL()))
	}
	require.NotNil(t, owner)
	keep(t, owner.URL())
	for _, s := range servers {
		if s.Attached() {
			stop(t, s)
			require.Equal(t, owner.Pids(), s.Pids())
		}
	}
	require.NoError(t, kept(t.Context(), owner.URL()), "stopping a client leaves Postgres alone")
	stop(t, owner)
	require.False(t, run(t, dir).Attached(), "the directory is free again")
}

func TestStartRefusesAnotherVersionsData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	keep(t, s.URL())
	stop(t, s)
	version := filepath.Join(s.files.cluster, "PG_VERSION")
	right, err := os.ReadFile(version)
	require.NoError(t, err)
	for content, want := range map[string]string{
		"99\n":  "made by Postgres 99",
		"9.6\n": "was not made by Postgres 15 or later",
	} {
		require.NoError(t, os.WriteFile(version, []byte(content), 0o600))
		_, err = Start(t.Context(), config(t, dir))
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, os.Remove(version))
	_, err = Start(t.Context(), config(t, dir))
	require.ErrorContains(t, err, "is not a Postgres cluster")

	require.NoError(t, os.WriteFile(version, right, 0o600))
	require.NoError(t, os.Chown(version, int(s.user.uid), int(s.user.gid)))
	require.NoError(t, kept(t.Context(), run(t, dir).URL()), "nothing was touched")
}

func TestStartExplainsWhatPostgresSaid(t *testing.T) {
	t.Parallel()
	cfg := config(t, dataDir(t))
	cfg.Settings = map[string]string{"shared_buffers": "nonsense"}
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, `invalid value for parameter "shared_buffers"`)
}

func TestStartGivenUp(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Start(ctx, config(t, dir))
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, run(t, dir).Attached())
}

func TestStopInAHurry(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	keep(t, s.URL())
	// A stopped postmaster does not receive any polite signal.
	require.NoError(t, syscall.Kill(s.Pids()[0], syscall.SIGSTOP))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Stop(ctx), context.Canceled)
	require.NoError(t, kept(t.Context(), run(t, dir).URL()))
}

func TestLongDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dataDir(t), strings.Repeat("long", 40))
	s := run(t, dir)
	require.NotContains(t, s.files.socket, dir)
	require.NoError(t, ping(t.Context(), s.URL()))
	stop(t, s)
	require.NoDirExists(t, s.files.socket)
}

func TestForeignSocketDirectoryIsNotUsed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dataDir(t), strings.Repeat("long", 40))
	f, err := layOut(dir)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(f.socket, 0o755))
	t.Cleanup(func() { _ = os.Remove(f.socket) })
	_, err = Start(t.Context(), config(t, dir))
	require.ErrorContains(t, err, "is not a directory of ours")
}

// TestRootBelowAPrivateHome puts the data below a home with mode 0700, where no other user can
// reach it.
func TestRootBelowAPrivateHome(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root drops to another user")
	}
	home := dataDir(t)
	require.NoError(t, os.Chmod(home, 0o700))
	s, err := Start(t.Context(), config(t, filepath.Join(home, "data")))
	if err := (&exec.Cmd{Path: "/bin/true", SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}}).Run(); err != nil {
		require.ErrorContains(t, err, "may not enter "+home, "no user namespaces here, so the error must explain")
		return
	}
	require.NoError(t, err)
	keep(t, s.URL())
	signalAll(s.Pids(), syscall.SIGKILL)
	requireBack(t, s)
	stop(t, s)
	require.NoError(t, kept(t.Context(), run(t, filepath.Join(home, "data")).URL()))
}

func TestRootLockedOutOfItsData(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root drops to another user")
	}
	dir := dataDir(t)
	stop(t, run(t, dir))
	require.NoError(t, os.Chmod(dir, 0o700))
	_, err := Start(t.Context(), config(t, dir))
	require.ErrorContains(t, err, "who may not enter "+dir)
}

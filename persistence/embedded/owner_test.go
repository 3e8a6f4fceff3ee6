package embedded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// These tests run this test binary again as a node that owns a Postgres, in order to kill it.
const (
	nodeDir  = "EMBEDDED_TEST_DIR"  // makes the binary run as such a node
	nodeInit = "EMBEDDED_TEST_INIT" // makes it process 1 of a container, too
)

func TestMain(m *testing.M) {
	if os.Getenv(nodeDir) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := node(os.Getenv(nodeDir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// node starts a Postgres, prints its URL and runs until its input ends.
func node(dir string) error {
	ctx := context.Background()
	if os.Getenv(nodeInit) != "" {
		if err := errors.Join(
			syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""),
			syscall.Mount("proc", "/proc", "proc", 0, ""),
		); err != nil {
			return err
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := Start(ctx, Config{Dir: dir, Log: log, Settings: small})
	if err != nil {
		return err
	}
	if os.Getenv(nodeInit) != "" {
		if err := losePostmaster(ctx, s); err != nil {
			return err
		}
	}
	fmt.Println(s.URL())
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, s.Stop(ctx))
}

// losePostmaster kills Postgres, whose sessions become ours if we are process 1, and returns an
// error unless they are reaped. A session that is still dying when Postgres is started again is
// reaped the next time, so it needs two rounds.
func losePostmaster(ctx context.Context, s *Server) error {
	if os.Getpid() != 1 {
		return errors.New("not process 1")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*returnWithin)
	defer cancel()
	first := s.Pids()
	for range 2 {
		old := s.Pids()
		signalAll(old, syscall.SIGKILL)
		for ping(ctx, s.URL()) != nil || slices.Contains(s.Pids(), old[0]) {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	for _, pid := range first {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			return fmt.Errorf("not buried: %s", stat)
		}
	}
	return nil
}

// startNode runs this binary as a node. Its first line of output is the URL.
func startNode(t *testing.T, dir, exe string, attr *syscall.SysProcAttr, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(append(os.Environ(), nodeDir+"="+dir), env...)
	cmd.SysProcAttr = attr
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // the node has been killed or has ended
	})
	return cmd, bufio.NewScanner(out)
}

// kill ends a node as kill -9 does and waits until it has ended.
func kill(t *testing.T, node *exec.Cmd) {
	t.Helper()
	require.NoError(t, node.Process.Kill())
	require.ErrorContains(t, node.Wait(), "signal: killed")
}

func executable(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return exe
}

func TestStartAfterKillOfTheNode(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cmd, out := startNode(t, dir, executable(t), nil)
	require.True(t, out.Scan())
	keep(t, out.Text())
	kill(t, cmd)

	began := time.Now()
	s := run(t, dir) // while the old postmaster is shutting down
	require.Less(t, time.Since(began), returnWithin)
	require.False(t, s.Attached())
	require.NoError(t, kept(t.Context(), s.URL()))
}

func TestPostgresDiesWithTheNode(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cmd, out := startNode(t, dir, executable(t), nil)
	require.True(t, out.Scan())
	client := run(t, dir)
	require.True(t, client.Attached())
	require.NotEmpty(t, client.Pids())
	kill(t, cmd)
	require.Eventually(t, func() bool { return len(client.Pids()) == 0 }, returnWithin, 10*time.Millisecond)
}

// TestStartBesideAStuckOrphan makes sure that an orphan which ignores its signals is killed in the
// end.
func TestStartBesideAStuckOrphan(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the orphan's time of grace")
	}
	t.Parallel()
	dir := dataDir(t)
	s := run(t, dir)
	keep(t, s.URL())
	stop(t, s)

	orphan := exec.CommandContext(t.Context(), "/bin/sh", "-c", "trap '' INT; echo deaf; read forever", s.token)
	s.user.applyTo(orphan)
	orphan.Args[0] = "postgres"
	_, err := orphan.StdinPipe()
	require.NoError(t, err)
	out, err := orphan.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, orphan.Start())
	require.True(t, bufio.NewScanner(out).Scan())
	require.Equal(t, []int{orphan.Process.Pid}, s.Pids())

	again := run(t, dir)
	require.ErrorContains(t, orphan.Wait(), "signal: killed")
	require.NoError(t, kept(t.Context(), again.URL()))
}

func TestStartAfterKillDuringInitdb(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	cmd, _ := startNode(t, dir, executable(t), nil)
	halfway := func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "initdb-*", "base"))
		return err == nil && len(found) > 0
	}
	require.Eventually(t, halfway, startWithin, time.Millisecond)
	kill(t, cmd)
	require.NoDirExists(t, filepath.Join(dir, "cluster"))

	s := run(t, dir)
	keep(t, s.URL())
	require.NoError(t, kept(t.Context(), s.URL()))
}

// TestStartAsOrdinaryUser starts as a user other than root, who can't drop to another user.
func TestStartAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the other tests do this already")
	}
	_, user, err := findUnprivileged()
	require.NoError(t, err)
	dir := dataDir(t)
	require.NoError(t, os.Chown(dir, int(user.uid), int(user.gid)))
	exe := filepath.Join(dir, "node") // where that user can run it
	copyFile(t, exe, executable(t))

	as := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user.uid, Gid: user.gid}}
	_, out := startNode(t, filepath.Join(dir, "data"), exe, as)
	require.True(t, out.Scan())
	require.NoError(t, ping(t.Context(), out.Text()))
}

func TestProcessOneBuriesSessions(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process 1")
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if err := (&exec.Cmd{Path: "/bin/true", SysProcAttr: attr}).Run(); err != nil {
		t.Skip("no namespaces in this container:", err)
	}
	_, out := startNode(t, dataDir(t), executable(t), attr, nodeInit+"=1")
	require.True(t, out.Scan(), "see the node's output")
	require.True(t, strings.HasPrefix(out.Text(), "postgres://"))
}

// sleeper is a live process that has nothing to do with us but runs under the
// same user as Postgres.
func sleeper(t *testing.T, as identity) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "cat")
	as.applyTo(cmd)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, bytes.Clone(b), 0o755))
}

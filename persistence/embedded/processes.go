package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// listProcesses lists the live processes of the user uid whose command line contains the token. The postmaster
// has the token in its arguments; its children have it in their titles, which begin with "postgres:
// <cluster_name>". Everybody can read command lines, so this also works in containers where root may not look at
// other users' processes.
func listProcesses(token string, uid uint32) (postmasters, children []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is sound
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(token)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		// A process of another user could have the same text in its command line, and must not be
		// signaled.
		if owner, exists, err := ownerOf(filepath.Dir(path)); err != nil || !exists || owner.uid != uid {
			continue
		}
		program, _, _ := bytes.Cut(line, []byte{0})
		switch {
		case bytes.HasPrefix(line, []byte("postgres: "+token)):
			children = append(children, pid)
		case filepath.Base(string(program)) == "postgres":
			postmasters = append(postmasters, pid)
		}
	}
	return postmasters, children
}

// signalAll sends a signal to some processes. It is no error if one of them has ended in the
// meantime.
func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // fails only if it is gone
	}
}

// clearOrphans waits until no process of an earlier server on this directory is left. We have the
// lock, so nobody else owns these processes. A postmaster that has survived its node is shutting
// down already and gets time for that. Sessions that have survived their postmaster are killed, as
// Postgres itself would do.
func (s *Server) clearOrphans(ctx context.Context) error {
	began := time.Now()
	for {
		postmasters, children := listProcesses(s.token, s.user.uid)
		if len(postmasters)+len(children) == 0 {
			reapAdopted()
			return nil
		}
		if len(postmasters) > 0 && time.Since(began) < orphanGrace {
			signalAll(postmasters, syscall.SIGINT)
		} else {
			s.log.WarnContext(ctx, "killing an orphaned Postgres", slog.Any("pids", append(postmasters, children...)))
			signalAll(append(postmasters, children...), syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("an earlier Postgres has not ended (pids %v %v): %w", postmasters, children, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
}

// reapAdopted reaps the dead sessions of a dead postmaster if we are process 1 of a container,
// because they became our children. Unreaped, they would stay in the table of processes. A session
// that is still dying is reaped the next time.
func reapAdopted() {
	if os.Getpid() != 1 {
		return
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is sound
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte(" (postgres) Z 1 ")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // fails only if the process is no child of ours
		}
	}
}

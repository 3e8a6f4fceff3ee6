package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prepare finds the programs, makes sure that a cluster and a socket directory exist, and publishes the
// server's URL. The supervisor calls it on its own thread, while it has the lock of the directory.
func (s *Server) prepare(ctx context.Context, install bool) error {
	// The socket directory comes first: if it is somebody else's, prepare fails before it has
	// created anything.
	if err := s.makeSocketDir(); err != nil {
		return err
	}
	want, err := clusterVersion(s.files.cluster)
	if err != nil {
		return err
	}
	if s.bin, err = findPrograms(ctx, want, install, s.log); err != nil {
		return err
	}
	if want == 0 {
		if err := s.createCluster(ctx); err != nil {
			return err
		}
	}
	// From here on other processes may attach: acquireLock returns this URL to them once Postgres
	// answers.
	return s.publishURL()
}

// makeSocketDir creates the directory that only we and Postgres may enter. Other users of the
// machine can create files in /tmp, so an existing directory is used only if it is ours with our
// mode.
func (s *Server) makeSocketDir() error {
	if err := os.Mkdir(s.files.socket, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(s.files.socket)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	ours := ok && (st.Uid == s.user.uid || int(st.Uid) == os.Geteuid())
	if !ours || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s is not a directory of ours with mode 0700: remove it", s.files.socket)
	}
	return os.Chown(s.files.socket, int(s.user.uid), int(s.user.gid))
}

// clusterVersion returns the major version of the Postgres that made the cluster, or 0 if dir does not exist. Only
// a Postgres of the same major version can run the cluster. A directory without PG_VERSION, even an empty one, is
// an error.
func clusterVersion(dir string) (int, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if err != nil {
		return 0, fmt.Errorf("%s is not a Postgres cluster: %w", dir, err)
	}
	v, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("%s was not made by Postgres %d or later: PG_VERSION says %q", dir, oldest, b)
	}
	return v, nil
}

// createCluster runs initdb in a temporary directory, and renames that directory when it is
// complete and on disk. An initdb that is killed in the middle therefore never leaves what looks
// like a cluster.
func (s *Server) createCluster(ctx context.Context) error {
	began := time.Now()
	const aside = "initdb-"
	// An initdb that was killed leaves its directory behind, under a name that no start uses again.
	old, err := filepath.Glob(filepath.Join(s.files.dir, aside+"*"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		// The initdb that made it may still be writing; the next start removes the rest.
		_ = os.RemoveAll(dir)
	}
	side, err := os.MkdirTemp(s.files.dir, aside)
	if err != nil {
		return err
	}
	if err := os.Chown(side, int(s.user.uid), int(s.user.gid)); err != nil {
		return err
	}
	// Only the server's own user can reach the socket, so the cluster needs no passwords (trust).
	// The locale C sorts by bytes, in the same way on every machine.
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "-D", side, "-U", superuser,
		"-A", "trust", "-E", "UTF8", "--locale=C", "--data-checksums", "--no-instructions")
	s.user.applyTo(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("initdb as %s: %w\n%s", s.user, err, out), os.RemoveAll(side))
	}
	// The cluster exists only after the rename.
	if err := os.Rename(side, s.files.cluster); err != nil {
		return err
	}
	if err := syncDir(s.files.dir); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "created a Postgres cluster", slog.String("dir", s.files.cluster), slog.String("programs", s.bin),
		slog.String("user", s.user.String()), slog.Duration("took", time.Since(began)))
	return nil
}

// syncDir writes a directory to disk, so that a rename in it survives a power loss.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// clearLeftovers removes the socket of a killed server and its lock, and makes its pid file ours (adoptPidFile),
// because they would keep the next server from starting. The caller has made sure that no process of the killed
// server is left (clearOrphans).
func (s *Server) clearLeftovers() error {
	for _, name := range []string{".s.PGSQL.5432", ".s.PGSQL.5432.lock"} {
		if err := os.Remove(filepath.Join(s.files.socket, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return adoptPidFile(filepath.Join(s.files.cluster, "postmaster.pid"))
}

// adoptPidFile writes our own pid into the first line of a pid file. Postgres refuses to start
// while that line names a live process, and after a crash any process may have got the number.
// Postgres does accept the pid of its own parent, which we are. The file must not be removed,
// because it also has the key of the shared memory, by which Postgres makes sure that no session of
// the old server is alive.
func adoptPidFile(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, rest, found := bytes.Cut(b, []byte("\n"))
	if !found { // cut off by a power loss, so there is no key in it
		return os.Remove(path)
	}
	return os.WriteFile(path, append([]byte(strconv.Itoa(os.Getpid())+"\n"), rest...), 0o600)
}

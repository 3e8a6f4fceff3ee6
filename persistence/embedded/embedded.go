// Package embedded runs a private Postgres for a node that was given none: it finds the server's
// programs, creates the cluster, starts it on a unix socket and starts it again whenever it dies.
//
// A Server owns its directory for as long as it runs, under a file lock. A second Start on the same
// directory, from this process or another, attaches to the running server as a client. The cmd
// package calls Start before anything else and Stop after everything else. The postmaster, which is
// the first process of Postgres, is a direct child of the node and dies with it, however the node
// ends. Data is never deleted. The package works on Linux only.
package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Config says where a private Postgres lives.
type Config struct {
	Dir      string            // holds the cluster, its log and its lock; created when missing
	Log      *slog.Logger      // gets what the supervisor does; Postgres itself writes to Dir/postgres.log
	Install  bool              // whether to install Postgres with apt-get if it is missing and we are root
	Settings map[string]string // server settings that differ from the defaults below
}

// defaults are the settings of a node's own Postgres. They were measured under the journal's group
// commits. Config.Settings can replace each of them.
var defaults = map[string]string{
	"checkpoint_timeout":        "15min",
	"fsync":                     "on",
	"full_page_writes":          "on",
	"jit":                       "off",
	"listen_addresses":          "",
	"log_timezone":              "UTC",
	"max_connections":           "100",
	"max_wal_size":              "4GB",
	"min_wal_size":              "1GB", // kept for reuse: making a new segment stalls every commit for 50 ms
	"shared_buffers":            "256MB",
	"synchronous_commit":        "on",
	"timezone":                  "UTC",
	"unix_socket_permissions":   "0700",
	"wal_compression":           "off",
	"log_min_error_statement":   "panic", // statements carry buyers' data
	"max_locks_per_transaction": "256",   // one statement may lock many tables: the journal has partitions for each day, and each test a schema
}

// superuser is the one role of the private Postgres. It has all rights and no password, because
// nobody but the server's own user can reach the socket.
const superuser = "boxoffice"

// Server is a running Postgres that we supervise, or a client's view of one that another Server
// owns.
type Server struct {
	url   string
	token string   // text in the command line of every process of this server
	user  identity // user as which those processes run

	// When attached, the fields below are not used, and lock is nil.
	log      *slog.Logger
	files    files
	bin      string
	settings map[string]string
	lock     *os.File
	cancel   context.CancelFunc // asks the supervisor to stop
	hurry    chan struct{}      // closed when it must stop at once
	hurried  sync.Once
	done     chan struct{} // closed when the supervisor has ended
}

// files are the paths below Config.Dir.
type files struct {
	dir, cluster, lock, log string
	socket                  string // directory of the socket; outside of dir if that path is too long
}

// Start returns when Postgres answers. That takes about 1.5 s for a new cluster, 0.1 s for an
// existing one, and longer when it recovers from a crash. ctx bounds only the start; the server
// runs until Stop.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s, err := start(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return s, nil
}

// start does the work of Start, which puts the name of the package before its errors. If another Server owns the
// directory, it attaches to that one's Postgres. Otherwise it takes the directory's lock, and starts Postgres with a
// supervisor.
func start(ctx context.Context, cfg Config) (*Server, error) {
	f, err := layOut(cfg.Dir)
	if err != nil {
		return nil, err
	}
	user, err := chooseIdentity(f)
	if err != nil {
		return nil, err
	}
	s := &Server{
		token: "boxoffice-" + hash(f.dir), user: user,
		log: cfg.Log, files: f, hurry: make(chan struct{}), done: make(chan struct{}),
	}
	// Our own name for the cluster comes last, because the processes are found by it
	// (listProcesses).
	s.settings = maps.Clone(defaults)
	maps.Copy(s.settings, cfg.Settings)
	s.settings["cluster_name"] = s.token

	// If we don't get the lock, another Server owns the directory, and url is the one that it has
	// published.
	s.lock, s.url, err = acquireLock(ctx, f.lock)
	if err != nil {
		return nil, err
	}
	if s.lock == nil {
		cfg.Log.InfoContext(ctx, "attached to a running Postgres", slog.String("dir", f.dir))
		return s, nil
	}
	s.url = connString(f.socket)
	if err := s.beginSupervisor(ctx, cfg.Install); err != nil {
		return nil, err
	}
	return s, nil
}

// beginSupervisor starts the supervisor and waits until Postgres answers or the start has failed.
// The supervisor owns the lock from here on, and gives it back when it ends. It outlives ctx, which
// bounds only the start.
func (s *Server) beginSupervisor(ctx context.Context, install bool) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	started := make(chan error, 1)
	prepare := func() error { return s.prepare(ctx, install) }
	go s.supervise(run, prepare, started)
	select {
	case err := <-started:
		if err != nil {
			<-s.done
		}
		return err
	// The start was given up. The supervisor may still be waiting for Postgres, so we wait for its
	// end: only then is the lock free, and another start possible.
	case <-ctx.Done():
		s.cancel()
		<-s.done
		return fmt.Errorf("start given up: %w", context.Cause(ctx))
	}
}

// URL returns a connection string for pgx. It stays the same when Postgres dies and is started
// again.
func (s *Server) URL() string { return s.url }

// Attached reports whether another Server owns the Postgres. In that case Stop does nothing.
func (s *Server) Attached() bool { return s.lock == nil }

// Pids lists the server's processes, the postmaster first. The list is empty while Postgres is down.
func (s *Server) Pids() []int {
	postmasters, children := listProcesses(s.token, s.user.uid)
	return append(postmasters, children...)
}

// Stop shuts Postgres down and waits for its end. Sessions are cut off, and all commits are kept.
// If ctx ends first, Postgres is told to end without a checkpoint, which is safe but makes the next
// start recover, and Stop returns an error. An attached Server has nothing to stop.
func (s *Server) Stop(ctx context.Context) error {
	if s.Attached() {
		return nil
	}
	s.cancel()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		s.hurried.Do(func() { close(s.hurry) })
		<-s.done
		return fmt.Errorf("embedded: shutdown cut short: %w", context.Cause(ctx))
	}
}

// layOut creates the directory and returns the paths in it. They are the same for every process
// that is given this directory.
func layOut(dir string) (files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return files{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return files{}, err
	}
	// One directory must have one lock and one token, whatever name or link it is reached by.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return files{}, err
	}
	return files{
		dir:     dir,
		cluster: filepath.Join(dir, "cluster"),
		lock:    filepath.Join(dir, "lock"),
		log:     filepath.Join(dir, "postgres.log"),
		socket:  socketDir(dir),
	}, nil
}

// socketDir returns the directory for the socket. The kernel allows 107 bytes for the path of a
// socket. A directory with a longer path gets its socket in the folder for temporary files, or in
// /tmp if that is too long as well.
func socketDir(dir string) string {
	const most = 107 - len("/.s.PGSQL.5432.lock")
	for _, d := range []string{
		filepath.Join(dir, "socket"),
		filepath.Join(os.TempDir(), "boxoffice-"+hash(dir)),
	} {
		if len(d) <= most {
			return d
		}
	}
	return "/tmp/boxoffice-" + hash(dir)
}

// connString returns the URL by which pgx connects over the socket. The port is only part of the
// socket's name; no network port is open.
func connString(socket string) string {
	q := url.Values{"host": {socket}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres://" + superuser + "@/postgres?" + q.Encode()
}

// hash returns a short name for a path. Two servers with different directories get different names.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// postmasterArgs returns the postmaster's arguments, in a stable order.
func (s *Server) postmasterArgs() []string {
	args := []string{"-D", s.files.cluster, "-k", s.files.socket}
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		args = append(args, "-c", strings.Join([]string{name, s.settings[name]}, "="))
	}
	return args
}

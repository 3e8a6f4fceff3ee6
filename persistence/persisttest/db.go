// Package persisttest gives tests real stores: a Postgres for each test process with a schema for
// each test, and an S3 server. It also has the suites that every implementation of a store must
// pass. Only tests import it; their TestMain calls Main, which stops the server.
package persisttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/persistence/embedded"
	"boxoffice/persistence/migrate"
)

// settings make a server small enough to have one for each test process.
var settings = map[string]string{
	"shared_buffers":  "64MB",
	"max_wal_size":    "256MB",
	"max_connections": "400", // tests run several nodes at once
}

// deadlock is the SQLSTATE of a deadlock's victim.
const deadlock = "40P01"

const (
	schemaPrefix = "t_"
	startWithin  = time.Minute
	dropWithin   = 15 * time.Second
)

// DB returns a connection string whose search_path is a fresh schema. The
// schema is dropped when the test ends; a connection that still has a
// transaction open in it by then fails the test.
func DB(t testing.TB) string {
	t.Helper()
	s, err := started()
	require.NoError(t, err)
	schema := schemaPrefix + strings.ToLower(rand.Text())
	_, err = s.admin.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), dropWithin)
		defer cancel()
		require.NoError(t, s.drop(ctx, schema), "the schema is still in use: is a connection left open?")
	})
	return s.postgres.URL() + "&search_path=" + url.QueryEscape(schema)
}

// drop drops a schema. The server's own maintenance of its tables takes locks in another order than
// we do, so drop tries again if it is the victim of a deadlock.
func (s *server) drop(ctx context.Context, schema string) error {
	for {
		_, err := s.admin.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE")
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != deadlock {
			return err
		}
	}
}

// Migrated returns a pool on a fresh schema with all migrations applied, closed
// when the test ends.
func Migrated(t testing.TB) *pgxpool.Pool {
	t.Helper()
	dsn := DB(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	require.NoError(t, errors.Join(migrate.Up(t.Context(), conn), conn.Close(t.Context())))
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// Main runs a package's tests, stops their Postgres and fails the run if goroutines are left. The
// options name goroutines of libraries that never end.
func Main(m *testing.M, known ...goleak.Option) {
	goleak.VerifyTestMain(stopping{m}, known...)
}

// stopping stops the server after the tests and before the search for leaks.
type stopping struct{ m *testing.M }

func (s stopping) Run() int {
	code := s.m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "persisttest:", err)
		return max(code, 1)
	}
	return code
}

// server is the Postgres of this test process.
type server struct {
	postgres *embedded.Server
	admin    *pgxpool.Pool // creates and drops schemas
	slot     *os.File      // locked while we use its directory
}

// process is the one server, started by the first test that needs it.
var process struct {
	sync.Mutex
	*server
	err error
}

func started() (*server, error) {
	process.Lock()
	defer process.Unlock()
	if process.server == nil && process.err == nil {
		process.server, process.err = start()
	}
	return process.server, process.err
}

func stop() error {
	process.Lock()
	defer process.Unlock()
	if process.server == nil {
		return nil
	}
	process.admin.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	return errors.Join(process.postgres.Stop(ctx), process.slot.Close())
}

func start() (*server, error) {
	slot, dir, err := takeSlot()
	if err != nil {
		return nil, fmt.Errorf("persisttest: %w", err)
	}
	s, err := startIn(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("persisttest: %w", err), slot.Close())
	}
	s.slot = slot
	return s, nil
}

// startIn starts a server in dir. A killed run, or a machine that lost its power, may have left a
// cluster there that can't start any more. Nothing in it is worth keeping, so startIn removes it
// and makes a new one.
func startIn(dir string) (*server, error) {
	s, err := tryStart(dir)
	if err == nil {
		return s, nil
	}
	fmt.Fprintf(os.Stderr, "persisttest: begins anew in %s: %v\n", dir, err)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	return tryStart(dir)
}

func tryStart(dir string) (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	postgres, err := embedded.Start(ctx, embedded.Config{Dir: dir, Log: slog.New(slog.DiscardHandler), Settings: settings})
	if err != nil {
		return nil, err
	}
	admin, err := connectAdmin(ctx, postgres.URL())
	if err != nil {
		return nil, errors.Join(err, postgres.Stop(ctx))
	}
	return &server{postgres: postgres, admin: admin}, nil
}

// takeSlot locks a directory that no other test process uses. Directories are numbered and used
// again, which saves most runs the 1.5 s for a new cluster and keeps killed runs from filling the
// disk.
func takeSlot() (*os.File, string, error) {
	base := filepath.Join(os.TempDir(), "boxoffice-test-"+strconv.Itoa(os.Geteuid()))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, "", err
	}
	for n := range 100 {
		dir := filepath.Join(base, strconv.Itoa(n))
		lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, "", err
		}
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, dir, nil
		}
		if err := lock.Close(); err != nil {
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("all directories below %s are in use", base)
}

// connectAdmin opens the pool for schemas and drops those that a killed run
// left behind in this directory.
func connectAdmin(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	admin, err := pgxpool.New(ctx, dsn+"&pool_max_conns=4&lock_timeout=10s")
	if err != nil {
		return nil, err
	}
	rows, err := admin.Query(ctx, "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)", schemaPrefix)
	if err != nil {
		admin.Close()
		return nil, err
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, schema := range left {
		if err == nil {
			_, err = admin.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE")
		}
	}
	if err != nil {
		admin.Close()
		return nil, err
	}
	return admin, nil
}

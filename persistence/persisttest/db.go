// Package persisttest gives tests real stores: a Postgres for each test process with a database for each test,
// and an S3 server. It also has a journal in memory, and the suite that every implementation of a journal must
// pass. Only tests and their helpers import it. A package's TestMain calls Main, which stops the Postgres.
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
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/persistence"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/migrate"
)

// settings make a server small enough for one in each test process, and save it the waits for a disk. fsync
// protects only from a machine that loses its power, which no test tries. For a process that is killed it makes
// no difference.
var settings = map[string]string{
	"fsync":            "off",
	"full_page_writes": "off",
	"max_connections":  "400",   // tests run several nodes at once
	"max_wal_size":     "128MB", // what a server leaves behind may lie in memory
	"min_wal_size":     "32MB",
	"shared_buffers":   "64MB",
}

// The names of databases begin with databasePrefix, so that a run finds what an earlier one has left.
// startWithin is the longest time for a server to start or to stop, and dropWithin for a database to be
// dropped. dropLook is the pause between looks for open transactions.
const (
	databasePrefix = "t_"
	template       = databasePrefix + "template"
	startWithin    = time.Minute
	dropWithin     = time.Minute
	dropLook       = 20 * time.Millisecond
)

// DB returns the connection string of a fresh database with all migrations applied. The database is
// dropped when the test ends; a connection that still has a transaction open in it by then fails
// the test.
func DB(t testing.TB) string {
	t.Helper()
	s, err := started()
	require.NoError(t, err)
	require.NoError(t, s.prepareTemplate(t.Context()))
	return s.createDatabase(t, template)
}

// Empty returns the connection string of a fresh database without any table, for tests of
// migrations.
func Empty(t testing.TB) string {
	t.Helper()
	s, err := started()
	require.NoError(t, err)
	return s.createDatabase(t, "template0")
}

// Copy returns the connection string of a copy of a database. Nobody may be connected to the
// database that is copied, because Postgres refuses that.
func Copy(t testing.TB, dsn string) string {
	t.Helper()
	s, err := started()
	require.NoError(t, err)
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	return s.createDatabase(t, strings.TrimPrefix(u.Path, "/"))
}

// createDatabase makes a database for a test as a copy of another one. When the test ends, it checks that nobody is
// inside a transaction, and drops the database.
func (s *server) createDatabase(t testing.TB, from string) (dsn string) {
	t.Helper()
	name := databasePrefix + strings.ToLower(rand.Text())
	_, err := s.admin.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+from+" STRATEGY FILE_COPY") // half the time of a copy through the log
	require.NoError(t, err)
	t.Cleanup(func() {
		// The test's own context has ended by then.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), dropWithin)
		defer cancel()
		open, err := s.listTransactions(ctx, name)
		require.NoError(t, err)
		require.Empty(t, open, "the database is still in use: is a connection left open?")
		_, err = s.admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
	})
	dsn, err = urlOf(s.postgres, name)
	require.NoError(t, err)
	return dsn
}

// listTransactions returns the statements of clients that are inside a transaction in the database.
// A connection that was closed a moment ago needs a moment to end, so the function waits for such
// connections.
func (s *server) listTransactions(ctx context.Context, database string) (open []string, err error) {
	const inside = `SELECT state || ': ' || query FROM pg_stat_activity
WHERE datname = $1 AND backend_type = 'client backend' AND state <> 'idle'`
	for late := time.Now().Add(dropWithin / 3); ; {
		rows, err := s.admin.Query(ctx, inside, database)
		if err != nil {
			return nil, err
		}
		open, err = pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(open) == 0 || time.Now().After(late) {
			return open, err
		}
		select {
		case <-time.After(dropLook):
		case <-ctx.Done():
			return open, ctx.Err()
		}
	}
}

// prepareTemplate makes the database that DB copies. The first test that wants one makes it, once
// in a process.
func (s *server) prepareTemplate(ctx context.Context) error {
	s.templateOnce.Do(func() { s.templateErr = s.migrateTemplate(context.WithoutCancel(ctx)) })
	return s.templateErr
}

// migrateTemplate makes the template and runs all migrations in it. Copying a template takes much
// less time than migrating each test's database.
func (s *server) migrateTemplate(ctx context.Context) error {
	if _, err := s.admin.Exec(ctx, "CREATE DATABASE "+template); err != nil {
		return err
	}
	dsn, err := urlOf(s.postgres, template)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(migrate.Up(ctx, conn), conn.Close(ctx))
}

// urlOf returns the connection string of one of the server's databases.
func urlOf(postgres *embedded.Server, database string) (string, error) {
	u, err := url.Parse(postgres.URL())
	if err != nil {
		return "", err
	}
	u.Path = "/" + database
	return u.String(), nil
}

// Migrated returns a pool on a fresh database with all migrations applied, closed when the test
// ends.
func Migrated(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), DB(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// Main runs a package's tests, stops their Postgres and fails the run if goroutines are left. The
// options name goroutines of libraries that never end.
func Main(m goleak.TestingM, known ...goleak.Option) {
	goleak.VerifyTestMain(stopping{m}, known...)
}

// stopping runs the tests and then stops the server. That must happen before goleak looks for
// goroutines that are left, because the server's supervisor is one.
type stopping struct{ m goleak.TestingM }

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
	admin    *pgxpool.Pool // makes and drops the databases of tests
	slot     *os.File      // locked for as long as we use the server's directory

	templateOnce sync.Once
	templateErr  error
}

// process has the one server of this test process, which is started by the first test that needs it.
var process struct {
	sync.Mutex
	*server
	err error
}

// started returns the server, which it starts for the first caller. If that fails, all later
// callers get the same error, because another try would fail as well.
func started() (*server, error) {
	process.Lock()
	defer process.Unlock()
	if process.server == nil && process.err == nil {
		process.server, process.err = start()
	}
	return process.server, process.err
}

// stop stops the server, if a test has started it, and gives its directory back.
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

// start starts a server in a directory that no other process uses.
func start() (*server, error) {
	slot, dir, err := takeSlot("")
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
// cluster there that can't start any more. Nothing in it is worth keeping, so startIn then removes
// it and makes a new one.
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

// tryStart starts a server on what is in dir, or on a new cluster if there is nothing.
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

// takeSlot locks a directory that nobody else uses, whose name is the kind and a number. Directories are used
// again. That saves most runs the 1.5 s for a new cluster, and keeps killed runs from filling the disk.
func takeSlot(kind string) (*os.File, string, error) {
	base := filepath.Join(chooseParent(), "boxoffice-test-"+strconv.Itoa(os.Geteuid()))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, "", err
	}
	for n := range 100 {
		dir := filepath.Join(base, kind+strconv.Itoa(n))
		lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, "", err
		}
		// The lock on an open file ends with its process, even if that is killed, so no directory stays
		// taken.
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

// memory is where Linux keeps files in memory, and roomInMemory is how many bytes must be free there for
// the servers of all packages that are tested at a time.
const (
	memory       = "/dev/shm"
	roomInMemory = 4 << 30
)

// chooseParent returns the folder for the servers' directories: in memory if there is room, and
// otherwise on disk. A database is about a thousand files. Making and dropping it takes 0.1 s in
// memory, and up to 2 s on a disk that other tests keep busy.
func chooseParent() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < roomInMemory {
		return os.TempDir()
	}
	return memory
}

// connectAdmin opens the pool that makes and drops databases. It drops those that an earlier run
// has left in this directory: its template, and all of them if the run was killed.
func connectAdmin(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	admin, err := pgxpool.New(ctx, dsn+"&pool_max_conns=4&lock_timeout=10s")
	if err != nil {
		return nil, err
	}
	rows, err := admin.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", databasePrefix)
	if err != nil {
		admin.Close()
		return nil, err
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, database := range left {
		if err == nil {
			_, err = admin.Exec(ctx, "DROP DATABASE "+database+" WITH (FORCE)")
		}
	}
	if err != nil {
		admin.Close()
		return nil, err
	}
	return admin, nil
}

// Apart returns a pool on a fresh database, and one on another database that has its journal. The
// pools are closed when the test ends.
func Apart(t testing.TB) (home, entries *pgxpool.Pool) {
	t.Helper()
	home, shards := Sharded(t, 1)
	return home, shards[0].Pool
}

// Sharded returns a pool on a fresh database, and its journal in count others. The pools are closed when the
// test ends.
func Sharded(t testing.TB, count int) (home *pgxpool.Pool, shards []journal.Shard) {
	t.Helper()
	urls := make([]string, count)
	for i := range urls {
		urls[i] = Empty(t)
	}
	return ShardedOn(t, urls...)
}

// ShardedOn does what Sharded does, with the journal in the given databases, which must be empty.
func ShardedOn(t testing.TB, urls ...string) (home *pgxpool.Pool, shards []journal.Shard) {
	t.Helper()
	home = Migrated(t)
	conn, err := pgx.ConnectConfig(t.Context(), home.Config().ConnConfig)
	require.NoError(t, err)
	conns := make([]*pgx.Conn, len(urls))
	for i, url := range urls {
		cfg, err := pgxpool.ParseConfig(url)
		require.NoError(t, err)
		conns[i], err = pgx.ConnectConfig(t.Context(), cfg.ConnConfig)
		require.NoError(t, err)
		// Only a journal of several shards has valves.
		var valve *persistence.Valve
		if len(urls) > 1 {
			valve = persistence.NewValve(fmt.Sprint("shard ", i))
			valve.Join(cfg)
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		shards = append(shards, journal.Shard{Pool: pool, Valve: valve})
	}
	require.NoError(t, migrate.UpApart(t.Context(), conn, conns, false))
	// The migration decides which range of buckets each shard has.
	ranges, err := migrate.Ranges(t.Context(), conn)
	require.NoError(t, err)
	for i, r := range ranges {
		shards[i].First, shards[i].Last, shards[i].Version = r.First, r.Last, r.Version
	}
	require.NoError(t, conn.Close(t.Context()))
	for _, c := range conns {
		require.NoError(t, c.Close(t.Context()))
	}
	return home, shards
}

// PoolsOf returns the pools of shards, in their order.
func PoolsOf(shards []journal.Shard) (pools []*pgxpool.Pool) {
	for _, s := range shards {
		pools = append(pools, s.Pool)
	}
	return pools
}

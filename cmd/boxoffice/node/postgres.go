package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/readmodel"
)

// startPostgres connects to Postgres and to the databases of a journal apart, migrates their schemas, and makes the
// events searchable that an earlier release has written (FillSearch). If no Postgres is configured, it first
// starts a private one.
func (n *Node) startPostgres(ctx context.Context) error {
	url := n.cfg.DatabaseURL
	journals, err := JournalURLs(n.cfg.JournalURL, n.cfg.JournalURLs)
	if err != nil {
		return err
	}
	if n.cfg.Private() && len(journals) > 0 {
		return errors.New("BOXOFFICE_JOURNAL_URL and BOXOFFICE_JOURNAL_URLS need BOXOFFICE_DATABASE_URL: a private Postgres has its journal in it")
	}
	if n.cfg.Private() {
		n.postgres, err = embedded.Start(ctx, embedded.Config{
			Dir: filepath.Join(n.cfg.DataDir, "postgres"), Log: n.log, Install: n.cfg.AllowInstall,
		})
		if err != nil {
			return err
		}
		n.started(n.postgres.Stop)
		if n.postgres.Attached() {
			return fmt.Errorf("another process uses %s", n.cfg.DataDir)
		}
		url = n.postgres.URL()
	}
	if n.pool, err = OpenPool(ctx, url, "BOXOFFICE_DATABASE_URL", nil); err != nil {
		return err
	}
	n.started(func(context.Context) error {
		for _, pool := range n.journalPools {
			pool.Close() // It is home's pool if the journal is not apart.
		}
		n.pool.Close()
		return nil
	})
	if n.shards, n.journalPools, err = OpenJournals(ctx, n.pool, journals); err != nil {
		return err
	}
	schema, err := Migrated(ctx, n.pool, n.journalPools, false)
	if err != nil {
		return err
	}
	if err := PlaceShards(ctx, n.pool, n.shards); err != nil {
		return err
	}
	n.log.InfoContext(ctx, "migrated", slog.String("schema", schema.String()))
	return readmodel.FillSearch(ctx, n.pool)
}

// JournalURLs returns the databases that the journal has apart from home, as BOXOFFICE_JOURNAL_URL
// or BOXOFFICE_JOURNAL_URLS lists them. It returns none if the journal is in home. It returns an
// error if both are set or if too many are listed.
func JournalURLs(one string, several []string) ([]string, error) {
	urls := strings.Fields(strings.Join(several, " "))
	switch {
	case one != "" && len(urls) > 0:
		return nil, errors.New("BOXOFFICE_JOURNAL_URL and BOXOFFICE_JOURNAL_URLS exclude each other: the one is for a journal in one database, the other for one in several")
	case one != "":
		return []string{one}, nil
	case len(urls) > journal.MaxShards:
		return nil, fmt.Errorf("BOXOFFICE_JOURNAL_URLS lists %d databases: %d at most", len(urls), journal.MaxShards)
	}
	return urls, nil
}

// OpenJournals connects to the databases of the journal: the listed ones, or home if none is
// listed. If there are several, each gets a valve, so that a database that does not answer holds up
// no other. The caller must close the pools, also after an error.
func OpenJournals(ctx context.Context, home *pgxpool.Pool, urls []string) (shards []journal.Shard, pools []*pgxpool.Pool, err error) {
	if len(urls) == 0 {
		return []journal.Shard{{Pool: home}}, []*pgxpool.Pool{home}, nil
	}
	for i, url := range urls {
		knob, valve := "BOXOFFICE_JOURNAL_URL", (*persistence.Valve)(nil)
		if len(urls) > 1 {
			knob, valve = "BOXOFFICE_JOURNAL_URLS", persistence.NewValve(fmt.Sprint("shard ", i, " of the journal"))
		}
		pool, err := OpenPool(ctx, url, knob, valve)
		if err != nil {
			return shards, pools, err
		}
		shards, pools = append(shards, journal.Shard{Pool: pool, Valve: valve}), append(pools, pool)
	}
	return shards, pools, nil
}

// PlaceShards sets which buckets of events each shard has, and the version of its place, as the table in home says.
func PlaceShards(ctx context.Context, home *pgxpool.Pool, shards []journal.Shard) error {
	ranges, err := migrate.Ranges(ctx, home)
	if err != nil {
		return err
	}
	for i, r := range ranges {
		shards[i].First, shards[i].Last, shards[i].Version = r.First, r.Last, r.Version
	}
	return nil
}

// OpenPool makes a pool of connections to a database, with the settings that every node needs. It connects only later,
// when a connection is needed. knob is the name of the setting that has the URL; the error for a wrong URL names it, so
// that an operator knows what to mend. The valve may be nil.
func OpenPool(ctx context.Context, url, knob string, valve *persistence.Valve) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", knob, err)
	}
	cfg.MaxConns = 16
	// When a follower reads facts back, it must not take every core from a sale.
	cfg.ConnConfig.RuntimeParams["max_parallel_workers_per_gather"] = "0"
	pace := persistence.NewPace()
	cfg.BeforeConnect, cfg.AfterConnect = pace.Before, pace.After
	if valve != nil {
		valve.Join(cfg)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

// Schema tells what Migrated found and left. Before and After are the numbers of the last migration
// that had run before and has run now. Known is the last one that this program has.
type Schema struct{ Before, After, Known int32 }

// Migrated migrates the schema of home and of the journal's databases, which may be home alone.
// With moved it also drops the journal's entries in home, which were copied to the journal's own
// database before. It returns the version of home's schema before and after, and the newest that this binary knows.
func Migrated(ctx context.Context, home *pgxpool.Pool, journals []*pgxpool.Pool, moved bool) (s Schema, err error) {
	conn, err := home.Acquire(ctx)
	if err != nil {
		return s, fmt.Errorf("postgres: %w", err)
	}
	defer conn.Release()
	if s.Before, s.Known, err = migrate.Versions(ctx, conn.Conn()); err != nil {
		return s, err
	}
	if journals[0] == home {
		err = migrate.Up(ctx, conn.Conn())
	} else {
		err = migrateApart(ctx, conn.Conn(), journals, moved)
	}
	if err != nil {
		return s, err
	}
	s.After, _, err = migrate.Versions(ctx, conn.Conn())
	return s, err
}

// migrateApart migrates home and the databases of the journal. It needs a connection to each at the
// same time.
func migrateApart(ctx context.Context, home *pgx.Conn, journals []*pgxpool.Pool, moved bool) error {
	conns := make([]*pgx.Conn, len(journals))
	for i, pool := range journals {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return fmt.Errorf("postgres of the journal, place %d: %w", i, err)
		}
		defer conn.Release()
		conns[i] = conn.Conn()
	}
	return migrate.UpApart(ctx, home, conns, moved)
}

// String says in a sentence what was done, for the log.
func (s Schema) String() string {
	switch {
	case s.After > s.Known:
		return fmt.Sprintf("the schema is at version %d, of a later release that this one (%d) runs beside; it stays as it is", s.After, s.Known)
	case s.Before == s.After:
		return fmt.Sprintf("the schema is at version %d already", s.After)
	}
	return fmt.Sprintf("the schema was brought from version %d to %d", s.Before, s.After)
}

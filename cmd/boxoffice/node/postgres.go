package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/readmodel"
)

// startPostgres starts the private server if no other one is configured, and migrates the schema.
func (n *Node) startPostgres(ctx context.Context) error {
	url := n.cfg.DatabaseURL
	if n.cfg.Private() && n.cfg.Apart() {
		return errors.New("BOXOFFICE_JOURNAL_URL needs BOXOFFICE_DATABASE_URL: a private Postgres has its journal in it")
	}
	if n.cfg.Private() {
		var err error
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
	var err error
	if n.pool, err = OpenPool(ctx, url, "BOXOFFICE_DATABASE_URL"); err != nil {
		return err
	}
	n.journalPool = n.pool
	n.started(func(context.Context) error {
		n.journalPool.Close() // it may be the same one
		n.pool.Close()
		return nil
	})
	if n.cfg.Apart() {
		journals, err := OpenPool(ctx, n.cfg.JournalURL, "BOXOFFICE_JOURNAL_URL")
		if err != nil {
			return err
		}
		n.journalPool = journals
	}
	schema, err := Migrated(ctx, n.pool, n.journalPool, false)
	if err != nil {
		return err
	}
	n.log.InfoContext(ctx, "migrated", slog.String("schema", schema.String()))
	return readmodel.FillSearch(ctx, n.pool)
}

// OpenPool connects to a database, which the knob names, with the settings that every node needs.
func OpenPool(ctx context.Context, url, knob string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", knob, err)
	}
	cfg.MaxConns = 16
	// When a follower reads facts back, it must not take every core from a sale.
	cfg.ConnConfig.RuntimeParams["max_parallel_workers_per_gather"] = "0"
	pace := persistence.NewPace()
	cfg.BeforeConnect, cfg.AfterConnect = pace.Before, pace.After
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

// Schema says what Migrated found and left, as numbers of the files that have run.
type Schema struct{ Before, After, Known int32 }

// Migrated migrates the schema of home and of the journal, which may be the same. moved lets home let
// go of a journal's entries, after they were copied.
func Migrated(ctx context.Context, home, journal *pgxpool.Pool, moved bool) (s Schema, err error) {
	conn, err := home.Acquire(ctx)
	if err != nil {
		return s, fmt.Errorf("postgres: %w", err)
	}
	defer conn.Release()
	if s.Before, s.Known, err = migrate.Versions(ctx, conn.Conn()); err != nil {
		return s, err
	}
	if journal == home {
		err = migrate.Up(ctx, conn.Conn())
	} else {
		err = migrateApart(ctx, conn.Conn(), journal, moved)
	}
	if err != nil {
		return s, err
	}
	s.After, _, err = migrate.Versions(ctx, conn.Conn())
	return s, err
}

func migrateApart(ctx context.Context, home *pgx.Conn, journal *pgxpool.Pool, moved bool) error {
	conn, err := journal.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("postgres of the journal: %w", err)
	}
	defer conn.Release()
	return migrate.UpApart(ctx, home, conn.Conn(), moved)
}

// String says in a sentence what was done.
func (s Schema) String() string {
	switch {
	case s.After > s.Known:
		return fmt.Sprintf("the schema is at version %d, of a later release that this one (%d) runs beside; it stays as it is", s.After, s.Known)
	case s.Before == s.After:
		return fmt.Sprintf("the schema is at version %d already", s.After)
	}
	return fmt.Sprintf("the schema was brought from version %d to %d", s.Before, s.After)
}

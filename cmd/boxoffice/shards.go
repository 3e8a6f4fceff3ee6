package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/migrate"
)

// databases has the flags by which tools reach Postgres, for tools that also read the journal.
type databases struct {
	database
	JournalURL  string   `env:"BOXOFFICE_JOURNAL_URL" help:"Postgres with the journal, if it has one of its own."`
	JournalURLs []string `name:"journal-urls" env:"BOXOFFICE_JOURNAL_URLS" sep:" " help:"Those with the journal, if it has several, with spaces between them."`
}

// opened has the connections to all databases of a deployment. Home is the database with everything
// but the journal. The journal may be in home or in databases of its own, its shards.
type opened struct {
	home   *pgxpool.Pool
	shards []journal.Shard
	pools  []*pgxpool.Pool // the pools of the shards, in their order; home's alone if the journal is not apart
}

// openAll connects to all databases. It does not check that they belong together (openChecked), because a migration
// opens databases that are not complete.
func (d *databases) openAll(ctx context.Context) (at opened, done func(), err error) {
	urls, err := node.JournalURLs(d.JournalURL, d.JournalURLs)
	if err != nil {
		return at, nil, err
	}
	var close func()
	if at.home, close, err = d.open(ctx); err != nil {
		return at, nil, err
	}
	at.shards, at.pools, err = node.OpenJournals(ctx, at.home, urls)
	done = func() {
		for _, pool := range at.pools {
			pool.Close() // It is home's pool if the journal is not apart.
		}
		close()
	}
	if err != nil {
		done()
		return at, nil, err
	}
	return at, done, nil
}

// openChecked connects as openAll does and refuses databases that do not belong to the deployment's journal. If
// the journal has several, a database that does not answer is no error: its valve (persistence.Valve) is shut,
// and the caller goes on without it.
func (d *databases) openChecked(ctx context.Context) (at opened, done func(), err error) {
	if at, done, err = d.openAll(ctx); err != nil {
		return at, nil, err
	}
	if err := at.check(ctx); err != nil {
		done()
		return at, nil, err
	}
	return at, done, nil
}

// listed returns the number of databases with the journal, or 0 if home itself has it.
func (at *opened) listed() int {
	if at.pools[0] == at.home {
		return 0
	}
	return len(at.pools)
}

// check refuses databases that do not belong to the deployment's journal, and a list with a wrong number or order
// of them. A tool would otherwise read another deployment's shard and report faults that are none. A shard that
// does not answer is no error: its valve is shut, and nobody has checked it.
func (at *opened) check(ctx context.Context) error {
	listed := at.listed()
	// The number of databases is checked first: with a wrong number no place in the list means
	// anything.
	if err := migrate.RefuseOtherNumber(ctx, at.home, listed); err != nil || listed == 0 {
		return err
	}
	if err := node.PlaceShards(ctx, at.home, at.shards); err != nil {
		return err
	}
	var looks errgroup.Group
	for i, s := range at.shards {
		looks.Go(func() error {
			// A shut valve means that the database does not answer. One that answers as another
			// shard is refused all the same.
			if s.Valve != nil {
				s.Valve.Look(ctx, s.Pool.Config().ConnConfig, journal.LookAt(s.Version))
			}
			if s.Valve != nil && s.Valve.IsShut() && !errors.Is(s.Valve.Err(), journal.ErrOtherMap) {
				return nil
			}
			return at.refuseForeign(ctx, i)
		})
	}
	return looks.Wait()
}

// refuseForeign refuses a database that is not the shard of its place. It uses a connection past
// the valve, because a shut valve would let no question through.
func (at *opened) refuseForeign(ctx context.Context, shard int) error {
	conn, err := connect(ctx, at.pools[shard])
	if err != nil {
		return err
	}
	return errors.Join(migrate.RefuseForeign(ctx, at.home, conn, shard), conn.Close(ctx))
}

// connect opens a single connection to the database of a pool. The connection does not belong to
// the pool, so no valve can cut it off.
func connect(ctx context.Context, pool *pgxpool.Pool) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(pool.Config().ConnString())
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg)
}

// migrateCmd brings the schemas of all databases up to date.
type migrateCmd struct {
	databases
	Moved bool `help:"The journal was copied to the database of BOXOFFICE_JOURNAL_URL, and no node runs: compare the copy, and drop the original."`
}

// Run migrates the databases and prints the version of the schema.
func (c *migrateCmd) Run(ctx context.Context) error {
	if c.Moved && c.JournalURL == "" {
		return errors.New("--moved needs BOXOFFICE_JOURNAL_URL")
	}
	at, done, err := c.openAll(ctx)
	if err != nil {
		return err
	}
	defer done()
	schema, err := node.Migrated(ctx, at.home, at.pools, c.Moved)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, schema)
	return err
}

// shardsCmd moves a shard of the journal to another server, in two steps (docs/operations.md).
// Between them a person promotes a replica of the shard.
type shardsCmd struct {
	Close closeShardCmd `cmd:"" help:"End all writing to a shard, before a replica of it is promoted. Its events are not sold until shards open and a restart of the nodes."`
	Open  openShardCmd  `cmd:"" help:"Use the database that BOXOFFICE_JOURNAL_URLS lists now in the shard's place."`
}

// closeShardCmd is the first step of moving a shard. It ends all writing to the shard, so that the
// replica can catch up with the last write.
type closeShardCmd struct {
	databases
	Shard int `arg:"" help:"Its place in BOXOFFICE_JOURNAL_URLS, from 0."`
}

// Run closes the shard. It prints up to which position of the write-ahead log the replica must have
// come.
func (c *closeShardCmd) Run(ctx context.Context) error {
	return c.move(ctx, c.Shard, func(home, shard *pgx.Conn) error {
		upto, err := migrate.CloseShard(ctx, home, shard, c.Shard)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(os.Stdout, "shard %d is closed. Promote its replica once pg_last_wal_replay_lsn() >= %s there, list that, and run boxoffice shards open %d\n", c.Shard, upto, c.Shard)
		return err
	})
}

// openShardCmd is the last step of moving a shard. It makes the database that the list names now
// the shard of that place.
type openShardCmd struct {
	databases
	Shard int `arg:"" help:"Its place in BOXOFFICE_JOURNAL_URLS, from 0."`
}

// Run opens the shard in its new place. Running nodes still use the old list, so they must be
// restarted.
func (c *openShardCmd) Run(ctx context.Context) error {
	return c.move(ctx, c.Shard, func(home, shard *pgx.Conn) error {
		if err := migrate.OpenShard(ctx, home, shard, c.Shard); err != nil {
			return err
		}
		_, err := fmt.Fprintf(os.Stdout, "shard %d is open in its new place: restart the nodes with that list\n", c.Shard)
		return err
	})
}

// move runs one step of moving a shard, with connections to home and to the shard. A list with
// another number of databases than the journal has is refused, because the position in the list
// names the shard.
func (d *databases) move(ctx context.Context, shard int, step func(home, shard *pgx.Conn) error) error {
	at, done, err := d.openAll(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := migrate.RefuseOtherNumber(ctx, at.home, at.listed()); err != nil {
		return err
	}
	if shard < 0 || shard >= len(at.pools) {
		return fmt.Errorf("there is no shard %d", shard)
	}
	home, err := connect(ctx, at.home)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, at.pools[shard])
	if err != nil {
		return errors.Join(err, home.Close(ctx))
	}
	return errors.Join(step(home, conn), conn.Close(ctx), home.Close(ctx))
}

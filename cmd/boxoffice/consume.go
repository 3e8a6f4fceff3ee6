package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/loadtest/facts"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/publicfacts"
)

// consumeCmd is the process that `loadtest facts` kills again and again. It consumes facts as a
// node does, and writes a row for each fact as its effect. No service needs it.
type consumeCmd struct {
	node.Config
	Mark  bool `help:"Only note how far the journal is."`
	Tally bool `help:"Only compare the journal with its effects."`
}

// effects is the name of the follower or Kafka consumer, and also the name of the table with its
// rows.
const effects = "effects"

// Run consumes facts until a signal or a failure. With Mark or Tally it only does what that flag says.
func (c *consumeCmd) Run(ctx context.Context) error {
	// The row of a fact and the position of the consumer must commit in one transaction. That is
	// possible only if both are in one database.
	if c.Apart() {
		return errors.New("consume compares the journal with its effects, and needs both in one database: unset BOXOFFICE_JOURNAL_URL")
	}
	pool, done, err := (&database{DataDir: c.DataDir, DatabaseURL: c.DatabaseURL}).open(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := prepareEffects(ctx, pool); err != nil {
		return err
	}
	switch {
	case c.Mark:
		return markJournal(ctx, pool)
	case c.Tally:
		t, err := tallyEffects(ctx, pool)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(t)
	}
	log, apply := logger(c.LogLevel), follower.Once(effects, journal.NewReader(pool), noteEffects)
	// With Kafka configured the facts come from a topic, and otherwise straight from the journal.
	cfg, through, err := c.Kafka()
	if err != nil {
		return err
	}
	if through {
		consumer := kafka.NewConsumer(cfg, kafka.ConsumerConfig{Name: effects, Pool: pool, Log: log, Apply: apply})
		consumer.Start()
		<-ctx.Done()
		return consumer.Stop(context.WithoutCancel(ctx))
	}
	// Without Kafka the process follows the journal of the same database. It looks for new batches by itself,
	// because no node tells it of them.
	f := follower.New(follower.Config{Name: effects, Pool: pool, Log: log, Apply: apply, Poll: 50 * time.Millisecond})
	f.Start(journal.NewReader(pool))
	select {
	case err = <-f.Failed():
	case <-ctx.Done():
	}
	return errors.Join(err, f.Stop(context.WithoutCancel(ctx)))
}

// prepareEffects makes the tables. It deliberately sets no constraint against two rows for one
// fact, because the test looks for such rows. A lock lets several processes call it at once.
func prepareEffects(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
SELECT pg_advisory_xact_lock(hashtext('effects'));
CREATE TABLE IF NOT EXISTS effects (n bigint GENERATED ALWAYS AS IDENTITY, stream_id bigint, seq bigint);
CREATE TABLE IF NOT EXISTS effects_mark (stream_id bigint, seq bigint)`)
		return err
	})
}

// noteEffects writes a row for each fact. It does so in the transaction that also stores how far
// the consumer is. So each fact should have exactly one row, however often the process is killed.
func noteEffects(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	var rows [][]any
	for _, b := range batches {
		for _, r := range b.Records {
			facts, err := follower.Facts(&r)
			if err != nil {
				return err
			}
			for i := range facts {
				rows = append(rows, []any{r.Stream, r.First + int64(i)})
			}
		}
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{effects}, []string{"stream_id", "seq"}, pgx.CopyFromRows(rows))
	return err
}

// heads selects the number of the last fact of each stream in the journal.
const heads = `heads AS (SELECT stream_id, max(last_seq) AS seq FROM records GROUP BY stream_id)`

// markJournal notes how far the journal is now. A later tally can then tell whether the consumers
// have come past this point.
func markJournal(ctx context.Context, pool *pgxpool.Pool) error {
	const mark = `WITH gone AS (DELETE FROM effects_mark), ` + heads + ` INSERT INTO effects_mark SELECT * FROM heads`
	_, err := pool.Exec(ctx, mark)
	return err
}

// tallyEffects compares the journal with the rows of the consumers, and with the public facts that the node has
// published. Facts that are lost, doubled or out of order are faults.
func tallyEffects(ctx context.Context, pool *pgxpool.Pool) (t facts.Tally, err error) {
	// had counts for each stream the rows, the different facts and the rows out of order. behind
	// counts for each follower the facts that it has not taken.
	const compare = `
WITH ` + heads + `,
had AS (
  SELECT stream_id, count(*) AS n, count(DISTINCT seq) AS different, count(*) FILTER (WHERE seq <> nth) AS misplaced
  FROM (SELECT stream_id, seq, row_number() OVER (PARTITION BY stream_id ORDER BY n) AS nth FROM effects) e GROUP BY stream_id),
behind AS (
  SELECT a.name, sum(h.seq - coalesce(d.seq, 0)) AS facts, sum(greatest(0, m.seq - coalesce(d.seq, 0))) AS marked
  FROM (VALUES ($1), ($2)) AS a(name) CROSS JOIN heads h
  LEFT JOIN applied d ON d.name = a.name AND d.stream_id = h.stream_id
  LEFT JOIN effects_mark m ON m.stream_id = h.stream_id GROUP BY a.name)
SELECT coalesce(sum(h.seq), 0), coalesce(sum(d.n), 0), coalesce(sum(h.seq - coalesce(d.different, 0)), 0),
  coalesce(sum(d.n - d.different), 0), coalesce(sum(d.misplaced), 0),
  coalesce((SELECT max(marked) FROM behind), 0), coalesce((SELECT facts FROM behind WHERE name = $2), 0),
  (SELECT count(*) FROM facts), (SELECT count(*) - count(DISTINCT id) FROM facts)
FROM heads h LEFT JOIN had d USING (stream_id)`
	err = pool.QueryRow(ctx, compare, effects, publicfacts.Follower).Scan(
		&t.Facts, &t.Effects, &t.Lost, &t.Duplicates, &t.Misplaced, &t.Backlog, &t.Untold, &t.Told, &t.ToldTwice)
	if err != nil {
		return t, fmt.Errorf("tally: %w", err)
	}
	return t, nil
}

package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// tailStep is how many batches one statement of indexTail indexes at most. In a rush such a statement takes the
// server some 30 ms.
const tailStep = 1024

// indexTails writes spans for what this node's writers have committed, and for closed writers, because their nodes
// may be gone. Batches that no span covers are the tail of a writer. Loading a stream has to look through all tails,
// so they must stay short. If the tail of one writer fails, the others are still indexed.
func (j *Postgres) indexTails(ctx context.Context) error {
	began := time.Now()
	const mine = `
SELECT t.writer, w.closed_at IS NULL FROM tails t JOIN writers w USING (writer) WHERE w.node = $1 OR w.closed_at IS NOT NULL ORDER BY 1`
	type tail struct {
		Writer int32
		Open   bool
	}
	rows, _ := j.pool.Query(ctx, mine, j.cfg.Node) // CollectRows returns its error
	tails, err := pgx.CollectRows(rows, pgx.RowToStructByPos[tail])
	if err != nil {
		return fmt.Errorf("journal: tails: %w", err)
	}
	j.answered.Store(time.Now().UnixNano())
	var errs []error
	for _, t := range tails {
		err := j.indexTail(ctx, t.Writer)
		if errors.Is(err, errHeld) && !t.Open {
			continue // another node is indexing it
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("journal: index writer %d: %w", t.Writer, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	j.indexed.Store(began.UnixNano())
	return nil
}

// errHeld means that another node has locked the tail's row, or has deleted it.
var errHeld = errors.New("its tail is locked")

// indexTail writes the spans of a writer's tail. At the end it deletes the tail's row if the writer is closed and
// everything is indexed. If several nodes do this at once, the first one locks the row, and the others get errHeld.
// The commits do not wait for the disk: if the server crashes and loses one, the batches are in the tail again.
func (j *Postgres) indexTail(ctx context.Context, writer int32) error {
	const (
		index = `
WITH t AS MATERIALIZED (SELECT batch FROM tails WHERE writer = $1 FOR UPDATE SKIP LOCKED),
f AS MATERIALIZED (SELECT (SELECT min(j.batch) FROM journal j WHERE j.writer = $1 AND j.batch > t.batch) AS batch FROM t),
b AS MATERIALIZED (
  SELECT j.batch, j.day, j.streams, j.firsts, j.lasts FROM f JOIN journal j ON j.batch >= f.batch AND j.batch < f.batch + $2
  WHERE j.writer = $1),
s AS (
  INSERT INTO spans (stream_id, first_seq, last_seq, writer, day, batches)
  SELECT r.stream_id, min(r.first_seq), max(r.last_seq), $1, day, array_agg(batch)
  FROM b CROSS JOIN LATERAL unnest(b.streams, b.firsts, b.lasts) AS r(stream_id, first_seq, last_seq) GROUP BY 1, 5),
m AS (UPDATE tails SET batch = (SELECT max(batch) FROM b) WHERE writer = $1 AND EXISTS (SELECT FROM b))
SELECT count(*), EXISTS (SELECT FROM t) FROM b`
		// If the writer is seen as closed, all of its batches are seen too.
		end = `
DELETE FROM tails t USING writers w WHERE t.writer = $1 AND w.writer = t.writer AND w.closed_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM journal j WHERE j.writer = t.writer AND j.batch > t.batch)`
	)
	for n := tailStep; n == tailStep; {
		ours := false
		var once pgx.Batch // one transaction
		once.Queue(byIndex)
		once.Queue(`SELECT set_config('synchronous_commit', 'off', true)`)
		once.Queue(index, writer, tailStep).QueryRow(func(row pgx.Row) error { return row.Scan(&n, &ours) })
		if err := j.pool.SendBatch(ctx, &once).Close(); err != nil {
			return err
		}
		if !ours {
			return errHeld
		}
	}
	_, err := j.pool.Exec(ctx, end, writer)
	return err
}

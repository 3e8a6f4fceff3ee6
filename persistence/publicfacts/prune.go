package publicfacts

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/panics"
)

const (
	pruneEvery = 10 * time.Minute
	pruneBatch = 5_000 // facts in one transaction
)

// Pruner deletes old facts while a node runs. StartPruner starts it; Stop ends it and waits.
// Pruners of several nodes do not disturb one another.
type Pruner struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// StartPruner starts pruning.
func StartPruner(s *Store, log *slog.Logger) *Pruner {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pruner{cancel: cancel, done: make(chan struct{})}
	go p.run(ctx, s, log)
	return p
}

// Stop ends pruning.
func (p *Pruner) Stop(context.Context) error {
	p.cancel()
	<-p.done
	return nil
}

// run prunes every pruneEvery until ctx ends. A failed attempt is logged, and the next one does the rest.
func (p *Pruner) run(ctx context.Context, s *Store, log *slog.Logger) {
	defer close(p.done)
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			err := panics.Catch(log, "deletion of old facts", func() error { return s.Prune(ctx) })
			if err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "old facts not deleted", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// Prune deletes the facts that were published longer than Kept ago, in batches.
func (s *Store) Prune(ctx context.Context) error {
	for {
		var deleted int
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
			deleted, err = pruneSome(ctx, tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("told: prune: %w", err)
		}
		if deleted < pruneBatch {
			return nil
		}
	}
}

// pruneSome deletes up to pruneBatch of the oldest facts, if they are old enough. It notes the cursor of the last one
// in facts_pruned: Feed refuses older cursors, because it can't tell what came after them.
func pruneSome(ctx context.Context, tx pgx.Tx) (deleted int, err error) {
	const prune = `
WITH gone AS (
  DELETE FROM facts WHERE told_at < now() - $1::interval
  AND position IN (SELECT position FROM facts ORDER BY position LIMIT $2) RETURNING xid, position),
last AS (SELECT xid, position FROM gone ORDER BY xid DESC, position DESC LIMIT 1),
noted AS (
  UPDATE facts_pruned p SET xid = l.xid, position = l.position FROM last l WHERE (l.xid, l.position) > (p.xid, p.position))
SELECT count(*) FROM gone`
	err = tx.QueryRow(ctx, prune, Kept, pruneBatch).Scan(&deleted)
	return deleted, err
}

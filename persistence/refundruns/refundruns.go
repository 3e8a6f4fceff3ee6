// Package refundruns keeps how far the refunds of whole events have come. It owns the table
// refund_runs, and has no goroutines: the payment sweep carries out the runs.
package refundruns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
)

// Store reads and writes the runs. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New makes a store on a database that is up to date.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Run is the refund of all paid orders of an event.
type Run struct {
	Event      int64
	Reason     string
	Total      int64    // how many orders were to be refunded when the run began
	After      [16]byte // id of the last order that was looked at
	Refunded   int64    // how many orders have been refunded so far
	Skipped    int64    // how many orders were passed over, because nothing of them could be refunded
	StartedAt  time.Time
	FinishedAt *time.Time
}

const columns = `event, reason, total, after, refunded, skipped, started_at, finished_at`

// Start begins an event's run, or a new one if an earlier one has finished, and returns it. A run that has not
// finished is left as it is, and is returned instead.
func (s *Store) Start(ctx context.Context, event int64, reason string, total int64) (*Run, error) {
	const start = `
INSERT INTO refund_runs AS r (event, reason, total, after) VALUES ($1, $2, $3, $4)
ON CONFLICT (event) DO UPDATE SET reason = excluded.reason, total = excluded.total, after = excluded.after, refunded = 0, skipped = 0,
  started_at = now(), finished_at = NULL WHERE r.finished_at IS NOT NULL`
	if _, err := s.pool.Exec(ctx, start, event, reason, total, [16]byte(engine.NewID(event, make([]byte, 10)))); err != nil {
		return nil, fmt.Errorf("refundruns: start: %w", err)
	}
	return s.Find(ctx, event)
}

// Find returns an event's run, or nil if it has none.
func (s *Store) Find(ctx context.Context, event int64) (*Run, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM refund_runs WHERE event = $1`, event) // CollectOneRow returns its error
	r, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Run])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("refundruns: find: %w", err)
	}
	return r, nil
}

// Open chooses at most limit of the runs that have not finished, by chance. If it chose the oldest, a few runs that
// can't go on for now would hold up all others.
func (s *Store) Open(ctx context.Context, limit int) ([]Run, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM refund_runs WHERE finished_at IS NULL ORDER BY random() LIMIT $1`, limit) // CollectRows returns its error
	runs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Run])
	if err != nil {
		return nil, fmt.Errorf("refundruns: open: %w", err)
	}
	return runs, nil
}

// Note stores how far a run has come.
func (s *Store) Note(ctx context.Context, r *Run) error {
	const note = `UPDATE refund_runs SET after = $2, refunded = $3, skipped = $4, finished_at = $5 WHERE event = $1`
	if _, err := s.pool.Exec(ctx, note, r.Event, r.After, r.Refunded, r.Skipped, r.FinishedAt); err != nil {
		return fmt.Errorf("refundruns: note: %w", err)
	}
	return nil
}

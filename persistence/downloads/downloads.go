// Package downloads counts how often the content that a ticket delivers was opened.
//
// Handlers of the edge call it; it has no goroutine and needs no stop.
package downloads

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store keeps the counts. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a pool's database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Opened reports whether the content of any ticket in a range of an event's serials was opened. The range
// begins with first, and has as many serials as tickets says.
func (s *Store) Opened(ctx context.Context, event int64, first uint32, tickets int64) (opened bool, err error) {
	const find = `SELECT EXISTS (SELECT FROM downloads WHERE event_id = $1 AND serial >= $2 AND serial < $3)`
	if err := s.pool.QueryRow(ctx, find, event, int64(first), int64(first)+tickets).Scan(&opened); err != nil {
		return false, fmt.Errorf("look for downloads: %w", err)
	}
	return opened, nil
}

// Count adds one to the downloads of a ticket, and returns how many there are now.
func (s *Store) Count(ctx context.Context, event int64, serial uint32, at time.Time) (times int, err error) {
	const count = `INSERT INTO downloads (event_id, serial, first_at, last_at) VALUES ($1, $2, $3, $3)
ON CONFLICT (event_id, serial) DO UPDATE SET times = downloads.times + 1, last_at = excluded.last_at RETURNING times`
	if err := s.pool.QueryRow(ctx, count, event, int64(serial), at).Scan(&times); err != nil {
		return 0, fmt.Errorf("count a download: %w", err)
	}
	return times, nil
}

// Package livetokens keeps tokens that each open an event's live stream once, for readers that
// can't send a header, such as browsers' EventSource.
//
// Handlers of the edge call it; it has no goroutine and needs no stop.
package livetokens

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store keeps the tokens, as hashes. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a pool's database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Add stores a token for an event until a time, and deletes tokens that have ended.
func (s *Store) Add(ctx context.Context, event int64, token string, now, until time.Time) error {
	const add = `WITH ended AS (DELETE FROM live_tokens WHERE expires_at <= $4)
INSERT INTO live_tokens (hash, event_id, expires_at) VALUES ($1, $2, $3)`
	if _, err := s.pool.Exec(ctx, add, hash(token), event, until, now); err != nil {
		return fmt.Errorf("add a live token: %w", err)
	}
	return nil
}

// Redeem reports whether a token opens an event's stream, and uses it up.
func (s *Store) Redeem(ctx context.Context, event int64, token string, now time.Time) (bool, error) {
	const redeem = `DELETE FROM live_tokens WHERE hash = $1 AND event_id = $2 AND expires_at > $3`
	tag, err := s.pool.Exec(ctx, redeem, hash(token), event, now)
	if err != nil {
		return false, fmt.Errorf("redeem a live token: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

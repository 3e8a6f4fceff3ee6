package accounts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// SigningKey returns the number of the key that signs access tokens. The key before it still
// verifies.
func (s *Store) SigningKey(ctx context.Context) (int, error) {
	var n int
	if err := s.pool.QueryRow(ctx, `SELECT max(number) FROM signing_keys`).Scan(&n); err != nil {
		return 0, fmt.Errorf("signing key: %w", err)
	}
	return n, nil
}

// RotateSigningKey makes the next key the one that signs, and returns its number.
func (s *Store) RotateSigningKey(ctx context.Context) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `INSERT INTO signing_keys (number) SELECT max(number) + 1 FROM signing_keys RETURNING number`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("rotate signing key: %w", err)
	}
	return n, nil
}

// Change is a change of a credential about which nodes may remember something.
type Change struct {
	ID      int64
	Subject string // what was changed: session/<uuid>, user/<id>, key/<id> or signing
}

// changesKept is how long changes are kept, which is longer than any node goes without reading
// them.
const changesKept = 10 * time.Minute

// Changes returns what has changed within a span before now, by the database's clock. Their order
// does not say which was committed first. So a reader asks for a longer span than the time since it
// last asked, and knows by their IDs which changes it has seen.
func (s *Store) Changes(ctx context.Context, since time.Duration) ([]Change, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, subject FROM credential_changes WHERE at > now() - $1::interval ORDER BY id`, since) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Change])
	if err != nil {
		return nil, fmt.Errorf("credential changes: %w", err)
	}
	return out, nil
}

// PruneChanges deletes the changes that are older than changesKept, and so were read by every node.
func (s *Store) PruneChanges(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM credential_changes WHERE at < now() - $1::interval`, changesKept); err != nil {
		return fmt.Errorf("prune credential changes: %w", err)
	}
	return nil
}

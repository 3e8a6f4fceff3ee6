// Package idempotency owns the plain table of answers to repeated requests. The edge's middleware uses it for
// writes with an Idempotency-Key. Writes whose actors recognize repeats themselves, such as orders and scans,
// do without the table. The package has no goroutine.
package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Kept is how long repeats get the same answer.
const Kept = 24 * time.Hour

// These are the reasons why a repeat gets no answer.
var (
	ErrReused   = errors.New("idempotency: the key was used with another request")
	ErrInFlight = errors.New("idempotency: a request with the key is running")
)

// Store reads and writes answers.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Request is one attempt at a write.
type Request struct {
	Scope       [32]byte
	Fingerprint [32]byte
	Holder      string        // the attempt's own id
	Lease       time.Duration // longest time that an attempt runs
}

// Begin makes r the attempt that runs, and returns nil, or it returns the answer that was given before. It
// returns ErrReused for another request under the same key, and ErrInFlight while an earlier attempt runs. Of
// several attempts at once, only one begins.
func (s *Store) Begin(ctx context.Context, r Request) (answer []byte, err error) {
	// The row of a request whose node died is taken over by a repeat, and a row that is a day old
	// by any request.
	tag, err := s.pool.Exec(ctx, `INSERT INTO idempotency AS i (scope, fingerprint, holder, lease_until)
		VALUES ($1, $2, $3, now() + $4::interval)
		ON CONFLICT (scope) DO UPDATE SET fingerprint = excluded.fingerprint, holder = excluded.holder,
			created_at = now(), lease_until = excluded.lease_until, answer = NULL
		WHERE i.created_at < now() - $5::interval
			OR i.answer IS NULL AND i.lease_until < now() AND i.fingerprint = excluded.fingerprint`,
		r.Scope[:], r.Fingerprint[:], r.Holder, r.Lease, Kept)
	if err != nil {
		return nil, fmt.Errorf("begin idempotent request: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return nil, nil
	}
	var print []byte
	err = s.pool.QueryRow(ctx, `SELECT fingerprint, answer FROM idempotency WHERE scope = $1`, r.Scope[:]).Scan(&print, &answer)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // the other attempt was given up just now
		return nil, ErrInFlight
	case err != nil:
		return nil, fmt.Errorf("read idempotent answer: %w", err)
	case !bytes.Equal(print, r.Fingerprint[:]):
		return nil, ErrReused
	case answer == nil:
		return nil, ErrInFlight
	}
	return answer, nil
}

// Keep stores the answer of a request that began. It does nothing if another attempt has taken the row over.
func (s *Store) Keep(ctx context.Context, r Request, answer []byte) error {
	if _, err := s.pool.Exec(ctx, `UPDATE idempotency SET answer = $3 WHERE scope = $1 AND holder = $2 AND answer IS NULL`,
		r.Scope[:], r.Holder, answer); err != nil {
		return fmt.Errorf("keep idempotent answer: %w", err)
	}
	return nil
}

// GiveUp forgets a request that began and whose answer is not kept for repeats.
func (s *Store) GiveUp(ctx context.Context, r Request) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM idempotency WHERE scope = $1 AND holder = $2 AND answer IS NULL`, r.Scope[:], r.Holder); err != nil {
		return fmt.Errorf("give up idempotent request: %w", err)
	}
	return nil
}

// Prune deletes answers that are no longer repeated.
func (s *Store) Prune(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM idempotency WHERE created_at < now() - $1::interval`, Kept); err != nil {
		return fmt.Errorf("prune idempotent answers: %w", err)
	}
	return nil
}

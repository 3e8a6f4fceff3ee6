// Package promos owns the names of promo codes. It knows which code a buyer means by typing a name. It makes
// sure that no two codes of an organization have the same name and apply for the same event. A name is claimed
// before the code's actor gets it, and released after the actor has lost it.
//
// Handlers of the edge call it; it has no goroutine and needs no stop.
package promos

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrTaken says that another code has the name.
var ErrTaken = errors.New("promos: the name is taken")

// Store keeps the names. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a pool's database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Name is the name of a promo code and the events for which the code applies: one event, or with Event 0
// all of the organization's.
type Name struct {
	Org   int64
	Event int64
	Code  string // upper case
}

// Claim gives a code a name, instead of the one that it had. It returns ErrTaken if another code of the
// organization has the name and applies for one of the same events.
func (s *Store) Claim(ctx context.Context, number int64, n Name) error {
	const clash = `SELECT EXISTS (SELECT FROM promo_names
		WHERE org = $1 AND code = $2 AND number <> $3 AND ($4::bigint = 0 OR event IN (0, $4::bigint)))`
	const claim = `INSERT INTO promo_names (number, org, event, code) VALUES ($1, $2, $3, $4)
		ON CONFLICT (number) DO UPDATE SET event = excluded.event, code = excluded.code`
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Only one claim of an organization runs at a time, because a row that does not exist can't
		// be locked.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('promo_names', $1))`, n.Org); err != nil {
			return err
		}
		var taken bool
		if err := tx.QueryRow(ctx, clash, n.Org, n.Code, number, n.Event).Scan(&taken); err != nil {
			return err
		}
		if taken {
			return ErrTaken
		}
		_, err := tx.Exec(ctx, claim, number, n.Org, n.Event, n.Code)
		return err
	})
	if err != nil && !errors.Is(err, ErrTaken) {
		return fmt.Errorf("claim the name of a promo code: %w", err)
	}
	return err
}

// Release releases a code's name.
func (s *Store) Release(ctx context.Context, number int64) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM promo_names WHERE number = $1`, number); err != nil {
		return fmt.Errorf("release the name of a promo code: %w", err)
	}
	return nil
}

// Find returns the code that a name means for an event, or 0 if there is none.
func (s *Store) Find(ctx context.Context, n Name) (number int64, err error) {
	err = s.pool.QueryRow(ctx, `SELECT number FROM promo_names WHERE org = $1 AND code = $2 AND event IN (0, $3) ORDER BY event DESC LIMIT 1`,
		n.Org, n.Code, n.Event).Scan(&number)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find a promo code: %w", err)
	}
	return number, nil
}

// Owner returns the organization of a code that has a name, or 0 if it has none.
func (s *Store) Owner(ctx context.Context, number int64) (org int64, err error) {
	err = s.pool.QueryRow(ctx, `SELECT org FROM promo_names WHERE number = $1`, number).Scan(&org)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("owner of a promo code: %w", err)
	}
	return org, nil
}

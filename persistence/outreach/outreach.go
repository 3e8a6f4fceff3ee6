// Package outreach owns the plain tables of the people to whom organizations write in bulk: their followers,
// the broadcasts with their recipients, and the addresses that get no bulk mail. The edge and the mail queue
// call it. It has no goroutine.
//
// Addresses are stored, and must be given, in lower case.
package outreach

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store reads and writes the tables. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// These are the reasons why an address gets no bulk mail. A bounce or a complaint stops the mail of
// all organizations. Unsubscribing stops the mail of one organization.
const (
	Bounce      = "bounce"
	Complaint   = "complaint"
	Unsubscribe = "unsubscribe"
)

// Follower is somebody who follows an organization, and gets a mail when it publishes an event.
type Follower struct {
	Number int64 // higher for later ones
	Email  string
	Name   string
}

// Follow makes an address follow an organization, even if it had left, and ends its unsubscription from the
// organization's mails. The caller must have made sure that the owner of the address wants that, for example by a link
// in a mail. An address keeps the name that is known if name is empty, or if it follows already.
func (s *Store) Follow(ctx context.Context, org int64, email, name string) error {
	const follow = `
INSERT INTO org_followers AS f (org, email, name, following) VALUES ($1, $2, $3, true)
ON CONFLICT (org, email) DO UPDATE SET following = true, changed_at = now(), name = coalesce(nullif(excluded.name, ''), f.name)
WHERE NOT f.following`
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// A person who follows again has changed their mind about unsubscribing. Bounces and
		// complaints stay, because they say something about the address.
		const back = `DELETE FROM mail_suppressions WHERE email = $1 AND org = $2 AND reason = 'unsubscribe'`
		if _, err := tx.Exec(ctx, back, email, org); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, follow, org, email, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("follow organization %d: %w", org, err)
	}
	return nil
}

// Leave ends an address's following of an organization and stops all bulk mail from that
// organization to it, broadcasts included. It may be called again, and for an address that never
// followed.
func (s *Store) Leave(ctx context.Context, org int64, email string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		const leave = `UPDATE org_followers SET following = false, changed_at = now() WHERE org = $1 AND email = $2 AND following`
		if _, err := tx.Exec(ctx, leave, org, email); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, suppress, email, org, Unsubscribe)
		return err
	})
	if err != nil {
		return fmt.Errorf("leave organization %d: %w", org, err)
	}
	return nil
}

// suppress adds a row if there is none. Organization 0 stands for all organizations.
const suppress = `INSERT INTO mail_suppressions (email, org, reason) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

// Suppress stops the bulk mail of all organizations to an address. reason is Bounce or Complaint.
func (s *Store) Suppress(ctx context.Context, email, reason string) error {
	if _, err := s.pool.Exec(ctx, suppress, email, 0, reason); err != nil {
		return fmt.Errorf("suppress an address: %w", err)
	}
	return nil
}

// Suppressed reports whether an address gets no bulk mail from an organization, either because it
// has left that one or because of a row for all organizations.
func (s *Store) Suppressed(ctx context.Context, org int64, email string) (suppressed bool, err error) {
	const find = `SELECT EXISTS (SELECT FROM mail_suppressions WHERE email = $1 AND org IN (0, $2))`
	if err := s.pool.QueryRow(ctx, find, email, org).Scan(&suppressed); err != nil {
		return false, fmt.Errorf("look for a suppressed address: %w", err)
	}
	return suppressed, nil
}

// Followers lists at most limit followers of an organization, in the order of their numbers. All
// have numbers above after, so the number of a page's last follower leads to the next page; 0
// begins with the first.
func (s *Store) Followers(ctx context.Context, org, after int64, limit int) ([]Follower, error) {
	const find = `SELECT number, email, name FROM org_followers WHERE org = $1 AND following AND number > $2 ORDER BY number LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, org, after, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Follower])
	if err != nil {
		return nil, fmt.Errorf("followers of organization %d: %w", org, err)
	}
	return list, nil
}

package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine/wallet"
	"boxoffice/persistence"
)

// Trust is what an organization has shown of itself. A registration costs nothing, so others
// must not suffer much from an organization that has shown nothing yet.
type Trust struct {
	// Proven reports whether somebody who made the organization has proven to own the mailbox of
	// the account. Invited members don't count: the organization names them as it likes.
	Proven bool
	// Paid reports whether somebody has paid an order of the organization.
	Paid bool
}

// Verify marks an organization as known to the platform.
func (s *Store) Verify(ctx context.Context, org int64) error {
	if _, err := s.pool.Exec(ctx, `UPDATE organizations SET verified = true WHERE id = $1`, org); err != nil {
		return fmt.Errorf("verify organization %d: %w", org, err)
	}
	return nil
}

// AllowTransfers sets whether an organization may be paid by bank transfer, to the account of the whole deployment.
// The organization then reports itself what has come there, and is credited with it, so the operator must trust it.
func (s *Store) AllowTransfers(ctx context.Context, org int64, allowed bool) error {
	if _, err := s.pool.Exec(ctx, `UPDATE organizations SET transfers = $2 WHERE id = $1`, org, allowed); err != nil {
		return fmt.Errorf("transfers of organization %d: %w", org, err)
	}
	return nil
}

// TakesTransfers reports whether an organization may be paid by bank transfer.
func (s *Store) TakesTransfers(ctx context.Context, org int64) (allowed bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT transfers FROM organizations WHERE id = $1`, org).Scan(&allowed)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("transfers of organization %d: %w", org, err)
	}
	return allowed, nil
}

// ReadTrust reads what an organization has shown of itself. The platform's mark "verified" counts as both Proven
// and Paid. An organization that does not exist has shown nothing.
func ReadTrust(ctx context.Context, q persistence.Querier, org int64) (t Trust, err error) {
	const read = `
SELECT o.verified OR EXISTS (SELECT FROM members m JOIN users u ON u.id = m.usr WHERE m.org = o.id AND NOT m.invited AND u.email_verified),
  o.verified OR EXISTS (SELECT FROM wallet_entries e WHERE e.org = o.id AND e.kind = $2)
FROM organizations o WHERE o.id = $1`
	if err := q.QueryRow(ctx, read, org, wallet.Sold).Scan(&t.Proven, &t.Paid); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return t, fmt.Errorf("trust in organization %d: %w", org, err)
	}
	return t, nil
}

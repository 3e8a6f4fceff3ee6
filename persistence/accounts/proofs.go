package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ConfirmationLife is how long a mailed confirmation link may be used.
const ConfirmationLife = 24 * time.Hour

// ErrUnproven says that nobody has proven to have the account's mailbox.
var ErrUnproven = errors.New("accounts: the mailbox is not proven")

// RequestConfirmation stores the hash of a new confirmation link for the account of an e-mail whose
// mailbox nobody has proven, and forgets the previous link. It returns nil if no mail is to be
// sent, by the rules of RequestReset.
func (s *Store) RequestConfirmation(ctx context.Context, email string, hash [32]byte, asked time.Time) (*User, error) {
	u, err := s.UserByEmail(ctx, email)
	if err != nil || u == nil || u.EmailVerified {
		return nil, err
	}
	return s.keepLink(ctx, "email_confirmations", u, hash, ConfirmationLife, asked)
}

// Confirmation returns the account of a confirmation link, or nil if the link can't be used.
func (s *Store) Confirmation(ctx context.Context, hash [32]byte) (*User, error) {
	var id int64
	err := s.pool.QueryRow(ctx, `SELECT usr FROM email_confirmations WHERE hash = $1 AND NOT used AND expires_at > now()`, hash[:]).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // a link that can't be used is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("confirmation: %w", err)
	}
	return s.User(ctx, id)
}

// Owner is what somebody shows besides a confirmation link to prove that the account is theirs: its
// password, or one of its sessions.
type Owner struct {
	PasswordHash string    // the stored hash that the shown password fits; empty if no password was shown
	Session      uuid.UUID // the session that the person is signed in with; zero if none was shown
}

// ConfirmEmail uses up a confirmation link. Everything that was made with the account stays, and
// its sessions count as proven from now on, because the person with the mailbox has made them. It
// returns false if the link can't be used, or if the password or session is no longer the
// account's.
func (s *Store) ConfirmEmail(ctx context.Context, hash [32]byte, by Owner) (confirmed bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// The account is locked before its link, as in claimAccount, and before the session is read, so
		// that a session is seen as ended if a sign-out is just ending it.
		var user int64
		if err := tx.QueryRow(ctx, `SELECT u.id FROM users u JOIN email_confirmations c ON c.usr = u.id
			WHERE c.hash = $1 AND ($2 = '' OR u.password_hash = $2) FOR NO KEY UPDATE OF u`, hash[:], by.PasswordHash).Scan(&user); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `UPDATE email_confirmations SET used = true WHERE hash = $1 AND NOT used AND expires_at > now() RETURNING usr`,
			hash[:]).Scan(&user); err != nil {
			return err
		}
		if by.PasswordHash == "" {
			if err := tx.QueryRow(ctx, `SELECT s.usr FROM sessions s WHERE s.id = $1 AND s.usr = $2 AND `+sessionLives,
				by.Session, user).Scan(&user); err != nil {
				return err
			}
		}
		for _, sql := range []string{
			`UPDATE users SET email_verified = true WHERE id = $1`,
			`UPDATE challenges SET email_proven = true WHERE usr = $1`,
			`UPDATE sessions SET email_proven = true WHERE usr = $1 AND revoked_at IS NULL`,
		} {
			if _, err := tx.Exec(ctx, sql, user); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("confirm e-mail: %w", err)
	}
	return true, nil
}

// claimAccount gives an account to a person who has just proven its mailbox without showing the account's
// password or session. If nobody had proven the mailbox before, what was made with the account may
// be a stranger's. So every session, the password and the second factor end, and also what others
// could still do through the account (endOthersAccess). fresh reports whether that was so.
func claimAccount(ctx context.Context, tx pgx.Tx, user int64) (fresh bool, err error) {
	var proven bool
	if err := tx.QueryRow(ctx, `SELECT email_verified FROM users WHERE id = $1 FOR NO KEY UPDATE`, user).Scan(&proven); err != nil {
		return false, err
	}
	if proven {
		return false, nil
	}
	if err := empty(ctx, tx, user); err != nil {
		return false, err
	}
	return true, endOthersAccess(ctx, tx, user)
}

// empty marks an account as proven, removes its password, second factor, recovery codes and confirmation links,
// and ends its sessions and sign-ins (signOut).
func empty(ctx context.Context, tx pgx.Tx, user int64) error {
	for _, sql := range []string{
		`UPDATE users SET email_verified = true, password_hash = '', totp_active = false, totp_secret = NULL WHERE id = $1`,
		`DELETE FROM recovery_codes WHERE usr = $1`,
		`DELETE FROM email_confirmations WHERE usr = $1`,
	} {
		if _, err := tx.Exec(ctx, sql, user); err != nil {
			return err
		}
	}
	return signOut(ctx, tx, user)
}

// endOthersAccess ends what others can do through the organizations that were made with an account before its
// mailbox was proven. An organization that has another owner with a proven mailbox goes on without the account. Any
// other organization keeps the account as its only member and owner: its other members leave, its API keys are
// paused, and its webhook endpoints are disabled, which the owner may undo. What these endpoints have not been sent
// yet is cancelled for good. Memberships by invitation stay, because they were meant for the person with the
// mailbox.
func endOthersAccess(ctx context.Context, tx pgx.Tx, user int64) error {
	// manageMembers takes the same lock, so that an organization always keeps an owner.
	rows, _ := tx.Query(ctx, `SELECT o.id FROM organizations o JOIN members m ON m.org = o.id
		WHERE m.usr = $1 AND NOT m.invited ORDER BY o.id FOR NO KEY UPDATE OF o`, user) // CollectRows returns its error
	orgs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	rows, _ = tx.Query(ctx, `DELETE FROM members m WHERE m.usr = $1 AND m.org = ANY($2) AND EXISTS (
			SELECT FROM members other JOIN users u ON u.id = other.usr
			WHERE other.org = m.org AND other.usr <> $1 AND other.role = 'owner' AND u.email_verified)
		RETURNING m.org`, user, orgs) // CollectRows returns its error
	left, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(orgs, func(org int64) bool { return slices.Contains(left, org) })
	if _, err := tx.Exec(ctx, `DELETE FROM members WHERE org = ANY($1) AND usr <> $2`, kept, user); err != nil {
		return err
	}
	// The keys are locked in the order in which their last uses are written.
	for _, sql := range []string{
		`UPDATE api_keys SET status = 'paused', updated_at = now()
			WHERE id IN (SELECT id FROM api_keys WHERE org = ANY($1) AND status = 'active' ORDER BY id FOR UPDATE)`,
		`UPDATE webhook_endpoints SET status = 'disabled', reason = '', updated_at = now() WHERE org = ANY($1) AND status = 'active'`,
		`UPDATE webhook_deliveries SET status = 'cancelled', due = NULL
			WHERE due IS NOT NULL AND endpoint IN (SELECT id FROM webhook_endpoints WHERE org = ANY($1))`,
	} {
		if _, err := tx.Exec(ctx, sql, kept); err != nil {
			return err
		}
	}
	return nil
}

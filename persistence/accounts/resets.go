package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ResetLife is how long a password reset may be used.
const ResetLife = time.Hour

// RequestReset stores the hash of a new password reset for the account of an e-mail, and forgets
// the previous reset. asked is when the reset was asked for. It returns the account, or nil if no
// mail is to be sent: there is no account, it has got enough mails, or it has got another reset
// since asked. With the hash of the newest reset, whose mail may not have gone out, it returns the
// account again until that reset is used.
func (s *Store) RequestReset(ctx context.Context, email string, hash [32]byte, asked time.Time) (*User, error) {
	u, err := s.UserByEmail(ctx, email)
	if err != nil || u == nil {
		return nil, err
	}
	return s.keepLink(ctx, "password_resets", u, hash, ResetLife, asked)
}

// keepLink stores the hash of a user's newest link in one of the tables of links, in place of an earlier one. It returns
// the user if a mail with the link is due, or nil: too many mails were sent, one was sent after asked, or the link was
// used already.
func (s *Store) keepLink(ctx context.Context, table string, u *User, hash [32]byte, life time.Duration, asked time.Time) (*User, error) {
	tag, err := s.pool.Exec(ctx, `INSERT INTO `+table+` AS r (usr, hash, expires_at, sent)
		VALUES ($1, $2, now() + $6::interval, ARRAY[now()])
		ON CONFLICT (usr) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at, used = false,
			sent = CASE WHEN r.hash = excluded.hash THEN r.sent ELSE `+sends+` END
		WHERE CASE WHEN r.hash = excluded.hash THEN NOT r.used ELSE `+maySend+` AND r.sent[cardinality(r.sent)] <= $7 END`,
		u.ID, hash[:], sendPause, sendMax, sendTime, life, asked)
	if err != nil {
		return nil, fmt.Errorf("keep a link in %s: %w", table, err)
	}
	if tag.RowsAffected() == 0 {
		return nil, nil //nolint:nilnil // nothing to send is an answer
	}
	return u, nil
}

// ResetStands reports whether a password reset may still be used.
func (s *Store) ResetStands(ctx context.Context, hash [32]byte) (stands bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM password_resets WHERE hash = $1 AND NOT used AND expires_at > now())`,
		hash[:]).Scan(&stands)
	if err != nil {
		return false, fmt.Errorf("reset stands: %w", err)
	}
	return stands, nil
}

// ResetPassword uses up a password reset: it sets the password and ends every session. A reset proves the
// mailbox. taken says that nobody had proven the mailbox before, so that the second factor and the access of
// others have ended too (claimAccount). ResetPassword returns the account, or nil if the reset can't be used.
func (s *Store) ResetPassword(ctx context.Context, hash [32]byte, passwordHash string) (u *User, taken bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		var id int64
		err = tx.QueryRow(ctx, `UPDATE password_resets SET used = true WHERE hash = $1 AND NOT used AND expires_at > now() RETURNING usr`,
			hash[:]).Scan(&id)
		if err != nil {
			return err
		}
		if taken, err = claimAccount(ctx, tx, id); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `UPDATE users SET password_hash = $2 WHERE id = $1 RETURNING `+userColumns,
			id, passwordHash) // CollectExactlyOneRow returns its error
		if u, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[User]); err != nil {
			return err
		}
		return signOut(ctx, tx, id)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reset password: %w", err)
	}
	return u, taken, nil
}

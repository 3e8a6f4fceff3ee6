package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Limits of login codes (docs/rules.md, Credentials).
const (
	CodeLife  = 10 * time.Minute // how long a login code may be used
	codeTries = 5
	// These limit the mails to one address, both login codes and password resets, so that its owner
	// is not flooded.
	sendPause = time.Minute
	sendMax   = 5
	sendTime  = time.Hour
)

// These are the reasons why a login code does not sign in.
var (
	ErrCodeInvalid = errors.New("accounts: the code is wrong")
	ErrCodeExpired = errors.New("accounts: there is no code that can be used")
)

// maySend is the condition, on a row r with sends, that another mail may be sent. sends is the
// value to store for sends when one is.
const (
	maySend = `r.sent[cardinality(r.sent)] <= now() - $3::interval AND (cardinality(r.sent) < $4 OR r.sent[1] <= now() - $5::interval)`
	sends   = `(r.sent || now())[greatest(cardinality(r.sent) + 2 - $4::int, 1):]`
)

// RequestCode stores a new login code's MAC and name, and forgets the previous code. If the address
// has requested too many codes, it stores nothing and returns how long to wait. None of this
// depends on whether the address has an account.
func (s *Store) RequestCode(ctx context.Context, email, name string, mac []byte) (wait time.Duration, err error) {
	tag, err := s.pool.Exec(ctx, `INSERT INTO login_codes AS r (email, name, mac, expires_at, sent)
		VALUES ($1, $6, $2, now() + $7::interval, ARRAY[now()])
		ON CONFLICT (email) DO UPDATE SET name = excluded.name, mac = excluded.mac, expires_at = excluded.expires_at,
			tries = 0, used = false, sent = `+sends+` WHERE `+maySend,
		email, mac, sendPause, sendMax, sendTime, name, CodeLife)
	if err != nil {
		return 0, fmt.Errorf("request code: %w", err)
	}
	if tag.RowsAffected() == 1 {
		return 0, nil
	}
	err = s.pool.QueryRow(ctx, `SELECT greatest(sent[cardinality(sent)] + $2::interval,
			CASE WHEN cardinality(sent) >= $3 THEN sent[1] + $4::interval END) - now() FROM login_codes WHERE email = $1`,
		email, sendPause, sendMax, sendTime).Scan(&wait)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("request code: %w", err)
	}
	return max(wait, time.Second), nil
}

// ExchangeCode uses up a login code and returns its account, which is made if the address has none.
// Each call is a try, and of several calls with the right code only one succeeds. A code proves the
// mailbox. taken says that nobody had proven the account's mailbox before, and that everything made
// with it has ended (claim). It returns ErrCodeInvalid for a wrong code, and ErrCodeExpired if
// there is no code that could be right.
func (s *Store) ExchangeCode(ctx context.Context, email string, mac []byte) (u *User, taken bool, err error) {
	right := false
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, `UPDATE login_codes SET tries = tries + 1, used = (mac = $2)
			WHERE email = $1 AND NOT used AND tries < $3 AND expires_at > now() RETURNING used, name`,
			email, mac, codeTries).Scan(&right, &name)
		if err != nil || !right {
			return err
		}
		if u, err = ensureUser(ctx, tx, email, name); err != nil {
			return err
		}
		if !u.EmailVerified {
			if taken, err = claim(ctx, tx, u.ID); err != nil {
				return err
			}
			if u, err = ensureUser(ctx, tx, email, name); err != nil { // after the claim has changed it
				return err
			}
		}
		return nameBuyer(ctx, tx, u)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, false, ErrCodeExpired
	case err != nil:
		return nil, false, fmt.Errorf("exchange code: %w", err)
	case !right:
		return nil, false, ErrCodeInvalid
	}
	return u, taken, nil
}

// ensureUser returns the account of an address, and makes it if there is none. The account that it
// makes has no password, so only a mail can sign in to it, and its mailbox counts as proven.
func ensureUser(ctx context.Context, tx pgx.Tx, email, name string) (*User, error) {
	_, err := tx.Exec(ctx, `INSERT INTO users (email, password_hash, first_name, last_name, phone, email_verified)
		VALUES ($1, '', $2, '', '', true) ON CONFLICT (email) DO NOTHING`, email, name)
	if err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `SELECT `+userColumns+` FROM users WHERE email = $1`, email) // CollectExactlyOneRow returns its error
	return pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[User])
}

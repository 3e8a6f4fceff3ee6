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
	codeTries = 5                // how often a code may be tried, counted apart for tries with and without its nonce
	// These limit the mails of one kind to one address, so that its owner is not flooded.
	sendPause = time.Minute // the shortest time between two mails
	sendMax   = 5           // how many mails may be sent in a sendTime
	sendTime  = time.Hour
)

// These are the reasons why a login code does not sign anybody in.
var (
	ErrCodeInvalid = errors.New("accounts: the code is wrong")
	ErrCodeExpired = errors.New("accounts: there is no code that can be used")
)

// maySend is the condition under which another mail may be sent, for a row r with the times of
// earlier mails in sent. sends is the list of times to store when one is sent: it keeps only as
// many as the condition needs.
const (
	maySend = `r.sent[cardinality(r.sent)] <= now() - $3::interval AND (cardinality(r.sent) < $4 OR r.sent[1] <= now() - $5::interval)`
	sends   = `(r.sent || now())[greatest(cardinality(r.sent) + 2 - $4::int, 1):]`
)

// codesOfAddress is how many codes all networks together may request for one address in a sendTime.
// One network may request sendMax of them, with at least sendPause between two.
const codesOfAddress = 20

// Code is what is stored of a login code. The code itself is not stored.
type Code struct {
	Email, Name string
	MAC         []byte   // a keyed hash of the code, with which that of a tried code is compared
	Nonce       [32]byte // the hash of the nonce that only the client that asked for the code gets
	Client      string   // the network of the client, as its requests are limited
}

// RequestCode stores a new login code. The code belongs to the client that gets its nonce, and
// other clients' codes for the same address stay valid. If the network, or all networks together,
// have requested too many codes for the address, RequestCode stores nothing and returns how long to
// wait. Nothing of this depends on whether the address has an account, so nobody can find that out.
func (s *Store) RequestCode(ctx context.Context, c *Code) (wait time.Duration, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Requests for one address wait for one another. Otherwise two that come at once would
		// both count one code too few.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('login code ' || $1, 0))`, c.Email); err != nil {
			return err
		}
		// The wait ends when three codes are old enough: the network's last one by sendPause, its sendMax-th last
		// one by sendTime, and the codesOfAddress-th last one of all networks by sendTime. A code that does not
		// exist is NULL, which greatest leaves out.
		const read = `
SELECT greatest(
  max(asked_at) FILTER (WHERE client = $2) + $3::interval,
  (array_agg(asked_at ORDER BY asked_at DESC) FILTER (WHERE client = $2))[$4::int] + $5::interval,
  (array_agg(asked_at ORDER BY asked_at DESC))[$6::int] + $5::interval,
  now()) - now() FROM open_codes WHERE email = $1 AND asked_at > now() - $5::interval`
		if err := tx.QueryRow(ctx, read, c.Email, c.Client, sendPause, sendMax, sendTime, codesOfAddress).Scan(&wait); err != nil || wait > 0 {
			wait = max(wait, time.Second)
			return err
		}
		const store = `INSERT INTO open_codes (nonce, email, client, mac, name, expires_at) VALUES ($1, $2, $3, $4, $5, now() + $6::interval)`
		_, err := tx.Exec(ctx, store, c.Nonce[:], c.Email, c.Client, c.MAC, c.Name, CodeLife)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("request code: %w", err)
	}
	return wait, nil
}

// tryCode and tryNewest count a try and return whether it was right. tryCode tries the code that has a certain
// nonce, and tryNewest the newest code of the address. The two kinds of tries are counted apart, so that a
// stranger can't use up the tries of the client that has the nonce.
const (
	tryCode = `
UPDATE open_codes SET tries = tries + 1, used = (mac = $2)
WHERE email = $1 AND nonce = $4 AND NOT used AND tries < $3 AND expires_at > now() RETURNING used, name`
	tryNewest = `
UPDATE open_codes SET blind = blind + 1, used = (mac = $2)
WHERE nonce = (SELECT nonce FROM open_codes WHERE email = $1 ORDER BY asked_at DESC LIMIT 1)
  AND NOT used AND blind < $3 AND expires_at > now() RETURNING used, name`
)

// ExchangeCode uses up a login code and returns its account, which it makes if the address has
// none. nonce is the hash of the code's nonce, or nil for the newest code. Each call counts as a
// try, and of several calls with the right code only one succeeds.
//
// A code proves the mailbox. taken reports that nobody had proven the account's mailbox before, so that its
// password, its sessions, its second factor and the access of others have ended (claimAccount). The error is
// ErrCodeInvalid for a wrong code, and ErrCodeExpired if there is no code that could be right.
func (s *Store) ExchangeCode(ctx context.Context, email string, mac, nonce []byte) (u *User, taken bool, err error) {
	right := false
	try, args := tryNewest, []any{email, mac, codeTries}
	if nonce != nil {
		try, args = tryCode, append(args, nonce)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var name string
		if err := tx.QueryRow(ctx, try, args...).Scan(&right, &name); err != nil || !right {
			return err
		}
		var err error
		if u, err = ensureUser(ctx, tx, email, name); err != nil {
			return err
		}
		if !u.EmailVerified {
			if taken, err = claimAccount(ctx, tx, u.ID); err != nil {
				return err
			}
			if u, err = ensureUser(ctx, tx, email, name); err != nil { // again, because claimAccount has changed the account
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
// makes has no password, so only somebody who reads its mail can sign in to it. Its mailbox
// therefore counts as proven.
func ensureUser(ctx context.Context, tx pgx.Tx, email, name string) (*User, error) {
	_, err := tx.Exec(ctx, `INSERT INTO users (email, password_hash, first_name, last_name, phone, email_verified)
		VALUES ($1, '', $2, '', '', true) ON CONFLICT (email) DO NOTHING`, email, name)
	if err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `SELECT `+userColumns+` FROM users WHERE email = $1`, email) // CollectExactlyOneRow returns its error
	return pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[User])
}

// Package accounts owns the plain tables of people, organizations and sessions, and of all that a sign-in needs:
// login codes, password resets, second factors and signing keys. The request handlers (the packages in edge)
// call it. It has no goroutine.
package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence"
)

// ErrEmailTaken says that an account with the e-mail exists.
var ErrEmailTaken = errors.New("accounts: the e-mail is taken")

// Store reads and writes accounts. Its methods may be called by any goroutine.
type Store struct {
	pool     *pgxpool.Pool
	drawTail func() string // draws the random end of an organization's slug
}

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool, drawTail} }

// User is one person's account. The order of its fields is the order of userColumns.
type User struct {
	ID            int64
	PublicID      string
	Email         string // the address in lower case; no two accounts have the same
	PasswordHash  string // empty for an account that signs in only with mailed codes, as buyers do
	FirstName     string
	LastName      string
	Phone         string
	Locale        string
	PlatformAdmin bool
	EmailVerified bool // the person who set the password or other credential has proven to have the mailbox
	TwoFactor     bool // the user must show a second factor at each sign-in
	CreatedAt     time.Time
}

// Name returns the name by which the user is addressed; it may be empty.
func (u *User) Name() string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

// Registration is what somebody enters to become an organizer.
type Registration struct {
	Email        string // must be in lower case, as accounts are looked up by it
	PasswordHash string
	FirstName    string
	LastName     string
	Phone        string
	Organization string // the name of the organization that is made with the account
}

// userColumns are in the order of the fields of User, because rows are read by position.
const userColumns = `id, public_id::text, email, password_hash, first_name, last_name, phone, locale, platform_admin,
	email_verified, totp_active, created_at`

// Register makes a user, and an organization that the user owns. It returns ErrEmailTaken if the
// e-mail address has an account.
func (s *Store) Register(ctx context.Context, r Registration) (u *User, err error) {
	err = persistence.Redraw(func() (err error) {
		u, err = s.insertOwner(ctx, r, slug(r.Organization, s.drawTail()))
		return err
	}, "organizations_slug_key")
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "users_email_key" {
		return nil, ErrEmailTaken
	}
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	return u, nil
}

// insertOwner stores a user, and an organization with the given slug that the user owns, in one
// transaction. The slug may be taken, in which case Register draws another one.
func (s *Store) insertOwner(ctx context.Context, r Registration, slug string) (u *User, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, `INSERT INTO users (email, password_hash, first_name, last_name, phone)
			VALUES ($1, $2, $3, $4, $5) RETURNING `+userColumns,
			r.Email, r.PasswordHash, r.FirstName, r.LastName, r.Phone) // CollectExactlyOneRow returns its error
		if u, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[User]); err != nil {
			return err
		}
		var org int64
		if err := tx.QueryRow(ctx, `INSERT INTO organizations (name, slug) VALUES ($1, $2) RETURNING id`,
			r.Organization, slug).Scan(&org); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO members (org, usr, role) VALUES ($1, $2, 'owner')`, org, u.ID)
		return err
	})
	return u, err
}

// UserByEmail returns the account of an e-mail address in lower case, or nil if there is none.
func (s *Store) UserByEmail(ctx context.Context, email string) (*User, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+userColumns+` FROM users WHERE email = $1`, email) // CollectOneRow returns its error
	u, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[User])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no account is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("user by e-mail: %w", err)
	}
	return u, nil
}

// User returns the account with a number, or nil if there is none.
func (s *Store) User(ctx context.Context, id int64) (*User, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+userColumns+` FROM users WHERE id = $1`, id) // CollectOneRow returns its error
	u, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[User])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no account is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	return u, nil
}

// EnsureAdmin makes the account of an e-mail address, in lower case, an administrator of the
// platform. Anybody may have registered the address before, so an existing account is taken over
// completely: it gets the given password, and its sessions and second factor end; if nobody had proven its
// mailbox, so does what others could do through it (endOthersAccess). An account that
// is an administrator already is left as it is. Several nodes that start at once may all call it.
func (s *Store) EnsureAdmin(ctx context.Context, email, passwordHash string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var id int64
		var proven bool
		err := tx.QueryRow(ctx, `INSERT INTO users (email, password_hash, first_name, last_name, phone, platform_admin, email_verified)
			VALUES ($1, '', '', '', '', true, true)
			ON CONFLICT (email) DO UPDATE SET platform_admin = true
			WHERE NOT users.platform_admin RETURNING id, email_verified`, email).Scan(&id, &proven)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		// If nobody had proven the mailbox, a stranger may have made organizations, keys and
		// webhooks with the account.
		if !proven {
			if err := endOthersAccess(ctx, tx, id); err != nil {
				return err
			}
		}
		if err := empty(ctx, tx, id); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE users SET password_hash = $2 WHERE id = $1`, id, passwordHash)
		return err
	})
	if err != nil {
		return fmt.Errorf("ensure administrator: %w", err)
	}
	return nil
}

// Prune deletes rows that have outlived their use: codes, links, noted names, challenges, numbers of commands,
// sessions and changes of credentials.
func (s *Store) Prune(ctx context.Context) error {
	for _, sql := range []string{
		// The limits of mails to an address look back by sendTime, so these rows are kept for longer than that.
		`DELETE FROM login_codes WHERE expires_at < now() - interval '2 hours'`,
		`DELETE FROM open_codes WHERE expires_at < now() - interval '2 hours'`,
		`DELETE FROM password_resets WHERE expires_at < now() - interval '2 hours'`,
		`DELETE FROM email_confirmations WHERE expires_at < now() - interval '2 hours'`,
		`DELETE FROM buyer_names WHERE noted_at < now() - interval '90 days'`,
		`DELETE FROM challenges WHERE expires_at < now()`,
		`DELETE FROM command_numbers WHERE created_at < now() - interval '25 hours'`,
		`DELETE FROM sessions WHERE least(revoked_at, idle_expires_at, expires_at) < now() - interval '7 days'`,
	} {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("prune identity: %w", err)
		}
	}
	return s.PruneChanges(ctx)
}

// LocaleOf returns the language tag in the account of an e-mail address in lower case, or "" if it
// has none.
func (s *Store) LocaleOf(ctx context.Context, email string) (locale string, err error) {
	err = s.pool.QueryRow(ctx, `SELECT locale FROM users WHERE email = $1`, email).Scan(&locale)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("locale by e-mail: %w", err)
	}
	return locale, nil
}

// SetProfile writes a user's name, phone and locale.
func (s *Store) SetProfile(ctx context.Context, u *User) error {
	const set = `UPDATE users SET first_name = $2, last_name = $3, phone = $4, locale = $5 WHERE id = $1`
	if _, err := s.pool.Exec(ctx, set, u.ID, u.FirstName, u.LastName, u.Phone, u.Locale); err != nil {
		return fmt.Errorf("set a profile: %w", err)
	}
	return nil
}

// Package accounts is the plain tables of people, organizations and sessions,
// and the sequences of numbers that ids carry. The edge calls it; it owns no
// goroutine.
package accounts

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrEmailTaken says that an account with the e-mail exists.
var ErrEmailTaken = errors.New("accounts: the e-mail is taken")

// Store reads and writes accounts.
type Store struct{ pool *pgxpool.Pool }

// New is the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// User is one account.
type User struct {
	ID           int64
	PublicID     string
	Email        string // lower case
	PasswordHash string
	FirstName    string
	LastName     string
	Phone        string
	CreatedAt    time.Time
}

// Organization is who sells.
type Organization struct {
	ID       int64
	PublicID string
	Name     string
	Slug     string
}

// Membership is a user's role in an organization: owner, admin or member.
type Membership struct {
	Org  Organization
	Role string
}

// Registration is what a new organizer tells.
type Registration struct {
	Email        string // lower case
	PasswordHash string
	FirstName    string
	LastName     string
	Phone        string
	Organization string // its name
}

const userColumns = `id, public_id::text, email, password_hash, first_name, last_name, phone, created_at`

// Register makes a user and an organization that the user owns, or says
// ErrEmailTaken.
func (s *Store) Register(ctx context.Context, r Registration) (*User, error) {
	var u *User
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		rows, _ := tx.Query(ctx, `INSERT INTO users (email, password_hash, first_name, last_name, phone)
			VALUES ($1, $2, $3, $4, $5) RETURNING `+userColumns,
			r.Email, r.PasswordHash, r.FirstName, r.LastName, r.Phone) // CollectExactlyOneRow returns its error
		if u, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[User]); err != nil {
			return err
		}
		var org int64
		if err := tx.QueryRow(ctx, `INSERT INTO organizations (name, slug) VALUES ($1, $2) RETURNING id`,
			r.Organization, slug(r.Organization)).Scan(&org); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO members (org, usr, role) VALUES ($1, $2, 'owner')`, org, u.ID)
		return err
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "users_email_key" {
		return nil, ErrEmailTaken
	}
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	return u, nil
}

// slug is a name as it stands in addresses, made unique by a random tail.
func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name))
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '-' }), "-")
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails
	return strings.TrimPrefix(s[:min(len(s), 60)]+"-"+hex.EncodeToString(tail[:]), "-")
}

// UserByEmail returns the account of an e-mail in lower case, or nil.
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

// Memberships returns the user's organizations, the oldest first.
func (s *Store) Memberships(ctx context.Context, user int64) ([]Membership, error) {
	rows, _ := s.pool.Query(ctx, `SELECT o.id, o.public_id::text, o.name, o.slug, m.role
		FROM members m JOIN organizations o ON o.id = m.org WHERE m.usr = $1 ORDER BY o.id`, user) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Membership, err error) {
		err = row.Scan(&m.Org.ID, &m.Org.PublicID, &m.Org.Name, &m.Org.Slug, &m.Role)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("memberships: %w", err)
	}
	return out, nil
}

// Organization returns an organization, or nil.
func (s *Store) Organization(ctx context.Context, id int64) (*Organization, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, public_id::text, name, slug FROM organizations WHERE id = $1`, id) // CollectOneRow returns its error
	o, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Organization])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no organization is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("organization: %w", err)
	}
	return o, nil
}

// CreateSession opens a session with the hash of its first refresh token, and
// returns its id.
func (s *Store) CreateSession(ctx context.Context, user int64, refresh [32]byte, expires time.Time) (string, error) {
	var id string
	err := s.pool.QueryRow(ctx, `INSERT INTO sessions (usr, refresh_hash, expires_at) VALUES ($1, $2, $3) RETURNING id::text`,
		user, refresh[:], expires).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("create session: %w", err)
	}
	return id, nil
}

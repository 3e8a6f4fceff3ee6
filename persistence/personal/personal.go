// Package personal is the only list of what the tables know about a person. They may ask for all of
// it or for its erasure. It owns the table erasures; the others belong to their packages, and
// places names them.
//
// What ledgers know about a person is not here: the ledgers are told to erase it, and the read
// model follows their facts. Copies in days of the journal and in snapshots are dropped when their
// retention ends.
//
// The request handlers (the packages in edge) call Store. It has no goroutine.
package personal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/order"
)

// These are the reasons why an erasure is refused.
var (
	ErrLastOwner = errors.New("personal: an organization keeps an owner")
	ErrPlatform  = errors.New("personal: an administrator of the platform stays one")
	ErrErased    = errors.New("personal: the account is erased already")
)

// Store reads and erases. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Erasure is a person who is being forgotten.
type Erasure struct {
	User      int64
	Address   string // in lower case
	Name      string // may be empty
	Pseudonym string // replaces the address
}

func (e *Erasure) namedArgs() pgx.NamedArgs {
	return pgx.NamedArgs{"user": e.User, "address": e.Address, "name": e.Name, "pseudonym": e.Pseudonym}
}

// Begin detaches an account from its person: its sessions end, and nothing can sign in to it any
// more. The erasure is open from then on, until Finish has done the rest. It returns ErrLastOwner,
// ErrPlatform or ErrErased if it refuses.
func (s *Store) Begin(ctx context.Context, user int64, pseudonym string) (e Erasure, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		e = Erasure{User: user, Pseudonym: pseudonym}
		var admin bool
		err := tx.QueryRow(ctx, `SELECT email, trim(first_name || ' ' || last_name), platform_admin FROM users WHERE id = $1 FOR NO KEY UPDATE`,
			user).Scan(&e.Address, &e.Name, &admin)
		switch {
		case err != nil:
			return err
		case admin:
			return ErrPlatform
		case order.IsPseudonym(e.Address): // by another request
			return ErrErased
		}
		if err := refuseLastOwner(ctx, tx, user); err != nil {
			return err
		}
		for _, sql := range []string{
			`INSERT INTO erasures (usr, address, name, pseudonym) VALUES (@user, @address, @name, @pseudonym)`,
			`UPDATE users SET email = @pseudonym, first_name = '', last_name = '', phone = '', locale = '', password_hash = '',
  totp_active = false, totp_secret = NULL WHERE id = @user`,
			`DELETE FROM challenges WHERE usr = @user`,
			`DELETE FROM password_resets WHERE usr = @user`,
			`DELETE FROM email_confirmations WHERE usr = @user`,
			`DELETE FROM recovery_codes WHERE usr = @user`,
			`UPDATE sessions SET revoked_at = now() WHERE usr = @user AND revoked_at IS NULL`,
		} {
			if _, err := tx.Exec(ctx, sql, e.namedArgs()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return e, fmt.Errorf("begin an erasure: %w", err)
	}
	return e, nil
}

// refuseLastOwner returns ErrLastOwner for the last owner of an organization. It locks the
// organizations that the user owns, as all code does that changes owners.
func refuseLastOwner(ctx context.Context, tx pgx.Tx, user int64) error {
	const lock = `
SELECT EXISTS (SELECT FROM members other WHERE other.org = o.id AND other.usr <> $1 AND other.role = 'owner')
FROM organizations o JOIN members m ON m.org = o.id WHERE m.usr = $1 AND m.role = 'owner' ORDER BY o.id FOR NO KEY UPDATE OF o`
	rows, _ := tx.Query(ctx, lock, user) // CollectRows returns its error
	others, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if err != nil {
		return err
	}
	for _, other := range others {
		if !other {
			return ErrLastOwner
		}
	}
	return nil
}

// Open lists some of the erasures that were begun before a time and are not finished, in random
// order, so that those that fail each time do not keep the others waiting.
func (s *Store) Open(ctx context.Context, before time.Time, limit int) ([]Erasure, error) {
	const find = `SELECT usr, address, name, pseudonym FROM erasures WHERE done_at IS NULL AND begun_at < $1 ORDER BY random() LIMIT $2`
	rows, _ := s.pool.Query(ctx, find, before, limit) // CollectRows returns its error
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Erasure])
	if err != nil {
		return nil, fmt.Errorf("open erasures: %w", err)
	}
	return open, nil
}

// Finish erases the person from all places. Before that, the ledgers must have erased the person,
// and the followers must have applied their facts.
func (s *Store) Finish(ctx context.Context, e Erasure) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		for _, p := range places {
			if _, err := tx.Exec(ctx, p.erase, e.namedArgs()); err != nil {
				return fmt.Errorf("%s: %w", p.table, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("finish an erasure: %w", err)
	}
	return nil
}

// Sections returns the parts of a person's export that no record of the API shows, each with its
// rows.
func (s *Store) Sections(ctx context.Context, user int64, address string) iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		of := Erasure{User: user, Address: address}
		for _, p := range places {
			if p.section == "" {
				continue
			}
			rows, _ := s.pool.Query(ctx, p.read, of.namedArgs()) // CollectRows returns its error
			list, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
			if err != nil {
				err = fmt.Errorf("export %s: %w", p.table, err)
			}
			if !yield(Section{p.section, list}, err) || err != nil {
				return
			}
		}
	}
}

// Section is a part of an export.
type Section struct {
	Name string
	Rows []json.RawMessage
}

// Package personal has the only list of what the tables know about a person (places). A person may
// ask for a copy of all of it or for its erasure, and both work from this list. The package owns
// the table erasures; the other tables belong to their packages.
//
// What ledgers know about a person is not in the list: the ledgers are told to erase it, and the
// read model follows their facts. Old days of the journal and old snapshots still contain it; they
// are dropped when their retention ends.
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

// These are the reasons why Begin refuses an erasure. The first two no longer apply once the
// organization has another owner, or the user is no administrator any more.
var (
	ErrLastOwner = errors.New("personal: an organization keeps an owner")
	ErrPlatform  = errors.New("personal: an administrator of the platform stays one")
	ErrErased    = errors.New("personal: the account is erased already")
)

// Store reads and erases what the tables know about people. Its methods may be called by any
// goroutine.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Erasure is a person who is being forgotten. The old address is kept in it until Finish, because
// it is the key to most of the rows that must be erased.
type Erasure struct {
	User      int64
	Address   string // in lower case
	Name      string // may be empty
	Pseudonym string // replaces the address
}

// namedArgs returns the parameters of the statements in places and in Begin.
func (e *Erasure) namedArgs() pgx.NamedArgs {
	return pgx.NamedArgs{"user": e.User, "address": e.Address, "name": e.Name, "pseudonym": e.Pseudonym}
}

// Begin separates an account from its person: its sessions end, and nobody can sign in to it any
// more. The erasure is open from then on, until Finish has done the rest. The error wraps
// ErrLastOwner, ErrPlatform or ErrErased if Begin refuses.
func (s *Store) Begin(ctx context.Context, user int64, pseudonym string) (e Erasure, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		e = Erasure{User: user, Pseudonym: pseudonym}
		// The lock on the user makes a second request for the same erasure wait. It then finds
		// the pseudonym and gets ErrErased.
		var admin bool
		err := tx.QueryRow(ctx, `SELECT email, trim(first_name || ' ' || last_name), platform_admin FROM users WHERE id = $1 FOR NO KEY UPDATE`,
			user).Scan(&e.Address, &e.Name, &admin)
		switch {
		case err != nil:
			return err
		case admin:
			return ErrPlatform
		case order.IsPseudonym(e.Address): // an earlier request has erased the person
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

// refuseLastOwner returns ErrLastOwner if the user is the only owner of some organization. It locks
// all organizations that the user owns, in the order of their ids. Everything that changes owners
// takes these locks, so two owners can't leave at the same time.
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

// Open lists at most limit erasures that were begun before a time and are not finished. Their order
// is random, so that a few that fail each time can't keep the others waiting.
func (s *Store) Open(ctx context.Context, before time.Time, limit int) ([]Erasure, error) {
	const find = `SELECT usr, address, name, pseudonym FROM erasures WHERE done_at IS NULL AND begun_at < $1 ORDER BY random() LIMIT $2`
	rows, _ := s.pool.Query(ctx, find, before, limit) // CollectRows returns its error
	open, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Erasure])
	if err != nil {
		return nil, fmt.Errorf("open erasures: %w", err)
	}
	return open, nil
}

// Finish erases the person from all places, in one transaction. Before that, the ledgers must have
// erased the person, and the followers must have applied those facts. A follower that came later
// could write the old address into a table again.
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

// Sections returns those parts of a person's export that no record of the API shows, each with its
// rows. address is in lower case. The iteration ends at the first error.
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

// Section is one part of an export. Each row is a JSON object that is shown to the person as it is.
type Section struct {
	Name string
	Rows []json.RawMessage
}

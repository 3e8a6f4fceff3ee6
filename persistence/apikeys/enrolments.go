package apikeys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// These bound the codes by which a gate's device gets its key.
const (
	EnrolmentLife = 10 * time.Minute // how long a code may be exchanged
	MaxEnrolments = 100              // how many codes of an organization may be open, which means that they can still be exchanged
	enrolmentKept = 24 * time.Hour   // how long a code is remembered after its end, so that a device is told why it fails
)

// These are the reasons why a code is not given, or not exchanged.
var (
	ErrTooManyCodes = errors.New("apikeys: the organization has as many open codes as it may")
	ErrNoCode       = errors.New("apikeys: there is no such code")
	ErrCodeUsed     = errors.New("apikeys: the code was used")
	ErrCodeOver     = errors.New("apikeys: the code has ended")
)

// Enrolment is a code that is shown to a gate's device, with the rights and the end of the API key that the device gets
// for it.
type Enrolment struct {
	ID  int64
	Org int64
	// Gate and Events become the Gate and Events of the key: what it counts scans for, and where it checks in.
	Gate      string
	Events    []int64
	Guests    bool      // whether the key may search for guests by name
	KeyEnds   time.Time // when the key that is made for the code will end
	CreatedBy int64     // the number of the user who made the code (users.id)
	EndsAt    time.Time // when the code can no longer be exchanged
	Key       *int64    // the API key that the device got for the code; nil until then
}

// enrolmentColumns are in the order of the fields of Enrolment, because rows are read by position.
const enrolmentColumns = `id, org, gate, events, guests, key_ends, created_by, ends_at, key`

// AddEnrolment stores the hash of a code, which ends EnrolmentLife from now, and returns its row. It deletes
// codes that ended long ago. It returns ErrTooManyCodes if the organization has MaxEnrolments codes that can
// still be exchanged.
func (s *Store) AddEnrolment(ctx context.Context, e *Enrolment, code string, now time.Time) (*Enrolment, error) {
	hash := sha256.Sum256([]byte(code))
	var added *Enrolment
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		// Only one request at a time counts an organization's codes.
		if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, e.Org); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM gate_enrolments WHERE org = $1 AND ends_at < $2`, e.Org, now.Add(-enrolmentKept)); err != nil {
			return err
		}
		var open int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM gate_enrolments WHERE org = $1 AND ends_at > $2 AND key IS NULL`, e.Org, now).Scan(&open); err != nil {
			return err
		}
		if open >= MaxEnrolments {
			return ErrTooManyCodes
		}
		rows, _ := tx.Query(ctx, `INSERT INTO gate_enrolments (hash, org, gate, events, guests, key_ends, created_by, ends_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING `+enrolmentColumns,
			hash[:], e.Org, e.Gate, e.Events, e.Guests, e.KeyEnds, e.CreatedBy, now.Add(EnrolmentLife)) // CollectExactlyOneRow returns its error
		added, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Enrolment])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("add an enrolment: %w", err)
	}
	return added, nil
}

// GetEnrolment returns an organization's enrolment, or nil.
func (s *Store) GetEnrolment(ctx context.Context, org, id int64) (*Enrolment, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+enrolmentColumns+` FROM gate_enrolments WHERE id = $1 AND org = $2`, id, org) // CollectOneRow returns its error
	e, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Enrolment])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no enrolment is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("enrolment: %w", err)
	}
	return e, nil
}

// ExchangeCode uses a code up and makes the key of its enrolment. form returns what the key is to have, and draw
// draws its secret. If ExchangeCode returns ErrNoCode, ErrCodeUsed, ErrCodeOver or ErrTooMany, nothing has
// changed.
func (s *Store) ExchangeCode(ctx context.Context, code string, now time.Time, form func(*Enrolment) *Key, draw Draw) (*Key, error) {
	hash := sha256.Sum256([]byte(code))
	var made *Key
	err := persistence.Redraw(func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			e, err := findOpen(ctx, tx, hash, now)
			if err != nil {
				return err
			}
			k := form(e)
			publicID, secret := draw(k.Environment)
			// The hash of the code is the command by which insertKey would know a repeat. There is none: findOpen has
			// locked the code's row, and the update below marks the code as used.
			if made, err = insertKey(ctx, tx, [16]byte(hash[:16]), k, publicID, secret); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE gate_enrolments SET key = $2 WHERE id = $1`, e.ID, made.ID)
			return err
		})
	}, publicIDs)
	if err != nil {
		return nil, fmt.Errorf("exchange an enrolment's code: %w", err)
	}
	return made, nil
}

// findOpen returns the enrolment of a code that can be exchanged, and locks its row. If two devices send the
// same code at once, the second therefore waits, and then finds that the code is used.
func findOpen(ctx context.Context, tx pgx.Tx, hash [sha256.Size]byte, now time.Time) (*Enrolment, error) {
	rows, _ := tx.Query(ctx, `SELECT `+enrolmentColumns+` FROM gate_enrolments WHERE hash = $1 FOR UPDATE`, hash[:]) // CollectOneRow returns its error
	e, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Enrolment])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, ErrNoCode
	case err != nil:
		return nil, err
	case e.Key != nil:
		return nil, ErrCodeUsed
	case !now.Before(e.EndsAt):
		return nil, ErrCodeOver
	}
	return e, nil
}

// ListGates returns a page of the API keys that gates' devices have, as List does of all keys.
func (s *Store) ListGates(ctx context.Context, org, before int64, limit int) ([]*Key, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM api_keys
		WHERE org = $1 AND events IS NOT NULL AND ($2 = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, org, before, limit) // CollectRows returns its error
	keys, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Key])
	if err != nil {
		return nil, fmt.Errorf("list gates: %w", err)
	}
	return keys, nil
}

// Package program has the plain tables of what an organizer says about an event besides the event's record: the
// sessions of its schedule, the sections of its room, and how its page looks. The request handlers read and write
// them directly. The package has no goroutine.
//
// A session or section has the id of the command that made it. A client that repeats a command therefore finds its
// first row and does not make a second one.
package program

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// foreignKeyViolation is the SQLSTATE of a row that another row still refers to.
const foreignKeyViolation = "23503"

// MaxRows is how many sessions, and how many sections, an event may have.
const MaxRows = 500

// A Store refuses a change with one of these errors, which callers tell apart with errors.Is.
var (
	ErrTooMany  = errors.New("program: the event has as many as it may")
	ErrNotFound = errors.New("program: the event has no such row")
	ErrInUse    = errors.New("program: a ticket type names the section")
)

// Store reads and writes the tables.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Program is everything that an organizer says about an event besides its record.
type Program struct {
	Sessions      []Session
	Sections      []Section
	Customization []byte // JSON; nil: nothing was customized
}

// Read returns an event's program. It sends the three queries in one batch, so that a page of the event costs one
// round trip to the database.
func (s *Store) Read(ctx context.Context, event int64) (*Program, error) {
	p := new(Program)
	var b pgx.Batch
	b.Queue(selectSessions, event).Query(func(rows pgx.Rows) (err error) {
		p.Sessions, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Session])
		return err
	})
	b.Queue(selectSections, event).Query(func(rows pgx.Rows) (err error) {
		p.Sections, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Section])
		return err
	})
	b.Queue(`SELECT document FROM page_customizations WHERE event = $1`, event).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&p.Customization}, func() error { return nil })
		return err
	})
	if err := s.pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("program of event %d: %w", event, err)
	}
	return p, nil
}

// insert adds a row to one of the tables. It returns ErrTooMany if the event has MaxRows other rows there, and
// changes nothing if the row is there already: the statement has ON CONFLICT DO NOTHING. The count excludes the row's
// own id, so that a repeated command at the limit succeeds like the first. An advisory lock on table and event makes
// inserts wait for each other: two could otherwise both count MaxRows - 1.
func (s *Store) insert(ctx context.Context, table string, event int64, id uuid.UUID, statement string, args ...any) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, $2))`, table, event); err != nil {
			return err
		}
		var others int
		count := `SELECT count(*) FROM ` + pgx.Identifier{table}.Sanitize() + ` WHERE event = $1 AND id <> $2`
		if err := tx.QueryRow(ctx, count, event, id).Scan(&others); err != nil {
			return err
		}
		if others >= MaxRows {
			return ErrTooMany
		}
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

// edit reads a row, changes it with change and writes it with the statement write, all in one transaction. find must
// end in FOR UPDATE: the row lock makes a second edit wait and see the result of the first. values returns the
// arguments of write. edit returns ErrNotFound if the event has no such row.
func edit[Row any](ctx context.Context, s *Store, find, write string, event int64, id uuid.UUID, change func(*Row) error, values func(*Row) []any) (*Row, error) {
	var row *Row
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, find, event, id) // CollectExactlyOneRow returns its error
		var err error
		if row, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Row]); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return ErrNotFound
			}
			return err
		}
		if err = change(row); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, write, values(row)...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return row, nil
}

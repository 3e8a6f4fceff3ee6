// Package courses has the plain tables of online courses: what they teach, and how far their learners have come. The
// request handlers read and write them directly, and no event's journal has them. The package has no goroutine.
package courses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/course"
)

// Store reads and writes the tables.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

const selectContent = `SELECT content FROM courses WHERE event = $1`

// Read returns what an event teaches. If nothing has been written, it is an empty unified course.
func (s *Store) Read(ctx context.Context, event int64) (*course.Content, error) {
	c, err := readContent(s.pool.QueryRow(ctx, selectContent, event))
	if err != nil {
		return nil, fmt.Errorf("course of event %d: %w", event, err)
	}
	return c, nil
}

// readContent reads a course from the row of selectContent. No row means that nothing has been written yet, which is
// no error.
func readContent(row pgx.Row) (*course.Content, error) {
	c := &course.Content{Type: course.Unified}
	var document []byte
	err := row.Scan(&document)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	return c, json.Unmarshal(document, c)
}

// Edit changes what an event teaches. change gets what Read returns and changes it; Edit writes and returns the
// changed course. If change returns an error, nothing is written. An advisory lock on the event lets one edit
// run at a time. A row lock would not do, because the first edit finds no row to lock.
func (s *Store) Edit(ctx context.Context, event int64, change func(*course.Content) error) (c *course.Content, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('courses', $1))`, event); err != nil {
			return err
		}
		if c, err = readContent(tx.QueryRow(ctx, selectContent, event)); err != nil {
			return err
		}
		if err := change(c); err != nil {
			return err
		}
		document, err := json.Marshal(c)
		if err != nil {
			return err
		}
		const write = `INSERT INTO courses (event, content) VALUES ($1, $2) ON CONFLICT (event) DO UPDATE SET content = excluded.content`
		_, err = tx.Exec(ctx, write, event, document)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("edit course of event %d: %w", event, err)
	}
	return c, nil
}

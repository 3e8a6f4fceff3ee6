package attendees

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Note is what an organization has written down about a customer. Customers never see it.
type Note struct {
	ID        uuid.UUID
	Number    int64   // higher for later ones
	Author    *string // e-mail; nil: an API key
	Body      string
	CreatedAt time.Time
}

const noteColumns = `id, number, (SELECT email FROM users u WHERE u.id = author), body, created_at`

// AddNote adds a note about a customer. author is the user who writes it, or 0 for an API key. If a
// note with this id is there already, AddNote returns that one, so that a repeated request adds
// nothing.
func (s *Store) AddNote(ctx context.Context, c *Customer, id uuid.UUID, author int64, body string) (*Note, error) {
	const insert = `
INSERT INTO customer_notes (id, customer, author, body) VALUES ($1, $2, nullif($3::bigint, 0), $4)
ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING ` + noteColumns
	rows, _ := s.pool.Query(ctx, insert, id, c.Number, author, body) // CollectExactlyOneRow returns its error
	// The update changes nothing. Without it, Postgres would not return the row that was there
	// already.
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Note])
	if err != nil {
		return nil, fmt.Errorf("add note: %w", err)
	}
	return n, nil
}

// Notes lists at most limit notes about a customer, the newest first. All of them have numbers
// below before, so the number of a page's last note leads to the next page.
func (s *Store) Notes(ctx context.Context, c *Customer, before int64, limit int) ([]Note, error) {
	const find = `SELECT ` + noteColumns + ` FROM customer_notes WHERE customer = $1 AND number < $2 ORDER BY number DESC LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, c.Number, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Note])
	if err != nil {
		return nil, fmt.Errorf("notes about customer %d: %w", c.Number, err)
	}
	return list, nil
}

// DeleteNote deletes a note about a customer, or returns ErrNotFound.
func (s *Store) DeleteNote(ctx context.Context, c *Customer, id uuid.UUID) error {
	done, err := s.pool.Exec(ctx, `DELETE FROM customer_notes WHERE customer = $1 AND id = $2`, c.Number, id)
	if err != nil {
		return fmt.Errorf("delete note %s: %w", id, err)
	}
	if done.RowsAffected() == 0 {
		return ErrNotFound
	}
	return nil
}

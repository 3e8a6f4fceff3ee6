package program

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Customization returns how an event's page looks, as JSON; nil if nothing was customized.
func (s *Store) Customization(ctx context.Context, event int64) ([]byte, error) {
	var document []byte
	err := s.pool.QueryRow(ctx, `SELECT document FROM page_customizations WHERE event = $1`, event).Scan(&document)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("page of event %d: %w", event, err)
	}
	return document, nil
}

// Customize changes how an event's page looks. change gets what Customization returns, and its result is written; if
// change returns an error, nothing is written. An advisory lock on the event lets one change run at a time. A row
// lock would not do, because the first change finds no row to lock.
func (s *Store) Customize(ctx context.Context, event int64, change func(document []byte) ([]byte, error)) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		const lock = `SELECT pg_advisory_xact_lock(hashtextextended('page_customizations', $1))`
		if _, err := tx.Exec(ctx, lock, event); err != nil {
			return err
		}
		var document []byte
		err := tx.QueryRow(ctx, `SELECT document FROM page_customizations WHERE event = $1`, event).Scan(&document)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if document, err = change(document); err != nil {
			return err
		}
		const write = `INSERT INTO page_customizations (event, document) VALUES ($1, $2) ON CONFLICT (event) DO UPDATE SET document = excluded.document`
		_, err = tx.Exec(ctx, write, event, document)
		return err
	})
	if err != nil {
		return fmt.Errorf("customize page of event %d: %w", event, err)
	}
	return nil
}

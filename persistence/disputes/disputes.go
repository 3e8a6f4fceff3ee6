// Package disputes keeps the payments that buyers want back through their bank or the payment provider, as the
// providers report them. It owns the table disputes, and has no goroutines.
//
// A provider may report a dispute more than once, and in any order. Each dispute has one row here. A row that
// is won or lost never becomes open again. If a dispute is open when its row is inserted, the same transaction
// queues the mails about it.
package disputes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/persistence/mailqueue"
)

// Store reads and writes disputes. Its methods may be called by any goroutine.
type Store struct {
	pool  *pgxpool.Pool
	mails *mailqueue.Queue
}

// New makes a store on a database that is up to date.
func New(pool *pgxpool.Pool, mails *mailqueue.Queue) *Store { return &Store{pool, mails} }

// Open is the status of a dispute that is not decided yet. The others are "won" and "lost".
const Open = "open"

// Dispute is a payment that a buyer wants back through the bank or the payment provider.
type Dispute struct {
	Seq      int64 // higher for disputes that were reported later
	Provider string
	ID       string // the provider's id of the dispute
	Org      int64
	Order    engine.OrderID
	Attempt  string // reference of the attempt to pay
	Amount   int64  // minor units
	Currency string
	Reason   string // the provider's words, or Stripe's word for them; "" if it gives none
	Status   string
	OpenedAt time.Time
	DueBy    time.Time // until when it can be answered at the provider; zero if it can't be, or the provider does not say
	ClosedAt time.Time // zero while it is open; Note takes the present time if the provider does not say
}

// Note stores a dispute as its provider reports it now. If the dispute is open and was not known before, the
// letters are queued. An open report about a dispute that has ended changes nothing.
func (s *Store) Note(ctx context.Context, d *Dispute, letters ...mailqueue.Mail) error {
	const note = `
INSERT INTO disputes AS known (provider, id, org, order_id, attempt, amount, currency, reason, status, opened_at, due_by, closed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, CASE WHEN $9 <> 'open' THEN coalesce($12, now()) END)
ON CONFLICT (provider, id) DO UPDATE SET amount = excluded.amount, currency = excluded.currency, reason = excluded.reason, status = excluded.status,
  due_by = excluded.due_by, closed_at = coalesce(known.closed_at, excluded.closed_at)
WHERE known.status = 'open' OR excluded.status <> 'open'
RETURNING xmax = 0`
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var isNew bool
		err := tx.QueryRow(ctx, note, d.Provider, d.ID, d.Org, (*[16]byte)(&d.Order), d.Attempt, d.Amount, d.Currency, d.Reason, d.Status, d.OpenedAt,
			momentOrNull(d.DueBy), momentOrNull(d.ClosedAt)).Scan(&isNew)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // the dispute has ended, and this report is older
			return nil
		case err != nil || !isNew || d.Status != Open:
			return err
		}
		return s.mails.AddIn(ctx, tx, letters...)
	})
	if err != nil {
		return fmt.Errorf("note dispute %s: %w", d.ID, err)
	}
	return nil
}

// momentOrNull returns a time for a column that may be null: nil for the zero time.
func momentOrNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// List lists at most limit of an organization's disputes, the one that was reported last first. All have a Seq
// below before; 0 gives the first page.
func (s *Store) List(ctx context.Context, org, before int64, limit int) ([]Dispute, error) {
	const find = `
SELECT seq, provider, id, org, order_id, attempt, amount, currency, reason, status, opened_at, due_by, closed_at FROM disputes
WHERE org = $1 AND ($2 = 0 OR seq < $2) ORDER BY seq DESC LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, org, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Dispute, err error) {
		var due, closed *time.Time
		err = row.Scan(&d.Seq, &d.Provider, &d.ID, &d.Org, (*[16]byte)(&d.Order), &d.Attempt, &d.Amount, &d.Currency, &d.Reason, &d.Status, &d.OpenedAt, &due, &closed)
		if due != nil {
			d.DueBy = *due
		}
		if closed != nil {
			d.ClosedAt = *closed
		}
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("disputes: %w", err)
	}
	return list, nil
}

// Package receipts keeps the money that came by bank transfer. Organizers report it, by hand or with their
// bank's statements. The package also keeps which transfers buyers say that they have sent. It owns the tables
// receipts and transfers_sent, and has no goroutines.
//
// A receipt that is reported twice is kept once. The receipts of an attempt to pay are numbered in the order in
// which they become visible. So what the attempt's order has heard of is always the beginning of their list.
package receipts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
)

// Store reads and writes receipts. Its methods may be called by any goroutine.
type Store struct{ pool *pgxpool.Pool }

// New makes a store on a database that is up to date.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// MaxPerAttempt is how many receipts count for an attempt to pay: each that comes after the attempt was paid makes a
// refund in its order's record, and a mail to its buyer. A receipt beyond the limit is kept as one that names no order.
const MaxPerAttempt = 20

// Receipt is money that came.
type Receipt struct {
	Seq      int64
	Org      int64
	Name     string // unique in the organization; a receipt that is reported again has the same name
	ByHand   bool
	Order    engine.OrderID // zero if it names no order of the organization
	Attempt  string         // the reference of the attempt to pay; "" if it names no order
	Amount   int64          // minor units
	Currency string
	Asked    int64 // what the attempt asks for, minor units; 0 without one
	Fits     bool  // whether it is in the order's currency
	Day      time.Time
	Payer    string
	Words    string // what the payer wrote
	Note     string
	Teller   string // the user or API key that reported it
	ToldAt   time.Time
}

// Add keeps receipts of an organization, and returns which of them were new. A line of a bank statement may be a
// receipt that an organizer has reported by hand before, with the same amount, currency and attempt. Such a line
// is no new money: the receipt takes the line's name.
func (s *Store) Add(ctx context.Context, org int64, told []Receipt) ([]bool, error) {
	fresh := make([]bool, len(told))
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('receipts'), $1)`, int32(org)); err != nil { //nolint:gosec // which organizations share a lock does not matter
			return err
		}
		var b pgx.Batch
		for i := range told {
			queueAdd(&b, org, &told[i], &fresh[i])
		}
		return tx.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("add receipts: %w", err)
	}
	return fresh, nil
}

// queueAdd queues the statement that keeps one receipt, and sets *fresh if it was new. A name that is known changes
// nothing. A bank's line that fits a receipt reported by hand (Add) takes that one's place. If the attempt has
// MaxPerAttempt receipts already, the new one is kept without order and attempt.
func queueAdd(b *pgx.Batch, org int64, r *Receipt, fresh *bool) {
	const add = `
WITH known AS (SELECT FROM receipts WHERE org = $1 AND name = $2),
counts AS (SELECT count(*) < $15 AS it FROM receipts WHERE attempt = $5),
told AS (
  UPDATE receipts SET name = $2, by_hand = false, day = $9, payer = $10, words = $11 WHERE seq = (
    SELECT seq FROM receipts WHERE NOT $3 AND by_hand AND org = $1 AND attempt = $5 AND amount = $6 AND currency = $7
      AND NOT EXISTS (SELECT FROM known) ORDER BY seq LIMIT 1)
  RETURNING seq)
INSERT INTO receipts (org, name, by_hand, order_id, attempt, amount, currency, fits, day, payer, words, note, teller, asked)
SELECT $1, $2, $3, CASE WHEN it THEN $4::uuid END, CASE WHEN it THEN $5 END, $6, $7, it AND $8, $9, $10, $11, $12, $13, $14
FROM counts WHERE NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM told)
ON CONFLICT (org, name) DO NOTHING`
	var order *[16]byte
	var attempt *string
	if r.Attempt != "" {
		order, attempt = (*[16]byte)(&r.Order), &r.Attempt
	}
	args := []any{org, r.Name, r.ByHand, order, attempt, r.Amount, r.Currency, r.Fits, r.Day, r.Payer, r.Words, r.Note, r.Teller, r.Asked, MaxPerAttempt}
	b.Queue(add, args...).Exec(func(tag pgconn.CommandTag) error {
		*fresh = tag.RowsAffected() > 0
		return nil
	})
}

// Sum is what came for an attempt to pay, in its order's currency.
type Sum struct {
	Amount   int64 // minor units; 0 if nothing came
	Currency string
	Last     time.Time // day of the last receipt; zero if nothing came
}

// Sum adds up what came for an attempt to pay, in the order's currency, and returns the day of the last receipt. Receipts
// that don't fit are left out; without any, the sum is zero.
func (s *Store) Sum(ctx context.Context, attempt string) (Sum, error) {
	var sum Sum
	var day *time.Time
	const add = `SELECT coalesce(sum(amount), 0)::bigint, coalesce(max(currency), ''), max(day) FROM receipts WHERE attempt = $1 AND fits`
	if err := s.pool.QueryRow(ctx, add, attempt).Scan(&sum.Amount, &sum.Currency, &day); err != nil {
		return sum, fmt.Errorf("sum receipts: %w", err)
	}
	if day != nil {
		sum.Last = *day
	}
	return sum, nil
}

// These are the states of a receipt, by all that came for its attempt.
const (
	Matched   = "matched"   // as much as was asked for
	Underpaid = "underpaid" // less
	Overpaid  = "overpaid"  // more
	Currency  = "currency"  // it is in another currency than the order
	Unknown   = "unknown"   // it names no order of the organization, several, one that has MaxPerAttempt receipts, or one that takes no more money (DetachOrder)
)

// State is a receipt with the state that all receipts for its attempt give it.
type State struct {
	Receipt
	State string
	Came  int64 // all that came for the attempt, in minor units of the order's currency
}

const columns = `r.seq, r.org, r.name, r.by_hand, coalesce(r.order_id, '00000000-0000-0000-0000-000000000000'), coalesce(r.attempt, ''),
  r.amount, r.currency, r.asked, r.fits, r.day, r.payer, r.words, r.note, r.teller, r.told_at, came.sum,
  CASE WHEN r.attempt IS NULL THEN 'unknown' WHEN NOT r.fits THEN 'currency' WHEN came.sum < r.asked THEN 'underpaid'
    WHEN came.sum > r.asked THEN 'overpaid' ELSE 'matched' END AS state
FROM receipts r CROSS JOIN LATERAL (
  SELECT coalesce(sum(amount), 0)::bigint AS sum FROM receipts o WHERE o.attempt = r.attempt AND o.fits) came`

func scanState(row pgx.CollectableRow) (s State, err error) {
	r := &s.Receipt
	err = row.Scan(&r.Seq, &r.Org, &r.Name, &r.ByHand, (*[16]byte)(&r.Order), &r.Attempt, &r.Amount, &r.Currency, &r.Asked, &r.Fits, &r.Day,
		&r.Payer, &r.Words, &r.Note, &r.Teller, &r.ToldAt, &s.Came, &s.State)
	return s, err
}

// Named returns the receipts of an organization with some names.
func (s *Store) Named(ctx context.Context, org int64, names []string) ([]State, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` WHERE r.org = $1 AND r.name = ANY($2)`, org, names) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanState)
	if err != nil {
		return nil, fmt.Errorf("named receipts: %w", err)
	}
	return list, nil
}

// Differing lists at most limit receipts of an organization that are not Matched, the one that was reported last
// first. All have a Seq below before; 0 gives the first page.
func (s *Store) Differing(ctx context.Context, org, before int64, limit int) ([]State, error) {
	const find = `SELECT ` + columns + ` WHERE r.org = $1 AND ($2 = 0 OR r.seq < $2)
  AND (r.attempt IS NULL OR NOT r.fits OR came.sum <> r.asked) ORDER BY r.seq DESC LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, org, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanState)
	if err != nil {
		return nil, fmt.Errorf("differing receipts: %w", err)
	}
	return list, nil
}

// Of lists what came for an attempt to pay in its order's currency, the oldest first.
func (s *Store) Of(ctx context.Context, attempt string) ([]State, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` WHERE r.attempt = $1 AND r.fits ORDER BY r.seq`, attempt) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanState)
	if err != nil {
		return nil, fmt.Errorf("receipts of an attempt: %w", err)
	}
	return list, nil
}

// Unsettled lists at most limit attempts to pay whose order has not heard yet of all that came for them.
func (s *Store) Unsettled(ctx context.Context, limit int) ([]string, error) {
	const find = `SELECT attempt FROM receipts WHERE NOT settled AND attempt IS NOT NULL GROUP BY attempt ORDER BY min(seq) LIMIT $1`
	rows, _ := s.pool.Query(ctx, find, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("unsettled receipts: %w", err)
	}
	return list, nil
}

// Settle notes that an attempt's order has heard of the attempt's receipts up to the seq through, which is 0 for
// none. Receipts in another currency do not concern the order, so they count as settled too.
func (s *Store) Settle(ctx context.Context, attempt string, through int64) error {
	if _, err := s.pool.Exec(ctx, `UPDATE receipts SET settled = true WHERE attempt = $1 AND (seq <= $2 OR NOT fits) AND NOT settled`, attempt, through); err != nil {
		return fmt.Errorf("settle receipts: %w", err)
	}
	return nil
}

// DetachOrder takes order and attempt from those receipts of an attempt that its order has not heard of, because the
// order takes no more money. A person finds them among the receipts that differ.
func (s *Store) DetachOrder(ctx context.Context, attempt string) error {
	const detach = `UPDATE receipts SET order_id = NULL, attempt = NULL, fits = false WHERE attempt = $1 AND NOT settled`
	if _, err := s.pool.Exec(ctx, detach, attempt); err != nil {
		return fmt.Errorf("detach an order from receipts: %w", err)
	}
	return nil
}

// TellSent notes that the buyer of an order says that the transfer was sent. A later call changes nothing.
func (s *Store) TellSent(ctx context.Context, order engine.OrderID) error {
	const tell = `INSERT INTO transfers_sent (order_id) VALUES ($1) ON CONFLICT DO NOTHING`
	if _, err := s.pool.Exec(ctx, tell, (*[16]byte)(&order)); err != nil {
		return fmt.Errorf("tell a transfer as sent: %w", err)
	}
	return nil
}

// SentAt returns when the buyer of an order said that its transfer was sent; zero if that was not said.
func (s *Store) SentAt(ctx context.Context, order engine.OrderID) (at time.Time, err error) {
	const find = `SELECT told_at FROM transfers_sent WHERE order_id = $1`
	err = s.pool.QueryRow(ctx, find, (*[16]byte)(&order)).Scan(&at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return at, fmt.Errorf("find a sent transfer: %w", err)
	}
	return at, nil
}

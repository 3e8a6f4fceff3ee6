package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/event"
)

// unsettled says whether the provider may have more to say of an attempt. One
// that expired or was cancelled here may still be paid there, and one that
// failed may be tried again where the buyer was sent.
func unsettled(a *event.Attempt) bool {
	switch a.Status {
	case event.AttemptSucceeded, event.AttemptRefunded:
		return false
	case event.AttemptFailed:
		return a.URL != ""
	default:
		return true
	}
}

// upsertPayments queues the attempts that differ from those in the table.
func (w *Writer) upsertPayments() {
	const upsert = `
INSERT INTO payments (reference, order_id, amount, received, created_at, next_check, provider, status)
SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[])
ON CONFLICT (reference) DO UPDATE
SET received = excluded.received, next_check = excluded.next_check, status = excluded.status`
	var references, providers, statuses []string
	var orders [][16]byte
	var amounts, received []int64
	var created, checks []*time.Time
	for i := range w.orders {
		o := &w.orders[i]
		for j := range o.now.Attempts {
			a := &o.now.Attempts[j]
			if o.was != nil && j < len(o.was.Attempts) && o.was.Attempts[j] == *a {
				continue
			}
			var check *time.Time
			if unsettled(a) {
				check = moment(a.At)
			}
			references, orders = append(references, key(a.Reference)), append(orders, o.now.ID)
			amounts, received = append(amounts, a.Amount), append(received, a.Received)
			created, checks = append(created, moment(a.At)), append(checks, check)
			providers, statuses = append(providers, text(a.Provider)), append(statuses, text(a.Status))
		}
	}
	if len(references) > 0 {
		w.batch.Queue(upsert, references, orders, amounts, received, created, checks, providers, statuses)
	}
}

// upsertRefunds queues the refunds that differ from those in the table.
func (w *Writer) upsertRefunds() {
	const upsert = `
INSERT INTO refunds (order_id, position, amount, created_at, next_check, reference, reason, status, provider_ref)
SELECT * FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[])
ON CONFLICT (order_id, position) DO UPDATE
SET next_check = excluded.next_check, status = excluded.status, provider_ref = excluded.provider_ref`
	var orders [][16]byte
	var positions []int16
	var amounts []int64
	var created, checks []*time.Time
	var references, reasons, statuses, providers []string
	for i := range w.orders {
		o := &w.orders[i]
		for j := range o.now.Refunds {
			r := &o.now.Refunds[j]
			if o.was != nil && j < len(o.was.Refunds) && o.was.Refunds[j] == *r {
				continue
			}
			var check *time.Time
			if r.Status != event.RefundProcessed {
				check = moment(r.At)
			}
			orders, positions, amounts = append(orders, o.now.ID), append(positions, int16(j)), append(amounts, r.Amount)
			created, checks = append(created, moment(r.At)), append(checks, check)
			references, reasons = append(references, text(r.Reference)), append(reasons, text(r.Reason))
			statuses, providers = append(statuses, text(r.Status)), append(providers, text(r.ProviderRef))
		}
	}
	if len(orders) > 0 {
		w.batch.Queue(upsert, orders, positions, amounts, created, checks, references, reasons, statuses, providers)
	}
}

// Payment is an attempt to pay an order.
type Payment struct {
	Order     engine.OrderID
	Reference string
	Provider  string
	Status    string // one of event's attempt statuses
	Amount    int64  // asked for, minor units
	Received  int64
	At        int64 // begun, unix milliseconds
}

const paymentColumns = `order_id, reference, provider, status, amount, received, created_at`

func scanPayment(row pgx.CollectableRow) (p Payment, err error) {
	var at time.Time
	err = row.Scan((*[16]byte)(&p.Order), &p.Reference, &p.Provider, &p.Status, &p.Amount, &p.Received, &at)
	p.At = at.UnixMilli()
	return p, err
}

// Payment finds an attempt by its reference. It returns ErrNotFound.
func (m *Model) Payment(ctx context.Context, reference string) (Payment, error) {
	rows, _ := m.pool.Query(ctx, `SELECT `+paymentColumns+` FROM payments WHERE reference = $1`, reference) // CollectOneRow returns its error
	p, err := pgx.CollectExactlyOneRow(rows, scanPayment)
	if err != nil {
		return Payment{}, fmt.Errorf("payment %q: %w", reference, one(err))
	}
	return p, nil
}

// PaymentsDue lists attempts of which the provider is to be asked, those due
// first. Besides open ones these are expired, cancelled and underpaid ones, for
// their money may still come: CheckPayment says when to ask again, or never.
func (m *Model) PaymentsDue(ctx context.Context, before time.Time, limit int) ([]Payment, error) {
	const due = `SELECT ` + paymentColumns + ` FROM payments WHERE next_check <= $1 ORDER BY next_check LIMIT $2`
	rows, _ := m.pool.Query(ctx, due, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanPayment)
	if err != nil {
		return nil, fmt.Errorf("payments due: %w", err)
	}
	return list, nil
}

// CheckPayment says when the provider is to be asked of the attempt next, the
// zero time for never. A fact about the attempt makes it due again, and one that
// settles it ends the matter, before the call or after.
func (m *Model) CheckPayment(ctx context.Context, reference string, next time.Time) error {
	const check = `UPDATE payments SET next_check = $2 WHERE reference = $1 AND next_check IS NOT NULL`
	if _, err := m.pool.Exec(ctx, check, reference, orNull(next)); err != nil {
		return fmt.Errorf("payment %q: %w", reference, err)
	}
	return nil
}

// Refund is money that goes back by itself.
type Refund struct {
	Order    engine.OrderID
	Position int // in the order's list
	Provider string
	event.Refund
}

// RefundsDue lists refunds to send or to ask about, those due first: all that
// have not been processed. CheckRefund says when to look again.
func (m *Model) RefundsDue(ctx context.Context, before time.Time, limit int) ([]Refund, error) {
	const due = `
SELECT r.order_id, r.position, coalesce(p.provider, ''), r.reference, r.amount, r.reason, r.status, r.provider_ref, r.created_at
FROM refunds r LEFT JOIN payments p USING (reference)
WHERE r.next_check <= $1 ORDER BY r.next_check LIMIT $2`
	rows, _ := m.pool.Query(ctx, due, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Refund, err error) {
		var at time.Time
		err = row.Scan((*[16]byte)(&r.Order), &r.Position, &r.Provider, &r.Reference, &r.Amount, &r.Reason, &r.Status, &r.ProviderRef, &at)
		r.At = at.UnixMilli()
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("refunds due: %w", err)
	}
	return list, nil
}

// CheckRefund says when the refund is to be looked at next, the zero time for
// never. A fact about it makes it due again, until it has been processed.
func (m *Model) CheckRefund(ctx context.Context, order engine.OrderID, position int, next time.Time) error {
	const check = `UPDATE refunds SET next_check = $3 WHERE order_id = $1 AND position = $2 AND next_check IS NOT NULL`
	if _, err := m.pool.Exec(ctx, check, [16]byte(order), position, orNull(next)); err != nil {
		return fmt.Errorf("refund %d of order %s: %w", position, order, err)
	}
	return nil
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

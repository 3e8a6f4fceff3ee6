package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// FirstCheck is how long after the beginning of an attempt the sweep first asks the provider about it. By then most
// attempts have been verified when their payers came back, and asking would be in vain.
const FirstCheck = 2 * time.Minute

// isUnsettled reports whether the provider may still report something about an attempt. An attempt that we let
// expire or cancelled may still be paid at the provider, and after a failure the buyer may try again on the
// provider's page.
func isUnsettled(a *order.Attempt) bool {
	switch a.Status {
	case order.AttemptSucceeded, order.AttemptRefunded:
		return false
	case order.AttemptFailed:
		return a.Opened()
	default:
		return true
	}
}

// upsertPayments queues the attempts to pay that differ from those in the table. References are unique now, but an
// early release shortened them, so a journal may have one twice, and Postgres refuses a statement that meets one row
// twice. Hence each statement has a reference once. The order that came first keeps the row; the attempt of the other
// order is in that order's record alone.
func (w *Writer) upsertPayments() {
	var statements []*paymentRows
	times := make(map[string]int) // how often a reference has come, by reference
	for i := range w.orders {
		o := &w.orders[i]
		for j := range o.now.Attempts {
			a := &o.now.Attempts[j]
			if o.was != nil && j < len(o.was.Attempts) && o.was.Attempts[j] == *a {
				continue
			}
			n := times[key(a.Reference)]
			times[key(a.Reference)]++
			if n == len(statements) {
				statements = append(statements, new(paymentRows))
			}
			statements[n].add(o.now.ID, a)
		}
	}
	for _, rows := range statements {
		rows.upsert(w.batch)
	}
}

// paymentRows are rows of the table payments, column by column, as unnest takes them.
type paymentRows struct {
	references, providers, statuses []string
	orders                          [][16]byte
	amounts, received               []int64
	created, checks                 []*time.Time
}

// add adds an attempt. An attempt that is settled has no next check, so the sweep does not see it.
func (r *paymentRows) add(order engine.OrderID, a *order.Attempt) {
	var check *time.Time
	if isUnsettled(a) {
		check = moment(a.At + FirstCheck.Milliseconds())
	}
	r.references, r.orders = append(r.references, key(a.Reference)), append(r.orders, order)
	r.amounts, r.received = append(r.amounts, a.Amount), append(r.received, a.Received)
	r.created, r.checks = append(r.created, moment(a.At)), append(r.checks, check)
	r.providers, r.statuses = append(r.providers, text(a.Provider)), append(r.statuses, text(a.Status))
}

// upsert queues the rows. A row of another order with the same reference stays as it is.
func (r *paymentRows) upsert(b *pgx.Batch) {
	const upsert = `
INSERT INTO payments (reference, order_id, amount, received, created_at, next_check, provider, status)
SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[])
ON CONFLICT (reference) DO UPDATE
SET received = excluded.received, next_check = excluded.next_check, status = excluded.status
WHERE payments.order_id = excluded.order_id`
	b.Queue(upsert, r.references, r.orders, r.amounts, r.received, r.created, r.checks, r.providers, r.statuses)
}

// upsertRefunds queues the refunds that differ from those in the table. A new refund that is still to be sent is due
// at once; a changed one keeps the time that CheckRefund has set.
func (w *Writer) upsertRefunds() {
	const upsert = `
INSERT INTO refunds (order_id, position, amount, created_at, next_check, reference, reason, status, provider_ref, asked, customer)
SELECT * FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[], $10::boolean[], $11::bigint[])
ON CONFLICT (order_id, position) DO UPDATE
SET next_check = excluded.next_check, status = excluded.status, provider_ref = excluded.provider_ref,
  amount = excluded.amount, reference = excluded.reference, reason = excluded.reason, customer = excluded.customer`
	var orders [][16]byte
	var positions []int16
	var amounts []int64
	var created, checks []*time.Time
	var references, reasons, statuses, providers []string
	var asked []bool
	var customers []int64
	for i := range w.orders {
		o := &w.orders[i]
		for j := range o.now.Refunds {
			r := &o.now.Refunds[j]
			if o.was != nil && j < len(o.was.Refunds) && o.was.Refunds[j] == *r {
				continue
			}
			var check *time.Time
			if r.Sends() {
				check = moment(r.At)
			}
			orders, positions, amounts = append(orders, o.now.ID), append(positions, int16(j)), append(amounts, r.Amount)
			created, checks = append(created, moment(r.At)), append(checks, check)
			references, reasons = append(references, text(r.Reference)), append(reasons, text(r.Reason))
			statuses, providers, asked = append(statuses, text(r.ToldStatus())), append(providers, text(r.ProviderRef)), append(asked, r.Ask != nil)
			customers = append(customers, int64(r.CustomerOf(o.now))) //nolint:gosec // kept as its bits
		}
	}
	if len(orders) > 0 {
		w.batch.Queue(upsert, orders, positions, amounts, created, checks, references, reasons, statuses, providers, asked, customers)
	}
}

// Payment is an attempt to pay an order.
type Payment struct {
	Order     engine.OrderID
	Reference string
	Provider  string
	Status    string // one of the attempt statuses of package order
	Amount    int64  // what the payer was asked for, in minor units; Received is what came
	Received  int64
	At        int64 // when it was begun, in unix milliseconds
}

const paymentColumns = `order_id, reference, provider, status, amount, received, created_at`

func scanPayment(row pgx.CollectableRow) (p Payment, err error) {
	var at time.Time
	err = row.Scan((*[16]byte)(&p.Order), &p.Reference, &p.Provider, &p.Status, &p.Amount, &p.Received, &at)
	p.At = at.UnixMilli()
	return p, err
}

// Payment finds an attempt by its reference, or returns ErrNotFound.
func (m *Model) Payment(ctx context.Context, reference string) (Payment, error) {
	rows, _ := m.pool.Query(ctx, `SELECT `+paymentColumns+` FROM payments WHERE reference = $1`, reference) // CollectOneRow returns its error
	p, err := pgx.CollectExactlyOneRow(rows, scanPayment)
	if err != nil {
		return Payment{}, fmt.Errorf("payment %q: %w", reference, noRowsToNotFound(err))
	}
	return p, nil
}

// PaymentsDue lists at most limit attempts about which the sweep is to ask the provider. Those that have been
// due for the longest time come first. Besides open attempts it lists others whose money may still come
// (isUnsettled). CheckPayment then sets when to ask again.
func (m *Model) PaymentsDue(ctx context.Context, before time.Time, limit int) ([]Payment, error) {
	const due = `SELECT ` + paymentColumns + ` FROM payments WHERE next_check <= $1 ORDER BY next_check LIMIT $2`
	rows, _ := m.pool.Query(ctx, due, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanPayment)
	if err != nil {
		return nil, fmt.Errorf("payments due: %w", err)
	}
	return list, nil
}

// CheckPayment sets when the sweep asks the provider about an attempt again; the zero time means never. A later fact
// about the attempt may make it due again, and a fact that settles it ends the checks for good.
func (m *Model) CheckPayment(ctx context.Context, reference string, next time.Time) error {
	const check = `UPDATE payments SET next_check = $2 WHERE reference = $1 AND next_check IS NOT NULL`
	if _, err := m.pool.Exec(ctx, check, reference, orNull(next)); err != nil {
		return fmt.Errorf("payment %q: %w", reference, err)
	}
	return nil
}

// Refund is a refund that the sweep sends through a provider.
type Refund struct {
	Order     engine.OrderID
	Position  int // its place in the order's list of refunds
	Provider  string
	Failures  int        // attempts to send it that failed, or that the provider declined
	notBefore *time.Time // the row's time when it was read: ClaimRefund takes the refund only if it is still the same
	order.Refund
}

// RefundsDue lists at most limit refunds that the sweep is to send, or about which it is to ask: those whose
// money is still to be sent, and not by hand (order.Refund.Sends). Those that have been due for the longest
// time come first. CheckRefund sets when to look again.
func (m *Model) RefundsDue(ctx context.Context, before time.Time, limit int) ([]Refund, error) {
	const due = `
SELECT r.order_id, r.position, coalesce(p.provider, ''), r.reference, r.amount, r.reason, r.status, r.provider_ref, r.created_at,
  r.failures, r.not_before
FROM refunds r LEFT JOIN payments p USING (reference)
WHERE r.next_check <= $1 AND (r.not_before IS NULL OR r.not_before <= $1) ORDER BY r.next_check LIMIT $2`
	rows, _ := m.pool.Query(ctx, due, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Refund, err error) {
		var at time.Time
		err = row.Scan((*[16]byte)(&r.Order), &r.Position, &r.Provider, &r.Reference, &r.Amount, &r.Reason, &r.Status, &r.ProviderRef, &at,
			&r.Failures, &r.notBefore)
		r.At = at.UnixMilli()
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("refunds due: %w", err)
	}
	return list, nil
}

// ClaimRefund takes a refund that RefundsDue has listed, for the caller alone, until a time. It returns false if
// somebody else has taken it or set its time since, because two nodes that sweep at the same moment must not both
// send the money, and if it is no longer to be sent.
func (m *Model) ClaimRefund(ctx context.Context, r *Refund, until time.Time) (bool, error) {
	const claim = `
UPDATE refunds SET not_before = $3, claimed_until = $3
WHERE order_id = $1 AND position = $2 AND next_check IS NOT NULL AND not_before IS NOT DISTINCT FROM $4`
	done, err := m.pool.Exec(ctx, claim, [16]byte(r.Order), r.Position, until, r.notBefore)
	if err != nil {
		return false, fmt.Errorf("refund %d of order %s: %w", r.Position, r.Order, err)
	}
	return done.RowsAffected() == 1, nil
}

// RefundCheck is the outcome of a look at a refund.
type RefundCheck struct {
	Next     time.Time // the time from which the next look is due
	Failures int       // attempts to send it that failed, or that the provider declined
	Stuck    bool      // the money does not move, and may need a person
}

// CheckRefund notes the outcome of a look at a refund, and ends the claim to it. It changes nothing if the refund
// is no longer to be sent.
func (m *Model) CheckRefund(ctx context.Context, order engine.OrderID, position int, c RefundCheck) error {
	const check = `
UPDATE refunds SET not_before = $3, failures = $4, stuck = $5, claimed_until = NULL
WHERE order_id = $1 AND position = $2 AND next_check IS NOT NULL`
	if _, err := m.pool.Exec(ctx, check, [16]byte(order), position, c.Next, c.Failures, c.Stuck); err != nil {
		return fmt.Errorf("refund %d of order %s: %w", position, order, err)
	}
	return nil
}

// RefundBacklog is about the refunds that are still to be sent (order.Refund.Sends).
type RefundBacklog struct {
	Open   int64   // how many refunds are still to be sent
	Stuck  int64   // how many of the open ones do not move, and may need a person
	Oldest float64 // how many seconds ago the oldest open one was first due; 0 if none is open
}

// RefundBacklog counts the refunds that are still to be sent, for the metrics.
func (m *Model) RefundBacklog(ctx context.Context) (b RefundBacklog, err error) {
	const count = `
SELECT count(*), count(*) FILTER (WHERE stuck), coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8
FROM refunds WHERE next_check IS NOT NULL`
	if err := m.pool.QueryRow(ctx, count).Scan(&b.Open, &b.Stuck, &b.Oldest); err != nil {
		return b, fmt.Errorf("refund backlog: %w", err)
	}
	// A fact may have a time that is later than the database's clock.
	b.Oldest = max(0, b.Oldest)
	return b, nil
}

// orNull returns a time as a parameter of a query. The zero time is NULL.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

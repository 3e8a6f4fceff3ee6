package readmodel

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence"
	"boxoffice/persistence/codec"
)

// This file has the lists for an organization and for a buyer. The table of orders has no index by organization,
// because each index would slow down every order of a rush. It needs none: the orders of an event are neighbours by
// their ids.

// OrderFilter says which orders a list has. A zero field filters nothing, but without Events or Limit the list is
// empty.
type OrderFilter struct {
	Events    []int64 // the events whose orders are listed, all of one organization
	Status    string
	Asked     Asked
	PromoCode string    // the code that an order was placed with, in any case
	From, To  time.Time // the order was made between these, both included
	BeforeAt  int64     // no row is younger than this, in unix milliseconds; with Skip it is the place of the page
	Skip      int       // how many rows of the moment BeforeAt were on earlier pages
	Limit     int
}

// OrganizationOrders lists the orders of an organization's events that fit a filter, the newest first. A search, also
// for a promo code, first writes the folded words of people who lack them, because it reads those.
func (m *Model) OrganizationOrders(ctx context.Context, f OrderFilter) ([]order.Order, error) {
	const find = `
SELECT o.record FROM unnest(@first::uuid[], @next::uuid[]) AS r(first, next)
CROSS JOIN LATERAL (SELECT * FROM orders WHERE id >= r.first AND id < r.next) o
WHERE (@status::smallint < 0 OR o.status = @status) AND (@promo = '' OR o.words LIKE @promo)
  AND (@patterns::text[] IS NULL OR coalesce(o.words, lower(o.email)) LIKE ALL(@patterns) OR o.id = @order OR o.id IN (` + OrdersOfTickets + `)
    OR o.id IN (SELECT a.order_id FROM attendees a WHERE a.event_id = ANY(@events) AND a.words LIKE ALL(@patterns)))
  AND (@from::timestamptz IS NULL OR o.created_at >= @from) AND (@to::timestamptz IS NULL OR o.created_at <= @to)
  AND (@before::timestamptz IS NULL OR o.created_at <= @before)
ORDER BY o.created_at DESC, o.id DESC OFFSET @skip LIMIT @limit`
	if f.Asked.Patterns != nil || f.PromoCode != "" {
		if err := FoldPeople(ctx, m.pool, f.Events); err != nil {
			return nil, err
		}
	}
	args := f.Asked.Args()
	args["events"], args["skip"], args["limit"] = f.Events, f.Skip, f.Limit
	args["first"], args["next"] = OrderRanges(f.Events)
	args["from"], args["to"], args["before"] = instant(f.From), instant(f.To), moment(f.BeforeAt)
	args["status"], args["promo"] = int16(-1), ""
	if f.Status != "" {
		args["status"] = statusNumber(f.Status)
	}
	// A code is the last of the lines that an order's words consist of, so a line break before it and nothing after
	// it find this code and not a name like it.
	if f.PromoCode != "" {
		args["promo"] = "%\n" + cmp.Or(foldText(f.PromoCode), noWords) // the last line of an order's words
	}
	rows, _ := m.pool.Query(ctx, find, persistence.PlanEachTime, args) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanOrder)
	if err != nil {
		return nil, fmt.Errorf("orders of an organization: %w", err)
	}
	return list, nil
}

// instant returns a time as a parameter of a query. The zero time is NULL.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// RefundFilter says which refunds a list has. A zero field filters nothing, but without Limit the list is empty.
type RefundFilter struct {
	Org      int64
	Event    int64
	Customer uint64 // the customer who asked for the refund; if nobody did, the customer of the order
	Status   string
	Asked    bool // true leaves out refunds that nobody asked for
	// BeforeAt, in unix milliseconds, and Skip are the place of a page, as in OrderFilter.
	BeforeAt int64
	Skip     int
	Limit    int
}

// AskedRefund is a refund in a list, with its order. Position is its index among the order's refunds.
type AskedRefund struct {
	Order    order.Order
	Position int
	At       int64 // unix milliseconds
}

// AskedRefunds lists the refunds that fit a filter, each with its order, the newest first.
func (m *Model) AskedRefunds(ctx context.Context, f RefundFilter) ([]AskedRefund, error) {
	const find = `
SELECT o.record, r.position, r.created_at FROM refunds r JOIN orders o ON o.id = r.order_id
WHERE ($1::bigint = 0 OR EXISTS (SELECT FROM events e WHERE e.number = o.event_id AND e.org = $1)) AND ($2::bigint = 0 OR o.event_id = $2)
  AND ($3::bigint = 0 OR r.customer = $3) AND ($4 = '' OR r.status = $4) AND (NOT $5 OR r.asked) AND ($6::timestamptz IS NULL OR r.created_at <= $6)
ORDER BY r.created_at DESC, r.order_id, r.position OFFSET $7 LIMIT $8`
	rows, _ := m.pool.Query(ctx, find, persistence.PlanEachTime, f.Org, f.Event, int64(f.Customer), f.Status, f.Asked, moment(f.BeforeAt), f.Skip, f.Limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r AskedRefund, err error) {
		var record []byte
		var at time.Time
		if err := row.Scan(&record, &r.Position, &at); err != nil {
			return r, err
		}
		r.At = at.UnixMilli()
		return r, codec.Unmarshal(record, &r.Order)
	})
	if err != nil {
		return nil, fmt.Errorf("refunds: %w", err)
	}
	return list, nil
}

// RetryRefund makes a failed refund due at once, as if it had never failed. The next sweep sends it again.
// It changes nothing and returns false if the refund is not to be sent (order.Refund.Sends), or while it is claimed
// (ClaimRefund), because the claimer may be sending it right now.
func (m *Model) RetryRefund(ctx context.Context, id engine.OrderID, position int, now time.Time) (bool, error) {
	const retry = `
UPDATE refunds SET not_before = NULL, failures = 0, stuck = false, claimed_until = NULL
WHERE order_id = $1 AND position = $2 AND next_check IS NOT NULL AND (claimed_until IS NULL OR claimed_until <= $3)`
	done, err := m.pool.Exec(ctx, retry, [16]byte(id), position, now)
	if err != nil {
		return false, fmt.Errorf("retry refund %d of order %s: %w", position, id, err)
	}
	return done.RowsAffected() == 1, nil
}

// paidStatuses are the statuses of orders that were completed and not refunded in full. Free orders have them too.
var paidStatuses = []string{order.StatusCompleted, order.StatusPartiallyRefunded}

// PaidOrders lists at most limit of an event's orders that cost something and are paid, sorted by id. They begin
// after the order after; for the first page, that is the event's id with only zeros after its number.
func (m *Model) PaidOrders(ctx context.Context, event int64, after engine.OrderID, limit int) ([]order.Order, error) {
	const find = `SELECT record FROM orders WHERE id > $1 AND id < $2 AND status = ANY($3) AND total > 0 ORDER BY id LIMIT $4`
	rows, _ := m.pool.Query(ctx, find, [16]byte(after), [16]byte(engine.NewID(event+1, make([]byte, 10))), statusNumbers(paidStatuses), limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o order.Order, err error) {
		var record []byte
		if err := row.Scan(&record); err != nil {
			return o, err
		}
		return o, codec.Unmarshal(record, &o)
	})
	if err != nil {
		return nil, fmt.Errorf("paid orders of event %d: %w", event, err)
	}
	return list, nil
}

// CountPaidOrders counts the orders that PaidOrders lists.
func (m *Model) CountPaidOrders(ctx context.Context, event int64) (n int64, err error) {
	const count = `SELECT count(*) FROM orders WHERE id > $1 AND id < $2 AND status = ANY($3) AND total > 0`
	first, next := engine.NewID(event, make([]byte, 10)), engine.NewID(event+1, make([]byte, 10))
	if err := m.pool.QueryRow(ctx, count, [16]byte(first), [16]byte(next), statusNumbers(paidStatuses)).Scan(&n); err != nil {
		return 0, fmt.Errorf("paid orders of event %d: %w", event, err)
	}
	return n, nil
}

// statusNumbers returns the numbers that statuses of orders have in orders.status.
func statusNumbers(statuses []string) (all []int16) {
	for _, s := range statuses {
		all = append(all, statusNumber(s))
	}
	return all
}

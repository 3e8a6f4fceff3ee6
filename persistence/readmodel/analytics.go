package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
)

// Point is what has happened in one interval of time.
type Point struct {
	At     time.Time // when the interval begins
	Count  int64
	Amount int64 // minor units
}

// series has the query for each metric of an event. All queries take the same parameters: $1 is the event's
// number, $2 and $3 are the ids between which its orders lie, $4 are the statuses of sold orders, $5 is the
// length of an interval, and $6 is the time zone. A query that needs fewer of them names the others in a
// condition that is always true.
var series = map[string]string{
	"sales": `SELECT date_trunc($5, o.created_at, $6), sum(n)::bigint, sum(o.total)::bigint FROM orders o
JOIN (SELECT order_id, count(*) AS n FROM tickets WHERE event_id = $1 GROUP BY order_id) t ON t.order_id = o.id
WHERE o.id >= $2 AND o.id < $3 AND o.status = ANY($4) GROUP BY 1`,
	"orders": `SELECT date_trunc($5, o.created_at, $6), count(*), sum(o.total)::bigint FROM orders o
WHERE o.id >= $2 AND o.id < $3 AND o.status = ANY($4) AND $1::bigint > 0 GROUP BY 1`,
	"revenue": `SELECT date_trunc($5, o.created_at, $6), count(*),
(sum(o.total) - coalesce(sum((SELECT sum(r.amount) FROM refunds r WHERE r.order_id = o.id AND r.status = 'processed')), 0))::bigint FROM orders o
WHERE o.id >= $2 AND o.id < $3 AND o.status = ANY($4) AND $1::bigint > 0 GROUP BY 1`,
	"refunds": `SELECT date_trunc($5, r.created_at, $6), count(*), sum(r.amount)::bigint FROM refunds r
WHERE r.order_id >= $2 AND r.order_id < $3 AND r.status = 'processed' AND $1::bigint > 0 AND $4::smallint[] IS NOT NULL GROUP BY 1`,
	"checkins": `SELECT date_trunc($5, t.checked_in_at, $6), count(*), 0::bigint FROM tickets t
WHERE t.event_id = $1 AND t.checked_in_at IS NOT NULL AND $2::uuid < $3::uuid AND $4::smallint[] IS NOT NULL GROUP BY 1`,
}

// Series counts a metric of an event by intervals (hour, day, week or month) of a time zone. It returns at most
// limit intervals, the newest ones, in the order of time, and leaves out intervals in which nothing happened.
func (m *Model) Series(ctx context.Context, number int64, metric, interval, zone string, limit int) ([]Point, error) {
	// Ids of orders are sorted by their event's number, so an event's orders are all between these two.
	first, next := engine.NewID(number, make([]byte, 10)), engine.NewID(number+1, make([]byte, 10))
	query := `SELECT * FROM (` + series[metric] + ` ORDER BY 1 DESC LIMIT $7) s ORDER BY 1`
	rows, _ := m.pool.Query(ctx, query, number, [16]byte(first), [16]byte(next), SoldStatuses(), interval, zone, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Point])
	if err != nil {
		return nil, fmt.Errorf("%s of event %d: %w", metric, number, err)
	}
	return list, nil
}

// Summary is what an organization has sold so far. Live counts the events that are published and
// not over, and Entered the tickets that have been checked in.
type Summary struct {
	Events, Live, Customers  int64
	Orders, Tickets, Entered int64
	Sums                     []Sum
}

// Sum is money in a currency, in minor units.
type Sum struct {
	Currency string
	Orders   int64
	// Gross is what buyers have paid, before refunds.
	Gross    int64
	Refunded int64
}

// Summarize adds up what an organization has sold: the orders and the money in each currency, and the number of all
// orders, events, customers and tickets. Of the refunds only those whose money has gone back count.
func (m *Model) Summarize(ctx context.Context, org int64) (*Summary, error) {
	const count = `
SELECT count(*), count(*) FILTER (WHERE status IN ('published', 'on_sale', 'sold_out', 'in_progress')),
  (SELECT count(*) FROM customers WHERE org = $1),
  coalesce(sum((SELECT count(*) FROM tickets t WHERE t.event_id = e.number)), 0)::bigint,
  coalesce(sum((SELECT count(t.checked_in_at) FROM tickets t WHERE t.event_id = e.number)), 0)::bigint
FROM events e WHERE org = $1`
	s := new(Summary)
	if err := m.pool.QueryRow(ctx, count, org).Scan(&s.Events, &s.Live, &s.Customers, &s.Tickets, &s.Entered); err != nil {
		return nil, fmt.Errorf("summary of organization %d: %w", org, err)
	}
	events, err := m.eventNumbers(ctx, `SELECT number FROM events WHERE org = $1`, org)
	if err != nil {
		return nil, err
	}
	// The table of orders has no index by organization, because it would cost time for each order
	// of a rush. The orders of each event are neighbours by id instead, so the query reads one
	// range for each event.
	first, next := make([][16]byte, len(events)), make([][16]byte, len(events))
	for i, number := range events {
		first[i], next[i] = engine.NewID(number, make([]byte, 10)), engine.NewID(number+1, make([]byte, 10))
	}
	const sums = `
SELECT o.currency, count(*), sum(o.total)::bigint,
  coalesce(sum((SELECT sum(f.amount) FROM refunds f WHERE f.order_id = o.id AND f.status = 'processed')), 0)::bigint
FROM unnest($1::uuid[], $2::uuid[]) AS r(first, next)
CROSS JOIN LATERAL (SELECT * FROM orders WHERE id >= r.first AND id < r.next) o
WHERE o.status = ANY($3) GROUP BY o.currency ORDER BY o.currency`
	rows, _ := m.pool.Query(ctx, sums, first, next, SoldStatuses()) // CollectRows returns its error
	if s.Sums, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Sum]); err != nil {
		return nil, fmt.Errorf("summary of organization %d: %w", org, err)
	}
	for i := range s.Sums {
		s.Orders += s.Sums[i].Orders
	}
	return s, nil
}

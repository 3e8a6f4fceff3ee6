package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
)

// Point is what has happened in an interval of time.
type Point struct {
	At     time.Time // when the interval begins
	Count  int64
	Amount int64 // minor units
}

// series are what can be counted of an event: $1 is its number, $2 and $3 bound the ids of
// its orders, $4 are the statuses of sold ones, $5 and $6 the interval and the time zone.
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

// Series counts a metric of an event by intervals of a time zone (hour, day, week, month),
// the newest to a limit, in their order. Intervals without anything are left out.
func (m *Model) Series(ctx context.Context, number int64, metric, interval, zone string, limit int) ([]Point, error) {
	first, next := engine.NewID(number, make([]byte, 10)), engine.NewID(number+1, make([]byte, 10))
	query := `SELECT * FROM (` + series[metric] + ` ORDER BY 1 DESC LIMIT $7) s ORDER BY 1`
	rows, _ := m.pool.Query(ctx, query, number, [16]byte(first), [16]byte(next), SoldStatuses(), interval, zone, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Point])
	if err != nil {
		return nil, fmt.Errorf("%s of event %d: %w", metric, number, err)
	}
	return list, nil
}

// Summary is what an organization has sold. Live events are those that can be seen and
// are not over.
type Summary struct {
	Events, Live, Customers  int64
	Orders, Tickets, Entered int64
	Sums                     []Sum
}

// Sum is money in a currency, in minor units.
type Sum struct {
	Currency string
	Orders   int64
	Gross    int64 // that buyers paid
	Refunded int64
}

// Summarize adds up what an organization has sold.
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

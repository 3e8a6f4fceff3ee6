package readmodel

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// EventsOf lists the events for which a customer has ordered, the newest first, up to a thousand.
// customer is a hash, and two addresses may have the same one, so a caller that means one address
// must also look at the orders.
func (m *Model) EventsOf(ctx context.Context, customer uint64) ([]int64, error) {
	const find = `SELECT DISTINCT event_id FROM orders WHERE customer = $1 ORDER BY event_id DESC LIMIT 1000`
	return m.eventNumbers(ctx, find, int64(customer)) //nolint:gosec // kept as its bits
}

// NewestEvents lists the numbers of the events that were made last, the newest first.
func (m *Model) NewestEvents(ctx context.Context, limit int) ([]int64, error) {
	return m.eventNumbers(ctx, `SELECT number FROM events ORDER BY number DESC LIMIT $1`, limit)
}

// eventNumbers runs a query that returns numbers of events.
func (m *Model) eventNumbers(ctx context.Context, find string, args ...any) ([]int64, error) {
	rows, _ := m.pool.Query(ctx, find, args...) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("numbers of events: %w", err)
	}
	return list, nil
}

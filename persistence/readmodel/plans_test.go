package readmodel_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

// queries remembers what went through a pool.
type queries struct {
	mu   sync.Mutex
	sent []pgx.TraceQueryStartData
}

func (q *queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, d)
	return ctx
}

func (q *queries) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	for _, sent := range d.Batch.QueuedQueries {
		q.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: sent.SQL, Args: sent.Arguments})
	}
	return ctx
}

func (*queries) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*queries) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (*queries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestQueriesUseIndexes asks for the plan of every query of Model over tables of
// some size: none may read a whole table.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	ctx := t.Context()
	const fill = `
INSERT INTO events SELECT n, n % 100, now() + n * interval '1 hour', now() + (n + 1) * interval '1 hour', now(), now(), 1,
  gen_random_uuid(), 'slug-' || n, 'Title ' || n, '', 'music', 'event', 'on_sale', 'public', 'Paris', 'FR', 'Hall', 'USD', '\xa0', ('title:1A ' || n || ':2A')::tsvector, 'title ' || n,
  'title ' || n, 'paris', 'hall'
FROM generate_series(1, 5000) n;
INSERT INTO ticket_types SELECT n, n, 1, 1, 0, 1, now(), now(), now(), false, 'Tier', '\xa0' FROM generate_series(1, 5000) n;
INSERT INTO orders SELECT gen_random_uuid(), 1, 1, 1, now(), now(), 0, 'USD', 'a@example.com', '\xa0' FROM generate_series(1, 5000) n;
INSERT INTO tickets SELECT n % 50, 1, id, n, 0 FROM (SELECT id, row_number() OVER () AS n FROM orders) o;
INSERT INTO payments SELECT id::text, id, 1, 1, now(), CASE WHEN n < 20 THEN now() END, 'paystack', 'pending'
FROM (SELECT id, row_number() OVER () AS n FROM orders) o;
INSERT INTO refunds SELECT id, 0, 1, now(), CASE WHEN n < 20 THEN now() END, id::text, 'late', 'processed', ''
FROM (SELECT id, row_number() OVER () AS n FROM orders) o;
INSERT INTO wallets SELECT n, 1, 1, 1, 1, now() FROM generate_series(1, 5000) n;
INSERT INTO wallet_entries SELECT n % 5, 1, n, gen_random_uuid(), 1, 1, 1, 1, now(), '', '', '', '' FROM generate_series(1, 5000) n;
ANALYZE`
	_, err := pool.Exec(ctx, fill)
	require.NoError(t, err)

	cfg := pool.Config()
	var q queries
	cfg.ConnConfig.Tracer = &q
	traced, err := pgxpool.NewWithConfig(ctx, cfg)
	require.NoError(t, err)
	defer traced.Close()
	m := readmodel.New(traced)
	id := engine.NumberedID(7, 7)
	now := time.Now()
	for _, ask := range []func() error{
		func() error { _, err := m.EventByNumber(ctx, 7); return err },
		func() error { _, err := m.EventBySlug(ctx, "slug-7"); return err },
		func() error {
			_, err := m.DiscoverEvents(ctx, readmodel.Discovery{
				Filter: readmodel.Filter{Query: "7", City: "a"}, Now: now.UnixMilli(), After: readmodel.Place{At: now.UnixMilli()}, Limit: 20,
			})
			return err
		},
		func() error {
			_, err := m.DiscoverEvents(ctx, readmodel.Discovery{
				Filter: readmodel.Filter{Search: "tilte 4999"}, Now: now.UnixMilli(), Ranked: true, After: readmodel.Place{Rank: 9, At: now.UnixMilli()}, Limit: 20,
			})
			return err
		},
		func() error {
			_, err := m.OrganizerEvents(ctx, 7, readmodel.Filter{}, readmodel.Between{}, 3000, 20)
			return err
		},
		func() error { _, err := m.TicketTypes(ctx, 7); return err },
		func() error { _, err := m.Tickets(ctx, 7, 1, 20); return err },
		func() error { _, err := m.Payment(ctx, "x"); return err },
		func() error { _, err := m.PaymentsDue(ctx, now, 20); return err },
		func() error { return m.CheckPayment(ctx, "x", now) },
		func() error { _, err := m.RefundsDue(ctx, now, 20); return err },
		func() error { _, err := m.ClaimRefund(ctx, &readmodel.Refund{Order: id}, now); return err },
		func() error { return m.CheckRefund(ctx, id, 0, readmodel.RefundCheck{Next: now}) },
		func() error { _, err := m.RefundBacklog(ctx); return err },
		func() error { _, err := m.Order(ctx, id); return err },
		func() error { _, err := m.OrdersOf(ctx, 7, id, 20); return err },
		func() error { _, err := m.Wallets(ctx, 7, engine.Currencies); return err },
		func() error { _, err := m.WalletEntries(ctx, 3, "USD", 4000, 20); return err },
	} {
		before := len(q.sent)
		err := ask()
		t.Log(err) // the rows are no real records: that they can't be read does not matter here
		require.Greater(t, len(q.sent), before)
	}
	for _, s := range q.sent {
		rows, err := pool.Query(ctx, `EXPLAIN `+s.SQL, s.Args...)
		require.NoError(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotContains(t, strings.Join(plan, "\n"), "Seq Scan", "%s\n%s", s.SQL, strings.Join(plan, "\n"))
	}
}

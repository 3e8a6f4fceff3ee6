package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// rowlock sells tickets the usual way: a row holds the stock, and its lock decides. It is written as well as we can,
// so that the comparison is fair: one round trip in one autocommitted, prepared statement; the order is inserted
// first and the hot row is updated last, so that its lock is held only for the update and the commit; a repeat is
// answered from the key's index; and it checks less than ours (no cap per customer, no sale window).
type rowlock struct {
	pool *pgxpool.Pool
	// statement places an order: key, type, quantity, e-mail, total -> id, created_at, status. It
	// is one of placements.
	statement string
}

const rowlockSchema = `
CREATE TABLE IF NOT EXISTS rowlock_types (
	id text PRIMARY KEY, available bigint NOT NULL, price bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS rowlock_orders (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key uuid NOT NULL UNIQUE, type text NOT NULL,
	quantity bigint NOT NULL, email text NOT NULL, total bigint NOT NULL, status text NOT NULL,
	created_at timestamptz NOT NULL
);
CREATE OR REPLACE FUNCTION rowlock_place(k uuid, t text, n bigint, mail text, cents bigint)
RETURNS TABLE (order_id bigint, created timestamptz, state text) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO rowlock_orders AS o (key, type, quantity, email, total, status, created_at)
	VALUES (k, t, n, mail, cents, 'pending', now())
	ON CONFLICT (key) DO NOTHING
	RETURNING o.id, o.created_at, o.status INTO order_id, created, state;
	IF NOT FOUND THEN
		RETURN QUERY SELECT o.id, o.created_at, o.status FROM rowlock_orders o WHERE o.key = k;
		RETURN;
	END IF;
	UPDATE rowlock_types SET available = available - n WHERE id = t AND available >= n;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'sold out' USING ERRCODE = 'BX001'; -- takes the insert back
	END IF;
	RETURN NEXT;
END $$;`

// placements are the two known ways to do it in one trip. At each pool size the faster one counts.
var placements = map[string]string{
	"function": `SELECT order_id, created, state FROM rowlock_place($1, $2, $3, $4, $5)`,
	// The conditional update decides and the insert follows from it, in one snapshot. A repeat
	// violates the key's index and is read back.
	"cte": `WITH stock AS (
			UPDATE rowlock_types SET available = available - $3 WHERE id = $2 AND available >= $3 RETURNING id)
		INSERT INTO rowlock_orders (key, type, quantity, email, total, status, created_at)
		SELECT $1, id, $3, $4, $5, 'pending', now() FROM stock
		RETURNING id, created_at, status`,
}

const repeated = `SELECT id, created_at, status FROM rowlock_orders WHERE key = $1`

// openRowlock makes the tables and a pool of connections.
func openRowlock(ctx context.Context, url, variant string, connections int32) (*rowlock, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("row-lock: %w", err)
	}
	cfg.MaxConns, cfg.MinConns = connections, connections
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("row-lock: %w", err)
	}
	if _, err := pool.Exec(ctx, rowlockSchema); err != nil {
		pool.Close()
		return nil, fmt.Errorf("row-lock: %w", err)
	}
	return &rowlock{pool: pool, statement: placements[variant]}, nil
}

// place is the handler of POST /orders in the row-lock design.
func (r *rowlock) place(c *route.Call, in *api.PlaceOrder) (*api.Order, error) {
	if len(in.Items) != 1 || c.IdempotencyKey == "" {
		return nil, route.Invalid(route.Issue{Path: "items", Code: route.IssueMaxItems, Message: "the benchmark places one line, with a key"})
	}
	line := in.Items[0]
	var id int64
	var created time.Time
	var status string
	total := line.Quantity * cents * 105 / 100
	err := r.pool.QueryRow(c.Context, r.statement, c.IdempotencyKey, line.TicketTypeID, line.Quantity, in.GuestEmail, total).
		Scan(&id, &created, &status)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "23505" || errors.Is(err, pgx.ErrNoRows) { // the key may be known
		err = r.pool.QueryRow(c.Context, repeated, c.IdempotencyKey).Scan(&id, &created, &status)
	}
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &refused) && refused.Code == "BX001" {
		return nil, engine.Refuse(engine.TicketSoldOut, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("place: %w", err)
	}
	return orderRecord(strconv.FormatInt(id, 10), status, created, in, total), nil
}

// cents is the price of a ticket in the other designs, in minor units.
const cents = 250_000

// orderRecord returns the answer that all designs give, as large as the real one.
func orderRecord(id, status string, created time.Time, in *api.PlaceOrder, total int64) *api.Order {
	expires := created.Add(15 * time.Minute)
	record := api.OrderRecord{
		ID: id, OrderNumber: "BX-" + id, EventID: "00000000-0000-4000-8000-000000000001", Status: status, Currency: "NGN",
		Subtotal: "2500.00", Discount: "0.00", Fees: "125.00", Total: fmt.Sprintf("%d.%02d", total/100, total%100),
		Buyer: api.Buyer{Email: in.GuestEmail, Name: &in.GuestName},
		Items: []api.OrderLine{{
			TicketTypeID: in.Items[0].TicketTypeID, Name: "General", Quantity: in.Items[0].Quantity, UnitPrice: "2500.00",
		}},
		Payments: []api.Payment{}, Refunds: []api.Refund{},
		ExpiresAt: &expires, CreatedAt: &created, UpdatedAt: &created,
	}
	return &api.Order{
		OrderRecord: record, Tickets: []api.Ticket{},
		AccessToken: "ot_00000000000000000000000000000000000000000000",
	}
}

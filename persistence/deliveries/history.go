package deliveries

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// deliveryColumns are in the order of Delivery's fields. The column due is -infinity before a
// delivery's first attempt, which Delivery shows as nil.
const deliveryColumns = `id, endpoint, event_id, type, replay_of, status, CASE WHEN due > '-infinity' THEN due END, attempts,
	attempted_at, response_status, latency_ms, error, created_at`

// Deliveries returns at most limit of an endpoint's deliveries, sent or not, the newest first. All
// of them have ids below before; with 0 the newest ones come.
func (s *Store) Deliveries(ctx context.Context, endpoint, before int64, limit int) ([]*Delivery, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+deliveryColumns+` FROM webhook_deliveries
		WHERE endpoint = $1 AND ($2 = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, endpoint, before, limit) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Delivery])
	if err != nil {
		return nil, fmt.Errorf("list webhook deliveries: %w", err)
	}
	return all, nil
}

// Delivery returns a delivery of any organization, or nil if there is none. The caller must check
// the organization.
func (s *Store) Delivery(ctx context.Context, id int64) (*Delivery, error) {
	return queryDelivery(ctx, s.pool, `SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE id = $1`, id)
}

// Sent returns what a delivery sends, with the number of its last attempt, and the outcomes of all
// its attempts. It returns nil if the delivery is not kept any more.
func (s *Store) Sent(ctx context.Context, id int64) (*Attempt, []Try, error) {
	var a Attempt
	var tries []Try
	err := s.pool.QueryRow(ctx, `SELECT d.id, d.attempts, d.event_id, d.type, coalesce(f.seq, 0), coalesce(f.at, d.created_at), f.data,
			d.fact IS NOT NULL AND f.position IS NULL, d.tries
		FROM webhook_deliveries d LEFT JOIN facts f ON f.position = d.fact WHERE d.id = $1`, id).
		Scan(&a.Delivery, &a.Number, &a.EventID, &a.Type, &a.Seq, &a.At, &a.Payload, &a.Missing, &tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("webhook delivery: %w", err)
	}
	return &a, tries, nil
}

// Test adds a delivery of TestType to an endpoint's queue. Such a delivery belongs to no fact and
// to no stream, so it waits for no other. Test returns nil if there is no such endpoint, and
// ErrDisabled if the endpoint is disabled.
func (s *Store) Test(ctx context.Context, endpoint int64) (*Delivery, error) {
	return s.add(ctx, endpoint, func(tx pgx.Tx) (*Delivery, error) {
		return queryDelivery(ctx, tx, `INSERT INTO webhook_deliveries (endpoint, event_id, type, stream, size)
			VALUES ($1, $2, $3, 0, 0) RETURNING `+deliveryColumns, endpoint, "evt_"+strings.ToLower(rand.Text()), TestType)
	})
}

// Replay sends a delivery's fact once more, under the same event id, by which the receiver recognizes it. It
// adds a new delivery, which has as many attempts as any, and cancels the old one if that was still to be sent
// again, so that the fact isn't sent by both. It returns ErrDisabled, ErrPending or ErrTooOld if it refuses,
// and nil if there is no such endpoint, or if d has been deleted since.
func (s *Store) Replay(ctx context.Context, d *Delivery) (*Delivery, error) {
	return s.add(ctx, d.Endpoint, func(tx pgx.Tx) (*Delivery, error) {
		old, err := queryDelivery(ctx, tx, `SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE id = $1 FOR UPDATE`, d.ID)
		if err != nil || old == nil {
			return nil, err
		}
		// A delivery that waits for its first attempt keeps its place in the order of its stream.
		// Replaying it would send it twice.
		if old.Status == Pending {
			return nil, ErrPending
		}
		if _, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET due = NULL, status = CASE WHEN status = 'failed' THEN 'cancelled' ELSE status END
			WHERE id = $1`, d.ID); err != nil {
			return nil, fmt.Errorf("cancel webhook delivery: %w", err)
		}
		// The replay is in no stream (0), because later facts of the stream may have been sent
		// long ago.
		again, err := queryDelivery(ctx, tx, `INSERT INTO webhook_deliveries (endpoint, fact, event_id, type, stream, size, replay_of)
			SELECT d.endpoint, d.fact, d.event_id, d.type, 0, d.size, d.id FROM webhook_deliveries d
			WHERE d.id = $1 AND (d.fact IS NULL OR EXISTS (SELECT FROM facts f WHERE f.position = d.fact))
			RETURNING `+deliveryColumns, d.ID)
		return again, errors.Join(err, refuseMissing(again, ErrTooOld))
	})
}

// refuseMissing returns the refusal if a statement found no delivery: its condition is then what
// refused.
func refuseMissing(d *Delivery, refusal error) error {
	if d == nil {
		return refusal
	}
	return nil
}

// add adds a delivery to the queue of an active endpoint and wakes a deliverer, in one transaction.
// The endpoint stays locked against changes until the end, so that it can't be disabled between the
// check and the insert. It returns nil if there is no such endpoint, and ErrDisabled if it is not active.
func (s *Store) add(ctx context.Context, endpoint int64, insert func(pgx.Tx) (*Delivery, error)) (*Delivery, error) {
	var d *Delivery
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		e, err := queryEndpoint(ctx, tx, `SELECT `+columns+` FROM webhook_endpoints WHERE id = $1 AND status <> 'deleted' FOR SHARE`, endpoint)
		switch {
		case err != nil || e == nil:
			return err
		case e.Status != Active:
			return ErrDisabled
		}
		if d, err = insert(tx); err != nil {
			return err
		}
		return s.wakeDeliverer(ctx, tx)
	})
	if err != nil {
		return nil, fmt.Errorf("add webhook delivery: %w", err)
	}
	return d, nil
}

// queryDelivery returns the one delivery that a statement returns, or nil if it returns none. The
// statement must return deliveryColumns.
func queryDelivery(ctx context.Context, q persistence.Querier, sql string, args ...any) (*Delivery, error) {
	rows, _ := q.Query(ctx, sql, args...) // CollectOneRow returns its error
	d, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Delivery])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no delivery is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("webhook delivery: %w", err)
	}
	return d, nil
}

// pruneMax is how many deliveries one statement looks at, so that none holds its locks for long.
const pruneMax = 10_000

// Prune deletes deliveries that are older than Kept, and endpoints that were deleted over a day ago and have no
// deliveries left. It also cancels deliveries that FanOut added while their endpoint was being disabled,
// because FanOut reads endpoints without locking them.
func (s *Store) Prune(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `UPDATE webhook_deliveries d SET status = 'cancelled', due = NULL
		FROM webhook_endpoints e WHERE e.id = d.endpoint AND e.status <> 'active' AND d.due IS NOT NULL`); err != nil {
		return fmt.Errorf("prune webhooks: %w", err)
	}
	for {
		// Ids grow with time, so the oldest rows are the first ones.
		tag, err := s.pool.Exec(ctx, `DELETE FROM webhook_deliveries WHERE id IN (
			SELECT id FROM (SELECT id, created_at FROM webhook_deliveries ORDER BY id LIMIT $2) oldest WHERE created_at < $1)`,
			time.Now().Add(-Kept), pruneMax)
		if err != nil {
			return fmt.Errorf("prune webhooks: %w", err)
		}
		if tag.RowsAffected() < pruneMax {
			break
		}
	}
	// A deleted endpoint is kept while the command that made it may be repeated.
	if _, err := s.pool.Exec(ctx, `DELETE FROM webhook_endpoints e WHERE status = 'deleted' AND updated_at < now() - interval '25 hours'
		AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE endpoint = e.id)`); err != nil {
		return fmt.Errorf("prune webhooks: %w", err)
	}
	return nil
}

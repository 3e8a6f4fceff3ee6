package deliveries

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// These limit what Load takes from one endpoint's queue at a time. A page stays in memory until its
// endpoint has answered all of it, and an endpoint may answer slowly.
const (
	pageFirst   = 64        // first attempts
	pageAgain   = 16        // later attempts
	pagePayload = 128 << 10 // bytes of payloads; a larger payload comes alone
)

// Page holds the deliveries that one endpoint is to be sent next.
type Page struct {
	Endpoint int64
	Org      int64
	URL      string
	Secret   []byte // the signing secret, sealed under the master key
	Attempts []*Attempt
}

// Attempt is one delivery with everything that its request needs.
type Attempt struct {
	Delivery int64
	Number   int // number of the attempt, from 1; from Sent, of the last attempt, and 0 if there was none
	EventID  string
	Type     string
	Stream   int64 // stream whose first attempts are made one after another; with 0 the order does not matter
	Seq      int64
	At       time.Time
	Payload  []byte // sealed payload of a fact, for publicfacts.Unseal; nil for a test, and if Missing
	Missing  bool   // whether the fact is not kept any more
}

// Result is the outcome of one attempt, as the deliverer hands it to Record.
type Result struct {
	Delivery       int64
	Number         int // number of the attempt
	At             time.Time
	Latency        time.Duration
	ResponseStatus int // HTTP status of the answer; 0 if none came
	Error          string
	Answer         string     // the beginning of the answer's body; printable
	Status         string     // the delivery's new status: Succeeded, Failed, Exhausted or Cancelled
	Due            *time.Time // time of the next attempt, if Status is Failed
	Gone           bool       // whether the endpoint has answered 410, and gets nothing more
}

// Claim leases up to limit endpoints that have something due, and returns their ids. Endpoints
// whose last lease ended longest ago come first, so that every endpoint gets its turn. No other
// node may Load these endpoints until Record gives them back or the lease ends.
func (s *Store) Claim(ctx context.Context, holder string, now time.Time, limit int) ([]int64, error) {
	// The recursion steps from endpoint to endpoint over an index, and reads one delivery of each.
	// Its cost therefore depends on how many endpoints wait, and not on how many deliveries wait
	// for each.
	rows, _ := s.pool.Query(ctx, `WITH RECURSIVE waiting AS (
			(SELECT endpoint, due FROM webhook_deliveries WHERE due IS NOT NULL ORDER BY endpoint, due LIMIT 1)
		UNION ALL
			SELECT next.endpoint, next.due FROM waiting w CROSS JOIN LATERAL (
				SELECT endpoint, due FROM webhook_deliveries
				WHERE due IS NOT NULL AND endpoint > w.endpoint ORDER BY endpoint, due LIMIT 1) next),
		free AS (
			SELECT l.endpoint FROM waiting w JOIN webhook_leases l USING (endpoint) JOIN webhook_endpoints e ON e.id = l.endpoint
			WHERE w.due <= $2 AND l.until <= now() AND e.status = 'active' ORDER BY l.until LIMIT $3 FOR UPDATE OF l SKIP LOCKED)
		UPDATE webhook_leases l SET holder = $1, until = now() + $4::interval FROM free
		WHERE l.endpoint = free.endpoint RETURNING l.endpoint`, holder, now, limit, LeaseTime) // CollectRows returns its error
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("claim webhooks: %w", err)
	}
	return ids, nil
}

// Load reads a page for each of the endpoints, which the caller must have claimed. First attempts
// come first in a page, in the order of their ids. An endpoint that has nothing due, or that is not
// active any more, gets no page.
func (s *Store) Load(ctx context.Context, endpoints []int64, now time.Time) ([]*Page, error) {
	// Load is a statement of its own, so that its snapshot is younger than the claim, and contains
	// what the claim's former holder recorded. due is -infinity before a delivery's first attempt
	// (011_webhooks.sql).
	rows, err := s.pool.Query(ctx, `SELECT e.id, e.org, e.url, e.secret, d.id, d.attempts + 1, d.event_id, d.type,
			CASE WHEN d.due = '-infinity' THEN d.stream ELSE 0 END, coalesce(f.seq, 0), coalesce(f.at, d.created_at), f.data,
			d.fact IS NOT NULL AND f.position IS NULL
		FROM webhook_endpoints e CROSS JOIN LATERAL (
			SELECT *, sum(size) OVER (ORDER BY due > '-infinity', id) - size AS before FROM (
				(SELECT * FROM webhook_deliveries WHERE endpoint = e.id AND due = '-infinity' ORDER BY id LIMIT $3)
			UNION ALL
				(SELECT * FROM webhook_deliveries WHERE endpoint = e.id AND due > '-infinity' AND due <= $2 ORDER BY due, id LIMIT $4)
			) waiting) d
		LEFT JOIN facts f ON f.position = d.fact
		WHERE e.id = ANY ($1) AND e.status = 'active' AND (d.before = 0 OR d.before + d.size <= $5)
		ORDER BY e.id, d.due > '-infinity', d.id`, endpoints, now, pageFirst, pageAgain, pagePayload)
	if err != nil {
		return nil, fmt.Errorf("load webhooks: %w", err)
	}
	var pages []*Page
	var p Page
	var a Attempt
	_, err = pgx.ForEachRow(rows, []any{
		&p.Endpoint, &p.Org, &p.URL, &p.Secret, &a.Delivery, &a.Number, &a.EventID, &a.Type, &a.Stream, &a.Seq, &a.At, &a.Payload, &a.Missing,
	}, func() error {
		// The rows are sorted by endpoint, so a new endpoint begins a new page.
		if len(pages) == 0 || pages[len(pages)-1].Endpoint != p.Endpoint {
			page := p
			pages = append(pages, &page)
		}
		attempt, page := a, pages[len(pages)-1]
		page.Attempts = append(page.Attempts, &attempt)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load webhooks: %w", err)
	}
	return pages, nil
}

// FreeAll frees everything that a node had claimed when it was last stopped. The node calls it when
// it starts, so that these endpoints don't wait for the end of their leases.
func (s *Store) FreeAll(ctx context.Context, holder string) error {
	if _, err := s.pool.Exec(ctx, `UPDATE webhook_leases SET until = now() WHERE holder = $1 AND until > now()`, holder); err != nil {
		return fmt.Errorf("free webhooks: %w", err)
	}
	return nil
}

// endLeases ends leases that the holder still has. A lease that another node has taken over since
// is left alone.
func endLeases(ctx context.Context, q persistence.Querier, holder string, endpoints []int64) error {
	_, err := q.Exec(ctx, `UPDATE webhook_leases SET until = now() WHERE endpoint = ANY ($1) AND holder = $2`, endpoints, holder)
	return err
}

// Waiting counts the deliveries that are still to be sent, now or at their next attempt.
func (s *Store) Waiting(ctx context.Context) (n int64, err error) {
	if err = s.pool.QueryRow(ctx, `SELECT count(*) FROM webhook_deliveries WHERE due IS NOT NULL`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count webhooks: %w", err)
	}
	return n, nil
}

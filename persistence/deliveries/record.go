package deliveries

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
)

// Record stores the outcomes of attempts, by endpoint and in the order in which the attempts ended, and ends
// the holder's leases on these endpoints. An endpoint that wants nothing more, or that has exhausted too many
// deliveries in a row, is disabled, and a job tells its owners. For an endpoint without results only the lease
// ends. If no repeat of a failed Record succeeds, the deliveries are sent again, which receivers must expect
// anyway.
func (s *Store) Record(ctx context.Context, holder string, results map[int64][]Result) error {
	// The commit does not wait for the disk, because nothing would be gained: an outcome that a
	// crash forgets is like one that was never recorded.
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL synchronous_commit = off"}, func(tx pgx.Tx) error {
		return s.recordResults(ctx, tx, holder, results)
	})
	if err != nil {
		return fmt.Errorf("record webhooks: %w", err)
	}
	return nil
}

// recordResults writes results within a transaction. Leases end in the same transaction, so the
// next node that claims an endpoint sees what was recorded.
func (s *Store) recordResults(ctx context.Context, tx pgx.Tx, holder string, results map[int64][]Result) error {
	var claimed, sent []int64
	var all []Result
	for id, some := range results {
		claimed = append(claimed, id)
		if len(some) > 0 {
			sent, all = append(sent, id), append(all, some...)
		}
	}
	if len(sent) > 0 {
		// Endpoints are locked before their deliveries, as in Update: the same order everywhere
		// prevents deadlocks.
		ends, err := lock(ctx, tx, sent)
		if err != nil {
			return err
		}
		if err := write(ctx, tx, all); err != nil {
			return err
		}
		if err := s.judgeEndpoints(ctx, tx, ends, results); err != nil {
			return err
		}
	}
	return endLeases(ctx, tx, holder, claimed)
}

// end has the columns of an endpoint that decide whether the endpoint is disabled.
type end struct {
	id        int64
	status    string
	exhausted int
}

// lock locks endpoints in the order of their ids and reads their counts, so that judgeEndpoints
// counts on from values that nobody else changes.
func lock(ctx context.Context, tx pgx.Tx, ids []int64) ([]end, error) {
	rows, _ := tx.Query(ctx, `SELECT id, status, exhausted FROM webhook_endpoints WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE`, ids) // CollectRows returns its error
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e end, err error) {
		return e, row.Scan(&e.id, &e.status, &e.exhausted)
	})
}

// write stores the outcomes in the rows of the deliveries and adds them to their histories. A
// delivery that was cancelled while it was being sent stays cancelled, unless it has arrived. An
// outcome counts only if it is the next one of its delivery, so that two nodes which sent the same
// attempt don't count it twice.
func write(ctx context.Context, tx pgx.Tx, results []Result) error {
	var c struct {
		ids                     []int64
		numbers, codes, latency []int32
		at, due                 []any
		errors, statuses        []string
		answers                 []string
	}
	for i := range results {
		r := &results[i]
		c.ids, c.numbers = append(c.ids, r.Delivery), append(c.numbers, int32(r.Number))   //nolint:gosec // at most a dozen
		c.codes = append(c.codes, int32(r.ResponseStatus))                                 //nolint:gosec // three digits
		c.latency = append(c.latency, int32(min(r.Latency.Milliseconds(), math.MaxInt32))) //nolint:gosec // bounded
		c.at, c.due = append(c.at, r.At), append(c.due, r.Due)
		c.errors, c.statuses = append(c.errors, r.Error), append(c.statuses, r.Status)
		c.answers = append(c.answers, r.Answer)
	}
	_, err := tx.Exec(ctx, `UPDATE webhook_deliveries d SET attempts = r.number, attempted_at = r.at, response_status = nullif(r.code, 0),
			latency_ms = r.latency, error = r.error,
			tries = d.tries || jsonb_build_object('number', r.number, 'at', r.at, 'status', nullif(r.code, 0), 'latency', r.latency, 'error', r.error, 'answer', r.answer),
			status = CASE WHEN d.due IS NULL AND r.status <> 'succeeded' THEN d.status ELSE r.status END,
			due = CASE WHEN d.due IS NOT NULL THEN r.due END
		FROM unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[], $7::text[], $8::timestamptz[], $9::text[])
			AS r(id, number, at, code, latency, error, status, due, answer)
		WHERE d.id = r.id AND d.attempts = r.number - 1`,
		c.ids, c.numbers, c.at, c.codes, c.latency, c.errors, c.statuses, c.due, c.answers)
	return err
}

// judgeEndpoints counts exhausted deliveries, and disables the endpoints that have too many of them
// in a row or that answered that they are gone. The deliveries that wait for a disabled endpoint are cancelled,
// and a job is queued that tells its organization. A success sets the count to 0. Endpoints that somebody has
// disabled already are left alone.
func (s *Store) judgeEndpoints(ctx context.Context, tx pgx.Tx, ends []end, results map[int64][]Result) error {
	for _, e := range ends {
		counted, reason := e.exhausted, ""
		for _, r := range results[e.id] {
			switch {
			case r.Gone:
				reason = ReasonGone
			case r.Status == Succeeded:
				counted = 0
			case r.Status == Exhausted:
				counted++
			}
		}
		if reason == "" && counted >= MaxExhausted {
			reason = ReasonExhausted
		}
		if e.status != Active || reason == "" && counted == e.exhausted {
			continue
		}
		if _, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET exhausted = $2, reason = $3,
			status = CASE WHEN $3 = '' THEN status ELSE 'disabled' END, updated_at = CASE WHEN $3 = '' THEN updated_at ELSE now() END
			WHERE id = $1`, e.id, counted, reason); err != nil {
			return err
		}
		if reason == "" {
			continue
		}
		if err := cancelWaiting(ctx, tx, []int64{e.id}); err != nil {
			return err
		}
		if _, err := s.jobs.InsertTx(ctx, tx, disabledArgs{e.id}, nil); err != nil {
			return err
		}
	}
	return nil
}

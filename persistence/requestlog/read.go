package requestlog

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Filter selects which of an organization's requests to list. A field that is zero leaves none out, except Org
// and Limit.
type Filter struct {
	Org        int64
	Key        int64
	Route      string
	StatusFrom int // lowest HTTP status to list; it counts only if StatusTo is set
	StatusTo   int // highest HTTP status to list
	From, To   time.Time
	Before     *Place // only requests after this place in the list
	Limit      int
}

// Place is a request's place in the list.
type Place struct {
	At     int64 // unix microseconds
	Number int64
}

// Place returns the entry's place.
func (e *Entry) Place() Place { return Place{e.At.UnixMicro(), e.Number} }

// List returns the requests of the last week (Kept) that a filter selects, the newest first. A request may
// appear some seconds after it was answered.
func (l *Log) List(ctx context.Context, f Filter) ([]Entry, error) {
	const list = `
SELECT number, org, key, at, took * interval '1 microsecond' AS took, status, method, route, request_id, client,
  EXISTS (SELECT FROM failed_requests f WHERE f.org = r.org AND f.request_id = r.request_id AND f.at > @failures_from) AS kept
FROM requests r
WHERE org = @org AND at > @kept_from
  AND (@key = 0 OR key = @key) AND (@route = '' OR route = @route) AND (@status_to = 0 OR status BETWEEN @status_from AND @status_to)
  AND (@from::timestamptz IS NULL OR at >= @from) AND (@to::timestamptz IS NULL OR at <= @to)
  AND (@before_at::timestamptz IS NULL OR (at, number) < (@before_at, @before_number::bigint))
ORDER BY at DESC, number DESC LIMIT @limit`
	args := pgx.NamedArgs{
		"org": f.Org, "kept_from": l.cfg.Now().Add(-Kept), "failures_from": l.cfg.Now().Add(-FailuresKept), "key": f.Key, "route": f.Route, "status_from": f.StatusFrom, "status_to": f.StatusTo,
		"from": orNull(f.From), "to": orNull(f.To), "before_at": nil, "before_number": nil, "limit": f.Limit,
	}
	if f.Before != nil {
		args["before_at"], args["before_number"] = time.UnixMicro(f.Before.At), f.Before.Number
	}
	rows, _ := l.cfg.Pool.Query(ctx, list, args) // CollectRows returns its error
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Entry])
	if err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	return entries, nil
}

// orNull returns nil for a time that is not set, which the query takes for no limit.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Figures are the figures of a route's requests, or of all requests.
type Figures struct {
	Method, Route string // count only requests of this method and route; "" stands for all
	Requests      int64
	ClientErrors  int64 // answers with a status of 4xx
	ServerErrors  int64 // answers with a status of 5xx
	// P50, P95 and P99 are the latencies that 50, 95 and 99 percent of the requests did not exceed.
	P50, P95, P99 time.Duration
}

// Summarize returns the figures of an organization's requests since a time. First come the figures of all requests,
// if there are any, and then the figures of each method and route, with the most used first.
func (l *Log) Summarize(ctx context.Context, org int64, since time.Time) ([]Figures, error) {
	const summarize = `
SELECT coalesce(method, ''), coalesce(route, ''), n, client_errors, server_errors,
  p[1] * interval '1 microsecond', p[2] * interval '1 microsecond', p[3] * interval '1 microsecond'
FROM (
  SELECT method, route, count(*) AS n, count(*) FILTER (WHERE status BETWEEN 400 AND 499) AS client_errors,
    count(*) FILTER (WHERE status >= 500) AS server_errors,
    percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY took) AS p
  FROM requests WHERE org = $1 AND at > $2
  GROUP BY GROUPING SETS ((method, route), ())) f
WHERE n > 0 ORDER BY method IS NOT NULL, n DESC, route, method`
	rows, _ := l.cfg.Pool.Query(ctx, summarize, org, since) // CollectRows returns its error
	figures, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Figures])
	if err != nil {
		return nil, fmt.Errorf("summarize requests: %w", err)
	}
	return figures, nil
}

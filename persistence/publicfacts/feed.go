package publicfacts

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Cursor is a place in the feed: after a fact, of any organization. The zero value is before all
// facts.
//
// It is never a place after a transaction that published nothing, because a server that crashes may
// give the numbers of its last transactions again.
type Cursor struct {
	XID      int64 // of the transaction that published the fact
	Position int64
}

func (c Cursor) before(o Cursor) bool {
	return c.XID < o.XID || c.XID == o.XID && c.Position < o.Position
}

// Query asks for a page of an organization's facts.
type Query struct {
	Org   int64
	After Cursor
	Types []string // empty: all
	Limit int
}

// Page is a page of the feed.
type Page struct {
	Facts []Fact
	End   Cursor // where the next page begins, which may be read now or later
	More  bool   // whether there may be more after End already
}

var (
	// ErrCursor says that the cursor is not from this feed.
	ErrCursor = errors.New("told: no such cursor")
	// ErrPruned says that facts after the cursor may have been deleted before they were read.
	ErrPruned = errors.New("told: the facts after the cursor have been deleted")
)

// span is how many of an organization's facts a page looks through at most, to find facts of its types. A page
// that finds few ends early, with More.
const span = 10_000

// Feed reads the facts after a cursor, in the order in which they became visible: a fact that
// becomes visible later never comes before one that was read. It may return ErrCursor or ErrPruned.
//
// While a transaction that writes is open anywhere in the server, the feed does not go beyond it.
func (s *Store) Feed(ctx context.Context, q Query) (*Page, error) {
	horizon, last, err := s.horizon(ctx, q.After)
	if err != nil {
		return nil, err
	}
	const after = `
SELECT position, xid::text::bigint, coalesce(cardinality($5::text[]), 0) = 0 OR type = ANY($5) FROM facts
WHERE org = $1 AND (xid, position) > ($2::text::xid8, $3) AND xid < $4::text::xid8
ORDER BY facts.xid, position LIMIT $6`
	limit := span
	if len(q.Types) == 0 {
		limit = q.Limit + 1
	}
	rows, err := s.pool.Query(ctx, after, q.Org, xid(q.After.XID), q.After.Position, xid(horizon), q.Types, limit)
	if err != nil {
		return nil, fmt.Errorf("told: feed: %w", err)
	}
	page := &Page{End: q.After}
	var found []int64
	var at Cursor
	var wanted bool
	seen := 0
	if _, err = pgx.ForEachRow(rows, []any{&at.Position, &at.XID, &wanted}, func() error {
		seen++
		page.More = page.More || wanted && len(found) == q.Limit
		if page.More {
			return nil
		}
		page.End = at
		if wanted {
			found = append(found, at.Position)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("told: feed: %w", err)
	}
	page.More = page.More || seen == limit
	if !page.More && page.End.before(last) {
		page.End = last // the organization has no more facts before that place
	}
	page.Facts, err = s.Load(ctx, found)
	return page, err
}

// End returns the place after the last fact of an organization that Feed shows now.
func (s *Store) End(ctx context.Context, org int64) (Cursor, error) {
	horizon, last, err := s.horizon(ctx, Cursor{})
	if err != nil {
		return Cursor{}, err
	}
	const newest = `
SELECT xid::text::bigint, position FROM facts WHERE org = $1 AND xid < $2::text::xid8 ORDER BY facts.xid DESC, position DESC LIMIT 1`
	var own Cursor
	switch err := s.pool.QueryRow(ctx, newest, org, xid(horizon)).Scan(&own.XID, &own.Position); {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return Cursor{}, fmt.Errorf("told: end of the feed: %w", err)
	case last.before(own):
		return own, nil
	}
	return last, nil
}

func xid(n int64) string { return strconv.FormatInt(n, 10) }

// horizon returns the horizon, which is the number of the oldest transaction that is still open: all earlier
// ones have ended. It also returns a place from before the horizon, after a recent fact or after the deleted
// ones, and checks the cursor (ErrCursor, ErrPruned).
func (s *Store) horizon(ctx context.Context, c Cursor) (horizon int64, last Cursor, err error) {
	const read = `
WITH h AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid),
late AS (SELECT xid, position FROM facts ORDER BY position DESC LIMIT 1000),
last AS (SELECT xid, position FROM late WHERE xid < (SELECT xid FROM h) ORDER BY xid DESC, position DESC LIMIT 1)
SELECT h.xid::text::bigint, p.xid::text::bigint, p.position, coalesce(l.xid, '0')::text::bigint, coalesce(l.position, 0)
FROM h CROSS JOIN facts_pruned p LEFT JOIN last l ON true`
	var pruned Cursor
	if err = s.pool.QueryRow(ctx, read).Scan(&horizon, &pruned.XID, &pruned.Position, &last.XID, &last.Position); err != nil {
		return 0, last, fmt.Errorf("told: feed: %w", err)
	}
	if last.before(pruned) {
		last = pruned
	}
	switch {
	case c.XID >= horizon: // the cursor is of another database, and this one is not its copy
		return 0, last, ErrCursor
	case c != Cursor{} && c.before(pruned):
		return 0, last, ErrPruned
	default:
		return horizon, last, nil
	}
}

// Load reads facts by their positions, in the feed's order. Deleted facts are left out.
func (s *Store) Load(ctx context.Context, positions []int64) ([]Fact, error) {
	if len(positions) == 0 {
		return nil, nil
	}
	const read = `
SELECT id, position, org, type, stream, aggregate, seq, at, data FROM facts WHERE position = ANY($1) ORDER BY xid, position`
	rows, _ := s.pool.Query(ctx, read, positions) // CollectRows returns its error
	facts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f Fact, err error) {
		var sealed []byte
		if err = row.Scan(&f.ID, &f.Position, &f.Org, &f.Type, &f.Stream, &f.Aggregate, &f.Seq, &f.At, &sealed); err != nil {
			return f, err
		}
		f.Data, err = Unseal(s.vault, f.ID, sealed)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("told: read facts: %w", err)
	}
	return facts, nil
}

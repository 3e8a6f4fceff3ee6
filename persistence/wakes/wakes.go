// Package wakes keeps the times at which actors that are not loaded want to be woken. It also keeps which
// actors were loaded when a node last ended: Journal.Claim notes every actor that is activated, so that work
// that a crash cut off is continued at the next start. It is a table and has no goroutine; package cluster
// calls it.
package wakes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Table is the table of wakes, in each database of the journal.
type Table struct{ pools journal.Pools }

// New returns the table in the databases of a journal.
func New(pools ...*pgxpool.Pool) Table { return Table{pools} }

// Park releases the stream of an actor that is put away, and notes when the actor wants a Wake; the zero time
// means never. Nothing may be appended to the stream under the claim any more. If the actor has lost its stream
// in the meantime, Park changes nothing, because the next activation has made its own note.
func (t Table) Park(ctx context.Context, ref engine.Ref, claim journal.Claim, at time.Time) error {
	const (
		mine  = `WITH mine AS (UPDATE streams SET writer = NULL WHERE stream_id = $2 AND epoch = $3 RETURNING stream_id) `
		never = mine + `DELETE FROM wakes WHERE name = $1 AND EXISTS (SELECT FROM mine)`
		later = mine + `INSERT INTO wakes (name, at) SELECT $1, $4 FROM mine ON CONFLICT (name) DO UPDATE SET at = excluded.at`
	)
	query, args := never, []any{ref.Name(), claim.Stream, claim.Epoch}
	if !at.IsZero() {
		query, args = later, append(args, at)
	}
	if _, err := t.pools.Of(claim.Stream).Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("park %s: %w", ref.Name(), err)
	}
	return nil
}

// Due returns the actors whose times are in (after, until]. If some databases do not answer, it returns the actors in
// the others, together with an error.
func (t Table) Due(ctx context.Context, after, until time.Time) ([]engine.Ref, error) {
	var refs []engine.Ref
	var errs []error
	for _, pool := range t.pools {
		rows, _ := pool.Query(ctx, `SELECT name FROM wakes WHERE at > $1 AND at <= $2`, after, until) // CollectRows returns its error
		some, err := pgx.CollectRows(rows, scanRef)
		if err != nil {
			errs = append(errs, fmt.Errorf("wakes: %w", err))
			continue
		}
		refs = append(refs, some...)
	}
	return refs, errors.Join(errs...)
}

func scanRef(row pgx.CollectableRow) (engine.Ref, error) {
	name, err := pgx.RowTo[string](row)
	if err != nil {
		return engine.Ref{}, err
	}
	return engine.ParseRef(name)
}

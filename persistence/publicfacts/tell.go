package publicfacts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Own is a public fact that no actor owns: somebody has written a row of a plain table.
type Own struct {
	Org       int64
	Aggregate string // what the fact is about, e.g. report/7f9c...
	Draft
}

// Tell publishes facts that no actor owns. tx is the transaction that writes the rows that the facts are about, so
// that a fact is published exactly if the row was written. No two facts of one call may be about the same aggregate.
// The facts get their numbers from the table fact_aggregates, under a negative stream.
func (s *Store) Tell(ctx context.Context, tx pgx.Tx, own ...Own) error {
	if len(own) == 0 {
		return nil
	}
	aggregates, at := make([]string, len(own)), make(map[string]int, len(own))
	facts := make([]Fact, len(own))
	for i := range own {
		o := &own[i]
		aggregates[i], at[o.Aggregate] = o.Aggregate, i
		facts[i] = Fact{Org: o.Org, Type: o.Type, Aggregate: o.Aggregate, At: o.At, Data: o.Data}
	}
	// The rows are locked in one order, so that two transactions do not deadlock.
	const next = `
INSERT INTO fact_aggregates AS a (aggregate, seq) SELECT name, 1 FROM unnest($1::text[]) AS name ORDER BY name
ON CONFLICT (aggregate) DO UPDATE SET seq = a.seq + 1 RETURNING aggregate, -number, seq`
	rows, _ := tx.Query(ctx, next, aggregates) // ForEachRow returns its error
	var aggregate string
	var stream, seq int64
	if _, err := pgx.ForEachRow(rows, []any{&aggregate, &stream, &seq}, func() error {
		f := &facts[at[aggregate]]
		f.Stream, f.Seq, f.ID = stream, seq, ID(stream, seq, f.Type, 0)
		return nil
	}); err != nil {
		return fmt.Errorf("told: number facts: %w", err)
	}
	return s.add(ctx, tx, facts)
}

// TellAlone publishes facts in a transaction of their own, because no row of a table changes with them.
func (s *Store) TellAlone(ctx context.Context, own ...Own) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.Tell(ctx, tx, own...) })
}

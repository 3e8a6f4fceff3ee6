package follower

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence"
	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// Position says how far a follower has come in the batches of one writer that it has not read to
// its end.
type Position struct {
	Follower string `json:"follower"`
	Writer   int32  `json:"writer"`
	Batch    int64  `json:"batch"` // the last one applied
	Head     int64  `json:"head"`  // the last one that exists
}

// Positions returns how far all followers have come, from their saved positions, in the writers of the journal.
// It leaves out followers that have never applied a batch, writers that a follower has read to their end, and
// writers in a database that is known not to answer.
func Positions(ctx context.Context, pool *pgxpool.Pool, from *journal.Reader) ([]Position, error) {
	writers, err := from.Writers(ctx)
	if err != nil && !errors.Is(err, persistence.ErrAway) {
		return nil, fmt.Errorf("follower: positions: %w", err)
	}
	ids := make([]int32, len(writers))
	for i := range writers {
		ids[i] = writers[i].ID
	}
	const all = `
SELECT n.name, w.writer, coalesce(f.batch, 0) AS batch, 0::bigint FROM (SELECT DISTINCT name FROM followers) n
CROSS JOIN unnest($1::int[]) AS w(writer) LEFT JOIN followers f ON f.name = n.name AND f.writer = w.writer
WHERE coalesce(f.batch, 0) < $2 ORDER BY n.name, w.writer`
	rows, _ := pool.Query(ctx, all, ids, int64(merge.Final)) // CollectRows returns its error
	positions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Position])
	if err != nil {
		return nil, fmt.Errorf("follower: positions: %w", err)
	}
	open := make([]int32, len(positions))
	for i := range positions {
		open[i] = positions[i].Writer
	}
	heads, err := from.Heads(ctx, open)
	if err != nil {
		return nil, fmt.Errorf("follower: positions: %w", err)
	}
	for i := range positions {
		positions[i].Head = max(positions[i].Batch, heads[i])
	}
	return positions, nil
}

package follower

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Position says how far a follower has come in the batches of one writer that it has not read to
// its end.
type Position struct {
	Follower string `json:"follower"`
	Writer   int32  `json:"writer"`
	Batch    int64  `json:"batch"` // the last one applied
	Head     int64  `json:"head"`  // the last one that exists
}

// Positions returns how far all followers have come, from their saved positions. A follower that
// has never applied a batch is missing.
func Positions(ctx context.Context, pool *pgxpool.Pool) ([]Position, error) {
	const all = `
SELECT n.name, w.writer, p.batch, greatest(p.batch, (SELECT max(j.batch) FROM journal j WHERE j.writer = w.writer AND j.batch > p.batch))
FROM (SELECT DISTINCT name FROM followers) n CROSS JOIN writers w
CROSS JOIN LATERAL (SELECT coalesce((SELECT f.batch FROM followers f WHERE f.name = n.name AND f.writer = w.writer), 0) AS batch) p
WHERE p.batch < $1 ORDER BY n.name, w.writer`
	rows, err := pool.Query(ctx, all, int64(final))
	if err != nil {
		return nil, fmt.Errorf("follower: positions: %w", err)
	}
	positions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Position])
	if err != nil {
		return nil, fmt.Errorf("follower: positions: %w", err)
	}
	return positions, nil
}

package journal

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// MaxShards is how many databases a journal may have. Shard s gives its writers and streams only numbers with the
// remainder s when divided by MaxShards, so that a number tells its database.
const MaxShards = 64

// Pools are the databases of a journal, one for each shard, in order.
type Pools []*pgxpool.Pool

// Of returns the database that has a writer or a stream.
func (p Pools) Of(id int64) *pgxpool.Pool { return p[p.shardOf(id)] }

// shardOf returns the shard of a writer or stream. If no shard can have given the number, it returns some shard, and
// a query there finds nothing.
func (p Pools) shardOf(id int64) int {
	if len(p) == 1 {
		return 0
	}
	return int(uint64(id) % MaxShards % uint64(len(p))) //nolint:gosec // below len(p)
}

// groupByShard divides a list of numbers by shard. For each shard it returns the indices in ids of the numbers that
// the shard has given.
func groupByShard[T int32 | int64](p Pools, ids []T) [][]int {
	places := make([][]int, len(p))
	for i, id := range ids {
		shard := p.shardOf(int64(id))
		places[shard] = append(places[shard], i)
	}
	return places
}

// pickPlaces returns the elements of a list at the given indices.
func pickPlaces[T any](all []T, places []int) []T {
	some := make([]T, len(places))
	for i, place := range places {
		some[i] = all[place]
	}
	return some
}

// collectLists reads a list from each database and joins the lists. If some databases do not answer, it returns the
// lists of the others, together with the errors.
func collectLists[T any](ctx context.Context, p Pools, read func(context.Context, *pgxpool.Pool) ([]T, error)) ([]T, error) {
	var all []T
	var errs []error
	for _, pool := range p {
		some, err := read(ctx, pool)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, some...)
	}
	return all, errors.Join(errs...)
}

package journal

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// MaxShards is how many databases a journal may have: shard s gives its writers and streams the numbers
// that leave s when they are divided by it. So a number says in which database it is.
const MaxShards = 64

// Pools are the databases of a journal, one for each shard, in order.
type Pools []*pgxpool.Pool

// Of returns the database that has a writer or a stream.
func (p Pools) Of(id int64) *pgxpool.Pool { return p[p.shardOf(id)] }

// shardOf returns the shard of a writer or stream. A number that no shard has given is looked for in
// one of them, and not found.
func (p Pools) shardOf(id int64) int {
	if len(p) == 1 {
		return 0
	}
	return int(uint64(id) % MaxShards % uint64(len(p))) //nolint:gosec // below len(p)
}

// groupByShard divides a list by shard. It returns the places in the list of each shard's numbers.
func groupByShard[T int32 | int64](p Pools, ids []T) [][]int {
	places := make([][]int, len(p))
	for i, id := range ids {
		shard := p.shardOf(int64(id))
		places[shard] = append(places[shard], i)
	}
	return places
}

// pickPlaces returns the values at the given places.
func pickPlaces[T any](all []T, places []int) []T {
	some := make([]T, len(places))
	for i, place := range places {
		some[i] = all[place]
	}
	return some
}

// collectLists reads a list from each database. If some do not answer, it returns what the others have, and
// the error.
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

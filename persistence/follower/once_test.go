package follower_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// record is of facts whose bodies are their seqs.
func record(stream, first, last int64) journal.Record {
	r := journal.Record{Ref: engine.EventRef(stream), Stream: stream, First: first, Last: last}
	for seq := first; seq <= last; seq++ {
		r.Bytes = codec.AppendBody(r.Bytes, 1, binary.AppendVarint(nil, seq))
	}
	return r
}

func apply(ctx context.Context, pool *pgxpool.Pool, a follower.Apply, records ...journal.Record) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		return a(ctx, tx, []journal.Batch{{Writer: 1, Seq: 1}, {Writer: 1, Seq: 2, Records: records}})
	})
}

func TestOnce(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var got []journal.Batch
	once := follower.Once("a", journal.NewReader(pool), func(_ context.Context, _ pgx.Tx, batches []journal.Batch) error {
		got = batches
		return nil
	})
	for _, step := range []struct {
		name      string
		in, fresh []journal.Record
		gap       bool
	}{
		{"two streams", []journal.Record{record(1, 1, 3), record(2, 1, 1)}, []journal.Record{record(1, 1, 3), record(2, 1, 1)}, false},
		{"the same again", []journal.Record{record(1, 1, 3), record(2, 1, 1)}, nil, false},
		{"one that overlaps", []journal.Record{record(1, 2, 5)}, []journal.Record{record(1, 4, 5)}, false},
		{"in parts, some twice", []journal.Record{record(1, 6, 6), record(1, 5, 6), record(1, 6, 8)}, []journal.Record{record(1, 6, 6), record(1, 7, 8)}, false},
		{"a gap", []journal.Record{record(2, 2, 2), record(1, 10, 10)}, nil, true},
		{"none of which was applied", []journal.Record{record(2, 2, 2), record(1, 9, 9)}, []journal.Record{record(2, 2, 2), record(1, 9, 9)}, false},
		{"a new stream's second", []journal.Record{record(3, 2, 2)}, nil, true},
		{"nothing", nil, nil, false},
	} {
		got = nil
		err := apply(t.Context(), pool, once, step.in...)
		if step.gap {
			require.ErrorIs(t, err, follower.ErrGap, step.name)
			continue
		}
		require.NoError(t, err, step.name)
		if step.fresh == nil {
			require.Empty(t, got, step.name)
			continue
		}
		require.Equal(t, []journal.Batch{{Writer: 1, Seq: 2, Records: step.fresh}}, got, step.name)
	}
	require.NoError(t, apply(t.Context(), pool, follower.Once("b", journal.NewReader(pool), func(context.Context, pgx.Tx, []journal.Batch) error { return nil }), record(1, 1, 1)))
}

// TestOnceAmongMany has many try to apply the same facts at once.
func TestOnceAmongMany(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var applied atomic.Int64
	once := follower.Once("a", journal.NewReader(pool), func(context.Context, pgx.Tx, []journal.Batch) error {
		applied.Add(1)
		return nil
	})
	for seq := int64(1); seq <= 20; seq++ {
		var rivals sync.WaitGroup
		for range 4 {
			rivals.Go(func() {
				if err := apply(t.Context(), pool, once, record(1, seq, seq)); err != nil && !errors.Is(err, follower.ErrAgain) {
					t.Error(err)
				}
			})
		}
		rivals.Wait()
		require.Equal(t, seq, applied.Load())
	}
}

// TestTriesAgain goes on when what the facts go to is back.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	var tries atomic.Int64
	f := s.follower(func(c *follower.Config) {
		c.Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			if tries.Add(1) < 4 {
				return follower.ErrAgain
			}
			return note(ctx, tx, batches)
		}
	})
	j := s.journal("a", f.Offer)
	f.Start(j)
	write(t, scribes(t, j, 3), 5)
	s.passed(f)
	require.Equal(t, s.written(j), s.effects())
}

package follower_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// counted is a journal that counts how often it is read.
type counted struct {
	follower.Journal

	reads atomic.Int64
}

func (c *counted) ReadWriter(ctx context.Context, writer int32, after int64) iter.Seq2[journal.Batch, error] {
	c.reads.Add(1)
	return c.Journal.ReadWriter(ctx, writer, after)
}

// TestLimit has a follower that is slower than what it follows hold no more in
// memory than its queue: the rest is read from the journal, and nothing is lost.
func TestLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	began, goOn := make(chan struct{}), make(chan struct{})
	f := s.follower(func(c *follower.Config) {
		c.MaxQueue, c.MaxBatch, c.Poll = 20, 2, time.Hour
		c.Apply = func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			began <- struct{}{}
			<-goOn
			return note(ctx, tx, batches)
		}
	})
	j := s.journal("a", f.Offer)
	from := &counted{Journal: j}
	f.Start(from)
	streams := scribes(t, j, 1)
	for range 2 { // one may be read, the next one comes by the feed
		write(t, streams, 1)
		<-began
		goOn <- struct{}{}
		s.passed(f)
	}
	before := from.reads.Load()
	for range 4 { // 15 facts come in the time that two take
		for range 15 {
			write(t, streams, 1)
		}
		<-began
		goOn <- struct{}{}
	}
	go func() {
		for range began {
			goOn <- struct{}{}
		}
	}()
	s.caughtUp(j)
	require.Greater(t, from.reads.Load(), before)
	kill(f)
	close(began)
}

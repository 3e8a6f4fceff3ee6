package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/persistence"
)

// Shard is one of the databases of a journal, with the actors of a range of buckets.
type Shard struct {
	Pool        *pgxpool.Pool
	Lane        *pgx.ConnConfig    // how lanes connect, as Config.Lane
	Valve       *persistence.Valve // valve before the database; nil if the journal has only one
	First, Last int                // first and last bucket of the shard
	Version     int32              // version of the place where the shard is, as this node knows it; 0 if there is only one shard
}

// Shards is the journal of one node over one database or several. An actor's facts are in the database that has the
// actor's bucket, so a commit is one row in one database. A database that does not answer holds up only its own
// actors. It ends the node only after Config.FailAfter, for which package node sets no limit if there are several.
type Shards struct {
	Reader
	shards []Shard
	all    []*Postgres
	of     [engine.Buckets]*Postgres
	failed chan error

	watching sync.WaitGroup // waits for the goroutines that look whether the databases answer
	unwatch  context.CancelFunc
}

var _ Journal = (*Shards)(nil)

// OpenShards opens the journal in all of its databases, as Open does. The fields of cfg about a database are taken
// from the shards. If one can't be opened, OpenShards stops those that were opened.
func OpenShards(ctx context.Context, cfg Config, shards []Shard) (*Shards, error) {
	s := &Shards{shards: shards, failed: make(chan error, 1)}
	// The lanes' commits are also signs of life for the valve, which then need not ask the database.
	cfg = withCommitted(cfg)
	for i, one := range shards {
		c := cfg
		c.Pool, c.Lane, c.Valve, c.Version = one.Pool, one.Lane, one.Valve, one.Version
		if v := one.Valve; v != nil {
			c.Committed = func(took time.Duration) {
				v.Heard()
				cfg.Committed(took)
			}
		}
		j, err := open(ctx, c, s.failed)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("shard %d: %w", i, err), s.stopAll(ctx))
		}
		s.all, s.pools = append(s.all, j), append(s.pools, one.Pool)
		for bucket := one.First; bucket <= one.Last; bucket++ {
			s.of[bucket] = j
		}
	}
	// The valves are watched until Stop, and not only as long as the context of the start lasts.
	watch, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.unwatch = cancel
	for _, one := range shards {
		if one.Valve != nil {
			s.watching.Go(func() { one.Valve.Watch(watch, one.Pool.Config().ConnConfig, cfg.Log, LookAt(one.Version)) })
		}
	}
	return s, nil
}

// LookAt returns the question that a valve asks a shard's database: does it commit, and is it the place of the shard
// that this node knows? A database may answer reads and still not commit: it is a standby, was made read-only, waits
// for a standby that is gone, or its log's disk does not answer. So the question itself commits something. It is as
// small as possible: a message in the log, which takes no lock and leaves no row.
func LookAt(version int32) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, conn *pgx.Conn) error {
		const look = `
SELECT version, current_setting('transaction_read_only') = 'on', pg_logical_emit_message(true, 'boxoffice', '')::text FROM journal_mark`
		var there int32
		var readOnly bool
		if err := conn.QueryRow(ctx, look).Scan(&there, &readOnly, nil); err != nil {
			return err
		}
		switch {
		case readOnly:
			return errors.New("it takes no writes")
		case there != version:
			return ErrOtherMap
		}
		return nil
	}
}

// journalOf returns the journal that has the actor.
func (s *Shards) journalOf(ref engine.Ref) *Postgres { return s.of[engine.BucketOf(ref.Home)] }

// Claim calls Postgres.Claim of the actor's shard.
func (s *Shards) Claim(ctx context.Context, ref engine.Ref) (Claim, error) {
	return s.journalOf(ref).Claim(ctx, ref)
}

// Append calls Postgres.Append of the actor's shard.
func (s *Shards) Append(e *Entry) { s.journalOf(e.Ref).Append(e) }

// Stop stops all shards at the same time (Postgres.Stop). A shard that does not answer then takes no time from the
// others.
func (s *Shards) Stop(ctx context.Context) error {
	err := s.stopAll(ctx)
	s.unwatch() // only now, because until here a shard that answers again can still write its entries
	s.watching.Wait()
	return err
}

// stopAll stops the shards that were opened, and joins their errors.
func (s *Shards) stopAll(ctx context.Context) error {
	errs := make([]error, len(s.all))
	var stopping sync.WaitGroup
	for i, j := range s.all {
		stopping.Go(func() { errs[i] = j.Stop(ctx) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// Failed returns a channel that gets one error if a shard's journal has failed, and the node must exit. A shard that
// does not answer for less than Config.FailAfter has not failed.
func (s *Shards) Failed() <-chan error { return s.failed }

// Shut returns a channel that is closed while the shard of an event does not answer; nil if there is
// only one shard.
func (s *Shards) Shut(event int64) <-chan struct{} {
	if v := s.of[engine.BucketOf(event)].cfg.Valve; v != nil {
		return v.Shut()
	}
	return nil
}

// Away returns an error while the shard of an event does not answer.
func (s *Shards) Away(event int64) error {
	if v := s.of[engine.BucketOf(event)].cfg.Valve; v != nil {
		return v.Err()
	}
	return nil
}

// isShut reports whether the journal is a shard that does not answer.
func (j *Postgres) isShut() bool { return j.cfg.Valve != nil && j.cfg.Valve.IsShut() }

// ShardState tells whether a shard answers, and how far its commits are behind.
type ShardState struct {
	Err     error         // why the database does not answer; nil if it does
	Waiting time.Duration // how long its oldest batch has waited, as Postgres.Waiting
}

// States returns the state of each shard, in order. A journal with only one database counts as answering.
func (s *Shards) States() []ShardState {
	states := make([]ShardState, len(s.all))
	for i, j := range s.all {
		states[i].Waiting = j.Waiting()
		if v := j.cfg.Valve; v != nil {
			states[i].Err = v.Err()
		}
	}
	return states
}

// Backlog is Postgres.Backlog summed over all shards that answer: entries that wait for a shard that does not
// answer are no reason to refuse work.
func (s *Shards) Backlog() (n int) {
	for _, j := range s.all {
		if !j.isShut() {
			n += j.Backlog()
		}
	}
	return n
}

// Waiting returns the longest Postgres.Waiting of the shards that answer.
func (s *Shards) Waiting() (longest time.Duration) {
	for _, j := range s.all {
		if !j.isShut() {
			longest = max(longest, j.Waiting())
		}
	}
	return longest
}

// Unindexed returns the longest Postgres.Unindexed of the shards that answer.
func (s *Shards) Unindexed() (longest time.Duration) {
	for _, j := range s.all {
		if !j.isShut() {
			longest = max(longest, j.Unindexed())
		}
	}
	return longest
}

// Silent returns the shortest Postgres.Silent: how long no shard has answered.
func (s *Shards) Silent() time.Duration {
	shortest := s.all[0].Silent()
	for _, j := range s.all[1:] {
		shortest = min(shortest, j.Silent())
	}
	return shortest
}

// Stats reads the counters of all shards.
func (s *Shards) Stats() (all Stats) {
	for _, j := range s.all {
		one := j.Stats()
		all.Batches += one.Batches
		all.Entries += one.Entries
		all.Facts += one.Facts
		all.Bytes += one.Bytes
		all.Retries += one.Retries
		all.Fences += one.Fences
	}
	return all
}

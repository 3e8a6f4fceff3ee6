// Package snapshot keeps encoded states of actors, so that an activation need
// not replay its whole stream. It owns the table snapshots. The host saves a
// state once all facts in it are durable, in the background; an activation loads
// the latest after its claim. There is nothing to stop.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// partSize keeps one statement short, and with it the wait of a journal
	// lane behind it.
	partSize = 512 << 10
	// pause lets appends through between the parts of a large state: at least
	// so long, and pauses times as long as the last part took.
	pause  = 10 * time.Millisecond
	pauses = 3
	// kept is how many complete snapshots Prune leaves of a stream.
	kept = 2
)

// ErrStale says that a state may not be saved: a later claim owns its stream, or
// it holds facts that the journal does not.
var ErrStale = errors.New("snapshot: state is not what the journal says")

// Store saves and loads snapshots. It saves one at a time: one writer per node
// is what the disk bears beside the journal.
type Store struct {
	pool *pgxpool.Pool
	turn chan struct{}
}

// New makes a store on the pool, of which a Save uses one connection. Let it not
// be the pool that requests wait for.
func New(pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, turn: make(chan struct{}, 1)}
}

// Save writes the state of a stream after the fact seq, as it was held under
// epoch. It returns ErrStale if the epoch has passed or the fact is not in the
// journal. A Save that broke off leaves nothing that Load would see. The state
// saved before is kept beside it, older ones are pruned.
func (s *Store) Save(ctx context.Context, stream, seq int64, epoch int32, state []byte) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("snapshot: save stream %d: %w", stream, ctx.Err())
	}
	// Parts of an earlier Save that broke off would mix with ours.
	const clean = `DELETE FROM snapshots WHERE stream_id = $1 AND epoch = $2 AND seq = $3`
	if _, err := s.pool.Exec(ctx, clean, stream, epoch, seq); err != nil {
		return fmt.Errorf("snapshot: save stream %d: %w", stream, err)
	}
	parts := max(1, (len(state)+partSize-1)/partSize)
	for part := parts - 1; part >= 0; part-- {
		data, began := state[part*partSize:min(len(state), (part+1)*partSize)], time.Now()
		if err := s.savePart(ctx, stream, seq, epoch, part, parts, data); err != nil {
			return fmt.Errorf("snapshot: save stream %d: %w", stream, err)
		}
		if part > 0 {
			if err := sleep(ctx, max(pause, pauses*time.Since(began))); err != nil {
				return fmt.Errorf("snapshot: save stream %d: %w", stream, err)
			}
		}
	}
	return s.Prune(ctx, stream)
}

// savePart writes one part while the epoch stands. Part 0 comes last and is what
// Load looks for. No lock is taken: it would hold claims up, and a snapshot that
// is a claim late is still a true state of its seq.
func (s *Store) savePart(ctx context.Context, stream, seq int64, epoch int32, part, parts int, data []byte) error {
	const insert = `
INSERT INTO snapshots (stream_id, epoch, seq, part, parts, state)
SELECT stream_id, epoch, $3::bigint, $4::int, $5::int, $6::bytea FROM streams s
WHERE stream_id = $1 AND epoch = $2
  AND ($3::bigint = 0 OR EXISTS (SELECT FROM journal j WHERE j.stream_id = s.stream_id AND j.last_seq >= $3::bigint))`
	tag, err := s.pool.Exec(ctx, insert, stream, epoch, seq, part, parts, notNil(data))
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrStale
	}
	return nil
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// latest names a stream's newest complete snapshot: that of the newest epoch
// which has one, so that an old owner's late save shadows nothing.
const latest = `
SELECT epoch, seq FROM snapshots WHERE stream_id = $1 AND part = 0 ORDER BY epoch DESC, seq DESC`

// Load returns the latest complete snapshot and the seq of the last fact in it,
// or 0 and nil when there is none.
func (s *Store) Load(ctx context.Context, stream int64) (seq int64, state []byte, err error) {
	const read = `
SELECT seq, part, parts, state FROM snapshots
WHERE stream_id = $1 AND (epoch, seq) = (` + latest + ` LIMIT 1) ORDER BY part`
	rows, err := s.pool.Query(ctx, read, stream)
	if err != nil {
		return 0, nil, fmt.Errorf("snapshot: load stream %d: %w", stream, err)
	}
	var part, parts, next int
	var data pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&seq, &part, &parts, &data}, func() error {
		if part != next {
			return fmt.Errorf("part %d follows %d", part, next-1)
		}
		if state == nil {
			state = make([]byte, 0, parts*len(data))
		}
		state = append(state, data...)
		next++
		return nil
	})
	if err == nil && next != parts {
		err = fmt.Errorf("%d of %d parts", next, parts)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("snapshot: load stream %d: %w", stream, err)
	}
	return seq, state, nil
}

// Prune removes all but the two latest complete snapshots of the stream, and
// what broken Saves left behind before those.
func (s *Store) Prune(ctx context.Context, stream int64) error {
	const prune = `
DELETE FROM snapshots WHERE stream_id = $1 AND (epoch, seq) < (` + latest + ` OFFSET $2 LIMIT 1)`
	if _, err := s.pool.Exec(ctx, prune, stream, kept-1); err != nil {
		return fmt.Errorf("snapshot: prune stream %d: %w", stream, err)
	}
	return nil
}

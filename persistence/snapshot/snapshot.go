// Package snapshot keeps encoded states of actors, so that an activation does not have to replay
// its whole stream. It owns the table snapshots. The host saves a state in the background once all
// facts in it are durable. An activation loads the latest snapshot after its claim, and the one
// before if that is damaged or the journal contradicts it. No actor has to be stopped.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/journal"
)

const (
	// partSize is how many bytes a part has at most. It keeps a statement short, and with it the time that a
	// journal lane has to wait for the statement.
	partSize = 512 << 10
	// kept is how many complete snapshots Prune leaves for a stream.
	kept = 2
)

// ErrStale says that a state may not be saved, because a later claim owns its stream, or because it
// contains facts that the journal does not have.
var ErrStale = errors.New("snapshot: state is not what the journal says")

// Store saves and loads snapshots. It saves one at a time, because the disk is fast enough for only one such
// writer per node besides the journal.
type Store struct {
	pools journal.Pools
	turn  chan []byte // holds the only buffer, of the size of a part: one snapshot at a time is written
}

// New makes a store on the databases of a journal; a Save uses one connection. These should not be
// the pools for which requests wait.
func New(pools ...*pgxpool.Pool) *Store {
	s := &Store{pools: pools, turn: make(chan []byte, 1)}
	s.turn <- make([]byte, 0, partSize)
	return s
}

// Save stores the state of a stream after the fact seq, as it was under epoch. It takes the bytes
// from write and stores them in parts as they come. It returns ErrStale if a later epoch owns the
// stream or the fact is not in the journal. A Save that breaks off leaves nothing that Load would
// see. The previous state is kept too, and older ones are pruned.
func (s *Store) Save(ctx context.Context, stream, seq int64, epoch int32, write func(io.Writer) error) error {
	w := partWriter{ctx: ctx, pool: s.pools.Of(stream), stream: stream, seq: seq, epoch: epoch}
	select {
	case w.buf = <-s.turn:
		defer func() { s.turn <- w.buf[:0] }()
	case <-ctx.Done():
		return fmt.Errorf("snapshot: save stream %d: %w", stream, ctx.Err())
	}
	// Parts of an earlier Save that broke off would mix with the new ones.
	const clean = `DELETE FROM snapshots WHERE stream_id = $1 AND epoch = $2 AND seq = $3`
	_, err := w.pool.Exec(ctx, clean, stream, epoch, seq)
	if err == nil {
		err = write(&w)
	}
	if err == nil {
		err = w.end()
	}
	if err != nil {
		return fmt.Errorf("snapshot: save stream %d: %w", stream, err)
	}
	return s.Prune(ctx, stream)
}

// partWriter is one call of Save.
type partWriter struct {
	ctx         context.Context
	pool        *pgxpool.Pool
	stream, seq int64
	epoch       int32
	part        int    // how many parts have been saved
	buf         []byte // the beginning of the next part
}

// Write adds bytes of the state to the next part, and saves each full part once more bytes come. So the last part,
// even a full one, is left for end.
func (w *partWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if len(w.buf) == partSize {
			if err := w.save(0); err != nil {
				return 0, err
			}
		}
		room := min(len(b), partSize-len(w.buf))
		w.buf, b = append(w.buf, b[:room]...), b[room:]
	}
	return n, nil
}

// end saves the last part, for which Load looks: it alone has the number of parts.
func (w *partWriter) end() error { return w.save(w.part + 1) }

// save writes one part, if the stream still has the epoch and the journal has its facts up to seq; otherwise it
// returns ErrStale. parts is 0, except for the last part, which gets their number. save takes no lock, because a lock
// would hold claims up, and a snapshot that comes after a later claim is still a true state of its seq.
func (w *partWriter) save(parts int) error {
	const insert = `
INSERT INTO snapshots (stream_id, epoch, seq, part, parts, state)
SELECT stream_id, epoch, $3::bigint, $4::int, $5::int, $6::bytea FROM streams
WHERE stream_id = $1 AND epoch = $2
  AND ($3::bigint = 0 OR head_of(stream_id) >= $3::bigint)`
	tag, err := w.pool.Exec(w.ctx, insert, w.stream, w.epoch, w.seq, w.part, parts, w.buf)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrStale
	}
	w.part++
	w.buf = w.buf[:0]
	return nil
}

// complete selects a stream's complete snapshots. A complete snapshot has its last part, which is
// saved last, and its first, which earlier versions saved last.
const complete = `
SELECT epoch, seq, parts FROM snapshots s WHERE stream_id = $1 AND part = parts - 1
  AND EXISTS (SELECT FROM snapshots f WHERE (f.stream_id, f.epoch, f.seq, f.part) = (s.stream_id, s.epoch, s.seq, 0))`

// latestFirst sorts snapshots. Those of a newer epoch come first, so that a late save of an old owner
// hides nothing.
const latestFirst = ` ORDER BY epoch DESC, seq DESC`

// Version names one snapshot of a stream: the state after the fact Seq, saved under
// Epoch. The zero Version names none.
type Version struct {
	Epoch int32
	Seq   int64
	// Founded says that the state has been compared with the journal, which may have dropped the
	// facts up to Seq since.
	Founded bool
}

// Latest makes Load return the latest snapshot.
var Latest = Version{Epoch: math.MaxInt32, Seq: math.MaxInt64}

// Load returns the latest complete snapshot before another one, or the zero Version and nil if
// there is none. Snapshots are ordered by their epochs, and then by their seqs. If a part is missing, it returns
// an error, and does not go on to an earlier snapshot.
func (s *Store) Load(ctx context.Context, stream int64, before Version) (v Version, state []byte, err error) {
	const read = `
SELECT epoch, seq, EXISTS (SELECT FROM floors f WHERE (f.stream_id, f.epoch, f.seq) = (s.stream_id, s.epoch, s.seq)), part, l.parts, state
FROM snapshots s JOIN (` + complete + ` AND (epoch, seq) < ($2::int, $3::bigint)` + latestFirst + ` LIMIT 1) l USING (epoch, seq)
WHERE s.stream_id = $1 ORDER BY part`
	rows, err := s.pools.Of(stream).Query(ctx, read, stream, before.Epoch, before.Seq)
	if err != nil {
		return Version{}, nil, fmt.Errorf("snapshot: load stream %d: %w", stream, err)
	}
	var part, parts, next int
	var data pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&v.Epoch, &v.Seq, &v.Founded, &part, &parts, &data}, func() error {
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
		return Version{}, nil, fmt.Errorf("snapshot: load stream %d: %w", stream, err)
	}
	return v, state, nil
}

// Prune removes all snapshots of the stream except the two latest complete ones and the one with
// which the stream begins since its first facts were dropped. It also removes what broken Saves
// have left from before those two.
func (s *Store) Prune(ctx context.Context, stream int64) error {
	const prune = `
DELETE FROM snapshots d WHERE stream_id = $1
  AND NOT EXISTS (SELECT FROM floors f WHERE (f.stream_id, f.epoch, f.seq) = (d.stream_id, d.epoch, d.seq))
  AND (epoch, seq) < (SELECT epoch, seq FROM (` + complete + latestFirst + ` OFFSET $2 LIMIT 1) l)`
	if _, err := s.pools.Of(stream).Exec(ctx, prune, stream, kept-1); err != nil {
		return fmt.Errorf("snapshot: prune stream %d: %w", stream, err)
	}
	return nil
}

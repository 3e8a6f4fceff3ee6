package follower

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence"
	"boxoffice/persistence/follower/merge"
	"boxoffice/persistence/journal"
)

// applyWithin bounds a transaction, so that a connection that hangs is given up.
const applyWithin = 30 * time.Second

// errMoved says that the saved position is not where this follower left it.
var errMoved = errors.New("follower: position moved by another copy or lost by the server")

// round is one period of following, from the saved position to the first error.
type round struct {
	f      *Follower
	from   Journal
	conn   *pgxpool.Conn
	tails  merge.Tails
	polled time.Time
	lacks  bool      // a database of the journal does not answer, and its writers are left out
	since  time.Time // when the oldest batch in hand was offered; zero if it was read
	began  time.Time // when the last transaction began
}

// follow runs one round: it takes a connection, reads the saved positions, and makes steps until the first error or
// the follower's end, and returns that error. It pauses while there is nothing to do, between transactions when it
// has caught up (pace), and for as long as Config.Room waits.
func (f *Follower) follow(from Journal) error {
	conn, err := f.cfg.Pool.Acquire(f.ctx)
	if err != nil {
		return fmt.Errorf("follower: connect: %w", err)
	}
	r := &round{f: f, from: from, conn: conn, tails: merge.NewTails()}
	defer func() { r.conn.Release() }()
	if err := r.readPositions(f.ctx); err != nil {
		return err
	}
	for f.ctx.Err() == nil {
		idle, err := r.step(f.ctx)
		if err != nil {
			return err
		}
		if idle {
			r.rest(f.ctx)
		}
		if !r.tails.IsBehind() && r.tails.Facts == 0 {
			r.pace(f.ctx)
		}
		f.cfg.Room(f.ctx)
	}
	return f.ctx.Err()
}

// readPositions reads the follower's saved positions.
func (r *round) readPositions(ctx context.Context) error {
	const saved = `SELECT writer, batch FROM followers WHERE name = $1`
	rows, err := r.conn.Query(ctx, saved, r.f.cfg.Name)
	if err != nil {
		return fmt.Errorf("follower: read position: %w", err)
	}
	at, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p position, err error) {
		return p, row.Scan(&p.writer, &p.batch)
	})
	if err != nil {
		return fmt.Errorf("follower: read position: %w", err)
	}
	for _, p := range at {
		r.tails.Get(p.writer).Pos = p.batch
	}
	r.f.advance(at, 0)
	return nil
}

// step takes in the batches that are there, and applies those that can be applied, up to a transaction's worth.
// Before that it makes the attempts that somebody asked for (Digester.Tend), and afterwards it rests if it has to
// (yield). idle reports that nothing is left to do.
func (r *round) step(ctx context.Context) (idle bool, err error) {
	began := time.Now()
	if time.Since(r.polled) >= r.f.cfg.Poll {
		if err := r.poll(ctx); err != nil {
			return false, err
		}
	}
	// The attempts that somebody asked for are made between two transactions, never inside one.
	for _, d := range r.f.cfg.Digesters {
		if err := d.Tend(ctx, r.from, r.begin, applyWithin); err != nil && !errors.Is(err, persistence.ErrAway) {
			return false, err
		}
	}
	r.takeFeed()
	if err := r.readTails(ctx); err != nil {
		return false, err
	}
	// Now everything is known that was in the journal when the follower began.
	if !r.f.knowsEnd() && !r.tails.IsBehind() && !r.lacks {
		r.f.noteEnd(&r.tails)
	}
	group, moves := r.tails.Gather(r.atOnce())
	if len(group) > 0 {
		if err := r.apply(ctx, group, moves); err != nil {
			return false, err
		}
		r.yield(ctx, time.Since(began))
		return false, nil
	}
	if r.tails.Facts > 0 {
		return false, r.readMissing(ctx)
	}
	return !r.tails.IsBehind(), nil
}

// poll marks the writers that are not fed in memory, so that they are read. If a database of the journal is
// known not to answer, poll leaves its writers out until a later poll finds them again. The facts in other
// databases do not build on theirs.
func (r *round) poll(ctx context.Context) error {
	writers, err := r.from.Writers(ctx)
	if r.lacks = errors.Is(err, persistence.ErrAway); err != nil && !r.lacks {
		return fmt.Errorf("follower: %w", err)
	}
	listed := make(map[int32]bool, len(writers))
	for _, w := range writers {
		listed[w.ID] = true
		r.tails.NoteWriter(w.ID, w.Closed)
	}
	for _, t := range r.tails.ByWriter {
		if r.lacks && !listed[t.Writer] {
			r.tails.LeaveOut(t)
		}
	}
	r.polled = time.Now()
	return nil
}

// takeFeed appends the offered batches to the tails, unless the tails have enough for a transaction; then the
// batches wait in the feed, whose size is limited. A batch that does not follow its tail is read from the
// journal instead.
func (r *round) takeFeed() {
	if r.tails.Facts >= r.f.cfg.MaxBatch {
		return
	}
	batches, since, overflow := r.f.take()
	if overflow {
		r.f.cfg.Log.Warn("follower fell behind, reads the journal", slog.String("follower", r.f.cfg.Name))
		r.tails.LoseFeed()
	}
	if len(batches) > 0 && r.tails.Facts == 0 {
		r.since = since
	}
	for _, b := range batches {
		r.tails.TakeOffered(b)
	}
}

// readTails fills the tails that are behind, with up to one transaction's worth each, until there are enough facts
// for a transaction; tails for which other batches wait are filled even then. It leaves out a writer whose database
// does not answer, and finishes one that is closed and has no more.
func (r *round) readTails(ctx context.Context) error {
	for _, w := range r.tails.Order {
		t := r.tails.ByWriter[w]
		if !t.Behind || len(t.Pending) > 0 || r.tails.Facts >= r.f.cfg.MaxBatch && !t.Wanted {
			continue
		}
		if r.tails.Facts == 0 {
			r.since = time.Time{}
		}
		facts, err := r.readTail(ctx, t)
		if errors.Is(err, persistence.ErrAway) {
			r.tails.LeaveOut(t)
			r.polled = time.Time{} // poll at once, which leaves out the other writers of that database
			continue
		}
		if err != nil {
			return err
		}
		t.Behind, t.Wanted = facts >= r.f.cfg.MaxBatch, false
		if facts == 0 && t.Closed {
			if err := r.finish(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTail reads up to one transaction's worth of a writer.
func (r *round) readTail(ctx context.Context, t *merge.Tail) (facts int, err error) {
	for b, err := range r.from.ReadWriter(ctx, t.Writer, t.Pos) {
		if err != nil {
			return facts, fmt.Errorf("follower: %w", err)
		}
		if b.Seq != t.LastBatch()+1 {
			return facts, permanent{fmt.Errorf("%w: writer %d has batch %d after %d", ErrGap, t.Writer, b.Seq, t.LastBatch())}
		}
		if facts += r.tails.Add(t, &b); facts >= r.f.cfg.MaxBatch {
			break
		}
	}
	return facts, nil
}

// finish notes that a closed writer has been read to its end.
func (r *round) finish(ctx context.Context, t *merge.Tail) error {
	const finish = `
INSERT INTO followers AS f (name, writer, batch) VALUES ($1, $2, $3)
ON CONFLICT (name, writer) DO UPDATE SET batch = excluded.batch WHERE f.batch = $4`
	tag, err := r.conn.Exec(ctx, finish, r.f.cfg.Name, t.Writer, merge.Final, t.Pos)
	if err != nil {
		return fmt.Errorf("follower: save position: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errMoved
	}
	t.Pos = merge.Final
	r.f.advance([]position{{t.Writer, merge.Final}}, 0)
	return nil
}

// begin opens a transaction that does not wait for the disk, because what a crash loses is applied
// again.
var begin = pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL synchronous_commit = off"}

// apply applies a group of batches and saves the positions after them, in one transaction. Then it releases the
// callers that waited for these positions.
func (r *round) apply(ctx context.Context, group []journal.Batch, moves []merge.Move) error {
	r.began = time.Now()
	err := Transact(ctx, r.begin, applyWithin, func(ctx context.Context, tx pgx.Tx) error {
		return r.applyIn(ctx, tx, group, moves)
	})
	if err != nil {
		return err
	}
	to := make([]position, len(moves))
	for i, m := range moves {
		r.tails.ByWriter[m.Writer].Pos = m.To
		to[i] = position{m.Writer, m.To}
	}
	var delay time.Duration
	if !r.since.IsZero() {
		delay = time.Since(r.since)
	}
	r.f.advance(to, delay)
	return nil
}

// begin opens a transaction on the round's connection, or on another one if that is closed.
func (r *round) begin(ctx context.Context) (pgx.Tx, error) {
	if r.conn.Conn().IsClosed() {
		r.conn.Release()
		conn, err := r.f.cfg.Pool.Acquire(ctx)
		if err != nil {
			return nil, fmt.Errorf("follower: connect: %w", err) // this ends the round
		}
		r.conn = conn
	}
	return r.conn.BeginTx(ctx, begin)
}

// applyIn saves the positions and applies the group within tx. It saves first: if another copy has moved one of
// the positions, nothing is applied.
func (r *round) applyIn(ctx context.Context, tx pgx.Tx, group []journal.Batch, moves []merge.Move) error {
	const save = `
WITH m AS (SELECT * FROM unnest($2::int[], $3::bigint[], $4::bigint[]) AS m(writer, since, upto)),
fresh AS (
  INSERT INTO followers (name, writer, batch) SELECT $1, writer, upto FROM m WHERE since = 0
  ON CONFLICT DO NOTHING RETURNING writer),
moved AS (
  UPDATE followers f SET batch = m.upto FROM m
  WHERE f.name = $1 AND f.writer = m.writer AND f.batch = m.since AND m.since > 0 RETURNING f.writer)
SELECT (SELECT count(*) FROM fresh) + (SELECT count(*) FROM moved)`
	var writers []int32
	var since, upto []int64
	for _, m := range moves {
		writers, since, upto = append(writers, m.Writer), append(since, m.Since), append(upto, m.To)
	}
	var saved int
	if err := tx.QueryRow(ctx, save, r.f.cfg.Name, writers, since, upto).Scan(&saved); err != nil {
		return fmt.Errorf("follower: save position: %w", err)
	}
	if saved != len(moves) {
		return errMoved
	}
	if err := r.f.cfg.Apply(ctx, tx, group); err != nil {
		err = fmt.Errorf("follower: apply: %w", err)
		if _, ok := errors.AsType[indigestible](err); ok || mayPass(ctx, tx, err) {
			return err
		}
		return permanent{err}
	}
	return nil
}

// readMissing finds out for which facts the batches in hand wait, and marks the writers of these facts, so that
// they are read.
func (r *round) readMissing(ctx context.Context) error {
	missing := r.tails.ListMissing()
	streams, seqs := make([]int64, len(missing)), make([]int64, len(missing))
	for i, m := range missing {
		streams[i], seqs[i] = m.Stream, m.Seq
	}
	places, err := r.from.Locate(ctx, streams, seqs)
	if errors.Is(err, persistence.ErrAway) {
		r.polled = time.Time{} // poll at once, which leaves out the writers of the database that does not answer
		return nil
	}
	if err != nil {
		return fmt.Errorf("follower: %w", err)
	}
	if err := r.tails.Resolve(missing, places); err != nil {
		return permanent{err}
	}
	return nil
}

// lookUp is the time between two checks, during a rest, of whether the follower still has to rest.
const lookUp = 100 * time.Millisecond

// mustYield reports whether the follower has to rest: the machine is busy, and no caller waits for the follower.
func (r *round) mustYield() bool { return r.f.cfg.Yield > 0 && r.f.cfg.Busy() && !r.f.isAwaited() }

// atOnce returns how many facts the next transaction may apply.
func (r *round) atOnce() int {
	if r.f.cfg.BusyBatch > 0 && r.mustYield() {
		return r.f.cfg.BusyBatch
	}
	return r.f.cfg.MaxBatch
}

// yield rests after a transaction for as long as mustYield says so, at most Yield times as long as took. took is
// how long the transaction and the reading for it took.
func (r *round) yield(ctx context.Context, took time.Duration) {
	until := time.Now().Add(time.Duration(r.f.cfg.Yield) * took)
	for wait := time.Until(until); wait > 0 && r.mustYield(); wait = time.Until(until) {
		timer := time.NewTimer(min(wait, lookUp))
		select {
		case <-timer.C:
		case <-r.f.asked:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// rest waits until a batch is offered or the next poll is due.
func (r *round) rest(ctx context.Context) {
	poll := time.NewTimer(time.Until(r.polled.Add(r.f.cfg.Poll)))
	defer poll.Stop()
	select {
	case <-r.f.wake:
	case <-poll.C:
	case <-ctx.Done():
	}
}

// pace waits a little, so that more facts come together, which makes each of them cheaper. It ends early
// when a full transaction is there or a caller waits (hurry).
func (r *round) pace(ctx context.Context) {
	wait := time.Until(r.began.Add(r.f.cfg.Pace))
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.f.hurry:
	case <-ctx.Done():
	}
}

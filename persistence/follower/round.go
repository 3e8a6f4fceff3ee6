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
	tails  tails
	polled time.Time
	lacks  bool      // a database of the journal does not answer, and its writers are left out
	since  time.Time // when the oldest batch in hand was offered; zero if it was read
	began  time.Time // when the last transaction began
}

func (f *Follower) follow(from Journal) error {
	conn, err := f.cfg.Pool.Acquire(f.ctx)
	if err != nil {
		return fmt.Errorf("follower: connect: %w", err)
	}
	r := &round{f: f, from: from, conn: conn, tails: newTails()}
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
		if !r.tails.isBehind() && r.tails.facts == 0 {
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
		r.tails.get(p.writer).pos = p.batch
	}
	r.f.advance(at, 0)
	return nil
}

// step takes in what there is and applies what it can. idle reports that nothing is left to do.
func (r *round) step(ctx context.Context) (idle bool, err error) {
	began := time.Now()
	if time.Since(r.polled) >= r.f.cfg.Poll {
		if err := r.poll(ctx); err != nil {
			return false, err
		}
	}
	for _, d := range r.f.cfg.Digesters {
		if err := d.Tend(ctx, r.from, r.begin, applyWithin); err != nil && !errors.Is(err, persistence.ErrAway) {
			return false, err
		}
	}
	r.takeFeed()
	if err := r.readTails(ctx); err != nil {
		return false, err
	}
	if !r.f.knowsEnd() && !r.tails.isBehind() && !r.lacks {
		r.f.noteEnd(&r.tails)
	}
	group, moves := r.tails.gather(r.atOnce())
	if len(group) > 0 {
		if err := r.apply(ctx, group, moves); err != nil {
			return false, err
		}
		r.yield(ctx, time.Since(began))
		return false, nil
	}
	if r.tails.facts > 0 {
		return false, r.readMissing(ctx)
	}
	return !r.tails.isBehind(), nil
}

// poll makes the follower read the writers that are not fed in memory. It leaves those out whose
// database is known not to answer, until a later poll finds them again: the facts in other databases do
// not build on theirs.
func (r *round) poll(ctx context.Context) error {
	writers, err := r.from.Writers(ctx)
	if r.lacks = errors.Is(err, persistence.ErrAway); err != nil && !r.lacks {
		return fmt.Errorf("follower: %w", err)
	}
	listed := make(map[int32]bool, len(writers))
	for _, w := range writers {
		listed[w.ID] = true
		t := r.tails.get(w.ID)
		t.closed = w.Closed
		if !t.fed && t.pos != final {
			t.behind = true
		}
	}
	for _, t := range r.tails.byWriter {
		if r.lacks && !listed[t.writer] {
			r.tails.leaveOut(t)
		}
	}
	r.polled = time.Now()
	return nil
}

// takeFeed appends what was offered to the tails, unless they have enough for a transaction; the
// feed has the limit. A batch that does not follow its tail is read from the journal instead.
func (r *round) takeFeed() {
	if r.tails.facts >= r.f.cfg.MaxBatch {
		return
	}
	batches, since, overflow := r.f.take()
	if overflow {
		r.f.cfg.Log.Warn("follower fell behind, reads the journal", slog.String("follower", r.f.cfg.Name))
		for _, t := range r.tails.byWriter {
			t.behind = t.behind || t.fed
		}
	}
	if len(batches) > 0 && r.tails.facts == 0 {
		r.since = since
	}
	for _, b := range batches {
		t := r.tails.get(b.Writer)
		t.fed = true
		switch next := t.lastBatch() + 1; {
		case b.Seq < next: // it was read already
		case b.Seq == next && !t.behind:
			r.tails.add(t, b)
		default:
			t.behind = true
		}
	}
}

// readTails fills the tails that are behind, with up to one transaction's worth each.
func (r *round) readTails(ctx context.Context) error {
	for _, w := range r.tails.order {
		t := r.tails.byWriter[w]
		if !t.behind || len(t.pending) > 0 || r.tails.facts >= r.f.cfg.MaxBatch && !t.wanted {
			continue
		}
		if r.tails.facts == 0 {
			r.since = time.Time{}
		}
		facts, err := r.readTail(ctx, t)
		if errors.Is(err, persistence.ErrAway) {
			r.tails.leaveOut(t)
			r.polled = time.Time{} // the next poll leaves out what else is there
			continue
		}
		if err != nil {
			return err
		}
		t.behind, t.wanted = facts >= r.f.cfg.MaxBatch, false
		if facts == 0 && t.closed {
			if err := r.finish(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// readTail reads up to one transaction's worth of a writer.
func (r *round) readTail(ctx context.Context, t *tail) (facts int, err error) {
	for b, err := range r.from.ReadWriter(ctx, t.writer, t.pos) {
		if err != nil {
			return facts, fmt.Errorf("follower: %w", err)
		}
		if b.Seq != t.lastBatch()+1 {
			return facts, permanent{fmt.Errorf("%w: writer %d has batch %d after %d", ErrGap, t.writer, b.Seq, t.lastBatch())}
		}
		if facts += r.tails.add(t, &b); facts >= r.f.cfg.MaxBatch {
			break
		}
	}
	return facts, nil
}

// finish notes that a closed writer has been read to its end.
func (r *round) finish(ctx context.Context, t *tail) error {
	const finish = `
INSERT INTO followers AS f (name, writer, batch) VALUES ($1, $2, $3)
ON CONFLICT (name, writer) DO UPDATE SET batch = excluded.batch WHERE f.batch = $4`
	tag, err := r.conn.Exec(ctx, finish, r.f.cfg.Name, t.writer, final, t.pos)
	if err != nil {
		return fmt.Errorf("follower: save position: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errMoved
	}
	t.pos = final
	r.f.advance([]position{{t.writer, final}}, 0)
	return nil
}

// begin opens a transaction that does not wait for the disk, because what a crash loses is applied
// again.
var begin = pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL synchronous_commit = off"}

func (r *round) apply(ctx context.Context, group []journal.Batch, moves []move) error {
	r.began = time.Now()
	err := Transact(ctx, r.begin, applyWithin, func(ctx context.Context, tx pgx.Tx) error {
		return r.applyIn(ctx, tx, group, moves)
	})
	if err != nil {
		return err
	}
	to := make([]position, len(moves))
	for i, m := range moves {
		r.tails.byWriter[m.writer].pos = m.to
		to[i] = position{m.writer, m.to}
	}
	var delay time.Duration
	if !r.since.IsZero() {
		delay = time.Since(r.since)
	}
	r.f.advance(to, delay)
	return nil
}

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

func (r *round) applyIn(ctx context.Context, tx pgx.Tx, group []journal.Batch, moves []move) error {
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
		writers, since, upto = append(writers, m.writer), append(since, m.since), append(upto, m.to)
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

// readMissing finds out what the batches in hand wait for, and makes the follower read it.
func (r *round) readMissing(ctx context.Context) error {
	missing := r.tails.listMissing()
	streams, seqs := make([]int64, len(missing)), make([]int64, len(missing))
	for i, m := range missing {
		streams[i], seqs[i] = m.stream, m.seq
	}
	places, err := r.from.Locate(ctx, streams, seqs)
	if errors.Is(err, persistence.ErrAway) {
		r.polled = time.Time{} // the next poll leaves out those that cannot be found
		return nil
	}
	if err != nil {
		return fmt.Errorf("follower: %w", err)
	}
	found := make([]position, len(missing))
	for i, p := range places {
		found[i] = position{p.Writer, p.Batch}
		if p.Dropped {
			found[i].batch = dropped
		}
	}
	return r.tails.resolve(missing, found)
}

// lookUp is how often a rest looks whether its reason still holds.
const lookUp = 100 * time.Millisecond

// mustYield reports whether the machine has more important work.
func (r *round) mustYield() bool { return r.f.cfg.Yield > 0 && r.f.cfg.Busy() && !r.f.isAwaited() }

// atOnce is how many facts the next transaction may apply.
func (r *round) atOnce() int {
	if r.f.cfg.BusyBatch > 0 && r.mustYield() {
		return r.f.cfg.BusyBatch
	}
	return r.f.cfg.MaxBatch
}

// yield rests after a transaction; took is how long that and the reading for it took.
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

// rest waits for something to do.
func (r *round) rest(ctx context.Context) {
	poll := time.NewTimer(time.Until(r.polled.Add(r.f.cfg.Poll)))
	defer poll.Stop()
	select {
	case <-r.f.wake:
	case <-poll.C:
	case <-ctx.Done():
	}
}

// pace waits a little, so that more facts come together, which makes each of them cheaper.
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

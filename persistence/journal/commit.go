package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// These are the SQLSTATEs after which the lane does something special. After every other error it only makes another
// attempt.
const (
	uniqueViolation = "23505"
	checkViolation  = "23514" // no partition for the day
)

// The append is one round trip and autocommitted: one row, for all of the batch's records. Because
// of its locks it is one step as seen by claims: a claim that takes a stream from this writer
// either waits for the append, or has raised the writer's losses, and then the append writes
// nothing (docs/adr/0012-a-writer-counts-its-losses.md).
const (
	appendFirst = `
INSERT INTO journal (writer, batch, day, streams, epochs, firsts, lasts, ends, facts)
SELECT writer, $2::bigint, $3::date, $4::bigint[], $5::int[], $6::bigint[], $7::bigint[], $8::int[], $9::bytea
FROM writers WHERE writer = $1 AND losses = $10 AND closed_at IS NULL FOR SHARE`

	// The first attempt finds a row with its number only if an invariant is broken, and it fails then.
	// Later attempts may find the row that an earlier one left.
	appendRetry = appendFirst + ` ON CONFLICT (writer, batch, day) DO NOTHING`

	// standing asks whether the writer is open, how many losses it has, and which of the records' claims do not stand
	// any more. It takes no locks, because the append finds out if the answer has become wrong. The query compares
	// not only epochs but also writers: a server that lost commits may have forgotten a claim, and given its epoch
	// to another writer.
	standing = `
SELECT closed_at IS NULL, losses, (
  SELECT array_agg(b.n) FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS b(stream_id, epoch, n)
  WHERE (SELECT s.epoch FROM streams s WHERE s.stream_id = b.stream_id AND s.writer = $3) IS DISTINCT FROM b.epoch)
FROM writers WHERE writer = $3`

	// batchThere asks if the row with the batch's number is this batch. It compares everything but the facts.
	batchThere = `
SELECT streams = $4::bigint[] AND epochs = $5::int[] AND firsts = $6::bigint[] AND lasts = $7::bigint[] AND ends = $8::int[]
FROM journal WHERE writer = $1 AND batch = $2 AND day = $3`
)

// commitBatch sends the batch until every record of it is either committed or fenced. If some are fenced, it sends
// the batch again without them, and without the records that need them. That is a different batch under the same
// number. It may have this number, because nothing of the batch was written before: a claim waits for all attempts
// that it does not fence.
func (l *lane) commitBatch(b *batch) error {
	for {
		b.encode(l.j.cfg.Sink == nil)
		if len(b.sent) == 0 {
			return nil
		}
		if err := l.deliverRest(b); err != nil {
			return err
		}
		if len(b.fenced) == 0 {
			b.committed = len(b.sent)
			return nil
		}
		b.refuseUnmet()
	}
}

// deliverRest sends the records that are not fenced until the server confirms them, or says that some of them
// are fenced by now (b.fenced). After a failed attempt it sends the same bytes again, with ON CONFLICT DO
// NOTHING: if the failed attempt did write the batch, the next one writes nothing. An error means that there is
// no verdict, and that the node must give up.
func (l *lane) deliverRest(b *batch) error {
	l.due.Store(b.formed.UnixNano())
	defer l.due.Store(0)
	var pause time.Duration
	for attempt := 1; ; attempt++ {
		err := l.try(b, attempt > 1)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrLost), errors.Is(err, ErrConflict), errors.Is(err, ErrUnsafe):
			return err
		case l.j.ctx.Err() != nil:
			return ErrClosed
		case time.Since(b.formed) >= l.j.cfg.FailAfter:
			return fmt.Errorf("%w: %w", ErrStalled, err)
		}
		l.stats.retries.Add(1)
		if attempt&(attempt-1) == 0 { // logged ever more rarely, because an outage may last long
			l.j.log.Warn("journal append outcome unknown, sending it again",
				slog.Int("writer", int(l.writer)), slog.Int64("batch", b.seq), slog.Int("attempt", attempt), slog.Any("error", err))
		}
		if err := l.pause(pause); err != nil {
			return err
		}
		pause = min(2*pause+5*time.Millisecond, 250*time.Millisecond)
	}
}

// pause waits before the next attempt. It returns ErrClosed if the journal ends first.
func (l *lane) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-l.j.ctx.Done():
		return ErrClosed
	}
}

// try makes one attempt. Its deadline comes from the journal's configuration and not from a caller. A caller that
// gives up early would only leave behind an attempt with an unknown outcome.
func (l *lane) try(b *batch, again bool) error {
	deadline := time.Now().Add(l.j.cfg.StatementTimeout + time.Second)
	if last := b.formed.Add(l.j.cfg.FailAfter); last.Before(deadline) {
		deadline = last
	}
	ctx, cancel := context.WithDeadline(l.j.ctx, deadline)
	defer cancel()
	if l.conn == nil {
		if err := l.reconnect(ctx); err != nil {
			return err
		}
	}
	if err := l.attemptBatch(ctx, b, again); err != nil {
		return l.afterFailure(ctx, b, again, err)
	}
	return nil
}

// attemptBatch sends the batch, or finds out which records of it are fenced. The append only writes if the writer's
// number of losses is the one that the lane knows. If the number has risen, a claim has taken one of the writer's
// streams. The lane then asks which stream it was, and sends again with the new number.
func (l *lane) attemptBatch(ctx context.Context, b *batch, again bool) error {
	b.fenced = b.fenced[:0]
	for {
		if b.doubtful {
			if err := l.judgeStreams(ctx, b); err != nil {
				return err
			}
			if len(b.fenced) > 0 {
				// An earlier attempt may have written the whole batch before the claim came.
				if again {
					return l.clearVerdict(ctx, b)
				}
				return nil
			}
		}
		in, err := l.send(ctx, b, again)
		if err == nil && !in && again { // an earlier attempt may have written it
			in, err = l.isStored(ctx, b)
		}
		if err != nil || in {
			return err
		}
		// The append wrote nothing, so the number of losses has changed, or the writer was closed.
		b.doubtful = true
	}
}

// afterFailure prepares for the next attempt, or returns ErrConflict if no attempt can succeed. If the day has no
// partition, it creates the partition on the same connection. After every other error it drops the connection. Some
// errors would leave it usable, but to find out which is not worth the trouble.
func (l *lane) afterFailure(ctx context.Context, b *batch, again bool, err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case pg.Code == uniqueViolation && !again:
			return fmt.Errorf("%w: writer %d batch %d: %w", ErrConflict, l.writer, b.seq, err)
		case pg.Code == checkViolation:
			if openDay(ctx, l.conn, b.day) == nil {
				return err
			}
		}
	}
	l.drop(ctx)
	return err
}

// send executes the append and reports whether the batch got in. It returns only when the server is
// ready for the next statement, and that is after the commit.
func (l *lane) send(ctx context.Context, b *batch, again bool) (in bool, err error) {
	statement := l.first
	if again {
		statement = l.retry
	}
	l.warning = ""
	tag, err := l.conn.PgConn().ExecStatement(ctx, statement, b.bindParameters(l.writer, l.losses), binaryFormat, nil).Close()
	if err == nil && l.warning != "" {
		// When the wait for the standby is cancelled, the commit succeeds with a warning: the batch
		// is then safe on one machine only.
		err = fmt.Errorf("server warns: %s", l.warning)
	}
	return tag.RowsAffected() > 0, err
}

// judgeStreams asks the server which records of the batch are fenced, and puts their positions into b.fenced.
// If the writer is closed, all records are. If none is fenced, that stays true of their streams until the
// writer's number of losses rises, so the lane notes that number for these streams.
func (l *lane) judgeStreams(ctx context.Context, b *batch) error {
	p := b.bindParameters(l.writer, l.losses)
	r := l.conn.PgConn().ExecStatement(ctx, l.standing, [][]byte{p[paramStreams], p[paramEpochs], p[paramWriter]}, binaryFormat, binaryFormat)
	open := false
	for r.NextRow() {
		v := r.Values()
		open = v[0][0] != 0
		l.losses = int32(binary.BigEndian.Uint32(v[1])) //nolint:gosec // as it was sent
		b.fenced = appendPositions(b.fenced[:0], v[2])
	}
	if _, err := r.Close(); err != nil {
		return fmt.Errorf("judge claims: %w", err)
	}
	if l.closed = !open; l.closed {
		b.fenced = b.fenced[:0]
		for n := range b.sent {
			b.fenced = append(b.fenced, int64(n)+1)
		}
	}
	b.doubtful = false
	if len(b.fenced) > 0 {
		return nil // no losses are noted, so the lane asks again: clearVerdict may find that these records got in
	}
	for _, i := range b.sent {
		l.streams[b.records[i].claim.Stream].losses = l.losses
	}
	return nil
}

// binaryFormat asks for the binary format for every parameter and column.
var binaryFormat = []int16{1}

// appendPositions decodes an array of bigint without nulls in the binary format. NULL has no bytes, and adds no
// position.
func appendPositions(to []int64, array []byte) []int64 {
	if len(array) < arrayHeader {
		return to
	}
	for at := arrayHeader; at+12 <= len(array); at += 12 {
		to = append(to, int64(binary.BigEndian.Uint64(array[at+4:])))
	}
	return to
}

// clearVerdict looks for a batch with fenced records in the journal. If an earlier attempt has written it, it was
// written before the claim came, and all of it is durable: clearVerdict then clears b.fenced. The answer is final,
// because the claim waited for that attempt, or fenced it too.
func (l *lane) clearVerdict(ctx context.Context, b *batch) error {
	there, err := l.isStored(ctx, b)
	if there {
		b.fenced = b.fenced[:0]
	}
	return err
}

// isStored reports whether the journal holds the batch with the records that were encoded last. It does not
// compare the facts themselves. If the journal has another batch under the number, the error is ErrConflict.
func (l *lane) isStored(ctx context.Context, b *batch) (same bool, err error) {
	found := false
	p := b.bindParameters(l.writer, l.losses)
	r := l.conn.PgConn().ExecStatement(ctx, l.lookup, p[:paramFacts], binaryFormat, binaryFormat)
	for r.NextRow() {
		found, same = true, r.Values()[0][0] != 0
	}
	if _, err := r.Close(); err != nil {
		return false, fmt.Errorf("look up batch: %w", err)
	}
	if found && !same {
		return false, fmt.Errorf("%w: writer %d batch %d", ErrConflict, l.writer, b.seq)
	}
	return same, nil
}

package follower

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/panics"
)

// Digester applies facts for one follower, and sets aside those that cannot be applied: such a fact becomes a
// row of the table set_aside, in the transaction that moves the position past it, and the error is logged. The
// facts after it are not held up.
//
// Facts are first applied together, so a Digester costs nothing as long as all goes well. If that fails in a way
// that another attempt would meet again, Transact undoes the transaction and makes it again, and this time the
// facts are halved until the bad ones are alone. A failure that may pass (an outage, a deadlock, a full disk,
// ErrAgain, ErrGap) never sets a fact aside, and neither does a failure that no single fact causes, such as a
// missing table: then the Digester tries again until it works.
//
// A Digester belongs to the goroutine of its follower, or its callers must take turns; any goroutine may read
// its counts.
type Digester struct {
	name   string
	apply  Apply
	log    *slog.Logger
	forget Forget

	asides  atomic.Int64 // how often a fact was set aside since the process began, also a fact that failed again
	waiting atomic.Int64 // facts that were set aside and not applied since, at the last look; maxCount at most
	looked  time.Time    // time of the last look; zero: look at the next Tend

	// broke holds the groups of facts whose attempt made the connection unusable, and with it the
	// transaction. They are not tried together again.
	broke map[group]error
}

// group identifies facts that are applied together: the first of them, and how many there are.
type group struct {
	stream, seq int64
	n           int
}

// groupOf identifies facts that were split into batches of one each.
func groupOf(facts []journal.Batch) group {
	r := &facts[0].Records[0]
	return group{r.Stream, r.First, len(facts)}
}

// Forget deletes all rows that a follower has written for the facts of a stream.
type Forget = func(ctx context.Context, tx pgx.Tx, ref engine.Ref) error

// NewDigester makes a Digester for the follower with a name. If somebody asks for another attempt at a fact, the
// fact is applied again: alone if forget is nil, and otherwise together with all facts of its stream, after
// forget has deleted what they left. forget is for tables in which a fact that comes late would overwrite what
// later facts have left.
func NewDigester(name string, log *slog.Logger, apply Apply, forget Forget) *Digester {
	return &Digester{name: name, apply: apply, log: log, forget: forget, broke: make(map[group]error)}
}

// Name returns the name of the follower.
func (d *Digester) Name() string { return d.name }

// Asides returns how often a fact was set aside since the process began, also one that failed again.
func (d *Digester) Asides() int64 { return d.asides.Load() }

// Waiting returns how many facts were set aside when the table was last looked at. It counts no further than
// maxCount.
func (d *Digester) Waiting() int64 { return d.waiting.Load() }

// indigestible is an error that another attempt would meet again.
type indigestible struct{ error }

func (i indigestible) Unwrap() error { return i.error }

// unusable is an error after which the database connection can't be used any more, because the facts left it in the
// middle of a request (isUnusable). Another attempt on a new connection gets further: the Digester remembers which
// facts did that.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// isUnusable reports whether the facts of a failed attempt have left the connection in the middle of a request, by a
// panic or by a value of a batch that can't be encoded. The database is not to blame then.
func isUnusable(tx pgx.Tx, err error) bool {
	_, panicked := errors.AsType[*panics.Error](err)
	return (panicked || isUnencodable(err)) && (tx.Conn().IsClosed() || tx.Conn().PgConn().IsBusy())
}

// isUnencodable reports whether pgx could not encode a value of a batch. If pgx had sent earlier queries of the batch,
// it closes the connection, as it does in an outage. Its error is of one type for that and for queries that could not
// be prepared, which may be an outage; only the text tells them apart.
func isUnencodable(err error) bool {
	batch, ok := errors.AsType[pgx.ErrPreprocessingBatch](err)
	return ok && strings.HasPrefix(batch.Error(), "error preprocessing batch (build)")
}

// carefully marks the context of a transaction that is made for the second time.
type carefully struct{}

// Transact runs do in a transaction, for no longer than within. If a Digester in it finds that a fact cannot be
// applied, Transact undoes everything and runs do again, for as long as it takes. In this second run the
// Digester tries facts in groups, each for no longer than within, and sets the bad ones aside.
func Transact(ctx context.Context, begin func(context.Context) (pgx.Tx, error), within time.Duration, do func(context.Context, pgx.Tx) error) error {
	plain, cancel := context.WithTimeout(ctx, within)
	err := transact(plain, begin, do)
	cancel()
	if _, ok := errors.AsType[indigestible](err); !ok {
		return err
	}
	return transactAgain(context.WithValue(ctx, carefully{}, within), begin, do)
}

// transactAgain runs do in a transaction, and again on another connection as often as a Digester in
// it makes the connection unusable. begin must not return a closed connection.
func transactAgain(ctx context.Context, begin func(context.Context) (pgx.Tx, error), do func(context.Context, pgx.Tx) error) error {
	for {
		err := transact(ctx, begin, do)
		if _, ok := errors.AsType[unusable](err); !ok {
			return err
		}
	}
}

// transact runs do in one transaction, which an error of do rolls back.
func transact(ctx context.Context, begin func(context.Context) (pgx.Tx, error), do func(context.Context, pgx.Tx) error) error {
	tx, err := begin(ctx)
	if err != nil {
		return fmt.Errorf("follower: begin: %w", err)
	}
	if err := do(ctx, tx); err != nil {
		return errors.Join(err, tx.Rollback(ctx))
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("follower: commit: %w", err)
	}
	return nil
}

// Apply is the follower's Apply: it applies the batches within tx, which Transact has begun.
func (d *Digester) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	if within, ok := ctx.Value(carefully{}).(time.Duration); ok {
		return d.digestFacts(ctx, tx, within, splitBatches(batches))
	}
	// A new transaction begins, so facts that broke an earlier connection get another try.
	clear(d.broke)
	err := d.tryApply(ctx, tx, batches)
	switch {
	case err == nil || errors.Is(err, ErrGap):
		return err
	case isUnusable(tx, err):
		return indigestible{err}
	case mayPass(ctx, tx, err):
		return fmt.Errorf("%w: %w", ErrAgain, err)
	default:
		return indigestible{err}
	}
}

// tryApply applies the batches and turns a panic into an error.
func (d *Digester) tryApply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	return panics.Catch(d.log, "follower "+d.name, func() error { return d.apply(ctx, tx, batches) })
}

// mayPass reports whether a later attempt may succeed, or no single fact is to blame. An error that
// looks like one of the network is not enough: decoding a truncated fact gives io.ErrUnexpectedEOF,
// and a fact that is too large for Kafka gives a net.Error. When Postgres is away, the connection
// is closed.
func mayPass(ctx context.Context, tx pgx.Tx, err error) bool {
	if ctx.Err() != nil || tx.Conn().IsClosed() || errors.Is(err, ErrAgain) || pgconn.SafeToRetry(err) {
		return true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return !ofData(pg.Code)
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting
}

// ofData reports whether a SQLSTATE blames a statement's data: cardinality, data exceptions,
// constraints, checks of views, limits, and what functions raise.
func ofData(code string) bool {
	switch code[:min(2, len(code))] {
	case "21", "22", "23", "44", "54", "P0":
		return true
	default:
		return false
	}
}

// digestFacts applies all facts that can be applied, and sets the others aside. Its error is ErrAgain
// (as unusable if the next attempt needs another connection) or ErrGap.
func (d *Digester) digestFacts(ctx context.Context, tx pgx.Tx, within time.Duration, facts []journal.Batch) error {
	if len(facts) == 0 {
		return nil
	}
	// A group that once broke its connection would do so again, so it is halved without another attempt.
	err, broke := d.broke[groupOf(facts)]
	if !broke {
		err = d.tryWithin(ctx, tx, within, facts)
	}
	if err == nil || errors.Is(err, ErrAgain) || errors.Is(err, ErrGap) {
		return err
	}
	if len(facts) == 1 {
		return d.setAside(ctx, tx, &facts[0], err)
	}
	if err := d.digestFacts(ctx, tx, within, facts[:len(facts)/2]); err != nil {
		return err
	}
	return d.digestFacts(ctx, tx, within, facts[len(facts)/2:])
}

// tryWithin applies facts in a savepoint, which is rolled back if the facts are to blame. The work before it stays.
func (d *Digester) tryWithin(ctx context.Context, tx pgx.Tx, within time.Duration, facts []journal.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	again := func(err error) error { return fmt.Errorf("%w: %w", ErrAgain, err) }
	if _, err := tx.Exec(ctx, `SAVEPOINT digest`); err != nil {
		return again(err)
	}
	err := d.tryApply(ctx, tx, facts)
	end := `RELEASE SAVEPOINT digest`
	switch {
	case errors.Is(err, ErrGap):
		return err
	case err != nil && isUnusable(tx, err):
		d.broke[groupOf(facts)] = err
		return unusable{again(err)}
	case err != nil && mayPass(ctx, tx, err):
		return again(err)
	case err != nil:
		end = `ROLLBACK TO SAVEPOINT digest; RELEASE SAVEPOINT digest`
	}
	if _, failed := tx.Exec(ctx, end); failed != nil {
		return again(errors.Join(err, failed))
	}
	return err
}

// setAside writes the batch's only fact into the table of facts set aside, with the error, and logs it. If the fact
// is there already, that counts as another attempt that failed.
func (d *Digester) setAside(ctx context.Context, tx pgx.Tx, b *journal.Batch, why error) error {
	const insert = `
INSERT INTO set_aside AS s (follower, stream_id, seq, last_seq, writer, batch, aggregate, type, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (follower, stream_id, seq) DO UPDATE
SET last_seq = excluded.last_seq, type = excluded.type, error = excluded.error, attempts = s.attempts + 1, tried_at = now(),
  retry = false, done_at = NULL`
	r := &b.Records[0]
	typ := typeName(r)
	if _, err := tx.Exec(ctx, insert, d.name, r.Stream, r.First, r.Last, b.Writer, b.Seq, r.Ref.Name(), typ, errorText(why)); err != nil {
		return fmt.Errorf("%w: set a fact aside: %w", ErrAgain, err)
	}
	d.asides.Add(1)
	d.looked = time.Time{}
	d.log.ErrorContext(ctx, "fact set aside", slog.String("follower", d.name), slog.String("aggregate", r.Ref.Name()),
		slog.Int64("stream", r.Stream), slog.Int64("seq", r.First), slog.String("type", typ), slog.Any("error", why))
	return nil
}

// typeName returns the name of the record's fact in the catalogue of its kind. If it has none, typeName returns
// the kind and the number of the type, or "unreadable".
func typeName(r *journal.Record) string {
	typ, _, _, err := codec.Split(r.Bytes)
	if err != nil {
		return "unreadable"
	}
	if kind, err := all.Kind(r.Ref.Kind); err == nil {
		for _, def := range kind.Facts {
			if def.Type == typ {
				return def.Name
			}
		}
	}
	return fmt.Sprintf("%s %d", r.Ref.Kind, typ)
}

// maxErrorText is how many bytes of an error a row keeps.
const maxErrorText = 2_000

// errorText returns an error's text, shortened and cleaned so that a text column accepts it.
func errorText(err error) string {
	s := err.Error()
	s = strings.ToValidUTF8(s[:min(len(s), maxErrorText)], "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// splitBatches splits batches into batches of one fact each. If the bytes of a fact in a record can't be separated from
// those of the next, the rest of the record stays whole from that fact on.
func splitBatches(batches []journal.Batch) []journal.Batch {
	var facts []journal.Batch
	for i := range batches {
		add := func(r journal.Record) {
			facts = append(facts, journal.Batch{Writer: batches[i].Writer, Seq: batches[i].Seq, Records: []journal.Record{r}})
		}
		for _, r := range batches[i].Records {
			for r.First < r.Last {
				head, tail, err := splitRecord(r, 1)
				if err != nil {
					break
				}
				add(head)
				r = tail
			}
			add(r)
		}
	}
	return facts
}

// splitRecord splits a record after its first n facts.
func splitRecord(r journal.Record, n int) (head, tail journal.Record, err error) {
	if tail, err = recordAfter(r, r.First+int64(n)-1); err != nil {
		return r, r, err
	}
	head = r
	head.Last, head.Bytes = tail.First-1, r.Bytes[:len(r.Bytes)-len(tail.Bytes)]
	if r.Facts != nil {
		head.Facts = r.Facts[:n]
	}
	return head, tail, nil
}

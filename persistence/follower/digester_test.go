package follower_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

// place is a fact's in the journal.
type place struct{ stream, seq int64 }

// pen writes real facts to a stream, several in a record.
type pen struct {
	j     *journal.Postgres
	ref   engine.Ref
	claim journal.Claim
	next  int64
}

func (s *stage) pens(j *journal.Postgres, n int) []*pen {
	s.t.Helper()
	var all []*pen
	for i := range n {
		ref := engine.EventRef(int64(i + 1))
		claim, err := j.Claim(s.t.Context(), ref)
		require.NoError(s.t, err)
		all = append(all, &pen{j: j, ref: ref, claim: claim, next: 1})
	}
	return all
}

// settled is the journal's word on an entry.
type settled chan error

func (c settled) Settled(err error) { c <- err }

// writeFacts has each pen write so many records, of one to five facts.
func (s *stage) writeFacts(pens []*pen, records int) {
	s.t.Helper()
	for i := range records {
		for k, p := range pens {
			e := &journal.Entry{Ref: p.ref, Claim: p.claim, First: p.next}
			for range 1 + (i+k)%5 {
				f := &event.Moved{Reason: fmt.Sprint("move ", p.next), At: p.next}
				e.Facts = append(e.Facts, f)
				var err error
				e.Bytes, err = codec.AppendFact(e.Bytes, f)
				require.NoError(s.t, err)
				p.next++
			}
			done := make(settled, 1)
			e.Owner = done
			p.j.Append(e)
			require.NoError(s.t, <-done)
		}
	}
}

// spoiled is note, but for the facts that spoil it, each in its own way.
func spoiled(healed *atomic.Bool, spoil map[place]func(context.Context, pgx.Tx) error) follower.Apply {
	return func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		if err := note(ctx, tx, batches); err != nil || healed.Load() {
			return err
		}
		for _, b := range batches {
			for _, r := range b.Records {
				for seq := r.First; seq <= r.Last; seq++ {
					if how := spoil[place{r.Stream, seq}]; how != nil {
						if err := how(ctx, tx); err != nil {
							return err
						}
					}
				}
			}
		}
		return nil
	}
}

func fails(sql string) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql)
		return err
	}
}

// panicsIn has the reader of one query of a batch panic.
func panicsIn(queue func(*pgx.Batch) *pgx.QueuedQuery) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		b := &pgx.Batch{}
		queue(b).Query(func(pgx.Rows) error { panic("no such record") })
		return tx.SendBatch(ctx, b).Close()
	}
}

// encodesTooMuch sends a batch whose second query has a value that is too large for its type.
func encodesTooMuch(ctx context.Context, tx pgx.Tx) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT $1::int4`, int64(1))
	b.Queue(`SELECT $1::int4`, int64(math.MaxUint32))
	return tx.SendBatch(ctx, b).Close()
}

func (s *stage) asides() []follower.Aside {
	s.t.Helper()
	list, err := follower.Asides(s.t.Context(), s.pool, follower.Selection{}, 1000)
	require.NoError(s.t, err)
	return list
}

// TestSetAside has facts fail in every way in which one fact can. Each is set aside
// alone; told again after the mistake has been mended, it is applied.
func TestSetAside(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(context.Context, pgx.Tx) error{
		"error": func(context.Context, pgx.Tx) error { return errors.New("no year 10000\x00 in RFC 3339") },
		"panic": func(context.Context, pgx.Tx) error { panic("no such line") },
		// A fact that is cut short, and what another server says of it, look like networks.
		"cut short":   func(context.Context, pgx.Tx) error { return fmt.Errorf("decode: %w", io.ErrUnexpectedEOF) },
		"not in time": func(context.Context, pgx.Tx) error { return fmt.Errorf("ask: %w", context.DeadlineExceeded) },
		"cardinality": fails(`INSERT INTO followers AS f VALUES ('a', 1, 1), ('a', 1, 1) ON CONFLICT (name, writer) DO UPDATE SET batch = 1`),
		"data":        fails(`SELECT '300000-01-01'::timestamptz`),
		"unique":      fails(`INSERT INTO followers VALUES ('a', 1, 1), ('a', 1, 1)`),
		"limit":       fails(`SELECT repeat('x', 2000000000)`),
		// The ways from here on leave the connection in the middle of a request, of no use to anybody.
		"value in a batch": encodesTooMuch,
		"panic in a batch": panicsIn(func(b *pgx.Batch) *pgx.QueuedQuery { return b.Queue(`SELECT 1`) }),
		"panic in a long batch": panicsIn(func(b *pgx.Batch) *pgx.QueuedQuery {
			b.Queue(`SELECT 1`)
			q := b.Queue(`SELECT 2`)
			b.Queue(`SELECT 3`)
			return q
		}),
	} {
		for _, once := range []bool{false, true}[:1+len(name)%2] { // some by way of Once, too
			t.Run(fmt.Sprintf("%s, once %t", name, once), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, persisttest.Migrated(t))
				var healed atomic.Bool
				spoil := map[place]func(context.Context, pgx.Tx) error{}
				var d *follower.Digester
				f := s.follower(func(c *follower.Config) {
					d = follower.NewDigester(c.Name, slog.New(slog.DiscardHandler), spoiled(&healed, spoil), nil)
					c.Apply, c.Digesters = d.Apply, []*follower.Digester{d}
					if once {
						c.Apply = follower.Once(c.Name, journal.NewReader(c.Pool), d.Apply)
					}
				})
				j := s.journal("a", f.Offer)
				all := s.pens(j, 5)
				s.writeFacts(all, 6)
				written := s.written(j)
				bad := place{stream: firstOf(written), seq: 4}
				spoil[bad] = how
				f.Start(j)
				s.passed(f)
				s.writeFacts(all, 2) // and it goes on
				s.passed(f)

				asides := s.asides()
				require.Len(t, asides, 1)
				require.Equal(t, bad, place{asides[0].Stream, asides[0].Seq})
				require.Equal(t, int64(1), d.Asides())
				written = s.written(j)
				effects := s.effects()
				require.NotContains(t, effects[bad.stream], bad.seq)
				require.Equal(t, len(written[bad.stream])-1, len(effects[bad.stream]))
				delete(effects, bad.stream)
				mine := written[bad.stream]
				delete(written, bad.stream)
				require.Equal(t, written, effects)

				s.retry() // before it was mended
				asides = s.asides()
				require.Len(t, asides, 1)
				require.Equal(t, int32(2), asides[0].Attempts)

				healed.Store(true)
				s.retry()
				require.Empty(t, s.asides())
				require.ElementsMatch(t, mine, s.effects()[bad.stream])
				require.Eventually(t, func() bool { return d.Waiting() == 0 }, within, 5*time.Millisecond)
			})
		}
	}
}

func firstOf(written map[int64][]int64) int64 {
	for stream := range written {
		return stream
	}
	return 0
}

// retry asks for another attempt at everything, and waits until it was made.
func (s *stage) retry() {
	s.t.Helper()
	n, err := follower.RequestRetry(s.t.Context(), s.pool, follower.Selection{})
	require.NoError(s.t, err)
	require.Positive(s.t, n)
	require.Eventually(s.t, func() bool {
		left, err := follower.Requested(s.t.Context(), s.pool, follower.Selection{})
		return err == nil && left == 0
	}, within, 5*time.Millisecond)
}

// TestManySetAside sets aside whole streams, of which every fact fails, and no other.
func TestManySetAside(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	var bad atomic.Int64
	f := s.follower(func(c *follower.Config) {
		d := follower.NewDigester(c.Name, slog.New(slog.DiscardHandler), func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			for _, b := range batches {
				for _, r := range b.Records {
					if r.Stream == bad.Load() {
						return errors.New("never created")
					}
				}
			}
			return note(ctx, tx, batches)
		}, nil)
		c.Apply, c.Digesters = d.Apply, []*follower.Digester{d}
	})
	j := s.journal("a", f.Offer)
	s.writeFacts(s.pens(j, 4), 10)
	written := s.written(j)
	bad.Store(firstOf(written))
	f.Start(j)
	s.passed(f)
	require.Len(t, s.asides(), len(written[bad.Load()]))
	delete(written, bad.Load())
	require.Equal(t, written, s.effects())
}

// TestNotSetAside has the follower fail for reasons that are no fact's. It tries
// again until they have gone, and sets nothing aside.
func TestNotSetAside(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(context.Context, pgx.Tx) error{
		"try again":     func(context.Context, pgx.Tx) error { return follower.ErrAgain },
		"cut off":       fails(`SELECT pg_terminate_backend(pg_backend_pid())`),
		"deadlock":      fails(`DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$`),
		"disk full":     fails(`DO $$ BEGIN RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'; END $$`),
		"missing table": fails(`SELECT FROM a_table_that_a_migration_makes`),
		"no permission": fails(`DO $$ BEGIN RAISE EXCEPTION 'denied' USING ERRCODE = '42501'; END $$`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, persisttest.Migrated(t))
			var healed atomic.Bool
			var tries atomic.Int64
			spoil := map[place]func(context.Context, pgx.Tx) error{}
			f := s.follower(func(c *follower.Config) {
				d := follower.NewDigester(c.Name, slog.New(slog.DiscardHandler), spoiled(&healed, spoil), nil)
				c.Apply, c.Digesters = d.Apply, []*follower.Digester{d}
			})
			j := s.journal("a", f.Offer)
			s.writeFacts(s.pens(j, 3), 3)
			spoil[place{firstOf(s.written(j)), 2}] = func(ctx context.Context, tx pgx.Tx) error {
				tries.Add(1)
				return how(ctx, tx)
			}
			f.Start(j)
			require.Eventually(t, func() bool { return tries.Load() > 2 }, within, time.Millisecond)
			require.Empty(t, s.effects())
			healed.Store(true)
			s.passed(f)
			require.Equal(t, s.written(j), s.effects())
			require.Empty(t, s.asides())
		})
	}
}

// TestUnreadableSetAside sets a record aside as a whole when its bytes are no facts.
func TestUnreadableSetAside(t *testing.T) {
	t.Parallel()
	s := newStage(t, persisttest.Migrated(t))
	f := s.follower(func(c *follower.Config) {
		d := follower.NewDigester(c.Name, slog.New(slog.DiscardHandler), func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
			for _, b := range batches {
				for _, r := range b.Records {
					if _, err := codec.Facts(r.Ref.Kind, r.Bytes); err != nil {
						return err
					}
				}
			}
			return note(ctx, tx, batches)
		}, nil)
		c.Apply, c.Digesters = d.Apply, []*follower.Digester{d}
	})
	j := s.journal("a", f.Offer)
	f.Start(j)
	v := scribes(t, j, 1)[0].Append(3) // random bytes
	require.NoError(t, v.Wait(t))
	s.writeFacts(s.pens(j, 2), 3)
	s.passed(f)
	asides := s.asides()
	require.Len(t, asides, 1)
	require.Equal(t, [2]int64{1, 3}, [2]int64{asides[0].Seq, asides[0].Last})
	written := s.written(j)
	delete(written, asides[0].Stream)
	require.Equal(t, written, s.effects())
}

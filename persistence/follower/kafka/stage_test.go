package kafka_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // they wait more than they work; it is a flag that there is
	persisttest.Main(m)
}

const (
	within     = 60 * time.Second
	partitions = 6
)

// stage is a database, a journal in it, and a topic.
type stage struct {
	t    *testing.T
	pool *pgxpool.Pool
	cfg  kafka.Config
}

// newStage uses the brokers of BOXOFFICE_TEST_KAFKA, a real Kafka (make kafka), or
// the fake if it is empty.
func newStage(t *testing.T, options ...kfake.Opt) *stage {
	t.Helper()
	brokers := strings.FieldsFunc(os.Getenv("BOXOFFICE_TEST_KAFKA"), func(r rune) bool { return r == ',' })
	if len(brokers) == 0 {
		brokers = fake(t, options...).ListenAddrs()
	}
	return stageAt(t, brokers)
}

func fake(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func stageAt(t *testing.T, brokers []string) *stage {
	t.Helper()
	s := &stage{t: t, pool: persisttest.Migrated(t), cfg: kafka.Config{
		Brokers: brokers, Topic: "facts-" + rand.Text(), Partitions: partitions, Replication: 3, Retention: time.Hour,
	}}
	// No key: a fact that is applied twice has two rows.
	_, err := s.pool.Exec(t.Context(), `CREATE TABLE effects (n bigint GENERATED ALWAYS AS IDENTITY, stream bigint, seq bigint, facts bytea)`)
	require.NoError(t, err)
	return s
}

// note notes every fact, and with the last of a record the record's bytes.
func note(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	var rows [][]any
	for _, b := range batches {
		for _, r := range b.Records {
			for seq := r.First; seq < r.Last; seq++ {
				rows = append(rows, []any{r.Stream, seq, nil})
			}
			rows = append(rows, []any{r.Stream, r.Last, r.Bytes})
		}
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"effects"}, []string{"stream", "seq", "facts"}, pgx.CopyFromRows(rows))
	return err
}

// relay is a relay and its follower.
type relay struct {
	*kafka.Relay
	*follower.Follower
}

// Stop waits a little until what was offered is in the topic, and ends both.
func (r *relay) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := r.Follower.Stop(ctx)
	r.Close()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (s *stage) relay() *relay {
	s.t.Helper()
	r := &relay{Relay: kafka.NewRelay(s.cfg, journal.NewReader(s.pool), slog.New(slog.DiscardHandler))}
	r.Follower = follower.New(follower.Config{
		Name: r.Name(), Apply: r.Apply,
		Pool: s.pool, Log: slog.New(slog.DiscardHandler), Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	})
	s.t.Cleanup(func() { require.NoError(s.t, r.Stop(context.WithoutCancel(s.t.Context()))) })
	return r
}

func (s *stage) consumer(apply follower.Apply) *kafka.Consumer {
	s.t.Helper()
	c := kafka.NewConsumer(s.cfg, kafka.ConsumerConfig{
		Name: "test", Pool: s.pool, Log: slog.New(slog.DiscardHandler), Apply: follower.Once("test", journal.NewReader(s.pool), apply),
	})
	s.t.Cleanup(func() { require.NoError(s.t, c.Stop(context.WithoutCancel(s.t.Context()))) })
	return c
}

func (s *stage) journal(sink func(*journal.Batch)) *journal.Postgres {
	s.t.Helper()
	j, err := journal.Open(s.t.Context(), journal.Config{
		Pool: s.pool, Node: "a", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Sink: sink, FailAfter: time.Minute,
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), within)
		defer cancel()
		require.NoError(s.t, j.Stop(ctx))
	})
	return j
}

func (s *stage) passed(r *relay) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	require.NoError(s.t, r.Passed(ctx))
}

// stream is one of the journal's, written by the test.
type stream struct {
	j     *journal.Postgres
	ref   engine.Ref
	claim journal.Claim
	next  int64
}

func (s *stage) stream(j *journal.Postgres, ref engine.Ref) *stream {
	s.t.Helper()
	claim, err := j.Claim(s.t.Context(), ref)
	require.NoError(s.t, err)
	w := &stream{j: j, ref: ref, claim: claim, next: 1}
	for r, err := range j.Load(s.t.Context(), claim.Stream, 0) {
		require.NoError(s.t, err)
		w.next = r.Last + 1
	}
	return w
}

func (s *stage) streams(j *journal.Postgres, n int) []*stream {
	s.t.Helper()
	var all []*stream
	for i := range n {
		all = append(all, s.stream(j, engine.InventoryRef(1, int64(i+1))))
	}
	return all
}

// verdict is what the journal says about an entry.
type verdict chan error

// Settled takes the verdict.
func (v verdict) Settled(err error) { v <- err }

func (w *stream) append(facts ...engine.Fact) verdict {
	v := make(verdict, 1)
	e := &journal.Entry{Ref: w.ref, Claim: w.claim, First: w.next, Facts: facts, Owner: v}
	for _, f := range facts {
		b, err := codec.AppendFact(e.Bytes, f)
		if err != nil {
			v <- err
			return v
		}
		e.Bytes = b
	}
	w.next += int64(len(facts))
	w.j.Append(e)
	return v
}

func (s *stage) journaled(v verdict) {
	s.t.Helper()
	select {
	case err := <-v:
		require.NoError(s.t, err)
	case <-time.After(within):
		require.FailNow(s.t, "no verdict")
	}
}

// write appends n entries of one to three facts to each of the streams.
func (s *stage) write(streams []*stream, n int) {
	s.t.Helper()
	var verdicts []verdict
	for i := range n {
		for k, w := range streams {
			var facts []engine.Fact
			for range 1 + (i+k)%3 {
				facts = append(facts, &inventory.Updated{At: w.next, Left: int64(k)})
			}
			verdicts = append(verdicts, w.append(facts...))
		}
	}
	for _, v := range verdicts {
		s.journaled(v)
	}
}

// seqs are those of each stream in the order of a query of stream and seq.
func (s *stage) seqs(query string) map[int64][]int64 {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), query)
	require.NoError(s.t, err)
	all := make(map[int64][]int64)
	var stream, seq int64
	_, err = pgx.ForEachRow(rows, []any{&stream, &seq}, func() error {
		all[stream] = append(all[stream], seq)
		return nil
	})
	require.NoError(s.t, err)
	return all
}

const journaled = `SELECT stream_id, seq FROM records CROSS JOIN LATERAL generate_series(first_seq, last_seq) AS seq ORDER BY stream_id, seq`

// facts is how many there are in the journal.
func (s *stage) facts() (n int) {
	for _, seqs := range s.seqs(journaled) {
		n += len(seqs)
	}
	return n
}

// applied waits until as many facts are applied as are in the journal, then
// requires that they are the same, once each and in order.
func (s *stage) applied() {
	s.t.Helper()
	want, n := s.seqs(journaled), s.facts()
	require.Positive(s.t, n)
	require.Eventually(s.t, func() bool {
		var applied int
		return s.pool.QueryRow(s.t.Context(), `SELECT count(*) FROM effects`).Scan(&applied) == nil && applied >= n
	}, within, 10*time.Millisecond)
	require.Equal(s.t, want, s.seqs(`SELECT stream, seq FROM effects ORDER BY n`))
}

// message is one of the topic's, as anybody reads it.
type message struct {
	partition  int
	key, value string
	headers    map[string]string
}

// topic reads all that is in the topic.
func (s *stage) topic() []message {
	s.t.Helper()
	var all []message
	for p := range partitions {
		r := kafkago.NewReader(kafkago.ReaderConfig{
			Brokers: s.cfg.Brokers, Topic: s.cfg.Topic, Partition: p, MaxWait: 100 * time.Millisecond, MaxBytes: 32 << 20,
		})
		var lag int64
		require.Eventually(s.t, func() bool { // a partition that has just been made may have no leader yet
			var err error
			lag, err = r.ReadLag(s.t.Context())
			return err == nil
		}, within, 10*time.Millisecond)
		for range lag {
			m, err := r.ReadMessage(s.t.Context())
			require.NoError(s.t, err)
			headers := make(map[string]string)
			for _, h := range m.Headers {
				headers[h.Key] = string(h.Value)
			}
			all = append(all, message{p, string(m.Key), string(m.Value), headers})
		}
		require.NoError(s.t, r.Close())
	}
	return all
}

// keys are a map's, in order.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

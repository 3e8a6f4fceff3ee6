package kafka_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"boxoffice/engine"
	"boxoffice/engine/event"
	walletkind "boxoffice/engine/wallet"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/journal"
)

// TestThrough follows facts from the journal through the topic to their effects.
func TestThrough(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	s.consumer(note).Start()
	streams := s.streams(j, 20)
	s.write(streams, 1) // a topic that has just been made may not be ready
	s.passed(r)
	before := r.Failures()
	for range 3 {
		s.write(streams, 20)
		s.passed(r)
		s.applied()
	}
	require.Zero(t, r.Lag().Batches)
	require.Equal(t, before, r.Failures())

	// The bytes are the journal's.
	var differ int
	require.NoError(t, s.pool.QueryRow(t.Context(), `
SELECT count(*) FROM (SELECT stream_id, string_agg(facts, '' ORDER BY last_seq) FROM records GROUP BY 1
EXCEPT SELECT stream, string_agg(facts, '' ORDER BY seq) FROM effects WHERE facts IS NOT NULL GROUP BY 1) d`).Scan(&differ))
	require.Zero(t, differ)
}

// TestMessages is what docs/kafka.md promises to others.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	made := &event.Created{Details: &event.Details{Org: 77, Title: "Gig"}, At: 5}
	moved := &event.Moved{From: "draft", To: "published", At: 6}
	a := s.stream(j, engine.EventRef(42))
	s.journaled(a.append(made, moved))
	s.write([]*stream{s.stream(j, engine.InventoryRef(42, 7))}, 1)
	wallet := engine.WalletRef(78, "NGN")
	s.journaled(s.stream(j, wallet).append(&walletkind.Entered{Print: 1}))
	r.Start(j)
	s.passed(r)

	all := make(map[string][]message)
	seen := make(map[string]bool)
	for _, m := range s.topic() {
		if id := m.headers["id"]; !seen[id] {
			seen[id] = true
			all[m.key] = append(all[m.key], m)
		}
	}
	require.Equal(t, []string{"event/42/42", "inventory/42/7", wallet.Name()}, keys(all))
	gig := all["event/42/42"]
	require.Len(t, gig, 2)
	number := strconv.FormatInt(a.claim.Stream, 10)
	for i, want := range []struct {
		name, number string
		fact         engine.Fact
	}{{"event.created", "1", made}, {"event.moved", "3", moved}} {
		seq := strconv.Itoa(i + 1)
		m := gig[i]
		require.Equal(t, map[string]string{
			"type": want.name, "number": want.number, "id": number + ":" + seq, "seq": seq, "organization": "77", "epoch": "1", "writer": m.headers["writer"], "batch": "1",
		}, m.headers)
		body, err := codec.Marshal(want.fact)
		require.NoError(t, err)
		require.Equal(t, string(body), m.value)
	}
	require.Equal(t, "77", all["inventory/42/7"][0].headers["organization"])
	require.Equal(t, "78", all[wallet.Name()][0].headers["organization"])

	// Another process looks the organization up.
	again := s.relay()
	j2 := s.journal(again.Offer)
	again.Start(j2)
	s.write([]*stream{s.stream(j2, engine.InventoryRef(42, 8))}, 1)
	s.passed(again)
	for _, m := range s.topic() {
		if m.key == "inventory/42/8" {
			require.Equal(t, "77", m.headers["organization"])
		}
	}
}

// TestLearnAgain looks an organization up once more when that failed.
func TestLearnAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	gig := s.stream(j, engine.EventRef(42))
	s.journaled(gig.append(&event.Created{Details: &event.Details{Org: 77, Title: "Gig"}, At: 5}))
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context())) // as if the connection had died
	batches := []journal.Batch{{Records: []journal.Record{{Ref: gig.ref, Stream: gig.claim.Stream, First: 1, Last: 1}}}}
	require.Eventually(t, func() bool { // a topic that has just been made may not be ready
		return errors.Is(r.Apply(t.Context(), tx, batches), pgx.ErrTxClosed)
	}, within, 10*time.Millisecond)
	r.Start(j)
	s.passed(r)
	all := s.topic()
	require.NotEmpty(t, all)
	require.Equal(t, "77", all[0].headers["organization"])
}

// TestRebalances starts and stops members of the group while facts come.
func TestRebalances(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	s.consumer(note).Start()
	streams := s.streams(j, 20)
	for range 3 {
		other := s.consumer(note)
		other.Start()
		s.write(streams, 20)
		s.passed(r)
		require.NoError(t, other.Stop(t.Context()))
		s.write(streams, 5)
	}
	s.passed(r)
	s.applied()
}

// TestTwice has everything written to the topic twice, by a relay that has
// forgotten where it was.
func TestTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	s.consumer(note).Start()
	streams := s.streams(j, 10)
	s.write(streams, 20)
	s.passed(r)
	require.NoError(t, r.Stop(t.Context()))
	n := len(s.topic())
	_, err := s.pool.Exec(t.Context(), `DELETE FROM followers`)
	require.NoError(t, err)
	s.relay().Start(j)
	require.Eventually(t, func() bool { return len(s.topic()) >= n+s.facts() }, within, 100*time.Millisecond)
	s.applied()
}

// TestNewTopic gets all facts again, and applies none again: the way out when a
// topic is lost.
func TestNewTopic(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	c := s.consumer(note)
	c.Start()
	streams := s.streams(j, 5)
	s.write(streams, 20)
	s.passed(r)
	s.applied()
	require.NoError(t, errors.Join(r.Stop(t.Context()), c.Stop(t.Context())))

	s.cfg.Topic += "-2"
	s.write(streams, 1)
	r = s.relay()
	r.Start(j)
	s.consumer(note).Start()
	s.applied()
	require.GreaterOrEqual(t, len(s.topic()), s.facts())
}

// TestStaleMember has two members believe that a partition is theirs.
func TestStaleMember(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	streams := s.streams(j, 10)
	s.write(streams, 1)
	s.passed(r)
	ctx, cancel := context.WithCancel(t.Context())
	var members sync.WaitGroup
	for range 3 {
		c := s.consumer(note)
		for p := range partitions {
			members.Go(func() { kafka.Take(ctx, c, p) })
		}
	}
	for range 20 {
		s.write(streams, 5)
	}
	s.passed(r)
	s.applied()
	cancel()
	members.Wait()
}

// TestNothingPastAFailure lets requests fail in every way that Kafka knows, and
// reads the topic: no fact comes before one that its stream had earlier.
func TestNothingPastAFailure(t *testing.T) {
	t.Parallel()
	c := fake(t)
	s := stageAt(t, c.ListenAddrs())
	every := func(k int) func(kmsg.Request) bool {
		n := 0
		return func(kmsg.Request) bool { n++; return n%k == 0 }
	}
	fails := func(err *kerr.Error, k int) kfake.Fault {
		return kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: 2, When: every(k)}
	}
	c.Fault(
		fails(kerr.NotLeaderForPartition, 5),
		fails(kerr.RequestTimedOut, 7), // and yet it is done
		fails(kerr.MessageTooLarge, 11),
	)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	s.consumer(note).Start()
	streams := s.streams(j, 12)
	for range 10 {
		s.write(streams, 3)
		s.passed(r)
	}
	require.Positive(t, r.Failures())
	last := make(map[string]int)
	for _, m := range s.topic() {
		seq, err := strconv.Atoi(m.headers["seq"])
		require.NoError(t, err)
		require.LessOrEqual(t, seq, last[m.key]+1, m.key)
		last[m.key] = max(last[m.key], seq)
	}
	s.applied()
}

// TestGap has Kafka delete messages that nobody has read. Nothing is applied of a
// stream whose facts are missing, until they come by a new topic.
func TestGap(t *testing.T) {
	t.Parallel()
	c := fake(t)
	s := stageAt(t, c.ListenAddrs())
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	streams := s.streams(j, 20)
	s.write(streams, 10)
	s.passed(r)
	all := s.topic()
	lost := all[0]
	require.NoError(t, c.DeleteRecords(s.cfg.Topic, int32(lost.partition), 1))
	intact, stuck := make(map[string]bool), false
	for _, m := range all[1:] { // a partition stops at the first fact that does not follow
		stuck = stuck || m.key == lost.key
		if m.partition != lost.partition || !stuck {
			intact[m.headers["id"]] = true
		}
	}
	consumer := s.consumer(note)
	consumer.Start()
	count := func() (n int) {
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM effects`).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return count() == len(intact) && consumer.Failures() > 2 }, within, 10*time.Millisecond)
	require.Equal(t, len(intact), count())
	require.NoError(t, errors.Join(r.Stop(t.Context()), consumer.Stop(t.Context())))

	s.cfg.Topic += "-2"
	r = s.relay()
	r.Start(j)
	s.consumer(note).Start()
	s.applied()
}

// TestMorePartitions moves streams to other partitions, in which their later facts
// may be read before the earlier ones are.
func TestMorePartitions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	streams := s.streams(j, 30)
	s.write(streams, 10)
	s.passed(r)
	require.NoError(t, r.Stop(t.Context()))
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(s.cfg.Brokers...), Transport: transport}
	_, err := client.CreatePartitions(t.Context(), &kafkago.CreatePartitionsRequest{
		Topics: []kafkago.TopicPartitionsConfig{{Name: s.cfg.Topic, Count: partitions + 5}},
	})
	require.NoError(t, err)
	r = s.relay()
	r.Start(j)
	s.write(streams, 10)
	s.consumer(note).Start()
	s.applied()
}

// TestKafkaAway stops the only broker and starts it again, while facts are
// journaled at their own pace.
func TestKafkaAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := fake(t, kfake.DataDir(dir))
	addrs := c.ListenAddrs()
	s := stageAt(t, addrs)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	consumer := s.consumer(note)
	consumer.Start()
	streams := s.streams(j, 10)
	s.write(streams, 10)
	s.passed(r)
	s.applied()

	c.Close()
	s.write(streams, 10)
	require.Eventually(t, func() bool { return r.Failures() > 0 && consumer.Failures() > 0 }, within, 10*time.Millisecond)
	s.write(streams, 10)
	require.Positive(t, r.Lag().Batches)
	var idle int
	require.NoError(t, s.pool.QueryRow(t.Context(), `
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%' AND now() - xact_start > '20 s'`).Scan(&idle))
	require.Zero(t, idle)

	port, err := strconv.Atoi(addrs[0][strings.LastIndexByte(addrs[0], ':')+1:])
	require.NoError(t, err)
	fake(t, kfake.DataDir(dir), kfake.Ports(port))
	s.passed(r)
	s.applied()
}

// TestStopWithoutKafka is quick.
func TestStopWithoutKafka(t *testing.T) {
	t.Parallel()
	s := stageAt(t, []string{"127.0.0.1:1"})
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	c := s.consumer(note)
	c.Start()
	s.write(s.streams(j, 1), 1)
	began := time.Now()
	require.NoError(t, errors.Join(c.Stop(t.Context()), r.Stop(t.Context())))
	require.Less(t, time.Since(began), 20*time.Second)
}

// TestLargeFact takes the map of a stadium, and more, through.
func TestLargeFact(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	s.consumer(note).Start()
	a := s.stream(j, engine.EventRef(1))
	noise := make([]byte, 5<<20)
	_, _ = rand.Read(noise)
	small := func(n int) engine.Fact { return &event.Moved{Reason: fmt.Sprint("move ", n)} }
	s.journaled(a.append(small(1), &event.Created{Details: &event.Details{SEO: noise}}, small(2)))
	s.journaled(a.append(small(3)))
	s.passed(r)
	s.applied()
}

// TestApplyFails stops a partition at the fact that fails, and no other partition.
func TestApplyFails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	streams := s.streams(j, 10)
	s.write(streams, 10)
	s.passed(r)
	poison := streams[3].claim.Stream
	var healed atomic.Bool
	c := s.consumer(func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		for _, b := range batches {
			for _, r := range b.Records {
				if r.Stream == poison && r.First <= 5 && r.Last >= 5 && !healed.Load() {
					return errors.New("poison")
				}
			}
		}
		return note(ctx, tx, batches)
	})
	c.Start()
	count := func(where string) (n int) {
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM effects WHERE `+where, poison).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return count("stream = $1") == 4 }, within, 10*time.Millisecond)
	require.Positive(t, c.Lag())
	healed.Store(true)
	s.applied()
}

// TestSecured reaches a broker that wants TLS and a password.
func TestSecured(t *testing.T) {
	t.Parallel()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	c := fake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "boxoffice", "secret"), kfake.TLS(certified.TLS))
	s := stageAt(t, c.ListenAddrs())
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	s.cfg.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	s.cfg.User, s.cfg.Password = "boxoffice", "wrong"
	wrong := s.relay()
	j := s.journal(wrong.Offer)
	wrong.Start(j)
	s.write(s.streams(j, 3), 2)
	require.Eventually(t, func() bool { return wrong.Failures() > 0 }, within, 10*time.Millisecond)
	require.NoError(t, wrong.Stop(t.Context()))

	s.cfg.Password = "secret"
	s.relay().Start(j)
	s.consumer(note).Start()
	s.applied()
}

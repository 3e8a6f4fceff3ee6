package kafka_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/journal"
)

// carefulRelay is a relay that sets aside what it cannot send, as a node's does.
func (s *stage) carefulRelay() *relay {
	s.t.Helper()
	log := slog.New(slog.NewTextHandler(s.t.Output(), nil))
	r := &relay{Relay: kafka.NewRelay(s.cfg, journal.NewReader(s.pool), log)}
	d := follower.NewDigester(r.Name(), log, r.Apply, nil)
	r.Follower = follower.New(follower.Config{
		Name: r.Name(), Apply: d.Apply, Digesters: []*follower.Digester{d},
		Pool: s.pool, Log: log, Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	})
	s.t.Cleanup(func() { require.NoError(s.t, r.Stop(context.WithoutCancel(s.t.Context()))) })
	return r
}

// carefulConsumer sets aside what cannot be applied.
func (s *stage) carefulConsumer(apply follower.Apply) *kafka.Consumer {
	s.t.Helper()
	log := slog.New(slog.NewTextHandler(s.t.Output(), nil))
	d := follower.NewDigester("test", log, apply, nil)
	c := kafka.NewConsumer(s.cfg, kafka.ConsumerConfig{
		Name: "test", Pool: s.pool, Log: log, Apply: follower.Once("test", journal.NewReader(s.pool), d.Apply), Past: journal.NewReader(s.pool), Digesters: []*follower.Digester{d},
	})
	s.t.Cleanup(func() { require.NoError(s.t, c.Stop(context.WithoutCancel(s.t.Context()))) })
	return c
}

// appendBytes appends a record of n facts that has these bytes.
func (w *stream) appendBytes(b []byte, n int) verdict {
	v := make(verdict, 1)
	w.j.Append(&journal.Entry{Ref: w.ref, Claim: w.claim, First: w.next, Facts: make([]engine.Fact, n), Bytes: b, Owner: v})
	w.next += int64(n)
	return v
}

func move(n int) engine.Fact { return &event.Moved{Reason: fmt.Sprint("move ", n), At: 1} }

// unreadable are bytes that are no facts.
var unreadable = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}

// asides are what is set aside: follower, stream and seq.
func (s *stage) asides() (all []string) {
	s.t.Helper()
	list, err := follower.Asides(s.t.Context(), s.pool, follower.Selection{}, 1000)
	require.NoError(s.t, err)
	for _, a := range list {
		all = append(all, fmt.Sprintf("%s %d %d to %d", a.Follower, a.Stream, a.Seq, a.Last))
	}
	return all
}

// TestRelaySetsAside has facts that cannot be sent. Each is set aside alone, the
// others of its stream and of all streams go on, and the consumer finds in the journal
// what Kafka does not have.
func TestRelaySetsAside(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]struct {
		bad   func(w *stream) verdict
		first bool // it is the first fact of the event, which says whose that is
		last  int64
	}{
		"too large": {bad: func(w *stream) verdict {
			noise := make([]byte, 18<<20)
			_, _ = rand.Read(noise)
			return w.append(&event.Created{Details: &event.Details{SEO: noise}})
		}, last: 0},
		"unreadable":       {bad: func(w *stream) verdict { return w.appendBytes(unreadable, 3) }, last: 2},
		"unreadable first": {bad: func(w *stream) verdict { return w.appendBytes(unreadable, 1) }, first: true},
		"sending panics":   {bad: func(w *stream) verdict { return w.append(move(99)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			r := s.carefulRelay()
			j := s.journal(r.Offer)
			others := s.streams(j, 5)
			s.write(others, 2)
			w := s.stream(j, engine.EventRef(42))
			if !write.first {
				s.journaled(w.append(&event.Created{Details: &event.Details{Org: 77, Title: "Gig"}, At: 5}, move(1)))
			}
			bad := w.next
			if name == "sending panics" {
				kafka.PanicOver(r.Relay, fmt.Sprintf("%d:%d", w.claim.Stream, bad))
			}
			s.journaled(write.bad(w))
			s.journaled(w.append(move(2), move(3)))
			s.write(others, 2)
			r.Start(j)
			s.passed(r)
			s.write(others, 2)
			s.journaled(w.append(move(4)))
			s.passed(r)
			require.Equal(t, []string{fmt.Sprintf("%s %d %d to %d", r.Name(), w.claim.Stream, bad, bad+write.last)}, s.asides())

			s.carefulConsumer(note).Start()
			s.applied()
			for _, m := range s.topic() {
				if m.key == w.ref.Name() && write.first {
					require.NotContains(t, m.headers, "organization")
				} else if m.key == w.ref.Name() {
					require.Equal(t, "77", m.headers["organization"])
				}
			}
		})
	}
}

// TestConsumerSetsAside has facts come through Kafka that cannot be applied. Each is
// set aside alone, and its partition goes on.
func TestConsumerSetsAside(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.carefulRelay()
	j := s.journal(r.Offer)
	r.Start(j)
	streams := s.streams(j, 10)
	s.write(streams, 4)
	s.journaled(streams[3].appendBytes(codec.AppendBody(nil, 2, []byte{0x1c}), 1)) // an Updated that is no CBOR
	s.write(streams, 4)
	s.passed(r)
	s.carefulConsumer(func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		for _, b := range batches {
			for i := range b.Records {
				if _, err := follower.Facts(&b.Records[i]); err != nil {
					return err
				}
			}
		}
		return note(ctx, tx, batches)
	}).Start()
	want := s.facts() - 1
	require.Eventually(t, func() bool {
		var n int
		return s.pool.QueryRow(t.Context(), `SELECT count(*) FROM effects`).Scan(&n) == nil && n >= want
	}, within, 10*time.Millisecond)
	require.Len(t, s.asides(), 1)
	effects, all := s.seqs(`SELECT stream, seq FROM effects ORDER BY n`), s.seqs(journaled)
	bad := streams[3].claim.Stream
	require.Len(t, effects[bad], len(all[bad])-1)
	delete(effects, bad)
	delete(all, bad)
	require.Equal(t, all, effects)
}

// TestForeignMessage has somebody else write to the topic. What no relay wrote is
// passed over; it stops nobody's partition.
func TestForeignMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.relay()
	j := s.journal(r.Offer)
	r.Start(j)
	streams := s.streams(j, 20)
	s.write(streams, 2)
	s.passed(r)
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	foreign := &kafkago.Writer{
		Addr: kafkago.TCP(s.cfg.Brokers...), Topic: s.cfg.Topic, Balancer: &kafkago.RoundRobin{}, BatchTimeout: time.Millisecond, Transport: transport,
	}
	defer func() { require.NoError(t, foreign.Close()) }()
	var messages []kafkago.Message
	for range 3 * partitions { // some in each
		messages = append(messages,
			kafkago.Message{Value: []byte("hello")},
			kafkago.Message{Key: []byte(streams[0].ref.Name()), Value: []byte{0xa0}, Headers: []kafkago.Header{{Key: "type", Value: []byte("event.moved")}}},
			kafkago.Message{Key: []byte("event/1/1"), Headers: []kafkago.Header{{Key: "seq", Value: []byte(strconv.Itoa(1 << 40))}}})
	}
	require.NoError(t, foreign.WriteMessages(t.Context(), messages...))
	c := s.consumer(note)
	c.Start()
	s.write(streams, 2)
	s.passed(r)
	s.applied()
	require.Eventually(t, func() bool { return c.Lag() == 0 }, within, 10*time.Millisecond)
	require.GreaterOrEqual(t, c.Failures(), int64(len(messages)))
}

// TestNewerFact takes a fact through whose type only nodes of a later release know,
// as after a release was taken back: it stops nobody, here or there.
func TestNewerFact(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.carefulRelay()
	j := s.journal(r.Offer)
	r.Start(j)
	s.carefulConsumer(note).Start()
	w := s.stream(j, engine.EventRef(42))
	s.journaled(w.append(move(1)))
	s.journaled(w.appendBytes(codec.AppendBody(nil, 900, []byte{0xa0}), 1))
	s.journaled(w.append(move(2)))
	s.passed(r)
	s.applied()
	require.Empty(t, s.asides())
	var types []string
	for _, m := range s.topic() {
		types = append(types, m.headers["type"]+" "+m.headers["number"])
	}
	require.Equal(t, []string{"event.moved 3", "event/900 900", "event.moved 3"}, types)
}

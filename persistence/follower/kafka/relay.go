package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/panics"
)

const (
	// sendWithin bounds a round of requests, because a transaction is open meanwhile.
	sendWithin = 5 * time.Second
	// maxRound is the number of bytes, before compression, at which a round is sent. The next round begins only
	// when all of it is acknowledged.
	maxRound = 1 << 20
	// maxEvents bounds the events whose organizations are remembered. Beyond it, all are forgotten
	// at once, and looked up when they come again.
	maxEvents = 1 << 18
)

// Relay writes the facts of the journal to the topic, once they are committed. Its Name and Apply
// are a follower's. Close it when the follower has stopped.
type Relay struct {
	link       *link
	journal    *journal.Reader
	log        *slog.Logger
	hash       kafkago.Hash
	partitions []int           // 0, 1, 2 ...; nil when they must be looked up
	orgs       map[int64]int64 // the number of the organization that owns an event, by the event's number
	failures   atomic.Int64
}

// NewRelay makes a relay of a journal.
func NewRelay(cfg Config, from *journal.Reader, log *slog.Logger) *Relay {
	return &Relay{link: newLink(cfg), journal: from, log: log, orgs: make(map[int64]int64)}
}

// Name returns the follower's name. It contains the topic, so that a new topic gets all facts from the
// first on.
func (r *Relay) Name() string { return "kafka:" + r.link.cfg.Topic }

// Close ends the connections to the brokers.
func (r *Relay) Close() { r.link.close() }

// Failures counts the attempts to send that failed.
func (r *Relay) Failures() int64 { return r.failures.Load() }

// errUnsendable says that a fact can never be sent, because it cannot be read or is too large for
// Kafka.
var errUnsendable = errors.New("kafka: cannot be sent")

// Apply sends the batches. It returns follower.ErrAgain for failures that may pass, such as that Kafka is away or the
// topic is not made yet. Other errors are about a fact that can never be sent or that makes sending panic: a
// follower.Digester sets it aside. Apply must not be called concurrently.
func (r *Relay) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	if err := r.sendBatches(ctx, tx, batches); err != nil {
		r.failures.Add(1)
		// The next attempt asks for the partitions again, because the topic may have been changed.
		r.partitions = nil
		_, panicked := errors.AsType[*panics.Error](err)
		if panicked || errors.Is(err, errUnsendable) {
			return err
		}
		return fmt.Errorf("%w: %w", follower.ErrAgain, err)
	}
	return nil
}

// sendBatches sends all facts of the batches, each with its organization, in rounds of about maxRound bytes, and returns
// when Kafka has them all. After an error, some of them may have been sent.
func (r *Relay) sendBatches(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	if r.partitions == nil {
		n, err := r.link.countPartitions(ctx)
		if err != nil {
			return err
		}
		for i := range n {
			r.partitions = append(r.partitions, i)
		}
	}
	if err := r.learnOrgs(ctx, tx, batches); err != nil {
		return err
	}
	// The key decides the partition, so that all facts of a stream stay in order.
	round, size := make([][]kafkago.Message, len(r.partitions)), 0
	for i := range batches {
		b := &batches[i]
		for j := range b.Records {
			rec := &b.Records[j]
			key := []byte(rec.Ref.Name())
			to := &round[r.hash.Balance(kafkago.Message{Key: key}, r.partitions...)]
			more, n, err := appendMessages(*to, key, b, rec, r.orgOf(rec.Ref))
			if err != nil {
				return err
			}
			*to = more
			if size += n; size < maxRound {
				continue
			}
			if err := r.flushRound(ctx, round); err != nil {
				return err
			}
			clear(round)
			size = 0
		}
	}
	return r.flushRound(ctx, round)
}

// flushRound sends each partition its messages, and waits for all partitions. Nothing is sent to a partition
// before everything earlier is acknowledged there, which keeps the order of each stream; kafka-go's Writer
// would go on to the next batch after one that failed.
func (r *Relay) flushRound(ctx context.Context, round [][]kafkago.Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	sending, ctx := errgroup.WithContext(ctx)
	for partition, messages := range round {
		if len(messages) == 0 {
			continue
		}
		sending.Go(func() error {
			// The digester's recover does not reach this goroutine.
			err := panics.Catch(r.log, "follower "+r.Name(), func() error { return r.produce(ctx, partition, messages) })
			if err != nil {
				return fmt.Errorf("kafka: write to partition %d: %w", partition, err)
			}
			return nil
		})
	}
	return sending.Wait()
}

// produce sends messages to a partition. If they are too large together, Kafka has taken none of
// them, and they are sent in halves. A single message that is too large is sent once more before
// produce gives up.
func (r *Relay) produce(ctx context.Context, partition int, messages []kafkago.Message) error {
	err := r.produceAll(ctx, partition, messages)
	if !errors.Is(err, kafkago.MessageSizeTooLarge) {
		return err
	}
	if half := len(messages) / 2; half > 0 {
		if err := r.produce(ctx, partition, messages[:half]); err != nil {
			return err
		}
		return r.produce(ctx, partition, messages[half:])
	}
	if err = r.produceAll(ctx, partition, messages); errors.Is(err, kafkago.MessageSizeTooLarge) {
		return fmt.Errorf("%w: %d bytes: %w", errUnsendable, len(messages[0].Value), err)
	}
	return err
}

// produceAll sends messages in one request, and returns when all in-sync replicas have them.
func (r *Relay) produceAll(ctx context.Context, partition int, messages []kafkago.Message) error {
	answer, err := r.link.client.Produce(ctx, &kafkago.ProduceRequest{
		Topic: r.link.cfg.Topic, Partition: partition, RequiredAcks: kafkago.RequireAll, Compression: kafkago.Lz4,
		Records: &outgoing{messages: messages},
	})
	if err == nil {
		err = answer.Error
	}
	return err
}

// orgOf returns the organization that an actor's facts belong to, or 0 if it is unknown.
func (r *Relay) orgOf(ref engine.Ref) int64 {
	if ref.Kind.OfOrganization() {
		return ref.Home
	}
	return r.orgs[ref.Home]
}

// learnOrgs finds the organizations of the events in the batches that are not known yet: from an event's first fact or,
// if the journal has dropped that, from the read model. If neither names the organization, the event is noted with
// 0, and is not looked up again. When more than maxEvents are known, it forgets all of them first.
func (r *Relay) learnOrgs(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	if len(r.orgs) > maxEvents {
		clear(r.orgs)
	}
	const later = `SELECT number, org FROM events WHERE number = ANY($1)`
	var unknown []string
	var numbers []int64
	for i := range batches {
		for j := range batches[i].Records {
			ref := batches[i].Records[j].Ref
			if _, known := r.orgs[ref.Home]; !known && !ref.Kind.OfOrganization() {
				// Unknown events are noted as such, so that each is looked up once.
				r.orgs[ref.Home] = 0
				unknown, numbers = append(unknown, engine.EventRef(ref.Home).Name()), append(numbers, ref.Home)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	rows, _ := tx.Query(ctx, later, numbers) // ForEachRow returns its error
	var number, org int64
	if _, err := pgx.ForEachRow(rows, []any{&number, &org}, func() error {
		r.orgs[number] = org
		return nil
	}); err != nil {
		clear(r.orgs)
		return fmt.Errorf("kafka: organizations: %w", err)
	}
	first, err := r.journal.Facts(ctx, unknown, 1)
	if err != nil {
		clear(r.orgs)
		return fmt.Errorf("kafka: organizations: %w", err)
	}
	for name, records := range first {
		ref, err := engine.ParseRef(name)
		if err != nil {
			clear(r.orgs)
			return fmt.Errorf("kafka: organizations: %w", err)
		}
		facts, err := codec.Facts(ref.Kind, records[0])
		if err != nil || len(facts) == 0 {
			continue // this fact does not tell the organization; the other facts are sent all the same
		}
		if made, ok := facts[0].(*event.Created); ok && made.Details != nil {
			r.orgs[ref.Home] = made.Details.Org
		}
	}
	return nil
}

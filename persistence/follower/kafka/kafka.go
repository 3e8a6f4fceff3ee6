// Package kafka sends the facts of the journal through a topic of Kafka: a Relay writes them there,
// a Consumer reads them back and applies them. Kafka only transports facts; everything in the topic
// can be written again from the journal.
//
// The relay is a follower whose effect is done when every in-sync replica has acknowledged. After a
// failure it may write a fact twice, but never before the earlier facts of its stream: it sends one
// batch to a partition at a time, and nothing after a batch that was not acknowledged. The consumer
// keeps its place in each partition in Postgres, in the transaction of the effect, and moves it
// only from where it believes it to be. So a member of the group that has been declared dead, and
// does not know it, applies nothing. Kafka's own offsets are not used. Apply must be made by
// follower.Once, which drops facts that came twice and stops at a missing one.
//
// docs/kafka.md says what a message looks like and what others may rely on.
//
// A Relay and a Consumer each own their connections to Kafka, until Close and Stop. Start starts a consumer's
// goroutines, and Stop waits for them; a relay has none of its own. Both survive an outage of Kafka of any
// length: they try again, and go on where they stopped.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
)

// The times bound what a part waits for, so that it can be stopped while Kafka is away.
const (
	dialWithin  = 3 * time.Second
	askWithin   = 5 * time.Second // longest time of one question about the topic
	clientID    = "boxoffice"
	maxMessage  = 16 << 20 // bytes of a compressed batch: a stadium's seat map is one fact
	longPause   = 5 * time.Second
	firstPause  = 50 * time.Millisecond
	leaveWithin = 3 * time.Second // how long a member may take to leave its group before it is cut off
)

// Config says where the facts go. No field has a default.
type Config struct {
	Brokers        []string // host:port of at least one of the cluster's brokers
	TLS            *tls.Config
	User, Password string // SASL PLAIN, if there is a user

	Topic string
	// Partitions and Replication are how the topic is made if it is missing. An existing topic is
	// taken as it is.
	Partitions  int
	Replication int // at most as many as there are brokers
	Retention   time.Duration
}

// link has the connections of one part, a relay or a consumer, to the brokers. Cutting it ends them all.
type link struct {
	cfg    Config
	client *kafkago.Client
	pool   *kafkago.Transport // the connections of client
	dialer *kafkago.Dialer    // for the group, which dials its own connections

	life context.Context // every connection is cut when it ends
	cut  context.CancelFunc
}

// newLink makes a link. It connects when it is first used.
func newLink(cfg Config) *link {
	l := &link{cfg: cfg}
	l.life, l.cut = context.WithCancel(context.Background())
	var mechanism sasl.Mechanism
	if cfg.User != "" {
		mechanism = plain.Mechanism{Username: cfg.User, Password: cfg.Password}
	}
	l.pool = &kafkago.Transport{
		Dial: l.dial, DialTimeout: dialWithin, ClientID: clientID, TLS: cfg.TLS, SASL: mechanism, MetadataTopics: []string{cfg.Topic},
	}
	l.client = &kafkago.Client{Addr: kafkago.TCP(cfg.Brokers...), Transport: l.pool}
	l.dialer = &kafkago.Dialer{
		DialFunc: l.dial, Timeout: dialWithin, ClientID: clientID, TLS: cfg.TLS, SASLMechanism: mechanism, DualStack: true,
	}
	return l
}

// dial makes a connection that ends with the link.
func (l *link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)() //nolint:contextcheck // the link's life and the caller's both count
	conn, err := (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	b := &bound{Conn: conn}
	b.free = context.AfterFunc(l.life, func() { _ = conn.Close() }) //nolint:contextcheck // it outlives the dialling
	return b, nil
}

// bound is a connection that a link can cut.
type bound struct {
	net.Conn
	free func() bool
}

// Close closes the connection, which the link then forgets.
func (b *bound) Close() error {
	b.free()
	return b.Conn.Close()
}

// close ends all connections of the link.
func (l *link) close() {
	l.cut()
	l.pool.CloseIdleConnections()
}

// countPartitions returns how many partitions the topic has, and makes the topic if it is missing.
func (l *link) countPartitions(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	n, brokers, err := l.lookUpTopic(ctx)
	// The first relay or consumer that looks makes the topic. If two do so at once, Kafka refuses the second, and both
	// look again.
	if errors.Is(err, kafkago.UnknownTopicOrPartition) {
		if err = l.createTopic(ctx, min(l.cfg.Replication, brokers)); err == nil {
			n, _, err = l.lookUpTopic(ctx)
		}
	}
	if err == nil && n == 0 {
		err = kafkago.LeaderNotAvailable // it is being made
	}
	if err != nil {
		return 0, fmt.Errorf("kafka: topic %s: %w", l.cfg.Topic, err)
	}
	return n, nil
}

// lookUpTopic asks the cluster how many partitions the topic has and how many brokers there are.
func (l *link) lookUpTopic(ctx context.Context) (partitions, brokers int, err error) {
	m, err := l.client.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{l.cfg.Topic}})
	if err != nil {
		return 0, 0, err
	}
	for _, t := range m.Topics {
		if t.Name == l.cfg.Topic {
			return len(t.Partitions), len(m.Brokers), t.Error
		}
	}
	return 0, len(m.Brokers), kafkago.UnknownTopicOrPartition
}

// createTopic makes the topic. That it is there already is no error.
func (l *link) createTopic(ctx context.Context, replication int) error {
	r, err := l.client.CreateTopics(ctx, &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{{
		Topic: l.cfg.Topic, NumPartitions: l.cfg.Partitions, ReplicationFactor: replication,
		ConfigEntries: []kafkago.ConfigEntry{
			{ConfigName: "cleanup.policy", ConfigValue: "delete"},
			{ConfigName: "retention.ms", ConfigValue: strconv.FormatInt(l.cfg.Retention.Milliseconds(), 10)},
			{ConfigName: "max.message.bytes", ConfigValue: strconv.Itoa(maxMessage)},
			// Where there are two replicas or more, one of them may be away.
			{ConfigName: "min.insync.replicas", ConfigValue: strconv.Itoa(max(1, replication-1))},
		},
	}}})
	if err != nil {
		return err
	}
	if err := r.Errors[l.cfg.Topic]; err != nil && !errors.Is(err, kafkago.TopicAlreadyExists) {
		return err
	}
	return nil
}

// pause waits for d, or less if ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

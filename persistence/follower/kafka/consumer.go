package kafka

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	kafkago "github.com/segmentio/kafka-go"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/panics"
)

const (
	// If a member is silent for sessionTimeout, its partitions are given to others. It sends a sign
	// of life every heartbeat.
	sessionTimeout = 10 * time.Second
	heartbeat      = time.Second
	joinPause      = time.Second
	warnEvery      = 10 * time.Second
)

// ConsumerConfig says what is done with the facts.
type ConsumerConfig struct {
	Name string // names its positions; the name of its group contains it and the topic
	Pool *pgxpool.Pool
	Log  *slog.Logger
	// Apply takes facts in within the transaction of the position; it must be made by
	// follower.Once. Any error stops the partition at the first fact that fails, and that fact is
	// tried again for as long as it takes. Facts that a follower.Digester in it cannot digest are
	// set aside. The Digesters apply them again between two transactions of the consumer.
	Apply     follower.Apply
	Digesters []*follower.Digester
	Past      follower.Past // where the digesters read the facts that they apply again

	MaxBatch int // most facts in one transaction; 0: 4,000

	// Yield and Busy are as for a follower: after each transaction the consumer rests for Yield
	// times as long as the transaction took, while Busy returns true. 0: it never rests.
	Yield int
	Busy  func() bool
}

// Consumer reads the topic as one member of a group, and applies what it reads.
type Consumer struct {
	cfg    ConsumerConfig
	link   *link
	turn   chan struct{} // has a value while a partition has a transaction: one at a time, because requests need the database too
	ctx    context.Context
	cancel context.CancelFunc
	start  sync.Once
	done   chan struct{} // closed when the goroutine has ended

	failures atomic.Int64
	warned   atomic.Int64 // when an outage was last logged as a warning, in unix nanoseconds
	mu       sync.Mutex
	behind   map[int]int64 // messages that wait, by partition of this member
}

// NewConsumer makes a consumer.
func NewConsumer(cfg Config, consume ConsumerConfig) *Consumer {
	consume.MaxBatch = cmp.Or(consume.MaxBatch, maxApply)
	c := &Consumer{
		cfg: consume, link: newLink(cfg), turn: make(chan struct{}, 1),
		done: make(chan struct{}), behind: make(map[int]int64),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Start begins to consume, from the saved positions on.
func (c *Consumer) Start() {
	c.start.Do(func() { go c.run() })
}

// Stop leaves the group, ends the consumer and waits for it. A transaction under way is undone, and
// the next member of the group makes it again.
func (c *Consumer) Stop(context.Context) error {
	c.start.Do(func() { close(c.done) }) // it was never started
	c.cancel()
	<-c.done
	c.link.close()
	return nil
}

// Failures counts the attempts to join, read or apply that failed, and the foreign messages.
func (c *Consumer) Failures() int64 { return c.failures.Load() }

// Lag returns how many messages waited in this member's partitions when Kafka last answered.
func (c *Consumer) Lag() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n int64
	for _, behind := range c.behind {
		n += behind
	}
	return n
}

// run is a goroutine that belongs to the group for as long as the consumer runs.
func (c *Consumer) run() {
	defer close(c.done)
	panics.Keep(c.ctx, c.cfg.Log, "kafka consumer "+c.cfg.Name, c.joinGroup)
}

// joinGroup waits for the topic, which is made if it is missing, and takes part in the group until the consumer stops.
// In each generation of the group it starts to read the partitions that are this member's. At the end it leaves the
// group, which takes at most about leaveWithin.
func (c *Consumer) joinGroup() {
	// Without the topic a group has no partitions to assign, so this waits until the topic is there.
	for c.ctx.Err() == nil {
		_, err := c.link.countPartitions(c.ctx)
		if err == nil {
			break
		}
		c.noteFailure("reach kafka", err)
		pause(c.ctx, longPause)
	}
	if c.ctx.Err() != nil {
		return
	}
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID: c.link.cfg.Topic + "." + c.cfg.Name, Brokers: c.link.cfg.Brokers, Dialer: c.link.dialer, Topics: []string{c.link.cfg.Topic},
		HeartbeatInterval: heartbeat, SessionTimeout: sessionTimeout, RebalanceTimeout: sessionTimeout, JoinGroupBackoff: joinPause,
		WatchPartitionChanges: true,
		StartOffset:           kafkago.FirstOffset,
	})
	if err != nil {
		panic(err) // it only checks this configuration
	}
	for c.ctx.Err() == nil {
		generation, err := group.Next(c.ctx)
		if err != nil {
			c.noteFailure("join", err)
			continue
		}
		c.startPartitions(generation)
	}
	// Joining a group, or waiting for a broker that is away, could delay the stop for too long.
	cut := time.AfterFunc(leaveWithin, c.link.cut)
	defer cut.Stop()
	_ = group.Close() // always nil
}

// startPartitions starts a goroutine for each partition of a generation. They all run until the generation ends:
// kafka-go ends the whole generation when one of them returns.
func (c *Consumer) startPartitions(g *kafkago.Generation) {
	assigned := g.Assignments[c.link.cfg.Topic]
	// The partitions of the last generation may belong to other members now.
	c.mu.Lock()
	clear(c.behind)
	c.mu.Unlock()
	c.cfg.Log.Info("kafka partitions assigned", slog.String("consumer", c.cfg.Name), slog.Int("generation", int(g.ID)), slog.Int("partitions", len(assigned)))
	for _, a := range assigned {
		p := &partition{c: c, number: a.ID}
		g.Start(p.run)
	}
}

// noteFailure counts and logs what went wrong, unless the consumer is being stopped. A failure that
// somebody must look at is logged each time. An outage, which every partition meets again and
// again, is logged only now and then.
func (c *Consumer) noteFailure(doing string, err error, attrs ...slog.Attr) {
	if c.ctx.Err() != nil {
		return
	}
	c.failures.Add(1)
	level := slog.LevelDebug
	switch now := time.Now().UnixNano(); {
	case errors.Is(err, follower.ErrGap) || errors.Is(err, errNewer):
		level = slog.LevelError
	case now-c.warned.Load() > int64(warnEvery):
		c.warned.Store(now)
		level = slog.LevelWarn
	}
	c.cfg.Log.LogAttrs(c.ctx, level, "kafka consumer tries again",
		append(attrs, slog.String("consumer", c.cfg.Name), slog.String("to", doing), slog.Any("error", err))...)
}

// noteStrange counts and logs a message that is passed over, because no relay of ours wrote it. If it
// took the place of a fact, the next fact of that stream will find it missing.
func (c *Consumer) noteStrange(partition int, err error) {
	c.failures.Add(1)
	c.cfg.Log.Error("foreign message in the topic passed over",
		slog.String("consumer", c.cfg.Name), slog.Int("partition", partition), slog.Any("error", err))
}

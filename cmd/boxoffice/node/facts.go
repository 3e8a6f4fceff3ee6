package node

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/persistence/attendees"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/retention"
)

const (
	// factsPace is the time from one transaction to the next, unless factsBatch facts or a caller wait. The read
	// model's is half as long, so that the read model goes first.
	factsPace = 100 * time.Millisecond
	// factsQueue is how many facts wait in memory at most; further facts of a rush are read back from the journal.
	factsQueue = 20_000
	// factsBatch is how many facts of the journal are handled in one transaction at most, and factsBusyBatch how many
	// while the node is busy: a batch of 1,000, which takes Postgres and us 25 ms, slows down the sale.
	factsBatch     = 1_000
	factsBusyBatch = 250
	// relayBatch is how many facts are written to Kafka in one transaction at most. The transaction mostly
	// waits for Kafka.
	relayBatch = 5_000
	// factsYield is how long the follower rests while the node is busy, as a multiple of the time for which it
	// has worked. So it takes a thirteenth of a core from the sale.
	factsYield = 12
)

// openAttendees makes the follower that writes the table of attendees.
func (n *Node) openAttendees() {
	n.digesters.attendees = follower.NewDigester(attendees.Follower, n.log, n.applyAttendees, nil)
	n.attending = n.newFollowing(follower.Config{
		Name: attendees.Follower, Apply: n.digesters.attendees.Apply, Digesters: []*follower.Digester{n.digesters.attendees},
		Pace: factsPace, MaxQueue: factsQueue, MaxBatch: factsBatch, Yield: factsYield, BusyBatch: factsBusyBatch, Busy: n.faster(busyRate),
	})
}

// openFacts makes the part that publishes facts and queues the mails about them. Without Kafka this is a
// follower of the journal. With Kafka it is a relay that writes facts to Kafka, and a consumer that reads them
// back on every node. startFacts starts either.
func (n *Node) openFacts() error {
	n.digesters.publicFacts = follower.NewDigester(publicfacts.Follower, n.log, n.applyTold, nil)
	n.digesters.mail = follower.NewDigester(mailqueue.Follower, n.log, n.applyMail, nil)
	from := journal.NewReader(n.journalPools...)
	follow := follower.Config{
		Name: publicfacts.Follower, Apply: follower.Once(publicfacts.Follower, from, n.tellFacts), Digesters: []*follower.Digester{n.digesters.publicFacts, n.digesters.mail},
		Pace: factsPace, MaxQueue: factsQueue, MaxBatch: factsBatch,
		Yield: factsYield, BusyBatch: factsBusyBatch, Busy: n.faster(busyRate),
	}
	cfg, through, err := n.cfg.Kafka()
	if err != nil {
		return err
	}
	if through {
		n.consumer = kafka.NewConsumer(cfg, kafka.ConsumerConfig{
			Name: follow.Name, Pool: n.pool, Log: n.log, Apply: follow.Apply, Digesters: follow.Digesters, Past: from,
			MaxBatch: follow.MaxBatch, Yield: follow.Yield, Busy: follow.Busy,
		})
		n.relay = kafka.NewRelay(cfg, from, n.log)
		n.digesters.relay = follower.NewDigester(n.relay.Name(), n.log, n.relay.Apply, nil)
		// The relay takes the follower's place in the journal, and the consumer does the follower's
		// work.
		follow.Name, follow.Apply, follow.MaxBatch, follow.BusyBatch = n.relay.Name(), n.digesters.relay.Apply, relayBatch, 0
		follow.Digesters = []*follower.Digester{n.digesters.relay}
	}
	n.telling = n.newFollowing(follow)
	return nil
}

// tellFacts publishes facts and queues the mails about them, in one transaction with the follower's
// position. The two have digesters of their own: if a fact cannot be published, it may still be
// mailed, and the other way round.
func (n *Node) tellFacts(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	if err := n.digesters.publicFacts.Apply(ctx, tx, batches); err != nil {
		return err
	}
	return n.digesters.mail.Apply(ctx, tx, batches)
}

// The followers are made before startAreas opens the stores that they write to. So they get these
// functions, which look the stores up when facts come.

func (n *Node) applyAttendees(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	return n.attendees.Apply(ctx, tx, batches)
}

func (n *Node) applyTold(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	return n.publicFacts.Apply(ctx, tx, batches)
}

func (n *Node) applyMail(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	return n.mailQueue.Apply(ctx, tx, batches)
}

// startFacts starts to publish facts: those that were committed and not published yet, and then all that follow. If
// publishing fails later, the node goes on selling. One node of the cluster follows the journal; with Kafka, every node
// consumes. startFacts also starts the writing of the table of attendees, and the deletion of old public facts and of
// old days of the journal.
func (n *Node) startFacts(context.Context) error {
	n.started(publicfacts.StartPruner(n.publicFacts, n.log).Stop)
	if n.relay != nil {
		n.started(func(context.Context) error {
			n.relay.Close()
			return nil
		})
		n.consumer.Start()
		n.started(n.consumer.Stop)
	}
	n.started(n.cluster.Once("attendees", n.attending.run))
	keep, err := n.cfg.readRetention()
	if err != nil {
		return err
	}
	// The journal may forget a day only when all three followers have passed it.
	for _, pool := range n.journalPools {
		keeper := retention.New(n.pool, pool, keep, n.log, n.reading.cfg.Name, n.attending.cfg.Name, n.telling.cfg.Name)
		n.started(n.cluster.Once("journal retention", keeper.Run))
	}
	n.started(n.cluster.Once("facts", n.telling.run)) // stops before the actors do, because a public fact may ask a seat map's actor where a seat is
	return nil
}

// factsMetrics exports how far the publishing of facts is behind, how many facts each follower has set aside, how often
// background jobs panicked and, with Kafka, the errors of the relay and of the consumer. How far the publishing is
// behind leaves out facts from before this process started; only the consumer's lag has those too.
func (n *Node) factsMetrics(r *prometheus.Registry) {
	gauge := func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "boxoffice", Name: name, Help: help}, f))
	}
	counter := func(name, help string, f func() int64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "boxoffice", Name: name, Help: help},
			func() float64 { return float64(f()) }))
	}
	r.MustRegister(&n.digesters, jobPanics{})
	gauge("facts_stopped", "1 when telling has failed for good; the log says why.", n.telling.stopped)
	if n.relay == nil {
		gauge("facts_lag", "Batches of which the world has not been told; 0 on nodes that do not tell.", n.telling.lag)
		gauge("facts_delay_seconds", "Age of the oldest fact told last, from commit to told.", n.telling.delay)
		return
	}
	gauge("kafka_relay_lag_batches", "Batches that are not in Kafka; 0 on nodes that do not relay.", n.telling.lag)
	gauge("kafka_relay_delay_seconds", "Age of the oldest fact written last, from commit to acknowledged.", n.telling.delay)
	counter("kafka_relay_errors_total", "Attempts to write to Kafka that failed.", n.relay.Failures)
	gauge("kafka_consumer_lag_messages", "Messages that wait in the partitions of this node.", func() float64 { return float64(n.consumer.Lag()) })
	counter("kafka_consumer_errors_total", "Attempts to join, read or apply that failed.", n.consumer.Failures)
}

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"boxoffice/cluster"
	"boxoffice/edge"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/secrets"
	"boxoffice/edge/server"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/members"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

// stopTime bounds an orderly stop.
const stopTime = 20 * time.Second

type serveCmd struct{ config }

// Run starts a node and keeps it until a signal or a failure ends it.
func (c *serveCmd) Run(ctx context.Context) error {
	log := logger(c.LogLevel)
	c.print(log)
	n := &node{cfg: &c.config, log: log}
	err := n.start(ctx)
	if err == nil {
		err = n.welcome(ctx)
	}
	if err == nil {
		err = n.wait(ctx)
	}
	if err == nil {
		n.handOver(ctx)
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return errors.Join(err, n.stop(stop))
}

// node is one running node: its parts in the order in which they start. They
// stop in the reverse order (docs/concurrency.md).
type node struct {
	cfg *config
	log *slog.Logger

	postgres    *embedded.Server
	pool        *pgxpool.Pool
	model       *readmodel.Model
	reading     *following      // the read model
	telling     *following      // what the world is told, or what Kafka is
	relay       *kafka.Relay    // nil without Kafka
	consumer    *kafka.Consumer // nil without Kafka
	publicFacts *publicfacts.Store
	digesters   digesters
	endpoints   *deliveries.Store
	targets     *webhook.Targets
	deliverer   *webhook.Deliverer
	journal     *journal.Postgres
	cluster     *cluster.Node
	room        *room // nil: none is kept
	sim         *paysim.Sim
	mailbox     *mail.Capture // nil: mail is sent
	mailQueue   *mailqueue.Queue
	sender      mail.Sender
	stock       *readmodel.Stock
	seats       *readmodel.Seats
	feed        *live.Feed
	secrets     *secrets.Master
	gateways    *payments.Gateways
	replies     *idempotency.Store
	letters     *letters.Writer
	areas       edge.Areas
	server      *server.Server
	stops       []func(context.Context) error

	self       members.Member
	links      net.Listener // nil: alone
	linkTLS    *tls.Config
	membership membership // nil: alone
	draining   atomic.Bool
	commits    prometheus.Histogram
	registry   *prometheus.Registry // of all that /metrics shows

	metricsAddr string // of their own listener; "" without
}

// started notes how to stop a part.
func (n *node) started(stop func(context.Context) error) { n.stops = append(n.stops, stop) }

func (n *node) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.startProfiles, n.listenForLinks, n.startPostgres, n.startJournal, n.startCluster, n.startCollecting, n.startPayments, n.startMail, n.startAreas,
		n.startJobs, n.startFacts, n.join, n.startEdge, n.startMetrics,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the parts in reverse order, all of them, whatever one says.
func (n *node) stop(ctx context.Context) error {
	var errs []error
	for _, stop := range slices.Backward(n.stops) {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

// wait blocks until a signal, or until a part that nothing works without fails.
func (n *node) wait(ctx context.Context) error {
	var lost <-chan error
	if n.membership != nil {
		lost = n.membership.Lost()
	}
	select {
	case <-ctx.Done():
		n.log.InfoContext(ctx, "stopping")
		return nil
	case err := <-n.journal.Failed():
		return fmt.Errorf("journal: %w", err)
	case err := <-lost:
		return err
	case err := <-n.reading.failed:
		return fmt.Errorf("read model: %w", err)
	case err := <-n.server.Failed():
		return err
	}
}

// handOver has other nodes take the actors before this one stops.
func (n *node) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := n.drain(ctx); err != nil {
		n.log.WarnContext(ctx, "not all actors were handed over", slog.Any("error", err))
	}
}

// ready says whether requests should come here: the journal must be writing.
func (n *node) ready() error {
	if n.draining.Load() {
		return errors.New("draining")
	}
	if n.membership != nil {
		if err := n.membership.Fresh(); err != nil {
			return err
		}
		if _, member := n.cluster.Placed(); !member {
			return errors.New("not a member of the cluster")
		}
	}
	if w := n.journal.Waiting(); w > 2*time.Second {
		return fmt.Errorf("the journal has waited %s for a commit", w.Round(time.Second))
	}
	return nil
}

// metrics are the process's and the engine's.
func (n *node) metrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), n.mailQueue, n.deliverer, n.commits, n.areas.Sales.RefundMetrics(), standing{n})
	gauge := func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "boxoffice", Name: name, Help: help}, f))
	}
	count := func(name, help string, labels prometheus.Labels, f func() int64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "boxoffice", Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(f()) }))
	}
	counter := func(name, help string, f func(journal.Stats) int64) {
		count(name, help, nil, func() int64 { return f(n.journal.Stats()) })
	}
	gauge("journal_backlog", "Entries that wait for a commit.", func() float64 { return float64(n.journal.Backlog()) })
	gauge("readmodel_lag", "Batches that the read model has not applied; 0 on nodes where it does not run.", n.reading.lag)
	gauge("heap_room_lacking", "1 while the heap has no room for a rush; it is made when no orders come.", n.room.lacking)
	n.factsMetrics(r)
	counter("journal_batches_total", "Batches committed.", func(s journal.Stats) int64 { return s.Batches })
	counter("journal_facts_total", "Facts committed.", func(s journal.Stats) int64 { return s.Facts })
	counter("journal_retries_total", "Batches sent again after an unknown outcome.", func(s journal.Stats) int64 { return s.Retries })
	counter("journal_fenced_total", "Entries refused by the claim fence.", func(s journal.Stats) int64 { return s.Fences })
	const commands = "Commands that requests to this node have brought, by whether it carried them out itself."
	count("commands_total", commands, prometheus.Labels{"where": "here"}, func() int64 { return n.cluster.Stats().Here })
	count("commands_total", commands, prometheus.Labels{"where": "there"}, func() int64 { return n.cluster.Stats().There })
	count("actors_fenced_total", "Activations that ended because another node has claimed their stream.", nil,
		func() int64 { return n.cluster.Stats().Fenced })
	count("snapshots_unfounded_total", "Snapshots that the journal contradicts; their actors were loaded from earlier ones, or from all facts.", nil,
		func() int64 { return n.cluster.Stats().Unfounded })
	return r
}

// welcome says where to click and what to try. A new private node has something
// on sale for that.
func (n *node) welcome(ctx context.Context) error {
	var shown *demo
	if n.cfg.private() && n.cfg.Demo {
		var err error
		if shown, err = makeDemo(ctx, "http://"+n.cfg.Listen+"/api/v1"); err != nil {
			return err
		}
	}
	base := n.cfg.BaseURL
	fmt.Fprintf(os.Stdout, "\nBoxoffice %s is ready.\n\n", version)
	fmt.Fprintf(os.Stdout, "  API        %s/api/v1    (README.md has a walk with curl)\n", base)
	fmt.Fprintf(os.Stdout, "  Docs       %s/docs    (read it and try it; %s/api/v1/openapi.json)\n", base, base)
	fmt.Fprintf(os.Stdout, "  On sale    %s/api/v1/events\n", base)
	metrics := n.metricsAddr
	if metrics == "" {
		metrics = n.cfg.Listen // for this machine
	}
	fmt.Fprintf(os.Stdout, "  Health     %s/readyz   http://%s/metrics\n", base, metrics)
	if n.sim != nil {
		fmt.Fprintf(os.Stdout, "  Payments   %s    (a simulator: no money moves)\n", n.sim.URL())
	}
	if n.mailbox != nil {
		fmt.Fprintf(os.Stdout, "  Mail       %s/dev/mail    (captured: none is sent)\n", base)
	}
	if shown != nil {
		fmt.Fprintf(os.Stdout, "\n  A demo organization sells %s\n  and seats at %s%s\n", shown.event, base, shown.seats)
		fmt.Fprintf(os.Stdout, "  Its account is %s, password %s\n", demoEmail, shown.password)
	}
	fmt.Fprintln(os.Stdout)
	return nil
}

// Package node puts a node together from all its parts. It opens the database and the journal,
// starts the actors, opens the areas of the API and starts the server, in this order. It stops them
// in the reverse order.
//
// Home is the database that has everything but the journal. The journal is in home too, or apart: in one database of
// its own, or in several, its shards.
package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/cluster"
	"boxoffice/cmd/boxoffice/node/heap"
	"boxoffice/edge"
	"boxoffice/edge/erasure"
	"boxoffice/edge/letters"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/orders"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/secrets"
	"boxoffice/edge/server"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/disk"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/members"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/personal"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/quota"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/receipts"
	"boxoffice/persistence/requestlog"
)

// StopTime is how long an orderly stop may take. Parts that would need longer are cut off, and what they had not
// finished is done by another node or after the next start.
const StopTime = 20 * time.Second

// Node is one running node with its parts. They stop in the reverse order in which they started
// (docs/concurrency.md). The parts are set while Start runs and never change afterwards, so they are
// read without a lock.
type Node struct {
	cfg *Config
	log *slog.Logger

	disk         *disk.Watch
	postgres     *embedded.Server
	pool         *pgxpool.Pool
	shards       []journal.Shard // the shards of the journal; one, unless the journal is in several databases
	journalPools []*pgxpool.Pool // the pools of the shards; home's pool, unless the journal is apart
	model        *readmodel.Model
	reading      *following // writes the read model
	telling      *following // publishes facts, or relays them to Kafka
	attending    *following // writes who attends
	attendees    *attendees.Store
	personal     *personal.Store
	eraser       *erasure.Eraser
	relay        *kafka.Relay    // nil without Kafka
	consumer     *kafka.Consumer // nil without Kafka
	publicFacts  *publicfacts.Store
	digesters    digesters
	endpoints    *deliveries.Store
	targets      *webhook.Targets
	deliverer    *webhook.Deliverer
	journal      *journal.Shards
	cluster      *cluster.Node
	room         *heap.Room // nil: no room in the heap is kept
	sim          *paysim.Sim
	notices      *notices.Store
	receipts     *receipts.Store
	guesses      *limit.Guesses    // counts wrong guesses of short secrets, wherever they are tried
	currencies   []engine.Currency // the currencies that prices may be in
	mailbox      *mail.Capture     // the captured mail; nil: mail is sent
	mailQueue    *mailqueue.Queue
	sender       mail.Sender
	stock        *committed.Stock
	seats        *committed.Seats
	feed         *live.Feed
	secrets      *secrets.Master
	gateways     *payments.Gateways
	replies      *idempotency.Store
	requests     *requestlog.Log
	quota        *quota.Counter
	letters      *letters.Writer
	orders       *orders.Desk
	areas        edge.Areas
	server       *server.Server
	stops        []func(context.Context) error // how to stop the parts, in the order in which they were started

	self       members.Member       // this node's entry in the list of members
	links      net.Listener         // where other nodes reach this one; nil: it is not in a cluster
	linkTLS    *tls.Config          // how links are encrypted; nil: they are not
	membership membership           // nil: the node is not in a cluster, or has not joined yet
	draining   atomic.Bool          // the node is being taken out of service
	commits    prometheus.Histogram // how long batches of the journal took
	registry   *prometheus.Registry // everything that /metrics shows

	metricsAddr string // the address of the metrics' own listener; "" if they have none
}

// New makes a node from its configuration. Start may fill in fields that the configuration leaves
// empty.
func New(cfg *Config, log *slog.Logger) *Node { return &Node{cfg: cfg, log: log} }

// started notes how to stop a part that has just been started. Stop calls these functions, the last
// one first.
func (n *Node) started(stop func(context.Context) error) { n.stops = append(n.stops, stop) }

// Start starts all parts in the order of their needs. The node joins the cluster only when everything that actors
// need is there, and lets requests in after that. If Start fails, the caller must still call Stop, which stops the
// parts that were started.
func (n *Node) Start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.startProfiles, n.listenForLinks, n.startDisk, n.startPostgres, n.startJournal, n.startCluster, n.startCollecting, n.startPayments, n.startMail, n.startAreas,
		n.startJobs, n.startFacts, n.join, n.startEdge, n.startMetrics,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stop stops all parts in the reverse order. It goes on if a part returns an error, and returns all
// errors together.
func (n *Node) Stop(ctx context.Context) error {
	var errs []error
	for _, stop := range slices.Backward(n.stops) {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

// Wait blocks until a signal comes, or until a part fails that the node cannot work without. It
// does not wait for followers other than the read model's, because the node can sell without them.
func (n *Node) Wait(ctx context.Context) error {
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

// HandOver lets other nodes take over the actors before this node stops, so that buyers wait only
// for a moment. It gives up after drainTime.
func (n *Node) HandOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := n.Drain(ctx); err != nil {
		n.log.WarnContext(ctx, "not all actors were handed over", slog.Any("error", err))
	}
}

// Ready returns an error if no requests should come to this node. The journal must be writing, the
// disk must have room, and nobody may have begun to drain the node. A node of a cluster must be a
// member that the others know to live. If only some shards of the journal are away, the node is
// ready, because it can sell what the other shards have.
func (n *Node) Ready() error {
	if n.draining.Load() {
		return errors.New("draining")
	}
	if n.disk.Full() {
		return fmt.Errorf("the disk is full: %d MB are left, and %d are kept free", n.disk.Room().Free>>20, n.cfg.DiskReserve)
	}
	if n.membership != nil {
		if err := n.membership.Fresh(); err != nil {
			return err
		}
		if _, member := n.cluster.Placed(); !member {
			return errors.New("not a member of the cluster")
		}
	}
	if away := n.listAway(); len(away) == len(n.shards) {
		return fmt.Errorf("no shard of the journal answers")
	}
	if w := n.journal.Waiting(); w > 2*time.Second {
		return fmt.Errorf("the journal has waited %s for a commit", w.Round(time.Second))
	}
	if silent := n.journal.Silent(); n.cfg.Apart() && silent > maxSilent {
		return fmt.Errorf("the journal's Postgres has not answered for %s", silent.Round(time.Second))
	}
	return nil
}

// listAway returns the numbers of the journal's shards that do not answer.
func (n *Node) listAway() (away []int) {
	for i, state := range n.journal.States() {
		if state.Err != nil {
			away = append(away, i)
		}
	}
	return away
}

// Lacking names the parts that are away while the node is ready for everything else.
func (n *Node) Lacking() (away []string) {
	for _, i := range n.listAway() {
		away = append(away, fmt.Sprintf("shard %d of the journal", i))
	}
	return away
}

// maxSilent is how long a Postgres that has only the journal may give no answer before the node is
// not ready. If one Postgres has everything, its silence shows sooner, in the beats of members and
// in reads.
const maxSilent = 10 * time.Second

// Version is the version of this build, as the document and the log show it.
const Version = "0.1.0"

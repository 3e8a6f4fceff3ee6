package node

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/cluster"
	"boxoffice/edge"
	"boxoffice/edge/mail"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/publicfacts"
)

// The functions below give commands and tests access to the parts of a node that has started.

// Config returns the node's settings, with defaults filled in.
func (n *Node) Config() *Config { return n.cfg }

// Pool returns the connections to home, the database of everything but a journal apart.
func (n *Node) Pool() *pgxpool.Pool { return n.pool }

// JournalPools returns the connections to the databases with the journal, which may be home alone.
func (n *Node) JournalPools() []*pgxpool.Pool { return n.journalPools }

// Journal returns the journal.
func (n *Node) Journal() *journal.Shards { return n.journal }

// Cluster returns the cluster, which has the actors.
func (n *Node) Cluster() *cluster.Node { return n.cluster }

// Areas returns the areas with their handlers.
func (n *Node) Areas() *edge.Areas { return &n.areas }

// Secrets returns the deployment's secrets.
func (n *Node) Secrets() *secrets.Master { return n.secrets }

// PublicFacts returns the store of public facts.
func (n *Node) PublicFacts() *publicfacts.Store { return n.publicFacts }

// Mailbox returns the captured mail; nil if mail is sent.
func (n *Node) Mailbox() *mail.Capture { return n.mailbox }

// Sim returns the payment simulator that the node runs; nil if it runs none, because it has real providers or uses
// another simulator.
func (n *Node) Sim() *paysim.Sim { return n.sim }

// Registry returns everything that /metrics shows.
func (n *Node) Registry() *prometheus.Registry { return n.registry }

// MetricsAddr returns the address of the metrics' own listener; "" without one.
func (n *Node) MetricsAddr() string { return n.metricsAddr }

// Stops returns the functions that stop the node's parts, in the order in which the parts were started.
func (n *Node) Stops() []func(context.Context) error { return n.stops }

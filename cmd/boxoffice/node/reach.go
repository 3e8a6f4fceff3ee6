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

// What follows is what commands and tests reach of a node that has started.

// Config are its knobs, completed.
func (n *Node) Config() *Config { return n.cfg }

// Pool is the database.
func (n *Node) Pool() *pgxpool.Pool { return n.pool }

// Journal is where facts become durable.
func (n *Node) Journal() *journal.Postgres { return n.journal }

// Cluster has the actors.
func (n *Node) Cluster() *cluster.Node { return n.cluster }

// Areas are the handlers.
func (n *Node) Areas() *edge.Areas { return &n.areas }

// Secrets are the deployment's.
func (n *Node) Secrets() *secrets.Master { return n.secrets }

// PublicFacts is what the world is told.
func (n *Node) PublicFacts() *publicfacts.Store { return n.publicFacts }

// Mailbox is where mail is captured; nil where it is sent.
func (n *Node) Mailbox() *mail.Capture { return n.mailbox }

// Sim is the payment simulator; nil where there are real providers.
func (n *Node) Sim() *paysim.Sim { return n.sim }

// Registry has all that /metrics shows.
func (n *Node) Registry() *prometheus.Registry { return n.registry }

// MetricsAddr is that of their own listener; "" without.
func (n *Node) MetricsAddr() string { return n.metricsAddr }

// Stops are how its parts are stopped, in the order of their start.
func (n *Node) Stops() []func(context.Context) error { return n.stops }

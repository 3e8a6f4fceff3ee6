package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof" // on the loopback listener of its own only
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/valyala/fasthttp"

	"boxoffice/cluster"
	"boxoffice/edge"
	"boxoffice/edge/hasher"
	"boxoffice/edge/mail"
	"boxoffice/edge/openapi"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/sse"
	"boxoffice/edge/webhook"
	"boxoffice/persistence"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/outbox"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/snapshot"
	"boxoffice/persistence/told"
	"boxoffice/persistence/venues"
	"boxoffice/persistence/wakes"
	"boxoffice/persistence/webhooks"
)

// stopTime bounds an orderly stop.
const stopTime = 20 * time.Second

// maxStock is how many ticket types' stock is kept in memory for readers.
const maxStock = 1_000_000

// maxMaps is how many seat maps are kept in memory for readers; a stadium takes
// about 10 MB.
const maxMaps = 100

// simKey is the key of the private simulator, which guards no money.
const simKey = "sk_test_boxoffice_simulator"

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

	postgres *embedded.Server
	pool     *pgxpool.Pool
	model    *readmodel.Model
	reading  *following      // the read model
	telling  *following      // what the world is told, or what Kafka is
	relay    *kafka.Relay    // nil without Kafka
	consumer *kafka.Consumer // nil without Kafka
	told     *told.Store
	webhooks *webhook.Deliverer
	journal  *journal.Postgres
	cluster  *cluster.Node
	sim      *paysim.Sim
	mailbox  *mail.Capture // nil: mail is sent
	outbox   *outbox.Outbox
	desk     *edge.Desk
	server   *edge.Server
	stops    []func(context.Context) error

	self       members.Member
	links      net.Listener // nil: alone
	linkTLS    *tls.Config
	membership membership // nil: alone
	draining   atomic.Bool
	commits    prometheus.Histogram
	registry   *prometheus.Registry // of all that /metrics shows
}

// started notes how to stop a part.
func (n *node) started(stop func(context.Context) error) { n.stops = append(n.stops, stop) }

func (n *node) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.startProfiles, n.listenForLinks, n.startPostgres, n.startJournal, n.startCluster, n.startPayments, n.startMail, n.startDesk,
		n.startJobs, n.startFacts, n.join, n.startEdge,
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

// startProfiles serves pprof on its own listener, when asked to.
func (n *node) startProfiles(ctx context.Context) error {
	if n.cfg.Pprof == "" {
		return nil
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.Pprof)
	if err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	srv := &http.Server{Handler: http.DefaultServeMux, ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln) // ends with Close
	}()
	n.started(func(context.Context) error {
		err := srv.Close()
		<-done
		return err
	})
	return nil
}

// startPostgres brings the private server up, if there is no other, and the
// schema up to date.
func (n *node) startPostgres(ctx context.Context) error {
	url := n.cfg.DatabaseURL
	if n.cfg.private() {
		var err error
		n.postgres, err = embedded.Start(ctx, embedded.Config{
			Dir: filepath.Join(n.cfg.DataDir, "postgres"), Log: n.log, Install: n.cfg.AllowInstall,
		})
		if err != nil {
			return err
		}
		n.started(n.postgres.Stop)
		if n.postgres.Attached() {
			return fmt.Errorf("another process uses %s", n.cfg.DataDir)
		}
		url = n.postgres.URL()
	}
	pool, err := openPool(ctx, url)
	if err != nil {
		return err
	}
	n.pool = pool
	n.started(func(context.Context) error {
		pool.Close()
		return nil
	})
	return migrated(ctx, pool)
}

func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("BOXOFFICE_DATABASE_URL: %w", err)
	}
	cfg.MaxConns = 16
	pace := persistence.NewPace()
	cfg.BeforeConnect, cfg.AfterConnect = pace.Before, pace.After
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

func migrated(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	defer conn.Release()
	return migrate.Up(ctx, conn.Conn())
}

// startJournal opens the journal, and what is shown from memory. What follows it is
// fed from here on.
func (n *node) startJournal(ctx context.Context) error {
	n.model = readmodel.New(n.pool)
	n.reading = n.newFollowing(follower.Config{Name: readmodel.Follower, Apply: readmodel.NewWriter().Apply})
	n.desk = &edge.Desk{Stock: readmodel.NewStock(maxStock), Seats: readmodel.NewSeats(maxMaps)}
	err := n.openFacts()
	if err != nil {
		return err
	}
	n.commits = newCommits()
	n.journal, err = journal.Open(ctx, journal.Config{
		Pool: n.pool, Node: n.self.ID, Log: n.log, Lanes: n.cfg.Lanes, AllowUnsafe: n.cfg.AllowUnsafe,
		Committed: func(took time.Duration) { n.commits.Observe(took.Seconds()) },
		Sink: func(b *journal.Batch) { // of the cluster's actors, so there is one
			n.cluster.Observe(b)
			n.reading.offer(b)
			n.telling.offer(b)
		},
	})
	if err != nil {
		return err
	}
	n.started(n.journal.Stop)
	return nil
}

// startCluster opens the house of the actors, and has the read model follow on one
// node.
func (n *node) startCluster(context.Context) error {
	n.cluster = cluster.Start(cluster.Config{
		Journal: n.journal, Snapshots: snapshot.New(n.pool), Wakes: wakes.Table{Pool: n.pool},
		Log: n.log, Backlog: n.journal.Backlog,
		Self: n.self.ID, Listen: n.links, TLS: n.linkTLS,
		Observe: func(b *journal.Batch) {
			n.desk.Stock.Observe(b)
			n.desk.Seats.Observe(b)
		},
		Missed: n.desk.Missed,
	})
	n.started(n.cluster.Stop)
	n.cluster.Once("read model", n.reading.run) // until the cluster stops
	return nil
}

// startPayments opens the providers, and the simulator where there are none.
func (n *node) startPayments(ctx context.Context) error {
	account := payments.Account{URL: n.cfg.PaystackURL, SecretKey: payments.Secret(n.cfg.PaystackKey)}
	if n.cfg.simulated() {
		account.SecretKey = simKey
		if account.URL == "" {
			ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.PaysimListen)
			if err != nil {
				return fmt.Errorf("payment simulator: %w", err)
			}
			n.sim = paysim.New(paysim.Config{SecretKey: simKey, Log: n.log})
			n.sim.Start(ln)
			n.started(n.sim.Stop)
			account.URL = n.sim.URL()
		}
	}
	gateways, err := payments.Open(payments.Config{Paystack: account}, n.log)
	if err != nil {
		return err
	}
	n.desk.Gateways = gateways
	n.started(func(context.Context) error {
		gateways.Close()
		return nil
	})
	return nil
}

// startMail opens the way out for mail: a server, or a directory where a
// developer reads it.
func (n *node) startMail(context.Context) error {
	origin, err := n.cfg.origin()
	if err != nil {
		return err
	}
	if n.cfg.SMTPURL != "" {
		smtp, err := mail.NewSMTP(mail.SMTPConfig{URL: n.cfg.SMTPURL, Origin: origin})
		if err != nil {
			return fmt.Errorf("BOXOFFICE_SMTP_URL: %w", err)
		}
		n.desk.Sender = smtp
		n.started(func(context.Context) error {
			smtp.Close()
			return nil
		})
	} else {
		dir := n.cfg.MailDir
		if dir == "" {
			dir = filepath.Join(n.cfg.DataDir, "mail")
		}
		if n.mailbox, err = mail.OpenCapture(dir, origin); err != nil {
			return err
		}
		n.desk.Sender = n.mailbox
	}
	return nil
}

// startDesk opens what the handlers work with, and lets it do its own work.
func (n *node) startDesk(ctx context.Context) error {
	master, err := n.cfg.master()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("our own program: %w", err)
	}
	if n.cfg.BaseURL == "" {
		n.cfg.BaseURL = "http://" + n.cfg.Listen
	}
	if n.outbox, err = outbox.New(outbox.Config{Pool: n.pool, Log: n.log, Busy: n.faster(busyRate)}); err != nil {
		return err
	}
	d := n.desk
	d.BaseURL, d.Mail = n.cfg.BaseURL, n.outbox
	d.Hasher = hasher.New(program, n.faster(sellingRate))
	n.started(d.Hasher.Stop)
	d.Node, d.Read, d.Settled, d.Drain = n.cluster, n.model, n.settled, n.drain
	d.Accounts, d.APIKeys, d.Replies = accounts.New(n.pool), apikeys.New(n.pool), idempotency.New(n.pool)
	d.Venues = venues.New(n.pool)
	if d.Webhooks, err = webhooks.New(n.pool); err != nil {
		return err
	}
	if d.Targets, err = n.cfg.webhookTargets(); err != nil {
		return err
	}
	d.Events, d.Types = accounts.NewLease(n.pool, "event_numbers"), accounts.NewLease(n.pool, "ticket_type_numbers")
	d.Secrets, d.Env, d.LimitsScale, d.Log = master, n.cfg.Env, n.cfg.LimitsScale, n.log
	if err := d.Open(); err != nil {
		return err
	}
	n.started(func(context.Context) error {
		d.Close()
		return nil
	})
	n.started(edge.StartWatch(d).Stop)
	n.started(n.cluster.Once("payments", d.SweepPayments))
	if n.cfg.AdminEmail == "" {
		return nil
	}
	if err := n.cfg.admin(); err != nil {
		return err
	}
	return d.EnsureAdmin(ctx, n.cfg.AdminEmail, n.cfg.AdminPassword)
}

// startEdge opens the server, and lets requests in.
func (n *node) startEdge(ctx context.Context) error {
	proxies, err := n.cfg.proxies()
	if err != nil {
		return err
	}
	d := n.desk
	doc, err := document(d, n.cfg.BaseURL)
	if err != nil {
		return err
	}
	var mailbox fasthttp.RequestHandler
	if n.mailbox != nil {
		mailbox = n.mailbox.Page
	}
	n.registry = n.metrics()
	hub, err := sse.New(sse.Config{MaxViewers: n.cfg.MaxViewers, MaxPerAddress: n.cfg.ViewersPerAddress, Metrics: n.registry})
	if err != nil {
		return err
	}
	n.started(hub.Stop)
	n.server, err = edge.New(edge.Config{
		Ops: d.Routes(), Env: n.cfg.Env, Authenticate: d.Authenticate, Ready: n.ready, TrustedProxies: proxies,
		Hub:     hub,
		Limits:  edge.NewLimits(n.cfg.LimitsScale, d.OpensOrder),
		Replies: &edge.Replies{Store: d.Replies, Secrets: d.Secrets},
		Origins: n.cfg.Origins, HTTPS: strings.HasPrefix(n.cfg.BaseURL, "https://"),
		MaxPerAddress: n.cfg.MaxPerAddress, MaxConnections: n.cfg.MaxConnections, Document: doc, Mailbox: mailbox, KeySet: d.KeySet,
		Log: n.log, Metrics: n.registry,
	})
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	n.server.Start(ln)
	n.started(n.server.Stop)
	return nil
}

func document(d *edge.Desk, baseURL string) (*openapi.Document, error) {
	return openapi.Print(d.Routes(), openapi.Info{
		Title: "Boxoffice", Version: version, BaseURL: baseURL, Webhooks: webhook.Catalogue,
	})
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
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), n.outbox, n.webhooks, n.commits, standing{n})
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
	fmt.Fprintf(os.Stdout, "  Health     %s/readyz   %s/metrics\n", base, base)
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

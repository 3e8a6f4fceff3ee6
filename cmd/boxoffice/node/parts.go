package node

import (
	"context"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // on the loopback listener of its own only
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"

	"boxoffice/cluster"
	"boxoffice/edge"
	"boxoffice/edge/catalog"
	"boxoffice/edge/gates"
	"boxoffice/edge/hasher"
	"boxoffice/edge/identity"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/money"
	"boxoffice/edge/openapi"
	"boxoffice/edge/outward"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/sales"
	"boxoffice/edge/server"
	"boxoffice/edge/sse"
	"boxoffice/edge/webhook"
	"boxoffice/persistence"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/snapshot"
	"boxoffice/persistence/venues"
	"boxoffice/persistence/wakes"
)

// maxStock is how many ticket types' stock is kept in memory for readers.
const maxStock = 1_000_000

// maxMaps is how many seat maps are kept in memory for readers; a stadium takes
// about 10 MB.
const maxMaps = 100

// SimKey is the key of the private simulator, which guards no money.
const SimKey = "sk_test_boxoffice_simulator"

// startProfiles serves pprof on its own listener, when asked to.
func (n *Node) startProfiles(ctx context.Context) error {
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
func (n *Node) startPostgres(ctx context.Context) error {
	url := n.cfg.DatabaseURL
	if n.cfg.Private() {
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
	pool, err := OpenPool(ctx, url)
	if err != nil {
		return err
	}
	n.pool = pool
	n.started(func(context.Context) error {
		pool.Close()
		return nil
	})
	return Migrated(ctx, pool)
}

// OpenPool connects to a database, with what every node asks of its connections.
func OpenPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("BOXOFFICE_DATABASE_URL: %w", err)
	}
	cfg.MaxConns = 16
	// What a follower reads again must not take every core from a sale.
	cfg.ConnConfig.RuntimeParams["max_parallel_workers_per_gather"] = "0"
	pace := persistence.NewPace()
	cfg.BeforeConnect, cfg.AfterConnect = pace.Before, pace.After
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

// Migrated brings the schema up to date.
func Migrated(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	defer conn.Release()
	return migrate.Up(ctx, conn.Conn())
}

// startJournal opens the journal, and what is shown from memory. What follows it is
// fed from here on.
func (n *Node) startJournal(ctx context.Context) error {
	n.model = readmodel.New(n.pool)
	n.digesters.readModel = readmodel.NewDigester(n.log)
	n.reading = n.newFollowing(follower.Config{
		Name: readmodel.Follower, Apply: n.digesters.readModel.Apply, Digesters: []*follower.Digester{n.digesters.readModel},
	})
	n.stock, n.seats = readmodel.NewStock(maxStock), readmodel.NewSeats(maxMaps)
	n.feed = live.NewFeed(n.stock, n.seats, n.log)
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
func (n *Node) startCluster(context.Context) error {
	n.cluster = cluster.Start(cluster.Config{
		Journal: n.journal, Snapshots: snapshot.New(n.pool), Wakes: wakes.Table{Pool: n.pool},
		Log: n.log, Backlog: n.journal.Backlog,
		Self: n.self.ID, Listen: n.links, TLS: n.linkTLS,
		Observe: func(b *journal.Batch) {
			n.stock.Observe(b)
			n.seats.Observe(b)
		},
		Missed: n.feed.Missed,
	})
	n.started(n.cluster.Stop)
	n.feed.Start(n.cluster)
	n.cluster.Once("read model", n.reading.run) // until the cluster stops
	return nil
}

// startPayments opens the providers, and the simulator where there are none.
func (n *Node) startPayments(ctx context.Context) error {
	account := payments.Account{URL: n.cfg.PaystackURL, SecretKey: payments.Secret(n.cfg.PaystackKey)}
	if n.cfg.simulated() {
		account.SecretKey = SimKey
		if account.URL == "" {
			ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.PaysimListen)
			if err != nil {
				return fmt.Errorf("payment simulator: %w", err)
			}
			n.sim = paysim.New(paysim.Config{SecretKey: SimKey, Log: n.log})
			n.sim.Start(ln)
			n.started(n.sim.Stop)
			account.URL = n.sim.URL()
		}
	}
	gateways, err := payments.Open(payments.Config{Paystack: account}, n.log)
	if err != nil {
		return err
	}
	n.gateways = gateways
	n.started(func(context.Context) error {
		gateways.Close()
		return nil
	})
	return nil
}

// startMail opens the way out for mail: a server, or a directory where a
// developer reads it.
func (n *Node) startMail(context.Context) error {
	origin, err := n.cfg.origin()
	if err != nil {
		return err
	}
	if n.cfg.SMTPURL != "" {
		smtp, err := mail.NewSMTP(mail.SMTPConfig{URL: n.cfg.SMTPURL, Origin: origin})
		if err != nil {
			return fmt.Errorf("BOXOFFICE_SMTP_URL: %w", err)
		}
		n.sender = smtp
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
		n.sender = n.mailbox
	}
	return nil
}

// startAreas opens the areas of the API, with what they work with, and has them do what
// they do by themselves.
func (n *Node) startAreas(ctx context.Context) (err error) {
	if n.secrets, err = n.cfg.master(); err != nil {
		return err
	}
	if n.cfg.BaseURL == "" {
		n.cfg.BaseURL = "http://" + n.cfg.Listen
	}
	if n.mailQueue, err = mailqueue.New(mailqueue.Config{Pool: n.pool, Log: n.log, Busy: n.faster(busyRate), Scale: n.cfg.LimitsScale}); err != nil {
		return err
	}
	people := accounts.New(n.pool)
	pages, err := live.OpenPages(live.PagesDeps{Read: n.model, Accounts: people, Settled: n.Settled})
	if err != nil {
		return err
	}
	n.started(func(context.Context) error {
		n.feed.Close()
		pages.Close()
		return nil
	})
	known := live.NewEvents(n.model)
	n.letters = letters.New(letters.Deps{
		Read: n.model, Accounts: people, Known: known, Pages: pages, Feed: n.feed, Secrets: n.secrets,
		Mail: n.mailQueue, Sender: n.sender, BaseURL: n.cfg.BaseURL,
	})
	n.areas.Catalog = catalog.New(catalog.Deps{
		Node: n.cluster, Read: n.model, Known: known, Pages: pages, Feed: n.feed, Venues: venues.New(n.pool),
		Events: numbers.New(n.pool, "event_numbers"), Types: numbers.New(n.pool, "ticket_type_numbers"), BaseURL: n.cfg.BaseURL,
	})
	n.areas.Sales = sales.New(sales.Deps{
		Node: n.cluster, Read: n.model, Settled: n.Settled, Known: known, Pages: pages, Feed: n.feed, Letters: n.letters,
		Gateways: n.gateways, Secrets: n.secrets, BaseURL: n.cfg.BaseURL, Env: n.cfg.Env, LimitsScale: n.cfg.LimitsScale, Log: n.log,
	})
	n.areas.Gates = gates.New(gates.Deps{Node: n.cluster, Known: known, Secrets: n.secrets, LimitsScale: n.cfg.LimitsScale})
	n.areas.Money = money.New(money.Deps{Node: n.cluster, Read: n.model, Accounts: people, Settled: n.Settled, Log: n.log})
	n.areas.Operations = &edge.Operations{Node: n.cluster, Drain: n.Drain}
	if err := n.openOutward(people); err != nil {
		return err
	}
	n.started(n.cluster.Once("payments", n.areas.Sales.SweepPayments))
	return n.startIdentity(ctx, people)
}

// openOutward opens the area of what the world is told. startFacts has its log filled.
func (n *Node) openOutward(people *accounts.Store) (err error) {
	if n.endpoints, err = deliveries.New(n.pool); err != nil {
		return err
	}
	if n.targets, err = n.cfg.webhookTargets(); err != nil {
		return err
	}
	teller := &webhook.Teller{Secrets: n.secrets, Seats: n.feed.Seats}
	n.publicFacts = publicfacts.New(n.pool, n.secrets, teller, n.endpoints.FanOut)
	n.areas.Outward = outward.New(outward.Deps{
		Endpoints: n.endpoints, Targets: n.targets, Facts: n.publicFacts,
		Accounts: people, Mail: n.mailQueue, Secrets: n.secrets,
	})
	return nil
}

// startIdentity opens the area of people and credentials, follows the changes of
// credentials, and makes the configured administrator.
func (n *Node) startIdentity(ctx context.Context, people *accounts.Store) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("our own program: %w", err)
	}
	hashes := hasher.New(program, n.faster(sellingRate))
	n.started(hashes.Stop)
	n.replies = idempotency.New(n.pool)
	n.areas.Identity, err = identity.Open(identity.Deps{
		Accounts: people, APIKeys: apikeys.New(n.pool), Replies: n.replies, Mail: n.mailQueue, Hasher: hashes,
		Secrets: n.secrets, ListBalances: n.areas.Money.ListBalances, Env: n.cfg.Env, Log: n.log,
	})
	if err != nil {
		return err
	}
	n.started(func(context.Context) error {
		n.areas.Identity.Close()
		return nil
	})
	n.started(identity.StartWatch(n.areas.Identity).Stop)
	if n.cfg.AdminEmail == "" {
		return nil
	}
	if err := n.cfg.admin(); err != nil {
		return err
	}
	return n.areas.Identity.EnsureAdmin(ctx, n.cfg.AdminEmail, n.cfg.AdminPassword)
}

// startEdge opens the server, and lets requests in.
func (n *Node) startEdge(ctx context.Context) error {
	proxies, err := n.cfg.proxies()
	if err != nil {
		return err
	}
	doc, err := Document(n.cfg.BaseURL)
	if err != nil {
		return err
	}
	var mailbox fasthttp.RequestHandler
	if n.mailbox != nil && servesThisMachine(n.cfg.BaseURL) {
		mailbox = n.mailbox.Page
	}
	n.registry = n.metrics()
	hub, err := sse.New(sse.Config{MaxViewers: n.cfg.MaxViewers, MaxPerAddress: n.cfg.ViewersPerAddress, Metrics: n.registry, Log: n.log})
	if err != nil {
		return err
	}
	n.started(hub.Stop)
	n.server, err = server.New(server.Config{
		Ops: n.areas.Routes(), Env: n.cfg.Env, Authenticate: n.areas.Identity.Authenticate, Ready: n.Ready, TrustedProxies: proxies,
		Hub:     hub,
		Limits:  server.NewLimits(n.cfg.LimitsScale, n.areas.Sales.OpenOrder),
		Replies: &server.Replies{Store: n.replies, Secrets: n.secrets},
		Origins: n.cfg.Origins, HTTPS: strings.HasPrefix(n.cfg.BaseURL, "https://"),
		MaxPerAddress: n.cfg.MaxPerAddress, MaxConnections: n.cfg.MaxConnections, Document: doc, Mailbox: mailbox, KeySet: n.areas.Identity.KeySet, OrderPage: n.areas.Sales.OrderPage,
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

// servesThisMachine says whether people reach the node on this machine alone. Elsewhere
// a proxy stands before it, and captured mail is read from its directory.
func servesThisMachine(baseURL string) bool {
	u, err := url.Parse(baseURL)
	return err == nil && server.LoopbackHost(u.Host)
}

// Document is the OpenAPI document of the API at an address.
func Document(baseURL string) (*openapi.Document, error) {
	return openapi.Print(new(edge.Areas).Routes(), openapi.Info{
		Title: "Boxoffice", Version: Version, BaseURL: baseURL, Webhooks: webhook.Catalogue,
	})
}

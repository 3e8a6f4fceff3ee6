package node

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	_ "net/http/pprof" // on the loopback listener of its own only
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"

	"boxoffice/cluster"
	"boxoffice/edge"
	"boxoffice/edge/catalog"
	"boxoffice/edge/erasure"
	"boxoffice/edge/gates"
	"boxoffice/edge/hasher"
	"boxoffice/edge/identity"
	"boxoffice/edge/images"
	"boxoffice/edge/learning"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/mcp"
	"boxoffice/edge/money"
	"boxoffice/edge/openapi"
	"boxoffice/edge/outward"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/people"
	"boxoffice/edge/sales"
	"boxoffice/edge/server"
	"boxoffice/edge/sse"
	"boxoffice/edge/webhook"
	"boxoffice/persistence"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/blobs"
	"boxoffice/persistence/community"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/disk"
	"boxoffice/persistence/downloads"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/livetokens"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/media"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/outreach"
	"boxoffice/persistence/personal"
	"boxoffice/persistence/program"
	"boxoffice/persistence/promos"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/refundruns"
	"boxoffice/persistence/requestlog"
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
		return fmt.Errorf("BOXOFFICE_PPROF_LISTEN: %w", err)
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

// startDisk watches the room where the data is. Only a Postgres of our own is kept from
// using it up.
func (n *Node) startDisk(ctx context.Context) (err error) {
	if err := os.MkdirAll(n.cfg.DataDir, 0o755); err != nil { //nolint:gosec // Postgres's user must get through
		return fmt.Errorf("BOXOFFICE_DATA_DIR: %w", err)
	}
	limits := disk.Limits{Warn: n.cfg.DiskWarn}
	if n.cfg.Private() {
		limits.Reserve = n.cfg.DiskReserve
	}
	if n.disk, err = disk.Start(ctx, disk.Config{Limits: limits, Dir: n.cfg.DataDir, Log: n.log}); err != nil {
		return err
	}
	n.started(n.disk.Stop)
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
	schema, err := Migrated(ctx, pool)
	if err != nil {
		return err
	}
	n.log.InfoContext(ctx, "migrated", slog.String("schema", schema.String()))
	return readmodel.FillSearch(ctx, pool)
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

// Schema is what Migrated found and left: numbers of the files that have run.
type Schema struct{ Before, After, Known int32 }

// Migrated brings the schema up to date.
func Migrated(ctx context.Context, pool *pgxpool.Pool) (s Schema, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return s, fmt.Errorf("postgres: %w", err)
	}
	defer conn.Release()
	if s.Before, s.Known, err = migrate.Versions(ctx, conn.Conn()); err != nil {
		return s, err
	}
	if err := migrate.Up(ctx, conn.Conn()); err != nil {
		return s, err
	}
	s.After, _, err = migrate.Versions(ctx, conn.Conn())
	return s, err
}

// String says in a sentence what was done.
func (s Schema) String() string {
	switch {
	case s.After > s.Known:
		return fmt.Sprintf("the schema is at version %d, of a later release that this one (%d) runs beside; it stays as it is", s.After, s.Known)
	case s.Before == s.After:
		return fmt.Sprintf("the schema is at version %d already", s.After)
	}
	return fmt.Sprintf("the schema was brought from version %d to %d", s.Before, s.After)
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
	n.openAttendees()
	err := n.openFacts()
	if err != nil {
		return err
	}
	n.commits = newCommits()
	failAfter := time.Duration(0) // the journal's own: others will claim this node's streams
	if n.cfg.Private() {
		failAfter = math.MaxInt64 // nobody else can: it waits for its Postgres, and for room
	}
	n.journal, err = journal.Open(ctx, journal.Config{
		Pool: n.pool, Node: n.self.ID, Log: n.log, Lanes: n.cfg.Lanes, AllowUnsafe: n.cfg.AllowUnsafe, FailAfter: failAfter,
		Committed: func(took time.Duration) { n.commits.Observe(took.Seconds()) },
		Sink: func(b *journal.Batch) { // of the cluster's actors, so there is one
			n.cluster.Observe(b)
			n.reading.offer(b)
			n.telling.offer(b)
			n.attending.offer(b)
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
	if n.cfg.BaseURL == "" {
		n.cfg.BaseURL = "http://" + n.cfg.Listen
	}
	accounts := payments.Config{
		NOWPayments: payments.Account{
			URL: n.cfg.NOWPaymentsURL, SecretKey: payments.Secret(n.cfg.NOWPaymentsKey), NoticeSecret: payments.Secret(n.cfg.NOWPaymentsSecret),
			NoticeURL: n.cfg.BaseURL + "/api/v1/payments/webhook/nowpayments",
		},
		Paystack: payments.Account{URL: n.cfg.PaystackURL, SecretKey: payments.Secret(n.cfg.PaystackKey)},
		Flutterwave: payments.Account{
			URL: n.cfg.FlutterwaveURL, SecretKey: payments.Secret(n.cfg.FlutterwaveKey), NoticeSecret: payments.Secret(n.cfg.FlutterwaveHash),
		},
	}
	if n.cfg.simulated() {
		accounts.Paystack.SecretKey = SimKey
		if accounts.Paystack.URL == "" {
			if err := n.startSimulator(ctx, &accounts); err != nil {
				return err
			}
		}
	}
	gateways, err := payments.Open(accounts, n.log)
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

// startSimulator starts the node's own payment simulator, and has the providers without
// an account simulated by it.
func (n *Node) startSimulator(ctx context.Context, accounts *payments.Config) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.PaysimListen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_PAYSIM_LISTEN: %w", err)
	}
	n.sim = paysim.New(paysim.Config{
		SecretKey: SimKey, NOWPaymentsKey: SimKey, NOWPaymentsSign: SimKey, FlutterwaveKey: SimKey, FlutterwaveHash: SimKey,
		WebhookURL: n.cfg.simulatorHooks("paystack"), FlutterwaveURL: n.cfg.simulatorHooks("flutterwave"), FirstID: paysim.FreshID(), Log: n.log,
	})
	n.sim.Start(ln)
	n.started(n.sim.Stop)
	accounts.Paystack.URL = n.sim.URL()
	if a := &accounts.NOWPayments; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "nowpayments") {
		a.URL, a.SecretKey, a.NoticeSecret, a.NoticeURL = n.sim.URL()+"/v1", SimKey, SimKey, n.cfg.simulatorHooks("nowpayments")
	}
	if a := &accounts.Flutterwave; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "flutterwave") {
		a.URL, a.SecretKey, a.NoticeSecret = n.sim.URL()+"/v3", SimKey, SimKey
	}
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

// dropMail deletes the captured mails that have one of the words.
func (n *Node) dropMail(words ...string) error {
	if n.mailbox == nil {
		return nil
	}
	return n.mailbox.Drop(words...)
}

// startAreas opens the areas of the API, with what they work with, and has them do what
// they do by themselves.
func (n *Node) startAreas(ctx context.Context) (err error) {
	if n.secrets, err = n.cfg.master(); err != nil {
		return err
	}
	if n.mailQueue, err = mailqueue.New(mailqueue.Config{Pool: n.pool, Log: n.log, Busy: n.faster(busyRate), Scale: n.cfg.LimitsScale}); err != nil {
		return err
	}
	people := accounts.New(n.pool)
	if err := n.openFactLog(); err != nil {
		return err
	}
	n.personal = personal.New(n.pool)
	n.attendees = attendees.New(n.pool, n.publicFacts, n.secrets.CustomerKey)
	told, codes, taught := program.New(n.pool), promos.New(n.pool), courses.New(n.pool)
	opened := downloads.New(n.pool)
	pages, err := live.OpenPages(live.PagesDeps{Read: n.model, Accounts: people, Program: told, Courses: taught, Promos: codes, Settled: n.Settled})
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
		Mail: n.mailQueue, Outreach: outreach.New(n.pool), Sender: n.sender, BaseURL: n.cfg.BaseURL,
	})
	files, err := n.openMedia(ctx)
	if err != nil {
		return err
	}
	n.areas.Catalog = catalog.New(catalog.Deps{
		Node: n.cluster, Read: n.model, Known: known, Pages: pages, Feed: n.feed, Venues: venues.New(n.pool), Program: told, Courses: taught,
		Events: numbers.New(n.pool, "event_numbers"), Types: numbers.New(n.pool, "ticket_type_numbers"), BaseURL: n.cfg.BaseURL,
		Media: files, Log: n.log,
	})
	if n.notices, err = notices.New(n.pool); err != nil {
		return err
	}
	n.openPeople(people, known, pages)
	n.eraser = erasure.New(erasure.Deps{
		Node: n.cluster, Read: n.model, Attendees: n.attendees, Personal: n.personal, Known: known, Pages: pages,
		Followed: n.awaitFollowers, DropMail: n.dropMail, Log: n.log,
	})
	n.openSales(people, known, pages, taught, opened)
	n.areas.Gates = gates.New(gates.Deps{Node: n.cluster, Known: known, Secrets: n.secrets, LiveTokens: livetokens.New(n.pool), LimitsScale: n.cfg.LimitsScale})
	n.areas.Money = money.New(money.Deps{
		Node: n.cluster, Read: n.model, Accounts: people, Known: known, Pages: pages, Settled: n.Settled,
		Promos: codes, Codes: numbers.New(n.pool, "promo_numbers"), LimitsScale: n.cfg.LimitsScale, Log: n.log,
	})
	n.areas.Learning = learning.New(learning.Deps{Read: n.model, Accounts: people, Courses: taught, Downloads: opened, Secrets: n.secrets, BaseURL: n.cfg.BaseURL})
	n.areas.Operations = &edge.Operations{Node: n.cluster, Drain: n.Drain}
	if err := n.openOutward(people); err != nil {
		return err
	}
	n.started(n.cluster.Once("payments", n.areas.Sales.SweepPayments))
	n.started(n.cluster.Once("media", n.areas.Catalog.CollectMedia))
	n.started(n.cluster.Once("erasures", n.eraser.Resume))
	return n.startIdentity(ctx, people)
}

// openSales makes the area of orders. It needs that of people.
func (n *Node) openSales(people *accounts.Store, known *live.Events, pages *live.Pages, taught *courses.Store, opened *downloads.Store) {
	n.areas.Sales = sales.New(sales.Deps{
		Node:          n.cluster,
		Read:          n.model,
		Accounts:      people,
		Attendees:     n.attendees,
		Downloads:     opened,
		Courses:       taught,
		Settled:       n.Settled,
		Known:         known,
		Pages:         pages,
		Feed:          n.feed,
		Letters:       n.letters,
		Gateways:      n.gateways,
		Notices:       n.notices,
		RefundRuns:    refundruns.New(n.pool),
		Secrets:       n.secrets,
		ExportReports: n.areas.People.ExportReports,
		ExportThreads: n.areas.People.ExportThreads,
		Personal:      n.personal,
		BaseURL:       n.cfg.BaseURL,
		Env:           n.cfg.Env,
		LimitsScale:   n.cfg.LimitsScale,
		Log:           n.log,
	})
}

// openMedia opens what uploaded files are kept in.
func (n *Node) openMedia(ctx context.Context) (files catalog.Media, err error) {
	program, err := os.Executable()
	if err != nil {
		return files, fmt.Errorf("our own program: %w", err)
	}
	files = catalog.Media{
		Table: media.New(n.pool), Secrets: n.secrets, Images: images.NewMaker(program),
		VideoLimit: int64(n.cfg.MediaVideoMB) << 20, Quota: int64(n.cfg.MediaQuotaMB) << 20,
	}
	if n.cfg.MediaURL == "" {
		files.Blobs, err = blobs.OpenDisk(filepath.Join(n.cfg.DataDir, "media"))
		return files, err
	}
	bucket, err := blobs.OpenS3(n.cfg.MediaURL)
	if err != nil {
		return files, fmt.Errorf("BOXOFFICE_MEDIA_URL %w", err)
	}
	within, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	if err := bucket.Check(within); err != nil { // it may come back; sales don't wait for it
		n.log.ErrorContext(ctx, "uploaded files can't be reached", slog.Any("error", err))
	}
	files.Blobs = bucket
	return files, nil
}

// bucketTime is for a store of files to say that it is there, when a node starts.
const bucketTime = 5 * time.Second

// uploadDir is where this node keeps files until their requests are answered. What lies
// there at a start is of requests that a crash has cut off.
func (n *Node) uploadDir() (string, error) {
	dir := filepath.Join(n.cfg.DataDir, "uploads", n.cfg.Node)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("uploads: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("uploads: %w", err)
	}
	return dir, nil
}

// openPeople opens the area of those around an event.
func (n *Node) openPeople(all *accounts.Store, known *live.Events, pages *live.Pages) {
	n.areas.People = people.New(people.Deps{
		Read: n.model, Accounts: all, Attendees: n.attendees, Settled: n.Settled, Known: known, Pages: pages, Letters: n.letters,
		Community: community.New(n.pool, n.publicFacts), Outreach: outreach.New(n.pool), Mail: n.mailQueue, Secrets: n.secrets, LimitsScale: n.cfg.LimitsScale,
	})
}

// openFactLog opens the log of what the world is told. startFacts has it filled.
func (n *Node) openFactLog() (err error) {
	if n.endpoints, err = deliveries.New(n.pool); err != nil {
		return err
	}
	teller := &webhook.Teller{Secrets: n.secrets, Seats: n.feed.Seats}
	n.publicFacts = publicfacts.New(n.pool, n.secrets, teller, n.endpoints.FanOut)
	return nil
}

// openOutward opens the area of what the world is told.
func (n *Node) openOutward(people *accounts.Store) (err error) {
	if n.targets, err = n.cfg.webhookTargets(); err != nil {
		return err
	}
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
	n.requests = requestlog.Start(requestlog.Config{Pool: n.pool, Log: n.log, Full: n.disk.Full})
	n.started(n.requests.Stop)
	n.areas.Identity, err = identity.Open(identity.Deps{
		Accounts: people, APIKeys: apikeys.New(n.pool), Requests: n.requests, Replies: n.replies, Mail: n.mailQueue, Hasher: hashes,
		Secrets: n.secrets, Eraser: n.eraser, ListBalances: n.areas.Money.ListBalances, CheckFiles: n.areas.Catalog.CheckFiles, Env: n.cfg.Env, Log: n.log,
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
	ops := n.areas.Routes()
	// A node prints the document for its first reader, since that takes a core for a second.
	document := sync.OnceValues(func() (*openapi.Document, error) { return Document(n.cfg.BaseURL) })
	agents := sync.OnceValues(func() (*mcp.Server, error) {
		doc, err := document()
		if err != nil {
			return nil, err
		}
		return mcp.New(mcp.Config{Ops: ops, Document: doc.JSON, BaseURL: n.cfg.BaseURL, Version: Version, Facts: n.publicFacts, Log: n.log})
	})
	var mailbox fasthttp.RequestHandler
	if n.mailbox != nil && servesThisMachine(n.cfg.BaseURL) {
		mailbox = n.mailbox.Page
	}
	uploads, err := n.uploadDir()
	if err != nil {
		return err
	}
	n.registry = n.metrics()
	hub, err := sse.New(sse.Config{MaxViewers: n.cfg.MaxViewers, MaxPerAddress: n.cfg.ViewersPerAddress, Metrics: n.registry, Log: n.log})
	if err != nil {
		return err
	}
	n.started(hub.Stop)
	n.server, err = server.New(server.Config{
		Ops: ops, Agents: agents, Env: n.cfg.Env, Authenticate: n.areas.Identity.Authenticate, Ready: n.Ready, Full: n.disk.Full, TrustedProxies: proxies,
		Hub:     hub,
		Limits:  server.NewLimits(n.cfg.LimitsScale, n.areas.Sales.OpenOrder),
		Replies: &server.Replies{Store: n.replies, Secrets: n.secrets}, Requests: n.requests,
		Origins: n.cfg.Origins, PublicCache: n.cfg.PublicCache, HTTPS: strings.HasPrefix(n.cfg.BaseURL, "https://"),
		MaxPerAddress: n.cfg.MaxPerAddress, MaxConnections: n.cfg.MaxConnections, Document: document, Mailbox: mailbox, KeySet: n.areas.Identity.KeySet, OrderPage: n.areas.Sales.OrderPage,
		Shop:      &server.Shop{BaseURL: n.cfg.BaseURL, Event: n.areas.Catalog.ShopEvent, Slugs: n.areas.Catalog.ShopSlugs},
		UploadDir: uploads, MaxFile: max(int64(n.cfg.MediaVideoMB)<<20, 50<<20),
		Log: n.log, Metrics: n.registry,
	})
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.Listen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_LISTEN: %w", err)
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

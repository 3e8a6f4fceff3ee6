package node

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	_ "net/http/pprof" // served only on a listener of its own (startProfiles)
	"os"
	"path/filepath"
	"slices"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/disk"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/receipts"
	"boxoffice/persistence/snapshot"
	"boxoffice/persistence/wakes"
)

// maxStock is how many ticket types, at most, the node keeps in memory with the stock that readers see.
const maxStock = 1_000_000

// maxMaps is how many seat maps, at most, the node keeps in memory for readers. The map of a stadium takes
// about 10 MB.
const maxMaps = 100

// SimKey is the key of the private simulator. It protects no money.
const SimKey = "sk_test_boxoffice_simulator"

// SimPayPalKey is the key of the simulated PayPal: a client id and a secret with a colon between
// them.
const SimPayPalKey = "boxoffice:" + SimKey

// startProfiles serves Go's profiles (pprof) on a listener of its own, if BOXOFFICE_PPROF_LISTEN is set.
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

// startDisk watches how much room the disk of the data directory has. Only a node with a private
// Postgres stops writing before the room is used up, because only a private Postgres is on this
// disk.
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

// startJournal opens the journal and the parts of memory that are shown to readers, and makes the followers, which do
// not run yet. From then on the journal offers its batches to the followers.
func (n *Node) startJournal(ctx context.Context) error {
	n.model = readmodel.New(n.pool)
	n.digesters.readModel = readmodel.NewDigester(n.log)
	n.reading = n.newFollowing(follower.Config{
		Name: readmodel.Follower, Apply: n.digesters.readModel.Apply, Digesters: []*follower.Digester{n.digesters.readModel},
	})
	n.stock, n.seats = committed.NewStock(maxStock), committed.NewSeats(maxMaps)
	n.feed = live.NewFeed(n.stock, n.seats, n.log)
	n.openAttendees()
	err := n.openFacts()
	if err != nil {
		return err
	}
	n.commits = newCommits()
	// Zero means the journal's default. With other nodes it is right to fail soon, because they
	// claim this node's streams.
	failAfter := time.Duration(0)
	switch {
	case n.cfg.Private(), n.cfg.Apart() && !n.cfg.clustered():
		// No other node can claim this node's streams. So it waits for its Postgres, or for room on
		// the disk, and goes on showing events.
		failAfter = math.MaxInt64
	case len(n.shards) > 1:
		// The node goes on selling the events of the other shards.
		failAfter = math.MaxInt64
	}
	n.journal, err = journal.OpenShards(ctx, journal.Config{
		Node: n.self.ID, Log: n.log, Lanes: n.cfg.Lanes, AllowUnsafe: n.cfg.AllowUnsafe, FailAfter: failAfter,
		Committed: func(took time.Duration) { n.commits.Observe(took.Seconds()) },
		// Batches come from the cluster's actors, so the cluster exists by the time of the first
		// call.
		Sink: func(b *journal.Batch) {
			n.cluster.Observe(b)
			n.reading.offer(b)
			n.telling.offer(b)
			n.attending.offer(b)
		},
	}, n.shards)
	if err != nil {
		return err
	}
	n.started(n.journal.Stop)
	return nil
}

// startCluster starts the cluster, which runs the actors. It also lets the cluster run the read
// model's follower on one node.
func (n *Node) startCluster(context.Context) error {
	n.cluster = cluster.Start(cluster.Config{
		Journal: n.journal, Snapshots: snapshot.New(n.journalPools...), Wakes: wakes.New(n.journalPools...),
		Log: n.log, Backlog: n.journal.Backlog, Shut: n.journal.Shut,
		Self: n.self.ID, Listen: n.links, TLS: n.linkTLS, Now: n.cfg.Now,
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

// startPayments opens the payment providers that have a key, and bank transfers if there is an account for them. In
// test, without a key for Paystack, it starts a simulator, unless BOXOFFICE_PAYSTACK_URL names one. It comes first to
// need the node's BaseURL, so it fills in the default.
func (n *Node) startPayments(ctx context.Context) error {
	if n.cfg.BaseURL == "" {
		n.cfg.BaseURL = "http://" + n.cfg.Listen
	}
	providers := payments.Config{
		NOWPayments: psp.Account{
			URL: n.cfg.NOWPaymentsURL, SecretKey: psp.Secret(n.cfg.NOWPaymentsKey), NoticeSecret: psp.Secret(n.cfg.NOWPaymentsSecret),
			NoticeURL: n.cfg.BaseURL + "/api/v1/payments/webhook/nowpayments",
		},
		Paystack: psp.Account{URL: n.cfg.PaystackURL, SecretKey: psp.Secret(n.cfg.PaystackKey)},
		Flutterwave: psp.Account{
			URL: n.cfg.FlutterwaveURL, SecretKey: psp.Secret(n.cfg.FlutterwaveKey), NoticeSecret: psp.Secret(n.cfg.FlutterwaveHash),
		},
		Mollie: psp.Account{
			URL: n.cfg.MollieURL, SecretKey: psp.Secret(n.cfg.MollieKey), NoticeURL: n.cfg.BaseURL + "/api/v1/payments/webhook/mollie",
		},
		PayPal: psp.Account{
			URL: n.cfg.PayPalURL, SecretKey: psp.Secret(n.cfg.PayPalKey), NoticeSecret: psp.Secret(n.cfg.PayPalHook),
		},
		Stripe: psp.Account{
			URL: n.cfg.StripeURL, SecretKey: psp.Secret(n.cfg.StripeKey), NoticeSecret: psp.Secret(n.cfg.StripeSecrets),
		},
	}
	var err error
	if providers.Transfer, err = n.cfg.readTransferAccount(); err != nil {
		return err
	}
	n.receipts = receipts.New(n.pool)
	providers.Transfer.Received = n.receipts.Sum
	if n.cfg.TransferAccount != "" { // without one, an example's account is shown, and no money comes to it
		providers.Transfer.Allowed = accounts.New(n.pool).TakesTransfers
	}
	if n.cfg.runsSimulator() {
		providers.Paystack.SecretKey = SimKey
		if providers.Paystack.URL == "" {
			if err := n.startSimulator(ctx, &providers); err != nil {
				return err
			}
		}
	}
	gateways, err := payments.Open(providers, n.log)
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

// startSimulator starts the node's own payment simulator. It stands in for Paystack, and for every
// listed provider that has no key of its own.
func (n *Node) startSimulator(ctx context.Context, providers *payments.Config) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.PaysimListen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_PAYSIM_LISTEN: %w", err)
	}
	n.sim = paysim.New(paysim.Config{
		SecretKey: SimKey, NOWPaymentsKey: SimKey, NOWPaymentsSign: SimKey, FlutterwaveKey: SimKey, FlutterwaveHash: SimKey, StripeKey: SimKey, StripeSecret: SimKey, MollieKey: SimKey,
		PayPalKey: SimPayPalKey, PayPalHook: SimKey, PayPalURL: n.cfg.simulatorHooks("paypal"),
		WebhookURL: n.cfg.simulatorHooks("paystack"), FlutterwaveURL: n.cfg.simulatorHooks("flutterwave"), StripeURL: n.cfg.simulatorHooks("stripe"), FirstID: paysim.FreshID(), Log: n.log,
	})
	n.sim.Start(ln)
	n.started(n.sim.Stop)
	providers.Paystack.URL = n.sim.URL()
	if a := &providers.NOWPayments; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "nowpayments") {
		a.URL, a.SecretKey, a.NoticeSecret, a.NoticeURL = n.sim.URL()+"/v1", SimKey, SimKey, n.cfg.simulatorHooks("nowpayments")
	}
	if a := &providers.Flutterwave; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "flutterwave") {
		a.URL, a.SecretKey, a.NoticeSecret = n.sim.URL()+"/v3", SimKey, SimKey
	}
	if a := &providers.Stripe; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "stripe") {
		a.URL, a.SecretKey, a.NoticeSecret = n.sim.URL()+"/v1", SimKey, SimKey
	}
	if a := &providers.Mollie; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "mollie") {
		a.URL, a.SecretKey, a.NoticeURL = n.sim.URL()+"/v2", SimKey, n.cfg.simulatorHooks("mollie")
	}
	if a := &providers.PayPal; a.SecretKey == "" && slices.Contains(n.cfg.PaysimProviders, "paypal") {
		a.URL, a.SecretKey, a.NoticeSecret = n.sim.URL()+"/paypal", SimPayPalKey, SimKey
	}
	return nil
}

// startMail opens the way by which mail leaves (sender): a mail server or, if none is configured, a directory of
// captured mail that a developer reads (then also mailbox). Without MailDir the directory is mail in the data directory.
func (n *Node) startMail(context.Context) error {
	origin, err := n.cfg.mailOrigin()
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

// dropMail deletes captured mails that contain one of the words, when somebody is erased. Mail that
// was sent cannot be taken back.
func (n *Node) dropMail(words ...string) error {
	if n.mailbox == nil {
		return nil
	}
	return n.mailbox.Drop(words...)
}

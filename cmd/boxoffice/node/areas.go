package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"boxoffice/edge"
	"boxoffice/edge/catalog"
	"boxoffice/edge/erasure"
	"boxoffice/edge/files"
	"boxoffice/edge/gates"
	"boxoffice/edge/hasher"
	"boxoffice/edge/holders"
	"boxoffice/edge/hosted"
	"boxoffice/edge/identity"
	"boxoffice/edge/images"
	"boxoffice/edge/learning"
	"boxoffice/edge/letters"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/money"
	"boxoffice/edge/orders"
	"boxoffice/edge/outward"
	"boxoffice/edge/people"
	"boxoffice/edge/receipts"
	"boxoffice/edge/refunds"
	"boxoffice/edge/rooms"
	"boxoffice/edge/sales"
	"boxoffice/edge/venues"
	"boxoffice/edge/waitlists"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/blobs"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/community"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/disputes"
	"boxoffice/persistence/downloads"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/livetokens"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/media"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/numbers"
	"boxoffice/persistence/outreach"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/personal"
	"boxoffice/persistence/program"
	"boxoffice/persistence/promos"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/quota"
	"boxoffice/persistence/refundruns"
	"boxoffice/persistence/requestlog"
	roomtable "boxoffice/persistence/rooms"
	venuetable "boxoffice/persistence/venues"
)

// startAreas opens the areas of the API and starts their background work. The order follows their needs: an
// area is opened after the areas whose functions it uses.
func (n *Node) startAreas(ctx context.Context) (err error) {
	if n.secrets, err = n.cfg.readMasterKey(); err != nil {
		return err
	}
	if n.currencies, err = n.cfg.readCurrencies(); err != nil {
		return err
	}
	n.guesses = limit.NewGuesses(n.cfg.LimitsScale)
	if n.mailQueue, err = mailqueue.New(mailqueue.Config{Pool: n.pool, Log: n.log, Busy: n.faster(busyRate), Scale: n.cfg.LimitsScale}); err != nil {
		return err
	}
	// The stores below are only handles on the database. Opening them asks nothing.
	people := accounts.New(n.pool)
	if err := n.openFactLog(); err != nil {
		return err
	}
	n.personal = personal.New(n.pool)
	n.attendees = attendees.New(n.pool, n.publicFacts, n.secrets.CustomerKey)
	told, said, codes, taught := program.New(n.pool), community.New(n.pool, n.publicFacts), promos.New(n.pool), courses.New(n.pool)
	opened := downloads.New(n.pool)
	pages, err := live.OpenPages(live.PagesDeps{Read: n.model, Accounts: people, Program: told, Courses: taught, Promos: codes, Settled: n.Settled})
	if err != nil {
		return err
	}
	// Parts stop in the reverse order, so these caches are closed after all areas that read them
	// have stopped.
	n.started(func(context.Context) error {
		n.feed.Close()
		pages.Close()
		return nil
	})
	known := live.NewEvents(n.model)
	readers, _ := mail.ReadLanguage(n.cfg.Language)
	n.letters = letters.New(letters.Deps{
		Read: n.model, Accounts: people, Known: known, Pages: pages, Feed: n.feed, Secrets: n.secrets,
		Mail: n.mailQueue, Outreach: outreach.New(n.pool), Sender: n.sender, BaseURL: n.cfg.BaseURL, Language: readers,
	})
	if err := n.openFiles(ctx); err != nil {
		return err
	}
	n.areas.Catalog = catalog.New(catalog.Deps{
		Node: n.cluster, Read: n.model, Known: known, Pages: pages, Feed: n.feed, Letters: n.letters, Program: told, Courses: taught, Community: said, Gateways: n.gateways,
		Events: numbers.New(n.pool, "event_numbers"), Types: numbers.New(n.pool, "ticket_type_numbers"), BaseURL: n.cfg.BaseURL,
		CheckFiles: n.areas.Files.CheckFiles, Texts: limit.NewTexts(n.cfg.LimitsScale), LimitsScale: n.cfg.LimitsScale, Log: n.log, Currencies: n.currencies,
	})
	n.areas.Venues = venues.New(venues.Deps{
		Node: n.cluster, Known: known, Pages: pages, Feed: n.feed, Venues: venuetable.New(n.pool), ChangeType: n.areas.Catalog.ChangeType, ListTypes: n.areas.Catalog.ListTypes,
	})
	if n.notices, err = notices.New(n.pool); err != nil {
		return err
	}
	n.openPeople(people, said, known, pages)
	n.eraser = erasure.New(erasure.Deps{
		Node: n.cluster, Read: n.model, Attendees: n.attendees, Personal: n.personal, Known: known, Pages: pages,
		Followed: n.awaitFollowers, DropMail: n.dropMail, Log: n.log,
	})
	if err := n.openRooms(ctx, known, pages); err != nil {
		return err
	}
	n.openOrders(people, known, pages, taught, opened)
	n.openGates(known, pages)
	n.areas.Money = money.New(money.Deps{
		Node: n.cluster, Read: n.model, Accounts: people, Known: known, Pages: pages, Settled: n.Settled,
		Promos: codes, Codes: numbers.New(n.pool, "promo_numbers"), Guesses: n.guesses, Log: n.log, Currencies: n.currencies,
	})
	n.areas.Learning = learning.New(learning.Deps{
		Read: n.model, Accounts: people, Courses: taught, Downloads: opened, Files: n.hostedFiles(), Settled: n.Settled, BaseURL: n.cfg.BaseURL,
	})
	n.areas.Operations = &edge.Operations{Node: n.cluster, Drain: n.Drain}
	if err := n.openOutward(people); err != nil {
		return err
	}
	n.startSweeps()
	return n.startIdentity(ctx, people)
}

// openGates opens the area of the gates, where tickets are scanned.
func (n *Node) openGates(known *live.Events, pages *live.Pages) {
	n.areas.Gates = gates.New(gates.Deps{
		Node: n.cluster, Known: known, Secrets: n.secrets, LiveTokens: livetokens.New(n.pool), Guesses: n.guesses,
		Pages: pages, Keys: apikeys.New(n.pool), Env: n.cfg.Env,
	})
}

// startSweeps starts the tasks that repeat. Each of them runs on one node of the cluster at a time
// (cluster.Once), so that nodes do not repeat each other's work.
func (n *Node) startSweeps() {
	n.started(n.cluster.Once("payments", n.areas.Sales.SweepPayments))
	n.started(n.cluster.Once("transfers", n.areas.Receipts.SettleTransfers))
	n.started(n.cluster.Once("refunds", n.areas.Refunds.Sweep))
	n.started(n.cluster.Once("waiting rooms", n.areas.Rooms.Keep))
	n.started(n.cluster.Once("media", n.areas.Files.CollectMedia))
	n.started(n.cluster.Once("erasures", n.eraser.Resume))
}

// openOrders opens the areas of orders and tickets. They need functions of the areas of people and
// of waiting rooms.
func (n *Node) openOrders(people *accounts.Store, known *live.Events, pages *live.Pages, taught *courses.Store, opened *downloads.Store) {
	n.orders = &orders.Desk{
		Node: n.cluster, Read: n.model, Settled: n.Settled, Known: known, Pages: pages, Feed: n.feed, Letters: n.letters, Secrets: n.secrets,
	}
	n.areas.Refunds = refunds.New(refunds.Deps{
		Node: n.cluster, Read: n.model, Orders: n.orders, Known: known, Downloads: opened, Courses: taught,
		Runs: refundruns.New(n.pool), Gateways: n.gateways, Secrets: n.secrets, Settled: n.Settled, Log: n.log,
	})
	n.areas.Sales = sales.New(sales.Deps{
		Node: n.cluster, Read: n.model, Orders: n.orders, Attendees: n.attendees, Settled: n.Settled, Known: known, Pages: pages, Feed: n.feed,
		Letters: n.letters, Gateways: n.gateways, Notices: n.notices, Receipts: n.receipts, Disputes: disputes.New(n.pool, n.mailQueue), Accounts: people, Secrets: n.secrets, Admit: n.areas.Rooms.Admit, CountLate: n.areas.Rooms.CountLate, NoteOrder: n.areas.Rooms.NoteOrder, NudgeRefunds: n.areas.Refunds.Nudge,
		BaseURL: n.cfg.BaseURL, Env: n.cfg.Env, Guesses: n.guesses, LimitsScale: n.cfg.LimitsScale, Log: n.log,
	})
	n.areas.Receipts = receipts.New(receipts.Deps{
		Node: n.cluster, Read: n.model, Orders: n.orders, Settled: n.Settled, Known: known, Gateways: n.gateways, Receipts: n.receipts, Log: n.log,
		VerifyAttempts: n.areas.Sales.VerifyAttempts, ShowOwn: n.areas.Sales.ShowOwn, FindPayment: n.areas.Sales.FindPayment,
	})
	n.areas.Waitlists = waitlists.New(waitlists.Deps{
		Node: n.cluster, Orders: n.orders, Known: known, Pages: pages, Letters: n.letters, Secrets: n.secrets, LimitsScale: n.cfg.LimitsScale,
	})
	n.areas.Holders = holders.New(holders.Deps{
		Node: n.cluster, Read: n.model, Orders: n.orders, Accounts: people, Attendees: n.attendees, Courses: taught, Downloads: opened, Personal: n.personal,
		Settled: n.Settled, Known: known, Pages: pages, Feed: n.feed, Letters: n.letters, Secrets: n.secrets, Files: n.hostedFiles(),
		ExportReports: n.areas.People.ExportReports, ExportThreads: n.areas.People.ExportThreads,
	})
}

// openRooms opens the area of waiting rooms. The node must know which events have a waiting room
// before it serves anything, or buyers could pass by one.
func (n *Node) openRooms(ctx context.Context, known *live.Events, pages *live.Pages) error {
	beacon, err := n.cfg.makeBeacon(n.secrets)
	if err != nil {
		return err
	}
	n.areas.Rooms = rooms.New(rooms.Deps{
		Node: n.cluster, Rooms: roomtable.New(n.pool), Known: known, Pages: pages, Feed: n.feed, Secrets: n.secrets, Mail: n.letters.Mail, Beacon: beacon, Witness: n.cfg.makeWitness(),
		Busy: n.faster(busyRate), BaseURL: n.cfg.BaseURL, Log: n.log,
	})
	if err := n.areas.Rooms.Load(ctx); err != nil {
		return err
	}
	// The follower outlives the start: ctx ends with it.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { panics.Keep(life, n.log, "waiting rooms", func() { n.areas.Rooms.Follow(life) }) })
	n.started(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// hostedFiles returns the part that signs links to uploaded files.
func (n *Node) hostedFiles() *hosted.Files {
	return &hosted.Files{Table: media.New(n.pool), Secrets: n.secrets, BaseURL: n.cfg.BaseURL}
}

// openFiles opens the area of uploaded files together with the store of their bytes.
func (n *Node) openFiles(ctx context.Context) error {
	// Pictures are decoded by a second process of this same program.
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("our own program: %w", err)
	}
	bytes, err := n.openBlobs(ctx)
	if err != nil {
		return err
	}
	n.areas.Files = files.New(files.Deps{
		Read: n.model, Table: media.New(n.pool), Blobs: bytes, Secrets: n.secrets, Images: images.NewMaker(program, n.cfg.LimitsScale),
		VideoLimit: int64(n.cfg.MediaVideoMB) << 20, Quota: int64(n.cfg.MediaQuotaMB) << 20, BaseURL: n.cfg.BaseURL, Log: n.log,
	})
	return nil
}

// openBlobs opens the store of the files' bytes: the bucket if one is configured, or else a
// directory.
func (n *Node) openBlobs(ctx context.Context) (blobs.Store, error) {
	if n.cfg.MediaURL == "" {
		return blobs.OpenDisk(filepath.Join(n.cfg.DataDir, "media"))
	}
	bucket, err := blobs.OpenS3(n.cfg.MediaURL)
	if err != nil {
		return nil, fmt.Errorf("BOXOFFICE_MEDIA_URL %w", err)
	}
	within, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	// An error is only logged. The bucket may come back, and tickets can be sold without it.
	if err := bucket.Check(within); err != nil {
		n.log.ErrorContext(ctx, "uploaded files can't be reached", slog.Any("error", err))
	}
	return bucket, nil
}

// bucketTime is how long a starting node waits for the bucket to answer.
const bucketTime = 5 * time.Second

// uploadDir returns an empty folder where this node keeps uploads until their requests are
// answered. Files that are there at a start belong to requests that a crash cut off, so they are
// deleted. The folder has the node's name, because nodes may share a data directory.
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

// openPeople opens the area of the people around an event: reviews, messages, customers.
func (n *Node) openPeople(all *accounts.Store, said *community.Store, known *live.Events, pages *live.Pages) {
	n.areas.People = people.New(people.Deps{
		Read: n.model, Accounts: all, Attendees: n.attendees, Settled: n.Settled, Known: known, Pages: pages, Letters: n.letters,
		Community: said, Outreach: outreach.New(n.pool), Mail: n.mailQueue, Secrets: n.secrets, LimitsScale: n.cfg.LimitsScale,
	})
}

// openFactLog opens the log of public facts and the queues of the webhook endpoints. Nothing is written to them
// before startFacts.
func (n *Node) openFactLog() (err error) {
	if n.endpoints, err = deliveries.New(n.pool); err != nil {
		return err
	}
	teller := &webhook.Teller{Secrets: n.secrets, Seats: n.findSeats}
	n.publicFacts = publicfacts.New(n.pool, journal.NewReader(n.journalPools...), n.secrets, teller, n.endpoints.FanOut)
	return nil
}

// findSeats returns an event's seat map for the public facts about its seats. If the event's shard does not
// answer, the error says to try again later. The fact itself is not to blame and must not be set aside.
func (n *Node) findSeats(ctx context.Context, event int64) (*committed.SeatMap, error) {
	m, err := n.feed.Seats(ctx, event)
	if err != nil {
		if away := n.journal.Away(event); away != nil {
			return nil, fmt.Errorf("%w: %w", follower.ErrAgain, away)
		}
	}
	return m, err
}

// openOutward opens the area of webhook endpoints and of the pull feed.
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

// startIdentity opens the area of people and credentials with the parts that it uses: the hasher, the
// stored replies, the quota and the log of requests. It begins to follow changes of credentials, and
// makes the administrator if one is configured.
func (n *Node) startIdentity(ctx context.Context, people *accounts.Store) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("our own program: %w", err)
	}
	// Hashing passwords gives way to a sale, so the hasher asks whether one is going on.
	hashes := hasher.New(program, n.faster(sellingRate))
	n.started(hashes.Stop)
	n.replies = idempotency.New(n.pool)
	n.quota = quota.Start(quota.Config{
		Pool: n.pool, Log: n.log, Full: n.disk.Full, Scale: n.cfg.LimitsScale, Paid: int64(n.cfg.WriteQuotaMB) << 20,
	})
	n.started(n.quota.Stop)
	n.requests = requestlog.Start(requestlog.Config{
		Pool: n.pool, Log: n.log, Full: n.disk.Full, Quota: n.quota, Vault: n.secrets, Now: n.cfg.Now,
	})
	n.started(n.requests.Stop)
	n.areas.Identity, err = identity.Open(identity.Deps{
		Accounts: people, APIKeys: apikeys.New(n.pool), Requests: n.requests, Quota: n.quota, FilesOf: n.areas.Files.BytesOf, Replies: n.replies, Mail: n.mailQueue, Hasher: hashes,
		Secrets: n.secrets, Eraser: n.eraser, ListBalances: n.areas.Money.ListBalances, CheckFiles: n.areas.Files.CheckFiles, Env: n.cfg.Env, Log: n.log,
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
	if err := n.cfg.checkAdmin(); err != nil {
		return err
	}
	return n.areas.Identity.EnsureAdmin(ctx, n.cfg.AdminEmail, n.cfg.AdminPassword)
}

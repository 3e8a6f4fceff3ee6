package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/venuemap"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/audit"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/venues"
)

// database has the flags by which tools reach Postgres: the private Postgres of a node, which may
// run or not, or one that a URL names.
type database struct {
	DataDir     string `env:"BOXOFFICE_DATA_DIR" default:"./data" help:"Where the private Postgres lives."`
	DatabaseURL string `env:"BOXOFFICE_DATABASE_URL" help:"Postgres to use instead of a private one."`
}

// open connects to Postgres. If it is a private one that does not run, open starts it. The caller
// must call done, which closes the pool and stops what open has started.
func (d *database) open(ctx context.Context) (pool *pgxpool.Pool, done func(), err error) {
	url, stop := d.DatabaseURL, func() {}
	if url == "" {
		srv, err := embedded.Start(ctx, embedded.Config{Dir: filepath.Join(d.DataDir, "postgres"), Log: logger(-4)})
		if err != nil {
			return nil, nil, err
		}
		url, stop = srv.URL(), func() {
			if err := srv.Stop(context.WithoutCancel(ctx)); err != nil {
				fmt.Fprintln(os.Stderr, "boxoffice:", err)
			}
		}
	}
	if pool, err = node.OpenPool(ctx, url, "BOXOFFICE_DATABASE_URL", nil); err != nil {
		stop()
		return nil, nil, err
	}
	return pool, func() {
		pool.Close()
		stop()
	}, nil
}

// keysCmd has the commands for the keys that sign access tokens.
type keysCmd struct {
	Rotate rotateCmd `cmd:"" help:"Sign with a new key from now on. Tokens of the one before stay good; those of older keys do not."`
}

// rotateCmd makes a new key that signs access tokens.
type rotateCmd struct{ database }

// Run makes a new key. Running nodes sign with it within a second. Tokens of the key before it stay
// valid, and tokens of older keys do not.
func (c *rotateCmd) Run(ctx context.Context) error {
	pool, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	n, err := accounts.New(pool).RotateSigningKey(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "access tokens are signed with key k%d\n", n)
	return err
}

// verifyCmd marks an organization as known to the platform.
type verifyCmd struct {
	database
	Organization string `arg:"" help:"Its number, its id or its slug."`
}

// Run marks the organization as verified. It may then write to more people than a new organization.
func (c *verifyCmd) Run(ctx context.Context) error {
	pool, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	store := accounts.New(pool)
	org, err := findOrganization(ctx, store, c.Organization)
	if err != nil {
		return err
	}
	if err := store.Verify(ctx, org.ID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%s (%s) is verified\n", org.Name, org.Slug)
	return err
}

// findOrganization returns the organization with a number, an id or a slug. It returns an error if
// there is none.
func findOrganization(ctx context.Context, store *accounts.Store, name string) (*accounts.Organization, error) {
	org, err := store.OrganizationNamed(ctx, name)
	if err == nil && org == nil {
		err = fmt.Errorf("there is no organization %q", name)
	}
	return org, err
}

// transferCmd has the commands that decide which organizations are paid by bank transfer. Only an
// operator may decide it, because such an organization itself confirms what has come.
type transferCmd struct {
	Allow  allowTransferCmd  `cmd:"" help:"Let an organization be paid to BOXOFFICE_TRANSFER_ACCOUNT, and say itself what has come: what it says is credited to its wallet."`
	Forbid forbidTransferCmd `cmd:"" help:"Let it no longer. What its buyers still owe can't be marked as paid from then on."`
}

// allowTransferCmd lets an organization be paid by bank transfer.
type allowTransferCmd struct {
	database
	Organization string `arg:"" help:"Its number, its id or its slug."`
}

// Run lets the organization be paid by bank transfer.
func (c *allowTransferCmd) Run(ctx context.Context) error {
	return c.setTransfers(ctx, c.Organization, true, "is paid by bank transfer too")
}

// forbidTransferCmd forbids payments by bank transfer to an organization.
type forbidTransferCmd struct {
	database
	Organization string `arg:"" help:"Its number, its id or its slug."`
}

// Run forbids that the organization is paid by bank transfer from now on.
func (c *forbidTransferCmd) Run(ctx context.Context) error {
	return c.setTransfers(ctx, c.Organization, false, "is not paid by bank transfer")
}

// setTransfers allows or forbids bank transfers to an organization, and prints the result. The argument says is
// the end of the printed sentence.
func (d *database) setTransfers(ctx context.Context, name string, allowed bool, says string) error {
	pool, done, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	store := accounts.New(pool)
	org, err := findOrganization(ctx, store, name)
	if err != nil {
		return err
	}
	if err := store.AllowTransfers(ctx, org.ID, allowed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%s (%s) %s\n", org.Name, org.Slug, says)
	return err
}

// openapiCmd prints the OpenAPI document of the API.
type openapiCmd struct {
	BaseURL string `env:"BOXOFFICE_BASE_URL" default:"http://127.0.0.1:8080" help:"Address that the document names."`
	YAML    bool   `name:"yaml" help:"Print YAML instead of JSON."`
}

// Run prints the document. It is made from the route table, so no node has to run.
func (c *openapiCmd) Run() error {
	doc, err := node.Document(c.BaseURL)
	if err != nil {
		return err
	}
	text := doc.JSON
	if c.YAML {
		text = doc.YAML
	}
	_, err = fmt.Fprintln(os.Stdout, strings.TrimSuffix(string(text), "\n"))
	return err
}

// venueCmd prints a sample of a venue map, or shares it with all organizations.
type venueCmd struct {
	database
	Sample string `arg:"" enum:"theatre,arena,stadium" help:"theatre (400 seats), arena (20,000) or stadium (70,000)."`
	Share  bool   `help:"Publish it in the database, for all organizations, instead of printing it."`
}

// Run prints the sample in the form that POST /organizer/venues takes or, with Share, publishes it in the
// database as a map for all organizations. If they share a map of that name already, it gets a new version.
func (c *venueCmd) Run(ctx context.Context) error {
	doc := venuemap.Samples[c.Sample]()
	text, err := doc.Text()
	if err != nil {
		return err
	}
	if !c.Share {
		_, err = fmt.Fprintln(os.Stdout, string(text))
		return err
	}
	pool, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	// A sample is checked as the map of any organization is, and its seats are counted.
	layout, _, err := venuemap.Publishable(text)
	if err != nil {
		return err
	}
	m, err := venues.New(pool).Share(ctx, venues.Draft{Name: doc.Name, Seats: layout.Len(), Document: text}, venuemap.Publishable)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%s is shared: venue map %s, version %d\n", m.Name, m.PublicID, m.Versions[0].Number)
	return err
}

// paysimCmd runs the payment simulator as a process of its own. It then keeps its payments when the
// nodes that use it restart.
type paysimCmd struct {
	Listen     string `env:"BOXOFFICE_PAYSIM_LISTEN" default:"127.0.0.1:8081" help:"Address of the simulator."`
	SecretKey  string `env:"BOXOFFICE_PAYSTACK_KEY" default:"sk_test_boxoffice_simulator" help:"The key that it accepts."`
	BaseURL    string `help:"How buyers reach it; http://<listen> if empty."`
	WebhookURL string `help:"Where Paystack's webhooks go; nowhere if empty."`
	Seed       uint64 `default:"1" help:"Of everything that it leaves to chance."`

	FlutterwaveURL string        `help:"Where Flutterwave's webhooks go; nowhere if empty."`
	StripeURL      string        `help:"Where Stripe's webhooks go; nowhere if empty."`
	PayPalURL      string        `name:"paypal-url" help:"Where PayPal's webhooks go; nowhere if empty."`
	WebhookRetry   time.Duration `default:"3m" help:"How soon a webhook that was not taken is sent again."`
}

// Run simulates the providers until a signal.
func (c *paysimCmd) Run(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_PAYSIM_LISTEN: %w", err)
	}
	sim := paysim.New(paysim.Config{
		// One key serves all providers here, so that people have to configure only one.
		SecretKey: c.SecretKey, NOWPaymentsKey: c.SecretKey, NOWPaymentsSign: c.SecretKey, FlutterwaveKey: c.SecretKey, FlutterwaveHash: c.SecretKey, StripeKey: c.SecretKey, StripeSecret: c.SecretKey, MollieKey: c.SecretKey,
		PayPalKey: "boxoffice:" + c.SecretKey, PayPalHook: c.SecretKey, PayPalURL: c.PayPalURL,
		BaseURL: c.BaseURL, WebhookURL: c.WebhookURL, FlutterwaveURL: c.FlutterwaveURL, StripeURL: c.StripeURL, WebhookRetry: c.WebhookRetry, Seed: c.Seed, FirstID: paysim.FreshID(), Log: logger(0),
	})
	sim.Start(ln)
	fmt.Fprintf(os.Stdout, "Simulator of Paystack, of NOWPayments and Stripe under /v1, of Mollie under /v2, of Flutterwave under /v3, and of PayPal under /paypal, at %s\n", sim.URL())
	<-ctx.Done()
	return sim.Stop(context.WithoutCancel(ctx))
}

// auditCmd replays every stream of the journal and checks the invariants (package audit).
type auditCmd struct{ databases }

// Run audits the journal in all of its databases. It returns an error if anything is wrong, so that
// scripts notice.
func (c *auditCmd) Run(ctx context.Context) error {
	at, done, err := c.openChecked(ctx)
	if err != nil {
		return err
	}
	defer done()
	r, err := audit.Run(ctx, journal.NewReader(at.pools...))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%d streams, %d facts, %d events: %d tickets issued, %d units sold, %d reserved, of which %d for no order\n",
		r.Streams, r.Facts, r.Events, r.Tickets, r.Sold, r.Held, r.Orphans)
	// The findings are only the first ones: an audit does not keep an endless list. FindingsOmitted
	// counts the others.
	for _, f := range r.Findings {
		fmt.Fprintln(os.Stdout, "FINDING", f)
	}
	if !r.Clean() {
		return fmt.Errorf("the audit found %d faults", int64(len(r.Findings))+r.FindingsOmitted)
	}
	fmt.Fprintln(os.Stdout, "audit clean")
	return nil
}

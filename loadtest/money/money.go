// Package money is the scenario of money that goes wrong in every way. Buyers pay by bank transfer
// and at five providers. The providers are slow, down or late, and send notices twice, out of
// order, forged or not at all. The currencies have 0, 2 and 3 decimals. The node and its Postgres
// are killed in between. At the end the books of the providers, the orders and the wallets are
// compared to the cent. Run returns when every goroutine and process that it started has ended.
package money

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config has the flags of `boxoffice loadtest money`.
type Config struct {
	Orders        int           `default:"3000" help:"Orders that buyers make."`
	Buyers        int           `default:"24" help:"Buyers at a time."`
	Issues        int           `default:"200" help:"Orders that the organization issues, for a fee from its wallet."`
	NodeKills     int           `default:"7" help:"How many times the node is killed with -9."`
	PostgresKills int           `default:"3" help:"How many times all of Postgres is killed with -9."`
	Patience      time.Duration `default:"25s" help:"How long somebody repeats a request that was not answered."`
	Rest          time.Duration `default:"20m" help:"How long all money may take to come to rest."`
	Skip          []string      `help:"Stories that nobody plays: parts of their names."`
	Seed          uint64        `default:"1" help:"Of everything random."`
	Out           string        `default:"loadtest-report" type:"path" help:"Directory of the result and the node's log."`
	Target        string        `help:"http://127.0.0.1:port of the service. Without it, a node is started for the run, and killed."`
	Paysim        string        `help:"http://127.0.0.1:port of the target's payment simulator."`
	Admin         string        `help:"E-mail of the target's administrator."`
	Password      string        `help:"The administrator's password."`
}

// Validate refuses a run that could not work. kong calls it, and so does the run itself.
func (c *Config) Validate() error {
	switch {
	case c.Orders < 1 || c.Buyers < 1:
		return errors.New("at least one order and one buyer")
	case c.Target != "" && (c.Paysim == "" || c.Admin == "" || c.Password == ""):
		return errors.New("a target comes with its paysim, admin and password")
	}
	return nil
}

// market is one run: where things are sold, what the harness knows about them, and what it has
// done.
type market struct {
	cfg Config
	log *slog.Logger
	svc client.API
	net *client.Network
	// Gets checkout pages and the simulator's own pages. It follows no redirects, because a
	// checkout leads back to a shop that does not exist.
	web *http.Client
	// Nil if the target is not ours. Then nothing is killed.
	node      *rig.Node
	organizer *rush.Organizer
	sales     []*sale
	customers []*customer
	bank      bank

	bystanders bystanders

	mu     sync.Mutex
	orders []placed
	issued []issue
	// How many buyers have played each story, by the story's name.
	stories map[string]int64
	// The refunds whose money a person has sent back.
	returned map[string]bool

	asked, approved, denied, given, byHand, cancelled, kills atomic.Int64
}

// placed is an order that a buyer has placed.
type placed struct {
	id, token string
	sale      *sale
}

// issue is an order that the organization has issued, with its fee in minor units.
type issue struct {
	id       string
	currency string
	fee      int64
}

const (
	admin    = "root@load.test"
	password = "correct horse battery"
)

// Run sells while it breaks things, waits until no money is under way, and compares the books. It
// returns an error if the comparison has findings.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *contest.Result, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("money: %w", err)
	}
	m := &market{
		cfg: cfg, log: log, stories: make(map[string]int64), returned: make(map[string]bool), bank: bank{accounts: make(map[string]*Row)},
		web: &http.Client{
			Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: cfg.Buyers + 8},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	defer m.web.CloseIdleConnections()
	if cfg.Target == "" {
		node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, rig.CallsBack, "BOXOFFICE_CURRENCIES=USD,EUR,NGN,ZAR,JPY,KWD", "BOXOFFICE_TRANSFER_ACCOUNT=Load Hall|DE89370400440532013000", "BOXOFFICE_DEMO=false", "BOXOFFICE_LOG_LEVEL=WARN",
			"BOXOFFICE_ADMIN_EMAIL="+admin, "BOXOFFICE_ADMIN_PASSWORD="+password, "BOXOFFICE_MAX_CONNS_PER_ADDRESS=400")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		m.node, m.cfg.Target, m.cfg.Paysim, m.cfg.Admin, m.cfg.Password = node, node.URL, node.Paysim, admin, password
	}
	if m.svc, err = client.ParseTarget(m.cfg.Target); err != nil {
		return nil, err
	}
	if m.net, err = client.NewNetwork(client.Config{Sources: 16, Timeout: 20 * time.Second}); err != nil {
		return nil, err
	}
	defer m.net.Close()
	if err := m.openSales(ctx); err != nil {
		return nil, err
	}
	if err := m.sellAll(ctx); err != nil {
		return nil, err
	}
	if err := m.closeSales(ctx); err != nil {
		return nil, err
	}
	books, checks, err := m.compareAtRest(ctx)
	if err != nil {
		return nil, err
	}
	r := &contest.Result{Counts: m.countEvents(books), Notes: books.sayTotals() + m.bystanders.say(), Checks: checks}
	return r, r.Print(out, cfg.Out, "money")
}

// sellAll lets the buyers buy, one after another at each of a number of tills. Beside that the
// organization issues orders and decides refunds, and the node is killed.
func (m *market) sellAll(ctx context.Context) error {
	var tills, others sync.WaitGroup
	open, closing := context.WithCancel(ctx)
	defer closing()
	// next hands out the numbers of the buyers, and done counts those who are finished. The kills follow done.
	var next, done atomic.Int64
	for range m.cfg.Buyers {
		tills.Go(func() {
			for i := int(next.Add(1)); i <= m.cfg.Orders && ctx.Err() == nil; i = int(next.Add(1)) {
				m.playBuyer(ctx, i)
				done.Add(1)
			}
		})
	}
	// The run lasts until the organization has issued its orders as well.
	tills.Go(func() { m.issueAll(ctx) })
	others.Go(func() { m.decideRefunds(open) })
	others.Go(func() { m.importStatements(open) })
	others.Go(func() { m.bystanders.order(open, m.svc, m.net.Source(2)) })
	others.Go(func() { m.troubleProviders(open) })
	var killed error
	others.Go(func() { killed = m.killAll(open, &done) })
	tills.Wait()
	closing()
	others.Wait()
	return errors.Join(killed, context.Cause(ctx))
}

// killAll kills the node and its Postgres, at moments that are spread evenly over the orders and in
// random order.
func (m *market) killAll(ctx context.Context, done *atomic.Int64) error {
	if m.node == nil {
		return nil
	}
	rng := m.newRandom(-1)
	var kills []func(context.Context) error
	for range m.cfg.NodeKills {
		kills = append(kills, m.killNode)
	}
	for range m.cfg.PostgresKills {
		kills = append(kills, m.killPostgres)
	}
	rng.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
	for i, kill := range kills {
		// A kill is due when its share of the orders is done.
		at := int64(m.cfg.Orders) * int64(i+1) / int64(len(kills)+1)
		for done.Load() < at && ctx.Err() == nil {
			rig.Wait(ctx, 50*time.Millisecond)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("money: %d kills of %d: the orders were over", i, len(kills))
		}
		if err := kill(ctx); err != nil {
			return fmt.Errorf("money: kill %d: %w", i+1, err)
		}
		m.kills.Add(1)
	}
	return nil
}

// backTime is how long the service may take until it is ready again.
const backTime = 60 * time.Second

// killNode kills the node with SIGKILL and starts it again at once. It waits for the node even if the run has ended
// in the meantime, because the audit needs it.
func (m *market) killNode(ctx context.Context) error {
	if err := m.node.Kill(); err != nil {
		return err
	}
	return m.node.Start(context.WithoutCancel(ctx), backTime)
}

// killPostgres kills all processes of Postgres. The node starts it again by itself.
func (m *market) killPostgres(ctx context.Context) error {
	pid := m.node.PostgresPID()
	if pid == 0 {
		return errors.New("no postmaster.pid in the data directory")
	}
	if err := rig.KillTree(pid); err != nil {
		return err
	}
	return rig.WaitReady(context.WithoutCancel(ctx), m.node.URL, backTime)
}

// troubleProviders makes all providers fail or be slow for some seconds now and then.
func (m *market) troubleProviders(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		rig.Wait(ctx, 15*time.Second)
		m.setModes(ctx, []string{"error=503", "slow=" + slowness.String(), "lost@0.3,error=500@0.3"}[i%3])
		// Only the second of the three modes is slow. The bystanders compare the times in it with all others.
		m.bystanders.slow.Store(i%3 == 1)
		rig.Wait(ctx, 4*time.Second)
		m.bystanders.slow.Store(false)
		// Also at the end of the run the providers must be left well.
		m.setModes(context.WithoutCancel(ctx), "")
	}
}

// newRandom makes a source of random numbers for one part of the run, so that the parts do not
// depend on each other's order.
func (m *market) newRandom(part int) *rand.Rand {
	return rand.New(rand.NewPCG(m.cfg.Seed, uint64(part))) //nolint:gosec // not for secrets
}

// countEvents returns how often everything happened, for the report.
func (m *market) countEvents(b *Books) []report.Count {
	all := []report.Count{
		{Name: "orders of buyers", Count: int64(len(m.orders))},
		{Name: "orders issued", Count: int64(len(m.issued))},
		{Name: "payments that reached a provider", Count: int64(len(b.Provider))},
		{Name: "refunds asked for by buyers", Count: m.asked.Load()},
		{Name: "of them approved", Count: m.approved.Load()},
		{Name: "of them denied", Count: m.denied.Load()},
		{Name: "refunds by the organizer", Count: m.given.Load()},
		{Name: "refunds sent by hand", Count: m.byHand.Load()},
		{Name: "orders given up", Count: m.cancelled.Load()},
		{Name: "kills", Count: m.kills.Load()},
	}
	for i := range stories {
		all = append(all, report.Count{Name: "bought: " + stories[i].name, Count: m.stories[stories[i].name]})
	}
	return all
}

// Package webhooks is the scenario of facts that are delivered to many endpoints, and some
// endpoints misbehave. The question is whether the bad ones hold up the deliveries to the others.
// Run returns when every goroutine and process that it started has ended.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest webhooks`.
type Config struct {
	Endpoints   int           `default:"200" help:"Webhook endpoints, all subscribed to everything."`
	Orgs        int           `default:"50" help:"Organizations, among which they are shared out, with those that misbehave."`
	Hanging     int           `default:"20" help:"Of the endpoints, those that take a request and say nothing."`
	Failing     int           `default:"20" help:"Those that answer 500."`
	Redirecting int           `default:"20" help:"Those that redirect."`
	Dripping    int           `default:"20" help:"Those that answer a byte a second."`
	Facts       float64       `default:"500" help:"Facts told per second, over all organizations."`
	Duration    time.Duration `default:"60s" help:"How long."`
	Goal        time.Duration `default:"2s" help:"The p99 from commit to receipt, of healthy endpoints, that the run is judged by."`
	Patience    time.Duration `default:"30s" help:"How long, in the audit, nothing more must arrive before what is missing counts as lost."`
	Out         string        `default:"loadtest-report" type:"path" help:"Directory of the result and of the node's log."`
}

// factsPerOrder is the number of facts that the world is told of a free order of one ticket: the
// order is created, the order is completed, and the ticket is issued.
const factsPerOrder = 3

// Run has a node of its own deliver facts to endpoints that behave well or badly, and measures what
// the healthy ones get. It fails if the audit finds something. A missed goal is only printed,
// because it depends on the machine.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ []report.Check, err error) {
	// Every organization needs an endpoint, and at least one endpoint must be healthy, or there is
	// nothing to measure.
	if bad := cfg.Hanging + cfg.Failing + cfg.Redirecting + cfg.Dripping; cfg.Orgs < 1 || cfg.Endpoints < max(cfg.Orgs, bad+1) {
		return nil, fmt.Errorf("%d endpoints of %d organizations, %d of them misbehaving: too few", cfg.Endpoints, cfg.Orgs, bad)
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	// A demo on the same node would be told by the facts, too, and change what is measured.
	node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, rush.PrivateWebhooks, "BOXOFFICE_DEMO=false", "BOXOFFICE_LOG_LEVEL=WARN")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	h := &deliveryRun{cfg: cfg, node: node, receiver: rush.StartReceiver(), placed: map[*rush.Organizer]map[string]bool{}}
	defer func() { err = errors.Join(err, h.receiver.Close(ctx)) }()
	defer func() {
		if h.net != nil {
			h.net.Close()
		}
	}()
	if err := h.putOnSale(ctx); err != nil {
		return nil, err
	}
	if err := h.run(ctx); err != nil {
		return nil, err
	}
	checks, err := h.receiver.AuditDeliveries(ctx, h.placed, cfg.Patience)
	if err != nil {
		return nil, err
	}
	return checks, h.print(out, checks)
}

// deliveryRun is a run of Run. mu guards placed, which many buyers fill.
type deliveryRun struct {
	cfg      Config
	node     *rig.Node
	svc      client.API
	net      *client.Network
	receiver *rush.Receiver
	sales    []*ownSale

	mu sync.Mutex
	// The ids of the orders that each organization has sold, with which the audit compares the
	// deliveries.
	placed map[*rush.Organizer]map[string]bool

	orders       *openloop.Stats
	usage        rig.Usage
	before, peak int64 // the resident bytes of the node, before the run and at most
	// By how many seconds the telling of facts was behind its commits at most.
	longestTelling float64
	// How many deliveries waited at most, those that are tried again included.
	waiting float64
}

// ownSale is what one organization sells.
type ownSale struct {
	org  *rush.Organizer
	sale *rush.Sale
}

// putOnSale registers the organizations, makes their endpoints, and puts an event of each on sale.
// The endpoints come before the sales, so that they get every fact.
func (h *deliveryRun) putOnSale(ctx context.Context) (err error) {
	if h.svc, err = client.ParseTarget(h.node.URL); err != nil {
		return err
	}
	if h.net, err = client.NewNetwork(client.Config{Sources: 250, Timeout: 10 * time.Second}); err != nil {
		return err
	}
	for i := range h.cfg.Orgs {
		o, err := rush.Register(ctx, h.svc, h.net.Source(i))
		if err != nil {
			return err
		}
		h.sales = append(h.sales, &ownSale{org: o})
		h.placed[o] = map[string]bool{}
	}
	for i, how := range h.cfg.mixBehaviours() {
		if err := h.receiver.AddEndpoint(ctx, h.sales[i%h.cfg.Orgs].org, how); err != nil {
			return err
		}
	}
	for _, s := range h.sales { // a webhook tells this change, too
		if s.sale, err = s.org.OpenSale(ctx, []rush.SaleType{{
			Name: "Floor", Quantity: 1_000_000, Free: true, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer,
		}}); err != nil {
			return err
		}
	}
	return nil
}

// mixBehaviours returns the behaviours of all endpoints in a random order, so that most organizations have healthy
// and bad endpoints side by side.
func (c *Config) mixBehaviours() []rush.Behaviour {
	var all []rush.Behaviour
	for how, n := range map[rush.Behaviour]int{rush.Hanging: c.Hanging, rush.Failing: c.Failing, rush.Redirecting: c.Redirecting, rush.Dripping: c.Dripping} {
		for range n {
			all = append(all, how)
		}
	}
	for len(all) < c.Endpoints {
		all = append(all, rush.Healthy)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // no secret
	return all
}

// run sells at a constant rate, and watches the node's memory and backlog once a second.
func (h *deliveryRun) run(ctx context.Context) (err error) {
	h.before = rig.ResidentBytes(h.node.PID())
	sampler := rig.StartSampler(append(h.node.Targets(), rig.Target{Name: "generator", PID: rig.FixedPID(os.Getpid())})...)
	cfg := openloop.Config{Ops: []string{"POST /orders"}, OnSecond: func(openloop.Second) {
		h.peak = max(h.peak, rig.ResidentBytes(h.node.PID()))
		// The figures are the node's own. A second in which they could not be read is left out.
		if m, err := rig.ReadMetrics(ctx, h.svc, h.net.Source(0)); err == nil {
			h.longestTelling, h.waiting = max(h.longestTelling, m["boxoffice_facts_delay_seconds"]), max(h.waiting, m["boxoffice_webhook_pending"])
		}
	}}
	h.orders, err = openloop.Run(ctx, cfg, openloop.Constant(h.cfg.Facts/factsPerOrder, h.cfg.Duration), rand.New(rand.NewPCG(1, 0)),
		func(n int) openloop.Actor { return &freeOrder{h, n} })
	h.usage = sampler.Stop()
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	// Every order must be placed: a run with refused orders has another rate of facts than it
	// reports.
	for e, n := range h.orders.Errors {
		return fmt.Errorf("webhooks: %d orders were answered %d %s", n, e.Status, e.Code)
	}
	return nil
}

// freeOrder is a buyer who places one free order.
type freeOrder struct {
	*deliveryRun
	n int
}

// Step places the order. Only an order that was acknowledged is expected at the endpoints.
func (o *freeOrder) Step(ctx context.Context) openloop.Result {
	s := o.sales[o.n%len(o.sales)]
	body := rush.Encode(rush.PlaceOrder{
		Items: []rush.Item{{TicketTypeID: s.sale.Types[0].ID, Quantity: 1}}, GuestEmail: uuid.NewString() + "@load.test", GuestName: "Load Buyer",
	})
	var made rush.Order
	a := o.svc.Do(ctx, o.net.Source(o.n), client.Call{Method: "POST", Path: "/orders", Key: uuid.NewString(), Body: body}, &made)
	if a.OK() {
		o.mu.Lock()
		o.placed[s.org][made.ID] = true
		o.mu.Unlock()
	}
	return openloop.Result{Status: a.Status, Code: a.Code, Done: true}
}

// print prints what was measured and what the audit found, to out and into webhooks.txt. It returns
// an error if there are findings.
func (h *deliveryRun) print(out io.Writer, checks []report.Check) error {
	file, err := os.Create(filepath.Join(h.cfg.Out, "webhooks.txt"))
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	defer func() { _ = file.Close() }() // the terminal has it too
	out = io.MultiWriter(out, file)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "endpoints\t\trequests\tevents\tagain\tms from fact to receipt: p50\tp90\tp99\tp99.9\tmax\t")
	var p openloop.Percentiles
	for _, how := range []rush.Behaviour{rush.Healthy, rush.Hanging, rush.Failing, rush.Redirecting, rush.Dripping} {
		hooks := h.receiver.EndpointsThat(how)
		var requests, events, again int64
		for _, k := range hooks {
			n, twice := k.CountArrived()
			requests, events, again = requests+k.Requests, events+n, again+twice
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t", len(hooks), how, requests)
		// Only the healthy endpoints have delays: the others never take a delivery.
		if how == rush.Healthy {
			p = rush.DeliveryDelays(hooks)
			fmt.Fprintf(w, "%d\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t", events, again, p.P50, p.P90, p.P99, p.P999, p.Max)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // out's errors are its owner's
	// Rates count over the time of the orders. Deliveries that come after it have their own delays in the table.
	seconds := h.cfg.Duration.Seconds()
	orders := float64(h.orders.All.Count)
	fmt.Fprintf(out, "%.0f facts/s were asked for, %.0f/s told of %.0f orders in %.0f s; POST /orders p99 %.1f ms\n",
		h.cfg.Facts, orders*factsPerOrder/seconds, orders, seconds, h.orders.All.Corrected.P99)
	fmt.Fprintf(out, "memory of the node: %d MB before, %d MB at most, with up to %.0f deliveries waiting; facts were told up to %.1f s after their commit\n",
		h.before>>20, h.peak>>20, h.waiting, h.longestTelling)
	for i, name := range h.usage.Names {
		fmt.Fprintf(out, "%s %.2f cores, ", name, h.usage.Total[i].Seconds()/seconds)
	}
	fmt.Fprintf(out, "other processes %.2f\n", h.usage.Others)
	fmt.Fprintf(out, "p99 of healthy endpoints: %.0f ms (goal: less than %d ms)\n", p.P99, h.cfg.Goal.Milliseconds())
	var found int64
	for _, c := range checks {
		fmt.Fprintf(out, "audit: %s: %d checked, %d found %s\n", c.Name, c.Checked, c.Failed, c.Note)
		for _, f := range c.Findings {
			fmt.Fprintln(out, "FOUND", f)
		}
		found += c.Failed
	}
	if found > 0 {
		return fmt.Errorf("%w: %d findings", rush.ErrFindings, found)
	}
	return nil
}

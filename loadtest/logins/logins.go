// Package logins is the scenario of buyers during a crowd of logins. Run returns when every
// goroutine and process that it started has ended.
package logins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest logins`.
type Config struct {
	Logins int           `default:"200" help:"Clients that log in again and again, each from an address of its own."`
	Rate   float64       `default:"500" help:"Orders per second."`
	Phase  time.Duration `default:"10s" help:"How long the orders go on without, and then with, the logins."`
	Rounds int           `default:"3" help:"How often both are measured, in turn."`
	Out    string        `default:"loadtest-report" type:"path" help:"Directory of the node's log."`
}

// Result is the cost of a crowd of logins. Latencies are the medians of the rounds, in
// milliseconds.
type Result struct {
	Quiet, Crowded openloop.Percentiles
	Answers        map[string]int64     // of logins: "ok", or the error's code
	Refused        openloop.Percentiles // how soon a login beyond the limit is refused
}

// Run sends orders to a node of its own at a steady rate, without and with a crowd that logs in,
// half of it with a wrong password, and compares. Password hashing must not starve the sale: the
// p99 of orders at most doubles, and logins beyond the limit are refused at once. The node's limits
// are raised, so that only the bound on hashing protects the cores from the crowd.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *Result, err error) {
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("logins: %w", err)
	}
	node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return nil, err
	}
	network, err := client.NewNetwork(client.Config{Sources: cfg.Logins, Timeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	defer network.Close()
	organizer, err := rush.Register(ctx, svc, network.Source(0))
	if err != nil {
		return nil, err
	}
	sale, err := organizer.OpenSale(ctx, []rush.SaleType{{Name: "Floor", Quantity: 1_000_000, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer}})
	if err != nil {
		return nil, err
	}
	c := &measurement{cfg: cfg, svc: svc, net: network, organizer: organizer, sale: sale, answers: map[string]int64{}, refused: hdrhistogram.New(1, 60_000_000, 3)}
	r, err := c.compare(ctx)
	if err != nil {
		return nil, err
	}
	r.print(out)
	return r, nil
}

// measurement is what the phases share.
type measurement struct {
	cfg       Config
	svc       client.API
	net       *client.Network
	organizer *rush.Organizer
	sale      *rush.Sale

	mu      sync.Mutex
	answers map[string]int64
	refused *hdrhistogram.Histogram // microseconds
}

// compare measures the orders with and without logins, in turn.
func (c *measurement) compare(ctx context.Context) (*Result, error) {
	var quiet, crowded []openloop.Percentiles
	for range c.cfg.Rounds {
		// A round measures both within a few seconds, so that a change of the machine's speed meets both alike.
		p, err := c.measureOrders(ctx)
		if err != nil {
			return nil, err
		}
		quiet = append(quiet, p)
		// The crowd must be gone before the next round measures orders without it.
		logins, stop := context.WithCancel(ctx)
		var clients sync.WaitGroup
		for i := range c.cfg.Logins {
			clients.Go(func() { c.logInAgainAndAgain(logins, i) })
		}
		p, err = c.measureOrders(ctx)
		stop()
		clients.Wait()
		if err != nil {
			return nil, err
		}
		crowded = append(crowded, p)
	}
	return &Result{
		Quiet: openloop.Medians(quiet), Crowded: openloop.Medians(crowded), Answers: c.answers,
		// This is read without the lock: all clients have ended.
		Refused: openloop.PercentilesOf(c.refused),
	}, nil
}

// measureOrders sends orders for one phase. It fails if any order was refused: the latency of refusals would say
// nothing about the sale.
func (c *measurement) measureOrders(ctx context.Context) (openloop.Percentiles, error) {
	cfg := openloop.Config{Ops: []string{"POST /orders"}}
	st, err := openloop.Run(ctx, cfg, openloop.Constant(c.cfg.Rate, c.cfg.Phase), rand.New(rand.NewPCG(1, 0)),
		func(n int) openloop.Actor { return &oneOrder{measurement: c, n: n} })
	if err != nil {
		return openloop.Percentiles{}, fmt.Errorf("logins: %w", err)
	}
	for e, n := range st.Errors {
		return openloop.Percentiles{}, fmt.Errorf("logins: %d orders were answered %d %s", n, e.Status, e.Code)
	}
	return st.All.Corrected, nil
}

// oneOrder is a buyer who places one order.
type oneOrder struct {
	*measurement
	n int
}

// Step places the order.
func (o *oneOrder) Step(ctx context.Context) openloop.Result {
	body := rush.Encode(rush.PlaceOrder{
		Items: []rush.Item{{TicketTypeID: o.sale.Types[0].ID, Quantity: 1}}, GuestEmail: uuid.NewString() + "@load.test", GuestName: "Load Buyer",
	})
	a := o.svc.Do(ctx, o.net.Source(o.n), client.Call{Method: "POST", Path: "/orders", Key: uuid.NewString(), Body: body}, nil)
	return openloop.Result{Status: a.Status, Code: a.Code, Done: true}
}

// logInAgainAndAgain is one client that logs in again and again until ctx ends. After a refusal it waits as long as
// it is told to. Every second client has a wrong password, which costs the service as much hashing as the right
// one.
func (c *measurement) logInAgainAndAgain(ctx context.Context, i int) {
	password := c.organizer.Password
	if i%2 == 1 {
		password = "wrong-" + password
	}
	body := rush.Encode(map[string]string{"email": c.organizer.Email, "password": password})
	for ctx.Err() == nil {
		began := time.Now()
		a := c.svc.Do(ctx, c.net.Source(i), client.Call{Method: "POST", Path: "/auth/login", Body: body}, nil)
		// The answer to a request that the end of the phase has cut off is nobody's answer.
		if ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		switch {
		case a.OK():
			c.answers["ok"]++
		default:
			c.answers[fmt.Sprintf("%d %s", a.Status, a.Code)]++
		}
		// Only refusals for too many logins are timed. A wrong password is refused after its hashing, which takes
		// its time.
		if a.Status == 429 || a.Status == 503 {
			_ = c.refused.RecordValue(max(1, time.Since(began).Microseconds())) // the value is within the histogram's range
		}
		c.mu.Unlock()
		select {
		case <-time.After(max(a.RetryAfter, 100*time.Millisecond)):
		case <-ctx.Done():
		}
	}
}

// print writes the latencies, the answers to the logins, and the one figure that has a goal.
func (r *Result) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ms\tp50\tp90\tp99\tp99.9\tmax\t")
	row := func(name string, p openloop.Percentiles) {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", name, p.P50, p.P90, p.P99, p.P999, p.Max)
	}
	row("orders", r.Quiet)
	row("orders, with logins", r.Crowded)
	row("logins refused", r.Refused)
	_ = w.Flush() // the owner of out sees its errors
	var answers []string
	for code, n := range r.Answers {
		answers = append(answers, fmt.Sprintf("%s %d", code, n))
	}
	slices.Sort(answers)
	fmt.Fprintf(out, "logins: %s\n", strings.Join(answers, ", "))
	fmt.Fprintf(out, "p99 of orders with logins: %.2f times that without (goal: 2 at most)\n", r.Crowded.P99/r.Quiet.P99)
}

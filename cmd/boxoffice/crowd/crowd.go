// Package crowd plays the buyers of the demo: some hundred who take a hall's seats within seconds, so that a
// visitor can watch what a rush is like. They call the public API over loopback, each from an address of their
// own, as strangers would. They don't pay, so the hall comes free again when their time to pay is over.
//
// One rush runs at a time, and ends by itself within mostTime. The Crowd owns the goroutines of its
// buyers; Stop ends them.
package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
)

const (
	buyers   = 300
	arriving = 10 * time.Second // the time over which the buyers come evenly
	mostTime = time.Minute      // how long a rush may last
)

// Crowd serves the pages that start and show a rush. Its methods may be called by any goroutine.
type Crowd struct {
	api     client.API
	network *client.Network
	base    context.Context // context of every rush; cancel ends it
	cancel  context.CancelFunc
	buyers  sync.WaitGroup

	mu     sync.Mutex
	latest *rush // nil before the first
}

// rush is one rush of the crowd on one event.
type rush struct {
	event         string
	began         time.Time
	ended         atomic.Int64 // nanoseconds after it began; 0 while it runs
	orders, seats atomic.Int64
	left          atomic.Int64 // buyers who went without an order
}

// Figures are the numbers about a rush that the page shows.
type Figures struct {
	Event   string  `json:"event"`
	Running bool    `json:"running"`
	Buyers  int     `json:"buyers"`
	Orders  int64   `json:"orders"`
	Seats   int64   `json:"seats"` // in these orders
	Left    int64   `json:"left"`  // buyers who went without an order
	Seconds float64 `json:"seconds"`
}

// New makes the crowd of a node that listens at an address of this machine. Each buyer has a client address of its own
// and keeps one connection.
func New(listen string) (*Crowd, error) {
	network, err := client.NewNetwork(client.Config{Sources: buyers, PerIdle: 1})
	if err != nil {
		return nil, fmt.Errorf("crowd: %w", err)
	}
	c := &Crowd{api: client.API{Host: listen}, network: network}
	c.base, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Stop ends the rush that runs, and waits for its buyers.
func (c *Crowd) Stop(context.Context) error {
	c.cancel()
	c.buyers.Wait() // every request of theirs ends with the context
	c.network.Close()
	return nil
}

// Serve answers a GET with the figures of the latest rush. A POST starts a rush on the event in the path first. It is
// refused with 403 if it comes from a page of another site, and with 409 if a rush runs, the node is about to stop or
// the event's seat map can't be read or has no seats for sale.
func (c *Crowd) Serve(ctx *fasthttp.RequestCtx) {
	if ctx.IsPost() {
		event, _ := ctx.UserValue("event").(string)
		// A page of another site can send a POST too, but browsers say so.
		if from := string(ctx.Request.Header.Peek("Sec-Fetch-Site")); from != "" && from != "same-origin" {
			ctx.SetStatusCode(fasthttp.StatusForbidden)
			return
		}
		if err := c.start(ctx, event); err != nil {
			ctx.SetStatusCode(fasthttp.StatusConflict)
			return
		}
	}
	body, err := json.Marshal(map[string]any{"data": c.figures()})
	if err != nil {
		ctx.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
	ctx.Response.Header.Set(fasthttp.HeaderCacheControl, "no-store")
	ctx.SetContentType("application/json")
	ctx.SetBody(body)
}

// errBusy says that no rush can begin: another one runs, or the node is about to stop.
var errBusy = errors.New("crowd: a rush runs")

// start begins a rush on an event that has seats. It reads the hall before it takes the lock, because reading
// needs a request to the node. Of two starts at the same time the lock lets one through.
func (c *Crowd) start(ctx context.Context, event string) error {
	asks, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	h, err := c.readHall(asks, event)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.Err() != nil || c.latest != nil && c.latest.ended.Load() == 0 {
		return errBusy
	}
	r := &rush{event: event, began: time.Now()}
	c.latest = r
	c.buyers.Go(func() { c.run(r, h) })
	return nil
}

// run lets all buyers of a rush come, evenly over the time of arriving, and waits until they have gone. Buyers who
// are still there after mostTime give up.
func (c *Crowd) run(r *rush, h *hall) {
	ctx, cancel := context.WithTimeout(c.base, mostTime)
	defer cancel()
	var all sync.WaitGroup
	for i := range buyers {
		b := c.newBuyer(r, h, i)
		all.Go(func() { b.shop(ctx, arriving*time.Duration(i)/buyers) })
	}
	all.Wait()
	r.ended.Store(int64(time.Since(r.began)))
}

// figures returns the figures of the latest rush, or zeros if there was none. They may be read while the rush goes
// on.
func (c *Crowd) figures() *Figures {
	c.mu.Lock()
	r := c.latest
	c.mu.Unlock()
	if r == nil {
		return new(Figures)
	}
	took := time.Duration(r.ended.Load())
	f := &Figures{
		Event: r.event, Running: took == 0, Buyers: buyers, Orders: r.orders.Load(), Seats: r.seats.Load(), Left: r.left.Load(),
	}
	if f.Running {
		took = time.Since(r.began)
	}
	f.Seconds = took.Seconds()
	return f
}

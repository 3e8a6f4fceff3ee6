package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// promoCode is the code that orders of the promo case name: a tenth off, without a limit.
const promoCode = "BENCH"

// linesAtOnce is how many lines an order of the lines case has, each for one ticket of another type.
const linesAtOnce = 8

// measureLines measures orders of several lines. The ledger asks the keepers of all types, and has the
// order when each has said yes.
func (b *bench) measureLines(ctx context.Context) (ordersAt, error) {
	types := make([]rush.SaleType, linesAtOnce)
	for i := range types {
		types[i] = rush.SaleType{Name: fmt.Sprintf("Block %d", i+1), Quantity: plenty, MaxPerOrder: 100, MaxPerCustomer: 1000}
	}
	s, err := b.organizer.OpenSale(ctx, types)
	if err != nil {
		return ordersAt{}, err
	}
	var ids []string
	for i := range s.Types {
		ids = append(ids, s.Types[i].ID)
	}
	return b.saturateWith(ctx, "orders of 8 lines", s, linesAtOnce, nil, func(body []byte, n uint64) []byte { return appendLines(body, ids, n) })
}

// measurePromo measures orders that name a promo code.
func (b *bench) measurePromo(ctx context.Context) (ordersAt, error) {
	s, err := b.sale(ctx, rush.SaleType{Quantity: plenty})
	if err != nil {
		return ordersAt{}, err
	}
	if err := b.organizer.Post(ctx, "/organizer/promo-codes", map[string]any{
		"code": promoCode, "discountType": "percentage", "discountValue": 10, "validFrom": "2020-01-01T00:00:00Z", "validUntil": "2035-01-01T00:00:00Z",
	}, nil); err != nil {
		return ordersAt{}, err
	}
	return b.saturateWith(ctx, "orders with a promo code", s, 1, []byte(`"discount":"250.00"`), func(body []byte, n uint64) []byte {
		order := appendOrder(body, s.Types[0].ID, n)
		return append(order[:len(order)-1], `,"promoCode":"`+promoCode+`"}`...)
	})
}

// saturateWith measures a closed loop of orders whose bodies order appends, each for some tickets, and
// compares what was acknowledged with the stock that is gone. wanted must be in each answer.
func (b *bench) saturateWith(ctx context.Context, name string, s *rush.Sale, tickets int64, wanted []byte, order request) (ordersAt, error) {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return ordersAt{}, err
	}
	k := newKeys()
	c := &closed{
		net: b.net, hosts: []string{svc.Host}, conns: b.cmd.Conns, want: 201, wanted: wanted, numbers: &b.numbers,
		make: func(out []byte, n uint64) []byte {
			var key [36]byte
			var body [1024]byte
			return appendPost(out, svc.Host, "/api/v1/orders", "", string(k.append(key[:0], n)), order(body[:0], n))
		},
		warm: b.cmd.Warm, measure: b.cmd.Measure, cpu: b.cpuOf(b.node.PID), drained: b.caughtUp,
	}
	r, err := c.run(ctx)
	b.disturbed(name, r)
	if err != nil {
		return ordersAt{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := b.auditStock(ctx, svc, []*rush.Sale{s}, r.total*tickets); err != nil {
		return ordersAt{}, fmt.Errorf("%s: %w", name, err)
	}
	return b.costOf(name, r), nil
}

// buyersAtOnce is how many buyers do the whole checkout at a time; each waits for the provider in between.
const buyersAtOnce = 64

// measureCheckout measures the whole way to a ticket: the order, the opening of a payment and its verification, with
// a provider that answers at once. The cost of the provider and of the buyers' calls to it is not counted.
func (b *bench) measureCheckout(ctx context.Context) (ordersAt, error) {
	s, err := b.sale(ctx, rush.SaleType{Quantity: plenty})
	if err != nil {
		return ordersAt{}, err
	}
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return ordersAt{}, err
	}
	web := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: buyersAtOnce}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer web.CloseIdleConnections()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	provider := b.node.Targets()[2] // not one of the other processes that disturb
	sampler := rig.StartSampler(append(b.cpuOf(b.node.PID), provider)...)
	var total atomic.Int64
	var buyers sync.WaitGroup
	k, began := newKeys(), time.Now()
	for i := range buyersAtOnce {
		buyers.Go(func() {
			for time.Since(began) < b.cmd.Warm+b.cmd.Measure && ctx.Err() == nil {
				n := b.numbers.Add(1)
				if err := checkOut(ctx, svc, b.net.Source(i), web, s.Types[0].ID, k, n); err != nil {
					cancel(fmt.Errorf("checkout: %w", err))
					return
				}
				total.Add(1)
			}
		})
	}
	buyers.Wait()
	r := &closedResult{span: time.Since(began), done: total.Load(), total: total.Load()}
	if err = context.Cause(ctx); err == nil {
		err = b.caughtUp(ctx)
	}
	r.usage = sampler.Stop()
	b.disturbed("the whole checkout", r)
	if err != nil {
		return ordersAt{}, err
	}
	if err := b.auditStock(ctx, svc, []*rush.Sale{s}, r.total); err != nil {
		return ordersAt{}, fmt.Errorf("the whole checkout: %w", err)
	}
	return b.costOf("the whole checkout", r), nil
}

// checkOut buys one ticket.
func checkOut(ctx context.Context, svc client.API, from *client.Source, web *http.Client, ticketType string, k keys, n uint64) error {
	var order rush.Order
	call := client.Call{Method: "POST", Path: "/orders", Key: string(k.append(nil, n)), Body: appendOrder(nil, ticketType, n)}
	if a := svc.Do(ctx, from, call, &order); !a.OK() {
		return a.Err()
	}
	token := url.QueryEscape(order.AccessToken)
	var at struct{ AuthorizationURL string }
	if a := svc.Do(ctx, from, client.Call{Method: "POST", Path: "/orders/" + order.ID + "/pay?token=" + token, Body: []byte(`{"provider":"paystack"}`)}, &at); !a.OK() {
		return a.Err()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.AuthorizationURL, strings.NewReader(`{"outcome":"success"}`))
	if err != nil {
		return fmt.Errorf("checkout page: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := web.Do(req)
	if err != nil {
		return fmt.Errorf("checkout page: %w", err)
	}
	_ = res.Body.Close() // only the status matters
	if res.StatusCode >= 400 {
		return fmt.Errorf("checkout page: %s", res.Status)
	}
	call = client.Call{Method: "POST", Path: "/payments/verify?token=" + token, Body: rush.Encode(map[string]string{"orderId": order.ID})}
	if a := svc.Do(ctx, from, call, &order); !a.OK() {
		return a.Err()
	}
	if order.Status != rush.Completed || len(order.Tickets) != 1 {
		return fmt.Errorf("order %s is %s with %d tickets", order.ID, order.Status, len(order.Tickets))
	}
	return nil
}

// costOf returns a case without latencies.
func (b *bench) costOf(name string, r *closedResult) ordersAt {
	at := ordersAt{RPS: round(r.rps()), ServerCPU: round(r.micros(0)), PgCPU: round(r.micros(1))}
	say("%s: %.0f/s; server %.1f us, Postgres %.1f us", name, at.RPS, at.ServerCPU, at.PgCPU)
	return at
}

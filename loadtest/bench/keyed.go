package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
)

// keyedAt is what the log of requests costs.
type keyedAt struct {
	Without float64 `json:"without_us"` // CPU of a read without a key, node and Postgres
	With    float64 `json:"with_us"`    // of the same read with one
	Share   float64 `json:"share"`      // of the machine's processors that the difference takes at calm
}

// calm is how many requests of keys a second the log's goal is for: below it none of them is dropped.
const calm = 10_000

// measureKeyed measures reads of an event's ticket types from memory, without an API key and with one,
// whose requests are logged.
func (b *bench) measureKeyed(ctx context.Context) error {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return err
	}
	sale, err := b.organizer.OpenSale(ctx, []rush.SaleType{{Name: "Any", Quantity: plenty, MaxPerOrder: 10, MaxPerCustomer: 10}})
	if err == nil {
		err = b.organizer.UseKey(ctx)
	}
	if err != nil {
		return err
	}
	at := &keyedAt{}
	b.result.Keyed = at
	for _, one := range []struct {
		header string
		micros *float64
	}{{"", &at.Without}, {"Authorization: Bearer " + b.organizer.Bearer + "\r\n", &at.With}} {
		get := fmt.Appendf(nil, "GET /api/v1/events/%s/tickets HTTP/1.1\r\nHost: %s\r\n%s\r\n", url.PathEscape(sale.EventID), svc.Host, one.header)
		c := &closed{
			net: b.net, hosts: []string{svc.Host}, conns: 16, want: 200, numbers: &b.numbers, warm: b.cmd.Warm, measure: b.cmd.Measure,
			cpu: b.cpuOf(b.node.PID), make: func(out []byte, _ uint64) []byte { return append(out, get...) },
			drained: func(ctx context.Context) error { wait(ctx, 2*time.Second); return context.Cause(ctx) }, // the log writes once a second
		}
		r, err := c.run(ctx)
		b.disturbed("reads with an API key", r)
		if err != nil {
			return fmt.Errorf("reads with an API key: %w", err)
		}
		*one.micros = round(r.micros(0) + r.micros(1))
	}
	at.Share = round((at.With - at.Without) * calm / 1e6 / float64(b.result.Machine.Cores))
	say("a read of ticket types: %.1f us, %.1f us with an API key and its log: %.1f %% of the processors at %d a second (goal: 1.0 at most)",
		at.Without, at.With, 100*at.Share, calm)
	return nil
}

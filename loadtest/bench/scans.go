package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
)

// scanCodes buys free tickets and returns their door codes.
func (b *bench) scanCodes(ctx context.Context, svc client.API, s *rush.Sale, want int) ([]string, error) {
	var codes []string
	for n := 0; len(codes) < want; n++ {
		var order struct {
			Tickets []struct {
				ShortCode string `json:"shortCode"`
			} `json:"tickets"`
		}
		body := strings.Replace(string(appendOrder(nil, s.Types[0].ID, b.numbers.Add(1))), `"quantity":1`, `"quantity":100`, 1)
		key := string(newKeys().append(nil, uint64(n)))
		a := svc.Do(ctx, b.net.Source(n), client.Call{Method: "POST", Path: "/orders", Key: key, Body: []byte(body)}, &order)
		if !a.OK() {
			return nil, fmt.Errorf("tickets to scan: %w", a.Err())
		}
		if len(order.Tickets) == 0 {
			return nil, fmt.Errorf("tickets to scan: a free order answers without its tickets")
		}
		for _, t := range order.Tickets {
			codes = append(codes, t.ShortCode)
		}
	}
	return codes, nil
}

// measureScans admits every ticket once, at one event, and compares the gate's counter with what was answered.
func (b *bench) measureScans(ctx context.Context) error {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return err
	}
	s, err := b.sale(ctx, rush.SaleType{Quantity: plenty, Free: true})
	if err != nil {
		return err
	}
	codes, err := b.scanCodes(ctx, svc, s, b.cmd.Scans)
	if err != nil {
		return err
	}
	c := &closed{
		net: b.net, hosts: []string{svc.Host}, conns: b.cmd.Conns, want: 200, numbers: &b.numbers,
		make: scans(svc.Host, b.organizer.Bearer, s.EventID, codes, b.numbers.Load()+1),
		cpu:  b.cpuOf(b.node.PID), wanted: []byte(`"status":"success"`), drained: b.caughtUp,
	}
	r, err := c.run(ctx)
	b.disturbed("scans", r)
	if err != nil {
		return fmt.Errorf("scans: %w", err)
	}
	var stats struct {
		CheckedIn int64 `json:"checkedIn"`
	}
	path := "/checkin/event/" + url.PathEscape(s.EventID) + "/stats"
	if a := svc.Do(ctx, b.net.Source(0), client.Call{Method: "GET", Path: path, Bearer: b.organizer.Bearer}, &stats); !a.OK() {
		return fmt.Errorf("scans: %w", a.Err())
	}
	if stats.CheckedIn != r.total {
		return fmt.Errorf("scans: audit: %d were admitted and the gate counts %d", r.total, stats.CheckedIn)
	}
	b.result.ScansRPS, b.result.ScanServer, b.result.ScanPg = round(r.rps()), round(r.micros(0)), round(r.micros(1))
	say("scans at one event: %.0f/s; server %.1f us, Postgres %.1f us", r.rps(), r.micros(0), r.micros(1))
	return nil
}

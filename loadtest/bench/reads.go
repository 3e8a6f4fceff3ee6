package main

import (
	"context"
	"fmt"
	"strings"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
)

// readAt is one case of reads: gzipped, by callers without credentials.
type readAt struct {
	RPS   float64 `json:"rps"`
	CPU   float64 `json:"cpu_us"`
	Share float64 `json:"share_of_echo"` // of the echo's peak; 0: the echo was not measured
}

// measureMap measures visitors who read the drawing of a map of 20,000 seats, and the part of the map that changes.
func (b *bench) measureMap(ctx context.Context) error {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return err
	}
	sale, err := b.organizer.OpenSale(ctx, []rush.SaleType{{Name: "Seat", Quantity: 1, MaxPerOrder: 10, MaxPerCustomer: 10}, {Name: "House seat", Quantity: 1, MaxPerOrder: 10, MaxPerCustomer: 10}})
	if err != nil {
		return err
	}
	house, err := b.organizer.SeatBy(ctx, sale, "arena", 3600)
	if err != nil {
		return err
	}
	live := strings.TrimSuffix(house.Path, "/seats") + "/seatmap?live=true"
	var seats struct{ DrawingURL string }
	if a := svc.Do(ctx, b.net.Source(0), client.Call{Method: "GET", Path: live}, &seats); !a.OK() {
		return a.Err()
	}
	always := func(path string) func(uint64) string { return func(uint64) string { return path } }
	if b.result.Drawing, err = b.readsCase(ctx, svc.Host, "the drawing of 20,000 seats", always(seats.DrawingURL)); err != nil {
		return err
	}
	b.result.LiveMap, err = b.readsCase(ctx, svc.Host, "the part of their map that changes", always("/api/v1"+live))
	return err
}

// readsCase measures GET of the path of each request.
func (b *bench) readsCase(ctx context.Context, host, name string, path func(n uint64) string) (readAt, error) {
	c := &closed{
		net: b.net, hosts: []string{host}, conns: b.cmd.Conns, want: 200, numbers: &b.numbers,
		make: func(b []byte, n uint64) []byte {
			return fmt.Appendf(b, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: gzip\r\n\r\n", path(n), host)
		},
		warm: b.cmd.Warm, measure: b.cmd.Measure, cpu: b.cpuOf(b.node.PID),
	}
	r, err := c.run(ctx)
	b.disturbed(name, r)
	if err != nil {
		return readAt{}, fmt.Errorf("%s: %w", name, err)
	}
	at := readAt{RPS: round(r.rps()), CPU: round(r.micros(0))}
	if b.result.EchoRPS > 0 {
		at.Share = round(r.rps() / b.result.EchoRPS)
	}
	say("%s: %.0f/s, %.2f of the echo; server %.1f us (the echo's %.1f)", name, at.RPS, at.Share, at.CPU, b.result.EchoCPU)
	return at, nil
}

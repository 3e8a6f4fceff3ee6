package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/engine"
)

const (
	echoPath    = "/api/v1/bench/echo"
	rowlockPath = "/api/v1/bench/orders"
)

// serverCmd is the process that serves the echo and the row-lock design behind the real edge.
type serverCmd struct {
	Listen   string `required:""`
	Database string `help:"Connection string; without it, only the echo."`
	Variant  string `enum:"function,cte" default:"function"`
	Pool     int32  `default:"16"`
}

// Run serves until a signal.
func (c *serverCmd) Run(ctx context.Context) error {
	ops := []route.Op{{
		Method: "POST", Path: echoPath, ID: "echo", Summary: "Answer at once", Tag: "Bench", Auth: route.Public,
		Tier: route.TierStrict, Idempotency: route.ByActor, Status: 201, Errors: []engine.Code{}, Handler: route.Handle(echo),
	}}
	if c.Database != "" {
		r, err := openRowlock(ctx, c.Database, c.Variant, c.Pool)
		if err != nil {
			return err
		}
		defer r.pool.Close()
		ops = append(ops, route.Op{
			Method: "POST", Path: rowlockPath, ID: "rowlockOrder", Summary: "Place an order", Tag: "Bench", Auth: route.Public,
			Tier: route.TierStrict, Idempotency: route.ByActor, Status: 201, Errors: []engine.Code{}, Timeout: time.Minute, Handler: route.Handle(r.place),
		})
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	//nolint:contextcheck // requests end with the server, not with this
	s, err := server.New(server.Config{Ops: ops, Limits: buckets.New(1_000_000, nil), Log: log, Metrics: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.Start(ln)
	select {
	case <-ctx.Done():
	case err = <-s.Failed():
		return err
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return s.Stop(stop)
}

// echo reads and checks an order, and answers with one without doing anything else.
func echo(c *route.Call, in *api.PlaceOrder) (*api.Order, error) {
	return orderRecord(c.IdempotencyKey, "pending", c.Now, in, cents*105/100), nil
}

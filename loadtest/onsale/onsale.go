// Package onsale is the scenario of the opening of a sale: a rush of buyers against any node, and
// its audit. Run returns when every goroutine and process that it started has ended.
package onsale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest onsale`.
type Config struct {
	rush.Config `embed:""`
	Target      string `help:"http://host:port of the service. Without it, a node is started for the run."`
	Paysim      string `help:"http://host:port of the payment simulator. Default: where the service sends buyers."`
	Remote      bool   `help:"The target may be another machine that is yours; it must trust our X-Forwarded-For."`
	ServerPID   int    `name:"server-pid" help:"Process of the service, to measure its CPU."`
	PostgresPID int    `name:"postgres-pid" help:"Postmaster, to measure the CPU of its tree."`
}

// Run runs the opening of a sale against a service and audits it. Progress and the report's tables
// go to out, the report's files to cfg.Out. The error is rush.ErrFindings, or the reason why there
// is no report.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("onsale: %w", err)
	}
	// A service that is not ours is measured only if its processes are named.
	targets := []rig.Target{
		{Name: "server", PID: rig.FixedPID(cfg.ServerPID)},
		{Name: "postgres", PID: rig.FixedPID(cfg.PostgresPID), Tree: true},
	}
	if cfg.Target == "" {
		node, stop, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, cfg.NodeEnv()...)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
		cfg.Target, cfg.Paysim = node.URL, node.Paysim
		targets = node.Targets()
	}
	svc, err := client.ParseTarget(cfg.Target)
	if err != nil {
		return nil, err
	}
	s, err := rush.OpenSession(ctx, cfg.Config, svc, cfg.Remote, 0)
	if err != nil {
		return nil, err
	}
	// The session ends before the node that it talks to.
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	r := s.NewReport("On-sale rush", cfg.Target, cfg)
	if err := s.Measure(ctx, r, targets, out, nil); err != nil {
		return nil, err
	}
	return r, s.Conclude(ctx, r, cfg.Paysim, cfg.Out, out, log)
}

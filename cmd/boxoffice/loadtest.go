package main

import (
	"context"
	"os"

	"boxoffice/loadtest"
)

type loadtestCmd struct {
	Onsale onsaleCmd `cmd:"" help:"An open-loop rush of buyers, and its audit."`
	Crash  crashCmd  `cmd:"" help:"The same while the node and Postgres are killed."`
}

type onsaleCmd struct{ loadtest.OnsaleConfig }

// Run rushes a node and fails when the audit finds anything.
func (c *onsaleCmd) Run(ctx context.Context) error {
	_, err := loadtest.Onsale(ctx, c.OnsaleConfig, os.Stdout, logger(0))
	return err
}

type crashCmd struct{ loadtest.CrashConfig }

// Run rushes a node of its own that is killed again and again.
func (c *crashCmd) Run(ctx context.Context) error {
	_, err := loadtest.Crash(ctx, c.CrashConfig, os.Stdout, logger(0))
	return err
}

package main

import (
	"context"
	"os"

	"boxoffice/loadtest"
)

type loadtestCmd struct {
	Onsale onsaleCmd `cmd:"" help:"An open-loop rush of buyers, and its audit."`
	Crash  crashCmd  `cmd:"" help:"The same while the node and Postgres are killed."`
	Logins loginsCmd `cmd:"" help:"Orders with and without a crowd that logs in."`
	Seats  seatsCmd  `cmd:"" help:"Shoppers after the seats of one house, watched by a crowd, and their audit."`
	Facts  factsCmd  `cmd:"" help:"The way of the facts, by Kafka or without, while what is on it is killed."`
	Poison poisonCmd `cmd:"" help:"A rush while extreme requests arrive at every operation, and its audit."`
	Chaos  chaosCmd  `cmd:"" help:"Clients of a cluster whose nodes, Postgres and network are injured in all ways, and their audit."`

	Webhooks webhooksCmd `cmd:"" help:"Facts delivered to endpoints of which some hang, fail, redirect or drip, and their audit."`

	Viewers viewersCmd `cmd:"" help:"A crowd that watches one map, with and without members who stop reading."`
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

type loginsCmd struct{ loadtest.LoginsConfig }

// Run measures what a crowd that logs in costs those who buy.
func (c *loginsCmd) Run(ctx context.Context) error {
	_, err := loadtest.Logins(ctx, c.LoginsConfig, os.Stdout, logger(0))
	return err
}

type seatsCmd struct{ loadtest.SeatsConfig }

// Run lets shoppers and viewers at a house on a node of its own.
func (c *seatsCmd) Run(ctx context.Context) error {
	_, err := loadtest.Seats(ctx, c.SeatsConfig, os.Stdout, logger(0))
	return err
}

type viewersCmd struct{ loadtest.ViewersConfig }

// Run measures what viewers cost, and what slow ones cost the others.
func (c *viewersCmd) Run(ctx context.Context) error {
	_, err := loadtest.Viewers(ctx, c.ViewersConfig, os.Stdout, logger(0))
	return err
}

type webhooksCmd struct{ loadtest.WebhooksConfig }

// Run has a node of its own deliver, and fails when the audit finds anything.
func (c *webhooksCmd) Run(ctx context.Context) error {
	return loadtest.Webhooks(ctx, c.WebhooksConfig, os.Stdout, logger(0))
}

type factsCmd struct{ loadtest.FactsConfig }

// Run rushes a node of its own and follows every fact to its effect.
func (c *factsCmd) Run(ctx context.Context) error {
	_, err := loadtest.Facts(ctx, c.FactsConfig, os.Stdout, logger(0))
	return err
}

type poisonCmd struct{ loadtest.PoisonConfig }

// Run rushes a node of its own among poison, and fails when an audit finds anything.
func (c *poisonCmd) Run(ctx context.Context) error {
	_, err := loadtest.Poison(ctx, c.PoisonConfig, os.Stdout, logger(0))
	return err
}

type chaosCmd struct{ loadtest.ChaosConfig }

// Run injures a cluster of its own and fails when the audit finds anything.
func (c *chaosCmd) Run(ctx context.Context) error {
	_, err := loadtest.Chaos(ctx, c.ChaosConfig, os.Stdout, logger(0))
	return err
}

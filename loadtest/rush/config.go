package rush

import (
	"fmt"
	"time"

	"boxoffice/loadtest/openloop"
)

// Config tells what rush of buyers is made. kong reads the tags.
type Config struct {
	Buyers       int           `default:"20000" help:"Most buyers; 0: as many as the rate brings."`
	Tickets      int           `default:"10000" help:"Tickets on sale, over all types."`
	Types        int           `default:"3" help:"Ticket types; every second one is free."`
	Rate         float64       `default:"300" help:"Buyers arriving per second, at the peak."`
	Shape        string        `default:"spike" enum:"spike,constant,poisson,ramp" help:"How they arrive: ${enum}."`
	Ramp         time.Duration `default:"5s" help:"Time from the first buyer to the peak (spike, ramp)."`
	Duration     time.Duration `default:"60s" help:"How long buyers arrive."`
	Think        time.Duration `default:"500ms" help:"Mean pause between two steps of a buyer."`
	Abandon      float64       `default:"0.1" help:"Share of orders that are never paid."`
	Cancel       float64       `default:"0.05" help:"Share of orders that the buyer cancels."`
	Duplicate    float64       `default:"0.05" help:"Share of buyers who send the same order twice at once."`
	Returning    float64       `default:"0.05" help:"Share of buyers who come back under an e-mail address already used."`
	Clients      int           `default:"1000" help:"Client addresses."`
	Timeout      time.Duration `default:"10s" help:"Of one request."`
	Patience     time.Duration `default:"30s" help:"How long a buyer repeats one request."`
	Agree        time.Duration `default:"15s" help:"How long, in the audit, stock and money may take to agree with the orders."`
	Seed         uint64        `default:"1" help:"Of everything random."`
	SLO          time.Duration `name:"slo" default:"100ms" help:"The p99 that the run is judged by."`
	MaxLag       float64       `default:"0.05" help:"Send-lag p99, as a share of the SLO, above which the run is invalid."`
	Out          string        `default:"loadtest-report" type:"path" help:"Directory of the report."`
	Webhooks     bool          `help:"Have everything that is told of the sale delivered to an endpoint of the harness's own, and audit what arrives. A target must allow private webhooks."`
	HookPatience time.Duration `default:"30s" help:"How long, in the audit, nothing more must arrive before what is missing counts as lost."`
	Plain        bool          `env:"CI" help:"Plain lines instead of a progress bar."`
}

// NodeEnv returns the environment variables that a node needs for this run.
func (c *Config) NodeEnv() []string {
	if !c.Webhooks {
		return nil
	}
	return []string{PrivateWebhooks}
}

// schedule returns when the buyers arrive.
func (c *Config) schedule() openloop.Schedule {
	var s openloop.Schedule
	switch c.Shape {
	case "constant":
		s = openloop.Constant(c.Rate, c.Duration)
	case "poisson":
		s = openloop.Poisson(c.Rate, c.Duration)
	case "ramp":
		s = openloop.Ramp(c.Rate, c.Ramp, c.Duration)
	default:
		s = openloop.Spike(c.Rate, c.Ramp, c.Duration)
	}
	s.Limit = c.Buyers
	return s
}

// engine returns how the run is driven and judged. After the last arrival, buyers have their
// patience and one timeout to finish.
func (c *Config) engine() openloop.Config {
	return openloop.Config{Ops: OpNames, SLO: c.SLO, MaxLagShare: c.MaxLag, Drain: c.Patience + c.Timeout}
}

// Validate refuses a run that could not work. kong calls it, and so do the runs themselves.
func (c *Config) Validate() error {
	switch {
	case c.Types < 1 || c.Tickets < c.Types:
		return fmt.Errorf("%d tickets of %d types: each type needs at least one", c.Tickets, c.Types)
	case c.Rate <= 0 || c.Duration <= 0:
		return fmt.Errorf("rate %g for %v: no buyer would come", c.Rate, c.Duration)
	case c.Abandon+c.Cancel > 1:
		return fmt.Errorf("abandon %g and cancel %g are more than all orders", c.Abandon, c.Cancel)
	}
	return nil
}

// PrivateWebhooks is the variable that lets a node send webhooks to the harness, whose address is
// private.
const PrivateWebhooks = "BOXOFFICE_WEBHOOK_ALLOW_PRIVATE=true"

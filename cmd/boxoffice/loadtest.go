package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"boxoffice/loadtest/bookings"
	"boxoffice/loadtest/broadcast"
	"boxoffice/loadtest/chaos"
	"boxoffice/loadtest/crash"
	"boxoffice/loadtest/facts"
	"boxoffice/loadtest/gates"
	"boxoffice/loadtest/logins"
	"boxoffice/loadtest/million"
	"boxoffice/loadtest/money"
	"boxoffice/loadtest/onsale"
	"boxoffice/loadtest/overload"
	"boxoffice/loadtest/poison"
	"boxoffice/loadtest/room"
	"boxoffice/loadtest/seats"
	"boxoffice/loadtest/transfers"
	"boxoffice/loadtest/waitlist"
	"boxoffice/loadtest/webhooks"
)

// loadtestCmd has a command for each scenario. newLoadtestCmd makes it.
type loadtestCmd struct {
	Onsale scenario[onsale.Config] `cmd:"" help:"An open-loop rush of buyers, and its audit."`
	Crash  scenario[crash.Config]  `cmd:"" help:"The same while the node and Postgres are killed."`
	Logins scenario[logins.Config] `cmd:"" help:"Orders with and without a crowd that logs in."`
	Room   scenario[room.Config]   `cmd:"" help:"Ten times what the node takes, without a waiting room and through one, and its audit."`
	Seats  scenario[seats.Config]  `cmd:"" help:"Shoppers after the seats of one house, watched by a crowd, and their audit."`
	Gates  scenario[gates.Config]  `cmd:"" help:"An evening at many gates that lose their network and the node, and its audit."`
	Money  scenario[money.Config]  `cmd:"" help:"Payments that go wrong in all ways while the node and Postgres are killed, and the comparison of all books."`
	Facts  scenario[facts.Config]  `cmd:"" help:"The way of the facts, by Kafka or without, while what is on it is killed."`
	Poison scenario[poison.Config] `cmd:"" help:"A rush while extreme requests arrive at every operation, and its audit."`
	Chaos  scenario[chaos.Config]  `cmd:"" help:"Clients of a cluster whose nodes, Postgres and network are injured in all ways, and their audit."`

	Transfers scenario[transfers.Config] `cmd:"" help:"Tickets that are offered, claimed, taken back and scanned all at once, at several nodes, and their audit."`
	Waitlist  scenario[waitlist.Config]  `cmd:"" help:"What comes free of a sold-out type while people wait in line and others pass by, and its audit."`
	Bookings  scenario[bookings.Config]  `cmd:"" help:"Customers after the places of dates and slots while the node is killed, and their audit."`
	Broadcast scenario[broadcast.Config] `cmd:"" help:"A broadcast among the confirmations of a sale while the node is killed, and its audit."`

	Overload scenario[overload.Config] `cmd:"" help:"Three times the orders that the node takes, with nothing before it, and their audit."`
	Million  scenario[million.Config]  `cmd:"" help:"A million orders for the areas of five events, of which nearly all are refused as sold out, and their audit."`

	Webhooks scenario[webhooks.Config] `cmd:"" help:"Facts delivered to endpoints of which some hang, fail, redirect or drip, and their audit."`

	Viewers scenario[seats.ViewersConfig] `cmd:"" help:"A crowd that watches one map, with and without members who stop reading."`
}

// newLoadtestCmd connects each command with the function that it runs. A function cannot stand in a
// struct tag, where the flags are.
func newLoadtestCmd() loadtestCmd {
	return loadtestCmd{
		Onsale: newScenario(onsale.Run), Crash: newScenario(crash.Run), Logins: newScenario(logins.Run), Room: newScenario(room.Run), Seats: newScenario(seats.Run),
		Facts: newScenario(facts.Run), Poison: newScenario(poison.Run), Chaos: newScenario(chaos.Run), Webhooks: newScenario(webhooks.Run),
		Viewers: newScenario(seats.RunViewers), Gates: newScenario(gates.Run), Money: newScenario(money.Run),
		Transfers: newScenario(transfers.Run), Waitlist: newScenario(waitlist.Run),
		Bookings: newScenario(bookings.Run), Broadcast: newScenario(broadcast.Run),
		Overload: newScenario(overload.Run), Million: newScenario(million.Run),
	}
}

// AfterApply makes the load generator collect its garbage less often. A pause of the generator
// would count as a pause of the node that it measures. kong calls it once the flags are read.
func (*loadtestCmd) AfterApply() error {
	debug.SetGCPercent(400)
	return nil
}

// scenario is the command of one scenario. The fields of its configuration are the command's flags.
type scenario[C any] struct {
	Config C `embed:""`

	run func(ctx context.Context, cfg C, out io.Writer, log *slog.Logger) error
}

// newScenario makes a command of a scenario's function. It drops the result, because the function
// has printed it. The function's error tells if the audit found a fault.
func newScenario[C, R any](run func(ctx context.Context, cfg C, out io.Writer, log *slog.Logger) (R, error)) scenario[C] {
	return scenario[C]{run: func(ctx context.Context, cfg C, out io.Writer, log *slog.Logger) error {
		_, err := run(ctx, cfg, out, log)
		return err
	}}
}

// Validate refuses flags that contradict each other, if the scenario's configuration has a check
// for that. kong calls it once the flags are read.
func (s *scenario[C]) Validate() error {
	if checked, ok := any(&s.Config).(interface{ Validate() error }); ok {
		return checked.Validate()
	}
	return nil
}

// Run runs the scenario. It returns an error if the scenario's audit found a fault.
func (s *scenario[C]) Run(ctx context.Context) error {
	return s.run(ctx, s.Config, os.Stdout, logger(0))
}

// watchCmd is a process of viewers that loadtest viewers starts, and tells on standard input what to
// do. Its name is seats.WatchCommand.
type watchCmd struct{}

// Run is told what to do until standard input ends.
func (watchCmd) Run(ctx context.Context) error { return seats.Watch(ctx, os.Stdin, os.Stdout) }

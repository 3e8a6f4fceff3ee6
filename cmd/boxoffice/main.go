// Command boxoffice is the only binary of the ticketing engine: the node, and the tools around it.
// Only this package reads flags and the environment, handles signals and ends the process.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"boxoffice/cmd/boxoffice/node/heap"
	"boxoffice/edge/hasher"
	"boxoffice/edge/images"
)

// cli is the command line. It has a field for each command; the field's tags have the command's
// name and its help. Hidden commands are started by other commands and never by people.
type cli struct {
	Serve    serveCmd      `cmd:"" default:"withargs" help:"Run a node (the default)."`
	Migrate  migrateCmd    `cmd:"" help:"Bring the database's schema up to date."`
	Keys     keysCmd       `cmd:"" help:"The keys that sign access tokens."`
	Verify   verifyCmd     `cmd:"" help:"Mark an organization as known to the platform."`
	Transfer transferCmd   `cmd:"" help:"Which organizations are paid by bank transfer."`
	Status   statusCmd     `cmd:"" help:"Show nodes, journal and followers, from the database alone."`
	Shards   shardsCmd     `cmd:"" help:"Move a shard of the journal to another server."`
	SetAside setAsideCmd   `cmd:"" help:"The facts that a follower could not digest."`
	Audit    auditCmd      `cmd:"" help:"Replay every stream and check every invariant."`
	OpenAPI  openapiCmd    `cmd:"" name:"openapi" help:"Print the OpenAPI document."`
	Draw     verifyDrawCmd `cmd:"" name:"verify-draw" help:"Check the draw of a waiting room, or a receipt's place in it, without asking anybody."`
	Venue    venueCmd      `cmd:"" name:"venue-sample" help:"Print a sample of a venue map, or share it with all organizations."`
	Paysim   paysimCmd     `cmd:"" help:"Run the simulator of the payment provider."`
	Postgres postgresCmd   `cmd:"" help:"Run a private Postgres for nodes that share it, and print where it is."`
	Cluster  clusterCmd    `cmd:"" help:"Run several nodes on this machine, with all that they need."`
	Gate     gateCmd       `cmd:"" help:"Be a device at a gate: read codes from standard input, and decide with the network or without."`
	Listen   listenCmd     `cmd:"" help:"Send a test organization's webhooks to a program on this machine."`
	Trigger  triggerCmd    `cmd:"" help:"Make something happen that webhooks tell, at a service whose payments are simulated."`
	Loadtest loadtestCmd   `cmd:"" help:"Rush a node and audit what it sold."`
	Hash     hashCmd       `cmd:"" hidden:"" help:"Make the password hashes that a node asks for on standard input."`
	Image    imageCmd      `cmd:"" hidden:"" help:"Make the sizes of an image that a node names."`
	Consume  consumeCmd    `cmd:"" hidden:"" help:"Take facts in, for loadtest facts."`
	Watch    watchCmd      `cmd:"" hidden:"" help:"Be viewers of a live map, for loadtest viewers."`
}

// hashCmd is the command that a node starts to hash passwords. Hashing runs in a process of low
// priority, so that it cannot hold up a sale. Its name is hasher.Command.
type hashCmd struct{}

// Run makes hashes until its node closes standard input.
func (hashCmd) Run() error { return hasher.Serve(os.Stdin, os.Stdout) }

// imageCmd is the command that a node starts to make the sizes of an image. A process of its own
// decodes the pictures of strangers, so that a harmful picture cannot hurt the node. Its name is
// images.Command.
type imageCmd struct {
	Type   string `arg:""`
	Path   string `arg:""`
	Folder string `arg:""`
}

// Run makes the sizes of one image and ends.
func (c imageCmd) Run() error { return images.Work(c.Type, c.Path, c.Folder, os.Stdout) }

// main runs the command and ends the process with 1 if it fails. An interrupt or SIGTERM ends the
// command's context, which lets the command stop in order.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := cli{Loadtest: newLoadtestCmd()}
	k := parse(&c, os.Args[1:], kong.BindTo(ctx, (*context.Context)(nil)))
	if !slices.Contains([]string{hasher.Command, images.Command}, k.Selected().Name) { // Those two need much memory for a short time.
		heap.CollectSeldom()
	}
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "boxoffice:", err)
		os.Exit(1) //nolint:gocritic // the deferred stop only restores signals
	}
}

// parse reads the command line. It ends the process with one line of output if the command line is
// wrong.
func parse(c *cli, args []string, options ...kong.Option) *kong.Context {
	options = append(options, kong.Name("boxoffice"), kong.Description("A ticketing engine for on-sale rushes."))
	parser := kong.Must(c, options...)
	k, err := parser.Parse(args)
	if err != nil {
		parser.Fatalf("%s (boxoffice --help lists the commands)", err)
	}
	return k
}

// logger returns a logger that writes one JSON line for each event to standard error.
func logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

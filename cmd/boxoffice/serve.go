package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"boxoffice/cmd/boxoffice/node"
)

// serveCmd runs a node. Its flags are the node's configuration, which can also be set by the
// environment.
type serveCmd struct{ node.Config }

// Run starts a node and keeps it until a signal or a failure ends it. After a signal the node hands
// its events over to other nodes before it stops. After a failure it stops at once, because it may
// be unable to hand over.
func (c *serveCmd) Run(ctx context.Context) error {
	log := logger(c.LogLevel)
	c.Print(log)
	// Only a node with a private Postgres and a demo lets visitors start a simulated crowd. Such a node is one
	// that somebody tries out on one machine.
	c.Crowd = c.Private() && c.Demo
	n := node.New(&c.Config, log)
	err := n.Start(ctx)
	if err == nil {
		err = printWelcome(ctx, n)
	}
	if err == nil {
		err = n.Wait(ctx)
	}
	if err == nil {
		n.HandOver(ctx)
	}
	// A signal has ended ctx, so stopping has a deadline of its own.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), node.StopTime)
	defer cancel()
	if err = errors.Join(err, n.Stop(stop)); err == nil {
		log.InfoContext(stop, "stopped")
	}
	return err
}

// printWelcome prints the addresses to open and what to try. A new private node first gets a demo
// to look at.
func printWelcome(ctx context.Context, n *node.Node) error {
	var shown *demo
	if n.Config().Private() && n.Config().Demo {
		var err error
		if shown, err = makeDemo(ctx, "http://"+n.Config().Listen+"/api/v1"); err != nil {
			return err
		}
	}
	base := n.Config().BaseURL
	fmt.Fprintf(os.Stdout, "\nBoxoffice %s is ready.\n\n", node.Version)
	fmt.Fprintf(os.Stdout, "  Shop       %s/    (what is on sale: click here)\n", base)
	fmt.Fprintf(os.Stdout, "  API        %s/api/v1    (README.md has a walk with curl)\n", base)
	fmt.Fprintf(os.Stdout, "  Docs       %s/docs    (read it and try it; a guide at %s/docs/guide, the document at %s/api/v1/openapi.json)\n", base, base, base)
	metrics := n.MetricsAddr()
	if metrics == "" {
		metrics = n.Config().Listen // for this machine
	}
	fmt.Fprintf(os.Stdout, "  Health     %s/readyz   http://%s/metrics\n", base, metrics)
	if n.Sim() != nil {
		fmt.Fprintf(os.Stdout, "  Payments   at a simulator, %s: its page opens when you pay; no money moves\n", n.Sim().URL())
	}
	if n.Mailbox() != nil {
		fmt.Fprintf(os.Stdout, "  Mail       %s/dev/mail    (captured: none is sent)\n", base)
	}
	if n.Config().Private() && n.Config().Demo && shown == nil {
		fmt.Fprintf(os.Stdout, "\n  The account of the first start is %s: its password was shown then, and its events are in the shop\n", demoEmail)
	}
	if shown != nil {
		fmt.Fprintf(os.Stdout, "\n  A demo organization sells %s\n  and seats at %s%s    (watch a rush there: 300 simulated buyers)\n", shown.event, base, shown.seats)
		fmt.Fprintf(os.Stdout, "  Its account is %s, password %s\n", demoEmail, shown.password)
	}
	fmt.Fprintln(os.Stdout)
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/attendees"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

// setAsideCmd is about facts that a follower could not digest and set aside. It shows them, and
// makes the followers try them again.
type setAsideCmd struct {
	List  asidesCmd     `cmd:"" help:"Show them, with what was wrong."`
	Retry asideRetryCmd `cmd:"" help:"Have the running nodes apply them again, in order, once the mistake has been mended."`
}

// asideSelection has the flags that select facts which were set aside. Without flags all are
// selected.
type asideSelection struct {
	Follower string `help:"Only what this follower has set aside: readmodel, facts, mail, attendees, or kafka:<topic>."`
	Stream   int64  `help:"Only facts of the stream of this number."`
}

// selection returns the flags in the form that package follower takes.
func (s asideSelection) selection() follower.Selection {
	return follower.Selection{Follower: s.Follower, Stream: s.Stream}
}

// asidesCmd lists the facts that were set aside.
type asidesCmd struct {
	database
	asideSelection
	JSON  bool `name:"json" help:"Print JSON instead of a table."`
	Limit int  `default:"1000" help:"How many to show."`
}

// Run lists the facts that were set aside. It asks only the database, so it works while no node
// runs.
func (c *asidesCmd) Run(ctx context.Context) error {
	pool, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	asides, err := follower.Asides(ctx, pool, c.selection(), c.Limit)
	if err != nil {
		return err
	}
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(asides)
	}
	return printAsides(os.Stdout, asides)
}

// printAsides writes a table of facts that are set aside.
func printAsides(out io.Writer, asides []follower.Aside) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FOLLOWER\tSTREAM\tSEQ\tAGGREGATE\tTYPE\tSINCE\tATTEMPTS\tERROR")
	for _, a := range asides {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%d\t%.200q\n",
			a.Follower, a.Stream, a.Seq, a.Aggregate, a.Type, a.Since.UTC().Format(time.RFC3339), a.Attempts, a.Error)
	}
	return w.Flush()
}

// asideRetryCmd makes followers try facts again. The followers run on the nodes, so the command
// only leaves a request in the database and waits.
type asideRetryCmd struct {
	database
	asideSelection
	Wait time.Duration `default:"1m" help:"How long to wait for the nodes that run the followers."`
}

// Run asks the followers for another attempt and waits for it. The read model comes first, because
// the other followers read it. Facts that are still set aside afterwards are an error.
func (c *asideRetryCmd) Run(ctx context.Context) error {
	pool, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	counts, err := follower.CountAsides(ctx, pool)
	if err != nil {
		return err
	}
	// A newer node may have followers that this program does not know. They come last.
	order := []string{readmodel.Follower, publicfacts.Follower, mailqueue.Follower, attendees.Follower}
	for name := range counts {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var failed int
	for _, name := range order {
		if counts[name] == 0 || c.Follower != "" && c.Follower != name {
			continue
		}
		left, err := retryAsides(ctx, pool, follower.Selection{Follower: name, Stream: c.Stream})
		if err != nil {
			return err
		}
		failed += left
	}
	if failed > 0 {
		return fmt.Errorf("%d facts are still set aside: boxoffice set-aside list says why", failed)
	}
	return nil
}

// asideLook is the time between two looks in the database at what came of a retry.
const asideLook = 200 * time.Millisecond

// retryAsides makes a follower try the selected facts again. It returns how many of them are still
// set aside afterwards.
func retryAsides(ctx context.Context, pool *pgxpool.Pool, s follower.Selection) (left int, err error) {
	asked, err := follower.RequestRetry(ctx, pool, s)
	if err != nil || asked == 0 {
		return 0, err
	}
	look := time.NewTicker(asideLook)
	defer look.Stop()
	for {
		waiting, err := follower.Requested(ctx, pool, s)
		if err != nil {
			return 0, err
		}
		if waiting == 0 {
			break
		}
		select {
		case <-look.C:
		// The request stays in the database, so the nodes will still make the attempt. The command
		// only stops waiting.
		case <-ctx.Done():
			return 0, fmt.Errorf("%s: no node has tried %d facts again yet; it will: %w", s.Follower, waiting, ctx.Err())
		}
	}
	asides, err := follower.Asides(ctx, pool, s, int(asked))
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(os.Stdout, "%s: %d facts tried again, %d still set aside\n", s.Follower, asked, len(asides))
	return len(asides), nil
}

// Package transfers is the contest for one ticket at a time: it is offered, claimed, taken
// back, offered to somebody else and shown at two gates, all at once and at several nodes.
// Run returns when every goroutine and process that it started has ended.
package transfers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"regexp"
	"time"

	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest transfers`.
type Config struct {
	contest.Config
	Races  int           `default:"10000" help:"Tickets that are raced for, one at a time."`
	Nodes  int           `default:"2" help:"Nodes that are asked."`
	Events int           `default:"4" help:"Events that the tickets are of, so that each node has some."`
	Tables int           `default:"32" help:"Races that are run at a time."`
	Spread time.Duration `default:"20ms" help:"Within how long the acts of a race begin."`
}

// Validate is called by kong, and by the run itself.
func (c *Config) Validate() error {
	if c.Races < 1 || c.Nodes < 1 || c.Events < 1 || c.Tables < 1 || c.Spread < 1 {
		return errors.New("at least one race, node, event and table, and some time between two acts")
	}
	return nil
}

// claimLink is where the mail of an offer has what claims the ticket.
var claimLink = regexp.MustCompile(`/tickets/claim#token=([\w-]+)`)

// perOrder is how many tickets one order has.
const perOrder = 100

// tournament is a run.
type tournament struct {
	*contest.Place
	cfg    Config
	events []string
	races  []*Race
}

// Run races for every ticket and audits. It fails when the audit finds something.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (*contest.Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return contest.Hold(ctx, cfg.Config, "transfers", cfg.Nodes, claimLink, out, log, func(at *contest.Place) (*contest.Result, error) {
		t := &tournament{Place: at, cfg: cfg}
		if err := t.issueTickets(ctx); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := t.raceAll(ctx); err != nil {
			return nil, err
		}
		log.InfoContext(ctx, "the races are over", slog.Duration("took", time.Since(began)))
		if err := t.readOutcomes(ctx); err != nil {
			return nil, err
		}
		return &contest.Result{Counts: countActs(t.races), Checks: Audit(t.races)}, nil
	})
}

// issueTickets puts the events on sale and issues the tickets.
func (t *tournament) issueTickets(ctx context.Context) error {
	types := make([]string, t.cfg.Events)
	for i := range types {
		sale, err := t.Organizer.OpenSale(ctx, []rush.SaleType{{
			Name: "Floor", Quantity: t.cfg.Races, Free: true, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer,
		}})
		if err != nil {
			return err
		}
		types[i] = sale.Types[0].ID
		t.events = append(t.events, sale.EventID)
		path := "/organizer/events/" + url.PathEscape(sale.EventID) + "/tickets/" + url.PathEscape(types[i])
		if err := t.Organizer.Send(ctx, "PUT", path, map[string]any{"transferable": true}, nil); err != nil {
			return err
		}
	}
	for n := 0; len(t.races) < t.cfg.Races; n++ {
		event := t.events[n%len(t.events)]
		buyer := fmt.Sprintf("buyer-%d@load.test", n)
		made, err := t.Issue(ctx, event, types[n%len(types)], buyer, min(perOrder, t.cfg.Races-len(t.races)))
		if err != nil {
			return err
		}
		// Every ticket gets two friends with addresses of their own, so that a mail belongs to one race.
		for _, ticket := range made.Tickets {
			r := &Race{Ticket: ticket.ID, event: event, order: made.Order.ID, token: made.Order.AccessToken}
			r.people[buyerHolds] = person{buyer, codes{ticket.Code, ticket.ShortCode, ticket.QR}}
			for i := firstFriend; i < holders; i++ {
				r.people[i].email = fmt.Sprintf("friend-%d-%d@load.test", len(t.races), i)
			}
			t.races = append(t.races, r)
		}
	}
	return nil
}

// raceAll runs the races, as many at a time as there are tables. The random numbers of a race depend on the seed
// and on its number alone, and not on the table.
func (t *tournament) raceAll(ctx context.Context) error {
	return contest.ForAll(t.cfg.Tables, len(t.races), func(table, i int) error {
		rng := rand.New(rand.NewPCG(t.cfg.Seed, uint64(i))) //nolint:gosec // no secret
		return t.runRace(ctx, t.races[i], table*maxActs, rng)
	})
}

// readOutcomes reads who holds each ticket now, and from the feed of facts how often each ticket was admitted and
// passed on. An order has many tickets, so each order is read once.
func (t *tournament) readOutcomes(ctx context.Context) error {
	holders := make(map[string]string)
	read := make(map[string]bool)
	for _, r := range t.races {
		if read[r.order] {
			continue
		}
		read[r.order] = true
		var o struct {
			Tickets []struct {
				ID     string
				Holder struct{ Email string }
			}
		}
		if err := t.Organizer.Send(ctx, "GET", "/organizer/orders/"+url.PathEscape(r.order), nil, &o); err != nil {
			return err
		}
		for _, ticket := range o.Tickets {
			holders[ticket.ID] = ticket.Holder.Email
		}
	}
	// The feed may be a moment behind the answers. It is read until it has as many facts as were granted, or the
	// time is over.
	want := 0
	for _, r := range t.races {
		r.holder = holders[r.Ticket]
		want += r.countActs(scan, true) + r.countActs(claim, true)
	}
	facts, err := t.Organizer.CountFacts(ctx, []string{admitted, transferred}, want, t.Agree)
	for _, r := range t.races {
		r.admissions, r.transfers = facts[admitted][r.Ticket], facts[transferred][r.Ticket]
	}
	return err
}

// The public facts that are counted.
const (
	admitted    = "ticket.checked_in"
	transferred = "ticket.transferred"
)

// countActs is what happened.
func countActs(races []*Race) []report.Count {
	all := []report.Count{{Name: "tickets that were raced for", Count: int64(len(races))}}
	for what := range acts {
		var asked, granted int
		for _, r := range races {
			asked += r.countActs(what, true) + r.countActs(what, false)
			granted += r.countActs(what, true)
		}
		all = append(all, report.Count{Name: what.String() + "s", Count: int64(asked)}, report.Count{Name: "of them granted", Count: int64(granted)})
	}
	return all
}

package loadtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/report"
)

const (
	auditReaders  = 32               // orders read at once
	auditPatience = 30 * time.Second // for one question to be answered
)

// claim is what buyers were told about one order, folded from the AckLog.
type claim struct {
	key, order, token string
	status            string // the latest that was acknowledged
	total, email      string
	items             []item
	tickets           map[string]ticket // by id
	cancelling        bool              // the buyer asked for a cancel
	paid              bool              // the provider took the money
	from              int

	found order // as read back; without an id when it is missing
}

// audit compares what was acknowledged with what the service says now, over
// public HTTP alone.
type audit struct {
	rush    *rush
	claims  []*claim
	byOrder map[string]*claim
	checks  []*report.Check
}

// runAudit returns the verdict. An error means that it could not be reached.
func runAudit(ctx context.Context, r *rush, paysim string) (report.Audit, error) {
	a := &audit{rush: r, byOrder: make(map[string]*claim)}
	a.fold(r.acks.Entries())
	a.read(ctx, a.claims)
	a.checkOrders()
	a.checkTickets()
	a.checkCaps()
	a.checkStock(ctx)
	a.checkMoney(ctx, paysim)
	if err := context.Cause(ctx); err != nil {
		return report.Audit{}, fmt.Errorf("audit: %w", err)
	}
	var result report.Audit
	for _, c := range a.checks {
		result.Checks = append(result.Checks, *c)
	}
	return result, nil
}

// check opens a check; the returned function notes a finding.
func (a *audit) check(name string) (c *report.Check, found func(format string, args ...any)) {
	c = &report.Check{Name: name}
	a.checks = append(a.checks, c)
	return c, c.Found
}

// fold makes claims of entries and does the checks that need no service: a key
// stands for one order, and every request was answered in the end.
func (a *audit) fold(entries []Entry) {
	keys, differs := a.check("one order and one answer per Idempotency-Key")
	answered, unanswered := a.check("every request answered in the end")
	byKey := make(map[string]*claim)
	for _, e := range entries {
		if e.What == ackPlaced {
			keys.Checked++
			first := byKey[e.Key]
			if first == nil {
				first = a.newClaim(e)
				byKey[e.Key] = first
			} else if first.order != e.Order || first.token != e.Token || first.total != e.Total {
				differs("key %s answered order %s (total %s), then order %s (total %s)",
					e.Key, first.order, first.total, e.Order, e.Total)
			}
			first.hold(e.Tickets)
			continue
		}
		c := a.byOrder[e.Order]
		if e.What == ackUnresolved {
			unanswered("buyer %d, key %s, order %q: no definite answer within %v after the run", e.Buyer, e.Key, e.Order, settleTime)
		}
		if c == nil {
			continue
		}
		switch e.What {
		case ackStatus:
			c.status = e.Status
			c.hold(e.Tickets)
		case askCancel:
			c.cancelling = true
		case ackPaid:
			c.paid = true
		}
	}
	answered.Checked = int64(len(entries))
}

func (a *audit) newClaim(e Entry) *claim {
	c := &claim{
		key: e.Key, order: e.Order, token: e.Token, status: e.Status, total: e.Total, email: e.Email,
		items: e.Items, tickets: make(map[string]ticket), from: e.From,
	}
	a.claims = append(a.claims, c)
	a.byOrder[e.Order] = c
	return c
}

func (c *claim) hold(tickets []ticket) {
	for _, t := range tickets {
		c.tickets[t.ID] = t
	}
}

// read fetches orders as their buyers see them, each from its buyer's address.
func (a *audit) read(ctx context.Context, claims []*claim) {
	work := make(chan *claim)
	var readers sync.WaitGroup
	for range auditReaders {
		readers.Go(func() {
			for c := range work {
				c.found = a.readOne(ctx, c)
			}
		})
	}
	for _, c := range claims {
		work <- c
	}
	close(work)
	readers.Wait()
}

// readOne is the order, or none when the service says definitely, or for too
// long, that there is none.
func (a *audit) readOne(ctx context.Context, c *claim) order {
	var o order
	if ans := a.ask(ctx, a.rush.net.Source(c.from), readOrder(c.order, c.token), &o); !ans.OK() {
		return order{}
	}
	return o
}

// ask repeats a question until there is a definite answer or its patience ends.
func (a *audit) ask(ctx context.Context, from *client.Source, c client.Call, out any) client.Answer {
	for deadline := time.Now().Add(auditPatience); ; {
		ans := a.rush.svc.Do(ctx, from, c, out)
		if !ans.Unsettled() || time.Now().After(deadline) || ctx.Err() != nil {
			return ans
		}
		select {
		case <-time.After(max(ans.RetryAfter, firstPause)):
		case <-ctx.Done():
		}
	}
}

// later lists the statuses that an order may move on to.
var later = map[string][]string{
	pending:    {processing, completed, failed, expired, cancelled, refunded},
	processing: {completed, failed, expired, cancelled, refunded},
	completed:  {refunded, partlyRefunded},
	expired:    {completed, refunded},
	failed:     {completed, refunded},
	refunded:   {},
	cancelled:  {},
}

// checkOrders looks for every acknowledged order and at what has become of it.
func (a *audit) checkOrders() {
	exists, lost := a.check("acknowledged orders are there")
	moved, illegal := a.check("they are as acknowledged, or legally later")
	settled, unpaid := a.check("orders whose money was taken are completed or refunded")
	for _, c := range a.claims {
		exists.Checked++
		o := c.found
		if o.ID != c.order {
			lost("order %s of %s, acknowledged as %s, is not found", c.order, c.email, c.status)
			continue
		}
		moved.Checked++
		switch {
		case o.Status != c.status && !slices.Contains(later[c.status], o.Status):
			illegal("order %s was acknowledged as %s and is %s", c.order, c.status, o.Status)
		case o.Status == cancelled && !c.cancelling:
			illegal("order %s is cancelled and nobody asked for that", c.order)
		case o.Total != c.total:
			illegal("order %s was acknowledged at %s and is at %s", c.order, c.total, o.Total)
		case !maps.Equal(countItems(c.items), countItems(o.Items)):
			illegal("order %s was for %v and is for %v", c.order, c.items, o.Items)
		}
		if c.paid {
			settled.Checked++
			if o.Status != completed && o.Status != refunded && o.Status != partlyRefunded {
				unpaid("order %s: the provider has its money and it is %s", c.order, o.Status)
			}
		}
	}
}

// checkTickets sees that orders have the tickets that they should have, that
// acknowledged ones are unchanged, and that none stands in two orders.
func (a *audit) checkTickets() {
	right, wrong := a.check("orders have the tickets they should have")
	kept, gone := a.check("acknowledged tickets are there")
	unique, twice := a.check("no ticket id or code twice")
	owner := make(map[string]string)
	for _, c := range a.claims {
		o := c.found
		if o.ID == "" {
			continue
		}
		if o.Status != refunded && o.Status != partlyRefunded { // those list what was given back
			right.Checked++
			if want, have := wantedTickets(o), countTickets(o.Tickets); !maps.Equal(want, have) {
				wrong("order %s is %s and has tickets %v, not %v", o.ID, o.Status, have, want)
			}
		}
		now := make(map[string]ticket)
		for _, t := range o.Tickets {
			unique.Checked++
			now[t.ID] = t
			for _, name := range []string{"id " + t.ID, "code " + t.Code} {
				if other, taken := owner[name]; taken {
					twice("ticket %s is in order %s and in order %s", name, other, o.ID)
				}
				owner[name] = o.ID
			}
		}
		for id, t := range c.tickets {
			kept.Checked++
			if now[id] != t {
				gone("order %s: acknowledged ticket %+v is now %+v", o.ID, t, now[id])
			}
		}
	}
}

// wantedTickets is how many tickets of each type the order should have.
func wantedTickets(o order) map[string]int {
	if o.Status != completed {
		return nil
	}
	return countItems(o.Items)
}

func countItems(items []item) map[string]int {
	n := make(map[string]int)
	for _, i := range items {
		n[i.TicketTypeID] += i.Quantity
	}
	return n
}

func countTickets(tickets []ticket) map[string]int {
	n := make(map[string]int)
	for _, t := range tickets {
		n[t.TicketTypeID]++
	}
	return n
}

package rush

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
	// How many orders are read at a time.
	auditReaders = 32
	// How long one question is repeated until it is answered.
	auditPatience = 30 * time.Second
)

// Claim is what buyers were told about one order. It is made of all entries about the order.
type Claim struct {
	key, Order, token string
	// The latest status that was told.
	Status       string
	total, email string
	Items        []Item
	tickets      map[string]ticket // the tickets that were acknowledged, by id
	cancelling   bool              // the buyer asked for a cancel
	paid         bool              // the provider took the money
	from         int

	// The order as the service shows it after the run; without an ID if it is missing.
	Found Order
}

// Audit compares what buyers were told with what the service says now. It uses only the public API,
// as the buyers do.
type Audit struct {
	Rush    *Rush
	Claims  []*Claim
	ByOrder map[string]*Claim
	Checks  []*report.Check
}

// RunAudit returns the verdict about a run. An error means that no verdict could be reached, and
// not that there are findings.
func RunAudit(ctx context.Context, r *Rush, paysim string) (report.Audit, error) {
	a := &Audit{Rush: r, ByOrder: make(map[string]*Claim)}
	// The log does not grow any more: what was in doubt has been settled before.
	a.Fold(r.Acks.Entries())
	// The orders are read first, because all checks below compare with them.
	a.ReadOrders(ctx, a.Claims)
	a.CheckOrders()
	a.CheckTickets()
	a.checkCaps()
	a.CheckStock(ctx)
	a.CheckMoney(ctx, paysim)
	if err := context.Cause(ctx); err != nil {
		return report.Audit{}, fmt.Errorf("audit: %w", err)
	}
	var result report.Audit
	for _, c := range a.Checks {
		result.Checks = append(result.Checks, *c)
	}
	return result, nil
}

// Check opens a check with a name. The function that it returns notes a finding.
func (a *Audit) Check(name string) (c *report.Check, found func(format string, args ...any)) {
	c = &report.Check{Name: name}
	a.Checks = append(a.Checks, c)
	return c, c.Found
}

// Fold makes claims of the entries. It also makes the two checks that need no service: every key
// stands for one order, and every request was answered in the end.
func (a *Audit) Fold(entries []Entry) {
	keys, differs := a.Check("one order and one answer per Idempotency-Key")
	answered, unanswered := a.Check("every request answered in the end")
	byKey := make(map[string]*Claim)
	for _, e := range entries {
		if e.What == AckPlaced {
			keys.Checked++
			// A key may have been answered several times, by repeats and by twins. All answers must be the same
			// order.
			first := byKey[e.Key]
			if first == nil {
				first = a.newClaim(e)
				byKey[e.Key] = first
			} else if first.Order != e.Order || first.token != e.Token || first.total != e.Total {
				differs("key %s answered order %s (total %s), then order %s (total %s)",
					e.Key, first.Order, first.total, e.Order, e.Total)
			}
			first.noteTickets(e.Tickets)
			continue
		}
		// All other entries are about an order that was placed before, or about none.
		c := a.ByOrder[e.Order]
		if e.What == AckUnresolved {
			unanswered("buyer %d, key %s, order %q: no definite answer within %v after the run", e.Buyer, e.Key, e.Order, settleTime)
		}
		// The placing of this order was never answered, so nobody was promised anything.
		if c == nil {
			continue
		}
		switch e.What {
		case AckStatus:
			c.Status = e.Status
			c.noteTickets(e.Tickets)
		case AskCancel:
			c.cancelling = true
		case ackPaid:
			c.paid = true
		}
	}
	answered.Checked = int64(len(entries))
}

// newClaim begins the claim of an order when the order is told for the first time.
func (a *Audit) newClaim(e Entry) *Claim {
	c := &Claim{
		key: e.Key, Order: e.Order, token: e.Token, Status: e.Status, total: e.Total, email: e.Email,
		Items: e.Items, tickets: make(map[string]ticket), from: e.From,
	}
	a.Claims = append(a.Claims, c)
	a.ByOrder[e.Order] = c
	return c
}

// noteTickets adds tickets that the buyer was told about.
func (c *Claim) noteTickets(tickets []ticket) {
	for _, t := range tickets {
		c.tickets[t.ID] = t
	}
}

// ReadOrders reads orders as their buyers see them, each from its buyer's address, because limits
// count by address.
func (a *Audit) ReadOrders(ctx context.Context, claims []*Claim) {
	work := make(chan *Claim)
	var readers sync.WaitGroup
	for range auditReaders {
		readers.Go(func() {
			for c := range work {
				c.Found = a.readOrder(ctx, c)
			}
		})
	}
	for _, c := range claims {
		work <- c
	}
	close(work)
	readers.Wait()
}

// readOrder returns an order, or an empty one if the service says that there is none or gives no
// answer within auditPatience.
func (a *Audit) readOrder(ctx context.Context, c *Claim) Order {
	var o Order
	if ans := a.Ask(ctx, a.Rush.Network.Source(c.from), readOrder(c.Order, c.token), &o); !ans.OK() {
		return Order{}
	}
	return o
}

// Ask repeats a question until there is a definite answer or auditPatience is over.
func (a *Audit) Ask(ctx context.Context, from *client.Source, c client.Call, out any) client.Answer {
	for deadline := time.Now().Add(auditPatience); ; {
		ans := a.Rush.API.Do(ctx, from, c, out)
		if !ans.Unsettled() || time.Now().After(deadline) || ctx.Err() != nil {
			return ans
		}
		select {
		case <-time.After(max(ans.RetryAfter, FirstPause)):
		case <-ctx.Done():
		}
	}
}

// laterStatuses has for each status the statuses that an order may come to afterwards. An expired
// or failed order may still be completed by late money.
var laterStatuses = map[string][]string{
	Pending:    {processing, Completed, failed, expired, Cancelled, refunded},
	processing: {Completed, failed, expired, Cancelled, refunded},
	Completed:  {refunded, partlyRefunded},
	expired:    {Completed, refunded},
	failed:     {Completed, refunded},
	refunded:   {},
	Cancelled:  {},
}

// CheckOrders looks for every order that was acknowledged, and compares it with what was
// acknowledged.
func (a *Audit) CheckOrders() {
	exists, lost := a.Check("acknowledged orders are there")
	moved, illegal := a.Check("they are as acknowledged, or legally later")
	settled, unpaid := a.Check("orders whose money was taken are completed or refunded")
	for _, c := range a.Claims {
		exists.Checked++
		o := c.Found
		if o.ID != c.Order {
			lost("order %s of %s, acknowledged as %s, is not found", c.Order, c.email, c.Status)
			continue
		}
		moved.Checked++
		switch {
		case o.Status != c.Status && !slices.Contains(laterStatuses[c.Status], o.Status):
			illegal("order %s was acknowledged as %s and is %s", c.Order, c.Status, o.Status)
		case o.Status == Cancelled && !c.cancelling:
			illegal("order %s is cancelled and nobody asked for that", c.Order)
		case o.Total != c.total:
			illegal("order %s was acknowledged at %s and is at %s", c.Order, c.total, o.Total)
		case !maps.Equal(CountItems(c.Items), CountItems(o.Items)):
			illegal("order %s was for %v and is for %v", c.Order, c.Items, o.Items)
		}
		// Late money may complete an order or go back, but the provider must not keep it for nothing.
		if c.paid {
			settled.Checked++
			if o.Status != Completed && o.Status != refunded && o.Status != partlyRefunded {
				unpaid("order %s: the provider has its money and it is %s", c.Order, o.Status)
			}
		}
	}
}

// CheckTickets checks that orders have the tickets that they should have, that tickets which buyers
// were shown have not changed, and that no ticket is in two orders.
func (a *Audit) CheckTickets() {
	right, wrong := a.Check("orders have the tickets they should have")
	kept, gone := a.Check("acknowledged tickets are there")
	unique, twice := a.Check("no ticket id or code twice")
	// owner has the order of each id and of each code. Both must be unique, because a gate admits by the code.
	owner := make(map[string]string)
	for _, c := range a.Claims {
		o := c.Found
		if o.ID == "" {
			continue
		}
		// A refunded order still lists the tickets that were given back.
		if o.Status != refunded && o.Status != partlyRefunded {
			right.Checked++
			if want, have := countWantedTickets(o), countTickets(o.Tickets); !maps.Equal(want, have) {
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

// countWantedTickets returns how many tickets of each type an order should have. A completed order
// should have all of its items, and any other order none.
func countWantedTickets(o Order) map[string]int {
	if o.Status != Completed {
		return nil
	}
	return CountItems(o.Items)
}

// CountItems adds up the quantities by ticket type.
func CountItems(items []Item) map[string]int {
	n := make(map[string]int)
	for _, i := range items {
		n[i.TicketTypeID] += i.Quantity
	}
	return n
}

// countTickets counts tickets by type.
func countTickets(tickets []ticket) map[string]int {
	n := make(map[string]int)
	for _, t := range tickets {
		n[t.TicketTypeID]++
	}
	return n
}

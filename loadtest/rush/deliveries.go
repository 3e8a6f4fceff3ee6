package rush

import (
	"context"
	"fmt"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/report"
)

// feed is the organization's feed of public facts, as far as it has been read.
type feed struct {
	org    *Organizer
	cursor string
	facts  map[string]*deliveredFact // by id
	// The orders of all facts order.created that have been read.
	orders map[string]bool
}

// readOn reads the feed from where it stopped to its present end.
func (f *feed) readOn(ctx context.Context) error {
	for {
		var page struct {
			Items      []*deliveredFact `json:"items"`
			Cursor     string           `json:"cursor"`
			NextCursor *string          `json:"nextCursor"`
		}
		path := "/organizer/facts?limit=100&after=" + f.cursor
		if a := f.org.svc.Do(ctx, f.org.from, client.Call{Method: "GET", Path: path, Bearer: f.org.Bearer}, &page); !a.OK() {
			return fmt.Errorf("read the feed: %w", a.Err())
		}
		for _, fact := range page.Items {
			f.facts[fact.ID] = fact
			if fact.Type == "order.created" {
				f.orders[fact.Data.Order.ID] = true
			}
		}
		f.cursor = page.Cursor
		if page.NextCursor == nil {
			return nil
		}
	}
}

// deliveryAudit compares acknowledged orders with the feed, and the feed with the webhooks that
// have arrived.
type deliveryAudit struct {
	receiver *Receiver
	feeds    map[*Organizer]*feed
	placed   map[*Organizer]map[string]bool // acknowledged orders
}

// AuditDeliveries waits until all healthy endpoints have everything that the feeds have, or until
// nothing more has come for as long as patience. Then it compares.
func (m *Receiver) AuditDeliveries(ctx context.Context, placed map[*Organizer]map[string]bool, patience time.Duration) ([]report.Check, error) {
	a := &deliveryAudit{receiver: m, feeds: map[*Organizer]*feed{}, placed: placed}
	for o := range placed {
		if err := o.LogIn(ctx); err != nil {
			return nil, err
		}
		a.feeds[o] = &feed{org: o, facts: map[string]*deliveredFact{}, orders: map[string]bool{}}
	}
	// New facts and new arrivals both count as progress. When everything is complete, one more second may bring
	// what should not come.
	progress := time.Now()
	for last := -1; ; {
		for _, f := range a.feeds {
			if err := f.readOn(ctx); err != nil {
				return nil, err
			}
		}
		known, complete := a.countArrivals()
		if known != last {
			last, progress = known, time.Now()
		}
		if complete && time.Since(progress) > time.Second || time.Since(progress) > patience {
			return a.compare(), nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// countArrivals returns how much is in the feeds and has arrived so far, as one sum. complete
// reports that nothing is missing.
func (a *deliveryAudit) countArrivals() (known int, complete bool) {
	complete = true
	for o, orders := range a.placed {
		f := a.feeds[o]
		known += len(f.facts)
		for id := range orders {
			complete = complete && f.orders[id]
		}
	}
	for _, h := range a.receiver.EndpointsThat(Healthy) {
		n, _ := h.CountArrived()
		known += int(n)
		complete = complete && int(n) >= len(a.feeds[h.org].facts)
	}
	return known, complete
}

// compare returns the checks of the deliveries.
func (a *deliveryAudit) compare() []report.Check {
	var all []*report.Check
	check := func(name string) (*report.Check, func(string, ...any)) {
		c := &report.Check{Name: name}
		all = append(all, c)
		return c, c.Found
	}
	acked, untold := check("acknowledged orders are told")
	for o, orders := range a.placed {
		for id := range orders {
			acked.Checked++
			if !a.feeds[o].orders[id] {
				untold("order %s was acknowledged, and no order.created tells of it", id)
			}
		}
	}
	once, missing := check("each fact was delivered to each healthy endpoint, once after dedupe")
	known, invented := check("nothing was delivered that is not in the feed")
	signed, forged := check("every delivery was signed with the endpoint's secret")
	sorted, unsorted := check("first attempts came in the order of their event's facts")
	var repeated int64
	for _, h := range a.receiver.EndpointsThat(Healthy) {
		_, again := h.CountArrived()
		repeated += again
		// Requests may still come while the audit compares, such as repeats.
		h.mu.Lock()
		f := a.feeds[h.org]
		for id, fact := range f.facts {
			once.Checked++
			if h.seen[id] == 0 {
				missing("%s %s (seq %d) never came to %s", fact.Type, id, fact.Seq, h.url)
			}
		}
		for id := range h.seen {
			known.Checked++
			if f.facts[id] == nil {
				invented("%s came to %s", id, h.url)
			}
		}
		signed.Checked += h.Requests
		if h.forged > 0 {
			forged("%d requests to %s are not signed with its secret", h.forged, h.url)
		}
		sorted.Checked += int64(len(h.seen))
		if h.unsorted > 0 {
			unsorted("%d came to %s after a later one", h.unsorted, h.url)
		}
		h.mu.Unlock()
	}
	// A repeat is no finding: an endpoint must expect one after every answer that got lost.
	once.Note = fmt.Sprintf("%d came again", repeated)
	if n := len(a.receiver.EndpointsThat(Redirecting)); n > 0 {
		c, strayed := check("no redirect was followed")
		c.Checked = int64(n)
		if n := a.receiver.strayed.Load(); n > 0 {
			strayed("%d requests came to where redirects point", n)
		}
	}
	out := make([]report.Check, len(all))
	for i, c := range all {
		out[i] = *c
	}
	return out
}

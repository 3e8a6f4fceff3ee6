package seats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/seats/viewers"
)

// possession is a time for which a shopper surely had a seat. It begins when the shopper was told
// so. It ends when the shopper asked for something else or when the hold's time was up: from then
// on somebody else may have the seat.
type possession struct {
	seat     string
	buyer    int
	from, to time.Time
	until    time.Time // when the hold ends by itself; zero for an order
	// The shopper left: nothing but the clock ended the hold.
	left bool
}

// seatAudit compares what shoppers and viewers were told with what the service says. The embedded
// rush.Audit has the checks of orders, tickets, stock and money, which are the same for every sale.
// The checks here are about seats.
type seatAudit struct {
	*rush.Audit
	run *seatsRun
	// The possessions of each seat, in the order in which they begin.
	bySeat map[string][]possession
	// For each seat, the order that keeps it.
	orders map[string]*rush.Claim
}

// forever is longer than any run. It stands for the end of a possession by an order that is never
// cancelled.
const forever = 24 * time.Hour

// auditSeats returns the verdict. An error means that no verdict could be reached. The order of the
// checks matters: checkHolders fills orders, which checkSold needs, and checkViewers waits until
// the viewers' map is the service's, so checkSold comes after it.
func (r *seatsRun) auditSeats(ctx context.Context) (report.Audit, error) {
	a := &seatAudit{
		Audit: &rush.Audit{Rush: r.Rush, ByOrder: make(map[string]*rush.Claim)}, run: r,
		bySeat: make(map[string][]possession), orders: make(map[string]*rush.Claim),
	}
	entries := r.Acks.Entries()
	a.Fold(entries)
	a.ReadOrders(ctx, a.Claims)
	a.CheckOrders()
	a.CheckTickets()
	a.CheckStock(ctx)
	a.CheckMoney(ctx, cmp.Or(r.paysim, r.PaysimSeen()))
	a.collectPossessions(entries)
	a.checkHolders()
	a.checkGrants(entries)
	a.checkEnds()
	a.checkViewers(ctx)
	a.checkSold()
	if err := context.Cause(ctx); err != nil {
		return report.Audit{}, fmt.Errorf("audit: %w", err)
	}
	var result report.Audit
	for _, c := range a.Checks {
		result.Checks = append(result.Checks, *c)
	}
	return result, nil
}

// collectPossessions works out who surely had which seat when, from the log of what each shopper
// asked and was told. A hold ends with the shopper's next request for seats, and an order with the
// request to cancel it. From such a request on, the shopper can't rely on the seat.
func (a *seatAudit) collectPossessions(entries []rush.Entry) {
	byBuyer := make(map[int][]rush.Entry)
	for _, e := range entries {
		byBuyer[e.Buyer] = append(byBuyer[e.Buyer], e)
	}
	for _, all := range byBuyer {
		// The log has the entries of many shoppers mixed. The entries of one shopper must be read
		// in the order of time.
		slices.SortStableFunc(all, func(x, y rush.Entry) int { return x.At.Compare(y.At) })
		// What ends a possession is looked for only among the later entries of the same shopper.
		for i, e := range all {
			switch e.What {
			case rush.AckHeld:
				h := possession{buyer: e.Buyer, from: e.At, to: e.Until, until: e.Until, left: true}
				if end := nextEntry(all[i+1:], rush.AskSeats); !end.IsZero() {
					h.left = false
					if end.Before(h.to) {
						h.to = end
					}
				}
				a.addPossession(h, e.Seats)
			case rush.AckPlaced:
				// An order keeps its seats until its buyer asks to cancel it.
				h := possession{buyer: e.Buyer, from: e.At, to: e.At.Add(forever)}
				if end := nextEntry(all[i+1:], rush.AskCancel); !end.IsZero() {
					h.to = end
				}
				for _, line := range e.Items {
					a.addPossession(h, line.VenueSeatIDs)
				}
			}
		}
	}
	for _, list := range a.bySeat {
		slices.SortFunc(list, func(x, y possession) int { return x.from.Compare(y.from) })
	}
}

// nextEntry returns the time of the first entry of the sort what, or zero if there is none.
func nextEntry(entries []rush.Entry, what string) time.Time {
	for _, e := range entries {
		if e.What == what {
			return e.At
		}
	}
	return time.Time{}
}

// addPossession notes the possession for each of the seats.
func (a *seatAudit) addPossession(h possession, seats []string) {
	for _, h.seat = range seats {
		a.bySeat[h.seat] = append(a.bySeat[h.seat], h)
	}
}

// checkHolders checks that no two shoppers had a seat at the same moment, and that no two orders
// have it now. The list of a seat is in the order of beginnings, so it is enough to compare each
// possession with the one that ends latest of those before it. An order of the same shopper that
// follows the hold is no conflict.
func (a *seatAudit) checkHolders() {
	held, twice := a.Check("no seat had by two shoppers at a time")
	for seat, list := range a.bySeat {
		latest := possession{buyer: -1}
		for _, h := range list {
			held.Checked++
			if latest.buyer >= 0 && latest.buyer != h.buyer && h.from.Before(latest.to) && h.from.Before(h.to) {
				twice("seat %s: shopper %d had it from %v to %v, and shopper %d from %v", seat, latest.buyer,
					latest.from.Format(clock), latest.to.Format(clock), h.buyer, h.from.Format(clock))
			}
			if h.to.After(latest.to) {
				latest = h
			}
		}
	}
	sold, double := a.Check("no seat in two orders")
	for _, c := range a.Claims {
		if !rush.KeepsTickets(c.Found.Status) {
			continue
		}
		for _, line := range c.Found.Items {
			for _, seat := range line.VenueSeatIDs {
				sold.Checked++
				if other := a.orders[seat]; other != nil {
					double("seat %s is in order %s and in order %s", seat, other.Order, c.Order)
				}
				a.orders[seat] = c
			}
		}
	}
}

// clock is the layout of moments in findings. Possessions follow each other within milliseconds, so
// the layout has them.
const clock = "15:04:05.000"

// checkGrants checks that every shopper who ordered seats while they were held for it got them. A
// refusal after the hold's time was up is right, because the seats may be somebody else's by then.
func (a *seatAudit) checkGrants(entries []rush.Entry) {
	c, refused := a.Check("orders of seats still held are granted")
	for _, e := range entries {
		switch e.What {
		case rush.AckPlaced:
			c.Checked++
		case rush.AckRefused:
			c.Checked++
			if e.At.Before(e.Until) {
				refused("shopper %d: %v, held until %v, were refused at %v: %s", e.Buyer, e.Seats,
					e.Until.Format(clock), e.At.Format(clock), e.Code)
			}
		}
	}
}

// checkEnds checks the holds of shoppers who left: each must end when its time is up, not before
// and at most holdGrace later. The end is the moment at which viewers saw it or at which another
// shopper got the seat.
func (a *seatAudit) checkEnds() {
	c, wrong := a.Check(fmt.Sprintf("holds that were left end in time, at most %v late", holdGrace))
	var latest time.Duration
	a.run.audience.View(func(m *viewers.Map) {
		for seat, list := range a.bySeat {
			history := m.History(seat)
			for i, h := range list {
				if !h.left || h.until.IsZero() {
					continue
				}
				c.Checked++
				end, over := findEnd(h, list[i+1:], history)
				switch {
				case !over:
					wrong("seat %s, held by shopper %d until %v, has never become free", seat, h.buyer, h.until.Format(clock))
				case end.Before(h.until):
					wrong("seat %s, held by shopper %d until %v, was free at %v", seat, h.buyer, h.until.Format(clock), end.Format(clock))
				case end.After(h.until.Add(holdGrace)):
					wrong("seat %s, held by shopper %d until %v, was free only at %v", seat, h.buyer, h.until.Format(clock), end.Format(clock))
				}
				if over {
					latest = max(latest, end.Sub(h.until))
				}
			}
		}
	})
	c.Note = fmt.Sprintf("the latest %v late, when seen", latest.Round(time.Millisecond))
}

// findEnd returns when a hold that its shopper had left was seen to end; over is false if nobody
// saw an end. A viewer may see an older state of the seat for a while after the hold was granted,
// so changes within the first two seconds are not taken for the end.
func findEnd(h possession, later []possession, history []viewers.Change) (at time.Time, over bool) {
	const behind = 2 * time.Second
	for _, change := range history {
		if change.To != viewers.Held && change.At.After(h.from.Add(behind)) {
			at, over = change.At, true
			break
		}
	}
	// The seat can pass from one shopper to the next between two updates. Then no viewer sees it
	// free, and the next possession shows the end.
	for _, other := range later {
		if other.buyer != h.buyer && (!over || other.from.Before(at)) {
			return other.from, true
		}
	}
	if !over && len(history) > 0 && history[len(history)-1].To != viewers.Held {
		// The seat was held and freed between two updates, so no viewer saw either.
		return h.until, true
	}
	return at, over
}

// checkSold checks at the end of a run that the seats that the map shows as sold are exactly those
// that orders have, and that no seat is held any more. A held seat would be one that nobody can
// buy.
func (a *seatAudit) checkSold() {
	c, wrong := a.Check("sold on the map = seats of pending and completed orders")
	held, stuck := a.Check("no seat is held in the end")
	a.run.audience.View(func(m *viewers.Map) {
		for _, seat := range m.In(viewers.Sold) {
			c.Checked++
			if a.orders[seat] == nil {
				wrong("seat %s is sold on the map and in no order", seat)
			}
		}
		for seat, o := range a.orders {
			if m.State(seat) != viewers.Sold {
				wrong("seat %s of order %s, which is %s, is not sold on the map", seat, o.Order, o.Found.Status)
			}
		}
		held.Checked = int64(len(a.run.house.Seats))
		for _, seat := range m.In(viewers.Held) {
			stuck("seat %s is held", seat)
		}
	})
}

// seatStates has those parts of the service's answer with which the viewers' map is compared: the
// ids of the seats in each state.
type seatStates struct {
	Sold    []string `json:"sold"`
	Blocked []string `json:"blocked"`
	Held    []string `json:"held"`
}

// checkViewers checks that every viewer's map is the same as the service's. Each of them must also have got the last update.
func (a *seatAudit) checkViewers(ctx context.Context) {
	c, wrong := a.Check("every viewer's map = the service's")
	st, states, differ, err := waitUntilSameMap(ctx, a.run.audience, func(out *seatStates) error {
		return a.Ask(ctx, a.Rush.Network.Source(0), client.Call{Method: "GET", Path: a.run.house.Path}, out).Err()
	}, a.Rush.Config.Agree)
	c.Checked = int64(st.Joined)
	c.Note = fmt.Sprintf("at update %d; %d sold, %d withheld", st.Number, len(states.Sold), len(states.Blocked))
	if st.Skipped > 0 {
		c.Note += fmt.Sprintf("; %d updates reached no viewer", st.Skipped)
	}
	switch {
	case err != nil:
		wrong("the seats could not be read: %v", err)
	case len(differ) > 0:
		wrong("the viewers' map and the service's differ at %d seats, as %v", len(differ), differ[:min(len(differ), 5)])
	}
	if n := a.run.seats.Viewers; st.Joined < n || st.Current < n {
		wrong("of %d viewers, %d are there and %d are at the last update", n, st.Joined, st.Current)
	}
	for _, f := range st.Findings {
		wrong("%s", f)
	}
}

// waitUntilSameMap waits until all viewers have the last update and their map is the same as the
// service's, or until the time is over. It returns the standing of the last comparison and the
// seats that still differ. Updates are on their way for a moment after the last change, so a first
// difference proves nothing.
func waitUntilSameMap(ctx context.Context, audience *viewers.Audience, ask func(*seatStates) error, within time.Duration) (
	st viewers.Standing, states seatStates, differ []string, err error,
) {
	for deadline := time.Now().Add(within); ; rig.Wait(ctx, 200*time.Millisecond) {
		audience.Settle()
		st = audience.Standing()
		states = seatStates{}
		if err = ask(&states); err == nil {
			differ = nil
			audience.View(func(m *viewers.Map) {
				differ = append(differ, listDifferences(m.In(viewers.Sold), states.Sold)...)
				differ = append(differ, listDifferences(m.In(viewers.Blocked), states.Blocked)...)
				differ = append(differ, listDifferences(m.In(viewers.Held), states.Held)...)
			})
			if len(differ) == 0 && st.Current == st.Viewers {
				return st, states, nil, nil
			}
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return st, states, differ, errors.Join(err, context.Cause(ctx))
		}
	}
}

// listDifferences returns the ids that are in only one of the two lists, in order.
func listDifferences(a, b []string) (only []string) {
	// An id counts up in one list and down in the other, so an id that is in both comes to 0.
	count := make(map[string]int)
	for _, id := range a {
		count[id]++
	}
	for _, id := range b {
		count[id]--
	}
	for id, n := range count {
		if n != 0 {
			only = append(only, id)
		}
	}
	slices.Sort(only)
	return only
}

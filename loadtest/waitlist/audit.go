package waitlist

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Waiting is somebody in line, the oldest first in the list.
type Waiting struct {
	Email     string
	Quantity  int
	Status    string
	OfferedAt time.Time
	mails     map[string]int // offers that came, by their ids
}

// Order is what has become of an order.
type Order struct {
	// Units is how many tickets the order has, whether or not it still holds them.
	ID, Status string
	Units      int64
}

// Outcome is what a run has come to, as far as the audit needs it. Line has everybody who waits or has waited, the
// oldest first.
type Outcome struct {
	Units, Sold, Given, Wanted int64 // Sold: by the organizer's count; Wanted: that were to come free
	Line                       []Waiting
	Orders                     []Order
	Passed                     int64
	LetIn, Odd                 []string // orders of passers-by, and answers that they should not have had
}

// holdsTickets reports whether an order of the status has its tickets, or has them set aside while it is unpaid.
func holdsTickets(status string) bool { return status == rush.Completed || contest.IsOpen(status) }

// awaitRest waits until nothing moves any more: no offer is open, no order waits for money, and orders hold all
// tickets. It gives up when an order that was placed last must have run out.
func (l *line) awaitRest(ctx context.Context) error {
	for deadline := time.Now().Add(window*time.Minute + 2*l.Agree); ; {
		if l.hasErrors() {
			return nil // that is told anyhow
		}
		entries, err := l.readLine(ctx)
		if err != nil {
			return err
		}
		moves := 0
		for _, w := range entries {
			if w.Status == "offered" {
				moves++
			}
		}
		// Each of the three alone could be true for a moment while the others are not.
		held, open := l.countHeld(ctx)
		if moves == 0 && open == 0 && held == int64(l.cfg.Units) {
			return nil
		}
		if time.Now().After(deadline) {
			return nil // the audit says what is missing
		}
		if err := rig.Pause(ctx, time.Second); err != nil {
			return fmt.Errorf("waitlist: %w", err)
		}
	}
}

// countHeld returns how many tickets the orders hold, and how many orders wait for money. It reads the orders that
// the harness knows of. An order that can't be read counts as open, so that the caller asks again.
func (l *line) countHeld(ctx context.Context) (held int64, open int) {
	l.mu.Lock()
	// The orders are read from the service without the lock, because each read takes a request.
	orders := append([]*rush.Order(nil), l.orders...)
	l.mu.Unlock()
	for _, o := range orders {
		now := rush.Order{ID: o.ID, AccessToken: o.AccessToken}
		if err := l.Read(ctx, 0, &now); err != nil {
			return 0, 1
		}
		if holdsTickets(now.Status) {
			held += countTickets(&now)
		}
		if contest.IsOpen(now.Status) {
			open++
		}
	}
	return held, open
}

// readLine reads all who wait or waited, the oldest first.
func (l *line) readLine(ctx context.Context) (all []Waiting, err error) {
	for cursor := ""; ; {
		var page struct {
			Items      []Waiting
			NextCursor *string
		}
		path := "/community/events/" + url.PathEscape(l.event) + "/waitlist?limit=100&cursor=" + url.QueryEscape(cursor)
		if a := l.Insist(ctx, 0, client.Call{Method: "GET", Path: path, Bearer: l.Organizer.Bearer}, &page); !a.OK() {
			return nil, fmt.Errorf("waitlist: read the line: %w", a.Err())
		}
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all, nil
		}
		cursor = *page.NextCursor
	}
}

// readOutcome reads what the run has come to.
func (l *line) readOutcome(ctx context.Context) (*Outcome, error) {
	o := &Outcome{
		Units: int64(l.cfg.Units), Given: l.given.Load(), Wanted: l.cfg.Given, Passed: l.passed.Load(), LetIn: l.letIn, Odd: l.odd,
	}
	var err error
	if o.Line, err = l.readLine(ctx); err != nil {
		return nil, err
	}
	// A mail that was sent again has the same id, so the mails of one offer count as one.
	for i := range o.Line {
		w := &o.Line[i]
		w.mails = make(map[string]int)
		for _, m := range l.Mail.To(w.Email, offered) {
			w.mails[m.ID]++
		}
	}
	for _, of := range l.orders {
		if err := l.Read(ctx, 0, of); err != nil {
			return nil, err
		}
		o.Orders = append(o.Orders, Order{of.ID, of.Status, countTickets(of)})
	}
	var types struct{ Items []struct{ Sold int64 } }
	if err := l.Organizer.Send(ctx, "GET", "/events/"+url.PathEscape(l.event)+"/tickets", nil, &types); err != nil {
		return nil, err
	}
	for _, t := range types.Items {
		o.Sold += t.Sold
	}
	return o, nil
}

// Audit judges what a run has come to.
func Audit(o *Outcome) []report.Check {
	return []report.Check{checkPassers(o), checkOrder(o), checkTold(o), checkUnits(o)}
}

// checkPassers checks that nobody who passes by gets what comes free. As long as somebody waits in line, every
// other order must be refused as sold out.
func checkPassers(o *Outcome) report.Check {
	c := report.Check{Name: "nothing that came free went to a passer-by", Checked: o.Passed}
	for _, id := range o.LetIn {
		c.Found("order %s of somebody who passed by", id)
	}
	for _, answer := range o.Odd {
		c.Found("somebody who passed by was answered %s", answer)
	}
	return c
}

// checkOrder checks that an offer never passed somebody over. If somebody older in the line wants no more tickets
// than the offer had, then that person had an offer before.
func checkOrder(o *Outcome) report.Check {
	c := report.Check{Name: "every offer went to the oldest whom it fits"}
	for i := range o.Line {
		w := &o.Line[i]
		if w.OfferedAt.IsZero() {
			continue
		}
		c.Checked++
		for j := range o.Line[:i] {
			older := &o.Line[j]
			if older.Quantity <= w.Quantity && (older.OfferedAt.IsZero() || older.OfferedAt.After(w.OfferedAt)) {
				c.Found("%d tickets were offered to number %d at %s, and number %d, who waited for %d, was passed over",
					w.Quantity, i+1, w.OfferedAt.Format(time.TimeOnly), j+1, older.Quantity)
				break
			}
		}
	}
	return c
}

// checkTold checks that everybody who was offered something had one mail about it and claimed the offer, and that
// nobody else had such a mail.
func checkTold(o *Outcome) report.Check {
	c := report.Check{Name: "whoever was offered something was told so once, and nobody else was"}
	for i := range o.Line {
		w := &o.Line[i]
		c.Checked++
		if want := !w.OfferedAt.IsZero(); (len(w.mails) == 1) != want || len(w.mails) > 1 {
			c.Found("number %d, %s, had %d mails of an offer", i+1, w.Status, len(w.mails))
		}
		if w.Status == "offered" {
			c.Found("number %d did not get what was offered", i+1)
		}
	}
	return c
}

// checkUnits checks that orders hold every ticket exactly once at the end: more tickets are wanted than there are,
// so none may be left. The organizer's count must say the same, and as many tickets must have come free as the run
// wanted.
func checkUnits(o *Outcome) report.Check {
	c := report.Check{Name: "no ticket is lost, and none is there twice", Checked: o.Units}
	var held int64
	for _, of := range o.Orders {
		if holdsTickets(of.Status) {
			held += of.Units
		}
		if contest.IsOpen(of.Status) {
			c.Found("order %s is %s at the end", of.ID, of.Status)
		}
	}
	if held != o.Units || o.Sold != o.Units {
		c.Found("there are %d tickets, orders hold %d, and %d are told to be sold", o.Units, held, o.Sold)
	}
	if o.Given < o.Wanted {
		c.Found("%d tickets came free instead of %d", o.Given, o.Wanted)
	}
	return c
}

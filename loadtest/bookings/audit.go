package bookings

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Order is an order with its places and its outcome, as the audit sees it.
type Order struct {
	ID, Customer string
	place
	Units int
	// The time for which the order certainly had its places. Until is zero while it has them still.
	From, Until time.Time
	Status      string
	Late        bool // its money came too late
	Refunds     int  // how many refunds of that money were made
}

// Outcome is the outcome of a run.
type Outcome struct {
	Places, Cap int
	Orders      []Order
	Tried       int64
	// Answers that nobody should get.
	Odd []string
	// The places that were left once all orders had ended, and once all orders were refunded.
	Left, LeftAtLast map[place]int
}

// readOutcome reads the outcome of the orders, then refunds all that are completed, and reads each
// time which places are left. The refunds test that a place comes back; they take a moment to be
// carried out, so the last reading is repeated until all places are there or Agree is over.
func (s *season) readOutcome(ctx context.Context) (*Outcome, error) {
	o := &Outcome{Places: s.cfg.Places, Cap: s.cfg.Cap, Tried: s.tried.Load(), Odd: s.odd, Orders: make([]Order, len(s.bookings))}
	var err error
	if err = contest.ForAll(s.cfg.Tables, len(s.bookings), func(table, i int) (err error) {
		o.Orders[i], err = s.readOrder(ctx, table, s.bookings[i])
		return err
	}); err != nil {
		return nil, err
	}
	// No order changes any more, so what is left must fit exactly what was sold.
	if o.Left, err = s.readLeft(ctx); err != nil {
		return nil, err
	}
	if err = contest.ForAll(s.cfg.Tables, len(s.bookings), func(_, i int) error {
		if o.Orders[i].Status != rush.Completed {
			return nil
		}
		return s.Refund(ctx, &s.bookings[i].order)
	}); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(s.Agree); ; rig.Wait(ctx, rush.FirstPause) {
		if o.LeftAtLast, err = s.readLeft(ctx); err != nil {
			return nil, err
		}
		if o.allLeft() || time.Now().After(deadline) || ctx.Err() != nil {
			return o, context.Cause(ctx)
		}
	}
}

// allLeft reports whether all places have come back.
func (o *Outcome) allLeft() bool {
	for _, n := range o.LeftAtLast {
		if n != o.Places {
			return false
		}
	}
	return true
}

// readOrder reads the outcome of an order. If its money came too late, readOrder waits until the
// money has gone back.
func (s *season) readOrder(ctx context.Context, from int, b *booking) (Order, error) {
	o := Order{ID: b.order.ID, Customer: b.customer, place: b.place, Units: b.units, From: b.from, Until: b.until, Late: b.page != nil}
	for deadline := time.Now().Add(s.Agree); ; rig.Wait(ctx, rush.FirstPause) {
		var now struct {
			Status  string
			Refunds []struct{ Status string }
		}
		path := "/orders/" + url.PathEscape(b.order.ID) + "?token=" + url.QueryEscape(b.order.AccessToken)
		if a := s.Insist(ctx, from, client.Call{Method: "GET", Path: path}, &now); !a.OK() {
			return o, fmt.Errorf("bookings: read order: %w", a.Err())
		}
		o.Status, o.Refunds = now.Status, 0
		for _, r := range now.Refunds {
			if r.Status == "processed" { // nobody has asked for other refunds yet
				o.Refunds++
			}
		}
		if o.isSettled() || time.Now().After(deadline) || ctx.Err() != nil {
			return o, context.Cause(ctx)
		}
	}
}

// isSettled reports whether an order and its money have come to an end: the order has its places,
// or the money that came too late has gone back.
func (o *Order) isSettled() bool {
	return !contest.IsOpen(o.Status) && (!o.Late || o.Status == rush.Completed || o.Refunds == 1)
}

// Audit checks the outcome of a run. It needs no service, so tests can give it any outcome.
func Audit(o *Outcome) []report.Check {
	return []report.Check{checkAnswers(o), checkSlots(o), checkCustomers(o), checkMoney(o), checkLeft(o), checkBack(o)}
}

// checkAnswers checks that no order got an answer that a contest can't explain: granted, slot full
// or customer at the cap.
func checkAnswers(o *Outcome) report.Check {
	c := report.Check{Name: "every order was granted or refused, as a contest can have it", Checked: o.Tried}
	for _, answer := range o.Odd {
		c.Found("an order was answered %s", answer)
	}
	return c
}

// checkSlots checks that the orders for a slot never had more places at one time than the slot has.
func checkSlots(o *Outcome) report.Check {
	c := report.Check{Name: "no slot had more than its places at any time"}
	of := make(map[place][]Order)
	for _, order := range o.Orders {
		of[order.place] = append(of[order.place], order)
	}
	for at, orders := range of {
		c.Checked++
		if most := mostAtOnce(orders); most > o.Places {
			c.Found("slot %s of %s had %d places taken, of %d", at.slot, at.date, most, o.Places)
		}
	}
	return c
}

// checkCustomers checks that a customer never had more places of a date at one time than the cap
// allows.
func checkCustomers(o *Outcome) report.Check {
	c := report.Check{Name: "no customer had more than a day's places at any time"}
	of := make(map[[2]string][]Order)
	for _, order := range o.Orders {
		// The cap counts over all slots of a date.
		key := [2]string{order.Customer, order.date}
		of[key] = append(of[key], order)
	}
	for key, orders := range of {
		c.Checked++
		if most := mostAtOnce(orders); most > o.Cap {
			c.Found("%s had %d places on %s, of %d", key[0], most, key[1], o.Cap)
		}
	}
	return c
}

// mostAtOnce returns the most units that the orders certainly had at one time. It adds up the
// beginnings and ends in the order of time. If one place ends and another begins at the same
// moment, the end counts first, so that the audit finds only what is certain.
func mostAtOnce(orders []Order) (most int) {
	type change struct {
		at    time.Time
		units int
	}
	var changes []change
	for _, o := range orders {
		if o.Until.IsZero() {
			changes = append(changes, change{o.From, o.Units})
		} else if o.Until.After(o.From) {
			changes = append(changes, change{o.From, o.Units}, change{o.Until, -o.Units})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.units, b.units)) })
	now := 0
	for _, c := range changes {
		now += c.units
		most = max(most, now)
	}
	return most
}

// checkMoney checks that every order has ended. Money that came too late must have bought the
// order's places or have gone back exactly once, but not both.
func checkMoney(o *Outcome) report.Check {
	c := report.Check{Name: "every order has ended, and late money has gone back once"}
	for i := range o.Orders {
		c.Checked++
		if of := &o.Orders[i]; !of.isSettled() || of.Status == rush.Completed && of.Refunds > 0 {
			c.Found("order %s is %s, with %d refunds of late money", of.ID, of.Status, of.Refunds)
		}
	}
	return c
}

// checkLeft checks that the places left of a slot are the places that completed orders have not
// taken. A smaller number would be places that nobody can buy; a larger one would be sold twice.
func checkLeft(o *Outcome) report.Check {
	c := report.Check{Name: "what is left of each slot is what was not sold"}
	sold := make(map[place]int)
	for _, of := range o.Orders {
		if of.Status == rush.Completed {
			sold[of.place] += of.Units
		}
	}
	for at, left := range o.Left {
		c.Checked++
		if left != o.Places-sold[at] {
			c.Found("slot %s of %s has %d left, and %d of %d are sold", at.slot, at.date, left, sold[at], o.Places)
		}
	}
	return c
}

// checkBack checks that all places are left once all orders are refunded.
func checkBack(o *Outcome) report.Check {
	c := report.Check{Name: "all places come back"}
	for at, left := range o.LeftAtLast {
		c.Checked++
		if left != o.Places {
			c.Found("slot %s of %s has %d left in the end, of %d", at.slot, at.date, left, o.Places)
		}
	}
	return c
}

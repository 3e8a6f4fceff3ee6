package audit

import (
	"bytes"
	"maps"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// seatOrders are all orders with seats that an event ever had, by id. The audit collects them from
// the facts, because the ledger keeps only the outcome of a closed order, while the seats of a sold
// order stay sold until a refund gives them back.
type seatOrders map[engine.OrderID]*order.Order

// applyFact applies a fact to the order it is about, if that order has seats.
func (s seatOrders) applyFact(f engine.Fact) {
	switch f := f.(type) {
	case *order.Created:
		if len(seatsOf(f.Order)) > 0 {
			s[f.Order.ID] = f.Order
		}
	case order.Fact:
		if o := s[f.OrderID()]; o != nil {
			s[f.OrderID()] = order.Fold(o, f)
		}
	}
}

// byID lists the orders sorted by id, for a report that is the same each time.
func (s seatOrders) byID() []*order.Order {
	return slices.SortedFunc(maps.Values(s), func(a, b *order.Order) int { return bytes.Compare(a.ID[:], b.ID[:]) })
}

// seatsOf returns the ids of an order's seats, sorted.
func seatsOf(o *order.Order) []string {
	var ids []string
	for i := range o.Lines {
		ids = append(ids, o.Lines[i].Seats...)
	}
	slices.Sort(ids)
	return ids
}

// listLeaving lists the seats of those tickets of an order that granted refunds have ended (gone).
// returning are the ones among them that the seat map may still have, because it has not
// acknowledged their return.
func listLeaving(o *order.Order) (gone, returning []string) {
	for i := range o.Refunds {
		if !o.Refunds[i].Approved() {
			continue
		}
		for _, ticket := range o.Refunds[i].Ask.Tickets {
			gone = append(gone, o.Seat(ticket))
			if !o.Refunds[i].Ask.Returned {
				returning = append(returning, o.Seat(ticket))
			}
		}
	}
	return gone, returning
}

// subtractIDs returns the ids that are not among others. It leaves both slices unchanged.
func subtractIDs(ids, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(others, id) })
}

// balanceSeats compares what the seat map has given to orders with the orders of the event. Every
// sold and every unpaid order must have the seats of its live tickets. No seat may belong to two
// orders. Nobody else may have seats, except reservations that presumed abort will release. whole
// reports whether the ledger's first facts are there; otherwise a seat may belong to an order that
// is not known any more.
func (r *Report) balanceSeats(number int64, orders seatOrders, seats *seatmap.State, whole bool) {
	ref := engine.SeatmapRef(number)
	if seats == nil {
		if len(orders) > 0 {
			r.find("%s: %d orders with seats, and no seat map", ref.Name(), len(orders))
		}
		return
	}
	// A reservation that is still open may yet be released. So whether it is right depends on what has become of
	// its order.
	open := make(map[keeper.Claim]bool)
	seats.Open(func(h keeper.Held) { open[h.Claim] = true })
	taken := make(map[keeper.Claim][]string)
	seats.Sales(func(c keeper.Claim, ids []string) {
		slices.Sort(ids)
		taken[c] = ids
		o := orders[c.Order]
		known := o != nil && o.Serial == c.Serial
		switch {
		case known && (open[c] || o.Unpaid() || o.Sold()): // if the order has ended, its release is on its way
		case open[c]:
			r.Orphans += int64(len(ids))
		case whole || o != nil:
			r.find("%s: seats %v are sold to order %s, which has not bought them", ref.Name(), ids, c.Order)
		}
	})
	// The orders are taken by id, so that two audits of the same journal give the same report.
	owner := make(map[string]engine.OrderID)
	for _, o := range orders.byID() {
		if !o.Unpaid() && !o.Sold() {
			continue
		}
		claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
		gone, returning := listLeaving(o)
		ids := subtractIDs(seatsOf(o), gone)
		r.Seats += int64(len(ids))
		if !slices.Equal(ids, subtractIDs(taken[claim], returning)) {
			r.find("%s: %s order %s has the seats %v, not %v", ref.Name(), o.Status, o.ID, taken[claim], ids)
		}
		if o.Unpaid() && !open[claim] {
			r.find("%s: unpaid order %s has no reservation of %v", ref.Name(), o.ID, ids)
		}
		for _, id := range ids {
			if other, twice := owner[id]; twice {
				r.find("%s: seat %s is of the orders %s and %s", ref.Name(), id, other, o.ID)
			}
			owner[id] = o.ID
		}
	}
}

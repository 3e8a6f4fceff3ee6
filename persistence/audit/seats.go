package audit

import (
	"bytes"
	"maps"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// seatOrders are the orders with seats that an event ever had. Its ledger keeps
// open orders only; seats are sold for good.
type seatOrders map[engine.OrderID]*event.Order

// take takes in what a fact says of an order with seats.
func (s seatOrders) take(f engine.Fact) {
	var id engine.OrderID
	switch f := f.(type) {
	case *event.OrderCreated:
		if len(seatsOf(f.Order)) > 0 {
			s[f.Order.ID] = f.Order
		}
		return
	case *event.OrderCompleted:
		id = f.ID
	case *event.OrderEnded:
		id = f.ID
	default:
		return
	}
	if o := s[id]; o != nil {
		s[id] = event.Fold(o, f)
	}
}

// byID lists the orders.
func (s seatOrders) byID() []*event.Order {
	return slices.SortedFunc(maps.Values(s), func(a, b *event.Order) int { return bytes.Compare(a.ID[:], b.ID[:]) })
}

// seatsOf are the ids of an order's seats, in order.
func seatsOf(o *event.Order) []string {
	var ids []string
	for i := range o.Lines {
		ids = append(ids, o.Lines[i].Seats...)
	}
	slices.Sort(ids)
	return ids
}

// balanceSeats compares what the seat map has given to orders with the orders
// that the event has: every completed and every unpaid order has all its seats,
// no seat is of two of them, and nobody else has any, but for reservations that
// presumed abort will release.
func (r *Report) balanceSeats(number int64, orders seatOrders, seats *seatmap.State) {
	ref := engine.SeatmapRef(number)
	if seats == nil {
		if len(orders) > 0 {
			r.find("%s: %d orders with seats, and no seat map", ref.Name(), len(orders))
		}
		return
	}
	open := make(map[keeper.Claim]bool)
	seats.Open(func(h keeper.Held) { open[h.Claim] = true })
	taken := make(map[keeper.Claim][]string)
	seats.Sales(func(c keeper.Claim, ids []string) {
		slices.Sort(ids)
		taken[c] = ids
		o := orders[c.Order]
		known := o != nil && o.Serial == c.Serial
		switch {
		case known && (open[c] || o.Unpaid() || o.Status == event.Completed): // if it has ended, its release is on its way
		case open[c]:
			r.Orphans += int64(len(ids))
		default:
			r.find("%s: seats %v are sold to order %s, which has not bought them", ref.Name(), ids, c.Order)
		}
	})
	owner := make(map[string]engine.OrderID)
	for _, o := range orders.byID() {
		if !o.Unpaid() && o.Status != event.Completed {
			continue
		}
		claim, ids := keeper.Claim{Order: o.ID, Serial: o.Serial}, seatsOf(o)
		r.Seats += int64(len(ids))
		if !slices.Equal(ids, taken[claim]) {
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

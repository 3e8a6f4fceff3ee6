package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
)

// seatsAtOnce is how many seats an order of the seats case names, in one line.
const seatsAtOnce = 2

// measureSeated measures orders that name their seats, until the map of 20,000 has no such pair left. The
// event asks the seat map beside the keeper of the type, and has the order when both have said yes.
func (b *bench) measureSeated(ctx context.Context) (ordersAt, error) {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return ordersAt{}, err
	}
	sale, err := b.organizer.OpenSale(ctx, []rush.SaleType{
		{Name: "Seat", Quantity: 1, MaxPerOrder: 10, MaxPerCustomer: 10}, {Name: "House seat", Quantity: 1, MaxPerOrder: 10, MaxPerCustomer: 10},
	})
	if err != nil {
		return ordersAt{}, err
	}
	house, err := b.organizer.SeatBy(ctx, sale, "arena", 3600)
	if err != nil {
		return ordersAt{}, err
	}
	k, pairs, first := newKeys(), pairsOf(house), b.numbers.Load()+1
	c := &closed{
		net: b.net, hosts: []string{svc.Host}, conns: shoppers, want: 201, numbers: &b.numbers, cpu: b.cpuOf(b.node.PID), drained: b.caughtUp,
		make: func(out []byte, n uint64) []byte {
			if n-first >= uint64(len(pairs)) {
				return out
			}
			var key [36]byte
			var body [256]byte
			order := appendSeated(body[:0], sale.Types[0].ID, pairs[n-first], n)
			return appendPost(out, svc.Host, "/api/v1/orders", "", string(k.append(key[:0], n)), order)
		},
	}
	r, err := c.run(ctx)
	b.disturbed("orders of two seats", r)
	if err == nil && r.total != int64(len(pairs)) {
		err = fmt.Errorf("%d pairs of seats were on sale, and %d were sold", len(pairs), r.total)
	}
	if err != nil {
		return ordersAt{}, fmt.Errorf("orders of two seats: %w", err)
	}
	return b.costOf("orders of two seats", r), b.auditSold(ctx, svc, house, pairs)
}

// pairsOf returns the pairs of seats of all rows that have no odd one.
func pairsOf(h *rush.House) (pairs [][seatsAtOnce]string) {
	for _, row := range h.Rows {
		if len(row.Seats)%seatsAtOnce != 0 {
			continue
		}
		for pair := range slices.Chunk(row.Seats, seatsAtOnce) {
			pairs = append(pairs, [seatsAtOnce]string(pair))
		}
	}
	return pairs
}

// appendSeated appends an order of seats.
func appendSeated(b []byte, ticketType string, seats [seatsAtOnce]string, n uint64) []byte {
	b = append(append(append(b, `{"items":[{"ticketTypeId":"`...), ticketType...), `","quantity":2,"venueSeatIds":["`...)
	b = append(append(append(append(b, seats[0]...), `","`...), seats[1]...), `"]}],"guestEmail":"b`...)
	b = strconv.AppendUint(b, n, 10)
	return append(b, `@load.test","guestName":"Load Buyer"}`...)
}

// auditSold checks that the map shows as taken what was ordered, and nothing else.
func (b *bench) auditSold(ctx context.Context, svc client.API, h *rush.House, pairs [][seatsAtOnce]string) error {
	var states struct{ Held, Sold, Blocked []string }
	if a := svc.Do(ctx, b.net.Source(0), client.Call{Method: "GET", Path: h.Path}, &states); !a.OK() {
		return a.Err()
	}
	taken := make(map[string]bool, len(states.Held)+len(states.Sold))
	for _, seat := range append(states.Held, states.Sold...) {
		taken[seat] = true
	}
	for _, pair := range pairs {
		for _, seat := range pair {
			if !taken[seat] {
				return fmt.Errorf("audit: seat %s was ordered, and the map shows it as free", seat)
			}
		}
	}
	if len(taken) != seatsAtOnce*len(pairs) {
		return fmt.Errorf("audit: %d seats were ordered, and the map shows %d as taken", seatsAtOnce*len(pairs), len(taken))
	}
	return nil
}

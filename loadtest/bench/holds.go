package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
)

// These are the numbers of the holds case: how many shoppers there are, and how many seats one holds at most.
const (
	shoppers  = 64
	mostSeats = 4
)

// selections are what shoppers hold in turn. Each shopper has rows of its own, so that every hold
// is granted. The seats that are taken at the start of a row leave no single seat beside them.
type selections struct{ rows [shoppers][]rush.HouseRow }

func newSelections(h *rush.House) *selections {
	s := &selections{}
	rows := slices.DeleteFunc(slices.Clone(h.Rows), func(r rush.HouseRow) bool { return len(r.Seats) < 2*mostSeats })
	for i, r := range rows {
		s.rows[i%shoppers] = append(s.rows[i%shoppers], r)
	}
	return s
}

// of returns the n-th selection of a shopper.
func (s *selections) of(shopper, n uint64) []string {
	rows := s.rows[shopper]
	return rows[n%uint64(len(rows))].Seats[:1+n%mostSeats]
}

// holds makes holds of 1 to 4 seats, each in the place of the shopper's last.
func holds(host, path string, s *selections) request {
	return func(b []byte, n uint64) []byte {
		var body [256]byte
		return appendPost(b, host, path, "", "", appendHold(body[:0], n%shoppers, s.of(n%shoppers, n/shoppers)))
	}
}

func appendHold(b []byte, shopper uint64, seats []string) []byte {
	b = append(b, `{"holder":"shopper-`...)
	b = strconv.AppendUint(b, shopper, 10)
	b = append(b, `","seatIds":[`...)
	for i, id := range seats {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), id...), '"')
	}
	return append(b, "]}"...)
}

// measureHolds has shoppers change their minds on one map of 20,000 seats, and
// then compares what the map shows as held with their last selections.
func (b *bench) measureHolds(ctx context.Context) error {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return err
	}
	types := []rush.SaleType{
		{Name: "Seat", Quantity: 1, MaxPerOrder: 10, MaxPerCustomer: 10}, {Name: "House seat", Quantity: 1, MaxPerOrder: 10, MaxPerCustomer: 10},
	}
	sale, err := b.organizer.OpenSale(ctx, types)
	if err != nil {
		return err
	}
	house, err := b.organizer.SeatBy(ctx, sale, "arena", 3600)
	if err != nil {
		return err
	}
	s := newSelections(house)
	c := &closed{
		net: b.net, hosts: []string{svc.Host}, conns: shoppers, want: 200, wanted: []byte(`"failed":[]`), numbers: &b.numbers,
		make: holds(svc.Host, "/api/v1"+house.Path+"/hold", s), warm: b.cmd.Warm, measure: b.cmd.Measure,
		cpu: b.cpuOf(b.node.PID), drained: b.caughtUp,
	}
	r, err := c.run(ctx)
	b.disturbed("holds", r)
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	if err := b.auditHolds(ctx, svc, house, s); err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	b.result.HoldsRPS, b.result.HoldServer, b.result.HoldPg = round(r.rps()), round(r.micros(0)), round(r.micros(1))
	b.result.HoldCPU = round(r.micros(0) + r.micros(1))
	say("holds on one map of %d: %.0f/s; server %.1f us, Postgres %.1f us", len(house.Seats), r.rps(), r.micros(0), r.micros(1))
	return nil
}

// auditHolds makes every shopper hold once more, and checks that nothing else is held after that.
func (b *bench) auditHolds(ctx context.Context, svc client.API, h *rush.House, s *selections) error {
	var want []string
	for i := range uint64(shoppers) {
		seats := s.of(i, 7)
		want = append(want, seats...)
		c := client.Call{Method: "POST", Path: h.Path + "/hold", Body: appendHold(nil, i, seats)}
		if a := svc.Do(ctx, b.net.Source(int(i)), c, nil); !a.OK() {
			return a.Err()
		}
	}
	slices.Sort(want)
	for deadline := time.Now().Add(15 * time.Second); ; wait(ctx, 100*time.Millisecond) {
		var states struct{ Held, Sold, Blocked []string }
		if a := svc.Do(ctx, b.net.Source(0), client.Call{Method: "GET", Path: h.Path}, &states); !a.OK() {
			return a.Err()
		}
		slices.Sort(states.Held)
		if slices.Equal(states.Held, want) && len(states.Sold)+len(states.Blocked) == 0 {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("audit: %d seats are held by the shoppers' last selections, and the map shows %d held, %d sold, %d blocked",
				len(want), len(states.Held), len(states.Sold), len(states.Blocked))
		}
	}
}

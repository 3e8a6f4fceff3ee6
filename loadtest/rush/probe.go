package rush

import (
	"context"
	"fmt"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// ProbeEvery is the pause between two tries to write while the outage of one event is measured. It
// is also the precision of that measurement.
const ProbeEvery = 20 * time.Millisecond

// ProbeUntilAcknowledged places small orders until one of them is acknowledged, at most atOnce at a
// time. Each has a key of its own. Orders that are still under way are settled later; Probing waits
// for them.
func (r *Rush) ProbeUntilAcknowledged(ctx context.Context, pause time.Duration, atOnce int, once func(context.Context) bool) error {
	// The channel has room for one, so that a probe that is acknowledged after the end does not wait for anybody.
	acknowledged := make(chan struct{}, 1)
	slots := make(chan struct{}, atOnce)
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case slots <- struct{}{}:
			r.Probing.Go(func() {
				if once(ctx) {
					select {
					case acknowledged <- struct{}{}:
					default: // another was first
					}
				}
				<-slots
			})
		default: // all are waiting for an answer
		}
		select {
		case <-acknowledged:
			return nil
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// PlaceProbe orders one free ticket and reports whether the order was acknowledged.
func (r *Rush) PlaceProbe(ctx context.Context, svc client.API, ticketType string) bool {
	return r.SendProbe(ctx, svc, r.Network, ticketType).Code == ""
}

// SendProbe orders one free ticket once, from an address of the network, and returns the answer.
// Probes have numbers above all buyers, so that the audit finds their orders too.
func (r *Rush) SendProbe(ctx context.Context, svc client.API, network *client.Network, ticketType string) openloop.Result {
	b := r.NewBuyer(probeBuyers + int(r.probes.Add(1)))
	b.svc, b.From, b.Email = svc, network.Source(b.Number), fmt.Sprintf("probe-%d@load.test", b.Number)
	b.Items = []Item{{TicketTypeID: ticketType, Quantity: 1}}
	b.Placement = Encode(PlaceOrder{Items: b.Items, GuestEmail: b.Email, GuestName: "Probe"})
	// A probe ends with its placing: it is free, and the buyer looks at nothing.
	b.intention = walksAway
	b.turnTo((*Buyer).PlaceOrder)
	return b.Step(ctx)
}

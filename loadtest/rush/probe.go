package rush

import (
	"context"
	"fmt"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// ProbeEvery is the pause between two writes that are tried while the outage of one event is measured.
const ProbeEvery = 20 * time.Millisecond

// ProbeUntilAcknowledged places small orders, each under a key of its own, one every pause and as many
// at once, until one is acknowledged. The others are left to be settled; probing waits for them.
func (r *Rush) ProbeUntilAcknowledged(ctx context.Context, pause time.Duration, atOnce int, once func(context.Context) bool) error {
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

// PlaceProbe reports whether one order of a free ticket was acknowledged.
func (r *Rush) PlaceProbe(ctx context.Context, svc client.API, ticketType string) bool {
	return r.SendProbe(ctx, svc, r.Network, ticketType).Code == ""
}

// SendProbe orders one free ticket, once, from an address of the network, and returns the answer.
func (r *Rush) SendProbe(ctx context.Context, svc client.API, network *client.Network, ticketType string) openloop.Result {
	b := r.NewBuyer(probeBuyers + int(r.probes.Add(1)))
	b.svc, b.From, b.Email = svc, network.Source(b.Number), fmt.Sprintf("probe-%d@load.test", b.Number)
	b.Items = []Item{{TicketTypeID: ticketType, Quantity: 1}}
	b.Placement = Encode(PlaceOrder{Items: b.Items, GuestEmail: b.Email, GuestName: "Probe"})
	b.intention = walksAway
	b.turnTo((*Buyer).PlaceOrder)
	return b.Step(ctx)
}

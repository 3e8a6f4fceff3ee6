package money

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// bystanders order tickets of an event that nobody pays for, one after the other, all the time. They
// tell what a provider that takes its time costs those who want nothing of it.
type bystanders struct {
	ticketType string
	slow       atomic.Bool // providers are slow just now

	mu             sync.Mutex
	atEase, beside *hdrhistogram.Histogram // microseconds of orders while no provider is slow, and beside slow ones
}

// slowness is how long a slow provider takes for an answer.
const slowness = 2500 * time.Millisecond

// openBystanders puts their event on sale.
func (m *market) openBystanders(ctx context.Context) error {
	const most = int64(time.Minute / time.Microsecond)
	m.bystanders.atEase, m.bystanders.beside = hdrhistogram.New(1, most, 3), hdrhistogram.New(1, most, 3)
	sold, err := m.organizer.OpenSale(ctx, []rush.SaleType{{Name: "Standing", Quantity: quantity, MaxPerOrder: 1, MaxPerCustomer: 1}})
	if err != nil {
		return err
	}
	m.bystanders.ticketType = sold.Types[0].ID
	return nil
}

// order places orders until the context ends. An order that was not answered because the node was
// killed is not counted.
func (b *bystanders) order(ctx context.Context, svc client.API, from *client.Source) {
	for i := 0; ctx.Err() == nil; i++ {
		body := map[string]any{
			"items": []rush.Item{{TicketTypeID: b.ticketType, Quantity: 1}}, "guestEmail": fmt.Sprintf("bystander-%d@load.test", i), "guestName": "Load Bystander",
		}
		slow, began := b.slow.Load(), time.Now()
		a := svc.Do(ctx, from, client.Call{Method: "POST", Path: "/orders", Body: rush.Encode(body)}, nil)
		if took := time.Since(began); a.OK() && slow == b.slow.Load() {
			b.note(slow, took)
		}
		rig.Wait(ctx, 20*time.Millisecond)
	}
}

// note takes down how long an order took.
func (b *bystanders) note(slow bool, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.atEase
	if slow {
		h = b.beside
	}
	_ = h.RecordValue(took.Microseconds()) // what is longer than a minute was given up before
}

// say returns what the orders took, in a line.
func (b *bystanders) say() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ms := func(h *hdrhistogram.Histogram, q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }
	return fmt.Sprintf("orders of an event that nobody pays for: p50 %.1f and p99 %.1f ms of %d; while providers take %s for an answer: p50 %.1f and p99 %.1f ms of %d\n",
		ms(b.atEase, 50), ms(b.atEase, 99), b.atEase.TotalCount(), slowness, ms(b.beside, 50), ms(b.beside, 99), b.beside.TotalCount())
}

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

// bystanders order free tickets all the time, one after another. They show what a slow provider
// costs people who do not need the provider.
type bystanders struct {
	ticketType string
	// The providers are slow at the moment.
	slow atomic.Bool

	mu sync.Mutex
	// How long orders took while no provider was slow, and while one was, in microseconds.
	atEase, beside *hdrhistogram.Histogram
}

// slowness is the time that a slow provider takes for an answer.
const slowness = 2500 * time.Millisecond

// openBystanders puts the bystanders' event on sale.
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

// order places orders until the context ends. Orders without an answer, because the node was
// killed, are not counted. Orders during which the providers changed are not counted either.
func (b *bystanders) order(ctx context.Context, svc client.API, from *client.Source) {
	for i := 0; ctx.Err() == nil; i++ {
		body := map[string]any{
			"items": []rush.Item{{TicketTypeID: b.ticketType, Quantity: 1}}, "guestEmail": fmt.Sprintf("bystander-%d@load.test", i), "guestName": "Load Bystander",
		}
		// The providers' state is read before and after the order. If it has changed, the time belongs to neither
		// side.
		slow, began := b.slow.Load(), time.Now()
		a := svc.Do(ctx, from, client.Call{Method: "POST", Path: "/orders", Body: rush.Encode(body)}, nil)
		if took := time.Since(began); a.OK() && slow == b.slow.Load() {
			b.note(slow, took)
		}
		rig.Wait(ctx, 20*time.Millisecond)
	}
}

// note records how long an order took.
func (b *bystanders) note(slow bool, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.atEase
	if slow {
		h = b.beside
	}
	_ = h.RecordValue(took.Microseconds()) // what is longer than a minute was given up before
}

// say returns a line about how long the orders took.
func (b *bystanders) say() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ms := func(h *hdrhistogram.Histogram, q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }
	return fmt.Sprintf("orders of an event that nobody pays for: p50 %.1f and p99 %.1f ms of %d; while providers take %s for an answer: p50 %.1f and p99 %.1f ms of %d\n",
		ms(b.atEase, 50), ms(b.atEase, 99), b.atEase.TotalCount(), slowness, ms(b.beside, 50), ms(b.beside, 99), b.beside.TotalCount())
}

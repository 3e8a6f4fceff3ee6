package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/panics"
)

// Feed shows stock and seat maps from this node's memory: it asks an actor once, and then keeps the
// answer up to date from the feed of committed facts. Its methods may be called by any goroutine.
type Feed struct {
	stock *committed.Stock
	seats *committed.Seats
	log   *slog.Logger
	node  *cluster.Node

	life    context.Context //nolint:containedctx // the context of the reloads
	end     context.CancelFunc
	reloads sync.WaitGroup
}

// NewFeed shows what stock and seats learn from the committed facts. Before Start it can ask no
// actor.
func NewFeed(stock *committed.Stock, seats *committed.Seats, log *slog.Logger) *Feed {
	f := &Feed{stock: stock, seats: seats, log: log}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// Start gives the feed the node through which it asks actors. It must be called before any other method.
func (f *Feed) Start(node *cluster.Node) { f.node = node }

// Close ends the reloads and waits for them.
func (f *Feed) Close() {
	f.end()
	f.reloads.Wait()
}

// Seats returns an event's seat map as it was last committed, also for an event that uses none.
func (f *Feed) Seats(ctx context.Context, number int64) (*committed.SeatMap, error) {
	if m, ok := f.seats.Get(number); ok {
		return m, nil
	}
	return f.seats.Load(number, func() (*seatmap.Map, error) {
		if err := f.node.Follow(ctx, number); err != nil {
			return nil, err
		}
		return cluster.AskFor[seatmap.Map](ctx, f.node, engine.SeatmapRef(number), seatmap.View{})
	})
}

// Missed drops the state of all events except those for which kept returns true, and reloads the seat maps that somebody
// watches. It is called when the feed may have missed facts.
func (f *Feed) Missed(kept func(event int64) bool) {
	f.stock.Retain(kept)
	for _, event := range f.seats.Retain(kept) {
		f.reloads.Go(func() { panics.Keep(f.life, f.log, "reload of a seat map", func() { f.reloadSeats(event) }) })
	}
}

// reloadSeats loads a watched seat map again, as soon as its actor can be reached.
func (f *Feed) reloadSeats(event int64) {
	for f.life.Err() == nil {
		if _, known := f.seats.Get(event); known {
			return
		}
		ctx, cancel := context.WithTimeout(f.life, reloadCall)
		_, err := f.Seats(ctx, event)
		cancel()
		if err == nil {
			return
		}
		select {
		case <-time.After(reloadPause):
		case <-f.life.Done():
		}
	}
}

const (
	reloadCall  = 5 * time.Second
	reloadPause = 200 * time.Millisecond
)

// Left returns how many tickets of a type are left. It asks the type's actor the first time; from then on the feed of
// facts keeps the number up to date.
func (f *Feed) Left(ctx context.Context, ref engine.Ref) (int64, error) {
	if left, ok := f.stock.Get(ref); ok {
		return left, nil
	}
	return f.stock.Load(ref, func() (int64, error) {
		if err := f.node.Follow(ctx, ref.Home); err != nil {
			return 0, err
		}
		r, err := cluster.AskFor[inventory.Record](ctx, f.node, ref, inventory.Get{})
		if err != nil {
			return 0, err
		}
		return r.Available, nil
	})
}

// Where returns the function that gives the label, section and row of a seat in the order's event, or nil if the order
// has no seats. An event's map does not change while any of its seats is sold.
func (f *Feed) Where(ctx context.Context, o *order.Order) (view.Where, error) {
	if !o.Seated() {
		return nil, nil
	}
	m, err := f.Seats(ctx, o.ID.Event())
	if err != nil {
		return nil, err
	}
	return m.Where, nil
}

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

// Feed returns stock and seat maps from this node's memory. It asks an actor once, and then updates
// the answer by the committed facts. Its methods may be called by any goroutine.
type Feed struct {
	stock *committed.Stock
	seats *committed.Seats
	log   *slog.Logger
	node  *cluster.Node

	life    context.Context //nolint:containedctx // the context of the reloads, which end cancels
	end     context.CancelFunc
	reloads sync.WaitGroup
}

// NewFeed makes a feed of stock and seats, which the node updates by the committed facts. Start
// must be called before the feed is used.
func NewFeed(stock *committed.Stock, seats *committed.Seats, log *slog.Logger) *Feed {
	f := &Feed{stock: stock, seats: seats, log: log}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// Start sets the node by which the feed asks actors. Call it once, before any other method.
func (f *Feed) Start(node *cluster.Node) { f.node = node }

// Close ends the reloads and waits for them.
func (f *Feed) Close() {
	f.end()
	f.reloads.Wait()
}

// Seats returns an event's seat map by the last committed facts. If the event has no seats, the
// map's layout is nil.
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

// Missed forgets the stock and the seat maps of all events except those for which kept returns
// true, because this node may have missed facts about them. In the background, it loads the seat
// maps that somebody watches again.
func (f *Feed) Missed(kept func(event int64) bool) {
	f.stock.Retain(kept)
	for _, event := range f.seats.Retain(kept) {
		f.reloads.Go(func() { panics.Keep(f.life, f.log, "reload of a seat map", func() { f.reloadSeats(event) }) })
	}
}

// reloadSeats loads a watched seat map again. While that fails, it tries again every reloadPause,
// until the map is loaded or the feed is closed.
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

// Left returns how many tickets of a type are available now, or inventory.Unlimited if the type has no limit. It
// asks the type's actor the first time, and then knows the stock from committed facts.
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

// Where returns the function that tells the places of an order's seats, or nil if the order has no
// seats. An event's layout does not change while any of its seats is sold, so the places stay
// right.
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

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
	"boxoffice/persistence/panics"
	"boxoffice/persistence/readmodel"
)

// Feed shows stock and seat maps from this node's memory: an actor is asked once, and
// then the feed of committed facts keeps what it said. Its methods may be called by any
// goroutine.
type Feed struct {
	stock *readmodel.Stock
	seats *readmodel.Seats
	log   *slog.Logger
	node  *cluster.Node

	life    context.Context //nolint:containedctx // of the reloads
	end     context.CancelFunc
	reloads sync.WaitGroup
}

// NewFeed shows what stock and seats take from the committed facts. It can ask no actor
// before Start.
func NewFeed(stock *readmodel.Stock, seats *readmodel.Seats, log *slog.Logger) *Feed {
	f := &Feed{stock: stock, seats: seats, log: log}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// Start says where the actors are.
func (f *Feed) Start(node *cluster.Node) { f.node = node }

// Close ends the reloads and waits for them.
func (f *Feed) Close() {
	f.end()
	f.reloads.Wait()
}

// Seats is an event's seat map as last committed, whether one is attached or
// not.
func (f *Feed) Seats(ctx context.Context, number int64) (*readmodel.SeatMap, error) {
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

// Missed forgets what is shown of all events but those that kept names, and loads
// the seat maps again that somebody watches.
func (f *Feed) Missed(kept func(event int64) bool) {
	f.stock.Retain(kept)
	for _, event := range f.seats.Retain(kept) {
		f.reloads.Go(func() { panics.Keep(f.life, f.log, "reload of a seat map", func() { f.reload(event) }) })
	}
}

// reload makes a watched seat map known again, once its actor is to be had.
func (f *Feed) reload(event int64) {
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

// Left is a ticket type's live stock: from the feed, and the first time from the
// actor.
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

// Where says where the seats of an order's tickets are; nil when it has none.
// The map of an event stands still while a seat of it is sold.
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

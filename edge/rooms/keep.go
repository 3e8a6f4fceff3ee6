package rooms

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/queue"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/rooms"
)

const (
	keepEvery = time.Second      // how often rooms are looked after
	keepCall  = 15 * time.Second // how long a look at one room may take
	// forgetAfter is how long a room must have ended before its row in the table is closed. The request that
	// opens a room writes the row before it asks the actor, so a new row may look like a room that has ended.
	forgetAfter = time.Minute
	// slowestRate is how many a steered room admits in a minute at least.
	slowestRate = 30
	// fastestRate is how many a steered room admits in a minute at most.
	fastestRate = 60_000
)

// keptAtATime is how many rooms are looked after at once, so that a room with a slow beacon or
// actor holds up no other.
const keptAtATime = 8

// keptRoom does for one room what the room's actor cannot do, because it needs the network or a table: it asks a
// witness to sign the draw's statement, fetches the beacon's round, adjusts the rate, and marks
// the room as ended in the table of rooms. One goroutine at a time uses it.
type keptRoom struct {
	*Handlers
	row rooms.Room
	// ended is when Keep first saw that the room had ended; zero: the room has not ended.
	ended time.Time
	// fetchAt is the time before which the beacon's round is not fetched (again).
	fetchAt time.Time
	// askAt is the time before which the witness is not asked (again).
	askAt time.Time
	// seen is the number of the last draw whose statement the witness has signed for this keptRoom.
	seen uint32
	// served holds how many entries had been admitted at earlier looks, the oldest first. It goes back as far
	// as an admission is valid, and one look further.
	served []servedAt
	// judged holds the counts of orders at the last judgement by isSlow, or before that when the keptRoom was made.
	judged orderCount
}

// servedAt is how many entries had been admitted at a moment.
type servedAt struct {
	at     int64 // unix milliseconds
	served uint32
}

// Keep looks after all rooms until the context ends. It runs on one node of a cluster, so that no
// two nodes steer the same room.
func (h *Handlers) Keep(ctx context.Context) {
	kept := map[rooms.Room]*keptRoom{}
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		was := kept
		kept = make(map[rooms.Room]*keptRoom, len(was))
		for _, row := range *h.active.Load() {
			kept[row] = cmp.Or(was[row], &keptRoom{Handlers: h, row: row, judged: h.pace.read()})
		}
		panics.DoEach(h.Log, "waiting rooms", slices.Collect(maps.Values(kept)), keptAtATime, func(k *keptRoom) {
			if err := k.lookAfter(ctx); err != nil && ctx.Err() == nil {
				h.Log.WarnContext(ctx, "waiting room", slog.Int64("event", k.row.Event), slog.Any("error", err))
			}
		})
	}
}

// lookAfter does what a room needs in its present phase, if it needs anything.
func (k *keptRoom) lookAfter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, keepCall)
	defer cancel()
	r, err := cluster.AskFor[queue.Record](ctx, k.Node, engine.QueueRef(k.row.Event), queue.Get{})
	if err != nil {
		return err
	}
	now := k.Node.Now()
	if r.Phase == queue.NoRoom.String() {
		return k.forgetRoom(ctx, now)
	}
	k.ended = time.Time{}
	switch {
	case r.Phase == queue.Closed.String() && now.UnixMilli() < r.Settings.Chain.Time(r.Settings.Rules.Round):
		return k.witnessStatement(ctx, r, now)
	case r.Phase == queue.Closed.String():
		return k.bringRound(ctx, r, now)
	case r.Settings.Auto && !r.Paused && r.Served < r.Count && r.Phase == queue.Ordered.String() && now.UnixMilli() >= r.Settings.Rules.OpensAt:
		return k.steerRate(ctx, r, now.UnixMilli())
	}
	return nil
}

// forgetRoom marks a room as ended in the table of rooms, once the room has been seen ended for forgetAfter. Nodes
// then no longer look after it. The first call only notes the time.
func (k *keptRoom) forgetRoom(ctx context.Context, now time.Time) error {
	if k.ended.IsZero() {
		k.ended = now
	}
	if now.Sub(k.ended) < forgetAfter {
		return nil
	}
	return k.Rooms.Close(ctx, k.row)
}

// refetch is the least time between two requests for a room's round, or to its witness.
const refetch = 3 * time.Second

// witnessStatement asks an outside witness to sign the draw's statement before the beacon's round is known. If the
// witness has not signed by then, the draw goes on, and its document has no witness.
func (k *keptRoom) witnessStatement(ctx context.Context, r *queue.Record, now time.Time) error {
	if k.Witness == nil || k.seen == r.Statement.Draw || now.Before(k.askAt) {
		return nil
	}
	k.askAt = now.Add(refetch)
	token, err := k.Witness.Stamp(ctx, r.Statement.Digest())
	if err != nil {
		return err
	}
	if err := k.Rooms.AddToken(ctx, k.row.Event, r.Statement.Draw, token); err != nil {
		return err
	}
	k.seen = r.Statement.Draw
	k.Pages.Forget(roomKey(k.row.Event))
	return nil
}

// bringRound fetches the round of a draw whose time has come, and brings it to the room's actor. It does nothing if it
// was called less than refetch ago.
func (k *keptRoom) bringRound(ctx context.Context, r *queue.Record, now time.Time) error {
	chain, round := &r.Settings.Chain, r.Settings.Rules.Round
	if now.Before(k.fetchAt) {
		return nil
	}
	k.fetchAt = now.Add(refetch)
	signature, err := k.Beacon.fetchRound(ctx, chain, round)
	if err != nil {
		return fmt.Errorf("beacon: %w", err)
	}
	_, err = cluster.AskFor[queue.Record](ctx, k.Node, engine.QueueRef(k.row.Event), queue.Bring{Signature: signature})
	if err == nil {
		k.Pages.Forget(roomKey(k.row.Event))
	}
	return err
}

// steerRate sets the rate of a room in which people wait. It raises the rate by a quarter while the node keeps up
// with its orders, and halves it if the node commits about as much as it can or if too many orders are slow. It
// admits at most about one and a half times as many as there are tickets left, because some who are admitted do
// not buy. The rate stays between slowestRate and fastestRate. It makes no change of less than a tenth, because every
// change is a fact in the journal.
func (k *keptRoom) steerRate(ctx context.Context, r *queue.Record, at int64) error {
	rate := r.Settings.Rate + r.Settings.Rate/4 + 1
	if slow := k.isSlow(); slow || k.Busy() {
		rate = r.Settings.Rate / 2
	}
	left, err := k.countLeft(ctx)
	if err != nil {
		return err
	}
	if left >= 0 {
		room := left*3/2 - k.openAdmissions(r, at)
		rate = min(rate, max(room, 0)*60_000/r.Settings.Hold+slowestRate)
	}
	rate = min(max(rate, slowestRate), fastestRate)
	// A change of less than a tenth is not worth a fact.
	if change := rate - r.Settings.Rate; max(change, -change)*10 < r.Settings.Rate {
		return nil
	}
	_, err = cluster.AskFor[queue.Record](ctx, k.Node, engine.QueueRef(k.row.Event), queue.Steer{Rate: rate})
	return err
}

// openAdmissions returns how many entries were admitted so lately that they may still order. Their tickets may
// still be in the stock.
func (k *keptRoom) openAdmissions(r *queue.Record, at int64) int64 {
	list := append(k.served, servedAt{at, r.Served})
	// Of the looks from before the span of time for which an admission is valid, only the last one is kept.
	for len(list) > 1 && list[1].at <= at-r.Settings.Hold {
		list = list[1:]
	}
	k.served = list
	return int64(r.Served) - int64(list[0].served)
}

// countLeft returns how many tickets the event has left, or -1 if one of its types is unlimited.
func (k *keptRoom) countLeft(ctx context.Context) (int64, error) {
	page, err := k.Pages.Event(ctx, k.row.Event)
	if err != nil {
		return 0, err
	}
	var sum int64
	for i := range page.Types {
		left, err := k.Feed.Left(ctx, page.Types[i].Ref)
		if err != nil {
			return 0, err
		}
		if left < 0 {
			return -1, nil
		}
		sum += left
	}
	return sum, nil
}

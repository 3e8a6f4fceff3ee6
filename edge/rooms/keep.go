package rooms

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/queue"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/rooms"
)

const (
	keepEvery = time.Second
	keepCall  = 15 * time.Second // bounds a look at one room
	// forgetAfter is for how long a room must have ended before its row is closed: the request that
	// opens it writes the row first.
	forgetAfter = time.Minute
	// slowestRate is the least that a steered room admits in a minute.
	slowestRate = 30
	// fastestRate is the most.
	fastestRate = 60_000
)

// keeper does for rooms what takes the outside world: it brings the beacon's rounds, steers rates, and
// closes the rows of rooms that have ended.
type keeper struct {
	*Handlers
	ended  map[rooms.Room]time.Time
	served map[int64][]servedAt
	begins map[int64]time.Time // when a round is fetched again
}

// servedAt is how many were admitted at a moment.
type servedAt struct {
	at     int64 // unix milliseconds
	served uint32
}

// Keep looks after all rooms until the context ends. One node of a cluster does.
func (h *Handlers) Keep(ctx context.Context) {
	k := keeper{h, map[rooms.Room]time.Time{}, map[int64][]servedAt{}, map[int64]time.Time{}}
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for _, r := range *h.active.Load() {
			err := panics.Catch(h.Log, "waiting rooms", func() error { return k.lookAfter(ctx, r) })
			if err != nil && ctx.Err() == nil {
				h.Log.WarnContext(ctx, "waiting room", slog.Int64("event", r.Event), slog.Any("error", err))
			}
		}
	}
}

// lookAfter does what one room needs.
func (k *keeper) lookAfter(ctx context.Context, row rooms.Room) error {
	ctx, cancel := context.WithTimeout(ctx, keepCall)
	defer cancel()
	r, err := cluster.AskFor[queue.Record](ctx, k.Node, engine.QueueRef(row.Event), queue.Get{})
	if err != nil {
		return err
	}
	now := k.Node.Now()
	if r.Phase == queue.NoRoom.String() {
		return k.forgetRoom(ctx, row, now)
	}
	delete(k.ended, row)
	switch {
	case r.Phase == queue.Closed.String():
		return k.bringRound(ctx, row.Event, r, now)
	case r.Settings.Auto && !r.Paused && r.Served < r.Count && r.Phase == queue.Ordered.String() && now.UnixMilli() >= r.Settings.Rules.OpensAt:
		return k.steerRate(ctx, row.Event, r, now.UnixMilli())
	}
	return nil
}

// forgetRoom closes the row of a room that ended a while ago.
func (k *keeper) forgetRoom(ctx context.Context, row rooms.Room, now time.Time) error {
	since, known := k.ended[row]
	if !known {
		k.ended[row] = now
		return nil
	}
	if now.Sub(since) < forgetAfter {
		return nil
	}
	delete(k.ended, row)
	delete(k.served, row.Event)
	return k.Rooms.Close(ctx, row)
}

// refetch is how long a round that could not be fetched is left alone.
const refetch = 3 * time.Second

// bringRound brings the round of a draw once it is signed.
func (k *keeper) bringRound(ctx context.Context, event int64, r *queue.Record, now time.Time) error {
	chain, round := &r.Settings.Chain, r.Settings.Rules.Round
	if now.UnixMilli() < chain.Time(round) || now.Before(k.begins[event]) {
		return nil
	}
	k.begins[event] = now.Add(refetch)
	signature, err := k.Beacon.fetchRound(ctx, chain, round)
	if err != nil {
		return fmt.Errorf("beacon: %w", err)
	}
	_, err = cluster.AskFor[queue.Record](ctx, k.Node, engine.QueueRef(event), queue.Bring{Signature: signature})
	if err == nil {
		delete(k.begins, event)
		k.Pages.Forget(roomKey(event))
	}
	return err
}

// steerRate sets the rate of a room in which somebody waits: faster by a quarter while the node keeps up with
// its orders, half of it when it does not, and no more than what the stock lasts for, times 1.5, because
// some who are admitted do not buy. Each change is a fact, so a small one is left out.
func (k *keeper) steerRate(ctx context.Context, event int64, r *queue.Record, at int64) error {
	rate := r.Settings.Rate + r.Settings.Rate/4 + 1
	if k.Busy() {
		rate = r.Settings.Rate / 2
	}
	left, err := k.countLeft(ctx, event)
	if err != nil {
		return err
	}
	if left >= 0 {
		room := left*3/2 - k.openAdmissions(event, r, at)
		rate = min(rate, max(room, 0)*60_000/r.Settings.Hold+slowestRate)
	}
	rate = min(max(rate, slowestRate), fastestRate)
	if change := rate - r.Settings.Rate; max(change, -change)*10 < r.Settings.Rate {
		return nil
	}
	_, err = cluster.AskFor[queue.Record](ctx, k.Node, engine.QueueRef(event), queue.Steer{Rate: rate})
	return err
}

// openAdmissions is how many were admitted within the time for which an admission is valid.
func (k *keeper) openAdmissions(event int64, r *queue.Record, at int64) int64 {
	list := append(k.served[event], servedAt{at, r.Served})
	for len(list) > 1 && list[1].at <= at-r.Settings.Hold {
		list = list[1:]
	}
	k.served[event] = list
	return int64(r.Served) - int64(list[0].served)
}

// countLeft is how many tickets an event has left, or -1 if a type is without limit.
func (k *keeper) countLeft(ctx context.Context, event int64) (int64, error) {
	page, err := k.Pages.Event(ctx, event)
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

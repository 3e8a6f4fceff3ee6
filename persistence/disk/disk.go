// Package disk watches how much room is left on the file system that a private Postgres shares with
// everything else in the data directory. A Postgres that finds no room for its log shuts down.
// So the node refuses new writes before that, while some room is left.
//
// The node starts one Watch before its Postgres, and stops the Watch after the Postgres. Look is for a single
// check.
package disk

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Room is the size of a file system and how much of it is free.
type Room struct {
	Free uint64 `json:"freeBytes"` // for users other than root
	Size uint64 `json:"sizeBytes"`
}

// Look reads the room of the file system that a directory is on.
func Look(dir string) (Room, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return Room{}, fmt.Errorf("room of %s: %w", dir, err)
	}
	block := uint64(fs.Bsize) //nolint:gosec // comes from the kernel, above 0
	return Room{Free: fs.Bavail * block, Size: fs.Blocks * block}, nil
}

// Limits say how much free room is too little.
type Limits struct {
	Warn    uint // megabytes: with less free, the operator should make room
	Reserve uint // megabytes: with less free, nothing more may be written
}

// Level reports whether there is enough room.
type Level string

// These are the levels of room. A room counts as full before it is used up, because by then
// Postgres would have stopped.
const (
	Plenty Level = "plenty"
	Low    Level = "low"
	Full   Level = "full"
)

// LevelOf returns the level of a room.
func (l Limits) LevelOf(r Room) Level {
	switch free := r.Free >> 20; {
	case free < uint64(l.Reserve):
		return Full
	case free < uint64(l.Warn):
		return Low
	default:
		return Plenty
	}
}

// every is the time between two looks. Reserve must exceed what a rush writes in that time, some 10 MB.
const every = 250 * time.Millisecond

// Config says which directory is watched, and its limits.
type Config struct {
	Limits
	Dir string
	Log *slog.Logger
}

// Watch looks at the room regularly, and logs when its level changes. Its methods may be called by
// any goroutine.
type Watch struct {
	cfg     Config
	seen    atomic.Pointer[Room]
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start looks for the first time before it returns, and then regularly until Stop. It fails if the
// directory can't be looked at.
func Start(ctx context.Context, cfg Config) (*Watch, error) {
	first, err := Look(cfg.Dir)
	if err != nil {
		return nil, err
	}
	w := &Watch{cfg: cfg}
	w.seen.Store(&first)
	w.logChange(ctx, Plenty, first)
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.running.Go(func() { w.run(ctx) })
	return w, nil
}

// Stop ends the watch and waits until its goroutine has ended.
func (w *Watch) Stop(context.Context) error {
	w.cancel()
	w.running.Wait()
	return nil
}

// run looks at the room until ctx ends. A look that fails leaves the last room in place.
func (w *Watch) run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := Look(w.cfg.Dir)
		if err != nil { // the directory is gone, which its writers will report
			w.cfg.Log.DebugContext(ctx, "room not known", slog.Any("error", err))
			continue
		}
		w.logChange(ctx, w.cfg.LevelOf(*w.seen.Swap(&now)), now)
	}
}

// logChange logs the level of a room if it has changed.
func (w *Watch) logChange(ctx context.Context, before Level, now Room) {
	level := w.cfg.LevelOf(now)
	if level == before {
		return
	}
	log := w.cfg.Log.With(slog.String("dir", w.cfg.Dir), slog.Uint64("free_mb", now.Free>>20), slog.Uint64("size_mb", now.Size>>20),
		slog.Uint64("warn_mb", uint64(w.cfg.Warn)), slog.Uint64("reserve_mb", uint64(w.cfg.Reserve)))
	switch level {
	case Plenty:
		log.InfoContext(ctx, "disk has room again")
	case Low:
		log.WarnContext(ctx, "disk runs full")
	case Full:
		log.ErrorContext(ctx, "disk is full: nothing is sold until there is room")
	}
}

// Room returns what the last look found.
func (w *Watch) Room() Room { return *w.seen.Load() }

// Full reports whether nothing more may be written, as of the last look.
func (w *Watch) Full() bool { return w.cfg.LevelOf(w.Room()) == Full }

// Await waits until the room is no longer full, or ctx ends.
func (w *Watch) Await(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for w.Full() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

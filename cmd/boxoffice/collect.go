package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// collectsAsTold says whether the process was told how to collect its garbage.
func collectsAsTold() bool { return os.Getenv("GOGC") != "" }

// collectSeldom trades memory for a rush's slowest answers. Most of a node's heap is
// the state of its actors, which lives long, and on two cores every collection holds
// hundreds of buyers up. The heap may grow to nine times of what lives, but not
// beyond half of the memory that the process may use. GOGC and GOMEMLIMIT have the
// last word.
func collectSeldom() {
	if collectsAsTold() {
		return
	}
	percent := 800
	memory := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	if _, err := memlimit.Set(memlimit.WithProvider(memory), memlimit.WithRatio(.5)); err != nil {
		percent = 200 // nobody knows how much there is
	}
	debug.SetGCPercent(percent)
}

const (
	// restRate is how many commands a second a node at rest has at most: so few that a
	// collection meets one or two of them.
	restRate = 20
	// restTick is how often it looks whether it rests.
	restTick = 250 * time.Millisecond
	// worthCollecting is the least garbage, in bytes, for which it collects then.
	worthCollecting = 64 << 20
)

// startCollecting has the node collect its garbage while it rests, so that a rush
// begins with room in the heap: one of 200,000 orders is over before the next collection.
func (n *node) startCollecting(context.Context) error {
	if collectsAsTold() {
		return nil
	}
	commands := func() int64 { s := n.cluster.Stats(); return s.Here + s.There }
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		collectAtRest(ctx, (&meter{count: commands, limit: restRate}).exceeded, garbage, runtime.GC)
	})
	n.started(func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// collectAtRest collects when it finds the node at rest twice in a row, and enough
// garbage.
func collectAtRest(ctx context.Context, busy func() bool, garbage func() (bytes, live uint64), collect func()) {
	ticker := time.NewTicker(restTick)
	defer ticker.Stop()
	for rests := 0; ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if rests++; busy() {
			rests = 0
		}
		if rests < 2 {
			continue
		}
		if bytes, live := garbage(); bytes >= max(worthCollecting, live/2) {
			collect()
		}
	}
}

// garbage is how much of the heap has been used since the last collection, and what
// was found alive by that.
func garbage() (bytes, live uint64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	used, live := s[0].Value.Uint64(), s[1].Value.Uint64()
	return used - min(used, live), live
}

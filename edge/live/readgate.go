package live

import (
	"context"
	"runtime"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// A readGate bounds how many public reads ask the database at a time. Anybody can send reads, and
// orders need the same database. So when a crowd searches, the searches wait for each other, and
// orders do not wait for them. A readGate starts no goroutine.
type readGate struct {
	places  chan struct{} // has a value for each read that asks the database now
	waiting chan struct{} // has a value for each read that waits for a place
}

// readWait is how long a read waits for a place before it is refused.
const readWait = time.Second

func newReadGate(places, waiting int) *readGate {
	return &readGate{places: make(chan struct{}, places), waiting: make(chan struct{}, waiting)}
}

// searchGate admits the reads that look through a list, which may take tens of
// milliseconds each.
func searchGate() *readGate { return newReadGate(max(1, runtime.GOMAXPROCS(0)/2), 32) }

// pageGate admits all other reads, such as those of an event's page, which take about a millisecond.
func pageGate() *readGate { return newReadGate(2*runtime.GOMAXPROCS(0), 256) }

// enter waits for a place. The caller must call leave when its read is done. It refuses with
// OVERLOADED when too many wait already, or when the wait takes too long.
func (g *readGate) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.places }
	select {
	case g.places <- struct{}{}:
		return leave, nil
	default:
	}
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return nil, engine.Refuse(engine.Overloaded, nil)
	}
	patience := time.NewTimer(readWait)
	defer patience.Stop()
	select {
	case g.places <- struct{}{}:
		return leave, nil
	case <-patience.C:
		return nil, engine.Refuse(engine.Overloaded, nil)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// computeOnce calls make. If ctx belongs to a public read, it first waits at the gate, and sets
// Computed in the call, because the answer is not from memory.
func computeOnce[T any](ctx context.Context, g *readGate, make func() (T, error)) (none T, err error) {
	if c := route.CallOf(ctx); c != nil && !c.Op.Writes() && c.Op.Tier == route.TierPublic {
		c.Computed = true
		leave, err := g.enter(ctx)
		if err != nil {
			return none, err
		}
		defer leave()
	}
	return make()
}

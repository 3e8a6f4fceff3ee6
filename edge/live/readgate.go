package live

import (
	"context"
	"runtime"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// A readGate limits how many public reads use the database at the same time. Orders need the same database, so when a
// crowd searches, the searches must wait for each other and must not make orders wait. A readGate starts no goroutine.
type readGate struct {
	places  chan struct{} // has a value for each read that uses the database now
	waiting chan struct{} // has a value for each read that waits for a place
}

// readWait is how long a read waits for a place.
const readWait = time.Second

func newReadGate(places, waiting int) *readGate {
	return &readGate{places: make(chan struct{}, places), waiting: make(chan struct{}, waiting)}
}

// searchGate makes the readGate for reads that search a list, each of which may take tens of milliseconds.
func searchGate() *readGate { return newReadGate(max(1, runtime.GOMAXPROCS(0)/2), 32) }

// pageGate makes the readGate for reads of one event's page, each of which takes about a millisecond.
func pageGate() *readGate { return newReadGate(2*runtime.GOMAXPROCS(0), 256) }

// enter waits for a place, which leave gives back. It refuses with OVERLOADED when too
// many wait already, or when the wait takes too long.
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

// computeOnce calls make for a page that is not in memory. If ctx is that of a public read, it first waits for a place
// in the readGate, and sets Call.Computed.
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

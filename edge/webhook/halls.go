package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"boxoffice/edge/view"
	"boxoffice/engine/order"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/follower"
)

const (
	// seatsAgain is the pause between two requests for a seat map.
	seatsAgain = 100 * time.Millisecond
	// seatsCall is the most time for one request to the seat map's actor, because the answer of an actor that
	// moves to another node may be lost.
	seatsCall = 5 * time.Second
	// seatsPatience is how long findSeats repeats its request. It is longer than an actor whose node has died
	// needs to load on another node, and shorter than a follower's transaction may take: the follower then
	// sets the fact aside before its transaction times out.
	seatsPatience = 15 * time.Second
	// After a map did not come, findSeats does not ask for it for seatsRest. Later it repeats its request for
	// only seatsGlance, until the map comes once.
	seatsRest   = 30 * time.Second
	seatsGlance = time.Second
	// maxHalls is the most events that halls remembers. If there are more, it forgets all of them at once.
	maxHalls = 10_000
)

// halls remembers the events whose seat maps did not come. Otherwise each fact of such an event would wait for
// the map again and delay the facts of all other events, because facts are handled one after another.
// Any goroutine may call its methods.
type halls struct {
	mu     sync.Mutex
	failed map[int64]failedHall
}

// failedHall is the last attempt to get a seat map.
type failedHall struct {
	at  time.Time
	why error
}

// patienceFor returns how long findSeats may ask for an event's map now. If it returns zero, the map failed
// within the last seatsRest, and the error is that failure's.
func (h *halls) patienceFor(number int64) (time.Duration, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch last, ok := h.failed[number]; {
	case !ok:
		return seatsPatience, nil
	case time.Since(last.at) < seatsRest:
		return 0, last.why
	default:
		return seatsGlance, nil
	}
}

// noteResult remembers that an event's map did not come, with the error, or forgets the event if err is nil. If it
// remembers maxHalls events already, it forgets these first.
func (h *halls) noteResult(number int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.failed, number)
		return
	}
	if h.failed == nil || len(h.failed) >= maxHalls {
		h.failed = make(map[int64]failedHall)
	}
	h.failed[number] = failedHall{at: time.Now(), why: err}
}

// findSeats returns the sections, rows and labels of an event's seats, or nil for an order without seats. It asks
// the seat map's actor, and repeats the request for a while, because the actor may be moving to another node.
//
// A public fact is made only once and could not get its seats later. So if the map does not come, findSeats
// fails and the follower sets the fact aside, until the event is repaired. It returns ErrAgain at once,
// because then the follower itself repeats the fact.
func (t *Teller) findSeats(ctx context.Context, o *order.Order) (view.Where, error) {
	if !o.Seated() {
		return nil, nil
	}
	number := o.ID.Event()
	patience, err := t.halls.patienceFor(number)
	if patience == 0 {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		m, err := t.askSeats(asking, number)
		if err == nil {
			t.halls.noteResult(number, nil)
			return m.Where, nil
		}
		if errors.Is(err, follower.ErrAgain) {
			return nil, err
		}
		timer := time.NewTimer(seatsAgain)
		select {
		case <-timer.C:
			continue
		case <-asking.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			return nil, err // the caller's own context has ended, which says nothing about the map
		}
		// Not wrapped: a wrapped deadline error would be mistaken for an outage of the database.
		err = fmt.Errorf("webhook: the seat map of event %d: %v", number, err) //nolint:errorlint // the cause must not count as one that may pass
		t.halls.noteResult(number, err)
		return nil, err
	}
}

// askSeats asks for the map once, within seatsCall.
func (t *Teller) askSeats(ctx context.Context, number int64) (*committed.SeatMap, error) {
	ctx, cancel := context.WithTimeout(ctx, seatsCall)
	defer cancel()
	return t.Seats(ctx, number)
}

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
	// seatsAgain is the pause after which a seat map is asked for again.
	seatsAgain = 100 * time.Millisecond
	// seatsCall bounds one question to the actor: the answer of an actor that moves may be lost.
	seatsCall = 5 * time.Second
	// seatsPatience is how long a seat map is asked for. An actor whose node has died is available
	// elsewhere within seconds. It is shorter than a follower's transaction may take, so that the
	// fact is set aside and the transaction does not time out.
	seatsPatience = 15 * time.Second
	// An event whose map did not come is not asked again during seatsRest. After that it is asked
	// for no longer than seatsGlance at a time, until the map is there.
	seatsRest   = 30 * time.Second
	seatsGlance = time.Second
	// maxHalls bounds the events that are remembered. Beyond it, all are forgotten at once.
	maxHalls = 10_000
)

// halls remembers the events whose seat maps did not come. Otherwise each fact of such an
// event would wait for its map again, and hold up the facts of all other events, which are
// told one after another. Any goroutine may call its methods.
type halls struct {
	mu     sync.Mutex
	failed map[int64]failedHall
}

// failedHall is the last attempt to get a seat map.
type failedHall struct {
	at  time.Time
	why error
}

// patienceFor returns how long an event's map may be asked for now. If it is zero, the map
// failed a short time ago, and the error is the one from then.
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

// noteResult keeps the result of asking for a map. A map that came makes the event like any
// other again.
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

// findSeats says where the seats of an order's tickets are; nil for an order without seats.
// It asks the seat map's actor, which may be moving to another node at the moment, so it
// keeps asking for a while.
//
// A fact is told only once, so telling it without its seats could not be corrected later.
// If the map does not come, findSeats therefore fails: the fact is set aside, and can be
// told in full when the event has been mended. An error that is ErrAgain is passed on at
// once, because the follower itself then tries again.
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
			return nil, err // the caller has run out of time, which says nothing about the map
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

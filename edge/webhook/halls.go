package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"boxoffice/edge/view"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

const (
	// seatsAgain is the pause after which a seat map is asked for again.
	seatsAgain = 100 * time.Millisecond
	// seatsCall bounds one question: the answer of an actor that moves may be lost.
	seatsCall = 5 * time.Second
	// seatsPatience is how long a seat map is asked for. An actor whose node has
	// died is to be had elsewhere within seconds. It is less than what a follower's
	// transaction may take, so that the fact is at fault and not the time.
	seatsPatience = 15 * time.Second
	// An event whose map did not come is not asked for it during seatsRest, and
	// after that for no longer than seatsGlance, until the map is there again.
	seatsRest   = 30 * time.Second
	seatsGlance = time.Second
	// maxHalls bounds the events that are remembered. All are forgotten at once.
	maxHalls = 10_000
)

// halls remembers the events whose seat maps did not come, so that one of them does
// not hold up what is told of all others: each of its facts would wait again.
type halls struct {
	mu     sync.Mutex
	failed map[int64]failedHall
}

// failedHall is the last attempt to get a seat map.
type failedHall struct {
	at  time.Time
	why error
}

// patience is how long the map of an event may be asked for now. At zero, the error
// says why.
func (h *halls) patience(number int64) (time.Duration, error) {
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

// note keeps what came of asking for a map.
func (h *halls) note(number int64, err error) {
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

// findSeats says where the seats of an order's tickets are. The map is asked of an
// actor, which may be on its way to another node, so it is asked for a while. An event
// that cannot be loaded any more fails after that: its fact is set aside, and can be
// told in full when the event has been mended. Telling it without its seats would
// be for good, since a fact is told once.
func (t *Teller) findSeats(ctx context.Context, o *order.Order) (view.Where, error) {
	if !o.Seated() {
		return nil, nil
	}
	number := o.ID.Event()
	patience, err := t.halls.patience(number)
	if patience == 0 {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		m, err := t.askSeats(asking, number)
		if err == nil {
			t.halls.note(number, nil)
			return m.Where, nil
		}
		timer := time.NewTimer(seatsAgain)
		select {
		case <-timer.C:
			continue
		case <-asking.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			return nil, err // the caller has no more time, which says nothing about the map
		}
		// Not wrapped: a time that has run out would pass for an outage.
		err = fmt.Errorf("webhook: the seat map of event %d: %v", number, err) //nolint:errorlint // as above
		t.halls.note(number, err)
		return nil, err
	}
}

func (t *Teller) askSeats(ctx context.Context, number int64) (*readmodel.SeatMap, error) {
	ctx, cancel := context.WithTimeout(ctx, seatsCall)
	defer cancel()
	return t.Seats(ctx, number)
}

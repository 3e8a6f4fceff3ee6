package loadtest

import (
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// How a buyer waits between two tries of one request.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 3 * time.Second
)

// becomes turns the buyer to its next stage.
func (b *buyer) becomes(next stage) {
	b.next, b.since, b.tries, b.keyOnce = next, time.Time{}, 0, ""
}

// then ends one stage and says when the next is due.
func (b *buyer) then(op openloop.Op, a client.Answer, next stage, wait time.Duration) openloop.Result {
	b.becomes(next)
	return openloop.Result{Op: op, Status: a.Status, Code: a.Code, Wait: wait}
}

// done ends the buyer.
func (b *buyer) done(op openloop.Op, a client.Answer) openloop.Result {
	return openloop.Result{Op: op, Status: a.Status, Code: a.Code, Done: true}
}

// again repeats the request after a pause, if that can help and the buyer still
// has patience. A buyer who gives up in doubt stays on the rush's list of those
// to be settled after the run.
func (b *buyer) again(op openloop.Op, a client.Answer) openloop.Result {
	if !a.OK() && !a.Unsettled() {
		return b.done(op, a)
	}
	if time.Since(b.since) > b.rush.cfg.Patience {
		b.rush.count.GaveUp.Add(1)
		return b.done(op, a)
	}
	b.tries++
	return openloop.Result{Op: op, Status: a.Status, Code: a.Code, Wait: b.pause(a.RetryAfter)}
}

// pause is at least what the server asked for and never the same for all:
// doubling from firstPause, with a random half.
func (b *buyer) pause(retryAfter time.Duration) time.Duration {
	p := min(firstPause<<min(b.tries-1, 10), mostPause)
	p = p/2 + time.Duration(b.rng.Int64N(int64(p/2)))
	return p + retryAfter
}

// think is the pause of a person, exponential around the configured mean.
func (b *buyer) think() time.Duration {
	return time.Duration(b.rng.ExpFloat64() * float64(b.rush.cfg.Think))
}

// inDoubt says that the request at hand may be carried out without the buyer
// hearing of it.
func (b *buyer) inDoubt() {
	if !b.doubt {
		b.doubt = true
		b.rush.doubtful(b)
	}
}

// settled says that a definite answer came.
func (b *buyer) settled() {
	if b.doubt {
		b.doubt = false
		b.rush.undoubtful(b)
	}
}

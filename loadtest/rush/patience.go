package rush

import (
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// These bound the pause between two tries of one request.
const (
	FirstPause = 100 * time.Millisecond
	MostPause  = 3 * time.Second
)

// turnTo turns the buyer to the next stage and forgets what belonged to the request before.
func (b *Buyer) turnTo(next Stage) {
	b.Next, b.since, b.Tries, b.keyOnce = next, time.Time{}, 0, ""
}

// ThenDo ends one stage and returns when the next one is due.
func (b *Buyer) ThenDo(op openloop.Op, a client.Answer, next Stage, wait time.Duration) openloop.Result {
	b.turnTo(next)
	return openloop.Result{Op: op, Status: a.Status, Code: a.Code, Wait: wait}
}

// End ends the buyer.
func (b *Buyer) End(op openloop.Op, a client.Answer) openloop.Result {
	return openloop.Result{Op: op, Status: a.Status, Code: a.Code, Done: true}
}

// RepeatLater repeats the request after a pause if that can help and the buyer still has patience.
// A buyer who gives up in doubt stays on the list of buyers whose requests are settled after the
// run.
func (b *Buyer) RepeatLater(op openloop.Op, a client.Answer) openloop.Result {
	// A definite refusal does not become better by a repeat. An answer that is OK comes here when the buyer asks
	// again for a payment that is not there yet.
	if !a.OK() && !a.Unsettled() {
		return b.End(op, a)
	}
	if time.Since(b.since) > b.rush.Config.Patience {
		b.rush.Count.GaveUp.Add(1)
		return b.End(op, a)
	}
	b.Tries++
	return openloop.Result{Op: op, Status: a.Status, Code: a.Code, Wait: b.nextPause(a.RetryAfter)}
}

// nextPause returns a pause that is at least what the server asked for. It doubles from FirstPause
// up to MostPause, and half of it is random, so that buyers do not come back all at once.
func (b *Buyer) nextPause(retryAfter time.Duration) time.Duration {
	p := min(FirstPause<<min(b.Tries-1, 10), MostPause)
	p = p/2 + time.Duration(b.Random.Int64N(int64(p/2)))
	return p + retryAfter
}

// ThinkTime returns the pause of a person: exponentially distributed around the configured mean.
func (b *Buyer) ThinkTime() time.Duration {
	return time.Duration(b.Random.ExpFloat64() * float64(b.rush.Config.Think))
}

// noteDoubt notes that the present request may be carried out although the buyer gets no answer.
func (b *Buyer) noteDoubt() {
	if !b.InDoubt {
		b.InDoubt = true
		b.rush.addDoubt(b)
	}
}

// noteAnswered notes that a definite answer has come.
func (b *Buyer) noteAnswered() {
	if b.InDoubt {
		b.InDoubt = false
		b.rush.removeDoubt(b)
	}
}

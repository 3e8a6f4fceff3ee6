package webhook

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/publicfacts"
)

const (
	perEndpoint = 4           // most attempts to one endpoint at the same time
	startTime   = time.Second // an attempt begins at most this long after its page was loaded, so that a change of the endpoint takes effect soon
)

// sendPage makes the attempts of a page that can begin within startTime. It returns their results in the order
// in which they ended. An attempt that did not begin has no result, and is loaded again with a later page.
func (d *Deliverer) sendPage(p *deliveries.Page) []deliveries.Result {
	secret, err := openSecret(d.cfg.Secrets, p.Org, p.Secret)
	if err != nil { // sealed under another master key: an operator must look into it
		d.cfg.Log.LogAttrs(d.ctx, slog.LevelError, "the secret of a webhook endpoint cannot be read", slog.Int64("endpoint", p.Endpoint), slog.Any("error", err))
	}
	s := &sending{d: d, page: p, secret: secret, began: time.Now()}
	// Each of up to perEndpoint workers sends one chain after another. So facts of one stream never overtake
	// each other, and a slow stream occupies only one worker.
	chains := chainsOf(p.Attempts)
	waiting := make(chan []*deliveries.Attempt, len(chains))
	for _, c := range chains {
		waiting <- c
	}
	close(waiting)
	var workers sync.WaitGroup
	for range min(perEndpoint, len(chains)) {
		workers.Go(func() {
			for c := range waiting {
				panics.Do(d.cfg.Log, "attempts to deliver webhooks", func() { s.sendChain(c) })
			}
		})
	}
	workers.Wait()
	return s.results
}

// chainsOf divides attempts into chains, one for each stream of facts. The attempts of a chain are made one after
// another, in the order of the facts. An attempt with stream 0 has no order and is a chain of its own.
func chainsOf(attempts []*deliveries.Attempt) [][]*deliveries.Attempt {
	var chains [][]*deliveries.Attempt
	of := map[int64]int{}
	for _, a := range attempts {
		at, known := of[a.Stream]
		if !known || a.Stream == 0 {
			at = len(chains)
			of[a.Stream] = at
			chains = append(chains, nil)
		}
		chains[at] = append(chains[at], a)
	}
	return chains
}

// sending is a page that is being sent, by several workers at once.
type sending struct {
	d      *Deliverer
	page   *deliveries.Page
	secret string
	began  time.Time
	gone   atomic.Bool // the endpoint has answered 410 and wants no more deliveries

	mu sync.Mutex
	// results come from all chains, and mu guards them.
	results []deliveries.Result
}

// sendChain makes the attempts of a chain one after another, also after one has failed. It stops early when the
// deliverer stops, and when the endpoint has answered 410. It also stops when the page is older than startTime,
// because the endpoint may have been changed since the page was loaded.
func (s *sending) sendChain(attempts []*deliveries.Attempt) {
	for _, a := range attempts {
		select {
		case <-s.d.stop:
			return
		default:
		}
		if s.gone.Load() || time.Since(s.began) >= startTime {
			return
		}
		what := s.sendAttempt(a)
		if s.d.ctx.Err() != nil {
			return // the attempt may have been cut off, so its result is unknown
		}
		r := s.d.judgeAnswer(a, what)
		s.d.metrics.countAttempt(a, what, &r)
		if r.Gone {
			s.gone.Store(true)
		}
		s.mu.Lock()
		s.results = append(s.results, r)
		s.mu.Unlock()
	}
}

// sendAttempt sends one delivery. If it cannot be sent, the reason is an outcome too, with words for the endpoint's owner.
func (s *sending) sendAttempt(a *deliveries.Attempt) answer {
	switch {
	case a.Missing:
		return answer{outcome: outcomeConnection, err: "the event is not kept any more"}
	case s.secret == "":
		return answer{outcome: outcomeConnection, err: "the signing secret cannot be read: rotate it"}
	}
	body, err := SentBody(s.d.cfg.Secrets, s.page.Endpoint, a)
	if err != nil { // it may be sealed under another master key
		s.d.cfg.Log.LogAttrs(s.d.ctx, slog.LevelError, "a fact cannot be read", slog.String("event", a.EventID), slog.Any("error", err))
		return answer{outcome: outcomeConnection, err: "the event cannot be read"}
	}
	return postOnce(s.d.ctx, s.d.http, s.page.URL, headersOf(a, s.secret, s.d.cfg.Now(), body), body)
}

// SentBody returns the body that an attempt sends to an endpoint. An attempt without a payload is a test
// delivery. It must not be called for an attempt that is Missing, whose fact was deleted.
func SentBody(v publicfacts.Vault, endpoint int64, a *deliveries.Attempt) ([]byte, error) {
	if a.Payload == nil {
		return bodyOf(a, testData(endpoint))
	}
	data, err := publicfacts.Unseal(v, a.EventID, a.Payload)
	if err != nil {
		return nil, err
	}
	return bodyOf(a, data)
}

// judgeAnswer returns what an answer means for the delivery: the delivery has succeeded, is due again after a
// pause, is exhausted, or is cancelled because its fact is missing. 410 (Gone) cancels it and also disables
// the endpoint, because the endpoint wants no more deliveries.
func (d *Deliverer) judgeAnswer(a *deliveries.Attempt, what answer) deliveries.Result {
	r := deliveries.Result{
		Delivery: a.Delivery, Number: a.Number, At: d.cfg.Now(), Latency: what.latency,
		ResponseStatus: what.status, Error: what.err, Answer: what.text, Status: deliveries.Exhausted,
	}
	wait, more := pauseAfter(a.Number)
	switch {
	case what.outcome == outcomeSucceeded:
		r.Status = deliveries.Succeeded
	case what.status == 410:
		r.Status, r.Gone = deliveries.Cancelled, true
	case a.Missing:
		r.Status = deliveries.Cancelled
	case more:
		due := r.At.Add(wait)
		r.Status, r.Due = deliveries.Failed, &due
	}
	return r
}

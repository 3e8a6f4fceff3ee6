package psp

import (
	"sync"
	"time"
)

// breaker stops calls to a provider that keeps failing. After a pause it lets one call through. If the provider
// turns out to be healthy, all calls pass again; if it turns out not to be, the pause begins again.
type breaker struct {
	Breaker

	mu       sync.Mutex
	failures int       // in a row, while closed
	first    time.Time // of the first of those failures
	open     bool
	until    time.Time // the end of the pause
	probing  bool      // the one call after the pause is under way
	era      int       // changes whenever the breaker opens or closes; the result of a call of an earlier era is ignored
}

// verdict is what a call says about the provider's health.
type verdict int

const (
	neutral verdict = iota // nothing: the caller gave up, nothing was sent, or the provider limits our rate
	healthy
	unhealthy
)

// pass lets one call through. The caller gives the pass to endCall when the call has ended.
type pass struct {
	era   int
	probe bool
}

// admit lets a call through, or returns how long to stay away. When the pause of an open breaker is over, it lets a
// single call through as a probe, and no other until the probe has ended.
func (b *breaker) admit(now time.Time) (pass, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return pass{era: b.era}, 0
	}
	if wait := b.until.Sub(now); wait > 0 {
		return pass{}, wait
	}
	if b.probing {
		return pass{}, b.Pause
	}
	b.probing = true
	return pass{era: b.era, probe: true}, 0
}

// endCall takes in a call's verdict, and reports whether this made the breaker open or close. It ignores calls that
// were admitted in an earlier era.
func (b *breaker) endCall(p pass, v verdict, now time.Time) (opened, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.era != b.era {
		return false, false
	}
	if p.probe {
		return false, b.endProbe(v, now)
	}
	switch v {
	case healthy:
		b.failures = 0
	case unhealthy:
		if b.failures == 0 || now.Sub(b.first) > b.Window {
			b.failures, b.first = 0, now
		}
		b.failures++
		if b.failures >= b.Failures {
			b.open, b.until = true, now.Add(b.Pause)
			b.era++
			return true, false
		}
	case neutral:
	}
	return false, false
}

// endProbe ends the one call that was let through after a pause. The breaker closes if the provider is healthy,
// and pauses again if it is not. After a neutral call, the next caller may make such a call.
func (b *breaker) endProbe(v verdict, now time.Time) (closed bool) {
	b.probing = false
	switch v {
	case healthy:
		b.open, b.failures = false, 0
		b.era++
		return true
	case unhealthy:
		b.until = now.Add(b.Pause)
	case neutral:
	}
	return false
}

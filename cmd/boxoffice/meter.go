package main

import (
	"sync"
	"time"
)

// meter says whether something that is counted goes faster than a limit.
type meter struct {
	count func() int64
	limit float64 // a second

	mu   sync.Mutex
	at   time.Time
	last int64
	fast bool
}

// meterSpan is the least time over which a meter measures.
const meterSpan = 200 * time.Millisecond

// exceeded says whether the rate since it was asked before is above the limit.
func (m *meter) exceeded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if passed := now.Sub(m.at); passed >= meterSpan {
		n := m.count()
		m.fast = float64(n-m.last) > m.limit*passed.Seconds()
		m.at, m.last = now, n
	}
	return m.fast
}

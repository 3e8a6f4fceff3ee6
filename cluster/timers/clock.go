package timers

import (
	"sync/atomic"
	"time"
)

// Clock is the time of commands: the wall clock at the start plus the time that has passed since,
// so that no jump of the wall clock makes an order expire. The time that has passed includes the
// time during which the machine was suspended, although Go's own clock stood still then. Otherwise
// every window would close late by as long as the machine had been suspended.
type Clock struct {
	start  time.Time
	slept  func() time.Duration // returns how long the machine has slept since it started
	before time.Duration        // how long the machine had slept when the clock was made
	since  atomic.Int64         // nanoseconds that the machine had slept since the clock was made, at the last look
	looked atomic.Int64         // when the last look was, in nanoseconds that Go's clock had run
}

// lookEvery is how long the clock may lag behind after a suspension.
const lookEvery = time.Second

// NewClock starts a clock.
func NewClock() *Clock { return newClock(measureSleep) }

func newClock(slept func() time.Duration) *Clock {
	return &Clock{start: time.Now(), slept: slept, before: slept()}
}

// Now is the time of a command that comes now.
func (c *Clock) Now() time.Time { return c.timeAfter(time.Since(c.start)) }

// timeAfter is the time when Go's clock has run for the duration ran since the start.
func (c *Clock) timeAfter(ran time.Duration) time.Time {
	if looked := c.looked.Load(); int64(ran)-looked >= int64(lookEvery) && c.looked.CompareAndSwap(looked, int64(ran)) {
		c.since.Store(int64(c.slept() - c.before))
	}
	return c.start.Add(ran + time.Duration(c.since.Load()))
}

package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is due while the machine sleeps is due when it wakes up.
func TestTheClockCatchesUpAfterASuspension(t *testing.T) {
	t.Parallel()
	asleep := 10 * time.Hour // before the node started
	c := newClock(func() time.Duration { return asleep })
	after := func(ran time.Duration) time.Duration { return c.timeAfter(ran).Sub(c.start) }
	require.Equal(t, time.Minute, after(time.Minute))
	asleep += time.Hour
	require.Equal(t, time.Minute+time.Hour+lookEvery, after(time.Minute+lookEvery))
	require.Equal(t, 2*time.Minute+time.Hour, after(2*time.Minute))
	asleep += time.Hour
	require.Equal(t, 3*time.Minute+2*time.Hour, after(3*time.Minute), "asleep again")
}

// The machine that runs this is awake.
func TestTheClockIsTheWallClock(t *testing.T) {
	t.Parallel()
	c := newClock(measureSleep)
	require.WithinDuration(t, time.Now(), c.Now(), time.Minute)
	require.GreaterOrEqual(t, measureSleep(), time.Duration(0))
}

// A timer looks at the clock at least once a second: while it waited, the machine may
// have slept.
func TestTimersNoticeThatTheClockHasCaughtUp(t *testing.T) {
	t.Parallel()
	now := time.Now()
	due := New(func() time.Time { return now }, nil)
	due.RunLater(time.Hour, func() {})
	require.LessOrEqual(t, due.fireDue(), lookEvery)
	fired := false
	due.RunLater(time.Minute, func() { fired = true })
	now = now.Add(time.Hour - time.Second)
	require.LessOrEqual(t, due.fireDue(), lookEvery)
	require.True(t, fired)
}

package timers

import (
	"time"

	"golang.org/x/sys/unix"
)

// measureSleep is how long the machine has been suspended since it started: the difference between the
// kernel's boot-time clock, which counts suspensions, and its monotonic clock, which Go uses.
func measureSleep() time.Duration {
	var boot, ran unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &ran) != nil {
		return 0 // a kernel without these clocks does not suspend
	}
	return max(0, time.Duration(boot.Nano()-ran.Nano())).Truncate(time.Millisecond)
}

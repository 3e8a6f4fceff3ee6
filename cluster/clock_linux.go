package cluster

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept is for how long the machine has been suspended since it started: what its clock
// of that time is ahead of the one that Go goes by.
func slept() time.Duration {
	var boot, ran unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &ran) != nil {
		return 0 // a kernel that does not know is one that does not suspend
	}
	return max(0, time.Duration(boot.Nano()-ran.Nano())).Truncate(time.Millisecond)
}

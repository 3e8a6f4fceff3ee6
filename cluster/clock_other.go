//go:build !linux

package cluster

import "time"

// slept is not known on this system: the clock of commands lags behind after a suspension.
func slept() time.Duration { return 0 }

package webhook

import "time"

// MaxAttempts is how many attempts a delivery has at most. If the last fails too, the delivery is exhausted
// (docs/rules.md, Webhooks).
const MaxAttempts = 12

// ladder holds the pauses after the first attempts that fail. After these, attempts are made once a day.
var ladder = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour}

// pauseAfter returns the time from the n-th attempt (counted from 1), which failed, to the
// next one. It returns false if the n-th attempt was the last.
func pauseAfter(n int) (time.Duration, bool) {
	switch {
	case n >= MaxAttempts:
		return 0, false
	case n <= len(ladder):
		return ladder[n-1], true
	}
	return 24 * time.Hour, true
}

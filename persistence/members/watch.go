package members

import "time"

// Watch is what a member knows of the beats of all members, by its own monotonic clock. The zero value
// knows nothing. It belongs to one goroutine.
type Watch struct {
	pulses map[string]pulse
	last   time.Time // when the beats were last read
}

// pulse is a member's beat, and since when it has not changed.
type pulse struct {
	beat  int64
	since time.Time
}

// Saw takes in the beats that were just read. A member that has read none for a lease has
// watched nobody, and starts again.
func (w *Watch) Saw(now time.Time, lease time.Duration, beats map[string]int64) {
	awake := now.Sub(w.last) < lease
	w.last = now
	if w.pulses == nil {
		w.pulses = make(map[string]pulse, len(beats))
	}
	for id := range w.pulses {
		if _, there := beats[id]; !there {
			delete(w.pulses, id)
		}
	}
	for id, n := range beats {
		if p, known := w.pulses[id]; !known || p.beat != n || !awake {
			w.pulses[id] = pulse{n, now}
		}
	}
}

// Dead returns the members whose beats have stood still for a lease, with these beats.
func (w *Watch) Dead(now time.Time, lease time.Duration) map[string]int64 {
	dead := make(map[string]int64)
	for id, p := range w.pulses {
		if now.Sub(p.since) >= lease {
			dead[id] = p.beat
		}
	}
	return dead
}

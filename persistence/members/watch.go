package members

import "time"

// Watch is what a member knows of the beats of all members. It uses the member's own monotonic
// clock only. The zero value knows nothing. One goroutine uses it.
type Watch struct {
	pulses map[string]pulse
	last   time.Time // when the beats were last read
}

// pulse is the last beat of a member, and since when the beat has stood still.
type pulse struct {
	beat  int64
	since time.Time
}

// Saw takes in the beats that were just read. If the member has read none for a lease, it could not
// watch anybody in that time, so it begins to watch again.
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

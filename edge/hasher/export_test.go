package hasher

import "time"

// Rest has every worker rest for so long.
func (h *Hasher) Rest(d time.Duration) {
	var all []*worker
	for range cap(h.idle) {
		all = append(all, <-h.idle)
	}
	for _, w := range all {
		if w != nil {
			w.rested = time.Now().Add(d)
		}
		h.idle <- w
	}
}

// Places is how many keys may be in the making or wait for it.
func (h *Hasher) Places() int { return cap(h.taken) }

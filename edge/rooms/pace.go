package rooms

import (
	"sync/atomic"
	"time"
)

const (
	// slowOrder is the time that 99 of 100 orders should not exceed while a room is steered.
	slowOrder = 50 * time.Millisecond
	// orderSample is how many orders isSlow judges at least: among a few, a single slow one would decide.
	orderSample = 200
)

// orderPace counts the orders that came to this node and were decided, on whatever node, and how many of them were
// slow. Any goroutine may use it.
type orderPace struct{ all, slow atomic.Int64 }

// orderCount is the two counts of an orderPace at one moment.
type orderCount struct{ all, slow int64 }

// read returns the two counts. They are not of exactly the same moment, which does not matter among
// many orders.
func (p *orderPace) read() orderCount { return orderCount{p.all.Load(), p.slow.Load()} }

// NoteOrder counts an order by the time that its decision took. The area of sales calls it.
func (h *Handlers) NoteOrder(took time.Duration) {
	h.pace.all.Add(1)
	if took > slowOrder {
		h.pace.slow.Add(1)
	}
}

// isSlow reports whether more than one of 100 orders was slow since the last judgement. It judges
// only once there are orderSample orders, and reports false until then. It judges only
// orders that came to this node.
func (k *keptRoom) isSlow() bool {
	now := k.pace.read()
	all, slow := now.all-k.judged.all, now.slow-k.judged.slow
	if all < orderSample {
		return false
	}
	k.judged = now
	return slow*100 > all
}

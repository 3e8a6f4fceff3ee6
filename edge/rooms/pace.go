package rooms

import (
	"sync/atomic"
	"time"
)

const (
	// slowOrder is the time that 99 of 100 orders should not exceed while a room is steered.
	slowOrder = 50 * time.Millisecond
	// orderSample is how many orders are looked at together: of fewer, a single slow one would decide.
	orderSample = 200
)

// orderPace counts the orders that this node has had decided. Any goroutine may use it.
type orderPace struct{ all, slow atomic.Int64 }

// orderCount is an orderPace at one moment.
type orderCount struct{ all, slow int64 }

// read returns the counts. The two are not of the same instant, which a sample of many orders can bear.
func (p *orderPace) read() orderCount { return orderCount{p.all.Load(), p.slow.Load()} }

// NoteOrder counts an order by how long it took to be decided.
func (h *Handlers) NoteOrder(took time.Duration) {
	h.pace.all.Add(1)
	if took > slowOrder {
		h.pace.slow.Add(1)
	}
}

// isSlow reports whether more than one of 100 orders was slow since it last judged. It judges once there are enough
// of them, and until then reports false. Only orders that this node has decided are counted.
func (k *keptRoom) isSlow() bool {
	now := k.pace.read()
	all, slow := now.all-k.judged.all, now.slow-k.judged.slow
	if all < orderSample {
		return false
	}
	k.judged = now
	return slow*100 > all
}

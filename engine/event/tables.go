package event

import (
	"container/heap"
	"slices"

	"boxoffice/engine"
)

// orderTable holds orders by id. Orders are replaced, never changed, so that a
// snapshot is a copy of the slice.
type orderTable struct {
	orders []*Order
	index  map[engine.OrderID]int32
}

func newOrderTable() orderTable { return orderTable{index: make(map[engine.OrderID]int32)} }

func (t *orderTable) get(id engine.OrderID) *Order {
	if i, ok := t.index[id]; ok {
		return t.orders[i]
	}
	return nil
}

func (t *orderTable) put(o *Order) {
	if i, ok := t.index[o.ID]; ok {
		t.orders[i] = o
		return
	}
	t.index[o.ID] = int32(len(t.orders))
	t.orders = append(t.orders, o)
}

func (t *orderTable) drop(id engine.OrderID) {
	i, ok := t.index[id]
	if !ok {
		return
	}
	last := len(t.orders) - 1
	t.orders[i] = t.orders[last]
	t.index[t.orders[i].ID] = i
	t.orders[last] = nil
	t.orders = t.orders[:last]
	delete(t.index, id)
}

// pastMillis is how long the id and outcome of a closed order are known, so
// that a repeated command has the same outcome.
const pastMillis = 24 * 3600 * 1000

// past remembers closed orders in columns, oldest first.
type past struct {
	ids    []engine.OrderID
	status []byte
	prints []uint64
	at     []int64
	gone   int // how many have been forgotten from the front, in all
	index  map[engine.OrderID]int
}

func newPast() past { return past{index: make(map[engine.OrderID]int)} }

// statuses numbers the order statuses in past. Its order is stored: append only.
var statuses = []string{Pending, Processing, Completed, Failed, Cancelled, Expired, Refunded, PartiallyRefunded}

func (p *past) add(o *Order, at int64) {
	p.index[o.ID] = p.gone + len(p.ids)
	p.ids = append(p.ids, o.ID)
	p.status = append(p.status, byte(slices.Index(statuses, o.Status)))
	p.prints = append(p.prints, o.Fingerprint)
	p.at = append(p.at, at)
	for range 2 { // two out for one in: the past never grows for long
		if len(p.ids) == 0 || p.at[0] > at-pastMillis {
			return
		}
		if p.index[p.ids[0]] == p.gone {
			delete(p.index, p.ids[0])
		}
		p.ids, p.status, p.prints, p.at = p.ids[1:], p.status[1:], p.prints[1:], p.at[1:]
		p.gone++
	}
}

// find returns the outcome and the request's fingerprint of a closed order.
func (p *past) find(id engine.OrderID) (status string, fingerprint uint64, ok bool) {
	i, ok := p.index[id]
	if !ok {
		return "", 0, false
	}
	i -= p.gone
	return statuses[p.status[i]], p.prints[i], true
}

// queue is a list of orders by due time, for delays that are all the same: what
// comes in is the last, unless a clock has jumped.
type queue struct{ items []dueOrder }

type dueOrder struct {
	at int64 // unix milliseconds
	id engine.OrderID
}

func (q *queue) push(at int64, id engine.OrderID) {
	q.items = append(q.items, dueOrder{at, id})
	for i := len(q.items) - 1; i > 0 && q.items[i-1].at > at; i-- {
		q.items[i-1], q.items[i] = q.items[i], q.items[i-1]
	}
}

func (q *queue) next() int64 {
	if len(q.items) == 0 {
		return 0
	}
	return q.items[0].at
}

// ready returns those due at now, at most limit.
func (q *queue) ready(now int64, limit int) []dueOrder {
	n := 0
	for n < len(q.items) && n < limit && q.items[n].at <= now {
		n++
	}
	return q.items[:n]
}

// trim takes those off the front that have no business any more, so that they
// wake nobody.
func (q *queue) trim(done func(dueOrder) bool) {
	for len(q.items) > 0 && done(q.items[0]) {
		q.items = q.items[1:]
	}
}

// pop takes the first n off.
func (q *queue) pop(n int) []dueOrder {
	out := q.items[:n]
	q.items = q.items[n:]
	return out
}

// expiryHeap orders unpaid orders by the end of their window. An entry may be
// out of date: whoever takes it looks the order up again.
type expiryHeap []dueOrder

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop are for container/heap; use add and take.
func (h *expiryHeap) Push(x any) { *h = append(*h, x.(dueOrder)) } //nolint:errcheck,forcetypeassert // container/heap hands back what add gave it

// Pop removes the last element, for container/heap.
func (h *expiryHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (h *expiryHeap) add(at int64, id engine.OrderID) { heap.Push(h, dueOrder{at, id}) }

func (h *expiryHeap) take() engine.OrderID {
	return heap.Pop(h).(dueOrder).id //nolint:errcheck,forcetypeassert // only add puts in
}

func (h expiryHeap) next() int64 {
	if len(h) == 0 {
		return 0
	}
	return h[0].at
}

package event

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
)

// orderTable holds orders by id, packed.
type orderTable struct {
	rows  paged.Texts
	index map[engine.OrderID]int32
	buf   []byte
}

func newOrderTable() orderTable { return orderTable{index: make(map[engine.OrderID]int32)} }

// get returns a copy of an order, or nil.
func (t *orderTable) get(id engine.OrderID) *order.Order {
	i, ok := t.index[id]
	if !ok {
		return nil
	}
	return unpackOrder(t.rows.At(int(i)))
}

// headOf returns an order's serial and status without unpacking the rest. ok is false if there is
// no such order.
func (t *orderTable) headOf(id engine.OrderID) (serial keeper.Serial, status string, ok bool) {
	i, ok := t.index[id]
	if !ok {
		return 0, "", false
	}
	o := order.UnpackHead(t.rows.At(int(i)))
	return o.Serial, o.Status, true
}

// unpackOrder returns an order that put has packed.
func unpackOrder(s string) *order.Order {
	o, err := order.Unpack(s)
	if err != nil {
		panic(err) // these are our own bytes, and those of a snapshot were checked when it was thawed
	}
	return o
}

func (t *orderTable) put(o *order.Order) {
	t.buf = o.Pack(t.buf[:0])
	t.putPacked(o.ID)
}

// putPacked stores the order that lies packed in t.buf.
func (t *orderTable) putPacked(id engine.OrderID) {
	if i, ok := t.index[id]; ok {
		t.rows.Set(int(i), t.buf)
		return
	}
	t.index[id] = int32(t.rows.Len())
	t.rows.Append(t.buf)
}

// thaw stores the packed orders of a snapshot, and calls f for each.
func (t *orderTable) thaw(pages []paged.TextPage, f func(*order.Order)) error {
	for _, page := range pages {
		for row := range page.All() {
			o, err := order.Unpack(row)
			if err != nil {
				return err
			}
			t.buf = append(t.buf[:0], row...)
			t.putPacked(o.ID)
			f(o)
		}
	}
	return nil
}

func (t *orderTable) drop(id engine.OrderID) {
	if i, ok := t.index[id]; ok {
		t.index[order.UnpackHead(t.rows.Remove(int(i))).ID] = i
		delete(t.index, id)
	}
}

// all yields a copy of each order.
func (t *orderTable) all() iter.Seq[*order.Order] {
	return func(yield func(*order.Order) bool) {
		for row := range t.rows.All() {
			if !yield(unpackOrder(row)) {
				return
			}
		}
	}
}

// pastMillis is how long the id and outcome of a closed order are kept, so that a repeated command
// gets the same answer.
const pastMillis = 24 * 3600 * 1000

// past remembers closed orders in columns, oldest first.
type past struct {
	ids    paged.Queue[engine.OrderID]
	status paged.Queue[byte]
	prints paged.Queue[uint64]
	at     paged.Queue[int64]
	gone   int // how many have been forgotten in all
	index  map[engine.OrderID]int
}

func newPast() past { return past{index: make(map[engine.OrderID]int)} }

// statuses numbers the order statuses in past. The numbers are stored, so new statuses are only
// appended.
var statuses = []string{order.StatusPending, order.StatusProcessing, order.StatusCompleted, order.StatusFailed, order.StatusCancelled, order.StatusExpired, order.StatusRefunded, order.StatusPartiallyRefunded}

func (p *past) add(o *order.Order, at int64) {
	p.put(o.ID, byte(slices.Index(statuses, o.Status)), o.Fingerprint, at)
	for range 2 { // at most two go for one that comes, so no call takes long and the past still shrinks
		if p.ids.Len() == 0 || p.at.At(0) > at-pastMillis {
			return
		}
		if id := p.ids.At(0); p.index[id] == p.gone {
			delete(p.index, id)
		}
		p.ids.Drop(1)
		p.status.Drop(1)
		p.prints.Drop(1)
		p.at.Drop(1)
		p.gone++
	}
}

func (p *past) put(id engine.OrderID, status byte, print uint64, at int64) {
	p.index[id] = p.gone + p.ids.Len()
	p.ids.Push(id)
	p.status.Push(status)
	p.prints.Push(print)
	p.at.Push(at)
}

// find returns the outcome and the request's fingerprint of a closed order.
func (p *past) find(id engine.OrderID) (status string, fingerprint uint64, ok bool) {
	i, ok := p.index[id]
	if !ok {
		return "", 0, false
	}
	i -= p.gone
	return statuses[p.status.At(i)], p.prints.At(i), true
}

// queue is a list of orders by due time, for delays that are all the same: a new entry is the last
// one, unless a clock has jumped.
type queue struct {
	due   int64 // when the first entry is due, or 0; a copy, because Next reads it after each decision
	items paged.Queue[dueOrder]
}

type dueOrder struct {
	at int64 // unix milliseconds
	id engine.OrderID
}

func (q *queue) push(at int64, id engine.OrderID) {
	one := dueOrder{at, id}
	q.items.Push(one)
	for i := q.items.Len() - 1; i > 0 && q.items.At(i-1).at > at; i-- {
		q.items.Set(i, q.items.At(i-1))
		q.items.Set(i-1, one)
	}
	if q.due == 0 || at < q.due {
		q.due = at
	}
}

// drop removes the first n entries.
func (q *queue) drop(n int) {
	q.items.Drop(n)
	if q.due = 0; q.items.Len() > 0 {
		q.due = q.items.At(0).at
	}
}

// ready returns the entries that are due at now, at most limit.
func (q *queue) ready(now int64, limit int) []dueOrder {
	n := 0
	for n < min(q.items.Len(), limit) && q.items.At(n).at <= now {
		n++
	}
	return q.first(n)
}

// trim drops those entries at the front that are done, so that they cause no Wake.
func (q *queue) trim(done func(dueOrder) bool) {
	for q.items.Len() > 0 && done(q.items.At(0)) {
		q.drop(1)
	}
}

// pop removes and returns the first n entries.
func (q *queue) pop(n int) []dueOrder {
	out := q.first(n)
	q.drop(n)
	return out
}

// sort sorts entries that came in any order.
func (q *queue) sort() {
	all := q.pop(q.items.Len())
	slices.SortStableFunc(all, func(a, b dueOrder) int { return cmp.Compare(a.at, b.at) })
	for _, one := range all {
		q.push(one.at, one.id)
	}
}

func (q *queue) first(n int) []dueOrder {
	out := make([]dueOrder, n)
	for i := range out {
		out[i] = q.items.At(i)
	}
	return out
}

// expiryHeap orders unpaid orders by the end of their window. An entry may be out of date, so the
// code that takes it looks the order up again.
type expiryHeap struct{ rows paged.Rows[dueOrder] }

// Len, Less, Swap, Push and Pop are for container/heap; use add and take.
func (h *expiryHeap) Len() int { return h.rows.Len() }

// Less orders by time.
func (h *expiryHeap) Less(i, j int) bool { return h.rows.At(i).at < h.rows.At(j).at }

// Swap exchanges two entries.
func (h *expiryHeap) Swap(i, j int) {
	was := h.rows.At(i)
	h.rows.Set(i, h.rows.At(j))
	h.rows.Set(j, was)
}

// Push adds an entry at the end.
func (h *expiryHeap) Push(x any) { h.rows.Append(x.(dueOrder)) } //nolint:errcheck,forcetypeassert // container/heap passes what add gave it

// Pop removes the last entry.
func (h *expiryHeap) Pop() any { return h.rows.Remove(h.rows.Len() - 1) }

func (h *expiryHeap) add(at int64, id engine.OrderID) { heap.Push(h, dueOrder{at, id}) }

// forget removes an order wherever it is in the heap.
func (h *expiryHeap) forget(id engine.OrderID) {
	for i := range h.rows.Len() {
		if h.rows.At(i).id == id {
			heap.Remove(h, i)
			return
		}
	}
}

func (h *expiryHeap) take() engine.OrderID {
	return heap.Pop(h).(dueOrder).id //nolint:errcheck,forcetypeassert // only add puts entries in
}

func (h *expiryHeap) next() int64 {
	if h.rows.Len() == 0 {
		return 0
	}
	return h.rows.At(0).at
}

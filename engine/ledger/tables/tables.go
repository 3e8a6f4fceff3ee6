// Package tables has the lists in which the ledger keeps orders and what is due for them. They lie in pages
// that a snapshot shares (engine/paged), so that the garbage collector need not visit each order.
package tables

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

// Orders holds orders by id, packed.
type Orders struct {
	rows  paged.Texts
	index map[engine.OrderID]int32
	buf   []byte
}

// NewOrders returns an empty table.
func NewOrders() Orders { return Orders{index: make(map[engine.OrderID]int32)} }

// Get returns a copy of an order, or nil.
func (t *Orders) Get(id engine.OrderID) *order.Order {
	i, ok := t.index[id]
	if !ok {
		return nil
	}
	return unpackOrder(t.rows.At(int(i)))
}

// HeadOf returns an order's serial and status without unpacking the rest. ok is false if there is
// no such order.
func (t *Orders) HeadOf(id engine.OrderID) (serial keeper.Serial, status string, ok bool) {
	i, ok := t.index[id]
	if !ok {
		return 0, "", false
	}
	o := order.UnpackHead(t.rows.At(int(i)))
	return o.Serial, o.Status, true
}

// unpackOrder returns an order that Put has packed.
func unpackOrder(s string) *order.Order {
	o, err := order.Unpack(s)
	if err != nil {
		panic(err) // these are our own bytes, and a snapshot's were checked when it was thawed
	}
	return o
}

// Put stores an order, or replaces the one with its id.
func (t *Orders) Put(o *order.Order) {
	t.buf = o.Pack(t.buf[:0])
	t.putPacked(o.ID)
}

// putPacked stores the order that lies packed in t.buf.
func (t *Orders) putPacked(id engine.OrderID) {
	if i, ok := t.index[id]; ok {
		t.rows.Set(int(i), t.buf)
		return
	}
	t.index[id] = int32(t.rows.Len())
	t.rows.Append(t.buf)
}

// Len returns how many orders there are.
func (t *Orders) Len() int { return t.rows.Len() }

// Freeze returns the packed orders for a snapshot.
func (t *Orders) Freeze() []paged.TextPage { return t.rows.Freeze() }

// Thaw stores the packed orders of a snapshot, and calls f for each. At a row that is no packed order it stops with
// an error.
func (t *Orders) Thaw(pages []paged.TextPage, f func(*order.Order)) error {
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

// Drop removes an order.
func (t *Orders) Drop(id engine.OrderID) {
	if i, ok := t.index[id]; ok {
		t.index[order.UnpackHead(t.rows.Remove(int(i))).ID] = i
		delete(t.index, id)
	}
}

// All yields a copy of each order.
func (t *Orders) All() iter.Seq[*order.Order] {
	return func(yield func(*order.Order) bool) {
		for row := range t.rows.All() {
			if !yield(unpackOrder(row)) {
				return
			}
		}
	}
}

// pastMillis is how long the id and outcome of a closed order are kept at least, so that a repeated command
// gets the same answer.
const pastMillis = 24 * 3600 * 1000

// Closed remembers closed orders in columns, oldest first.
type Closed struct {
	ids    paged.Queue[engine.OrderID]
	status paged.Queue[byte]
	prints paged.Queue[uint64]
	at     paged.Queue[int64]
	gone   int // how many have been forgotten in all
	index  map[engine.OrderID]int
}

// NewClosed returns an empty Closed.
func NewClosed() Closed { return Closed{index: make(map[engine.OrderID]int)} }

// statuses numbers the order statuses in Closed. The numbers are stored, so new statuses are only
// appended.
var statuses = []string{order.StatusPending, order.StatusProcessing, order.StatusCompleted, order.StatusFailed, order.StatusCancelled, order.StatusExpired, order.StatusRefunded, order.StatusPartiallyRefunded}

// Add remembers an order's id, status and fingerprint, and forgets at most two orders that are older than pastMillis.
func (p *Closed) Add(o *order.Order, at int64) {
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

func (p *Closed) put(id engine.OrderID, status byte, print uint64, at int64) {
	p.index[id] = p.gone + p.ids.Len()
	p.ids.Push(id)
	p.status.Push(status)
	p.prints.Push(print)
	p.at.Push(at)
}

// Find returns the outcome of a closed order, and the fingerprint of the request that placed it. ok is false if
// the order is not remembered.
func (p *Closed) Find(id engine.OrderID) (status string, fingerprint uint64, ok bool) {
	i, ok := p.index[id]
	if !ok {
		return "", 0, false
	}
	i -= p.gone
	return statuses[p.status.At(i)], p.prints.At(i), true
}

// Freeze returns the columns for a snapshot.
func (p *Closed) Freeze() (ids paged.Paged[engine.OrderID], status paged.Paged[byte], prints paged.Paged[uint64], at paged.Paged[int64]) {
	return p.ids.Freeze(), p.status.Freeze(), p.prints.Freeze(), p.at.Freeze()
}

// Thaw fills an empty Closed with the columns of a snapshot, which are all of one length.
func (p *Closed) Thaw(ids []engine.OrderID, status []byte, prints []uint64, at []int64) {
	p.index = make(map[engine.OrderID]int, len(ids))
	for i, id := range ids {
		p.put(id, status[i], prints[i], at[i])
	}
}

// Queue is a list of orders by due time, for delays that are all the same: a new entry is the last
// one, unless a clock has jumped.
type Queue struct {
	due   int64 // when the first entry is due, or 0; a copy, because Next reads it after each decision
	items paged.Queue[Due]
}

// Due is an order with something that is due.
type Due struct {
	At int64 // unix milliseconds
	ID engine.OrderID
}

// Push adds an entry at its place by time. That is quick only for an entry that is due after most of the others.
func (q *Queue) Push(at int64, id engine.OrderID) {
	one := Due{at, id}
	q.items.Push(one)
	for i := q.items.Len() - 1; i > 0 && q.items.At(i-1).At > at; i-- {
		q.items.Set(i, q.items.At(i-1))
		q.items.Set(i-1, one)
	}
	if q.due == 0 || at < q.due {
		q.due = at
	}
}

// drop removes the first n entries.
func (q *Queue) drop(n int) {
	q.items.Drop(n)
	if q.due = 0; q.items.Len() > 0 {
		q.due = q.items.At(0).At
	}
}

// Ready returns the entries that are due at now, at most limit.
func (q *Queue) Ready(now int64, limit int) []Due {
	n := 0
	for n < min(q.items.Len(), limit) && q.items.At(n).At <= now {
		n++
	}
	return q.first(n)
}

// Trim drops those entries at the front that are done, so that they cause no Wake.
func (q *Queue) Trim(done func(Due) bool) {
	for q.items.Len() > 0 && done(q.items.At(0)) {
		q.drop(1)
	}
}

// Pop removes and returns the first n entries.
func (q *Queue) Pop(n int) []Due {
	out := q.first(n)
	q.drop(n)
	return out
}

// Forget takes the order out of its last entry. The entry stays, without an order, so that the entries around it need
// not move. The search begins with the entries that are due last.
func (q *Queue) Forget(id engine.OrderID) {
	for i := q.items.Len() - 1; i >= 0; i-- {
		if one := q.items.At(i); one.ID == id {
			q.items.Set(i, Due{At: one.At})
			return
		}
	}
}

// Next returns when the first entry is due, or 0.
func (q *Queue) Next() int64 { return q.due }

// All yields the entries.
func (q *Queue) All() iter.Seq[Due] {
	return func(yield func(Due) bool) {
		for i := range q.items.Len() {
			if !yield(q.items.At(i)) {
				return
			}
		}
	}
}

// Append adds an entry at the end, whenever it is due. Sort follows when all are in.
func (q *Queue) Append(at int64, id engine.OrderID) { q.items.Push(Due{at, id}) }

// Sort sorts entries that came in any order.
func (q *Queue) Sort() {
	all := q.Pop(q.items.Len())
	slices.SortStableFunc(all, func(a, b Due) int { return cmp.Compare(a.At, b.At) })
	for _, one := range all {
		q.Push(one.At, one.ID)
	}
}

func (q *Queue) first(n int) []Due {
	out := make([]Due, n)
	for i := range out {
		out[i] = q.items.At(i)
	}
	return out
}

// Heap orders unpaid orders by when they have to be looked at: at the end of their window or, if money is in
// flight, later again. An entry may be out of date, so the code that takes it looks the order up again.
type Heap struct{ rows paged.Rows[Due] }

// Len, Less, Swap, Push and Pop are for container/heap; use Add and Take.
func (h *Heap) Len() int { return h.rows.Len() }

// Less orders by time.
func (h *Heap) Less(i, j int) bool { return h.rows.At(i).At < h.rows.At(j).At }

// Swap exchanges two entries.
func (h *Heap) Swap(i, j int) {
	was := h.rows.At(i)
	h.rows.Set(i, h.rows.At(j))
	h.rows.Set(j, was)
}

// Push adds an entry at the end.
func (h *Heap) Push(x any) { h.rows.Append(x.(Due)) } //nolint:errcheck,forcetypeassert // container/heap passes what Add gave it

// Pop removes the last entry.
func (h *Heap) Pop() any { return h.rows.Remove(h.rows.Len() - 1) }

// Add adds an order.
func (h *Heap) Add(at int64, id engine.OrderID) { heap.Push(h, Due{at, id}) }

// Forget removes an order wherever it is in the heap.
func (h *Heap) Forget(id engine.OrderID) {
	for i := range h.rows.Len() {
		if h.rows.At(i).ID == id {
			heap.Remove(h, i)
			return
		}
	}
}

// Take removes and returns the order that is due first.
func (h *Heap) Take() engine.OrderID {
	return heap.Pop(h).(Due).ID //nolint:errcheck,forcetypeassert // only Add puts entries in
}

// Next returns when the first order is due, or 0.
func (h *Heap) Next() int64 {
	if h.rows.Len() == 0 {
		return 0
	}
	return h.rows.At(0).At
}

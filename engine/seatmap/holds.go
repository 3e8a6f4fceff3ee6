package seatmap

import (
	"container/heap"
	"slices"
)

// hold is the selection of a holder. It is never changed, only replaced, except for its position, which belongs
// to the heap of holds.
type hold struct {
	holder    string
	principal uint64
	since     int64   // when the selection began, unix milliseconds
	until     int64   // when the selection ends, unix milliseconds
	extended  int64   // how often its shopper has asked for more time and got it
	seats     []int32 // indices of the held seats, ascending
	position  int     // index of the hold in holds.heap
}

// holds are the selections by holder, with a heap of them ordered by their end.
type holds struct {
	by    map[string]*hold
	heap  byEnd
	count map[uint64]int32 // seats of each principal that holds any
}

func newHolds() holds { return holds{by: make(map[string]*hold), count: make(map[uint64]int32)} }

// putHold adds a holder's selection, or replaces the one that there is.
func (t *holds) putHold(h *hold) {
	if old := t.by[h.holder]; old != nil {
		h.position = old.position
		t.heap[h.position] = h
		heap.Fix(&t.heap, h.position)
		t.tallySeats(old.principal, -len(old.seats))
	} else {
		heap.Push(&t.heap, h)
	}
	t.by[h.holder] = h
	t.tallySeats(h.principal, len(h.seats))
}

// dropHold forgets a selection, whose seats must have been freed before.
func (t *holds) dropHold(h *hold) {
	heap.Remove(&t.heap, h.position)
	delete(t.by, h.holder)
	t.tallySeats(h.principal, -len(h.seats))
}

// tallySeats adds seats, which may be negative, to what a principal holds.
func (t *holds) tallySeats(principal uint64, seats int) {
	t.count[principal] += int32(seats)
	if t.count[principal] == 0 {
		delete(t.count, principal)
	}
}

// nextEnd returns when the next selection may be ended, in unix milliseconds, or 0 if there is none. It rounds up,
// so that many selections end at one moment and in one fact.
func (t *holds) nextEnd() int64 {
	if len(t.heap) == 0 {
		return 0
	}
	due := t.heap[0].until + holdGrain - 1
	return due - due%holdGrain
}

// collectEnded collects the seats of selections whose time is up, in no order. It looks below a selection in
// the heap only if that one has ended, because no selection below it ends earlier. It adds whole selections
// until there are at least most seats.
func (t *holds) collectEnded(now int64, most int) []int32 {
	var seats []int32
	var walk func(i int)
	walk = func(i int) {
		if i >= len(t.heap) || t.heap[i].until > now || len(seats) >= most {
			return
		}
		seats = append(seats, t.heap[i].seats...)
		walk(2*i + 1)
		walk(2*i + 2)
	}
	walk(0)
	return seats
}

// byEnd is the heap: the selection that ends first comes first.
type byEnd []*hold

func (h byEnd) Len() int           { return len(h) }
func (h byEnd) Less(i, j int) bool { return h[i].until < h[j].until }
func (h byEnd) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].position, h[j].position = i, j
}

// Push adds an element at the end, for container/heap.
func (h *byEnd) Push(x any) {
	one := x.(*hold) //nolint:errcheck,forcetypeassert // container/heap passes what putHold gave it
	one.position = len(*h)
	*h = append(*h, one)
}

// Pop removes the last element, for container/heap.
func (h *byEnd) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return x
}

// changeSelection gives the holder that next names another selection: took are the seats that it gains, dropped
// those that it loses, both ascending. A selection without seats is forgotten.
func (s *State) changeSelection(next *hold, took, dropped []int32) {
	var kept []int32
	if old := s.holds.by[next.holder]; old != nil {
		kept = old.seats
	}
	next.seats = make([]int32, 0, len(kept)+len(took))
	for _, i := range kept {
		if _, gone := slices.BinarySearch(dropped, i); !gone {
			next.seats = append(next.seats, i)
		}
	}
	next.seats = append(next.seats, took...)
	slices.Sort(next.seats)
	// Seats are freed before others are put: a seat that is dropped has no hold from here on.
	for _, i := range dropped {
		s.putSeat(i, seat{})
	}
	if len(next.seats) == 0 {
		if old := s.holds.by[next.holder]; old != nil {
			s.holds.dropHold(old)
		}
		return
	}
	for _, i := range next.seats {
		s.putSeat(i, seat{hold: next})
	}
	s.holds.putHold(next)
}

// loseSeat takes a seat out of the selection that has it.
func (s *State) loseSeat(i int32) {
	if h := s.seats[i].hold; h != nil {
		rest := *h
		s.changeSelection(&rest, nil, []int32{i})
	}
}

// endSelection drops a whole selection.
func (s *State) endSelection(h *hold) {
	for _, i := range h.seats {
		s.putSeat(i, seat{})
	}
	s.holds.dropHold(h)
}

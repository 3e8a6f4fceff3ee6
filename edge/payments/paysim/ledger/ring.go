package ledger

// ring holds items under consecutive numbers, which start at base. It is made for items that are dropped in
// about the order in which they were added.
type ring[T any] struct {
	base  int64 // the number of items[0]
	items []*T  // nil where an item was dropped
	front int   // all items before this index are dropped
	live  int
}

// add stores an item and returns its number.
func (r *ring[T]) add(it *T) int64 {
	r.items = append(r.items, it)
	r.live++
	return r.base + int64(len(r.items)) - 1
}

// get returns the item with a number, or nil if it was never added or has been dropped.
func (r *ring[T]) get(n int64) *T {
	if n < r.base || n >= r.base+int64(len(r.items)) {
		return nil
	}
	return r.items[n-r.base]
}

// drop forgets the item with a number. Once more than half of the slice is dropped items at its front, drop
// frees their memory.
func (r *ring[T]) drop(n int64) {
	if r.get(n) == nil {
		return
	}
	r.items[n-r.base] = nil
	r.live--
	for r.front < len(r.items) && r.items[r.front] == nil {
		r.front++
	}
	if r.front > len(r.items)/2 {
		r.items = append([]*T(nil), r.items[r.front:]...)
		r.base += int64(r.front)
		r.front = 0
	}
}

// next returns the first item with the number n or a higher one, and its number; nil if there is none.
func (r *ring[T]) next(n int64) (*T, int64) {
	for n = max(n, r.base+int64(r.front)); n < r.base+int64(len(r.items)); n++ {
		if it := r.items[n-r.base]; it != nil {
			return it, n
		}
	}
	return nil, n
}

// eachFromNewest visits all items from the newest on, until visit returns false.
func (r *ring[T]) eachFromNewest(visit func(*T) bool) {
	for i := len(r.items) - 1; i >= r.front; i-- {
		if it := r.items[i]; it != nil && !visit(it) {
			return
		}
	}
}

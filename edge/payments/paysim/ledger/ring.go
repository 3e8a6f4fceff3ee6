package ledger

// ring holds things under consecutive numbers and forgets them in about the
// same order. Numbers start at base.
type ring[T any] struct {
	base  int64 // the number of items[0]
	items []*T  // nil where dropped
	front int   // items before it are dropped
	live  int
}

// add stores it and returns its number.
func (r *ring[T]) add(it *T) int64 {
	r.items = append(r.items, it)
	r.live++
	return r.base + int64(len(r.items)) - 1
}

// get returns nil for a number that is not or no longer there.
func (r *ring[T]) get(n int64) *T {
	if n < r.base || n >= r.base+int64(len(r.items)) {
		return nil
	}
	return r.items[n-r.base]
}

// drop forgets the number, and gives back the room once half is dropped ones
// at the front.
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

// next returns the first thing numbered n or above, nil past the end.
func (r *ring[T]) next(n int64) (*T, int64) {
	for n = max(n, r.base+int64(r.front)); n < r.base+int64(len(r.items)); n++ {
		if it := r.items[n-r.base]; it != nil {
			return it, n
		}
	}
	return nil, n
}

// eachFromNewest visits all things from the newest on, until visit says no.
func (r *ring[T]) eachFromNewest(visit func(*T) bool) {
	for i := len(r.items) - 1; i >= r.front; i-- {
		if it := r.items[i]; it != nil && !visit(it) {
			return
		}
	}
}

package engine

// Queue is a list that grows at its end and shrinks at its front. It lies in
// pages, so that no Push waits for the copying of half a million elements; the last is
// at hand, as in Rows. The zero value is empty.
type Queue[T any] struct {
	last  []T   // empty only when the list is
	pages [][]T // those before it, full
	head  int   // of the first page: elements that are gone
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return len(q.pages)*pageRows + len(q.last) - q.head }

// page is that of the i-th element, counted from the first page's start.
func (q *Queue[T]) page(i int) []T {
	if i /= pageRows; i < len(q.pages) {
		return q.pages[i]
	}
	return q.last
}

// At is the i-th element from the front.
func (q *Queue[T]) At(i int) T {
	i += q.head
	return q.page(i)[i%pageRows]
}

// Set replaces the i-th element from the front.
func (q *Queue[T]) Set(i int, v T) {
	i += q.head
	q.page(i)[i%pageRows] = v
}

// Push adds an element at the end.
func (q *Queue[T]) Push(v T) {
	if len(q.last) == pageRows {
		q.pages = append(q.pages, q.last)
		q.last = make([]T, 0, pageRows) // the first grows with what is in it
	}
	q.last = append(q.last, v)
}

// Freeze returns the elements as they are now, in pages, for reading. It copies
// none: a Set of one of them would change it.
func (q *Queue[T]) Freeze() [][]T {
	if q.Len() == 0 {
		return nil
	}
	pages := append(make([][]T, 0, len(q.pages)+1), q.pages...)
	pages = append(pages, q.last)
	pages[0] = pages[0][q.head:]
	return pages
}

// Drop takes the first n elements off.
func (q *Queue[T]) Drop(n int) {
	if n == q.Len() {
		*q = Queue[T]{}
		return
	}
	q.head += n
	gone := q.head / pageRows
	clear(q.pages[:gone])
	q.pages, q.head = q.pages[gone:], q.head%pageRows
}

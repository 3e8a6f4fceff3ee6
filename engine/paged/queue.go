package paged

// Queue is a list that grows at its end and shrinks at its front: Rows, some of whose
// first are gone. The zero value is empty.
type Queue[T any] struct {
	rows Rows[T]
	head int // of the first page: elements that are gone
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return q.rows.Len() - q.head }

// At is the i-th element from the front.
func (q *Queue[T]) At(i int) T { return q.rows.At(q.head + i) }

// Set replaces the i-th element from the front.
func (q *Queue[T]) Set(i int, v T) { q.rows.Set(q.head+i, v) }

// Push adds an element at the end.
func (q *Queue[T]) Push(v T) { q.rows.Append(v) }

// Freeze returns the elements as they are now, in pages, for reading.
func (q *Queue[T]) Freeze() [][]T {
	pages := q.rows.Freeze()
	if len(pages) > 0 {
		pages[0] = pages[0][q.head:]
	}
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
	clear(q.rows.pages[:gone])
	q.rows.pages, q.head = q.rows.pages[gone:], q.head%pageRows
}

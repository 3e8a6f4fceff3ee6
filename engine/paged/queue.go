package paged

// Queue is a list that grows at its end and shrinks at its front. It consists of Rows whose first
// elements may be gone. The zero value is empty and ready to use.
type Queue[T any] struct {
	rows Rows[T]
	head int // elements of the first page that are gone
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return q.rows.Len() - q.head }

// At returns the i-th element from the front.
func (q *Queue[T]) At(i int) T { return q.rows.At(q.head + i) }

// Set replaces the i-th element from the front.
func (q *Queue[T]) Set(i int, v T) { q.rows.Set(q.head+i, v) }

// Push adds an element at the end.
func (q *Queue[T]) Push(v T) { q.rows.Append(v) }

// Freeze returns the elements as they are now, in pages. Others may read the pages while the queue
// changes. The first page may not be full.
func (q *Queue[T]) Freeze() [][]T {
	pages := q.rows.Freeze()
	if len(pages) > 0 {
		pages[0] = pages[0][q.head:]
	}
	return pages
}

// Drop removes the first n elements. It gives a page back when all of its elements are gone.
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

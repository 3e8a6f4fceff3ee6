package engine

// Queue is a list that grows at its end and shrinks at its front. It lies in pages
// that it shares with snapshots, as Rows does: no Push waits for the copying of half a
// million elements. The zero value is empty.
type Queue[T any] struct {
	last  page[T]   // empty only when the list is
	pages []page[T] // those before it, full
	head  int       // of the first page: elements that are gone
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return len(q.pages)*pageRows + len(q.last.rows) - q.head }

// page is that of the i-th element, counted from the first page's start.
func (q *Queue[T]) page(i int) *page[T] {
	if i /= pageRows; i < len(q.pages) {
		return &q.pages[i]
	}
	return &q.last
}

// At is the i-th element from the front.
func (q *Queue[T]) At(i int) T {
	i += q.head
	return q.page(i).rows[i%pageRows]
}

// Set replaces the i-th element from the front.
func (q *Queue[T]) Set(i int, v T) {
	i += q.head
	q.page(i).own()[i%pageRows] = v
}

// Push adds an element at the end.
func (q *Queue[T]) Push(v T) {
	if len(q.last.rows) == pageRows {
		q.pages = append(q.pages, q.last)
		q.last = page[T]{rows: make([]T, 0, pageRows)} // the first grows with what is in it
	}
	q.last.rows = append(q.last.rows, v) // behind what a snapshot has of the page
}

// Freeze returns the elements as they are now, in pages, for reading.
func (q *Queue[T]) Freeze() [][]T {
	if q.Len() == 0 {
		return nil
	}
	pages := make([][]T, 0, len(q.pages)+1)
	for i := range q.pages {
		q.pages[i].shared = true
		pages = append(pages, q.pages[i].rows)
	}
	q.last.shared = true
	pages = append(pages, q.last.rows)
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

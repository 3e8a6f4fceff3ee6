package engine

import "slices"

// Queue is a list that grows at its end and shrinks at its front. It lies in
// blocks, so that no Push waits for the copying of half a million elements. The
// zero value is empty.
type Queue[T any] struct {
	blocks [][]T
	head   int // of the first block: elements that are gone
	n      int
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return q.n }

// At is the i-th element from the front.
func (q *Queue[T]) At(i int) T {
	i += q.head
	return q.blocks[i/pageRows][i%pageRows]
}

// Set replaces the i-th element from the front.
func (q *Queue[T]) Set(i int, v T) {
	i += q.head
	q.blocks[i/pageRows][i%pageRows] = v
}

// Push adds an element at the end.
func (q *Queue[T]) Push(v T) {
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last]) == pageRows {
		q.blocks = append(q.blocks, newPage[T](last))
		last++
	}
	q.blocks[last] = append(q.blocks[last], v)
	q.n++
}

// Freeze returns the elements as they are now, in pages, for reading. It copies
// none: a Set of one of them would change it.
func (q *Queue[T]) Freeze() [][]T {
	pages := slices.Clone(q.blocks)
	if len(pages) > 0 {
		pages[0] = pages[0][q.head:]
	}
	return pages
}

// Drop takes the first n elements off.
func (q *Queue[T]) Drop(n int) {
	q.head += n
	if q.n -= n; q.n == 0 {
		*q = Queue[T]{}
		return
	}
	gone := q.head / pageRows
	clear(q.blocks[:gone])
	q.blocks, q.head = q.blocks[gone:], q.head%pageRows
}

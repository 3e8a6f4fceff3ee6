package engine

import (
	"iter"
	"slices"
)

// pageRows is how many rows lie in one page.
const pageRows = 512

// Rows is a list that a snapshot can have a copy of at once, however long it is:
// it lies in pages, and a page that a copy shares is cloned before it is written
// to. Rows without pointers cost the garbage collector nothing but their pages.
// The zero value is empty.
type Rows[T any] struct {
	pages  [][]T  // all full but the last
	shared []bool // with a copy
}

// RowsOf are the rows of a snapshot, which goes on to share them: all pages but the
// last are full, as those of Freeze and of an unpacked Paged are.
func RowsOf[T any](pages [][]T) Rows[T] {
	r := Rows[T]{pages: slices.Clone(pages), shared: make([]bool, len(pages))}
	for i := range r.shared {
		r.shared[i] = true
	}
	return r
}

// Len is the number of rows.
func (r *Rows[T]) Len() int {
	last := len(r.pages) - 1
	if last < 0 {
		return 0
	}
	return last*pageRows + len(r.pages[last])
}

// At is the i-th row.
func (r *Rows[T]) At(i int) T { return r.pages[i/pageRows][i%pageRows] }

// Set replaces the i-th row.
func (r *Rows[T]) Set(i int, row T) { r.own(i / pageRows)[i%pageRows] = row }

// Append adds a row behind the last.
func (r *Rows[T]) Append(row T) {
	last := len(r.pages) - 1
	if last < 0 || len(r.pages[last]) == pageRows {
		r.pages, r.shared = append(r.pages, newPage[T](last)), append(r.shared, false)
		last++
	}
	r.pages[last] = append(r.own(last), row)
}

// newPage is what follows the last page: the first grows with what is in it, for
// there are many short lists.
func newPage[T any](last int) []T {
	if last < 0 {
		return nil
	}
	return make([]T, 0, pageRows)
}

// Remove puts the last row in the place of the i-th, and returns it: the row that now
// is the i-th.
func (r *Rows[T]) Remove(i int) (moved T) {
	at := r.Len() - 1
	moved = r.At(at)
	r.Set(i, moved)
	last := at / pageRows
	page := r.own(last)
	clear(page[at%pageRows:])
	r.pages[last] = page[:at%pageRows]
	if at%pageRows == 0 {
		r.pages[last] = nil
		r.pages, r.shared = r.pages[:last], r.shared[:last]
	}
	return moved
}

// own makes a page ready to be written to.
func (r *Rows[T]) own(page int) []T {
	if r.shared[page] {
		r.pages[page], r.shared[page] = slices.Clone(r.pages[page]), false
	}
	return r.pages[page]
}

// Freeze returns the pages as they are now, for reading.
func (r *Rows[T]) Freeze() [][]T {
	for i := range r.shared {
		r.shared[i] = true
	}
	return slices.Clone(r.pages)
}

// All yields the rows in order.
func (r *Rows[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, page := range r.pages {
			for _, row := range page {
				if !yield(row) {
					return
				}
			}
		}
	}
}

package paged

import (
	"iter"
	"slices"
)

// pageRows is how many rows lie in one page.
const pageRows = 512

// Rows is a list that a snapshot can have a copy of at once, however long it is:
// it lies in pages, and a page that a copy shares is cloned before it is written
// to. Rows without pointers cost the garbage collector nothing but their pages. The
// last page is at hand without a look at the others: most lists have no other, and of
// a thousand events none is in a cache. The zero value is empty.
type Rows[T any] struct {
	last  page[T] // empty only when the list is
	pages []page[T]
}

// page is full unless it is the last one.
type page[T any] struct {
	rows   []T
	shared bool // with a copy
}

// own makes the page ready to be written to.
func (p *page[T]) own() []T {
	if p.shared {
		p.rows, p.shared = slices.Clone(p.rows), false
	}
	return p.rows
}

// RowsOf are the rows of a snapshot, which goes on to share them: all pages but the
// last are full, as those of Freeze and of an unpacked Paged are.
func RowsOf[T any](pages [][]T) Rows[T] {
	var r Rows[T]
	for i, rows := range pages {
		if i > 0 {
			r.pages = append(r.pages, r.last)
		}
		r.last = page[T]{rows: slices.Clip(rows), shared: true} // others may go on from it too
	}
	return r
}

// Len is the number of rows.
func (r *Rows[T]) Len() int { return len(r.pages)*pageRows + len(r.last.rows) }

// page is that of the i-th row.
func (r *Rows[T]) page(i int) *page[T] {
	if i /= pageRows; i < len(r.pages) {
		return &r.pages[i]
	}
	return &r.last
}

// At is the i-th row.
func (r *Rows[T]) At(i int) T { return r.page(i).rows[i%pageRows] }

// Set replaces the i-th row.
func (r *Rows[T]) Set(i int, row T) { r.page(i).own()[i%pageRows] = row }

// Append adds a row behind the last.
func (r *Rows[T]) Append(row T) {
	if len(r.last.rows) == pageRows {
		r.pages = append(r.pages, r.last)
		r.last = page[T]{rows: make([]T, 0, pageRows)} // the first grows with what is in it, for there are many short lists
	}
	r.last.rows = append(r.last.rows, row) // behind what a copy has of the page
}

// Remove puts the last row in the place of the i-th, and returns it: the row that now
// is the i-th.
func (r *Rows[T]) Remove(i int) (moved T) {
	at := r.Len() - 1
	moved = r.At(at)
	r.Set(i, moved)
	rows := r.last.own()
	clear(rows[at%pageRows:])
	r.last.rows = rows[:at%pageRows]
	if n := len(r.pages) - 1; at%pageRows == 0 {
		r.last = page[T]{}
		if n >= 0 {
			r.last, r.pages[n] = r.pages[n], page[T]{}
			r.pages = r.pages[:n]
		}
	}
	return moved
}

// Freeze returns the pages as they are now, for reading.
func (r *Rows[T]) Freeze() [][]T {
	if r.Len() == 0 {
		return nil
	}
	pages := make([][]T, 0, len(r.pages)+1)
	for i := range r.pages {
		r.pages[i].shared = true
		pages = append(pages, r.pages[i].rows)
	}
	r.last.shared = true
	return append(pages, r.last.rows)
}

// All yields the rows in order.
func (r *Rows[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := 0; i <= len(r.pages); i++ {
			for _, row := range r.page(i * pageRows).rows {
				if !yield(row) {
					return
				}
			}
		}
	}
}

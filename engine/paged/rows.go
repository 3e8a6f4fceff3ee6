package paged

import (
	"iter"
	"slices"
)

// pageRows is the number of rows in a page.
const pageRows = 512

// Rows is a list that a snapshot copies at once, however long it is: it lies in pages, and
// a page that a copy shares is cloned before it is written to. If rows have no pointers, the
// garbage collector only has to visit the pages. The last page is stored in the struct, because
// most lists have no other page and one access less to memory that is not in the cache counts for
// thousands of events. The zero value is empty.
type Rows[T any] struct {
	last  page[T] // empty only if the list is
	pages []page[T]
}

// page is a page of rows. All pages except the last one are full.
type page[T any] struct {
	rows   []T
	shared bool // whether a copy shares it
}

// ownRows makes the page writable and returns its rows.
func (p *page[T]) ownRows() []T {
	if p.shared {
		p.rows, p.shared = slices.Clone(p.rows), false
	}
	return p.rows
}

// RowsOf returns the rows of a snapshot, with which it shares the pages. All pages except the last
// must be full, as the pages of Freeze and of a decoded Paged are.
func RowsOf[T any](pages [][]T) Rows[T] {
	var r Rows[T]
	for i, rows := range pages {
		if i > 0 {
			r.pages = append(r.pages, r.last)
		}
		r.last = page[T]{rows: slices.Clip(rows), shared: true} // clipped, because others may append to the same page
	}
	return r
}

// Len returns the number of rows.
func (r *Rows[T]) Len() int { return len(r.pages)*pageRows + len(r.last.rows) }

// pageOf returns the page of the i-th row.
func (r *Rows[T]) pageOf(i int) *page[T] {
	if i /= pageRows; i < len(r.pages) {
		return &r.pages[i]
	}
	return &r.last
}

// At returns the i-th row.
func (r *Rows[T]) At(i int) T { return r.pageOf(i).rows[i%pageRows] }

// Set replaces the i-th row.
func (r *Rows[T]) Set(i int, row T) { r.pageOf(i).ownRows()[i%pageRows] = row }

// Append adds a row at the end.
func (r *Rows[T]) Append(row T) {
	if len(r.last.rows) == pageRows {
		r.pages = append(r.pages, r.last)
		r.last = page[T]{rows: make([]T, 0, pageRows)} // the first page grows by need: many lists are short
	}
	r.last.rows = append(r.last.rows, row) // after the rows that a copy has of the page
}

// Remove replaces the i-th row by the last row, and returns that row, which is the i-th now.
func (r *Rows[T]) Remove(i int) (moved T) {
	at := r.Len() - 1
	moved = r.At(at)
	r.Set(i, moved)
	rows := r.last.ownRows()
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
			for _, row := range r.pageOf(i * pageRows).rows {
				if !yield(row) {
					return
				}
			}
		}
	}
}

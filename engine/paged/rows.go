package paged

import (
	"iter"
	"slices"
)

// pageRows is the number of rows in a page. A write to a shared page clones that many.
const pageRows = 512

// Rows is a list that lies in pages, so that a snapshot can share it at once, however long it is. A
// page that a snapshot shares is cloned before it is written to. If rows have no pointers, the
// garbage collector has to visit only the pages.
//
// The last page is stored in the struct. Most lists have only this page, and with thousands of
// events each access to memory that is not in the CPU's cache counts. The zero value is empty and
// ready to use.
type Rows[T any] struct {
	last  page[T] // empty only if the list is empty
	pages []page[T]
}

// page is a page of rows. All pages except the last one are full.
type page[T any] struct {
	rows   []T
	shared bool // whether a snapshot shares it
}

// ownRows makes the page writable and returns its rows.
func (p *page[T]) ownRows() []T {
	if p.shared {
		p.rows, p.shared = slices.Clone(p.rows), false
	}
	return p.rows
}

// RowsOf returns rows that share the pages of a snapshot. All pages except the last must be full,
// as the pages of Rows.Freeze and of a decoded Paged are. (The first page of Queue.Freeze may not be.)
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

// Append adds a row at the end. Appending clones no shared page: readers of a page see only as many
// rows as it had when they got it.
func (r *Rows[T]) Append(row T) {
	if len(r.last.rows) == pageRows {
		r.pages = append(r.pages, r.last)
		r.last = page[T]{rows: make([]T, 0, pageRows)} // a whole page at once; only the first page grows as needed, because many lists are short
	}
	r.last.rows = append(r.last.rows, row) // after the rows that a copy has of the page
}

// Remove replaces the i-th row by the last row, and returns that row, which is the i-th from now on. That is
// quicker than moving all rows after it, but changes their order.
func (r *Rows[T]) Remove(i int) (moved T) {
	at := r.Len() - 1
	moved = r.At(at)
	r.Set(i, moved)
	rows := r.last.ownRows()
	// A removed row must not keep alive what it points to.
	clear(rows[at%pageRows:])
	r.last.rows = rows[:at%pageRows]
	// The last page is empty now, so the page before it becomes the last one.
	if n := len(r.pages) - 1; at%pageRows == 0 {
		r.last = page[T]{}
		if n >= 0 {
			r.last, r.pages[n] = r.pages[n], page[T]{}
			r.pages = r.pages[:n]
		}
	}
	return moved
}

// Freeze returns the pages as they are now. Others may read them while the list changes, because
// all pages are shared from now on.
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

// Package paged holds the lists that kinds keep large states in: Rows, Queue and
// Texts lie in pages, so that a snapshot shares them at once, however long they are,
// and the garbage collector need not visit each row. Columns are what they look like
// in a snapshot: one string of bytes each.
//
// A list belongs to one state and is used by one goroutine at a time; what Freeze
// returned may be read by another one, for shared pages are cloned before they are
// written.
package paged

// Package paged holds the lists in which kinds keep large states. Rows, Queue and Texts lie in
// pages, so that a snapshot shares them at once, however long they are, and the garbage collector
// need not visit each row. Columns are the form of such lists in a snapshot: one string of bytes
// each.
//
// A list belongs to one state and is used by one goroutine at a time. Another goroutine may read
// what Freeze has returned, because shared pages are cloned before they are written.
package paged

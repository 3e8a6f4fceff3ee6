// Package paged has the lists in which kinds of actors keep large states. Rows, Queue and Texts lie
// in pages. A snapshot shares the pages instead of copying them, so it is taken at once, however
// long a list is. The garbage collector visits pages instead of rows. Columns are the form that
// such lists have in a snapshot: each is encoded as one string of bytes.
//
// A list belongs to one state and is used by one goroutine at a time. Another goroutine may read
// what Freeze has returned, because a page that is shared is cloned before it is written to.
package paged

// Package api holds the requests and answers of the HTTP interface: pure data,
// used by the edge, the document and the load harness. Field rules stand in the
// tags (see edge/route), and the OpenAPI document is made from them.
package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route"
)

// List is one page of a list.
type List[T any] struct {
	Items      []T     `json:"items" description:"The items of this page, in the order of the list; empty if there is none."`
	NextCursor *string `json:"nextCursor" description:"What the next page takes as its cursor, opaque; null on the last page."`
	route.Freshness
}

// PageOf makes the answer of a list from the n rows that were read: one more than the limit if it goes on. It shows row
// by row, and after returns the cursor behind the last row that is shown.
func PageOf[View any](n, limit int, show func(row int) View, after func(last int) *string) *List[View] {
	page := &List[View]{Items: make([]View, 0, limit)}
	for row := range min(n, limit) {
		page.Items = append(page.Items, show(row))
	}
	if n > limit {
		page.NextCursor = after(limit - 1)
	}
	return page
}

// Page is what a list operation takes.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" description:"At most so many items are answered, 1 to 100."`
	Cursor string `query:"cursor" maxLength:"500" description:"The nextCursor of the page before; the first page without it."`
}

// JSON is an object that the service stores and returns unchanged.
type JSON = jsontext.Value

// Hidden is a text that only the organization is shown, null when there is none;
// for others it is left out.
type Hidden = route.Opt[string]

// Shown is a text for those who may see it.
func Shown(s string) Hidden { return Hidden{Set: true, Null: s == "", Value: s} }

// Time is a moment as answers show it, or null.
type Time = *time.Time

// At is a moment of unix milliseconds, or null for 0.
func At(ms int64) Time {
	if ms == 0 {
		return nil
	}
	t := Moment(ms)
	return &t
}

// What RFC 3339 can write.
var (
	firstMoment = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastMoment  = time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC)
)

// Moment is a moment of unix milliseconds as answers show it. One that RFC 3339 has
// no year for, which a record of an earlier release may have, is shown as the
// nearest that it has: nothing that lists the record fails because of it.
func Moment(ms int64) time.Time {
	return time.UnixMilli(min(max(ms, firstMoment.UnixMilli()), lastMoment.UnixMilli())).UTC()
}

// Package api holds the types of the requests and answers of the HTTP interface. They are pure data, for
// the handlers, the OpenAPI document and the load harness. The tags of a field say how package route reads
// and checks the field, and what the OpenAPI document says of it.
package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route"
)

// List is the answer of an operation that lists something: one page of the list.
type List[T any] struct {
	Items      []T     `json:"items" description:"The items of this page, in the order of the list; empty if there is none."`
	NextCursor *string `json:"nextCursor" description:"What the next page takes as its cursor, opaque; null on the last page."`
	route.Freshness
}

// PageOf makes the answer of a list from n rows that were read. The caller reads up to limit+1 rows: if there
// are more than limit, the list goes on, and the last row is not shown. show makes the answer's item of a
// row. after makes the cursor of the next page; last is the row at which this page ends.
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

// Page is embedded in the request of an operation that lists something. It says which page is wanted.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" description:"At most so many items are answered, 1 to 100."`
	Cursor string `query:"cursor" maxLength:"500" description:"The nextCursor of the page before; the first page without it."`
}

// JSON is a JSON value that is not decoded into a Go type, such as an object that an organization keeps with
// its event (Event.SEOData), or the data of a public fact.
type JSON = jsontext.Value

// Hidden is the type of a text that only some callers may see. The answer has null if there is no text. It
// leaves the field out, as the zero Hidden does, for callers who may not see it.
type Hidden = route.Opt[string]

// Shown makes a Hidden for a caller who may see the text s; an empty s is shown as null.
func Shown(s string) Hidden { return Hidden{Set: true, Null: s == "", Value: s} }

// Time is the type of a moment that an answer shows in RFC 3339, or as null if it is nil.
type Time = *time.Time

// At returns the moment of unix milliseconds, or nil for 0. The moment is one that RFC 3339 can write (see
// Moment).
func At(ms int64) Time {
	if ms == 0 {
		return nil
	}
	t := Moment(ms)
	return &t
}

// These are the first and the last moment that RFC 3339 can write, to the millisecond.
var (
	firstMoment = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastMoment  = time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC)
)

// Moment returns the moment of unix milliseconds in UTC. RFC 3339 has no year for some moments, which a
// record of an earlier release may hold. Moment then returns the nearest moment that RFC 3339 can write, so
// that an answer with such a record can still be encoded.
func Moment(ms int64) time.Time {
	return time.UnixMilli(min(max(ms, firstMoment.UnixMilli()), lastMoment.UnixMilli())).UTC()
}

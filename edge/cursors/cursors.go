// Package cursors makes and reads the cursors with which clients page through the lists of the API. Any handler of the
// edge may call it. A cursor is opaque to clients: each list decides which keys its cursors have.
//
// The package keeps no state and starts no goroutine, so nothing has to be stopped.
package cursors

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"time"

	"boxoffice/edge/route"
)

// Of makes a cursor of numbers that say where the next page begins, such as the sort keys of the last row that
// the caller has seen. It is written in base64url. It is not signed, because it holds nothing that the caller has not
// seen.
func Of(keys ...int64) *string {
	b := make([]byte, 0, 8*len(keys))
	for _, k := range keys {
		b = binary.BigEndian.AppendUint64(b, uint64(k))
	}
	s := base64.RawURLEncoding.EncodeToString(b)
	return &s
}

// LastMoment is the last moment that a cursor can name, in unix milliseconds: the last one that a request can name.
var LastMoment = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC).UnixMilli()

// A cursor of a list that is sorted by a moment has two keys: the moment of the last row
// seen, and how many rows of that moment were seen.

// OfMoment makes the cursor of the page after rows, which must not be empty. before and seen are where the page of
// rows began, as ReadMoment returned them. moment returns a row's time in unix milliseconds.
func OfMoment[Row any](rows []Row, moment func(*Row) int64, before int64, seen int) *string {
	last := moment(&rows[len(rows)-1])
	if last != before {
		seen = 0
	}
	for i := range rows {
		if moment(&rows[i]) == last {
			seen++
		}
	}
	return Of(last, int64(seen))
}

// ReadMoment reads where a page begins in a list whose newest row comes first: at the moment before,
// in unix milliseconds, after the first seen rows of that moment. An empty s means the first page: 0 and 0.
func ReadMoment(s string) (before int64, seen int, err error) {
	keys, err := Read(s, LastMoment, math.MaxInt64)
	if keys == nil {
		return 0, 0, err
	}
	return keys[0], int(keys[1]), nil
}

// ReadNumber reads the cursor of a list that is sorted by one number. It returns the number of the
// last row that the caller has seen, or 0 if s is empty, which means the first page.
func ReadNumber(s string) (int64, error) {
	keys, err := Read(s, math.MaxInt64)
	if keys == nil {
		return 0, err
	}
	return keys[0], nil
}

// Read reads a cursor that has one key for each limit, each from 0 to its limit. It returns nil keys
// if s is empty, and a VALIDATION_ERROR at the parameter cursor if s is no such cursor.
func Read(s string, limits ...int64) ([]int64, error) {
	return ReadParameter("cursor", s, limits...)
}

// ReadParameter is Read for a parameter of another name.
func ReadParameter(parameter, s string, limits ...int64) ([]int64, error) {
	if s == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s) // even Strict skips line breaks, hence the check of the length
	if err != nil || len(b) != 8*len(limits) || len(s) != base64.RawURLEncoding.EncodedLen(len(b)) {
		return nil, Invalid(parameter)
	}
	keys := make([]int64, len(limits))
	for i, limit := range limits {
		keys[i] = int64(binary.BigEndian.Uint64(b[8*i:]))
		if keys[i] < 0 || keys[i] > limit {
			return nil, Invalid(parameter)
		}
	}
	return keys, nil
}

// Invalid returns the VALIDATION_ERROR of a parameter that should be a cursor of its list and is not.
func Invalid(parameter string) error {
	return route.Invalid(route.Issue{Path: parameter, Code: route.IssueFormat, Message: "is not a cursor of this list"})
}

package nodetest

import (
	"strconv"
)

// Customers waits until the organization has n customers that fit a filter, and lists them. The
// filter is empty or begins with a question mark.
func (s *Shop) Customers(filter string, n int) Answer {
	s.T.Helper()
	var a Answer
	s.Becomes(strconv.Itoa(n), func() string {
		a = s.Own("GET", "/organizer/customers"+filter, nil).Is(200, "")
		return strconv.Itoa(len(a.Data("items").([]any)))
	})
	return a
}

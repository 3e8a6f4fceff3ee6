package view

import (
	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
)

// ListByNumber returns a page of a list whose cursor is the number of the last row of a page. list reads up to
// limit rows: those that come after the row with a number in the order of the list, or the first rows if the
// number is 0. number returns a row's number, and show makes its view.
func ListByNumber[Row, View any](cursor string, limit int, list func(after int64, limit int) ([]Row, error), number func(Row) int64, show func(Row) View) (*api.List[View], error) {
	after, err := cursors.ReadNumber(cursor)
	if err != nil {
		return nil, err
	}
	// We read one row more than the page has. If there is one, another page follows.
	rows, err := list(after, limit+1)
	if err != nil {
		return nil, err
	}
	return api.PageOf(len(rows), limit, func(row int) View { return show(rows[row]) },
		func(last int) *string { return cursors.Of(number(rows[last])) }), nil
}

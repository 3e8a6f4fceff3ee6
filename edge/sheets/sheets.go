// Package sheets reads and writes CSV as spreadsheets do. That is RFC 4180 with some customs: byte
// order marks, separators other than commas, and cells that a spreadsheet calculates.
//
// It starts no goroutine and keeps nothing but what a Reader has of its text.
package sheets

import (
	"bytes"
	"encoding/csv"
	"strings"
	"unicode"
)

// mark is the byte order mark, by which spreadsheets know that a file is UTF-8.
const mark = "\ufeff"

// formulas are the characters with which a formula begins, also in their full-width forms, which
// Chinese and Japanese texts have.
const formulas = "=+-@\uff1d\uff0b\uff0d\uff20"

// Begin writes the byte order mark with which a file begins, before its first row.
func Begin(out *bytes.Buffer) { out.WriteString(mark) }

// Write appends rows to a file. A cell that a spreadsheet would calculate gets a ' before it, so
// that the spreadsheet shows it as text.
func Write(out *bytes.Buffer, rows ...[]string) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true // RFC 4180
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = defuse(cell)
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// defuse returns a cell with a ' before it if a spreadsheet could take it for a formula, and
// otherwise unchanged. Some spreadsheets skip invisible characters before a formula, so defuse
// skips them too.
func defuse(cell string) string {
	rest := strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
	if strings.HasPrefix(cell, "\t") || strings.HasPrefix(cell, "\r") || strings.HasPrefix(cell, "\n") ||
		rest != "" && strings.ContainsRune(formulas, []rune(rest)[0]) {
		return "'" + cell
	}
	return cell
}

// Reader reads the rows of a file below its first row, which has the names of the columns.
type Reader struct {
	text    string
	rows    *csv.Reader
	columns []int // the indexes of the columns that Open was asked for
	row     int
	read    int64 // how many bytes of the text have been read
}

// Open opens a file that must have the columns, in any order and among others. The separator is the
// one that a line such as "sep=;" before the first row names, or else the first of comma, semicolon
// and tab with which the first row has all columns. If there is none, ok is false; err is then nil
// unless the first row could not be read with one of them.
func Open(text string, columns ...string) (r *Reader, ok bool, err error) {
	text = strings.TrimPrefix(text, mark)
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n") // early Macs ended their lines like this
	}
	separators := ",;\t"
	first, rest, _ := strings.Cut(text, "\n")
	said := strings.Trim(strings.TrimSuffix(first, "\r"), `"`)
	if len(said) == len("sep=;") && strings.EqualFold(said[:4], "sep=") && strings.ContainsAny(said[4:], ",;\t|") {
		text, separators = rest, said[4:] // spreadsheets do not count this line as a row
	}
	for _, separator := range separators {
		r = &Reader{text: text, rows: csv.NewReader(strings.NewReader(text))}
		r.rows.Comma, r.rows.FieldsPerRecord = separator, -1
		header, readErr := r.next()
		if readErr != nil {
			err = readErr
			continue
		}
		if r.find(header, columns) {
			return r, true, nil
		}
	}
	return nil, false, err
}

// find notes for each of the columns the first cell of the header that has its name, in upper or lower case. It
// returns false if a column is missing.
func (r *Reader) find(header, columns []string) bool {
	for _, name := range columns {
		for i, cell := range header {
			if strings.EqualFold(strings.TrimSpace(cell), name) {
				r.columns = append(r.columns, i)
				break
			}
		}
	}
	return len(r.columns) == len(columns)
}

// Next returns the cells of the next row that is not empty, in the order of the columns of Open,
// and the number that a spreadsheet shows for the row. After the last row, err is io.EOF.
func (r *Reader) Next() (cells []string, row int, err error) {
	for {
		all, err := r.next()
		if err != nil {
			return nil, 0, err
		}
		if strings.TrimSpace(strings.Join(all, "")) == "" {
			continue
		}
		cells = make([]string, len(r.columns))
		for i, at := range r.columns {
			if at < len(all) {
				cells[i] = strings.TrimSpace(all[at])
			}
		}
		return cells, r.row, nil
	}
}

// next reads a row and counts it. It also counts the empty lines that package csv skips, because a
// spreadsheet shows them as rows.
func (r *Reader) next() ([]string, error) {
	all, err := r.rows.Read()
	if err != nil {
		return nil, err
	}
	read := r.rows.InputOffset()
	raw := r.text[r.read:read]
	r.read = read
	r.row++
	for strings.HasPrefix(raw, "\n") || strings.HasPrefix(raw, "\r\n") {
		raw = raw[strings.IndexByte(raw, '\n')+1:]
		r.row++
	}
	return all, nil
}

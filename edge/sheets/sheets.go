// Package sheets reads and writes CSV as spreadsheets do, which is RFC 4180 and what has grown around
// it: byte order marks, other separators than commas, and cells that are calculated.
//
// All is pure, and holds no more than the text that it is given.
package sheets

import (
	"bytes"
	"encoding/csv"
	"strings"
	"unicode"
)

// mark is the byte order mark, by which spreadsheets know that a file is UTF-8.
const mark = "\ufeff"

// formulas are the characters with which a formula begins, also in the width that Chinese and
// Japanese write them in.
const formulas = "=+-@\uff1d\uff0b\uff0d\uff20"

// Begin writes what a file begins with, before its first row.
func Begin(out *bytes.Buffer) { out.WriteString(mark) }

// Write appends rows to a file. Cells that a spreadsheet would calculate get a ' before them, which
// makes them text.
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

// defuse changes a cell that a spreadsheet would take for a formula, so that it is a text. It also finds formulas after
// invisible characters, because some spreadsheets skip these.
func defuse(cell string) string {
	rest := strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
	if strings.HasPrefix(cell, "\t") || strings.HasPrefix(cell, "\r") || strings.HasPrefix(cell, "\n") ||
		rest != "" && strings.ContainsRune(formulas, []rune(rest)[0]) {
		return "'" + cell
	}
	return cell
}

// Reader reads the rows of a file below its first one, which names the columns.
type Reader struct {
	text    string
	rows    *csv.Reader
	columns []int // the places of the columns that were asked for
	row     int
	read    int64 // how much of the text has been read
}

// Open opens a file that has the columns, in any order and among others. Its separator is what a line
// "sep=;" before the first row says, or else a comma, semicolon or tab, whichever makes the first row
// have the columns. Without an error but without all columns, ok is false.
func Open(text string, columns ...string) (r *Reader, ok bool, err error) {
	text = strings.TrimPrefix(text, mark)
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n") // as the first Macs ended their lines
	}
	separators := ",;\t"
	first, rest, _ := strings.Cut(text, "\n")
	said := strings.Trim(strings.TrimSuffix(first, "\r"), `"`)
	if len(said) == len("sep=;") && strings.EqualFold(said[:4], "sep=") && strings.ContainsAny(said[4:], ",;\t|") {
		text, separators = rest, said[4:] // no spreadsheet shows this line as a row
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

// Next returns the cells of the next row that has any, in the order of the columns, and the number
// that a spreadsheet shows beside the row. After the last its error is io.EOF.
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

// next reads a row. The lines that package csv skips count.
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

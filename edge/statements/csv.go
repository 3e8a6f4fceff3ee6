package statements

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// shape says how one bank writes its CSV: the names of the columns that we read, and how it writes
// days and amounts.
type shape struct {
	separator        rune
	day, amount      string // names of columns; these and those of the next line must be there
	payer, text      string
	currency         string // name of a column, or a currency of three letters if the file has no such column
	bank             string // name of the column with the bank's reference, or "" if there is none
	status, pending  string // name of a column that some files have, and the word in it for an entry that is not booked yet
	point, thousands byte
	layouts          []string
}

// shapes are the CSV files that we read: the files of the German savings banks, of Wise and of N26, in this order.
var shapes = []shape{
	{
		separator: ';', day: "Buchungstag", amount: "Betrag", payer: "Beguenstigter/Zahlungspflichtiger", text: "Verwendungszweck", currency: "Waehrung",
		status: "Info", pending: "vorgemerkt", point: ',', thousands: '.', layouts: []string{"02.01.06", "02.01.2006"},
	},
	{
		separator: ',', day: "Date", amount: "Amount", payer: "Payer Name", text: "Payment Reference", currency: "Currency", bank: "TransferWise ID",
		point: '.', thousands: ',', layouts: []string{"02-01-2006"},
	},
	{
		separator: ',', day: "Date", amount: "Amount (EUR)", payer: "Payee", text: "Payment reference", currency: "EUR",
		point: '.', thousands: ',', layouts: []string{"2006-01-02"},
	},
}

// maxSeparators is how many separators a line may have. Banks write up to 20 cells, and a payer's text
// may contain commas.
const maxSeparators = 200

// readCSV reads a CSV file of a bank that we know (shapes) by the names of the columns in the first
// row. It counts the separators of each line before it parses the file, because a line of nothing
// but separators would take much memory.
func readCSV(file []byte) (lines []Line, err error) {
	file = toUTF8(file)
	for line := range bytes.Lines(file) {
		if max(bytes.Count(line, []byte(",")), bytes.Count(line, []byte(";"))) > maxSeparators {
			return nil, fmt.Errorf("a line of more than %d cells", maxSeparators)
		}
	}
	head, _, _ := bytes.Cut(file, []byte("\n"))
	for i := range shapes {
		names, err := shapes[i].reader(head).Read()
		if err == nil && shapes[i].hasColumns(names) {
			return shapes[i].read(file, names)
		}
	}
	return nil, errors.New("its columns are of no bank that we know")
}

// reader returns a CSV reader for a file of this shape. Rows may have different numbers of cells.
func (s *shape) reader(file []byte) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(file))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = s.separator, -1, false
	return r
}

// columns returns the columns that a file of this shape must have. A currency of three
// letters is a fixed currency and not a column.
func (s *shape) columns() []string {
	need := []string{s.day, s.amount, s.payer, s.text}
	if len(s.currency) != 3 {
		need = append(need, s.currency)
	}
	if s.bank != "" {
		need = append(need, s.bank)
	}
	return need
}

// hasColumns reports whether a file's first row names all columns that the shape needs.
func (s *shape) hasColumns(names []string) bool {
	return !slices.ContainsFunc(s.columns(), func(name string) bool { return !slices.Contains(names, name) })
}

// read returns a line for each row with booked money that came in. names are the names of the columns in
// the file's order. A row may have fewer cells than that, but must have those that we read.
func (s *shape) read(file []byte, names []string) (lines []Line, err error) {
	r := s.reader(file)
	if _, err := r.Read(); err != nil {
		return nil, err
	}
	last := 0 // the index of the last column that we read
	for _, name := range append(s.columns(), s.status) {
		if name != "" {
			last = max(last, slices.Index(names, name))
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		if len(row) <= last { // the file was cut off
			return nil, fmt.Errorf("a row of %d cells", len(row))
		}
		cell := func(name string) string {
			if i := slices.Index(names, name); name != "" && i >= 0 {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		// An entry that is not booked yet may still vanish, or come again with another day and other words.
		if s.pending != "" && strings.Contains(cell(s.status), s.pending) {
			continue
		}
		l := Line{Currency: first(cell(s.currency), s.currency), Payer: cell(s.payer), Text: cell(s.text), bank: cell(s.bank)}
		if l.Amount, err = parseAmount(cell(s.amount), l.Currency, s.point, s.thousands); err != nil {
			return nil, err
		}
		if l.Amount <= 0 {
			continue
		}
		if l.Day, err = parseDay(cell(s.day), s.layouts...); err != nil {
			return nil, err
		}
		if lines, err = add(lines, l); err != nil {
			return nil, err
		}
	}
}

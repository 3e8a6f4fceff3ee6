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

// shape describes the CSV files of one bank: the names of the columns that we read, and the forms of days and
// amounts.
type shape struct {
	separator        rune
	day, amount      string // names of columns, which must all be in the file
	payer, text      string
	currency         string // column, or a currency if there is none
	bank             string // column of the bank's reference; "" for none
	point, thousands byte
	layouts          []string
}

// shapes are the files that we read: of the German savings banks, of Wise and of N26.
var shapes = []shape{
	{
		separator: ';', day: "Buchungstag", amount: "Betrag", payer: "Beguenstigter/Zahlungspflichtiger", text: "Verwendungszweck", currency: "Waehrung",
		point: ',', thousands: '.', layouts: []string{"02.01.06", "02.01.2006"},
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

// maxCells is the most cells of a line. Banks write up to 20, and a payer's text may contain some separators.
const maxCells = 200

// readCSV reads the file of a bank whose columns are named in its first row. The cells of a
// line are counted before the file is parsed, because a line of nothing but separators
// would take much memory.
func readCSV(file []byte) (lines []Line, err error) {
	file = toUTF8(file)
	for line := range bytes.Lines(file) {
		if max(bytes.Count(line, []byte(",")), bytes.Count(line, []byte(";"))) > maxCells {
			return nil, fmt.Errorf("a line of more than %d cells", maxCells)
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

// reader reads the cells of a file in this shape. Rows may have different numbers of cells.
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

// read reads the lines of money that came in. names are the columns in the order of the
// file.
func (s *shape) read(file []byte, names []string) (lines []Line, err error) {
	r := s.reader(file)
	if _, err := r.Read(); err != nil {
		return nil, err
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		cell := func(name string) string {
			if i := slices.Index(names, name); name != "" && i >= 0 && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
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

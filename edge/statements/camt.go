package statements

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// camtEntry has the parts that we read of an entry of a CAMT.053 statement, in any of the format's
// versions (https://www.iso20022.org/iso-20022-message-definitions, camt.053.001). Later versions
// have status and parties inside one more element, so both forms are here.
type camtEntry struct {
	Amount   camtAmount `xml:"Amt"`
	Sign     string     `xml:"CdtDbtInd"`
	Reversal bool       `xml:"RvslInd"`
	Status   struct {
		Text string `xml:",chardata"`
		Code string `xml:"Cd"`
	} `xml:"Sts"`
	Day  string        `xml:"BookgDt>Dt"`
	At   string        `xml:"BookgDt>DtTm"`
	Bank string        `xml:"AcctSvcrRef"`
	Info string        `xml:"AddtlNtryInf"`
	Txs  []camtDetails `xml:"NtryDtls>TxDtls"`
}

// camtAmount is a decimal with its currency, as the file writes it.
type camtAmount struct {
	Text     string `xml:",chardata"`
	Currency string `xml:"Ccy,attr"`
}

// camtDetails is one of the payments that an entry books together.
type camtDetails struct {
	Sign     string     `xml:"CdtDbtInd"` // "" in early versions of the format: the payment then has the sign of its entry
	Bank     string     `xml:"Refs>AcctSvcrRef"`
	EndToEnd string     `xml:"Refs>EndToEndId"`
	Amount   camtAmount `xml:"Amt"`
	Inner    camtAmount `xml:"AmtDtls>TxAmt>Amt"`
	Payer    string     `xml:"RltdPties>Dbtr>Nm"`
	PayerNew string     `xml:"RltdPties>Dbtr>Pty>Nm"`
	Text     []string   `xml:"RmtInf>Ustrd"`
	Creditor []string   `xml:"RmtInf>Strd>CdtrRefInf>Ref"`
}

// readCAMT reads a CAMT.053 file entry by entry, so that the whole file is never in memory as a
// tree. It returns an error if the file has no statement.
func readCAMT(file []byte) (lines []Line, err error) {
	if bytes.Count(file, []byte("TxDtls")) > 2*MaxLines { // each payment has this tag twice; the bound is needed because all payments of an entry are in memory together
		return nil, fmt.Errorf("more than %d payments", MaxLines)
	}
	d := xml.NewDecoder(bytes.NewReader(file))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("a statement is in UTF-8") }
	statements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if statements == 0 {
				return nil, errors.New("no statement in it")
			}
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "Stmt":
			statements++
		case start.Name.Local == "Ntry":
			var e camtEntry
			if err := d.DecodeElement(&e, &start); err != nil {
				return nil, err
			}
			if lines, err = e.appendTo(lines); err != nil {
				return nil, err
			}
		}
	}
}

// appendTo adds a line for each payment of an entry that brought money in. An entry with one
// payment or none makes one line with the entry's amount. Debits, also those within such an entry,
// reversals, and entries that are not booked yet add nothing.
func (e *camtEntry) appendTo(lines []Line) ([]Line, error) {
	if e.Sign != "CRDT" || e.Reversal || strings.TrimSpace(e.Status.Text)+e.Status.Code != "BOOK" {
		return lines, nil
	}
	day, err := parseDay(first(e.Day, e.At), "2006-01-02", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05.999999999")
	if err != nil {
		return nil, err
	}
	if len(e.Txs) == 0 {
		e.Txs = make([]camtDetails, 1)
	}
	for i := range e.Txs {
		tx := &e.Txs[i]
		if len(e.Txs) > 1 && tx.Sign == "DBIT" { // money that went out, booked together with money that came in
			continue
		}
		amount, bank := e.Amount, first(tx.Bank, e.Bank)
		if len(e.Txs) > 1 {
			if amount = tx.Amount; amount.Text == "" {
				amount = tx.Inner
			}
			bank = tx.Bank
		}
		n, err := parseAmount(amount.Text, amount.Currency, '.', ' ')
		if err != nil || n < 0 {
			return nil, fmt.Errorf("an entry of %s: amount %q", day.Format(time.DateOnly), amount.Text)
		}
		text := strings.Join(append(append(tx.Creditor, tx.Text...), withoutPlaceholder(tx.EndToEnd)), " ")
		if lines, err = add(lines, Line{
			Day: time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC), Amount: n, Currency: amount.Currency, Payer: first(tx.Payer, tx.PayerNew),
			Text: first(strings.TrimSpace(text), e.Info), bank: bank,
		}); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

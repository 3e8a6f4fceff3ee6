package statements

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const camt = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S-1</Id>
<Ntry><Amt Ccy="EUR">52.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt><AcctSvcrRef>B-1</AcctSvcrRef>
<NtryDtls><TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs><RltdPties><Dbtr><Pty><Nm>Ann Müller</Nm></Pty></Dbtr></RltdPties>
<RmtInf><Ustrd>for the</Ustrd><Ustrd>concert</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
<Ntry><Amt Ccy="JPY">5000</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><DtTm>2026-11-21T00:30:00+02:00</DtTm></BookgDt>
<NtryDtls><TxDtls><Refs><AcctSvcrRef>T-1</AcctSvcrRef></Refs><Amt Ccy="JPY">2000</Amt></TxDtls>
<TxDtls><Refs><AcctSvcrRef>T-3</AcctSvcrRef></Refs><Amt Ccy="JPY">500</Amt><CdtDbtInd>DBIT</CdtDbtInd><RmtInf><Ustrd>sent back</Ustrd></RmtInf></TxDtls>
<TxDtls><Refs><AcctSvcrRef>T-2</AcctSvcrRef></Refs><AmtDtls><TxAmt><Amt Ccy="JPY">3000</Amt></TxAmt></AmtDtls><RmtInf><Strd><CdtrRefInf><Ref>RF18 5390</Ref></CdtrRefInf></Strd></RmtInf></TxDtls></NtryDtls></Ntry>
<Ntry><Amt Ccy="EUR">9.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt></Ntry>
<Ntry><Amt Ccy="EUR">8.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt></Ntry>
<Ntry><Amt Ccy="EUR">7.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>PDNG</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt></Ntry>
</Stmt></BkToCstmrStmt></Document>`

const mt940 = ":20:STARTUMS\r\n:25:10020030/1234567\r\n:28C:00001/001\r\n:60F:C261119KWD100,000\r\n" +
	":61:2611201120CR12,345NTRFNONREF//B-7\r\n:86:166?00GUTSCHRIFT?20for the con?21cert?32Ann?33 Lee\r\n" +
	":61:2611201120D1,5NMSC\r\n:86:fees\r\n" +
	":61:261121C0,001NTRF\r\n:86:plain words\r\nof two lines\r\n:62F:C261121KWD110,846\r\n-\r\n"

const (
	savings = "\"Auftragskonto\";\"Buchungstag\";\"Verwendungszweck\";\"Beguenstigter/Zahlungspflichtiger\";\"Betrag\";\"Waehrung\"\r\n" +
		"\"DE1\";\"20.11.26\";\"for the concert\";\"Ann M\xfcller\";\"1.052,50\";\"EUR\"\r\n\"DE1\";\"20.11.26\";\"rent\";\"X\";\"-3,00\";\"EUR\"\r\n"
	savingsCAMT = "\"Auftragskonto\";\"Buchungstag\";\"Verwendungszweck\";\"Beguenstigter/Zahlungspflichtiger\";\"Betrag\";\"Waehrung\";\"Info\"\r\n" +
		"\"DE1\";\"20.11.26\";\"the first\";\"Ann\";\"12,50\";\"EUR\";\"Umsatz vorgemerkt\"\r\n\"DE1\";\"\";\"the second\";\"Ann\";\"12,50\";\"EUR\";\"Umsatz vorgemerkt\"\r\n" +
		"\"DE1\";\"20.11.26\";\"for the concert\";\"Ann\";\"12,50\";\"EUR\";\"Umsatz gebucht\"\r\n"
	wise = "\"TransferWise ID\",Date,Amount,Currency,Description,\"Payment Reference\",\"Payer Name\"\n" +
		"TRANSFER-1,20-11-2026,1052.50,USD,Received,\"for the concert\",\"Ann Lee\"\n"
	n26 = "\"Date\",\"Payee\",\"Account number\",\"Transaction type\",\"Payment reference\",\"Amount (EUR)\"\n" +
		"\"2026-11-20\",\"Ann Lee\",\"DE1\",\"Income\",\"for the concert\",\"52.5\"\n\"2026-11-20\",\"Ann Lee\",\"DE1\",\"Income\",\"for the concert\",\"52.5\"\n"
)

// TestRead reads a statement of every format: what came in, and nothing else.
func TestRead(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		camt:        {"2026-11-20 5250 EUR Ann Müller: for the concert", "2026-11-21 2000 JPY : ", "2026-11-21 3000 JPY : RF18 5390"},
		mt940:       {"2026-11-20 12345 KWD Ann Lee: for the concert", "2026-11-21 1 KWD : plain wordsof two lines"},
		savings:     {"2026-11-20 105250 EUR Ann Müller: for the concert"},
		savingsCAMT: {"2026-11-20 1250 EUR Ann: for the concert"},
		wise:        {"2026-11-20 105250 USD Ann Lee: for the concert"},
		n26:         {"2026-11-20 5250 EUR Ann Lee: for the concert", "2026-11-20 5250 EUR Ann Lee: for the concert"},
	} {
		lines, err := Read([]byte(file))
		require.NoError(t, err, file)
		var got []string
		ids := map[string]bool{}
		for _, l := range lines {
			got = append(got, fmt.Sprintf("%s %d %s %s: %s", l.Day.Format(time.DateOnly), l.Amount, l.Currency, l.Payer, l.Text))
			ids[l.ID] = true
		}
		require.Equal(t, want, got)
		require.Len(t, ids, len(lines), "two lines have one id")
		again, err := Read([]byte(file))
		require.NoError(t, err)
		require.Equal(t, lines, again)
	}
}

// TestReadRefuses refuses files of which a line can't be read, and those beyond the bounds.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"nothing": "", "text": "hello", "page": "<html></html>", "columns": "a;b\n1;2\n", "cut": camt[:700],
		"cut before its balance": mt940[:strings.Index(mt940, ":62F:")], "cut in an entry's details": mt940[:strings.Index(mt940, "words")],
		"cut in a row": wise[:strings.Index(wise, ",Received")], "cut in a quote": savings[:strings.Index(savings, " concert")],
		"decimals":  strings.Replace(camt, ">2000<", ">2000.5<", 1),
		"amount":    strings.Replace(wise, "1052.50", "1e9", 1),
		"currency":  strings.Replace(wise, "USD", "XXX", 1),
		"day":       strings.Replace(wise, "20-11-2026", "31-02-2026", 1),
		"year 0":    strings.Replace(n26, "2026-11-20", "0000-11-20", 1),
		"year 9999": strings.Replace(camt, "<Dt>2026-11-20", "<Dt>9999-11-20", 1),
		"year 1969": strings.Replace(mt940, ":61:261121", ":61:691121", 1),
		"entry":     strings.Replace(mt940, "12,345", "12.345", 1),
		"encoding":  strings.Replace(camt, "UTF-8", "UTF-7", 1),
		"entities":  `<!DOCTYPE d [<!ENTITY a "x">]><Document><Stmt><Ntry><Amt Ccy="EUR">&a;</Amt></Ntry></Stmt></Document>`,
		"too large": n26 + strings.Repeat(" ", MaxBytes),
		"too long":  n26 + strings.Repeat("\"2026-11-20\",\"A\",\"\",\"\",\"\",\"1\"\n", MaxLines),
	} {
		_, err := Read([]byte(file))
		require.ErrorIs(t, err, ErrFormat, name)
	}
}

// TestReadTellsTheDay says of a day that no bank books that it is the day.
func TestReadTellsTheDay(t *testing.T) {
	t.Parallel()
	for _, day := range []string{"0000-11-20", "1999-12-31", "2100-01-01", "9999-12-31"} {
		_, err := Read([]byte(strings.Replace(n26, "2026-11-20", day, 1)))
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorIs(t, err, ErrDay)
	}
	_, err := Read([]byte(strings.Replace(n26, "2026-11-20", "2026-13-20", 1)))
	require.NotErrorIs(t, err, ErrDay)
}

// TestPlaceholdersNameNothing gives lines of two statements other names, though their bank writes the same
// where it has no reference. With one name the second statement's money would be taken for the first's.
func TestPlaceholdersNameNothing(t *testing.T) {
	t.Parallel()
	for file, other := range map[string][2]string{
		strings.ReplaceAll(camt, "B-1", "NOTPROVIDED"):   {"2026-11-20", "2026-11-23"},
		strings.ReplaceAll(camt, "B-1", "not provided"):  {"2026-11-20", "2026-11-23"},
		strings.ReplaceAll(mt940, "//B-7", "//NONREF"):   {"261120", "261123"},
		strings.ReplaceAll(wise, "TRANSFER-1", "NONREF"): {"20-11-2026", "23-11-2026"},
	} {
		first, err := Read([]byte(file))
		require.NoError(t, err)
		second, err := Read([]byte(strings.ReplaceAll(file, other[0], other[1])))
		require.NoError(t, err)
		require.NotEqual(t, first[0].ID, second[0].ID, file)
	}
	lines, err := Read([]byte(strings.ReplaceAll(n26, "for the concert", "NOTPROVIDED")))
	require.NoError(t, err)
	require.Empty(t, lines[0].Text)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// TestReferences finds a reference however it is written, and none with one wrong letter or digit, or
// with two that changed places.
func TestReferences(t *testing.T) {
	t.Parallel()
	require.Equal(t, "RF18539007547034", Reference("5390-0754-7034"), "the example of ISO 11649")
	draw := rand.New(rand.NewPCG(11, 649))
	const signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for range 200 {
		body := make([]byte, minBody+draw.IntN(maxBody-minBody+1))
		for i := range body {
			body[i] = signs[draw.IntN(len(signs))]
		}
		good := Reference(string(body))
		require.Contains(t, FindReferences("order "+strings.ToLower(good[:7])+" - "+good[7:11]+"\n"+good[11:]+", thanks"), good)
		at, sign := 4+draw.IntN(len(body)-1), signs[draw.IntN(len(signs))]
		swapped, replaced := []byte(good), []byte(good)
		swapped[at], swapped[at+1] = swapped[at+1], swapped[at]
		replaced[at] = sign
		if isDigit(good[at]) == isDigit(good[at+1]) && string(swapped) != good {
			require.NotContains(t, FindReferences(string(swapped)), string(swapped))
		}
		if isDigit(good[at]) == isDigit(sign) && string(replaced) != good {
			require.NotContains(t, FindReferences(string(replaced)), string(replaced))
		}
	}
}

// FuzzRead reads anything: within the bounds, and without a panic.
func FuzzRead(f *testing.F) {
	for _, file := range []string{camt, mt940, savings, wise, n26} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		lines, err := Read(file)
		require.True(t, err == nil || len(lines) == 0)
		require.LessOrEqual(t, len(lines), MaxLines)
		for _, l := range lines {
			require.Positive(t, l.Amount)
			require.LessOrEqual(t, len(l.Text), maxText)
			require.NotEmpty(t, l.ID)
		}
	})
}

// TestGiroCode writes the guideline's lines, and none for what it has no code for.
func TestGiroCode(t *testing.T) {
	t.Parallel()
	const iban, reference = "DE89370400440532013000", "RF18539007547034"
	require.Equal(t, "BCD\n002\n1\nSCT\nCOBADEFFXXX\nMüller GmbH\n"+iban+"\nEUR26.25\n\n"+reference,
		GiroCode("Müller GmbH", iban, "COBADEFFXXX", "26.25", reference))
	require.Empty(t, GiroCode("A", "12345678", "", "26.25", reference), "no IBAN")
	require.Empty(t, GiroCode("A", "DE89370400440532013001", "", "26.25", reference), "wrong check digits")
	require.Empty(t, GiroCode(strings.Repeat("ä", 71), iban, "", "26.25", reference), "the name is too long")
}

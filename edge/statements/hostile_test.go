package statements

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHostileStatements reads files that are made to cost much. What a file costs grows as the file does:
// it is measured in bytes allocated, because a machine's clock proves nothing.
func TestHostileStatements(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	const size, most = 256 << 10, 100 // bytes of a file, and allocated for each of them
	head := ":20:S\n:60F:C261119EUR100,00\n:61:2611201120CR12,34NTRFNONREF//B-7\n"
	entry := `<Stmt><Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt>`
	columns := "\"Date\",\"Payee\",\"Payment reference\",\"Amount (EUR)\""
	for name, make := range map[string]func(n int) string{
		"MT940: a field of many lines":    func(n int) string { return head + ":86:x" + strings.Repeat("\na", n/2) },
		"MT940: a field of many parts":    func(n int) string { return head + ":86:" + strings.Repeat("?20a", n/4) },
		"MT940: many fields":              func(n int) string { return head + strings.Repeat(":\n", n/2) },
		"MT940: beginnings of references": func(n int) string { return head + ":86:" + strings.Repeat("RF00", n/4) },
		"CAMT: an entry of many payments": func(n int) string {
			return entry + "<NtryDtls>" + strings.Repeat("<TxDtls/>", n/9) + "</NtryDtls></Ntry></Stmt>"
		},
		"CAMT: a payment of many words": func(n int) string {
			return entry + "<NtryDtls><TxDtls><RmtInf>" + strings.Repeat("<Ustrd>a</Ustrd>", n/16) + "</RmtInf></TxDtls></NtryDtls></Ntry></Stmt>"
		},
		"CAMT: depth":             func(n int) string { return "<Stmt>" + strings.Repeat("<a>", n/3) },
		"CAMT: depth in an entry": func(n int) string { return entry + strings.Repeat("<a>", n/3) },
		"CAMT: entities that grow": func(int) string {
			return `<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + entry + "<NtryDtls><TxDtls><RmtInf><Ustrd>&b;</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry></Stmt>"
		},
		"CSV: many rows of money that left": func(n int) string { return columns + strings.Repeat("\n2026-11-20,X,y,-1", n/18) },
		"CSV: a row of many cells":          func(n int) string { return columns + "\n2026-11-20,X,y,1" + strings.Repeat(",", n) },
		"CSV: an open quote":                func(n int) string { return columns + "\n\"" + strings.Repeat("a\n", n/2) },
	} {
		file := []byte(make(size))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines, _ := Read(file)
		for i := range lines {
			FindReferences(lines[i].Text)
		}
		runtime.ReadMemStats(&after)
		spent := int(after.TotalAlloc-before.TotalAlloc) / size
		t.Logf("%4d bytes for each byte: %s", spent, name)
		if spent > most {
			t.Errorf("%s: it takes %d bytes for each of the file, over %d", name, spent, most)
		}
	}
}

// TestManyColumns refuses a CSV of which each cell would be looked for among a great many.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	_, err := Read([]byte(strings.ReplaceAll("\n"+strings.TrimSpace(n26), "\n", "\n"+strings.Repeat(",", 1_000))[1:]))
	require.ErrorIs(t, err, ErrFormat)
}

// TestStoredTexts reads texts that no database takes: they come out as texts that it does.
func TestStoredTexts(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		strings.Replace(mt940, "plain words", "plain\x00 words\x1b", 1),
		strings.Replace(savings, "for the concert", "for the\x00concert", 1),
		strings.Replace(wise, "Ann Lee", "Ann\x00Lee\x7f", 1),
	} {
		lines, err := Read([]byte(file))
		require.NoError(t, err)
		require.NotEmpty(t, lines)
		for _, l := range lines {
			require.False(t, strings.ContainsAny(l.Payer+l.Text, "\x00\x1b\x7f"), "%q %q", l.Payer, l.Text)
		}
	}
}

// TestForgedEntries refuses a statement in which a payer's words, which the bank cuts into lines, look like fields.
func TestForgedEntries(t *testing.T) {
	t.Parallel()
	honest := ":20:S\n:60F:C261119EUR100,00\n:61:2611201120CR1,00NTRFNONREF//B-7\n:86:for the concert, and so on\n#:62F:C261120EUR101,00\n"
	_, err := Read([]byte(strings.ReplaceAll(honest, "#", "")))
	require.NoError(t, err)
	for name, words := range map[string]string{
		"an entry":                        ":61:2611201120CR999,00NTRFNONREF//B-8\n:86:RF18 5390\n",
		"an entry and a closing balance":  ":61:2611201120CR999,00NTRFNONREF//B-8\n:62F:C261120EUR1100,00\n",
		"an entry that is balanced":       ":61:2611201120CR999,00NTRFNONREF//B-8\n:62F:C261120EUR1100,00\n:60F:C261120EUR1100,00\n",
		"a balance in another currency":   ":60F:C261119KWD101,000\n",
		"an entry behind a closing line":  ":62F:C261120EUR101,00\n:61:2611201120CR999,00NTRFNONREF//B-8\n",
		"an entry with an earlier ending": "-}\n:61:2611201120CR999,00NTRFNONREF//B-8\n",
	} {
		_, err := Read([]byte(strings.ReplaceAll(honest, "#", words)))
		require.ErrorIs(t, err, ErrFormat, name)
	}
}

package route

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Money{
		"0": 0, "-0": 0, "0.00": 0, "1": 1000, "12.5": 12500, "12.50": 12500, "12.5000": 12500, "-0.001": -1, "0.1": 100, "0.29": 290,
		"1e2": 100000, "1E+2": 100000, "1500e-2": 15000, "0e999999999999": 0, "100000000000000000000e-18": 100000,
		"9223372036854775.807": math.MaxInt64,
	} {
		m, p := parseMoney([]byte(text))
		require.Equal(t, none, p, text)
		require.Equal(t, want, m, text)
	}
	for text, want := range map[string]string{
		"0.0001": IssueDecimals, "1e-4": IssueDecimals, "0.1234567890123456789012345678": IssueDecimals, "1e-999999999999": IssueDecimals,
		"9223372036854775.808": IssueMaximum, "-9223372036854775.809": IssueMinimum, "1e16": IssueMaximum, "1e999999999999": IssueMaximum,
		"-1e300": IssueMinimum, "123456789012345678901234": IssueMaximum, strings.Repeat("1", 65): IssueType,
		"": IssueType, "-": IssueType, ".5": IssueType, "5.": IssueType, "1e": IssueType, "x": IssueType, "1.2.3": IssueType, "NaN": IssueType,
	} {
		_, p := parseMoney([]byte(text))
		require.Equal(t, want, p.code, text)
	}
}

func TestMoneyIsWrittenAsDecimalString(t *testing.T) {
	t.Parallel()
	for m, want := range map[Money]string{
		0: `"0.00"`, 50: `"0.05"`, 12500: `"12.50"`, -1: `"-0.001"`, -10: `"-0.01"`, math.MaxInt64: `"9223372036854775.807"`, math.MinInt64: `"-9223372036854775.808"`,
	} {
		text, err := json.Marshal(m)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

// FuzzMoney compares with exact arithmetic.
func FuzzMoney(f *testing.F) {
	for _, s := range []string{"0", "12.5", "-1e2", "1e-2", "99999999999999999.99", "0.005", "10e-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, p := parseMoney([]byte(text))
		if p.code == IssueType || strings.ContainsAny(text, "/xXpP_iInN") {
			return
		}
		if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
			return // big.Rat would write these out
		}
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok, "%q", text)
		exact.Mul(exact, big.NewRat(1000, 1))
		fits := exact.IsInt() && exact.Num().IsInt64() && exact.Num().Int64() != math.MinInt64
		require.Equal(t, fits, p == none, "%q: %v", text, p)
		if fits {
			require.Equal(t, exact.Num().Int64(), int64(m), "%q", text)
		}
	})
}

func TestOpt(t *testing.T) {
	t.Parallel()
	type patch struct {
		A Opt[int] `json:"a,omitzero"`
		B Opt[int] `json:"b,omitzero"`
		C Opt[int] `json:"c,omitzero"`
	}
	text, err := json.Marshal(patch{B: Null[int](), C: Some(0)})
	require.NoError(t, err)
	require.JSONEq(t, `{"b":null,"c":0}`, string(text))
	n := 5
	Opt[int]{}.Into(&n)
	require.Equal(t, 5, n)
	Some(7).Into(&n)
	require.Equal(t, 7, n)
	Null[int]().Into(&n)
	require.Zero(t, n)
}

// TestCanonicalEmail writes domains in all letters as one.
func TestCanonicalEmail(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ada@example.org":          "ada@example.org",
		"Ada@EXAMPLE.org":          "Ada@EXAMPLE.org",
		"ada@müller.example":       "ada@xn--mller-kva.example",
		"ada@MÜLLER.example":       "ada@xn--mller-kva.example",
		"ada@mu\u0308ller.example": "ada@xn--mller-kva.example",
		"ada@例え.テスト":               "ada@xn--r8jz45g.xn--zckzah",
		"ada@مثال.إختبار":          "ada@xn--mgbh0fb.xn--kgbechtv",
		"ä@müller.example":         "ä@xn--mller-kva.example",
		"ada@-ü.example":           "ada@-ü.example",
		"ada":                      "ada",
		"ada@":                     "ada@",
	} {
		require.Equal(t, want, CanonicalEmail(in), in)
		require.Equal(t, want, CanonicalEmail(want), in)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ good, bad []string }{
		"email": {
			[]string{"a@b.co", "Ada.Lovelace+tag@mail.example.org", "o'neil@x-y.example"},
			[]string{
				"", "a", "a@", "@b.co", "a@b", "a@b.", "a@.co", "a@-b.co", "a b@c.de", "a@b@c.de", ".a@b.co", "a.@b.co", "a..b@c.de",
				"a@b.co\r\nBcc: x@y.zz", "a@b.co,c@d.ee", `"a"@b.co`, "ä@b.co", "a@b.co ", "<a@b.co>", strings.Repeat("a", 65) + "@b.co",
				"a@" + strings.Repeat("b.", 130) + "co",
			},
		},
		"uuid": {
			[]string{someID, "0190B6C1-0000-4000-8000-00000000000F"},
			[]string{"", "0190b6c1000080008000000000000007", someID + "0", "0190b6c1-0000-8000-8000-00000000000g", "{" + someID + "}", "0190b6c1-0000-8000-8000\x10000000000007", "0190b6c1-0000-8000-8000-0000000000\x1007"},
		},
		"uri": {
			[]string{"https://example.org/a?b=c#d", "http://10.0.0.1:8080/", "https://[::1]/", "https://localhost/x"},
			[]string{"", "example.org", "//example.org", "ftp://example.org", "javascript:alert(1)", "https://", "https:///x", "https://a b/", "https://user:pw@example.org/", "https://exa\nmple.org", "https://ex_ample/%zz"},
		},
		"date-time": {[]string{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+02:00"}, []string{"", "2026-01-02", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z", "2026-01-02T3:04:05Z", "2026-01-02T03:04:05", "2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+01:60"}},
		"date":      {[]string{"2028-02-29"}, []string{"", "2026-02-29", "2026-2-1", "2026-02-01T00:00:00Z", "0"}},
		"timezone":  {[]string{"Europe/Berlin", "UTC", "America/Argentina/Ushuaia"}, []string{"", "Local", "Mars/Base", "../etc/passwd", "/etc/passwd", "europe/berlin/x", strings.Repeat("a", 100)}},
		"country":   {[]string{"DE", "NG"}, []string{"", "de", "XX", "DEU", "EU"}},
		"locale":    {[]string{"en", "nl-NL", "zh-Hant-TW", "es-419"}, []string{"", "x", "en_US", "en-", "e1-US", "toolongtag"}},
		"currency":  {[]string{"EUR", "NGN"}, []string{"", "eur", "XYZ", "EURO"}},
	} {
		for _, s := range c.good {
			require.True(t, formats[name].valid(s), "%s %q", name, s)
		}
		for _, s := range c.bad {
			require.False(t, formats[name].valid(s), "%s %q", name, s)
		}
	}
}

// TestCodeLists compares the lists with an independent one. What they may know
// differently is named here.
func TestCodeLists(t *testing.T) {
	t.Parallel()
	withdrawn := "AC AN BU CP CQ CS CT DD DG DY EA EU EZ FQ FX HV IC JT MI NH NQ NT PC PU PZ QO RH SU TA TP UK UN VD WK XA XB XK YD YU ZR ZZ"
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			region, err := language.ParseRegion(code)
			theirs := err == nil && region.IsCountry() && region.String() == code
			if !strings.Contains(withdrawn, code) {
				require.Equal(t, theirs, formats["country"].valid(code), code)
			}
		}
	}
	for code := range strings.FieldsSeq(currencies) {
		if !strings.Contains("MRU SLE STN VED VES XCG ZWG", code) { // newer than their list
			_, err := currency.ParseISO(code)
			require.NoError(t, err, code)
		}
	}
}

package format

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

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
			[]string{"0190b6c1-0000-8000-8000-000000000007", "0190B6C1-0000-4000-8000-00000000000F"},
			[]string{"", "0190b6c1000080008000000000000007", "0190b6c1-0000-8000-8000-000000000007" + "0", "0190b6c1-0000-8000-8000-00000000000g", "{" + "0190b6c1-0000-8000-8000-000000000007" + "}", "0190b6c1-0000-8000-8000\x10000000000007", "0190b6c1-0000-8000-8000-0000000000\x1007"},
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
			require.True(t, formats[name].Valid(s), "%s %q", name, s)
		}
		for _, s := range c.bad {
			require.False(t, formats[name].Valid(s), "%s %q", name, s)
		}
	}
}

// TestTimeZones makes sure that every name is a zone that Go knows too, and that what else a system may take for a
// zone is none.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{
		"Africa/Lagos", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Calcutta", "Europe/Kyiv", "Europe/Kiev", "America/Ciudad_Juarez",
		"UTC", "Etc/UTC", "GMT", "Etc/GMT+12", "US/Eastern", "Pacific/Kiritimati", "Antarctica/Troll",
	} {
		require.True(t, validTimezone(zone), zone)
	}
	for _, zone := range []string{
		"", "Local", "right/UTC", "right/Europe/Berlin", "posix/UTC", "posix/Europe/Berlin", "posixrules", "localtime", "Factory",
		"../UTC", "Europe/../UTC", "/usr/share/zoneinfo/UTC", "Europe/", "Europe", "europe/berlin", "utc", "Europe/Berlin ", " UTC",
		"Europe\\Berlin", "UTC0", "CET-1CEST", "+01:00", "zone.tab", "tzdata.zi", "leapseconds", "\x00", "UTC\x00", "Ünï/Cöde",
	} {
		require.False(t, validTimezone(zone), "%q", zone)
	}
	require.Greater(t, len(timezones), 590)
	for zone := range timezones {
		_, err := time.LoadLocation(zone)
		require.NoError(t, err, zone)
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
				require.Equal(t, theirs, formats["country"].Valid(code), code)
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

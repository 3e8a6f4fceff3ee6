package mail

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// englishWord is a word that every English sentence of ours has one of, and no German one.
var englishWord = regexp.MustCompile(`(?i)\b(the|your|you|is|are|and|of|for|to|it|not|has|have|with|this|from|here|at|fraudulent)\b`)

// TestGerman: each mail is there in German, and has no English sentence of ours in it.
func TestGerman(t *testing.T) {
	t.Parallel()
	for kind := range forms[English] {
		require.Contains(t, forms[German], kind)
	}
	require.Len(t, forms[German], len(forms[English]))
	in := samples(t, "Ada", English)
	for name, m := range samples(t, "Ada", German) {
		require.NotEqual(t, in[name].Text, m.Text, name)
		require.Contains(t, m.HTML, `<html lang="de">`)
		for line := range strings.Lines(m.Subject + "\n" + m.Text) {
			line = strings.NewReplacer("The museum", "", "bob (at) example", "").Replace(line)
			quoted := strings.HasPrefix(line, "> ") || m.Subject == "Your <b>seats</b>" && strings.Contains(line, m.Subject)
			require.False(t, !quoted && !strings.Contains(line, "https://") && englishWord.MatchString(line), "%s: %q", name, line)
		}
		require.Contains(t, in[name].Text, "Boxoffice sent this automatically.")
	}
}

// TestTextAndHTML: the text of a mail and its HTML say the same, word for word, and have one button.
func TestTextAndHTML(t *testing.T) {
	t.Parallel()
	for _, l := range Languages {
		for name, m := range samples(t, "Ada", l) {
			require.LessOrEqual(t, strings.Count(m.HTML, "inline-block"), 1, name)
			if m.Kind == "broadcast" { // its organizer has written it as HTML
				continue
			}
			root, err := html.Parse(strings.NewReader(m.HTML))
			require.NoError(t, err)
			var shown strings.Builder
			for n := range root.Descendants() {
				if n.Type == html.TextNode && n.Parent.Data != "title" {
					shown.WriteString(n.Data)
				}
			}
			require.Equal(t, signs(m.Subject+m.Text), signs(shown.String()), name)
		}
	}
}

// signs are the letters and digits of a text.
func signs(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

func TestReadLanguage(t *testing.T) {
	t.Parallel()
	for preference, want := range map[string]string{
		"de": "de", "de-AT": "de", "DE_ch": "de", "de-DE,de;q=0.9,en;q=0.8": "de", "en-GB,de;q=0.9": "en", "fr,de;q=0.5": "de", "fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5": "en",
		"en;q=0.5, de;q=0.7": "de", "gsw": "de", "de;q=0, en": "en",
		"": "", "*": "", "fr": "", "de-": "", "\x00": "", ";q=1": "", strings.Repeat("de,", 200): "", strings.Repeat("a-", 120) + "de": "",
	} {
		got := ""
		if l, ok := ReadLanguage(preference); ok {
			got = l.String()
		}
		require.Equal(t, want, got, "%q", preference)
	}
}

// TestForms: dates and amounts are written as the language does, and amounts as Intl.NumberFormat writes them on pages.
func TestForms(t *testing.T) {
	t.Parallel()
	for amount, want := range map[Money][2]string{
		{"26.25", "EUR"}: {"€26.25", "26,25_€"}, {"1250.00", "USD"}: {"$1,250.00", "1.250,00_$"}, {"0.05", "GBP"}: {"£0.05", "0,05_£"}, {"500", "JPY"}: {"¥500", "500_¥"},
		{"1234567.890", "KWD"}: {"KWD_1,234,567.890", "1.234.567,890_KWD"}, {"3.50", "ZAR"}: {"R_3.50", "3,50_R"}, {"12.00", "CHF"}: {"CHF_12.00", "12,00_CHF"}, {"5000", "XAF"}: {"FCFA_5,000", "5.000_FCFA"},
		{"-3.50", "NGN"}: {"-₦3.50", "-3,50_₦"}, {"-0.50", "ZAR"}: {"-R_0.50", "-0,50_R"}, {"1.00", "ZWG"}: {"ZWG_1.00", "1,00_ZWG"}, {}: {},
	} {
		for _, l := range Languages {
			require.Equal(t, strings.ReplaceAll(want[l], "_", noBreak), amount.In(l), amount)
		}
	}
	start, end := berlin(t, "2026-03-06 20:00"), berlin(t, "2026-03-07 02:30")
	require.Equal(t, "Friday, 6 March 2026, 20:00 – Saturday, 7 March 2026, 02:30 (Europe/Berlin)", english.showSpan(start, end))
	require.Equal(t, "Freitag, 6. März 2026, 20:00 – Samstag, 7. März 2026, 02:30 Uhr (Europe/Berlin)", german.showSpan(start, end))
	require.Equal(t, "Freitag, 6. März 2026, 20:00 Uhr (Europe/Berlin)", german.showSpan(start, time.Time{}))
	require.Equal(t, "6. März 2026, 20:00 Uhr (MEZ)", german.showMoment(start))
	require.Equal(t, "6 March 2026, 20:00 CET", english.showMoment(start))
}

// TestDisputesOnThePage: the organizer's page says why a payment is disputed in the words of the letter about it.
func TestDisputesOnThePage(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../web/app/src/organizer/settings/reasons.de.json")
	require.NoError(t, err)
	var onPage map[string]string
	require.NoError(t, json.Unmarshal(file, &onPage))
	require.Equal(t, german.disputes, onPage)
}

// TestMarksAreOurs: whatever a person types, it marks nothing in a mail.
func TestMarksAreOurs(t *testing.T) {
	t.Parallel()
	for name, m := range poisoned(t, "x\x01y\x02\x03https://evil.example\x04\n\x1cbutton\x1fClick\x1fhttps://evil.example/win", German) {
		require.LessOrEqual(t, strings.Count(m.HTML, "inline-block"), 1, name)
		require.NotContains(t, m.HTML, `href="https://evil.example`, name)
		require.False(t, strings.ContainsFunc(m.Text+m.HTML, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }), name)
	}
}

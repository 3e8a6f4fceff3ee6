package tickets

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// TestLanguageOfPapers: the page of an order, its tickets on paper and its calendar file are in the
// language that the browser asks for, and else in that of the order's letters.
func TestLanguageOfPapers(t *testing.T) {
	t.Parallel()
	persisttest.Program(t, "apt-get install poppler-utils", "pdftotext")
	s := nodetest.Open(t)
	event, ids := s.Sell(nodetest.Object{"venueType": "hybrid", "venueName": "Halle", "onlineLink": "https://example.org/live"}, nodetest.TypeBody(10, 100), nodetest.TypeBody(0, 100))
	german := s.Call("POST", "/orders", nodetest.OrderBody("de@example.org", ids[1], 1), "Accept-Language", "de-AT,de;q=0.9").Is(201, "")
	english := s.Call("POST", "/orders", nodetest.OrderBody("en@example.org", ids[1], 1)).Is(201, "")
	unpaid := s.Call("POST", "/orders", nodetest.OrderBody("later@example.org", ids[0], 2), "Accept-Language", "de").Is(201, "")
	get := func(o nodetest.Answer, under, file string, headers ...string) string {
		r := s.AtRoot().Raw("GET", under+"/orders/"+o.Str("id")+file+"?token="+o.Str("accessToken"), "", "", headers...)
		require.Equal(t, 200, r.Status, r.Body)
		return r.Body
	}
	page := func(o nodetest.Answer, headers ...string) string { return get(o, "", "", headers...) }
	paper := func(o nodetest.Answer, headers ...string) string {
		file := filepath.Join(t.TempDir(), "tickets.pdf")
		require.NoError(t, os.WriteFile(file, []byte(get(o, "/api/v1", "/tickets.pdf", headers...)), 0o600))
		words, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", file, "-").Output()
		require.NoError(t, err)
		return string(words)
	}
	calendar := func(o nodetest.Answer, headers ...string) string {
		return get(o, "/api/v1", "/calendar.ics", headers...)
	}
	saysAll := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			require.Contains(t, text, part)
		}
	}
	inGerman := []string{`lang="de"`, "Bestellung " + german.Str("orderNumber") + ", abgeschlossen", "Uhr", ", und online", "kostenlos", "gültig, Türcode"}
	saysAll(page(german), inGerman...)
	saysAll(page(german, "Accept-Language", "fr"), inGerman...)
	saysAll(page(english, "Accept-Language", "de"), `lang="de"`, "abgeschlossen")
	saysAll(page(german, "Accept-Language", "en-GB"), `lang="en"`, "Order "+german.Str("orderNumber")+", completed", ", and online", "valid, door code")
	saysAll(page(english), `lang="en"`, "completed")
	saysAll(page(unpaid), "offen", "Gebühren", "10,00\u00a0$ je Stück", "21,00\u00a0$", "sieht alle 25 Sekunden")
	for path, part := range map[string]string{"/orders/x?token=y": "Dieser Link öffnet keine Bestellung", "/orders/x": "Öffne deine Bestellung"} {
		saysAll(s.AtRoot().Raw("GET", path, "", "", "Accept-Language", "de").Body, `lang="de"`, part)
	}

	saysAll(paper(german), "Wann", "Uhr", "Wo", "Karte", "Veranstalter", "Bestellung", "Türcode")
	saysAll(paper(german, "Accept-Language", "en"), "When", "Organizer", "Door code")
	saysAll(paper(english), "When", "Organizer", "Door code")
	saysAll(calendar(german), "und online")
	saysAll(calendar(english), "and online")

	t.Log("what an account says counts as it does for letters")
	s.Buyer("en@example.org").Own("PUT", "/users/me", nodetest.Object{"locale": "de"}).Is(200, "")
	saysAll(paper(english), "Wann", "Türcode")

	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "Sturm"}).Is(200, "")
	saysAll(page(german), "ist abgesagt")
	saysAll(paper(german), "Abgesagt: Es findet nicht statt")
	saysAll(page(unpaid), "storniert", "Sie hat keine Karten")
}

package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestEventPage shows what an organizer writes as it was meant: a small Markdown, a lineup, ways to
// share; and no date of what is delivered at once (make pages).
func TestEventPage(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	base := strings.TrimSuffix(s.URL, "/api/v1")
	text := "An evening with **singers** and *friends* of snake_case_names.\n\n## What to bring\n- A coat\n- Good [shoes](https://shoes.example/a_b)\n\n1. Come\n2. Stay\n\nMore at https://quay.example/program. [No](javascript:alert(1)) <b>no</b>"
	event, _ := s.Sell(nodetest.Object{
		"description": text, "entities": []any{nodetest.Object{"kind": "artist", "name": "Adaeze Obi", "role": "Saxophone", "setTime": "21:00", "bio": "Plays **loud**."}, nodetest.Object{"kind": "dj", "name": "Bo"}},
	}, nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Floor"}))
	file, _ := s.Sell(nodetest.Object{"title": "A book", "category": "e-books", "endDate": nodetest.Absent}, nodetest.TypeBody(5, 10))
	slug := func(id string) string { return s.Call("GET", "/events/"+id, nil).Is(200, "").Str("slug") }
	for name, as := range map[string]size{"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}} {
		b := &buyer{window: openBrowser(t).open(t, base+"/e/"+slug(event), as), shop: s, name: "event-" + name, axe: readAxe(t)}
		b.there(".lineup li:nth-child(2)")
		require.Equal(t, "singers", b.text(".prose strong"))
		require.Equal(t, "friends", b.text(".prose em"))
		require.Contains(t, b.text(".prose p"), "snake_case_names")
		require.Equal(t, "What to bring", b.text(".prose h3"))
		require.Equal(t, "A coat\nGood shoes", b.text(".prose ul"))
		require.Equal(t, "Come\nStay", b.text(".prose ol"))
		require.Equal(t, "https://shoes.example/a_b https://quay.example/program", b.evaluate(`[...document.querySelectorAll(".prose a")].map((a) => a.href).join(" ")`))
		require.Contains(t, b.text(".prose"), "[No](javascript:alert(1)) <b>no</b>")
		require.Equal(t, "Saxophone · 21:00", b.text(".lineup p"))
		b.step("top", "h1")
		b.evaluate(`document.querySelector(".rest").scrollIntoView()`)
		b.step("about", ".prose")
		b.load(base + "/e/" + slug(file))
		b.step("at-once", ".card li")
		require.Equal(t, "Yours at once", b.text("dl dd"))
		b.load(base + "/")
		b.until(`document.querySelectorAll(".grid li a").length === 2`)
		require.EqualValues(t, 1, b.evaluate(`document.querySelectorAll(".grid .when").length`), "the book's card has no date")
		b.faultless()
	}
}

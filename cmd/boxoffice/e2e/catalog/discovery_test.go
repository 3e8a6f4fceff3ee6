package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// titles are the titles of a list, joined.
func titles(a nodetest.Answer) string {
	a.T.Helper()
	var out []string
	items, _ := a.Is(200, "").Data("items").([]any)
	for _, i := range items {
		out = append(out, i.(nodetest.Object)["title"].(string))
	}
	return strings.Join(out, " ")
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	hour := func(n int) string { return nodetest.Stamp(time.Duration(n) * time.Hour) }
	sell := func(title string, start, end any, changes nodetest.Object) {
		body := nodetest.With(nodetest.Object{"title": title, "startDate": start, "endDate": end}, changes)
		s.Sell(body, nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"saleStart": hour(-2), "saleEnd": hour(-1)}))
	}
	sell("one", hour(10), hour(12), nodetest.Object{"category": "music", "venueCity": "Berlin", "venueCountry": "DE", "venueName": "Der Keller", "shortDesc": "loud 100%"})
	sell("two", hour(20), hour(24), nodetest.Object{"category": "tech", "venueCity": "São Lagos", "venueCountry": "NG", "venueName": "Dome Çå", "shortDesc": "Äöß"})
	sell("six", hour(30), hour(31), nodetest.Object{"category": "music", "visibility": "unlisted"})
	sell("book", hour(1), nil, nodetest.Object{"category": "e-books"})
	sell("course", hour(40), hour(50), nodetest.Object{"category": "online-service"})
	sell("table", hour(2), nodetest.Absent, nodetest.Object{"category": "downloadable-files"})
	all := "book table one two course"
	esc := func(s string) string { return strings.NewReplacer(":", "%3A", "+", "%2B").Replace(s) }
	for query, want := range map[string]string{
		"": all, "sort=date": all, "sort=popularity": all, "sort=relevance": all, "limit=100": all, "course=false": all,
		"q=ONE": "one", "q=one%20": "one", "q=one&city=berlin%20&venue=%20keller": "one", "q=loud": "one", "q=100%25": "one", "q=%25": "", "q=_": "", "q=%27%22%3B--": "", "q=t": "table two",
		"category=music": "one", "category=mus": "", "category=MUSIC": "",
		"productType=event": "one two", "productType=reservation": "", "productType=digital": "book table course",
		"course=true": "", "course=true&productType=event": "",
		"city=BERL": "one", "city=ago": "two", "city=S%C3%83O": "two", "venue=%C3%A7%C3%85": "two", "q=%C3%A4%C3%96": "two", "city=SAO+l": "two", "venue=dome+ca": "two", "q=AOSS": "two", "country=DE": "one", "country=NG": "two", "venue=keller": "one", "venue=d": "one two",
		"city=berlin&category=tech": "",
		// What runs between the two; what is always available stays.
		"date_from=" + esc(hour(13)):                               "book table two course",
		"date_from=" + esc(hour(60)):                               "book table",
		"date_to=" + esc(hour(15)):                                 "book table one",
		"date_from=" + esc(hour(11)) + "&date_to=" + esc(hour(19)): "book table one",
		"date_from=" + esc(hour(-99)):                              all,
	} {
		require.Equal(t, want, titles(s.Call("GET", "/events?"+query, nil)), query)
	}
	for query, code := range map[string]string{
		"limit=0": "minimum", "limit=101": "maximum", "limit=x": "type", "limit=-1": "minimum", "limit=1.5": "type", "limit=99999999999999999999": "maximum",
		"productType=book": "enum", "course=maybe": "type", "country=Germany": "format", "sort=price": "enum", "date_from=yesterday": "type", "date_to=2026-01": "type",
		"q=" + strings.Repeat("a", 201): "max_length", "q=%ff": "format", "q=%00": "format", "city=%00": "format", "limit=5&limit=6": "duplicate",
	} {
		name, _, _ := strings.Cut(query, "=")
		s.Call("GET", "/events?"+query, nil).Invalid(name, code)
	}
	s.Sell(nodetest.Object{"title": "now", "visibility": "public", "startDate": hour(70), "endDate": hour(71)}, nodetest.TypeBody(7, 1), nodetest.TypeBody(6, 1), nodetest.With(nodetest.TypeBody(1, 1), nodetest.Object{"status": "hidden"}),
		nodetest.With(nodetest.TypeBody(3, 1), nodetest.Object{"saleStart": hour(-2), "saleEnd": hour(-1)}))
	require.Equal(t, "6.00", s.Call("GET", "/events?q=now", nil).Str("items.0.lowestPrice"))
	s.Draft(nodetest.Object{"title": "lesson", "category": "online-course", "unifiedVideo": nodetest.URI(30)}) // a draft, so not public
	for query, want := range map[string]string{
		"": "lesson now table course book six two one", "q=t": "table two", "category=tech": "two", "productType=digital": "lesson table course book", "course=true": "lesson",
		"city=berl": "one", "country=NG": "two", "venue=d": "two one", "q=nothing": "",
	} {
		require.Equal(t, want, titles(s.Own("GET", "/organizer/events?"+query, nil)), query)
	}
	s.Own("GET", "/organizer/events?limit=0", nil).Invalid("limit", "minimum")
	require.Nil(t, s.Call("GET", "/events?q=one", nil).Data("items.0.lowestPrice"), "its sale has ended")

	t.Log("only what has not ended is listed, whatever dates are asked for")
	ended := time.Now().Add(3 * time.Second) // on a busy machine it takes a second to put it on sale
	sell("soon", ended.Add(-50*time.Millisecond).UTC().Format(time.RFC3339Nano), ended.UTC().Format(time.RFC3339Nano), nodetest.Object{"category": "e-books"})
	all += " now"
	s.Becomes(all, func() string { return titles(s.Call("GET", "/events", nil)) })
	dated := func() string { return titles(s.Call("GET", "/events?date_from="+esc(hour(-1)), nil)) }
	s.Becomes(all, dated)
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const events = 7
	start := nodetest.Stamp(50 * time.Hour) // the same for all: numbers decide
	for i := range events {
		s.Sell(nodetest.Object{"title": fmt.Sprintf("event %d", i), "startDate": start, "endDate": nodetest.Stamp(60 * time.Hour)}, nodetest.TypeBody(5, 10))
	}
	for path, want := range map[string][]int{"/events?": {0, 1, 2, 3, 4, 5, 6}, "/organizer/events?": {6, 5, 4, 3, 2, 1, 0}} {
		for _, limit := range []int{1, 3, 6, 7, 100} {
			var got []int
			for cursor := ""; ; {
				a := s.Own("GET", fmt.Sprintf("%slimit=%d&cursor=%s", path, limit, cursor), nil).Is(200, "")
				items, _ := a.Data("items").([]any)
				require.LessOrEqual(t, len(items), limit)
				for _, i := range items {
					got = append(got, int(i.(nodetest.Object)["title"].(string)[6]-'0'))
				}
				next := a.Data("nextCursor")
				require.Equal(t, len(got) == events, next == nil, "%s%d", path, limit)
				if next == nil {
					break
				}
				cursor = next.(string)
			}
			require.Equal(t, want, got, "%s%d", path, limit)
		}
		require.Len(t, s.Own("GET", path, nil).Is(200, "").Data("items"), events, "20 by default")
	}
	_, other := s.Own("GET", "/events?limit=1", nil).Str("nextCursor"), s.Own("GET", "/organizer/events?limit=1", nil).Str("nextCursor")
	far := func(n int) string { return strings.Repeat("_", n) }
	for _, cursor := range []string{"x", "!!!!", other + "A", other, far(22), "f" + far(10) + strings.Repeat("A", 10) + "A", "gAAAAAAAAAAAAAAAAAAAAA", strings.Repeat("A", 500)} {
		s.Call("GET", "/events?cursor="+cursor, nil).Invalid("cursor", "format")
	}
	for _, cursor := range []string{"x", "AAAA", far(22)} {
		s.Own("GET", "/organizer/events?cursor="+cursor, nil).Invalid("cursor", "format")
	}
	s.Call("GET", "/events?cursor="+strings.Repeat("A", 501), nil).Invalid("cursor", "max_length")
}

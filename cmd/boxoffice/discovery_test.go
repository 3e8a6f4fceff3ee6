package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// titles are the titles of a list, joined.
func titles(a answer) string {
	a.t.Helper()
	var out []string
	items, _ := a.is(200, "").data("items").([]any)
	for _, i := range items {
		out = append(out, i.(object)["title"].(string))
	}
	return strings.Join(out, " ")
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := open(t)
	hour := func(n int) string { return stamp(time.Duration(n) * time.Hour) }
	sell := func(title string, start, end any, changes object) {
		body := with(object{"title": title, "startDate": start, "endDate": end}, changes)
		s.sell(body, with(typeBody(5, 10), object{"saleStart": hour(-2), "saleEnd": hour(-1)}))
	}
	sell("one", hour(10), hour(12), object{"category": "music", "venueCity": "Berlin", "venueCountry": "DE", "venueName": "Der Keller", "shortDesc": "loud 100%"})
	sell("two", hour(20), hour(24), object{"category": "tech", "venueCity": "São Lagos", "venueCountry": "NG", "venueName": "Dome Çå", "shortDesc": "Äöß"})
	sell("six", hour(30), hour(31), object{"category": "music", "visibility": "unlisted"})
	sell("book", hour(1), nil, object{"category": "e-books"})
	sell("course", hour(40), hour(50), object{"category": "online-service"})
	sell("table", hour(2), absent, object{"category": "downloadable-files"})
	all := "book table one two course"
	esc := func(s string) string { return strings.NewReplacer(":", "%3A", "+", "%2B").Replace(s) }
	for query, want := range map[string]string{
		"": all, "sort=date": all, "sort=popularity": all, "sort=relevance": all, "limit=100": all, "course=false": all,
		"q=ONE": "one", "q=loud": "one", "q=100%25": "one", "q=%25": "one", "q=_": "", "q=%27%22%3B--": "", "q=t": "table two",
		"category=music": "one", "category=mus": "", "category=MUSIC": "",
		"productType=event": "one two", "productType=reservation": "", "productType=digital": "book table course",
		"course=true": "", "course=true&productType=event": "",
		"city=BERL": "one", "city=ago": "two", "city=S%C3%83O": "two", "venue=%C3%A7%C3%85": "two", "q=%C3%A4%C3%96": "two", "country=DE": "one", "country=NG": "two", "venue=keller": "one", "venue=d": "one two",
		"city=berlin&category=tech": "",
		// What runs between the two; what is always available stays.
		"date_from=" + esc(hour(13)):                               "book table two course",
		"date_from=" + esc(hour(60)):                               "book table",
		"date_to=" + esc(hour(15)):                                 "book table one",
		"date_from=" + esc(hour(11)) + "&date_to=" + esc(hour(19)): "book table one",
		"date_from=" + esc(hour(-99)):                              all,
	} {
		require.Equal(t, want, titles(s.call("GET", "/events?"+query, nil)), query)
	}
	for query, code := range map[string]string{
		"limit=0": "minimum", "limit=101": "maximum", "limit=x": "type", "limit=-1": "minimum", "limit=1.5": "type", "limit=99999999999999999999": "maximum",
		"productType=book": "enum", "course=maybe": "type", "country=Germany": "format", "sort=price": "enum", "date_from=yesterday": "type", "date_to=2026-01": "type",
		"q=" + strings.Repeat("a", 201): "max_length", "q=%ff": "format", "q=%00": "format", "city=%00": "format", "limit=5&limit=6": "duplicate",
	} {
		name, _, _ := strings.Cut(query, "=")
		s.call("GET", "/events?"+query, nil).invalid(name, code)
	}
	s.sell(object{"title": "now", "visibility": "public", "startDate": hour(70), "endDate": hour(71)}, typeBody(7, 1), typeBody(6, 1), with(typeBody(1, 1), object{"status": "hidden"}),
		with(typeBody(3, 1), object{"saleStart": hour(-2), "saleEnd": hour(-1)}))
	require.Equal(t, "6.00", s.call("GET", "/events?q=now", nil).str("items.0.lowestPrice"))
	s.draft(object{"title": "lesson", "category": "online-course"}) // not sold yet, so not public
	for query, want := range map[string]string{
		"": "lesson now table course book six two one", "q=t": "table two", "category=tech": "two", "productType=digital": "lesson table course book", "course=true": "lesson",
		"city=berl": "one", "country=NG": "two", "venue=d": "two one", "q=nothing": "",
	} {
		require.Equal(t, want, titles(s.own("GET", "/organizer/events?"+query, nil)), query)
	}
	s.own("GET", "/organizer/events?limit=0", nil).invalid("limit", "minimum")
	require.Nil(t, s.call("GET", "/events?q=one", nil).data("items.0.lowestPrice"), "its sale has ended")

	t.Log("only what has not ended is listed, whatever dates are asked for")
	ended := time.Now().Add(time.Second)
	sell("soon", ended.Add(-50*time.Millisecond).UTC().Format(time.RFC3339Nano), ended.UTC().Format(time.RFC3339Nano), object{"category": "e-books"})
	all += " now"
	s.becomes(all, func() string { return titles(s.call("GET", "/events", nil)) })
	dated := func() string { return titles(s.call("GET", "/events?date_from="+esc(hour(-1)), nil)) }
	s.becomes(all, dated)
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := open(t)
	const events = 7
	start := stamp(50 * time.Hour) // the same for all: numbers decide
	for i := range events {
		s.sell(object{"title": fmt.Sprintf("event %d", i), "startDate": start, "endDate": stamp(60 * time.Hour)}, typeBody(5, 10))
	}
	for path, want := range map[string][]int{"/events?": {0, 1, 2, 3, 4, 5, 6}, "/organizer/events?": {6, 5, 4, 3, 2, 1, 0}} {
		for _, limit := range []int{1, 3, 6, 7, 100} {
			var got []int
			for cursor := ""; ; {
				a := s.own("GET", fmt.Sprintf("%slimit=%d&cursor=%s", path, limit, cursor), nil).is(200, "")
				items, _ := a.data("items").([]any)
				require.LessOrEqual(t, len(items), limit)
				for _, i := range items {
					got = append(got, int(i.(object)["title"].(string)[6]-'0'))
				}
				next := a.data("nextCursor")
				require.Equal(t, len(got) == events, next == nil, "%s%d", path, limit)
				if next == nil {
					break
				}
				cursor = next.(string)
			}
			require.Equal(t, want, got, "%s%d", path, limit)
		}
		require.Len(t, s.own("GET", path, nil).is(200, "").data("items"), events, "20 by default")
	}
	_, other := s.own("GET", "/events?limit=1", nil).str("nextCursor"), s.own("GET", "/organizer/events?limit=1", nil).str("nextCursor")
	far := func(n int) string { return strings.Repeat("_", n) }
	for _, cursor := range []string{"x", "!!!!", other + "A", other, far(22), "f" + far(10) + strings.Repeat("A", 10) + "A", "gAAAAAAAAAAAAAAAAAAAAA", strings.Repeat("A", 500)} {
		s.call("GET", "/events?cursor="+cursor, nil).invalid("cursor", "format")
	}
	for _, cursor := range []string{"x", "AAAA", far(22)} {
		s.own("GET", "/organizer/events?cursor="+cursor, nil).invalid("cursor", "format")
	}
	s.call("GET", "/events?cursor="+strings.Repeat("A", 501), nil).invalid("cursor", "max_length")
}

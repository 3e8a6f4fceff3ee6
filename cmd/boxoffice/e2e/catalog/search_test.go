package catalog

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	hour := func(n int) string { return nodetest.Stamp(time.Duration(n) * time.Hour) }
	sell := func(title string, start int, changes nodetest.Object) string {
		body := nodetest.With(nodetest.Object{"title": title, "startDate": hour(start), "endDate": hour(start + 2)}, changes)
		event, _ := s.Sell(body, nodetest.TypeBody(5, 10))
		return event
	}
	sell("zouk", 40, nodetest.Object{"venueCity": "Málaga", "venueCountry": "ES", "venueName": "Sala París", "tags": []string{"zydeco", "Ñandú"}})
	sell("polka", 30, nodetest.Object{"shortDesc": "with a zouk band", "category": "concerts", "venueName": "Straßenbahn"})
	sell("book", 20, nodetest.Object{"category": "e-books", "endDate": nil, "shortDesc": "beethoven"})
	sell("secret", 26, nodetest.Object{"visibility": "unlisted", "shortDesc": "zouk"})
	s.Draft(nodetest.Object{"title": "zouk draft"})
	for query, want := range map[string]string{
		"q=zouk": "zouk polka", "q=ZOU": "zouk polka", "q=zouk&sort=date": "polka zouk", "q=zouk&sort=popularity": "polka zouk", "q=zouk&sort=relevance": "zouk polka",
		"q=malaga": "zouk", "q=M%C3%81LAGA": "zouk", "q=sala%20paris": "zouk", "q=zydeko": "zouk", "q=nandu": "zouk", "q=strassenbahn": "polka",
		"q=bethoven": "book", "q=the%20beethoven%20in": "book", "q=zouk%20malaga": "zouk", "q=zouk%20berlin": "", "q=%25": "", "q=%27%20%26%20%21": "", "q=x%3A%2A": "",
		"": "book polka zouk", "q=%20": "book polka zouk", "q=zouk%20&city=%20laga%20": "zouk", "q=zouk&category=concerts": "polka", "q=zouk&country=es": "zouk", "city=laga": "zouk", "productType=digital": "book", "course=true": "",
		"venue=par%C3%ADs": "zouk", "q=zouk&date_from=" + time.Now().Add(36*time.Hour).UTC().Format("2006-01-02T15:04:05Z"): "zouk",
		"q=zouk&date_to=2020-01-01": "", "q=beethoven&date_to=2020-01-01": "book",
	} {
		require.Equal(t, want, titles(s.Call("GET", "/search?"+query, nil)), query)
	}
	for query, code := range map[string]string{
		"q=" + strings.Repeat("a", 201): "max_length", "sort=price": "enum", "limit=101": "maximum", "country=Spain": "format", "date_from=soon": "type", "q=%00": "format",
	} {
		name, _, _ := strings.Cut(query, "=")
		s.Call("GET", "/search?"+query, nil).Invalid(name, code)
	}

	t.Log("cursors are those of an order")
	first := s.Call("GET", "/search?q=zouk&limit=1", nil)
	require.Equal(t, "zouk", titles(first))
	require.Equal(t, "polka", titles(s.Call("GET", "/search?q=zouk&limit=1&cursor="+first.Str("nextCursor"), nil)))
	s.Call("GET", "/search?q=zouk&sort=date&cursor="+first.Str("nextCursor"), nil).Invalid("cursor", "format")

	t.Log("what an organizer changes is found, and what was is not")
	event := sell("waltz", 50, nil)
	require.Equal(t, "waltz", titles(s.Call("GET", "/search?q=waltz", nil)))
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"title": "tango"}).Is(200, "")
	require.Equal(t, "tango", titles(s.Call("GET", "/search?q=tango", nil)))
	require.Empty(t, titles(s.Call("GET", "/search?q=waltz", nil)))
	require.Equal(t, "tango book", titles(s.Own("GET", "/organizer/events?date_from="+hour(45), nil)), "an organizer asks by date too")
}

// TestSearchAmongMany finds ten events among 10,000 others in ten languages, by searches
// with typos and without accents, and pages through all while more are published: before
// the page, on it and behind it.
func TestSearchAmongMany(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const many = 10_000
	fillCatalog(s, many)
	for _, sought := range persisttest.Sought {
		found := s.Call("GET", "/search?q="+url.QueryEscape(sought.Search), nil).Is(200, "")
		require.Equal(t, sought.Title, found.Str("items.0.title"), sought.Search)
	}
	t.Logf("%d searches among %d events, each finds what it should first", len(persisttest.Sought), many)

	seen := map[string]int{}
	for pages, next := 0, ""; pages == 0 || next != "<nil>"; pages++ {
		page := s.Call("GET", "/search?sort=date&limit=100&cursor="+next, nil).Is(200, "")
		for _, card := range page.Data("items").([]any) {
			seen[card.(map[string]any)["id"].(string)]++
		}
		if next = page.Str("nextCursor"); pages%10 == 0 {
			for _, hours := range []int{47, 49, 60} {
				from := time.Duration(hours) * time.Hour
				s.Sell(nodetest.Object{"startDate": nodetest.Stamp(from), "endDate": nodetest.Stamp(from + time.Hour)}, nodetest.TypeBody(5, 10))
			}
		}
	}
	require.GreaterOrEqual(t, len(seen), many+len(persisttest.Sought))
	for event, times := range seen {
		require.Equal(t, 1, times, event)
	}
	rows, err := s.Pool().Query(t.Context(), `SELECT public_id::text FROM events WHERE number > 1000000`)
	require.NoError(t, err)
	filled, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Subset(t, slices.Collect(maps.Keys(seen)), filled)
}

// fillCatalog gives a shop so many events in two days, in ten languages, as if they had been
// searchable for long.
func fillCatalog(s *nodetest.Shop, events int) {
	org, err := strconv.ParseInt(s.Org(), 10, 64)
	require.NoError(s.T, err)
	persisttest.FillCatalog(s.T, s.Pool(), org, time.Now().Add(48*time.Hour).Truncate(time.Second), events)
	require.NoError(s.T, readmodel.FillSearch(s.T.Context(), s.Pool()))
	_, err = s.Pool().Exec(s.T.Context(), `ANALYZE events`)
	require.NoError(s.T, err)
}

func TestLowestPrices(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	later := func(price any) nodetest.Object {
		return nodetest.With(nodetest.TypeBody(price, 10), nodetest.Object{"saleStart": nodetest.Stamp(time.Hour), "saleEnd": nodetest.Stamp(2 * time.Hour)})
	}
	over := func(price any) nodetest.Object {
		return nodetest.With(nodetest.TypeBody(price, 10), nodetest.Object{"saleStart": nodetest.Stamp(-2 * time.Hour), "saleEnd": nodetest.Stamp(-time.Hour)})
	}
	prices := func(title string, of ...string) {
		t.Helper()
		a := s.Call("GET", "/events?q="+title, nil).Is(200, "")
		page := s.Call("GET", "/events/"+a.Str("items.0.slug"), nil).Is(200, "")
		for i, field := range []string{"lowestPrice", "lowestPriceTotal", "highestPriceTotal"} {
			var want any
			if of != nil {
				want = of[i]
			}
			if field == "highestPriceTotal" { // of cards alone
				require.Equal(t, want, a.Data("items.0."+field), title)
				continue
			}
			require.Equal(t, want, a.Data("items.0."+field), title)
			require.Equal(t, want, page.Data(field), title)
			require.Contains(t, page.Keys(""), field)
		}
	}
	sell := func(title string, changes nodetest.Object, types ...nodetest.Object) []string {
		_, ids := s.Sell(nodetest.With(nodetest.Object{"title": title}, changes), types...)
		return ids
	}
	sell("present", nil, nodetest.TypeBody(30, 10), nodetest.TypeBody(12.5, 10), later(1), over(2))
	prices("present", "12.50", "13.13", "31.50")
	sell("absorbed", nodetest.Object{"absorbFees": true}, nodetest.TypeBody(12.5, 10))
	prices("absorbed", "12.50", "12.50", "12.50")
	sell("future", nil, later(9), over(2))
	prices("future", "9.00", "9.45", "9.45")
	sell("past", nil, over(2))
	prices("past")
	ids := sell("scarce", nil, nodetest.TypeBody(0, 1), nodetest.TypeBody(20, 5))
	s.Place("buyer@example.org", ids[0], 1)
	s.Becomes("20.00 21.00", func() string {
		a := s.Call("GET", "/events?q=scarce", nil)
		return fmt.Sprint(a.Data("items.0.lowestPrice"), " ", a.Data("items.0.lowestPriceTotal"))
	})
	types := s.Call("GET", "/events/"+s.Call("GET", "/events?q=present", nil).Str("items.0.id")+"/tickets", nil)
	require.Equal(t, "31.50", types.Str("items.0.priceTotal"))
	require.Equal(t, "30.00", types.Str("items.0.price"))
}

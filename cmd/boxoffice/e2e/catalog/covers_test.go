package catalog

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/web"
)

// TestSharedCovers asks for pictures that messengers show: one is drawn for an event that everybody
// may see, under its own category and id alone.
func TestSharedCovers(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, _ := s.OnSale(nodetest.TypeBody(25, 10))
	draft := s.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "")
	shown := s.Own("GET", "/organizer/events/"+event, nil).Is(200, "")
	id, category := shown.Str("id"), shown.Str("category")
	res, first := s.Get("/covers/" + category + "/" + id + "/og.png")
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "image/png", res.Header.Get("Content-Type"))
	_, again := s.Get("/covers/" + category + "/" + id + "/og.png")
	require.Equal(t, first, again)
	for what, path := range map[string]string{
		"another category": "arts/" + id,
		"another spelling": category + "/" + strings.ToUpper(id),
		"the number":       category + "/" + shown.Str("numericId"),
		"a draft":          category + "/" + draft.Str("id"),
		"no event":         category + "/ev_1",
		"no id":            category + "/new",
	} {
		res, _ := s.Get("/covers/" + path + "/og.png")
		require.Equal(t, 404, res.StatusCode, what)
	}

	t.Log("another category has another picture")
	s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"category": "sports"}).Is(200, "")
	res, other := s.Get("/covers/sports/" + id + "/og.png")
	require.Equal(t, 200, res.StatusCode)
	want, err := web.CoverPNG("sports", id)
	require.NoError(t, err)
	require.True(t, other == string(want), "the picture of another category") // a failure must not print pictures
}

// TestCoversOfAnyCategory follows the address in an event's page to its drawn picture. A category is any text, so
// it may have characters that have a meaning of their own in addresses.
func TestCoversOfAnyCategory(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	for _, category := range []string{"online service", "théâtre", "rock/pop", "why? #1 & 100%", "art%2Ftheatre", "\"><b>"} {
		event, _ := s.OnSale(nodetest.TypeBody(25, 10))
		shown := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"category": category}).Is(200, "")
		_, page := s.Get("/e/" + shown.Str("slug"))
		found := regexp.MustCompile(`property="og:image" content="([^"]+)"`).FindStringSubmatch(page)
		require.NotNil(t, found, category)
		at, err := url.Parse(html.UnescapeString(found[1]))
		require.NoError(t, err)
		res, _ := s.Get(at.EscapedPath())
		require.Equal(t, 200, res.StatusCode, at)
		require.Equal(t, "image/png", res.Header.Get("Content-Type"))
		res, drawn := s.Get(strings.TrimSuffix(at.EscapedPath(), "/og.png"))
		require.Equal(t, 200, res.StatusCode, at)
		require.Equal(t, string(web.Cover(category, shown.Str("id"))), drawn)
	}
}

package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
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
}

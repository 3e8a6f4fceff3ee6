package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestOwnEvent(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	draft := s.Draft(nodetest.Object{"title": "A draft", "onlineLink": nodetest.URI(30), "onlineLinkNote": "PIN 7"})
	path := "/organizer/events/" + draft
	s.Own("POST", path+"/tickets", nodetest.With(nodetest.TypeBody(5, 10), nodetest.Object{"presaleCode": "early", "status": "hidden"})).Is(201, "")
	s.Own("POST", path+"/sections", nodetest.Object{"name": "Stalls", "capacity": 50, "mapCoordinates": nodetest.Object{}}).Is(201, "")
	a := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, "A draft", a.Str("title"))
	require.Equal(t, "draft", a.Str("status"))
	require.Equal(t, "PIN 7", a.Str("onlineLinkNote"))
	require.Equal(t, "early", a.Str("ticketTypes.0.presaleCode"))
	require.Equal(t, "Stalls", a.Str("sections.0.name"))
	require.Equal(t, []any{}, a.Data("schedule"))
	require.Equal(t, "classic", a.Str("page.layoutPattern"))
	require.Equal(t, draft, s.Own("GET", "/organizer/events/"+a.Str("numericId"), nil).Str("id"), "by its number too")

	t.Log("a change shows at once")
	s.Own("PUT", path, nodetest.Object{"title": "Another"}).Is(200, "")
	require.Equal(t, "Another", s.Own("GET", path, nil).Str("title"))

	t.Log("a key that may not read ticket types sees none of their secrets")
	key := s.Key(nodetest.Object{"scopes": []string{"events:read"}}).Str("secret")
	require.Empty(t, s.As(key).Own("GET", path, nil).Is(200, "").Data("ticketTypes"), "and not the hidden one")

	s.Call("GET", path, nil).Is(401, "UNAUTHORIZED")
	s.As(s.Key(nodetest.Object{"scopes": []string{"tickets:read"}}).Str("secret")).Own("GET", path, nil).Is(403, "FORBIDDEN")
	other := s.Register(s.Email("other"))
	other.Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("GET", "/organizer/events/999999", nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("DELETE", path, nil).Is(200, "")
	s.Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
}

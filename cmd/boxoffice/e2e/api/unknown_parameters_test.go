package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

// TestUnknownParameters asks every read for a filter that nobody knows. Lists and reports refuse it by
// name; links that people open, streams and reads without parameters do not mind.
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.OnSale(nodetest.TypeBody(0, 10))
	refusing := 0
	for _, op := range s.Areas().Routes() {
		if op.Writes() || op.Streams() || op.Auth == route.Admin {
			require.True(t, op.Auth == route.Admin || !op.RefusesUnknown(), op.ID)
			continue
		}
		path := op.Path
		for _, p := range op.Handler.PathParams() {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", event)
		}
		path += "?utm_source=letter&%ff=1&fbclid="
		if !op.RefusesUnknown() {
			require.NotContains(t, s.AtRoot().Raw("GET", path, "", "", s.Bearer()...).Body, "utm_source", op.ID)
			continue
		}
		refusing++
		issues := s.AtRoot().Call("GET", path, nil, s.Bearer()...).Issues()
		require.Equal(t, route.IssueUnsupported, issues["utm_source"], op.ID)
		require.Equal(t, route.IssueUnsupported, issues[""], "%s: a name that is no text", op.ID)
		require.NotContains(t, issues, "fbclid", "%s: a parameter without a value is as good as absent", op.ID)
	}
	require.Greater(t, refusing, 30)
	s.Own("GET", "/organizer/orders?promocode=HALF", nil).Invalid("promocode", route.IssueUnsupported)
	s.Call("GET", "/events?limit=1&country=DE", nil).Is(200, "")
	require.Nil(t, s.Own("GET", "/webhooks?limit=5", nil).Is(200, "").Data("nextCursor"), "a list that is always whole")
}

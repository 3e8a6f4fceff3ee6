package edge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// A caller who names no organization is told why one has to be named.
func TestActForNamesTheReason(t *testing.T) {
	t.Parallel()
	for belong, grants := range map[string][]route.Grant{
		"no organization": nil, "several organizations": {{Org: 1}, {Org: 2}},
	} {
		c := route.NewCall(t.Context(), &route.Op{}, time.Now())
		c.Principal.Grants = grants
		_, err := new(Desk).actFor(c)
		require.Equal(t, route.Invalid(route.Issue{Path: "orgId", Code: route.IssueRequired, Message: "is required: you belong to " + belong}), err)
		c.End()
	}
}

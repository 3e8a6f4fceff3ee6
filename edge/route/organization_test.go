package route

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A caller who names no organization is told why one has to be named.
func TestFindOrganizationNamesTheReason(t *testing.T) {
	t.Parallel()
	for belong, grants := range map[string][]Grant{
		"no organization": nil, "several organizations": {{Org: 1}, {Org: 2}},
	} {
		c := NewCall(t.Context(), &Op{}, time.Now())
		c.Principal.Grants = grants
		_, err := FindOrganization(c)
		require.Equal(t, Invalid(Issue{Path: "orgId", Code: IssueRequired, Message: "is required: you belong to " + belong}), err)
		c.End()
	}
}

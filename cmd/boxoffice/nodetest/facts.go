package nodetest

import (
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FactsPath is the path of the pull feed of public facts.
const FactsPath = "/organizer/facts"

// Feed reads the organization's facts to the end, from a cursor on. The query is empty or begins
// with an ampersand.
func (s *Shop) Feed(after, query string) (facts []Object, cursor string) {
	s.T.Helper()
	for {
		a := s.Own("GET", FactsPath+"?limit=100&after="+url.QueryEscape(after)+query, nil).Is(200, "")
		for _, f := range a.Data("items").([]any) {
			facts = append(facts, f.(Object))
		}
		after = a.Str("cursor")
		if a.Data("nextCursor") == nil {
			return facts, after
		}
		require.Equal(s.T, after, a.Str("nextCursor"))
	}
}

// FactTypes counts facts by their types.
func FactTypes(facts []Object) map[string]int {
	n := map[string]int{}
	for _, f := range facts {
		n[f["type"].(string)]++
	}
	return n
}

// AwaitFacts waits until the feed has as many facts of each type as wanted, and no other. If only
// names types, the feed is read for those alone. It returns the facts.
func (s *Shop) AwaitFacts(want map[string]int, only ...string) []Object {
	s.T.Helper()
	var facts []Object
	query := ""
	if len(only) > 0 {
		query = "&types=" + strings.Join(only, ",")
	}
	require.EventuallyWithT(s.T, func(c *assert.CollectT) {
		facts, _ = s.Feed("", query)
		require.Equal(c, want, FactTypes(facts))
	}, time.Minute, 50*time.Millisecond)
	return facts
}

// ValueAt returns the value at a path of a fact, such as "data.order.id", or nil if there is none.
// Indexes of lists have one digit.
func ValueAt(fact Object, path string) any {
	var v any = fact
	for k := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case Object:
			v = at[k]
		case []any:
			v = at[int(k[0]-'0')]
		}
	}
	return v
}

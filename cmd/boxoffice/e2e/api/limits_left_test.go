package api

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestLimitsLeft compares what is left of rates and quotas with what has been sent and stored.
func TestLimitsLeft(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 0.1 }) // a public read is there again after 5 s
	first, second, dead := s.Key(nil), s.Key(nil), s.Key(nil)
	s.Own("DELETE", s.Keys()+"/"+dead.Str("id"), nil).Is(200, "")
	path := "/organizer/integrations/org/" + s.Org() + "/limits"
	left := func() (most map[string]string, taken []string, used map[string]int64) {
		a := s.Own("GET", path, nil).Is(200, "")
		most, used = map[string]string{}, map[string]int64{}
		for i := range a.Data("rates").([]any) {
			at := fmt.Sprintf("rates.%d.", i)
			name := a.Str(at+"keyId") + " " + a.Str(at+"tier")
			most[name] = a.Str(at + "limit")
			if a.Str(at+"remaining") != most[name] {
				taken = append(taken, name)
			}
		}
		for i := range a.Data("quotas").([]any) {
			at := fmt.Sprintf("quotas.%d.", i)
			used[a.Str(at+"name")] = int64(a.Data(at + "used").(float64))
			require.Positive(t, a.Data(at+"limit"))
		}
		return most, taken, used
	}
	_, taken, before := left()
	require.Empty(t, taken)
	a := s.As(first.Str("secret"))
	for range 4 {
		a.Own("GET", "/organizer/events/no-such", nil).Is(404, "EVENT_NOT_FOUND")
	}
	a.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "")
	for range 2 {
		a.Call("GET", "/events", nil, a.Bearer()...).Is(200, "")
	}
	one, two := first.Str("id"), second.Str("id")
	most, taken, after := left()
	require.Equal(t, map[string]string{
		"<nil> public": "120", "<nil> strict": "30", "<nil> admin": "600",
		one + " public": "12", one + " strict": "3", one + " admin": "60",
		two + " public": "12", two + " strict": "3", two + " admin": "60",
	}, most)
	require.Subset(t, []string{"<nil> public", "<nil> admin", one + " public", one + " admin"}, taken)
	require.Contains(t, taken, one+" public")
	require.Greater(t, after["written_today"], before["written_today"])
	require.Contains(t, after, "files")

	s.As(s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret")).Own("GET", path, nil).Is(403, "FORBIDDEN")
}

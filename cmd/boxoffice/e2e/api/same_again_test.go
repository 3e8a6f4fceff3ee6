package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestSameAgain sends PUTs that say what is so already: they are answered with the
// record as it was, which was not changed anew.
func TestSameAgain(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	venue := nodetest.Object{
		"name": "Hall", "canvas": nodetest.Object{"width": 1000, "height": 800}, "focus": []int{500, 20},
		"sections": []nodetest.Object{{"id": "floor", "name": "Floor", "rows": []nodetest.Object{{
			"label": "A", "from": []int{100, 200}, "to": []int{900, 200}, "count": 5,
		}}}},
	}
	hook := nodetest.Object{"url": "https://shop.example/hook", "events": []string{"order.completed"}, "name": "Shop"}
	key := nodetest.Object{"name": "Till", "scopes": []string{"events:read"}, "ipAllowlist": []string{"192.0.2.0/24"}}
	for name, one := range map[string]struct {
		path          string
		make, another nodetest.Object
		puts          []nodetest.Object
	}{
		"venue":   {nodetest.VenuesPath, venue, nodetest.With(venue, nodetest.Object{"name": "Other"}), []nodetest.Object{venue}},
		"webhook": {"/webhooks", hook, nodetest.Object{"name": "Other"}, []nodetest.Object{hook, {}, {"status": "active"}}},
		"api key": {keysOf(s), nodetest.With(key, nodetest.Object{"environment": "test"}), nodetest.Object{"name": "Other"}, []nodetest.Object{key, {}}},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // one shop
			was := s.Own("POST", one.path, one.make).Is(201, "")
			path := one.path + "/" + was.Str("id")
			for _, put := range one.puts {
				a := s.Own("PUT", path, put).Is(200, "")
				require.Equal(t, was.Str("updatedAt"), a.Str("updatedAt"), "%v", put)
			}
			require.NotEqual(t, was.Str("updatedAt"), s.Own("PUT", path, one.another).Is(200, "").Str("updatedAt"))
		})
	}
}

// keysOf is the path of the organization's API keys, once there is one.
func keysOf(s *nodetest.Shop) string {
	s.T.Helper()
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	return s.Keys()
}

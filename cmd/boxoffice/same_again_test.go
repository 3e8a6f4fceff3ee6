package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSameAgain sends PUTs that say what is so already: they are answered with the
// record as it was, which was not changed anew.
func TestSameAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	venue := object{
		"name": "Hall", "canvas": object{"width": 1000, "height": 800}, "focus": []int{500, 20},
		"sections": []object{{"id": "floor", "name": "Floor", "rows": []object{{
			"label": "A", "from": []int{100, 200}, "to": []int{900, 200}, "count": 5,
		}}}},
	}
	hook := object{"url": "https://shop.example/hook", "events": []string{"order.completed"}, "name": "Shop"}
	key := object{"name": "Till", "scopes": []string{"events:read"}, "ipAllowlist": []string{"192.0.2.0/24"}}
	for name, one := range map[string]struct {
		path          string
		make, another object
		puts          []object
	}{
		"venue":   {venuesPath, venue, with(venue, object{"name": "Other"}), []object{venue}},
		"webhook": {"/webhooks", hook, object{"name": "Other"}, []object{hook, {}, {"status": "active"}}},
		"api key": {s.keysOf(), with(key, object{"environment": "test"}), object{"name": "Other"}, []object{key, {}}},
	} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // one shop
			was := s.own("POST", one.path, one.make).is(201, "")
			path := one.path + "/" + was.str("id")
			for _, put := range one.puts {
				a := s.own("PUT", path, put).is(200, "")
				require.Equal(t, was.str("updatedAt"), a.str("updatedAt"), "%v", put)
			}
			require.NotEqual(t, was.str("updatedAt"), s.own("PUT", path, one.another).is(200, "").str("updatedAt"))
		})
	}
}

// keysOf is the path of the organization's API keys, once there is one.
func (s *shop) keysOf() string {
	s.t.Helper()
	s.own("GET", "/organizer/events", nil).is(200, "")
	return s.keys()
}

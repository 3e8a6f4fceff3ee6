package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// org is the number of the organizer's only organization.
func (s *shop) org() string {
	s.t.Helper()
	return s.own("GET", "/users/me", nil).is(200, "").str("organizations.0.id")
}

// keys is the path of the organizer's API keys.
func (s *shop) keys() string { return "/organizer/integrations/org/" + s.org() + "/api-keys" }

// key makes an API key.
func (s *shop) key(changes object) answer {
	s.t.Helper()
	return s.own("POST", s.keys(), with(object{"name": "Box office", "environment": "test"}, changes)).is(201, "")
}

// as is the shop for whoever has a token or an API key.
func (s *shop) as(token string) *shop {
	c := *s
	c.token = token
	return &c
}

// within waits until a request is answered with a status. What a change of a
// credential does may take a second.
func (s *shop) within(limit time.Duration, status int, method, path string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.own(method, path, nil).status == status }, limit, 10*time.Millisecond)
}

var keyFields = words(`id organizationId name prefix display environment scopes ipAllowlist status expiresAt lastUsedAt strictPerMinute createdAt updatedAt`)

func TestCreateAPIKey(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := s.keys()
	body := object{"name": "Box office"}
	for _, f := range []field{
		{"name", absent, "", "required"},
		{"name", nil, "", "required"},
		{"name", text(1), "", "min_length"},
		{"name", text(121), "", "max_length"},
		{"name", 7, "", "type"},
		{"environment", "prod", "", "enum"},
		{"environment", "", "", "enum"},
		{"scopes", []string{"*"}, "scopes[0]", "enum"},
		{"scopes", []string{"events:read", "manage"}, "scopes[1]", "enum"},
		{"scopes", many(41, "events:read"), "", "max_items"},
		{"scopes", "events:read", "", "type"},
		{"scopes", []any{nil}, "scopes[0]", "type"},
		{"ipAllowlist", many(41, "192.0.2.7"), "", "max_items"},
		{"ipAllowlist", []string{"192.0.2.7", "192.0.2.256"}, "ipAllowlist[1]", "format"},
		{"ipAllowlist", []string{"192.0.2.0/33"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"010.0.0.1"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"fe80::1%eth0"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"::ffff:192.0.2.7/95"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"example.org"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{""}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{strings.Repeat("1", 65)}, "ipAllowlist[0]", "max_length"},
		{"expiresAt", stamp(-time.Minute), "", "minimum"},
		{"expiresAt", "tomorrow", "", "type"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		s.own("POST", path, with(body, object{f.name: f.value})).invalid(want, f.code)
	}

	a := s.own("POST", path, body).is(201, "")
	require.Equal(t, words(strings.Join(keyFields, " ")+" secret"), a.keys(""))
	require.Equal(t, "test", a.str("environment"), "the deployment's")
	require.Regexp(t, `^vt_test_[0-9A-Za-z]{51}$`, a.str("secret"))
	require.Equal(t, a.str("secret")[:16], a.str("prefix"))
	require.Equal(t, a.str("prefix")+"…", a.str("display"))
	for name, want := range map[string]any{"scopes": nil, "ipAllowlist": []any{}, "expiresAt": nil, "lastUsedAt": nil, "strictPerMinute": nil, "status": "active", "name": "Box office", "organizationId": s.org()} {
		require.Equal(t, want, a.data(name), name)
	}

	end := stamp(time.Hour)
	a = s.own("POST", path, object{
		"name": text(120), "environment": "test", "expiresAt": end,
		"scopes":      []string{"orders:read", "events:read", "orders:read"},
		"ipAllowlist": []string{"10.1.2.3/8", "192.0.2.7", "::FFFF:192.0.2.7", "2001:db8::1/32", "::ffff:198.51.100.0/120", "10.0.0.0/8", "0.0.0.0/0"},
	}).is(201, "")
	require.Equal(t, []any{"events:read", "orders:read"}, a.data("scopes"))
	require.Equal(t, []any{"10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "198.51.100.0/24", "0.0.0.0/0"}, a.data("ipAllowlist"))
	require.Equal(t, end, a.str("expiresAt"))
	require.True(t, strings.HasPrefix(a.str("secret"), "vt_test_"))
	for name, scopes := range map[string]any{"absent": absent, "null": nil} {
		require.Nil(t, s.key(object{"scopes": scopes, "ipAllowlist": scopes, "expiresAt": scopes}).data("scopes"), name)
	}
	require.Equal(t, []any{}, s.key(object{"scopes": []string{}}).data("scopes"))
	all := route.AllScopes.Names()
	require.Len(t, s.key(object{"scopes": all}).data("scopes"), len(all))

	t.Log("the list: newest first, in pages, never a secret")
	var ids []string
	cursor := ""
	for {
		page := s.own("GET", path+"?limit=2"+cursor, nil).is(200, "")
		require.NotContains(t, encode(t, page.body), "secret")
		for i := range page.data("items").([]any) {
			require.Equal(t, keyFields, page.keys(fmt.Sprintf("items.%d", i)))
			ids = append(ids, page.str(fmt.Sprintf("items.%d.id", i)))
		}
		if page.data("nextCursor") == nil {
			break
		}
		cursor = "&cursor=" + page.str("nextCursor")
	}
	require.Len(t, ids, 6)
	require.True(t, slices.IsSortedFunc(ids, func(a, b string) int { return len(b) - len(a) + strings.Compare(b, a) }), ids)
}

// A retry makes no second key, also when the answer was never stored.
func TestCreateAPIKeyAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	path, retry := s.keys(), append(s.bearer(), "Idempotency-Key", uuid.NewString())
	body := object{"name": "Box office", "environment": "test"}
	first := s.call("POST", path, body, retry...).is(201, "")
	require.Equal(t, first.body, s.call("POST", path, body, retry...).is(201, "").body)
	_, err := s.pool.Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
	require.NoError(t, err)
	second := s.call("POST", path, body, retry...).is(201, "")
	require.Equal(t, first.str("id"), second.str("id"))
	require.NotEqual(t, first.str("secret"), second.str("secret"))
	s.as(second.str("secret")).own("GET", "/organizer/events", nil).is(200, "")
	s.as(first.str("secret")).own("GET", "/organizer/events", nil).is(401, "UNAUTHORIZED")
	require.Len(t, s.own("GET", path, nil).data("items"), 1)
}

func TestAPIKeyScopes(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, _ := s.onSale(typeBody(5, 10))
	full := s.as(s.key(nil).str("secret"))
	none := s.as(s.key(object{"scopes": []string{}}).str("secret"))
	reader := s.as(s.key(object{"scopes": []string{"events:read"}}).str("secret"))
	gate := s.as(s.key(object{"scopes": []string{"checkin:write"}}).str("secret"))

	full.own("GET", "/organizer/events", nil).is(200, "")
	draft := full.own("POST", "/organizer/events", eventBody()).is(201, "").str("id")
	full.own("POST", "/organizer/events/"+draft+"/tickets", typeBody(5, 10)).is(201, "")
	full.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "")

	reader.own("GET", "/organizer/events", nil).is(200, "")
	gate.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "")
	for _, c := range []struct {
		who            *shop
		method, path   string
		body           any
		needs, granted []string
	}{
		{none, "GET", "/organizer/events", nil, []string{"events:read"}, []string{}},
		{gate, "GET", "/organizer/events", nil, []string{"events:read"}, []string{"checkin:write"}},
		{reader, "POST", "/organizer/events", eventBody(), []string{"events:write"}, []string{"events:read"}},
		{reader, "POST", "/organizer/events/" + event + "/tickets", typeBody(5, 10), []string{"tickets:write"}, []string{"events:read"}},
		{reader, "GET", "/checkin/event/" + event + "/stats", nil, []string{"checkin:write"}, []string{"events:read"}},
		{none, "POST", "/organizer/events/" + event + "/unpublish", nil, []string{"events:write"}, []string{}},
	} {
		c.who.own(c.method, c.path, c.body).refused(403, "FORBIDDEN", object{"required": c.needs, "granted": c.granted})
	}

	t.Log("no key manages keys, members or itself")
	keys := s.keys()
	for _, c := range [][2]string{{"GET", keys}, {"POST", keys}, {"PUT", keys + "/1"}, {"DELETE", keys + "/1"}, {"POST", keys + "/1/rotate"}, {"GET", "/organizer/organizations/" + s.org() + "/members"}, {"GET", "/users/me"}} {
		full.own(c[0], c[1], nil).is(403, "FORBIDDEN")
	}

	t.Log("another organization's things are not there")
	other := s.register("bob@example.org")
	theirs := other.own("POST", "/organizer/events", eventBody()).is(201, "").str("id")
	full.own("PUT", "/organizer/events/"+theirs, object{"title": "Mine now"}).is(404, "EVENT_NOT_FOUND")
	full.own("GET", "/organizer/events?orgId="+other.org(), nil).is(404, "NOT_FOUND")
	full.own("POST", "/organizer/events", with(eventBody(), object{"orgId": other.org()})).is(404, "NOT_FOUND")
	mine := s.key(nil).str("id")
	other.own("GET", keys, nil).is(404, "NOT_FOUND")
	other.own("PUT", other.keys()+"/"+mine, object{"name": "Mine now"}).is(404, "NOT_FOUND")
	other.own("POST", other.keys()+"/"+mine+"/rotate", nil).is(404, "NOT_FOUND")
	other.own("DELETE", other.keys()+"/"+mine, nil).is(404, "NOT_FOUND")
	for _, id := range []string{"999", "0", "-1", "x", "99999999999999999999", uuid.NewString()} {
		s.own("DELETE", keys+"/"+id, nil).is(404, "NOT_FOUND")
	}
}

func TestAPIKeyConditions(t *testing.T) {
	t.Parallel()
	s := open(t)
	const path = "/organizer/events"
	use := func(secret string) answer { return s.as(secret).own("GET", path, nil) }

	t.Log("addresses")
	use(s.key(object{"ipAllowlist": []string{"203.0.113.9", "127.0.0.0/30"}}).str("secret")).is(200, "")
	off := s.key(object{"ipAllowlist": []string{"203.0.113.9", "127.0.0.2"}})
	use(off.str("secret")).refused(403, "FORBIDDEN", object{"reason": "IP_NOT_ALLOWED"})
	s.own("PUT", s.keys()+"/"+off.str("id"), object{"ipAllowlist": nil}).is(200, "")
	use(off.str("secret")).is(200, "")

	t.Log("the other environment")
	live := s.key(object{"environment": "live"}).str("secret")
	use(live).refused(403, "WRONG_ENV", nil)
	require.Equal(t, "This key belongs to the other environment.", use(live).get("error.message"))
	use("vt_test_"+live[8:]).is(401, "UNAUTHORIZED")

	t.Log("what is no key")
	good := s.key(nil).str("secret")
	use(good).is(200, "")
	flipped := good[:58] + map[bool]string{true: "b", false: "a"}[good[58] == 'a']
	for _, bad := range []string{good + "x", good[:58], flipped, good[:16], "vt_", "vt_test_", strings.ToUpper(good)} {
		use(bad).is(401, "UNAUTHORIZED")
	}

	t.Log("expiry")
	short := s.key(object{"expiresAt": time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339Nano)})
	use(short.str("secret")).is(200, "")
	s.as(short.str("secret")).within(3*time.Second, 401, "GET", path)
	s.own("PUT", s.keys()+"/"+short.str("id"), object{"expiresAt": stamp(-time.Second)}).invalid("expiresAt", "minimum")
	require.Nil(t, s.own("PUT", s.keys()+"/"+short.str("id"), object{"expiresAt": nil}).is(200, "").data("expiresAt"))
	use(short.str("secret")).is(200, "")
}

func TestAPIKeyLife(t *testing.T) {
	t.Parallel()
	s := open(t)
	const path = "/organizer/events"
	made := s.key(object{"scopes": []string{"events:read"}})
	at := s.keys() + "/" + made.str("id")
	user := s.as(made.str("secret"))
	user.own("GET", path, nil).is(200, "")
	for _, f := range []field{
		{"name", nil, "", "null"},
		{"name", text(1), "", "min_length"},
		{"status", "deleted", "", "enum"},
		{"status", nil, "", "null"},
		{"scopes", []string{"*"}, "scopes[0]", "enum"},
		{"ipAllowlist", []string{"::1", "x"}, "ipAllowlist[1]", "format"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		s.own("PUT", at, object{f.name: f.value}).invalid(want, f.code)
	}
	same := s.own("PUT", at, object{}).is(200, "")
	require.Equal(t, keyFields, same.keys(""))
	require.Equal(t, []any{"events:read"}, same.data("scopes"))

	t.Log("paused and back, new scopes: effective at once")
	s.own("PUT", at, object{"status": "paused", "name": "Gate"}).is(200, "")
	user.own("GET", path, nil).is(401, "UNAUTHORIZED")
	require.Equal(t, "active", s.own("PUT", at, object{"status": "active"}).is(200, "").str("status"))
	user.own("GET", path, nil).is(200, "")
	s.own("PUT", at, object{"scopes": []string{}}).is(200, "")
	user.own("GET", path, nil).is(403, "FORBIDDEN")
	require.Nil(t, s.own("PUT", at, object{"scopes": nil}).is(200, "").data("scopes"))
	user.own("POST", path, eventBody()).is(201, "")

	t.Log("changed by another node: within a second")
	_, err := s.pool.Exec(t.Context(), `UPDATE api_keys SET status = 'paused' WHERE id = $1`, made.str("id"))
	require.NoError(t, err)
	user.within(time.Second, 401, "GET", path)
	s.own("PUT", at, object{"status": "active"}).is(200, "")

	t.Log("rotation")
	user.own("GET", path, nil).is(200, "")
	rotated := s.own("POST", at+"/rotate", nil).is(200, "")
	require.Equal(t, words(strings.Join(keyFields, " ")+" secret"), rotated.keys(""))
	require.Equal(t, made.str("id"), rotated.str("id"))
	require.Equal(t, "Gate", rotated.str("name"))
	require.NotEqual(t, made.str("prefix"), rotated.str("prefix"))
	require.True(t, strings.HasPrefix(rotated.str("secret"), rotated.str("prefix")))
	user.own("GET", path, nil).is(401, "UNAUTHORIZED")
	user = s.as(rotated.str("secret"))
	user.own("GET", path, nil).is(200, "")

	t.Log("the end")
	gone := s.own("DELETE", at, nil).is(200, "")
	require.Equal(t, "revoked", gone.str("status"))
	require.Equal(t, keyFields, gone.keys(""))
	user.own("GET", path, nil).is(401, "UNAUTHORIZED")
	s.own("DELETE", at, nil).is(200, "")
	s.own("PUT", at, object{"status": "active"}).is(409, "CONFLICT")
	s.own("POST", at+"/rotate", nil).is(409, "CONFLICT")
	require.Equal(t, "revoked", s.own("GET", s.keys(), nil).str("items.0.status"))
	second := s.key(nil)
	require.Equal(t, "revoked", s.own("PUT", s.keys()+"/"+second.str("id"), object{"status": "revoked"}).is(200, "").str("status"))
	s.as(second.str("secret")).own("GET", path, nil).is(401, "UNAUTHORIZED")

	t.Log("nothing of it in the database or the list")
	for _, secret := range []string{made.str("secret"), rotated.str("secret"), second.str("secret")} {
		var found int
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM api_keys k WHERE to_jsonb(k)::text LIKE '%' || $1 || '%'`, secret[16:]).Scan(&found))
		require.Zero(t, found)
		require.NotContains(t, encode(t, s.own("GET", s.keys(), nil).body), secret[16:])
	}
}

// When a key was last used is told, some seconds late.
func TestAPIKeyLastUse(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.key(nil)
	began := time.Now().Add(-time.Second)
	s.as(made.str("secret")).own("GET", "/organizer/events", nil).is(200, "")
	var at string
	require.Eventually(t, func() bool {
		last := s.own("GET", s.keys(), nil).data("items.0.lastUsedAt")
		at, _ = last.(string)
		return last != nil
	}, 15*time.Second, 100*time.Millisecond)
	used, err := time.Parse(time.RFC3339, at)
	require.NoError(t, err)
	require.WithinRange(t, used, began, time.Now())
}

func TestAPIKeysOfOneOrganization(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := s.keys()
	var mu sync.Mutex
	count := map[int]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 13 {
				status := s.own("POST", path, object{"name": "One of many"}).status
				mu.Lock()
				count[status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{201: 100, 409: 4}, count)
	a := s.own("POST", path, object{"name": "One too many"}).is(409, "CONFLICT")
	require.Contains(t, a.get("error.message"), "100")
	s.own("DELETE", path+"/"+s.own("GET", path, nil).str("items.7.id"), nil).is(200, "")
	s.own("POST", path, object{"name": "In its place"}).is(201, "")
}

// The operator gives a key its own ceiling of strict writes.
func TestAPIKeyLimit(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *config) { c.AdminEmail, c.AdminPassword, c.LimitsScale = "root@example.org", "correct horse", 1 })
	_, types := s.onSale(with(typeBody(0, 100), object{"maxPerCustomer": 1000}))
	admin := s.as(s.call("POST", "/auth/login", object{"email": "root@example.org", "password": "correct horse"}).is(200, "").str("accessToken"))
	made := s.key(object{"scopes": []string{"orders:write"}})
	at := "/admin/api-keys/" + made.str("id") + "/limits"
	s.own("PUT", at, object{"strictPerMinute": 5}).is(403, "FORBIDDEN")
	for _, c := range []struct {
		value any
		code  string
	}{{0, "minimum"}, {1_000_001, "maximum"}, {"5", "type"}, {absent, "required"}} {
		admin.own("PUT", at, with(object{}, object{"strictPerMinute": c.value})).invalid("strictPerMinute", c.code)
	}
	admin.own("PUT", "/admin/api-keys/999/limits", object{"strictPerMinute": 5}).is(404, "NOT_FOUND")
	admin.own("PUT", "/admin/api-keys/x/limits", object{"strictPerMinute": 5}).is(404, "NOT_FOUND")

	key := s.as(made.str("secret"))
	limit := func() string {
		r := key.raw("POST", "/orders", "application/json", encode(t, orderBody("ada@example.org", types[0], 1)), key.bearer()...)
		require.Equal(t, 201, r.status, r.body)
		return r.header.Get("X-RateLimit-Limit")
	}
	require.Equal(t, "30", limit())
	require.Equal(t, "5000", admin.own("PUT", at, object{"strictPerMinute": 5000}).is(200, "").str("strictPerMinute"))
	require.Equal(t, "5000", limit())
	require.Nil(t, admin.own("PUT", at, object{"strictPerMinute": nil}).is(200, "").data("strictPerMinute"))
	require.Equal(t, "30", limit())
}

// A live deployment takes no test keys.
func TestTestKeyOnALiveDeployment(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *config) {
		c.Env, c.SMTPURL, c.MailFrom, c.PaystackKey, c.WebhooksPrivate = "live", "smtp+plain://127.0.0.1:1", "tickets@example.org", "sk_live_x", false
	})
	s.as(s.key(nil).str("secret")).own("GET", "/organizer/events", nil).refused(403, "WRONG_ENV", nil)
	s.as(s.key(object{"environment": "live"}).str("secret")).own("GET", "/organizer/events", nil).is(200, "")
}

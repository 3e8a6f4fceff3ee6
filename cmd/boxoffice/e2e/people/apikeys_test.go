package people

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

// within waits until a request is answered with a status. What a change of a
// credential does may take a second, and ten on a busy machine.
func within(s *nodetest.Shop, limit time.Duration, status int, method, path string) {
	s.T.Helper()
	require.Eventually(s.T, func() bool { return s.Own(method, path, nil).Status == status }, limit, 10*time.Millisecond)
}

var keyFields = nodetest.Words(`id organizationId name prefix display environment scopes ipAllowlist status expiresAt lastUsedAt strictPerMinute createdAt updatedAt`)

func TestCreateAPIKey(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	path := s.Keys()
	body := nodetest.Object{"name": "Box office"}
	for _, f := range []field{
		{"name", nodetest.Absent, "", "required"},
		{"name", nil, "", "required"},
		{"name", nodetest.Text(1), "", "min_length"},
		{"name", nodetest.Text(121), "", "max_length"},
		{"name", 7, "", "type"},
		{"environment", "prod", "", "enum"},
		{"environment", "", "", "enum"},
		{"scopes", []string{"*"}, "scopes[0]", "enum"},
		{"scopes", []string{"events:read", "manage"}, "scopes[1]", "enum"},
		{"scopes", nodetest.Many(41, "events:read"), "", "max_items"},
		{"scopes", "events:read", "", "type"},
		{"scopes", []any{nil}, "scopes[0]", "type"},
		{"ipAllowlist", nodetest.Many(41, "192.0.2.7"), "", "max_items"},
		{"ipAllowlist", []string{"192.0.2.7", "192.0.2.256"}, "ipAllowlist[1]", "format"},
		{"ipAllowlist", []string{"192.0.2.0/33"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"010.0.0.1"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"fe80::1%eth0"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"::ffff:192.0.2.7/95"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{"example.org"}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{""}, "ipAllowlist[0]", "format"},
		{"ipAllowlist", []string{strings.Repeat("1", 65)}, "ipAllowlist[0]", "max_length"},
		{"expiresAt", nodetest.Stamp(-time.Minute), "", "minimum"},
		{"expiresAt", "tomorrow", "", "type"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		s.Own("POST", path, nodetest.With(body, nodetest.Object{f.name: f.value})).Invalid(want, f.code)
	}

	a := s.Own("POST", path, body).Is(201, "")
	require.Equal(t, nodetest.Words(strings.Join(keyFields, " ")+" secret"), a.Keys(""))
	require.Equal(t, "test", a.Str("environment"), "the deployment's")
	require.Regexp(t, `^vt_test_[0-9A-Za-z]{51}$`, a.Str("secret"))
	require.Equal(t, a.Str("secret")[:16], a.Str("prefix"))
	require.Equal(t, a.Str("prefix")+"…", a.Str("display"))
	for name, want := range map[string]any{"scopes": nil, "ipAllowlist": []any{}, "expiresAt": nil, "lastUsedAt": nil, "strictPerMinute": nil, "status": "active", "name": "Box office", "organizationId": s.Org()} {
		require.Equal(t, want, a.Data(name), name)
	}

	end := nodetest.Stamp(time.Hour)
	a = s.Own("POST", path, nodetest.Object{
		"name": nodetest.Text(120), "environment": "test", "expiresAt": end,
		"scopes":      []string{"orders:read", "events:read", "orders:read"},
		"ipAllowlist": []string{"10.1.2.3/8", "192.0.2.7", "::FFFF:192.0.2.7", "2001:db8::1/32", "::ffff:198.51.100.0/120", "10.0.0.0/8", "0.0.0.0/0"},
	}).Is(201, "")
	require.Equal(t, []any{"events:read", "orders:read"}, a.Data("scopes"))
	require.Equal(t, []any{"10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "198.51.100.0/24", "0.0.0.0/0"}, a.Data("ipAllowlist"))
	require.Equal(t, end, a.Str("expiresAt"))
	require.True(t, strings.HasPrefix(a.Str("secret"), "vt_test_"))
	for name, scopes := range map[string]any{"absent": nodetest.Absent, "null": nil} {
		require.Nil(t, s.Key(nodetest.Object{"scopes": scopes, "ipAllowlist": scopes, "expiresAt": scopes}).Data("scopes"), name)
	}
	require.Equal(t, []any{}, s.Key(nodetest.Object{"scopes": []string{}}).Data("scopes"))
	all := route.AllScopes.Names()
	require.Len(t, s.Key(nodetest.Object{"scopes": all}).Data("scopes"), len(all))

	t.Log("the list: newest first, in pages, never a secret")
	var ids []string
	cursor := ""
	for {
		page := s.Own("GET", path+"?limit=2"+cursor, nil).Is(200, "")
		require.NotContains(t, nodetest.Encode(t, page.Body), "secret")
		for i := range page.Data("items").([]any) {
			require.Equal(t, keyFields, page.Keys(fmt.Sprintf("items.%d", i)))
			ids = append(ids, page.Str(fmt.Sprintf("items.%d.id", i)))
		}
		if page.Data("nextCursor") == nil {
			break
		}
		cursor = "&cursor=" + page.Str("nextCursor")
	}
	require.Len(t, ids, 6)
	require.True(t, slices.IsSortedFunc(ids, func(a, b string) int { return len(b) - len(a) + strings.Compare(b, a) }), ids)
}

// A retry makes no second key, also when the answer was never stored.
func TestCreateAPIKeyAgain(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path, retry := s.Keys(), append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	body := nodetest.Object{"name": "Box office", "environment": "test"}
	first := s.Call("POST", path, body, retry...).Is(201, "")
	require.Equal(t, first.Body, s.Call("POST", path, body, retry...).Is(201, "").Body)
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
	require.NoError(t, err)
	second := s.Call("POST", path, body, retry...).Is(201, "")
	require.Equal(t, first.Str("id"), second.Str("id"))
	require.NotEqual(t, first.Str("secret"), second.Str("secret"))
	s.As(second.Str("secret")).Own("GET", "/organizer/events", nil).Is(200, "")
	s.As(first.Str("secret")).Own("GET", "/organizer/events", nil).Is(401, "UNAUTHORIZED")
	require.Len(t, s.Own("GET", path, nil).Data("items"), 1)
}

func TestAPIKeyScopes(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, _ := s.OnSale(nodetest.TypeBody(5, 10))
	full := s.As(s.Key(nil).Str("secret"))
	none := s.As(s.Key(nodetest.Object{"scopes": []string{}}).Str("secret"))
	reader := s.As(s.Key(nodetest.Object{"scopes": []string{"events:read"}}).Str("secret"))
	gate := s.As(s.Key(nodetest.Object{"scopes": []string{"checkin:write"}}).Str("secret"))

	full.Own("GET", "/organizer/events", nil).Is(200, "")
	draft := full.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "").Str("id")
	full.Own("POST", "/organizer/events/"+draft+"/tickets", nodetest.TypeBody(5, 10)).Is(201, "")
	full.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")

	reader.Own("GET", "/organizer/events", nil).Is(200, "")
	gate.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	for _, c := range []struct {
		who            *nodetest.Shop
		method, path   string
		body           any
		needs, granted []string
	}{
		{none, "GET", "/organizer/events", nil, []string{"events:read"}, []string{}},
		{gate, "GET", "/organizer/events", nil, []string{"events:read"}, []string{"checkin:write"}},
		{reader, "POST", "/organizer/events", nodetest.EventBody(), []string{"events:write"}, []string{"events:read"}},
		{reader, "POST", "/organizer/events/" + event + "/tickets", nodetest.TypeBody(5, 10), []string{"tickets:write"}, []string{"events:read"}},
		{reader, "GET", "/checkin/event/" + event + "/stats", nil, []string{"checkin:write"}, []string{"events:read"}},
		{none, "POST", "/organizer/events/" + event + "/unpublish", nil, []string{"events:write"}, []string{}},
	} {
		c.who.Own(c.method, c.path, c.body).Refused(403, "FORBIDDEN", nodetest.Object{"required": c.needs, "granted": c.granted})
	}

	t.Log("no key manages keys, members or itself")
	keys := s.Keys()
	for _, c := range [][2]string{{"GET", keys}, {"POST", keys}, {"PUT", keys + "/1"}, {"DELETE", keys + "/1"}, {"POST", keys + "/1/rotate"}, {"GET", "/organizer/organizations/" + s.Org() + "/members"}, {"GET", "/users/me"}} {
		full.Own(c[0], c[1], nil).Is(403, "FORBIDDEN")
	}

	t.Log("another organization's things are not there")
	other := s.Register(s.Email("bob"))
	theirs := other.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "").Str("id")
	full.Own("PUT", "/organizer/events/"+theirs, nodetest.Object{"title": "Mine now"}).Is(404, "EVENT_NOT_FOUND")
	full.Own("GET", "/organizer/events?orgId="+other.Org(), nil).Is(404, "NOT_FOUND")
	full.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"orgId": other.Org()})).Is(404, "NOT_FOUND")
	mine := s.Key(nil).Str("id")
	other.Own("GET", keys, nil).Is(404, "NOT_FOUND")
	other.Own("PUT", other.Keys()+"/"+mine, nodetest.Object{"name": "Mine now"}).Is(404, "NOT_FOUND")
	other.Own("POST", other.Keys()+"/"+mine+"/rotate", nil).Is(404, "NOT_FOUND")
	other.Own("DELETE", other.Keys()+"/"+mine, nil).Is(404, "NOT_FOUND")
	for _, id := range []string{"999", "0", "-1", "x", "99999999999999999999", uuid.NewString()} {
		s.Own("DELETE", keys+"/"+id, nil).Is(404, "NOT_FOUND")
	}
}

func TestAPIKeyConditions(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const path = "/organizer/events"
	use := func(secret string) nodetest.Answer { return s.As(secret).Own("GET", path, nil) }

	t.Log("addresses")
	use(s.Key(nodetest.Object{"ipAllowlist": []string{"203.0.113.9", "127.0.0.0/30"}}).Str("secret")).Is(200, "")
	off := s.Key(nodetest.Object{"ipAllowlist": []string{"203.0.113.9", "127.0.0.2"}})
	use(off.Str("secret")).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "IP_NOT_ALLOWED"})
	s.Own("PUT", s.Keys()+"/"+off.Str("id"), nodetest.Object{"ipAllowlist": nil}).Is(200, "")
	use(off.Str("secret")).Is(200, "")

	t.Log("the other environment")
	live := s.Key(nodetest.Object{"environment": "live"}).Str("secret")
	use(live).Refused(403, "WRONG_ENV", nil)
	require.Equal(t, "This key belongs to the other environment.", use(live).Get("error.message"))
	use("vt_test_"+live[8:]).Is(401, "UNAUTHORIZED")

	t.Log("what is no key")
	good := s.Key(nil).Str("secret")
	use(good).Is(200, "")
	flipped := good[:58] + map[bool]string{true: "b", false: "a"}[good[58] == 'a']
	for _, bad := range []string{good + "x", good[:58], flipped, good[:16], "vt_", "vt_test_", strings.ToUpper(good)} {
		use(bad).Is(401, "UNAUTHORIZED")
	}

	t.Log("expiry")
	short := s.Key(nodetest.Object{"expiresAt": time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339Nano)})
	use(short.Str("secret")).Is(200, "")
	within(s.As(short.Str("secret")), 13*time.Second, 401, "GET", path)
	s.Own("PUT", s.Keys()+"/"+short.Str("id"), nodetest.Object{"expiresAt": nodetest.Stamp(-time.Second)}).Invalid("expiresAt", "minimum")
	require.Nil(t, s.Own("PUT", s.Keys()+"/"+short.Str("id"), nodetest.Object{"expiresAt": nil}).Is(200, "").Data("expiresAt"))
	use(short.Str("secret")).Is(200, "")
}

func TestAPIKeyLife(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const path = "/organizer/events"
	made := s.Key(nodetest.Object{"scopes": []string{"events:read"}})
	at := s.Keys() + "/" + made.Str("id")
	user := s.As(made.Str("secret"))
	user.Own("GET", path, nil).Is(200, "")
	for _, f := range []field{
		{"name", nil, "", "null"},
		{"name", nodetest.Text(1), "", "min_length"},
		{"status", "deleted", "", "enum"},
		{"status", nil, "", "null"},
		{"scopes", []string{"*"}, "scopes[0]", "enum"},
		{"ipAllowlist", []string{"::1", "x"}, "ipAllowlist[1]", "format"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		s.Own("PUT", at, nodetest.Object{f.name: f.value}).Invalid(want, f.code)
	}
	same := s.Own("PUT", at, nodetest.Object{}).Is(200, "")
	require.Equal(t, keyFields, same.Keys(""))
	require.Equal(t, []any{"events:read"}, same.Data("scopes"))

	t.Log("paused and back, new scopes: effective at once")
	s.Own("PUT", at, nodetest.Object{"status": "paused", "name": "Gate"}).Is(200, "")
	user.Own("GET", path, nil).Is(401, "UNAUTHORIZED")
	require.Equal(t, "active", s.Own("PUT", at, nodetest.Object{"status": "active"}).Is(200, "").Str("status"))
	user.Own("GET", path, nil).Is(200, "")
	s.Own("PUT", at, nodetest.Object{"scopes": []string{}}).Is(200, "")
	user.Own("GET", path, nil).Is(403, "FORBIDDEN")
	require.Nil(t, s.Own("PUT", at, nodetest.Object{"scopes": nil}).Is(200, "").Data("scopes"))
	user.Own("POST", path, nodetest.EventBody()).Is(201, "")

	t.Log("changed by another node: within a second")
	_, err := s.Pool().Exec(t.Context(), `UPDATE api_keys SET status = 'paused' WHERE id = $1`, made.Str("id"))
	require.NoError(t, err)
	within(user, 10*time.Second, 401, "GET", path)
	s.Own("PUT", at, nodetest.Object{"status": "active"}).Is(200, "")

	t.Log("rotation")
	user.Own("GET", path, nil).Is(200, "")
	rotated := s.Own("POST", at+"/rotate", nil).Is(200, "")
	require.Equal(t, nodetest.Words(strings.Join(keyFields, " ")+" secret"), rotated.Keys(""))
	require.Equal(t, made.Str("id"), rotated.Str("id"))
	require.Equal(t, "Gate", rotated.Str("name"))
	require.NotEqual(t, made.Str("prefix"), rotated.Str("prefix"))
	require.True(t, strings.HasPrefix(rotated.Str("secret"), rotated.Str("prefix")))
	user.Own("GET", path, nil).Is(401, "UNAUTHORIZED")
	user = s.As(rotated.Str("secret"))
	user.Own("GET", path, nil).Is(200, "")

	t.Log("the end")
	gone := s.Own("DELETE", at, nil).Is(200, "")
	require.Equal(t, "revoked", gone.Str("status"))
	require.Equal(t, keyFields, gone.Keys(""))
	user.Own("GET", path, nil).Is(401, "UNAUTHORIZED")
	s.Own("DELETE", at, nil).Is(200, "")
	s.Own("PUT", at, nodetest.Object{"status": "active"}).Is(409, "CONFLICT")
	s.Own("POST", at+"/rotate", nil).Is(409, "CONFLICT")
	require.Equal(t, "revoked", s.Own("GET", s.Keys(), nil).Str("items.0.status"))
	second := s.Key(nil)
	require.Equal(t, "revoked", s.Own("PUT", s.Keys()+"/"+second.Str("id"), nodetest.Object{"status": "revoked"}).Is(200, "").Str("status"))
	s.As(second.Str("secret")).Own("GET", path, nil).Is(401, "UNAUTHORIZED")

	t.Log("nothing of it in the database or the list")
	for _, secret := range []string{made.Str("secret"), rotated.Str("secret"), second.Str("secret")} {
		var found int
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM api_keys k WHERE to_jsonb(k)::text LIKE '%' || $1 || '%'`, secret[16:]).Scan(&found))
		require.Zero(t, found)
		require.NotContains(t, nodetest.Encode(t, s.Own("GET", s.Keys(), nil).Body), secret[16:])
	}
}

// When a key was last used is told, some seconds late.
func TestAPIKeyLastUse(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	made := s.Key(nil)
	began := time.Now().Add(-time.Second)
	s.As(made.Str("secret")).Own("GET", "/organizer/events", nil).Is(200, "")
	var at string
	require.Eventually(t, func() bool {
		last := s.Own("GET", s.Keys(), nil).Data("items.0.lastUsedAt")
		at, _ = last.(string)
		return last != nil
	}, time.Minute, 100*time.Millisecond)
	used, err := time.Parse(time.RFC3339, at)
	require.NoError(t, err)
	require.WithinRange(t, used, began, time.Now())
}

func TestAPIKeysOfOneOrganization(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	path := s.Keys()
	var mu sync.Mutex
	count := map[int]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 13 {
				status := s.Own("POST", path, nodetest.Object{"name": "One of many"}).Status
				mu.Lock()
				count[status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{201: 100, 409: 4}, count)
	a := s.Own("POST", path, nodetest.Object{"name": "One too many"}).Is(409, "CONFLICT")
	require.Contains(t, a.Get("error.message"), "100")
	s.Own("DELETE", path+"/"+s.Own("GET", path, nil).Str("items.7.id"), nil).Is(200, "")
	s.Own("POST", path, nodetest.Object{"name": "In its place"}).Is(201, "")
}

// The operator gives a key its own ceiling of strict writes.
func TestAPIKeyLimit(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) {
		c.AdminEmail, c.AdminPassword, c.LimitsScale = "root@example.org", "correct horse", 1
	})
	_, types := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"maxPerCustomer": 1000}))
	admin := s.As(s.Patient("POST", "/auth/login", nodetest.Object{"email": "root@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken"))
	made := s.Key(nodetest.Object{"scopes": []string{"orders:write"}})
	at := "/admin/api-keys/" + made.Str("id") + "/limits"
	s.Own("PUT", at, nodetest.Object{"strictPerMinute": 5}).Is(403, "FORBIDDEN")
	for _, c := range []struct {
		value any
		code  string
	}{{0, "minimum"}, {1_000_001, "maximum"}, {"5", "type"}, {nodetest.Absent, "required"}} {
		admin.Own("PUT", at, nodetest.With(nodetest.Object{}, nodetest.Object{"strictPerMinute": c.value})).Invalid("strictPerMinute", c.code)
	}
	admin.Own("PUT", "/admin/api-keys/999/limits", nodetest.Object{"strictPerMinute": 5}).Is(404, "NOT_FOUND")
	admin.Own("PUT", "/admin/api-keys/x/limits", nodetest.Object{"strictPerMinute": 5}).Is(404, "NOT_FOUND")

	key := s.As(made.Str("secret"))
	limit := func() string {
		r := key.Raw("POST", "/orders", "application/json", nodetest.Encode(t, nodetest.OrderBody("ada@example.org", types[0], 1)), key.Bearer()...)
		require.Equal(t, 201, r.Status, r.Body)
		return r.Header.Get("X-RateLimit-Limit")
	}
	require.Equal(t, "30", limit())
	require.Equal(t, "5000", admin.Own("PUT", at, nodetest.Object{"strictPerMinute": 5000}).Is(200, "").Str("strictPerMinute"))
	require.Equal(t, "5000", limit())
	require.Nil(t, admin.Own("PUT", at, nodetest.Object{"strictPerMinute": nil}).Is(200, "").Data("strictPerMinute"))
	require.Equal(t, "30", limit())
}

// A live deployment takes no test keys.
func TestTestKeyOnALiveDeployment(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) {
		c.Env, c.SMTPURL, c.MailFrom, c.PaystackKey, c.WebhooksPrivate = "live", "smtp+plain://127.0.0.1:1", "tickets@example.org", "sk_live_x", false
	})
	s.As(s.Key(nil).Str("secret")).Own("GET", "/organizer/events", nil).Refused(403, "WRONG_ENV", nil)
	s.As(s.Key(nodetest.Object{"environment": "live"}).Str("secret")).Own("GET", "/organizer/events", nil).Is(200, "")
}

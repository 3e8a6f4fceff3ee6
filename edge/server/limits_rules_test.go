package server_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/engine"
)

// variant is a request that a limit counts: spelled the i-th way, it must spend the
// same bucket as every other one.
type variant struct {
	name string
	send func(c *edgetest.Client, t *testing.T, i int) int
}

// post is a variant that posts a body, with headers.
func post(name, path string, body func(i int) string, headers func(i int) []string) variant {
	return variant{name, func(c *edgetest.Client, t *testing.T, i int) int {
		t.Helper()
		to := strings.ReplaceAll(path, "%s", spellings(i))
		return c.Do(t, "POST", "/api/v1/"+to, body(i), headers(i)...).Status
	}}
}

// get is a variant that reads a path, with headers.
func get(name string, path func(i int) string, headers func(i int) []string) variant {
	return variant{name, func(c *edgetest.Client, t *testing.T, i int) int {
		t.Helper()
		return c.Do(t, "GET", path(i), nil, headers(i)...).Status
	}}
}

func always[T any](v T) func(int) T { return func(int) T { return v } }

// from sends from an address.
func from(address string) []string { return []string{"X-Forwarded-For", address} }

// anywhere sends every request from another network.
func anywhere(more ...string) func(int) []string {
	return func(i int) []string { return append(slices.Clone(more), from(fmt.Sprintf("2001:db8:%x::1", i))...) }
}

// spelled are the spellings of one IPv4 address.
func spelled(i int) []string {
	return from([]string{"192.0.2.7", "::ffff:192.0.2.7", "192.0.2.7:4711", "[::ffff:192.0.2.7]:80", " 192.0.2.7 ", "::ffff:c000:207"}[i%6])
}

// Within is another address of one IPv6 network each time.
func Within(i int) []string { return from(fmt.Sprintf("2001:db8:1:2::%x", i+1)) }

const pageOrder = "aaaaaaaa-0000-8000-8000-000000000001"

// spellings are those of an order's id.
func spellings(i int) string {
	id := []byte(pageOrder)
	for k := range 8 {
		if i>>k&1 == 1 {
			id[k] = 'A'
		}
	}
	return string(id)
}

// spenders say, of every rule of the table, by which requests it is spent.
var spenders = map[string][]variant{
	"public": {
		get("other spellings of an address", always("/api/v1/page"), spelled),
		get("other addresses of a network", always("/api/v1/page"), Within),
		get("other queries", func(i int) string { return "/api/v1/page?x=" + strconv.Itoa(i) }, always(from("192.0.2.8"))),
		get("unknown paths", func(i int) string { return "/api/v1/nowhere/" + strconv.Itoa(i) }, always(from("192.0.2.9"))),
		get("unknown paths outside the API", func(i int) string { return "/nowhere/" + strconv.Itoa(i) }, always(from("192.0.2.10"))),
		get("paths that are no ids", func(i int) string { return "/api/v1/orders/%20" + strconv.Itoa(i) }, always(from("192.0.2.11"))),
		get("pages", always("/"), always(from("192.0.2.12"))),
		get("a user from other networks", always("/api/v1/page"), anywhere("Authorization", ada)),
		get("a key from other networks", always("/api/v1/page"), anywhere("Authorization", "Bearer till")),
		get("conditional requests that the database answers", func(i int) string { return "/api/v1/searched?x=" + strconv.Itoa(i) },
			always(append(from("192.0.2.13"), "If-None-Match", searchedTag))),
		get("credentials that prove nothing", always("/api/v1/page"), func(i int) []string {
			return append(from("192.0.2.14"), "Authorization", "Bearer eve"+strconv.Itoa(i))
		}),
		{"methods that a path has not", func(c *edgetest.Client, t *testing.T, i int) int {
			t.Helper()
			return c.Do(t, []string{"PUT", "DELETE", "PATCH"}[i%3], "/api/v1/page", nil, from("192.0.2.15")...).Status
		}},
		{"HEAD", func(c *edgetest.Client, t *testing.T, _ int) int {
			t.Helper()
			return c.Do(t, "HEAD", "/api/v1/page", nil, from("192.0.2.16")...).Status
		}},
	},
	"auth": {
		post("other e-mail addresses", "login", func(i int) string { return `{"email":"u` + strconv.Itoa(i) + `@example.org"}` }, spelled),
		post("bodies that are not valid", "login", always(`{`), Within),
		post("signed in", "login", always(`{}`), always(append(from("192.0.2.20"), "Authorization", ada))),
		post("repeats under a key", "login", always(`{}`), always(append(from("192.0.2.21"), "Idempotency-Key", pageOrder))),
	},
	"strict": {
		post("spellings of an order's id", "orders/%s/pay", always(`{"token":"of-`+pageOrder+`"}`), anywhere()),
		post("guests of a network", "place", always(``), Within),
		post("orders that the token does not open", "orders/%s/pay", always(`{"token":"guessed"}`), always(from("192.0.2.30"))),
		post("a user from other networks", "place", always(``), anywhere("Authorization", ada)),
		post("a key from other networks", "place", always(``), anywhere("Authorization", "Bearer till")),
		post("one checkout session from other networks", "hold", always(`{"holder":"one"}`), anywhere()),
		post("bodies that are not valid", "hold", always(`{`), always(from("192.0.2.31"))),
		post("a user under other names", "hold", func(i int) string { return `{"holder":"h` + strconv.Itoa(i) + `"}` }, anywhere("Authorization", ada)),
	},
	"checkin": {
		post("one device from other networks", "scan", always(`{"device":"gate"}`), anywhere("Authorization", ada)),
		post("one device of a key", "scan", always(`{"device":"gate"}`), anywhere("Authorization", "Bearer till")),
		post("guessed credentials", "scan", always(`{}`), func(i int) []string {
			return append(from("192.0.2.40"), "Authorization", "Bearer eve"+strconv.Itoa(i))
		}),
		post("bodies that are not valid", "scan", always(`{`), anywhere("Authorization", ada)),
	},
	"provider": {post("another address each time", "provider", always(``), anywhere("Authorization", "Bearer till"))},
	"admin": {
		get("a user from other networks", always("/api/v1/own"), anywhere("Authorization", ada)),
		get("a key from other networks", always("/api/v1/own"), anywhere("Authorization", "Bearer till")),
		get("guessed credentials", always("/api/v1/own"), func(i int) []string {
			return append(from("192.0.2.50"), "Authorization", "Bearer eve"+strconv.Itoa(i))
		}),
	},
	"email": {
		post("spellings of an e-mail address from other networks", "login", func(i int) string {
			return `{"email":"` + []string{"ada@example.org", "ADA@example.org", "Ada@Example.ORG"}[i%3] + `"}`
		}, anywhere()),
	},
	"holders": {post("another checkout session each time", "hold", func(i int) string { return `{"holder":"h` + strconv.Itoa(i) + `"}` }, Within)},
	"devices": {
		post("another device each time", "scan", func(i int) string { return `{"device":"d` + strconv.Itoa(i) + `"}` }, anywhere("Authorization", ada)),
		post("another device of a key each time", "scan", func(i int) string { return `{"device":"d` + strconv.Itoa(i) + `"}` }, anywhere("Authorization", "Bearer till")),
	},
}

// elsewhere are the rules that only a running node spends, with the test that does.
var elsewhere = map[string]string{
	"repeats":                "cmd/boxoffice TestDoorRulesBindWhatTheyName",
	"wrong-codes-device":     "cmd/boxoffice TestDoorRulesBindWhatTheyName",
	"wrong-codes-credential": "cmd/boxoffice TestDoorRulesBindWhatTheyName",
	"wrong-codes-network":    "cmd/boxoffice TestDoorRulesBindWhatTheyName",
	"text_changes":           "cmd/boxoffice/e2e/api TestTextChanges",
	"foreign-codes":          "cmd/boxoffice TestDoorRulesBindWhatTheyName",
	"transfers":              "cmd/boxoffice/e2e/money TestTransfersOfOneNetwork",
	"extensions":             "cmd/boxoffice/e2e/orders TestExtensionsOfOneNetwork",

	"wrong-promo-codes-credential": "cmd/boxoffice TestPromoGuessesCountAtAllDoors",
	"wrong-promo-codes-network":    "cmd/boxoffice TestPromoGuessesCountAtAllDoors",
}

// TestRulesBindWhatTheyName spends every rule of the table by every way there is to
// name oneself otherwise: no way is a way around it.
func TestRulesBindWhatTheyName(t *testing.T) {
	t.Parallel()
	var cases atomic.Int64
	t.Cleanup(func() { t.Logf("limits: %d cases of %d rules", cases.Load(), len(limit.RateRules())) })
	rules := make(map[string]limit.RateRule)
	for _, rule := range limit.RateRules() {
		rules[rule.Name] = rule
		require.True(t, len(spenders[rule.Name]) > 0 != (elsewhere[rule.Name] != ""), "%s: say here how it is spent", rule.Name)
	}
	for name := range maps.Keys(spenders) {
		require.Contains(t, rules, name)
		for _, v := range spenders[name] {
			cases.Add(1)
			t.Run(name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				c := ruled(t)
				most := int(float64(rules[name].Most)*ruledScale + .5)
				refused := 429
				if name == string(route.TierProvider) {
					refused = 503 // a provider sends again
				}
				for i := range most {
					require.NotEqual(t, refused, v.send(c, t, i), "request %d of %d", i+1, most)
				}
				require.Equal(t, refused, v.send(c, t, most), "request %d of %d", most+1, most)
			})
		}
	}
}

// ruledScale keeps the buckets small.
const ruledScale = 0.05

// ruled is a server of limitedTable and more rows, whose clock stands.
func ruled(t *testing.T) *edgetest.Client {
	t.Helper()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return edgetest.NewClient(t, server.Config{
		Ops: ruledTable(), Authenticate: authenticateTill, Now: func() time.Time { return now },
		Limits: buckets.New(ruledScale, func(id, token string) (string, bool) {
			id = strings.ToLower(id)
			return id, token == "of-"+id
		}),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
	})
}

type held struct {
	Holder string `json:"holder" maxLength:"50"`
}

// LimitHolder names the checkout session.
func (h *held) LimitHolder() string { return h.Holder }

// searchedTag is the entity tag of the row "searched".
var searchedTag = func() string {
	sum := sha256.Sum256([]byte(`{"data":{"by":"hand"}}`))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}()

func ruledTable() []route.Op {
	all := route.Public | route.User | route.Key
	rows := limitedTable()
	for i := range rows {
		if rows[i].Tier != route.TierCheckin {
			rows[i].Auth |= route.Key
		} else {
			rows[i].Auth = route.User | route.Key
		}
		rows[i].Scope = route.EventsRead
	}
	return append(rows,
		route.Op{Method: "GET", Path: "/api/v1/searched", ID: "searched", Summary: "Search", Tag: "tests", Auth: all, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: []engine.Code{}, Handler: route.Handle(func(c *route.Call, _ *route.None) (self, error) {
			c.Computed = true
			return self{}, nil
		})},
		route.Op{Method: "POST", Path: "/api/v1/hold", ID: "hold", Summary: "Hold", Tag: "tests", Auth: all, Scope: route.EventsRead, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: []engine.Code{}, Handler: same[held]()},
		route.Op{Method: "POST", Path: "/api/v1/provider", ID: "provider", Summary: "Tell", Tag: "tests", Auth: all, Scope: route.EventsRead, Tier: route.TierProvider, Idempotency: route.BySender, Status: 200, Errors: []engine.Code{}, Handler: route.HandleRaw("application/json", func(c *route.Call, _ *route.None) (string, error) {
			return "", c.Gate.Admit(c, genuine{})
		})},
		route.Op{Method: "GET", Path: "/api/v1/own", ID: "own", Summary: "Read", Tag: "tests", Auth: route.User | route.Key, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: []engine.Code{}, Handler: same[route.None]()},
	)
}

// genuine is a notice of a provider whose signature was found good.
type genuine struct{}

func (genuine) LimitProvider() string { return "paystack" }

// authenticateTill knows a user and an API key.
func authenticateTill(ctx context.Context, c route.Credentials) (route.Principal, error) {
	if c.Bearer == "till" {
		return route.Principal{Kinds: route.Key, Key: 1, Grants: []route.Grant{{Org: 1, Scopes: route.EventsRead}}}, nil
	}
	return authenticate(ctx, c)
}

// TestEveryAnswerTellsTheLimit asks for what is in no route table, in ways that meet no
// route, and for what is never counted.
func TestEveryAnswerTellsTheLimit(t *testing.T) {
	t.Parallel()
	for _, ask := range []struct {
		method, path string
		counts       bool
		headers      []string
	}{
		{"GET", "/api/v1/page", true, nil},
		{"GET", "/api/v1/nowhere", true, nil},
		{"GET", "/nowhere", true, nil},
		{"POST", "/api/v1/page", true, nil},
		{"POST", "/api/v1/orders/%2f/pay", true, nil},
		{"GET", "/", true, nil},
		{"GET", "/media/none", true, nil},
		{"POST", "/mcp", true, nil},
		{"GET", "/api/v1/own", true, nil},
		{"GET", "/dev/mail", true, nil},
		{"GET", "/healthz", false, nil},
		{"GET", "/readyz", false, nil},
		{"OPTIONS", "/api/v1/page", false, []string{"Origin", "https://shop.example", "Access-Control-Request-Method", "GET"}},
	} {
		t.Run(ask.method+" "+ask.path, func(t *testing.T) {
			t.Parallel()
			c := ruled(t)
			left := func() int {
				res := c.Do(t, ask.method, ask.path, nil, ask.headers...)
				require.NotEmpty(t, res.Header.Get("X-RateLimit-Limit"), "%d", res.Status)
				require.NotEmpty(t, res.Header.Get("X-RateLimit-Reset"))
				n, err := strconv.Atoi(res.Header.Get("X-RateLimit-Remaining"))
				require.NoError(t, err)
				return n
			}
			if first, second := left(), left(); ask.counts {
				require.Equal(t, first-1, second)
			} else {
				require.Equal(t, first, second)
			}
		})
	}
}

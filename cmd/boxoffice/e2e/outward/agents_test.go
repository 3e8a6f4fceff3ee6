package outward

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

func TestAgentHandshake(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	a := s.Agent("events:read")
	for asked, want := range map[string]string{"2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2024-11-05": "2025-11-25", "": "2025-11-25"} {
		hello, _ := a.Ask("initialize", nodetest.Object{"protocolVersion": asked, "capabilities": nodetest.Object{}, "clientInfo": nodetest.Object{"name": "test", "version": "1"}})
		require.Equal(t, want, hello["protocolVersion"], asked)
		require.Equal(t, nodetest.Object{"tools": nodetest.Object{}, "prompts": nodetest.Object{}, "resources": nodetest.Object{}}, hello["capabilities"])
	}
	r := a.Message(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "MCP-Protocol-Version", "2025-06-18").Is(t, 202)
	require.Empty(t, r.Body)
	require.NotEmpty(t, r.Header.Get("X-RateLimit-Limit"))
	pong, _ := a.Ask("ping", nil)
	require.Empty(t, pong)

	listed, _ := a.Ask("resources/list", nil)
	resources := listed["resources"].([]any)
	require.Len(t, resources, 2)
	for i, path := range []string{"/openapi.json", "/webhooks/catalog"} {
		uri := resources[i].(nodetest.Object)["uri"].(string)
		require.True(t, strings.HasSuffix(uri, "/api/v1"+path), uri)
		read, _ := a.Ask("resources/read", nodetest.Object{"uri": uri})
		content := read["contents"].([]any)[0].(nodetest.Object)
		require.Equal(t, uri, content["uri"])
		require.True(t, json.Valid([]byte(content["text"].(string))))
	}

	t.Log("who has no credentials, and other methods")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	require.Equal(t, 401, s.As("vt_test_nonsense").Message(ping).Status)
	require.Equal(t, 405, a.AtRoot().Raw("GET", "/mcp", "", "", a.Bearer()...).Status)
	require.Equal(t, 400, a.Message(ping, "MCP-Protocol-Version", "2024-11-05").Status)
}

// TestAgentTools lists tools by what a credential may do, each with schemas that stand for
// themselves.
func TestAgentTools(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	all, reader := s.Agent().Tools(), s.Agent("events:read").Tools()
	s.Own("GET", "/users/me", nil).Is(200, "")
	owner, buyer := s.Tools(), s.Buyer("ada@example.org").Tools()
	for name, who := range map[string][]bool{ // a key with full access, one that reads events, an owner, a buyer
		"search_events":   {true, true, true, true},
		"list_own_events": {true, true, true, false},
		"create_event":    {true, false, true, false},
		"create_api_key":  {false, false, true, false},
		"get_me":          {false, false, true, true},
		"drain_node":      {false, false, false, false}, // the operator's
		"watch_seats":     {false, false, false, false}, // a stream
		"get_media":       {false, false, false, false}, // a file
	} {
		for i, tools := range []map[string]nodetest.Object{all, reader, owner, buyer} {
			_, listed := tools[name]
			require.Equal(t, who[i], listed, "%s %d", name, i)
		}
	}
	require.Greater(t, len(owner), 100)
	for name, tool := range owner {
		schema := tool["inputSchema"].(nodetest.Object)
		text := nodetest.Encode(t, schema)
		require.Equal(t, "object", schema["type"], name)
		require.NotContains(t, text, "#/components", name)
		require.NotContains(t, text, `"null"`, name)
		require.NotContains(t, text, `"type":[`, name)
	}

	t.Log("clients that read the first page alone see all of it, and have room for it")
	for _, as := range []*nodetest.Shop{s.Agent(), s} {
		page, fault := as.Ask("tools/list", nodetest.Object{})
		require.Empty(t, fault)
		require.Nil(t, page["nextCursor"])
		require.Less(t, len(nodetest.Encode(t, page)), 100<<10)
	}

	t.Log("what spends money or tickets is announced")
	for _, name := range nodetest.Words("issue_tickets give_tickets import_tickets place_order transfer_ticket claim_offer refund_order approve_refund refund_all") {
		require.Equal(t, true, owner[name]["annotations"].(nodetest.Object)["destructiveHint"], name)
	}
	create := owner["create_event"]
	require.Equal(t, nodetest.Object{"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false}, create["annotations"])
	require.Equal(t, true, owner["list_own_events"]["annotations"].(nodetest.Object)["readOnlyHint"])
	require.Contains(t, create["inputSchema"].(nodetest.Object)["properties"], "idempotencyKey")
	require.Contains(t, owner["update_event"]["inputSchema"].(nodetest.Object)["required"], "id")
}

// TestAgentActs has tools read and write as requests do, and the organization told of
// what a key's tool has written.
func TestAgentActs(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	url, posts := mailroom(t, nil)
	hook := s.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": url, "events": []string{"agent.action"}}).Is(201, "")
	a := s.Agent("events:read", "events:write")
	body := nodetest.With(nodetest.EventBody(), nodetest.Object{"idempotencyKey": uuid.NewString()})
	text, made, isError := a.Tool("create_event", body)
	require.False(t, isError, text)
	id := made["data"].(nodetest.Object)["id"].(string)
	require.Contains(t, text, id)
	p := next(t, posts, "agent.action")
	require.True(t, p.signedBy(t, hook.Str("secret")))
	require.Equal(t, []any{"create_event", "POST", "/api/v1/organizer/events", 201.0}, []any{p.Data["tool"], p.Data["method"], p.Data["path"], p.Data["statusCode"]})

	t.Log("a repeat is the same answer, and no second write")
	again, _, _ := a.Tool("create_event", body)
	require.Equal(t, text, again)
	_, _, isError = a.Tool("update_event", nodetest.Object{"id": id, "title": "By an agent"})
	require.False(t, isError)
	p = next(t, posts, "agent.action")
	require.Equal(t, []any{"PUT", "/api/v1/organizer/events/" + id}, []any{p.Data["method"], p.Data["path"]})
	_, list, _ := a.Tool("list_own_events", nodetest.Object{"limit": 1})
	require.Equal(t, "By an agent", list["data"].(nodetest.Object)["items"].([]any)[0].(nodetest.Object)["title"])

	t.Log("a person's own tools tell nothing")
	_, _, isError = s.Tool("update_event", nodetest.Object{"id": id, "title": "By hand"})
	require.False(t, isError)
	facts := s.AwaitFacts(map[string]int{"event.created": 1, "event.updated": 2, "agent.action": 2})
	valid(s, of(facts, "agent.action")[1])

	t.Log("what is refused is for the model to read")
	for _, c := range []struct {
		tool      string
		arguments nodetest.Object
		want      string
	}{
		{"create_ticket_type", nodetest.Object{"id": id, "name": "Seat", "price": 1, "quantity": 1}, `FORBIDDEN (403)`},
		{"create_event", nodetest.Object{"title": "x"}, `VALIDATION_ERROR (400)`},
		{"get_own_event", nodetest.Object{"id": uuid.NewString()}, `NOT_FOUND (404)`},
		{"update_event", nodetest.Object{"title": "No id"}, `the argument "id"`},
		{"update_event", nodetest.Object{"id": nodetest.Object{}}, `the argument "id"`},
		{"list_own_events", nodetest.Object{"limit": nodetest.Object{}}, `the argument "limit"`},
		{"delete_event", nodetest.Object{"id": "../events/" + id}, `NOT_FOUND (404)`}, // no other operation
		{"delete_event", nodetest.Object{"id": ".."}, `NOT_FOUND (404)`},
		{"create_event", nodetest.With(body, nodetest.Object{"title": "Another"}), `IDEMPOTENCY_KEY_REUSED (409)`},
	} {
		text, structured, isError := a.Tool(c.tool, c.arguments)
		require.True(t, isError, c.tool)
		require.Nil(t, structured)
		require.Contains(t, text, c.want, c.tool)
	}
	facts, _ = s.Feed("", "&types=agent.action")
	require.Len(t, facts, 2, "what was refused is no action")
}

// TestAgentLimits: a tool call counts once, as the request that it makes.
func TestAgentLimits(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1 })
	a := s.Agent("events:read", "webhooks:manage")
	began := time.Now()
	// A bucket fills up again in a minute, so that a slow machine may find more left.
	left := func(r nodetest.Reply, want, of int) {
		t.Helper()
		require.Equal(t, strconv.Itoa(of), r.Header.Get("X-RateLimit-Limit"))
		got, err := strconv.Atoi(r.Header.Get("X-RateLimit-Remaining"))
		require.NoError(t, err)
		refilled := int(time.Since(began).Seconds()*float64(of)/60) + 1
		require.GreaterOrEqual(t, got, want)
		require.LessOrEqual(t, got, want+refilled)
	}
	call := func(tool, arguments string) nodetest.Reply {
		return a.Message(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`).Is(t, 200)
	}
	left(a.Message(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), 599, 600)
	left(call("list_webhooks", `{}`), 598, 600)
	left(call("create_webhook", `{}`), 29, 30)
	left(a.Raw("POST", "/webhooks", "application/json", `{}`, a.Bearer()...), 28, 30) // the same bucket as over REST
	left(call("no_such_tool", `{}`), 597, 600)
	limited := regexp.MustCompile(`RATE_LIMITED \(429\).*Try again in [0-9]+ s`)
	calls := 1
	for !limited.Match([]byte(call("create_webhook", `{}`).Body)) {
		calls++
		require.Less(t, calls, 300)
	}
	require.Greater(t, calls, 28)
}

// TestAgentMalformed sends what is no message of the protocol, or asks for nothing that there is.
func TestAgentMalformed(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	a := s.Agent("events:read")
	const (
		parse, request, method, params = `"code":-32700`, `"code":-32600`, `"code":-32601`, `"code":-32602`
	)
	for body, want := range map[string]struct {
		status int
		body   string
	}{
		``:                                   {400, parse},
		`{`:                                  {400, parse},
		`nonsense`:                           {400, parse},
		`{"jsonrpc":"2.0","id":1,"id":2}`:    {400, "no name given twice"},
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff": {400, parse},
		strings.Repeat("[", 100_000):         {400, parse},
		`7`:                                  {400, request},
		`null`:                               {400, request},
		`{}`:                                 {400, request},
		`[]`:                                 {400, request},
		` [{"jsonrpc":"2.0","id":1,"method":"ping"}]`: {400, request},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`: {400, request},
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:   {400, request},
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:    {400, request},
		`{"jsonrpc":"2.0","id":1,"method":7}`:         {400, request},
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `}`: {400, "nesting depth"},
		`{"jsonrpc":"2.0","id":1,"method":"tools/uninstall"}`:                                                               {400, method},
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`:                                              {400, "webhooks"},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                                    {400, params},
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"create_event"}}`:                                          {400, request},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":null}`:                                                      {200, `"error"`},
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`:                                                        {200, params},
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"*"}}`:                                            {200, params},
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"eA"}}`:                                           {200, params},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool"}}`:                                   {200, params},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_own_events","arguments":[]}}`:                 {200, params},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_own_events","arguments":{"a":1,"a":2}}}`:      {400, "no name given twice"},
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"put_event_on_sale"}}`:                             {200, params}, // not with its scopes
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":7}}`:                                               {200, params},
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}`:                                                    {200, params},
	} {
		shown := body[:min(len(body), 100)]
		r := a.Message(body)
		require.Equal(t, want.status, r.Status, shown)
		require.Contains(t, r.Body, want.body, shown)
	}
	require.Equal(t, 202, a.Message(`{"jsonrpc":"2.0","id":1,"result":{}}`).Status)
	for _, body := range []string{ // only a tool's arguments may be large
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 64<<10) + `","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + strings.Repeat("A", 64<<10) + `"}}`,
		`"` + strings.Repeat("x", 9<<20) + `"`,
	} {
		require.Equal(t, 413, a.Message(body).Status)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_own_events","arguments":{"ignored":"` + strings.Repeat("x", 7<<20) + `"}}}`
	require.Contains(t, a.Message(call).Is(t, 200).Body, `"structuredContent"`)
}

// TestAgentNewestVersion: the newest version has no handshake, but says itself with each request,
// in a header too.
func TestAgentNewestVersion(t *testing.T) {
	t.Parallel()
	const newest = "2026-07-28"
	s := nodetest.Open(t)
	a := s.Agent("events:read")
	ask := func(version, method string, params nodetest.Object, headers ...string) nodetest.Reply {
		params = nodetest.With(params, nodetest.Object{"_meta": nodetest.Object{
			"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": nodetest.Object{},
		}})
		message := nodetest.Encode(t, nodetest.Object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		return a.Message(message, append([]string{"MCP-Protocol-Version", version, "Mcp-Method", method}, headers...)...)
	}
	hello := ask(newest, "server/discover", nodetest.Object{}).Is(t, 200).Body
	require.Contains(t, hello, `"supportedVersions":["2026-07-28","2025-11-25","2025-06-18"]`)
	require.Contains(t, hello, `"cacheScope":"private"`)
	call := nodetest.Object{"name": "list_own_events", "arguments": nodetest.Object{"limit": 1}}
	require.Contains(t, ask(newest, "tools/call", call, "Mcp-Name", "list_own_events").Is(t, 200).Body, `"structuredContent"`)

	t.Log("what it refuses by status, too")
	require.Contains(t, ask(newest, "tools/call", call, "Mcp-Name", "list_events").Is(t, 400).Body, `"code":-32020`)
	require.Contains(t, ask(newest, "tools/call", nodetest.Object{"name": "no_such_tool"}, "Mcp-Name", "no_such_tool").Is(t, 400).Body, `"code":-32602`)
	require.Contains(t, ask(newest, "tools/uninstall", nodetest.Object{}).Is(t, 404).Body, `"code":-32601`)
	require.Contains(t, ask("2027-01-01", "tools/list", nodetest.Object{}).Is(t, 400).Body, `"code":-32022`)
	ask(newest, "subscriptions/listen", nodetest.Object{}).Is(t, 400) // and does not wait
}

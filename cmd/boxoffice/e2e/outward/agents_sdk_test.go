package outward

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// These tests use the interface for agents by the client of the protocol's own SDK, whose
// reading of the protocol is not ours.

// withBearer sends requests with a credential.
type withBearer string

// RoundTrip sends a request.
func (b withBearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connectAgent is a session of the SDK's client with the shop's credential.
func connectAgent(s *nodetest.Shop) *mcp.ClientSession {
	s.T.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(s.T.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.AtRoot().URL + "/mcp", HTTPClient: &http.Client{Transport: withBearer(s.Token)},
	}, nil)
	require.NoError(s.T, err)
	s.T.Cleanup(func() { require.NoError(s.T, session.Close()) })
	return session
}

// tool calls a tool and returns what stands under data, or the text of its refusal.
func tool(t testing.TB, session *mcp.ClientSession, name string, arguments nodetest.Object) (data nodetest.Object, refusal string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(t, err, name)
	if result.IsError {
		return nil, result.Content[0].(*mcp.TextContent).Text
	}
	data, _ = result.StructuredContent.(nodetest.Object)["data"].(nodetest.Object)
	return data, ""
}

// TestAgentBySDK sells an event out by tools alone, as the SDK's client calls them.
func TestAgentBySDK(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	url, posts := mailroom(t, nil)
	hook := s.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": url, "events": []string{"agent.action"}}).Is(201, "")
	session := connectAgent(s.Agent())
	did := func(name string, arguments nodetest.Object) nodetest.Object {
		t.Helper()
		data, refusal := tool(t, session, name, arguments)
		require.Empty(t, refusal, name)
		return data
	}
	told := func(name string) {
		t.Helper()
		p := next(t, posts, "agent.action")
		require.True(t, p.signedBy(t, hook.Str("secret")))
		require.Equal(t, name, p.Data["tool"])
	}

	body := nodetest.With(nodetest.EventBody(), nodetest.Object{"idempotencyKey": uuid.NewString()})
	event := did("create_event", body)["id"].(string)
	told("create_event")
	require.Equal(t, event, did("create_event", body)["id"], "a repeat makes no second one")
	floor := did("create_ticket_type", nodetest.With(nodetest.TypeBody(25, 3), nodetest.Object{"id": event}))["id"].(string)
	told("create_ticket_type")
	did("publish_event", nodetest.Object{"id": event})
	told("publish_event")
	for _, quantity := range []int{2, 1} {
		o := did("place_order", nodetest.With(nodetest.OrderBody("ada@example.org", floor, quantity), nodetest.Object{"idempotencyKey": uuid.NewString()}))
		told("place_order")
		pay := did("pay_order", nodetest.Object{"id": o["id"], "provider": "paystack", "token": o["accessToken"]})
		told("pay_order")
		s.Settle(pay["authorizationUrl"].(string), "success") // which is the buyer's own doing
		require.Equal(t, "completed", did("verify_payment", nodetest.Object{"orderId": o["id"], "token": o["accessToken"]})["status"])
		told("verify_payment")
	}
	_, refusal := tool(t, session, "place_order", nodetest.OrderBody("eve@example.org", floor, 1))
	require.Contains(t, refusal, "SOLD_OUT (409)")
	types := did("list_ticket_types", nodetest.Object{"id": event})["items"].([]any)
	require.EqualValues(t, 0, types[0].(nodetest.Object)["available"])
}

// TestAgentSeesWhatItMayCall lists tools and prompts by scopes, and calls by name what is not
// listed.
func TestAgentSeesWhatItMayCall(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	names := func(session *mcp.ClientSession) (tools, prompts []string) {
		for tool, err := range session.Tools(t.Context(), nil) {
			require.NoError(t, err)
			tools = append(tools, tool.Name)
		}
		for prompt, err := range session.Prompts(t.Context(), nil) {
			require.NoError(t, err)
			prompts = append(prompts, prompt.Name)
		}
		return tools, prompts
	}
	all := connectAgent(s.Agent())
	most, jobs := names(all)
	require.Equal(t, []string{"find_order", "put_event_on_sale", "refund_order", "watch_gates"}, jobs)

	t.Log("each prompt names tools, and takes its arguments")
	quoted := regexp.MustCompile("`([a-z_]+)`")
	for prompt, err := range all.Prompts(t.Context(), nil) {
		require.NoError(t, err)
		arguments := map[string]string{}
		for _, a := range prompt.Arguments {
			arguments[a.Name] = "the " + a.Name + " that I mean"
		}
		got, err := all.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompt.Name, Arguments: arguments})
		require.NoError(t, err)
		text := got.Messages[0].Content.(*mcp.TextContent).Text
		for _, a := range arguments {
			require.Contains(t, text, a)
		}
		require.NotContains(t, text, "{")
		tools := quoted.FindAllStringSubmatch(text, -1)
		require.NotEmpty(t, tools)
		for _, named := range tools {
			require.Contains(t, most, named[1], prompt.Name)
		}
		delete(arguments, prompt.Arguments[0].Name)
		_, err = all.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompt.Name, Arguments: arguments})
		require.ErrorContains(t, err, "needs the argument "+prompt.Arguments[0].Name)
	}

	for scopes, want := range map[string][]string{
		"":                          nil,
		"events:read orders:read":   {"find_order"},
		"events:read tickets:write": nil,
		"orders:read orders:write":  {"refund_order"},
		"events:read checkin:write": nil, // for want of attendees
		"events:read checkin:write attendees:read": {"watch_gates"},
	} {
		session := connectAgent(s.Agent(strings.Fields(scopes)...))
		tools, prompts := names(session)
		require.Equal(t, want, prompts, scopes)
		require.Less(t, len(tools), len(most))
		for _, name := range most {
			if slices.Contains(tools, name) {
				continue
			}
			_, refusal := tool(t, session, name, nodetest.Object{})
			require.Regexp(t, `^(FORBIDDEN \(403\)|VALIDATION_ERROR \(400\))`, refusal, "%s with %q", name, scopes) // the suite of security has arguments
		}
	}
}

// TestAgentLimitedBySDK spends a limit by tools. On a slow machine much of it comes back meanwhile.
func TestAgentLimitedBySDK(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1 })
	session := connectAgent(s.Agent("webhooks:manage"))
	refusal := ""
	for n := 0; n < 300 && !strings.HasPrefix(refusal, "RATE_LIMITED"); n++ {
		_, refusal = tool(t, session, "create_webhook", nodetest.Object{})
	}
	require.Regexp(t, `^RATE_LIMITED \(429\)(.|\n)*Try again in [0-9]+ s\.`, refusal)
}

// TestToolSchemas holds the document's example of each operation to the schema of its tool,
// by the validator that the SDK has.
func TestToolSchemas(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	s.Own("GET", "/users/me", nil).Is(200, "")
	doc, err := nodetest.Published()
	require.NoError(t, err)
	operations := map[string]*openapi3.Operation{}
	for _, item := range doc.Paths.Map() {
		for _, o := range item.Operations() {
			operations[toolName(o.OperationID)] = o
		}
	}
	checked := 0
	for tool, err := range connectAgent(s).Tools(t.Context(), nil) {
		require.NoError(t, err)
		o := operations[tool.Name]
		require.NotNil(t, o, tool.Name)
		var schema jsonschema.Schema
		require.NoError(t, json.Unmarshal([]byte(nodetest.Encode(t, tool.InputSchema)), &schema), tool.Name)
		resolved, err := schema.Resolve(nil)
		require.NoError(t, err, tool.Name)
		sample := sampleArguments(o)
		require.NoError(t, resolved.Validate(sample), "%s %v", tool.Name, sample)
		if len(schema.Required) > 0 {
			delete(sample, schema.Required[0])
			require.Error(t, resolved.Validate(sample), "%s without %s", tool.Name, schema.Required[0])
		}
		checked++
	}
	require.Greater(t, checked, 100)
}

// toolName is an operation id in snake case.
func toolName(id string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(id, "${1}_$2"))
}

// sampleArguments are an operation's parameters and body as the document's examples have them.
func sampleArguments(o *openapi3.Operation) nodetest.Object {
	arguments := nodetest.Object{}
	for _, p := range o.Parameters {
		schema := p.Value.Schema.Value
		switch {
		case !p.Value.Required || p.Value.In == "header":
		case len(schema.Enum) > 0:
			arguments[p.Value.Name] = schema.Enum[0]
		case schema.Type.Is("integer"):
			arguments[p.Value.Name] = 1
		case schema.Format == "uuid":
			arguments[p.Value.Name] = uuid.NewString()
		default:
			arguments[p.Value.Name] = "1024"
		}
	}
	if o.RequestBody == nil {
		return arguments
	}
	media := o.RequestBody.Value.Content.Get("application/json")
	example, _ := media.Example.(nodetest.Object)
	maps.Copy(arguments, example)
	return arguments
}

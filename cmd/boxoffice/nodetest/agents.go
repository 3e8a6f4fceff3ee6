package nodetest

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

// Message sends a message to the interface for agents as it is, with the shop's token. Tests use it
// for messages that Ask would not make.
func (s *Shop) Message(body string, headers ...string) Reply {
	s.T.Helper()
	return s.AtRoot().Raw("POST", "/mcp", "application/json", body, append(s.Bearer(), headers...)...)
}

// AtRoot returns the shop for paths that do not begin with /api/v1, such as /mcp.
func (s *Shop) AtRoot() *Shop {
	c := *s
	c.URL = strings.TrimSuffix(s.URL, "/api/v1")
	return &c
}

// Ask sends a request of the JSON-RPC protocol that agents speak. It returns the result or, if
// there is one, the error.
func (s *Shop) Ask(method string, params any) (result, fault Object) {
	s.T.Helper()
	r := s.Message(Encode(s.T, Object{"jsonrpc": "2.0", "id": "a-1", "method": method, "params": params})).Is(s.T, 200)
	var answer struct {
		JSONRPC, ID   string
		Result, Error Object
	}
	require.NoError(s.T, json.Unmarshal([]byte(r.Body), &answer), r.Body)
	require.Equal(s.T, "2.0 a-1", answer.JSONRPC+" "+answer.ID)
	return answer.Result, answer.Error
}

// Tools returns all tools that the node lists, by name. The list comes in pages, which it reads to
// the end.
func (s *Shop) Tools() map[string]Object {
	s.T.Helper()
	tools, params := map[string]Object{}, Object{}
	for {
		page, fault := s.Ask("tools/list", params)
		require.Empty(s.T, fault)
		for _, t := range page["tools"].([]any) {
			tools[t.(Object)["name"].(string)] = t.(Object)
		}
		if page["nextCursor"] == nil {
			return tools
		}
		params["cursor"] = page["nextCursor"]
	}
}

// Tool calls a tool. It returns what the model would read, as text and as a structure, and if the
// call counts as failed.
func (s *Shop) Tool(name string, arguments Object) (text string, structured Object, isError bool) {
	s.T.Helper()
	result, fault := s.Ask("tools/call", Object{"name": name, "arguments": arguments})
	require.Empty(s.T, fault)
	isError, _ = result["isError"].(bool)
	structured, _ = result["structuredContent"].(Object)
	return result["content"].([]any)[0].(Object)["text"].(string), structured, isError
}

// Agent returns the shop for a program with a new API key of some scopes.
func (s *Shop) Agent(scopes ...string) *Shop {
	s.T.Helper()
	return s.As(s.Key(Object{"scopes": scopes}).Str("secret"))
}

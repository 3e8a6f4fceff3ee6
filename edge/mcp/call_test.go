package mcp

import (
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// FuzzReadMessage: what we take for the method of a message, and count it by, is what the SDK
// answers.
func FuzzReadMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"subscriptions\/listen"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[]`, ` `, `null`, `{"id":{}}`, "\ufeff{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, wrong := readMessage(body)
		if wrong != nil {
			return
		}
		message, err := jsonrpc.DecodeMessage(body)
		if request, ok := message.(*jsonrpc.Request); ok && err == nil {
			require.Equal(t, m.Method, request.Method)
		}
	})
}

// TestPanic: a handler that panics in the SDK's goroutine panics in the request's, which is where
// the server catches it.
func TestPanic(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "test"}, nil)
	server.AddReceivingMiddleware(catchPanic)
	server.AddTool(&sdk.Tool{Name: "stumble", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		panic("stumbled")
	})
	s := &Server{handler: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})}
	require.PanicsWithValue(t, "stumbled", func() {
		_, _ = s.Answer(t.Context(), new(Caller), http.Header{}, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stumble"}}`))
	})
}

// TestTextOf is what arguments become in paths and queries.
func TestTextOf(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]string{
		``: "", `null`: "", `"a b/é"`: "a b/é", `7`: "7", `1.50`: "1.50", `true`: "true", `["a","b"]`: "a,b", `[1,2]`: "1,2", `[]`: "",
	} {
		text, ok := textOf([]byte(argument))
		require.True(t, ok, argument)
		require.Equal(t, want, text, argument)
	}
	for _, argument := range []string{`{}`, `[[1]]`, `[{}]`, `[null]`} {
		_, ok := textOf([]byte(argument))
		require.False(t, ok, argument)
	}
}

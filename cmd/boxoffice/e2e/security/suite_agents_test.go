package security

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

// The way of agents, POST /mcp, which is no row of the route table. Its own attempts are those of
// every row, and messages that are none. Behind it each row is asked for once more, as a tool, by
// those who may not have it.

// agentsRow is the way of agents as a row on trial.
func (w *world) agentsRow(c *credentials) *row {
	r := &row{
		op:      route.Op{Method: http.MethodPost, Path: "/mcp", ID: "mcp", Auth: route.User | route.Key, Status: http.StatusOK},
		request: request{body: rpc("ping", nil)},
	}
	r.attempts = w.unproven(&r.op, r.request, c)
	for _, h := range []holder{{name: "owner", auth: bearer(w.Token)}, {name: "key", auth: bearer(w.secret)}} {
		wrong := func(what, raw, want string, headers ...string) {
			r.attempts = append(r.attempts, attempt{name: what + " by " + h.name, auth: h.auth, request: r.request, raw: raw, headers: headers, want: []string{want}})
		}
		wrong("a body of 9 MiB", `"`+strings.Repeat("x", 9<<20)+`"`, "413 PAYLOAD_TOO_LARGE")
		for _, media := range []string{"text/plain", "text/html", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "text/event-stream", "none"} {
			wrong("a body of "+media, "", "415 UNSUPPORTED_MEDIA_TYPE", "Content-Type", media)
		}
		wrong("a packed body", "", "415 UNSUPPORTED_MEDIA_TYPE", "Content-Encoding", "gzip")
		wrong("a version that is not spoken", "", "400 VALIDATION_ERROR", "MCP-Protocol-Version", "2024-11-05")
	}
	return r
}

// rpc is a request of the protocol.
func rpc(method string, params any) nodetest.Object {
	return nodetest.Object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
}

var wordBorder = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// asTool is a row's request as the call of its tool. Of a row that is no tool there is none of that
// name, which is a refusal too.
func (r *row) asTool() nodetest.Object {
	arguments := nodetest.Object{}
	for name, id := range r.request.params {
		arguments[name] = id
	}
	query, _ := url.ParseQuery(r.request.query) // the suite's own
	for name := range query {
		arguments[name] = query.Get(name)
	}
	maps.Copy(arguments, r.request.body)
	return rpc("tools/call", nodetest.Object{"name": strings.ToLower(wordBorder.ReplaceAllString(r.op.ID, "${1}_$2")), "arguments": arguments})
}

// refuseTools has those call each row's tool who may not make its request: agents of another
// organization, and keys and people who lack what it needs. The latter are not shown it.
func (r *row) refuseTools(w *world, rows []*row, c *credentials) {
	w.T.Helper()
	tools := w.As(w.Token).Tools()
	shown := make([]map[string]nodetest.Object, len(c.holders))
	for i := range c.holders {
		shown[i] = w.As(strings.TrimPrefix(c.holders[i].auth, bearer(""))).Tools()
	}
	for _, other := range rows {
		call := other.asTool()
		name, _ := call["params"].(nodetest.Object)["name"].(string)
		if _, listed := tools[name]; !listed || other.op.Auth == route.Public {
			continue
		}
		for i := range c.holders {
			h := &c.holders[i]
			want, _ := h.verdict(&other.op, &other.request)
			if want == "" {
				continue
			}
			if _, listed := shown[i][name]; listed && strings.HasPrefix(want, "403") {
				w.T.Errorf("%s is shown %s, which it may not call", h.name, name)
			}
			a := attempt{name: other.op.ID + " by " + h.name, auth: h.auth, request: request{body: call}}
			if text, isError := toolAnswer(w, w.send(&r.op, &a)); !isError || !strings.Contains(text, "("+want[:len("404")]+")") {
				w.T.Errorf("%s: not %s: %s", a.name, want, text)
			}
			r.refused++
		}
	}
	require.Greater(w.T, r.refused, 500)
}

// toolAnswer is what a model reads of a tool's answer.
func toolAnswer(w *world, r nodetest.Reply) (text string, isError bool) {
	w.T.Helper()
	var answer struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	require.NoError(w.T, json.Unmarshal([]byte(r.Body), &answer), r.Body)
	require.NotEmpty(w.T, answer.Result.Content, r.Body)
	return answer.Result.Content[0].Text, answer.Result.IsError
}

// grantAgents has messages answered to an owner and to a key, which proves that the others were
// refused for what is wrong with them.
func (r *row) grantAgents(w *world, seen *exposure) {
	for audience, auth := range map[string]string{audienceOwner: bearer(w.Token), audienceKey: bearer(w.secret)} {
		for _, message := range []nodetest.Object{
			rpc("ping", nil), rpc("initialize", nodetest.Object{"protocolVersion": "2025-11-25"}), rpc("resources/list", nil),
			rpc("tools/call", nodetest.Object{"name": "list_own_events", "arguments": nodetest.Object{"limit": 1}}),
		} {
			answer := w.send(&r.op, &attempt{auth: auth, request: request{body: message}})
			require.Equal(w.T, r.op.Status, answer.Status, answer.Body)
			require.NotContains(w.T, answer.Body, `"isError":true`)
			if message["method"] != "tools/call" { // a call of a tool is answered as the tool's own route is
				seen.note(w.T, &r.op, audience, answer.Body)
			}
			r.granted++
		}
	}
}

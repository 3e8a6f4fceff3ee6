package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
)

// Request is what a tool call asks of its operation. It has no credentials: the operation is performed with
// those of the tool's caller.
type Request struct {
	Params         map[string]string // the path's parameters by name, percent-encoded
	Path           string            // the operation's path with Params in it
	Query          string            // the encoded query string, or ""
	Body           []byte            // JSON, or nil if the operation has no body
	IdempotencyKey string
}

// Answer is the operation's answer to a Request.
type Answer struct {
	Status     int
	Body       []byte
	RetryAfter string // the header Retry-After, in seconds, or ""
	Replayed   bool   // whether this is the stored answer to an earlier request with the same Idempotency-Key
}

// sayText makes the result of a tool call from a text. isError tells the model that the call did
// not succeed.
func sayText(text string, isError bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: isError}
}

// invalidParams is the protocol's error for a call that cannot be understood. The client handles
// such an error; the model sees only results, also those with isError.
func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// callTool carries out a tool call. A refusal by the operation becomes a result in words, and so do
// arguments from which no request can be made, because the model reads results and can correct its
// call. Only arguments that are no JSON object are an error of the protocol. After a successful write by an API key,
// callTool publishes the fact agent.action, but not again for a replayed answer.
func (s *Server) callTool(ctx context.Context, t *tool, raw []byte) (*sdk.CallToolResult, error) {
	var args map[string]jsontext.Value
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return nil, invalidParams("The arguments must be an object.")
	}
	request, wrong := t.makeRequest(args)
	if request == nil {
		return sayText(wrong, true), nil
	}
	c := callerOf(ctx)
	// From here on, the rate limit of the operation counts the message, even if the operation
	// refuses it.
	c.performed = true
	answer := c.Perform(t.op, request)
	if answer.Status >= http.StatusMultipleChoices {
		return sayText(answer.sayRefusal(), true), nil
	}
	// The fact about a replayed answer was published when the answer was first given.
	if c.Principal.Kinds.Has(route.Key) && t.op.Writes() && !answer.Replayed {
		s.tellAction(ctx, c, t, request, answer)
	}
	if len(answer.Body) == 0 {
		return sayText("Done.", false), nil
	}
	result := sayText(string(answer.Body), false)
	result.StructuredContent = jsontext.Value(answer.Body)
	return result, nil
}

// makeRequest makes a request from a tool's arguments. It ignores arguments that the tool does not
// have, because models sometimes invent arguments. If no request can be made, r is nil and wrong
// tells the model why.
func (t *tool) makeRequest(args map[string]jsontext.Value) (r *Request, wrong string) {
	r = &Request{Params: make(map[string]string, len(t.path)), Path: t.op.Path}
	for _, name := range t.path {
		value, ok := textOf(args[name])
		if !ok || value == "" {
			return nil, fmt.Sprintf("%s (400): the argument %q must be a string or a number.", engine.Validation, name)
		}
		r.Params[name] = url.PathEscape(value)
		r.Path = strings.Replace(r.Path, "{"+name+"}", r.Params[name], 1)
	}
	query := url.Values{}
	for _, name := range t.query {
		value, ok := textOf(args[name])
		if !ok {
			return nil, fmt.Sprintf("%s (400): the argument %q must be a string, a number, a boolean or a list of these.", engine.Validation, name)
		}
		if value != "" {
			query.Set(name, value)
		}
	}
	r.Query = query.Encode()
	if t.op.Writes() {
		r.IdempotencyKey, _ = textOf(args[idempotencyKey])
	}
	if t.op.Handler.HasBody() {
		r.Body = t.makeBody(args)
	}
	return r, ""
}

// makeBody makes a JSON object of the arguments that belong into the body. The members are sorted,
// so that the same arguments make the same bytes, by which the server recognizes a repeat with the
// same Idempotency-Key.
func (t *tool) makeBody(args map[string]jsontext.Value) []byte {
	b := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !t.inBody[name] {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, name) // the names come from the document and are valid UTF-8
		b = append(append(b, ':'), args[name]...)
	}
	return append(b, '}')
}

// textOf returns an argument as it stands in a path or a query, where the elements of a
// list are separated by commas. An argument that is null or not there gives an empty text.
// ok is false for an object, and for a list in which there is a list, an object, a null or an empty
// text.
func textOf(v jsontext.Value) (text string, ok bool) {
	switch v.Kind() { //nolint:exhaustive // null, and an argument that is not there
	case '"':
		return text, json.Unmarshal(v, &text) == nil
	case '0', 't', 'f':
		return string(v), true
	case '[':
		var items []jsontext.Value
		if json.Unmarshal(v, &items) != nil {
			return "", false
		}
		texts := make([]string, len(items))
		for i, item := range items {
			if texts[i], ok = textOf(item); !ok || texts[i] == "" || item.Kind() == '[' {
				return "", false
			}
		}
		return strings.Join(texts, ","), true
	case '{':
		return "", false
	}
	return "", true
}

// sayRefusal returns the text of a refusal for the model: code, status, message, details, when to
// try again, and the request's id for support. If the body is not JSON, it has only the status.
func (a *Answer) sayRefusal() string {
	var envelope struct {
		Error struct {
			Code    string         `json:"code"`
			Message string         `json:"message"`
			Details jsontext.Value `json:"details"`
		} `json:"error"`
		Meta struct {
			RequestID string `json:"request_id"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		return fmt.Sprintf("The operation answered %d.", a.Status)
	}
	e := &envelope.Error
	text := fmt.Sprintf("%s (%d): %s", e.Code, a.Status, e.Message)
	if e.Details.Kind() == '{' {
		text += "\nDetails: " + string(e.Details)
	}
	if a.RetryAfter != "" {
		text += "\nTry again in " + a.RetryAfter + " s."
	}
	return text + "\nRequest: " + envelope.Meta.RequestID
}

// tellWithin bounds how long a tool call waits until the public fact about it (agent.action) is written.
const tellWithin = 5 * time.Second

// tellAction publishes the fact agent.action about a write, for the organization of the API key that made it.
// The write has succeeded by then, so an error here is only logged. The call's deadline does not apply, because
// it may have passed while the operation ran; tellWithin does.
func (s *Server) tellAction(ctx context.Context, c *Caller, t *tool, r *Request, a *Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
	defer cancel()
	data := api.AgentActionData{Tool: t.listed.Name, Method: t.op.Method, Path: r.Path, StatusCode: a.Status, At: api.Moment(c.Now.UnixMilli())}
	own, err := webhook.NewOwnFact("agent.action", c.Principal.Grants[0].Org, route.KeySubject(c.Principal.Key), c.Now, data)
	if err == nil {
		err = s.Facts.TellAlone(ctx, own)
	}
	if err != nil {
		s.Log.LogAttrs(ctx, slog.LevelError, "agent.action was not told", slog.String("tool", t.listed.Name), slog.Any("error", err))
	}
}

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

// Request is a tool call as a request to its operation. It has everything that an HTTP request has except
// credentials, which are those of the tool's caller.
type Request struct {
	Params         map[string]string // the path's parameters, percent-encoded
	Path           string            // with them
	Query          string            // the encoded query string; empty: none
	Body           []byte            // JSON; nil: none
	IdempotencyKey string
}

// Answer is the operation's answer to a Request.
type Answer struct {
	Status     int
	Body       []byte
	RetryAfter string // seconds until a repeat makes sense; empty: the answer does not say
	Replayed   bool   // the answer repeats that of an earlier request
}

// sayText returns a result that consists of a text. isError says that the call did not succeed, for the model.
func sayText(text string, isError bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: isError}
}

// invalidParams returns the protocol's error for a call that cannot be understood. The client handles this error;
// its model sees only results, also those with isError.
func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// callTool carries a tool out. A refusal of the operation is a result in words, and so are
// arguments that make no request: the model reads them and can mend its call.
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
	// From here the operation's own rate limit counts the message, even if the operation
	// refuses it.
	c.performed = true
	answer := c.Perform(t.op, request)
	if answer.Status >= http.StatusMultipleChoices {
		return sayText(answer.sayRefusal(), true), nil
	}
	// For a repeated answer, the public fact was made with the first answer.
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

// makeRequest makes a request from a tool's arguments. It ignores arguments that the tool does not have, because
// models invent some. If the arguments make no request, r is nil and wrong says why, for the model.
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

// makeBody makes a JSON object of the arguments that belong to the body. It sorts the members, so that the same
// arguments make the same bytes, because a repeat with an Idempotency-Key must have the same body.
func (t *tool) makeBody(args map[string]jsontext.Value) []byte {
	b := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !t.inBody[name] {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, name) // the document's names are UTF-8
		b = append(append(b, ':'), args[name]...)
	}
	return append(b, '}')
}

// textOf returns an argument in the form for a path or a query, in which commas separate the elements of a list. It
// returns "" for an argument that is null or missing. ok is false for an object and for a list within a list.
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

// sayRefusal returns a refusal as a text for the model: code, status, message, details, when to try again, and the
// request's id for support.
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

// tellWithin is how long a tool call waits at most until the public fact about it (agent.action) is stored.
const tellWithin = 5 * time.Second

// tellAction stores the public fact agent.action about a write, for the organization of the key that made it. The
// write has happened by then, so an error here is only logged. It does not use the call's deadline, which may have
// passed while the operation ran.
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

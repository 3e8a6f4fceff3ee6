package mcp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"boxoffice/edge/route"
)

// idempotencyKey is the argument that carries the header Idempotency-Key.
const idempotencyKey = "idempotencyKey"

// tool is an operation as agents see it.
type tool struct {
	op          *route.Op
	listed      sdk.Tool
	path, query []string        // the names of the arguments in the path and in the query
	inBody      map[string]bool // the arguments in the body; an argument may be both in the query and in the body
}

// mayCall reports whether the server would let the caller perform an operation, as far as its
// credentials alone decide that.
func mayCall(p *route.Principal, op *route.Op) bool {
	mayIn := func(g route.Grant) bool { return route.CheckGrant(op, g) == nil }
	switch {
	case route.RefuseAwayFromGates(op, p) != nil:
		return false
	case p.Kinds.Has(route.Key) && op.Auth.Has(route.Key): // a key needs the scopes even if the operation is also public
		return mayIn(p.Grants[0])
	case op.Auth.Has(route.Public):
		return true
	case p.Kinds.Has(route.Key):
		return false
	case op.Auth.Has(p.Kinds &^ route.Member):
		return true
	}
	return op.Auth.Has(p.Kinds) && slices.ContainsFunc(p.Grants, mayIn)
}

// document has the parts of the OpenAPI document from which tools are made.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Description string             `json:"description"`
	Parameters  []parameter        `json:"parameters"`
	RequestBody content            `json:"requestBody"`
	Responses   map[string]content `json:"responses"`
}

type parameter struct {
	Name        string         `json:"name"`
	In          string         `json:"in"`
	Required    bool           `json:"required"`
	Description string         `json:"description"`
	Schema      map[string]any `json:"schema"`
}

type content struct {
	Content map[string]struct {
		Schema map[string]any `json:"schema"`
	} `json:"content"`
}

// jsonSchema returns the schema of the content of type application/json, or nil if there is none.
func (c content) jsonSchema() map[string]any { return c.Content["application/json"].Schema }

// addTools adds a tool for each row that takes and answers JSON, except those that only payment providers
// call, to the server and to s.tools. A row that streams, takes a file or the raw body, or answers with
// bytes gets no tool. addTools fails if the OpenAPI document (s.Document) lacks an operation.
func (s *Server) addTools(server *sdk.Server) error {
	var d document
	if err := json.Unmarshal(s.Document, &d); err != nil {
		return err
	}
	s.tools = make(map[string]*tool, len(s.Ops))
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.Tier == route.TierProvider || op.Streams() || op.Handler.Types() != nil || op.Handler.TakesFile() || op.Handler.Raw != "" {
			continue
		}
		o, ok := d.Paths[op.Path][strings.ToLower(op.Method)]
		if !ok {
			return fmt.Errorf("the document has no %s", op.ID)
		}
		t, err := d.makeTool(op, &o)
		if err != nil {
			return fmt.Errorf("%s: %w", op.ID, err)
		}
		s.tools[t.listed.Name] = t
		server.AddTool(&t.listed, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.callTool(ctx, t, r.Params.Arguments)
		})
	}
	return nil
}

var wordBorder = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// toolName returns an operation's id in snake case.
func toolName(id string) string {
	return strings.ToLower(wordBorder.ReplaceAllString(id, "${1}_$2"))
}

// makeTool makes the tool of an operation: its name, the first sentence of its description, the hints for clients,
// and a shortened schema of its arguments.
func (d *document) makeTool(op *route.Op, o *operation) (*tool, error) {
	t := &tool{op: op, inBody: map[string]bool{}}
	input := map[string]any{"type": "object"}
	t.describeInput(d, o, input)
	t.listed = sdk.Tool{Name: toolName(op.ID), Description: firstSentence(o.Description), Annotations: annotateTool(op)}
	schema, err := json.Marshal(shortenSchema(d.selfContained(input), ""), route.Encoding) // the schema is made once, and not for each list of tools
	t.listed.InputSchema = jsontext.Value(schema)
	return t, err
}

// annotateTool returns the hints by which a client decides whether to ask its user before a call. A write is
// destructive if it spends money or tickets (Spends) or does not answer 201, the status of a write that only
// adds something.
func annotateTool(op *route.Op) *sdk.ToolAnnotations {
	return &sdk.ToolAnnotations{
		ReadOnlyHint:    !op.Writes(),
		DestructiveHint: new(op.Writes() && (op.Status != http.StatusCreated || op.Spends)),
		IdempotentHint:  op.Method != http.MethodPost || op.Idempotency == route.BySender,
		OpenWorldHint:   new(false),
	}
}

// describeInput writes the parameters of the path and the query and the members of the body into one
// schema, input, and notes in t where each argument belongs. It leaves out headers. An operation that knows
// its repeats by an Idempotency-Key gets an optional argument for the key instead.
func (t *tool) describeInput(d *document, o *operation, input map[string]any) {
	properties, required := map[string]any{}, []string{}
	for _, p := range o.Parameters {
		schema := maps.Clone(p.Schema)
		if p.Description != "" {
			schema["description"] = p.Description
		}
		switch p.In {
		case "path":
			t.path = append(t.path, p.Name)
		case "query":
			t.query = append(t.query, p.Name)
		default:
			continue // a header, which the server itself reads
		}
		properties[p.Name] = schema
		if p.Required {
			required = append(required, p.Name)
		}
	}
	body := d.resolveRef(o.RequestBody.jsonSchema())
	members, _ := body["properties"].(map[string]any)
	for name, schema := range members {
		properties[name], t.inBody[name] = schema, true
	}
	needed, _ := body["required"].([]any)
	for _, name := range needed {
		if name, ok := name.(string); ok && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	if op := t.op; op.Idempotency == route.Replay || op.Idempotency == route.ByActor {
		properties[idempotencyKey] = map[string]any{
			"type": "string", "format": "uuid", "description": "a new UUID for each write: a repeat of the call with the same one is carried out once",
		}
	}
	input["properties"] = properties
	if len(required) > 0 {
		slices.Sort(required)
		input["required"] = required
	}
}

// componentPath begins the references to schemas in the document. definitionPath begins those in a
// tool's schema, which has its own copies of what it refers to.
const (
	componentPath  = "#/components/schemas/"
	definitionPath = "#/$defs/"
)

// resolveRef returns the component that a schema refers to, or the schema itself if it refers to
// none.
func (d *document) resolveRef(schema map[string]any) map[string]any {
	ref, _ := schema["$ref"].(string)
	if named, ok := d.Components.Schemas[strings.TrimPrefix(ref, componentPath)].(map[string]any); ok {
		return named
	}
	return schema
}

// selfContained returns a copy of a schema. Its $defs has copies of all components that the schema refers to.
func (d *document) selfContained(schema map[string]any) map[string]any {
	definitions := map[string]any{}
	out, _ := d.copySchema(d.resolveRef(schema), definitions).(map[string]any)
	if len(definitions) > 0 {
		out["$defs"] = definitions
	}
	return out
}

// copySchema returns a copy of a part of a schema, in which every reference to a component of the document
// leads to $defs instead. It adds copies of these components, and of those that they refer to, to
// definitions, unless they are there already.
func (d *document) copySchema(part any, definitions map[string]any) any {
	switch part := part.(type) {
	case map[string]any:
		out := make(map[string]any, len(part))
		for key, v := range part {
			ref, ok := v.(string)
			name, ofComponent := strings.CutPrefix(ref, componentPath)
			if key != "$ref" || !ok || !ofComponent {
				out[key] = d.copySchema(v, definitions)
				continue
			}
			out[key] = definitionPath + name
			if _, known := definitions[name]; !known {
				definitions[name] = nil // this ends the recursion if the schema refers to itself
				definitions[name] = d.copySchema(d.Components.Schemas[name], definitions)
			}
		}
		return out
	case []any:
		out := make([]any, len(part))
		for i, v := range part {
			out[i] = d.copySchema(v, definitions)
		}
		return out
	}
	return part
}

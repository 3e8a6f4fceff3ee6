// Package openapi prints the OpenAPI 3.1 document of a route table: parameters,
// bodies, constraints and examples from the request types, answers from the
// answer types, refusals from the declared codes, and credentials, scopes and
// limits from the rows. It also brings the page on which people read the
// document and try the API (Page). The node prints the document once at
// start-up; a command prints it without a node. Nothing here runs on its own.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"boxoffice/edge/route"
	"boxoffice/edge/webhook"
)

// Info heads a document.
type Info struct {
	Title   string
	Version string
	BaseURL string // of the server; empty: none is named
	// Webhooks is what the service sends by itself.
	Webhooks []webhook.Type
}

// Document is the description of an API in both of its forms.
type Document struct{ JSON, YAML []byte }

// intro is what a reader should know before the operations.
//
//go:embed intro.md
var intro string

// Names of the security schemes.
const (
	schemeUser       = "accessToken"
	schemeKey        = "apiKey"
	schemeOrderToken = "orderToken"
)

// Print prints the table. The same table gives the same bytes.
func Print(ops []route.Op, info Info) (*Document, error) {
	p := newPrinter(ops, info)
	for i := range ops {
		if err := p.add(&ops[i]); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", ops[i].ID, err)
		}
	}
	if err := p.webhooks(info.Webhooks); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	p.tags(ops)
	if err := p.describeErrors(ops); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	doc, err := json.MarshalIndent(p.spec, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	text, err := yamlOf(doc)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return &Document{JSON: doc, YAML: text}, nil
}

// printer makes one document.
type printer struct {
	reflector *openapi31.Reflector
	spec      *openapi31.Spec
	shared    map[string]bool // the refusals that several operations have
}

func newPrinter(ops []route.Op, info Info) *printer {
	r := openapi31.NewReflector()
	r.InlineDefinition(jsontext.Value{})
	p := &printer{reflector: r, spec: r.SpecEns(), shared: sharedRefusals(ops)}
	r.DefaultOptions = append(r.DefaultOptions, p.schemaOptions()...)
	p.spec.Info.WithTitle(info.Title).WithVersion(info.Version).WithDescription(intro + limitsTable() + catalogue())
	if info.BaseURL != "" {
		p.spec.WithServers(openapi31.Server{URL: info.BaseURL})
	}
	p.spec.SetHTTPBearerTokenSecurity(schemeUser, "JWT",
		"A user's access token, of login, registration or the exchange of a code. Roles that an operation names are scopes that the user's role in the organization must include; `manage` is an owner's or an admin's, `admin` is an administrator's of the platform.")
	p.spec.SetHTTPBearerTokenSecurity(schemeKey, "vt_live_... or vt_test_...",
		"An organization's API key. Roles that an operation names are scopes that the key must have.")
	p.spec.SetAPIKeySecurity(schemeOrderToken, "token", openapi.InQuery,
		"The access token of one order, which its creation answers. Operations with a body take it there, too, as `token`.")
	p.components()
	return p
}

// add describes one operation.
func (p *printer) add(op *route.Op) error {
	oc, err := p.reflector.NewOperationContext(op.Method, op.Path)
	if err != nil {
		return err
	}
	oc.SetID(op.ID)
	oc.SetSummary(op.Summary)
	oc.SetDescription(describe(op))
	oc.SetTags(op.Tag)
	oc.AddReqStructure(reflect.New(op.Handler.In).Interface())
	oc.AddRespStructure(success(op), openapi.WithHTTPStatus(op.Status))
	if err := p.reflector.AddOperation(oc); err != nil {
		return err
	}
	o, err := p.spec.PathsEns().MapOfPathItemValues[op.Path].Operation(op.Method)
	if err != nil {
		return err
	}
	if err := p.body(op, o); err != nil {
		return err
	}
	parameters(op, o)
	p.answers(op, o)
	o.Security = security(op)
	extend(op, o)
	return nil
}

// kinds are the credentials, for programs and for people.
var kinds = []struct {
	kind       route.Auth
	name, text string
}{
	{route.Public, "public", "anybody"},
	{route.User, "user", "a signed-in user"},
	{route.Member, "member", "a member of the organization"},
	{route.Key, "apiKey", "the organization's API key"},
	{route.OrderToken, "orderToken", "whoever has the order's token"},
	{route.Admin, "admin", "an administrator of the platform"},
}

// describe says in words who may use an operation, and how often.
func describe(op *route.Op) string {
	var who []string
	for _, k := range kinds {
		if op.Auth.Has(k.kind) {
			who = append(who, k.text)
		}
	}
	text := "**For** " + strings.Join(who, ", ") + "."
	if op.Scope != 0 {
		text += "  \n**Scope:** `" + strings.Join(op.Scope.Names(), "`, `") + "`."
	}
	limit := route.Limits[op.Tier]
	return text + fmt.Sprintf("  \n**Limit:** %d a minute, counted per %s (tier `%s`).", limit.PerMinute, limit.CountedPer, op.Tier)
}

// success is a value of the envelope's type, nil for an operation without an
// answer.
func success(op *route.Op) any {
	if op.Status == 204 || op.Streams() {
		return nil
	}
	out := op.Handler.Out
	if out.Kind() == reflect.Pointer {
		out = out.Elem() // a handler that answers nothing has refused
	}
	envelope := reflect.StructOf([]reflect.StructField{{Name: "Data", Type: out, Tag: `json:"data"`}})
	return reflect.New(envelope).Interface()
}

// body says whether the body is needed, and gives an example of it. The
// reflector gives DELETE none.
func (p *printer) body(op *route.Op, o *openapi31.Operation) error {
	if !op.Handler.HasBody() {
		return nil
	}
	b := o.RequestBodyEns().RequestBodyEns()
	b.WithRequired(op.Handler.NeedsBody())
	if b.Content == nil {
		schema, err := p.schemaOf(op.Handler.In)
		if err != nil {
			return err
		}
		simple, err := schema.ToSchemaOrBool().ToSimpleMap()
		if err != nil {
			return err
		}
		b.WithContentItem(jsonType, openapi31.MediaType{Schema: simple})
	}
	example, err := exampleOf(op.Handler.In)
	if err != nil {
		return err
	}
	for name, content := range b.Content {
		b.Content[name] = *content.WithExample(example)
	}
	return nil
}

// parameters mends what the parameters have of their Go types, and adds the
// headers that the middle reads. An order's token is a credential and stands
// there.
func parameters(op *route.Op, o *openapi31.Operation) {
	o.Parameters = slices.DeleteFunc(o.Parameters, func(p openapi31.ParameterOrReference) bool {
		return op.Auth.Has(route.OrderToken) && p.Parameter.Name == "token" && p.Parameter.In == openapi31.ParameterInQuery
	})
	for _, p := range o.Parameters {
		plain(p.Parameter)
	}
	add := func(name string) {
		o.Parameters = append(o.Parameters, openapi31.ParameterOrReference{Reference: reference("parameters", name)})
	}
	switch op.Idempotency {
	case route.Replay:
		add(keyReplay)
	case route.ByActor:
		add(keyByActor)
	}
	if op.Tagged() {
		add(ifNoneMatch)
	}
}

// plain makes a parameter of what its type was reflected to: it cannot be null,
// its words stand once, and lists are comma-separated.
func plain(p *openapi31.Parameter) {
	if types, ok := p.Schema["type"].([]any); ok {
		types = slices.DeleteFunc(types, func(t any) bool { return t == "null" })
		if len(types) == 1 {
			p.Schema["type"] = types[0]
		}
	}
	delete(p.Schema, "description")
	delete(p.Schema, "examples")
	if p.Schema["type"] == "array" {
		p.WithStyle(openapi31.ParameterStyleForm).WithExplode(false)
	}
}

// security lists the alternatives; an empty one stands for no credentials.
func security(op *route.Op) []map[string][]string {
	var all []map[string][]string
	if op.Auth.Has(route.User | route.Member | route.Admin) {
		roles := []string{}
		switch {
		case op.Auth.Has(route.User): // whoever it is
		case op.Auth.Has(route.Member):
			roles = op.Scope.Names()
		default:
			roles = []string{"admin"}
		}
		all = append(all, map[string][]string{schemeUser: roles})
	}
	if op.Auth.Has(route.Key) {
		all = append(all, map[string][]string{schemeKey: op.Scope.Names()})
	}
	if op.Auth.Has(route.OrderToken) {
		all = append(all, map[string][]string{schemeOrderToken: {}})
	}
	if op.Auth.Has(route.Public) {
		all = append(all, map[string][]string{})
	}
	return all
}

// extend adds the row's words that OpenAPI has no place for.
func extend(op *route.Op, o *openapi31.Operation) {
	var names []string
	for _, k := range kinds {
		if op.Auth.Has(k.kind) {
			names = append(names, k.name)
		}
	}
	limit := route.Limits[op.Tier]
	o.WithMapOfAnythingItem("x-credentials", names)
	o.WithMapOfAnythingItem("x-rate-limit", map[string]any{
		"tier": string(op.Tier), "perMinute": limit.PerMinute, "countedPer": limit.CountedPer,
	})
	if op.Scope != 0 {
		o.WithMapOfAnythingItem("x-scopes", op.Scope.Names())
	}
	if op.Idempotency != "" {
		o.WithMapOfAnythingItem("x-idempotency", string(op.Idempotency))
	}
}

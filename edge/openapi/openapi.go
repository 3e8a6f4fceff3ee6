// Package openapi prints the OpenAPI 3.1 document of a route table. Parameters, bodies, constraints
// and examples come from the types of requests, answers from the types of answers, refusals from
// the declared codes, and credentials, scopes and limits from the rows. A node prints the document
// when somebody first asks for it. A command prints it without a node. Nothing here runs by itself.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"boxoffice/edge/route"
	"boxoffice/edge/webhook"
)

// Info has the title and the version of the API and what else the document says about the whole
// API.
type Info struct {
	Title   string
	Version string
	BaseURL string // the address of the server; if it is empty, the document names no server
	// Webhooks are the types of messages that the service sends by itself.
	Webhooks []webhook.Type
}

// Document is the description of an API, in JSON and in YAML.
type Document struct{ JSON, YAML []byte }

// intro is what a reader should know before the operations.
//
//go:embed intro.md
var intro string

// These are the names of the security schemes in the document.
const (
	schemeUser       = "accessToken"
	schemeKey        = "apiKey"
	schemeOrderToken = "orderToken"
	schemeLiveToken  = "liveToken"
)

// Print prints the document of a table. The same table always gives the same bytes, so that
// a change of the API shows in a diff of the document.
func Print(ops []route.Op, info Info) (*Document, error) {
	p := newPrinter(ops, info)
	for i := range ops {
		if err := p.add(&ops[i]); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", ops[i].ID, err)
		}
	}
	if err := p.describeWebhooks(info.Webhooks); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	// Groups and error codes come last, because the document describes only the groups, and has
	// examples only of the codes, that the operations use.
	p.listTags(ops)
	if err := p.describeErrors(ops); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	doc, err := json.MarshalIndent(p.spec, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	// YAML is made of the JSON text, so that both forms say the same in the same order.
	text, err := yamlOf(doc)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return &Document{JSON: doc, YAML: text}, nil
}

// printer makes one document. It is used once, by one goroutine.
type printer struct {
	reflector *openapi31.Reflector
	spec      *openapi31.Spec
	shared    map[string]bool // by name: true for the refusals that are components (sharedRefusals)
}

// newPrinter makes a printer whose document has its general part: title, introduction, tables, credentials, and
// what addComponents adds.
func newPrinter(ops []route.Op, info Info) *printer {
	r := openapi31.NewReflector()
	// Free-form JSON has no schema worth a name, so it is written in place.
	r.InlineDefinition(jsontext.Value{})
	p := &printer{reflector: r, spec: r.SpecEns(), shared: sharedRefusals(ops)}
	r.DefaultOptions = append(r.DefaultOptions, p.schemaOptions()...)
	contact := openapi31.Contact{Name: &info.Title} // the contact is the operator of this deployment
	if info.BaseURL != "" {
		p.spec.WithServers(openapi31.Server{URL: info.BaseURL})
		contact.WithURL(info.BaseURL)
	}
	p.spec.Info.WithTitle(info.Title).WithVersion(info.Version).WithContact(contact).WithDescription(intro + limitsTable() + errorTable())
	p.spec.SetHTTPBearerTokenSecurity(schemeUser, "JWT",
		"A user's access token, of login, registration or the exchange of a code. The user's role in the organization must include the scopes that an operation names as `x-scopes`; `manage` is an owner's or an admin's. An operation whose `x-credentials` are `admin` is for administrators of the platform.")
	p.spec.SetHTTPBearerTokenSecurity(schemeKey, "vt_live_... or vt_test_...",
		"An organization's API key. It must have the scopes that an operation names as `x-scopes`.")
	p.spec.SetAPIKeySecurity(schemeOrderToken, "token", openapi.InQuery,
		"The access token of one order, which its creation answers. Operations with a body take it there, too, as `token`.")
	p.spec.SetAPIKeySecurity(schemeLiveToken, "token", openapi.InQuery,
		"A token that opens one stream of one event, once, for readers that send no headers.")
	p.addComponents()
	return p
}

// add adds one operation to the document. The reflector writes most of it from the Go types. The
// steps after AddOperation correct and complete the reflector's result by what it cannot know.
func (p *printer) add(op *route.Op) error {
	oc, err := p.reflector.NewOperationContext(op.Method, op.Path)
	if err != nil {
		return err
	}
	oc.SetID(op.ID)
	oc.SetSummary(op.Summary)
	oc.SetDescription(describeOperation(op))
	oc.SetTags(op.Tag)
	oc.AddReqStructure(reflect.New(op.Handler.In).Interface())
	oc.AddRespStructure(successType(op), openapi.WithHTTPStatus(op.Status))
	if err := p.reflector.AddOperation(oc); err != nil {
		return err
	}
	o, err := p.spec.PathsEns().MapOfPathItemValues[op.Path].Operation(op.Method)
	if err != nil {
		return err
	}
	if err := p.describeBody(op, o); err != nil {
		return err
	}
	mendParameters(op, o)
	p.addAnswers(op, o)
	setSecurity(o, listSecurity(op))
	addExtensions(op, o)
	return nil
}

// kinds are the credentials that a row may ask for, with their names for programs
// (x-credentials) and for people.
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
	{route.LiveToken, "liveToken", "whoever has a token for the stream"},
}

// describeOperation returns the description of an operation, followed by who may call it,
// the scopes that it needs, whether it refuses unknown parameters, and its rate limit.
func describeOperation(op *route.Op) string {
	var who []string
	for _, k := range kinds {
		if op.Auth.Has(k.kind) {
			who = append(who, k.text)
		}
	}
	text := "**For** " + strings.Join(who, ", ") + "."
	if op.Description != "" {
		text = op.Description + "\n\n" + text
	}
	if op.Scope != 0 {
		text += "  \n**Scope:** `" + strings.Join(op.Scope.Names(), "`, `") + "`."
	}
	if op.RefusesUnknown() {
		text += "  \n**Parameters** that are not listed here are refused."
	}
	limit := route.Limits[op.Tier]
	return text + fmt.Sprintf("  \n**Limit:** %d a minute, counted per %s (tier `%s`).", limit.PerMinute, limit.CountedPer, op.Tier)
}

// successType returns a value of the type of a success in the API's envelope, {"data":
// ...}. It returns nil for an operation without a JSON answer. The envelope has no Go type
// of its own, so it is composed here.
func successType(op *route.Op) any {
	if op.Status == 204 || op.Streams() || op.Handler.Types() != nil {
		return nil
	}
	out := op.Handler.Out
	if out.Kind() == reflect.Pointer {
		out = out.Elem() // a success is never a nil pointer
	}
	envelope := reflect.StructOf([]reflect.StructField{{Name: "Data", Type: out, Tag: `json:"data"`}})
	return reflect.New(envelope).Interface()
}

// describeBody notes if an operation needs a body, and adds an example of it. A body that
// somebody else defines, such as a payment provider's, has no schema. The reflector leaves
// out the body of DELETE, so that one is added here.
func (p *printer) describeBody(op *route.Op, o *openapi31.Operation) error {
	if op.Handler.Raw != "" {
		anything := map[string]any{"description": "As its sender defines it."}
		example := any(map[string]any{})
		o.RequestBodyEns().RequestBodyEns().WithRequired(true).WithContentItem(op.Handler.Raw, openapi31.MediaType{Schema: anything, Example: &example})
		return nil
	}
	if op.Handler.TakesFile() {
		describeForm(op, o)
		return nil
	}
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

// describeForm describes the multipart body of an operation that takes a file. The
// reflector knows no such bodies. The text fields beside the file are those with a part
// tag.
func describeForm(op *route.Op, o *openapi31.Operation) {
	properties := map[string]any{"file": map[string]any{"type": "string", "format": "binary", "description": "The file, with its name and its type."}}
	for f := range op.Handler.In.Fields() {
		name, ok := f.Tag.Lookup("part")
		if !ok {
			continue
		}
		field := map[string]any{"type": "string"}
		for _, key := range []string{"description", "default"} {
			if text, ok := f.Tag.Lookup(key); ok {
				field[key] = text
			}
		}
		if text, ok := f.Tag.Lookup("enum"); ok {
			field["enum"] = strings.Split(text, ",")
		}
		if n, err := strconv.Atoi(f.Tag.Get("maxLength")); err == nil {
			field["maxLength"] = n
		}
		properties[name] = field
	}
	o.RequestBodyEns().RequestBodyEns().WithRequired(true).WithContentItem("multipart/form-data", openapi31.MediaType{
		Schema: map[string]any{"type": "object", "required": []string{"file"}, "properties": properties},
	})
}

// mendParameters mends what the reflector made of the parameters' Go types. It adds the headers that no Go type of
// an operation declares: Idempotency-Key and If-None-Match, where the operation takes them. It removes a token in
// the query, because the document lists that token among the credentials, and fills in missing descriptions of
// parameters in the path.
func mendParameters(op *route.Op, o *openapi31.Operation) {
	o.Parameters = slices.DeleteFunc(o.Parameters, func(p openapi31.ParameterOrReference) bool {
		return op.Auth.Has(route.QueryToken) && p.Parameter.Name == "token" && p.Parameter.In == openapi31.ParameterInQuery
	})
	for _, p := range o.Parameters {
		makePlain(p.Parameter)
		if p.Parameter.Description == nil && p.Parameter.In == openapi31.ParameterInPath {
			p.Parameter.Description = whatItNames(op.Path, p.Parameter.Name)
		}
	}
	add := func(name string) {
		o.Parameters = append(o.Parameters, openapi31.ParameterOrReference{Reference: reference("parameters", name)})
	}
	switch op.Idempotency { //nolint:exhaustive // the others read no key
	case route.Replay:
		add(keyReplay)
	case route.ByActor:
		add(keyByActor)
	}
	if op.Tagged() {
		add(ifNoneMatch)
	}
}

// makePlain removes from a parameter's schema what does not belong there: null as a value, and a
// description and examples beside the parameter's own. It declares lists as one value separated by
// commas, which is how the server reads them.
func makePlain(p *openapi31.Parameter) {
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

// listSecurity returns the alternative credentials of an operation. An empty map among them means
// that the operation can also be called without credentials. An empty list means that it takes no
// credentials at all. The alternatives name no scopes, because linters accept scopes for OAuth
// only; the document has them as x-scopes.
func listSecurity(op *route.Op) []map[string][]string {
	var all []map[string][]string
	for _, s := range []struct {
		auth   route.Auth
		scheme string
	}{
		{route.User | route.Member | route.Admin, schemeUser},
		{route.Key, schemeKey},
		{route.LiveToken, schemeLiveToken},
		{route.OrderToken, schemeOrderToken},
	} {
		if op.Auth.Has(s.auth) {
			all = append(all, map[string][]string{s.scheme: {}})
		}
	}
	if op.Auth.Has(route.Public) && len(all) > 0 {
		all = append(all, map[string][]string{})
	}
	return all
}

// setSecurity sets an operation's credentials. An empty list is written as an extension, because
// the type's encoder would leave it out, and then the default of the whole document would apply.
func setSecurity(o *openapi31.Operation, all []map[string][]string) {
	o.Security = all
	if len(all) == 0 {
		o.WithMapOfAnythingItem("security", []any{})
	}
}

// addExtensions adds what OpenAPI has no place for as members that begin with x-: credentials, rate
// limit, scopes and idempotency.
func addExtensions(op *route.Op, o *openapi31.Operation) {
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

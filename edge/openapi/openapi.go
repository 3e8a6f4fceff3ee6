// Package openapi prints the OpenAPI 3.1 document of a route table: parameters,
// bodies and constraints from the request types, answers from the answer types,
// refusals from the declared codes. The node prints it once at start-up; a
// command may print it without a node. It holds no state.
package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// Info heads a document.
type Info struct {
	Title       string
	Version     string
	Description string
	BaseURL     string // of the server; empty: none is named
}

// Names of the security schemes.
const (
	schemeOrganizer  = "organizer"
	schemeOrderToken = "orderToken"
)

// idempotency is the header that operations which honour it add to their
// parameters.
type idempotency struct {
	Key string `header:"Idempotency-Key" format:"uuid" description:"A repeat with the same key and body within 24 hours gets the first answer."`
}

// failure is the error envelope.
type failure struct {
	Error struct {
		Code    string `json:"code" required:"true" example:"NOT_FOUND"`
		Message string `json:"message" required:"true"`
		Details any    `json:"details" required:"true" description:"null when there are none; VALIDATION_ERROR: { issues: [{ path, code, message }] }"`
	} `json:"error" required:"true"`
	Meta struct {
		RequestID string `json:"request_id" required:"true" description:"also the header X-Request-Id"`
	} `json:"meta" required:"true"`
}

// Document prints the table as JSON.
func Document(ops []route.Op, info Info) ([]byte, error) {
	r := openapi31.NewReflector()
	r.InlineDefinition(jsontext.Value{})
	r.DefaultOptions = append(r.DefaultOptions, schemaOptions(r)...)
	spec := r.SpecEns()
	spec.Info.WithTitle(info.Title).WithVersion(info.Version).WithDescription(info.Description)
	if info.BaseURL != "" {
		spec.WithServers(openapi31.Server{URL: info.BaseURL})
	}
	spec.SetHTTPBearerTokenSecurity(schemeOrganizer, "JWT", "An organizer's access token.")
	spec.SetAPIKeySecurity(schemeOrderToken, "token", openapi.InQuery, "The access token of one order.")
	for i := range ops {
		if err := add(r, &ops[i]); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", ops[i].ID, err)
		}
	}
	doc, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return doc, nil
}

// add describes one operation.
func add(r *openapi31.Reflector, op *route.Op) error {
	oc, err := r.NewOperationContext(op.Method, op.Path)
	if err != nil {
		return err
	}
	oc.SetID(op.ID)
	oc.SetSummary(op.Summary)
	oc.SetTags(op.Tag)
	oc.AddReqStructure(reflect.New(op.Handler.In).Interface(), openapi.WithCustomize(func(body openapi.ContentOrReference) {
		if b, ok := body.(*openapi31.RequestBodyOrReference); ok {
			b.RequestBodyEns().WithRequired(op.Handler.NeedsBody())
		}
	}))
	if op.Idempotent {
		oc.AddReqStructure(new(idempotency))
	}
	oc.AddRespStructure(success(op), openapi.WithHTTPStatus(op.Status))
	for _, status := range statuses(op) {
		oc.AddRespStructure(new(failure), openapi.WithHTTPStatus(status.http), func(cu *openapi.ContentUnit) { cu.Description = status.text })
	}
	exposer, ok := oc.(openapi31.OperationExposer)
	if !ok {
		return fmt.Errorf("%T does not show its operation", oc)
	}
	o := exposer.Operation()
	o.WithMapOfAnythingItem("x-rate-tier", string(op.Tier))
	o.Security = security(op.Auth)
	if err := r.AddOperation(oc); err != nil {
		return err
	}
	for _, p := range o.Parameters {
		plainParameter(p.Parameter)
	}
	return nil
}

// success is a value of the envelope's type, nil for an operation without an
// answer.
func success(op *route.Op) any {
	if op.Status == 204 {
		return nil
	}
	envelope := reflect.StructOf([]reflect.StructField{{Name: "Data", Type: op.Handler.Out, Tag: `json:"data" required:"true"`}})
	return reflect.New(envelope).Interface()
}

// refusal is the document of one status: its codes and what they mean.
type refusal struct {
	http int
	text string
}

func statuses(op *route.Op) []refusal {
	byStatus := map[int][]string{}
	for _, code := range op.AllErrors() {
		def := engine.CodeTable[code]
		byStatus[def.Status] = append(byStatus[def.Status], fmt.Sprintf("%s: %s", code, def.Sentence))
	}
	var all []refusal
	for status, lines := range byStatus {
		sort.Strings(lines)
		all = append(all, refusal{status, strings.Join(lines, "\n")})
	}
	slices.SortFunc(all, func(a, b refusal) int { return a.http - b.http })
	return all
}

// security lists the alternatives; an empty one stands for no credentials.
func security(a route.Auth) []map[string][]string {
	var all []map[string][]string
	if a.Has(route.Organizer) {
		all = append(all, map[string][]string{schemeOrganizer: {}})
	}
	if a.Has(route.OrderToken) {
		all = append(all, map[string][]string{schemeOrderToken: {}})
	}
	if a.Has(route.Public) {
		all = append(all, map[string][]string{})
	}
	return all
}

// plainParameter mends what a parameter inherits from its Go type: it cannot be
// null, and lists are comma-separated.
func plainParameter(p *openapi31.Parameter) {
	types, ok := p.Schema["type"].([]any)
	if ok {
		types = slices.DeleteFunc(types, func(t any) bool { return t == "null" })
		if len(types) == 1 {
			p.Schema["type"] = types[0]
		}
	}
	if p.Schema["type"] == "array" {
		p.WithStyle(openapi31.ParameterStyleForm).WithExplode(false)
	}
}

var (
	moneyType = reflect.TypeFor[route.Money]()
	freeType  = reflect.TypeFor[jsontext.Value]()
)

// schemaOptions teach the reflector the types and rules of package route.
func schemaOptions(r *openapi31.Reflector) []func(*jsonschema.ReflectContext) {
	return []func(*jsonschema.ReflectContext){
		jsonschema.InterceptDefName(func(_ reflect.Type, name string) string {
			return strings.TrimPrefix(strings.TrimPrefix(name, "Api"), "Openapi")
		}),
		jsonschema.InterceptSchema(func(p jsonschema.InterceptSchemaParams) (bool, error) {
			if p.Processed || !p.Value.IsValid() {
				return false, nil
			}
			return special(r, p)
		}),
		jsonschema.InterceptNullability(func(p jsonschema.InterceptNullabilityParams) {
			if p.Type.Kind() == reflect.Slice && p.NullAdded {
				p.Schema.RemoveType(jsonschema.Null)
			}
		}),
		jsonschema.InterceptProp(func(p jsonschema.InterceptPropParams) error {
			if !p.Processed {
				return nil
			}
			if p.PropertySchema.Items != nil {
				toElements(p.PropertySchema)
			}
			if p.Field.Tag.Get("format") == "object" { // of free-form JSON
				p.PropertySchema.Format = nil
				p.PropertySchema.AddType(jsonschema.Object)
			}
			return nil
		}),
	}
}

// optional is the inner type of an Opt, else nil.
func optional(t reflect.Type) reflect.Type {
	if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		return o.Inner()
	}
	return nil
}

// special writes the schema of Money (a number in requests, a decimal string in
// answers), of free-form JSON, and of an Opt (its value, or null).
func special(r *openapi31.Reflector, p jsonschema.InterceptSchemaParams) (done bool, err error) {
	t := p.Value.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == freeType {
		return true, nil // anything
	}
	if t == moneyType {
		oc, ok := openapi.OperationCtx(p.Context)
		if ok && oc.IsProcessingResponse() {
			p.Schema.AddType(jsonschema.String)
			p.Schema.WithPattern(`^-?\d+\.\d\d$`)
		} else {
			p.Schema.AddType(jsonschema.Number)
			p.Schema.WithMultipleOf(0.01)
		}
		return true, nil
	}
	inner := optional(t)
	if inner == nil {
		return false, nil
	}
	schema, err := r.Reflect(reflect.New(inner).Elem().Interface(), jsonschema.InlineRefs)
	if err != nil {
		return false, err
	}
	*p.Schema = schema
	p.Schema.AddType(jsonschema.Null)
	return true, nil
}

// toElements moves the constraints that a slice's field carries for its
// elements to them.
func toElements(s *jsonschema.Schema) {
	item := s.Items.SchemaOrBool
	if item == nil || item.TypeObject == nil {
		return
	}
	e := *item.TypeObject
	if s.MinLength != 0 {
		e.MinLength, s.MinLength = s.MinLength, 0
	}
	if s.MaxLength != nil {
		e.MaxLength, s.MaxLength = s.MaxLength, nil
	}
	if s.Minimum != nil {
		e.Minimum, s.Minimum = s.Minimum, nil
	}
	if s.Maximum != nil {
		e.Maximum, s.Maximum = s.Maximum, nil
	}
	if s.Format != nil {
		e.Format, s.Format = s.Format, nil
	}
	if len(s.Enum) > 0 {
		e.Enum, s.Enum = s.Enum, nil
	}
	s.Items = (&jsonschema.Items{}).WithSchemaOrBool(e.ToSchemaOrBool())
}

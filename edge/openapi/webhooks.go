package openapi

import (
	"fmt"
	"net/http"
	"reflect"

	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"boxoffice/edge/api"
	"boxoffice/edge/webhook"
)

// hookHeaders are the headers of a webhook (docs/webhooks.md). Each of them becomes a parameter in
// the document's components, to which every webhook type refers.
var hookHeaders = []struct{ name, text string }{
	{"X-Service-Signature", "t=<unix seconds>,v1=<hex>: the HMAC-SHA256 under the endpoint's secret of <t>.<the body as it came>. Compare in constant time, and refuse a t that is more than 300 seconds off."},
	{"X-Service-Event", "The type."},
	{"X-Service-Delivery", "Names the delivery, in the endpoint's history too."},
	{"X-Service-Attempt", "1, 2, 3 ... of the delivery."},
}

// describeWebhooks adds to the document the request that the service sends for each type of the
// catalogue.
func (p *printer) describeWebhooks(types []webhook.Type) error {
	for _, h := range hookHeaders {
		p.spec.ComponentsEns().WithParametersItem(h.name, openapi31.Parameter{
			Name: h.name, In: openapi31.ParameterInHeader, Description: &h.text, Schema: map[string]any{"type": "string"},
		}.ToParameterOrRef())
	}
	for i := range types {
		if err := p.describeWebhook(&types[i]); err != nil {
			return fmt.Errorf("%s: %w", types[i].Name, err)
		}
	}
	return nil
}

// describeWebhook adds one type to the document's webhooks: a POST with the general body of a fact, narrowed
// to this type's name and data, with our headers and the answers that we expect. If nothing makes facts of
// the type, the description says so.
func (p *printer) describeWebhook(t *webhook.Type) error {
	data, err := p.dataOf(t)
	if err != nil {
		return err
	}
	body, err := p.answerOf(reflect.TypeFor[api.Fact]())
	if err != nil {
		return err
	}
	schema := map[string]any{
		"allOf": []any{
			body,
			map[string]any{"properties": map[string]any{"type": map[string]any{"const": t.Name}, "data": data}},
		},
	}
	text := t.Description
	if !t.Active() {
		text += " Nothing fires it yet."
	}
	o := openapi31.Operation{}
	o.WithID("webhook." + t.Name).WithTags("Webhooks").WithSummary(t.Name).WithDescription(text)
	// The service sends this request, so it carries none of the document's credentials.
	setSecurity(&o, nil)
	for _, h := range hookHeaders {
		o.Parameters = append(o.Parameters, openapi31.ParameterOrReference{Reference: reference("parameters", h.name)})
	}
	o.RequestBodyEns().RequestBodyEns().WithRequired(true).WithContentItem(jsonType, openapi31.MediaType{Schema: schema})
	o.ResponsesEns().WithMapOfResponseOrReferenceValuesItem("2XX", openapi31.ResponseOrReference{
		Response: (&openapi31.Response{}).WithDescription("Taken. Any other answer, and none within 10 seconds, is tried again; 410 disables the endpoint."),
	})
	return p.spec.AddWebhook(http.MethodPost, t.Name, o)
}

// dataOf returns the schema of a type's data. For a type that nothing fires yet, only the
// names of the members are known.
func (p *printer) dataOf(t *webhook.Type) (map[string]any, error) {
	if t.Data != nil {
		return p.answerOf(reflect.TypeOf(t.Data))
	}
	members := map[string]any{}
	for _, key := range t.Keys {
		members[key] = map[string]any{"description": "Not settled yet, for nothing fires this type."}
	}
	return map[string]any{"type": "object", "required": t.Keys, "properties": members}, nil
}

// answerOf returns the schema of a type in an answer. The named types inside it become components.
func (p *printer) answerOf(t reflect.Type) (map[string]any, error) {
	oc, err := p.reflector.NewOperationContext(http.MethodPost, "/")
	if err != nil {
		return nil, err
	}
	schema, err := p.reflector.Reflect(reflect.New(t).Elem().Interface(), jsonschema.RootRef,
		jsonschema.DefinitionsPrefix("#/components/schemas/"), jsonschema.CollectDefinitions(p.define),
		openapi.WithOperationCtx(oc, true, openapi.InBody))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	return schema.ToSchemaOrBool().ToSimpleMap()
}

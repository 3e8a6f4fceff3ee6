package openapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/openapi"
	"boxoffice/edge/webhook"
)

// sentence is the end of one.
var sentence = regexp.MustCompile(`[.!?](\s|$)`)

// TestProse holds the document to what its reader needs: two sentences of each operation,
// one of each parameter and of each member of a request, an answer or a webhook.
func TestProse(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Print(new(edge.Areas).Routes(), openapi.Info{Title: "Boxoffice", Version: "1.2.3", Webhooks: webhook.Catalogue})
	require.NoError(t, err)
	p := prose{}
	require.NoError(t, json.Unmarshal(doc.JSON, &p.document))
	lacking := p.lacksInPayloads()
	for path, item := range at(p.document, "paths") {
		for method, operation := range object(item) {
			lacking = append(lacking, p.lacks(strings.ToUpper(method)+" "+path, object(operation))...)
		}
	}
	slices.Sort(lacking)
	require.Empty(t, slices.Compact(lacking))
}

// prose looks for what has none in a document.
type prose struct{ document map[string]any }

// lacks lists an operation if it has less than two sentences, its parameters, and the
// members of its request and of its success.
func (p *prose) lacks(name string, o map[string]any) []string {
	var found []string
	words, _, _ := strings.Cut(fmt.Sprint(o["description"]), "**For**")
	if len(sentence.FindAllString(words, -1)) < 2 {
		found = append(found, name)
	}
	parameters, _ := o["parameters"].([]any)
	for _, one := range parameters {
		if parameter := object(one); parameter["$ref"] == nil && parameter["description"] == nil {
			found = append(found, fmt.Sprint(name, " ", parameter["name"]))
		}
	}
	for _, content := range at(o, "requestBody", "content") {
		found = append(found, p.members(object(content)["schema"], name+" body", nil)...)
	}
	for status, answer := range at(o, "responses") {
		for _, content := range at(object(answer), "content") {
			data, wrapped := at(object(content), "schema", "properties")["data"]
			if status[0] == '2' && wrapped {
				found = append(found, p.members(data, name+" answer", nil)...)
			}
		}
	}
	return found
}

// lacksInPayloads lists the members of what webhooks tell, beside those of the envelope.
func (p *prose) lacksInPayloads() []string {
	var found []string
	for name, item := range at(p.document, "webhooks") {
		schema := at(object(item), "post", "requestBody", "content", "application/json", "schema")
		parts, _ := schema["allOf"].([]any)
		for _, part := range parts {
			found = append(found, p.members(at(object(part), "properties")["data"], name, nil)...)
		}
	}
	return found
}

// members lists those of a schema, and of what it refers to, that nothing is said of.
func (p *prose) members(schema any, where string, seen []string) []string {
	s := object(schema)
	if len(s) == 0 {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		if slices.Contains(seen, ref) {
			return nil
		}
		where = ref[strings.LastIndexByte(ref, '/')+1:]
		return p.members(at(p.document, "components", "schemas")[where], where, append(seen, ref))
	}
	var found []string
	for name, property := range at(s, "properties") {
		if object(property)["description"] == nil {
			found = append(found, where+"."+name)
		}
		found = append(found, p.members(property, where+"."+name, seen)...)
	}
	found = append(found, p.members(s["items"], where, seen)...)
	alternatives, _ := s["anyOf"].([]any)
	for _, one := range alternatives {
		found = append(found, p.members(one, where, seen)...)
	}
	return found
}

// object is a JSON object, empty if it is none.
func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// at is the object at a path of members.
func at(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		o = object(o[name])
	}
	return o
}

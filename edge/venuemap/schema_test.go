package venuemap_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	swaggest "github.com/swaggest/jsonschema-go"

	"boxoffice/edge/venuemap"
)

var rewrite = flag.Bool("rewrite", false, "write today's schema instead of comparing it")

var schemaFile = filepath.Join("..", "..", "docs", "venue-map.schema.json")

// printed is the schema of a document: that of the structs, and the forms of a
// row, which tags cannot say.
func printed(t testing.TB) []byte {
	t.Helper()
	var r swaggest.Reflector
	schema, err := r.Reflect(venuemap.Document{},
		swaggest.InterceptDefName(func(t reflect.Type, _ string) string { return t.Name() }),
		swaggest.InterceptNullability(func(n swaggest.InterceptNullabilityParams) {
			if n.NullAdded {
				n.Schema.RemoveType(swaggest.Null)
			}
		}),
		swaggest.InterceptProp(func(f swaggest.InterceptPropParams) error {
			s := f.PropertySchema
			if !f.Processed {
				return nil
			}
			s.Examples, s.Format = nil, nil                                   // the only format, name, says how we read a text
			if s.Items != nil && s.Items.SchemaOrBool.TypeObject.Ref == nil { // a slice's tags are its elements'
				items := s.Items.SchemaOrBool.TypeObject
				items.Minimum, items.Maximum, s.Minimum, s.Maximum = s.Minimum, s.Maximum, nil, nil
			}
			return nil
		}))
	require.NoError(t, err)
	schema.WithSchema("https://json-schema.org/draft/2020-12/schema")
	schema.WithTitle("Venue map")
	row := schema.Definitions["Row"].TypeObject
	for _, form := range [][]string{{"seats"}, {"from", "to", "count"}, {"center", "radius", "angles", "count"}} {
		row.OneOf = append(row.OneOf, (&swaggest.Schema{Required: form}).ToSchemaOrBool())
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	require.NoError(t, err)
	return append(text, '\n')
}

func TestSchema(t *testing.T) {
	t.Parallel()
	text := printed(t)
	if *rewrite {
		require.NoError(t, os.WriteFile(schemaFile, text, 0o600))
	}
	golden, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	require.Equal(t, string(golden), string(text), "see -rewrite")
}

// The page's example is a map, and its block a row.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "venue-maps.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, blocks, 2)
	d, err := venuemap.Parse(blocks[0][1])
	require.NoError(t, err)
	require.Equal(t, 79, expand(t, d).Len())
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(blocks[0][1], &v))
	require.NoError(t, schema.Validate(v))
	var block row
	require.NoError(t, json.Unmarshal(blocks[1][1], &block))
	require.Contains(t, venuemap.Stadium().Sections[5].Rows, block)
}

// The schema takes what the samples are, and refuses what the tags refuse.
func TestSchemaValidates(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	require.NoError(t, err)
	read := func(sample string) map[string]any {
		text, err := venuemap.Samples[sample]().Text()
		require.NoError(t, err)
		var v map[string]any
		require.NoError(t, json.Unmarshal(text, &v))
		return v
	}
	for name := range venuemap.Samples {
		require.NoError(t, schema.Validate(read(name)), name)
	}
	for name, spoil := range map[string]func(doc, section, row map[string]any){
		"no name":        func(doc, _, _ map[string]any) { delete(doc, "name") },
		"no canvas":      func(doc, _, _ map[string]any) { delete(doc, "canvas") },
		"focus":          func(doc, _, _ map[string]any) { doc["focus"] = []any{1} },
		"focus of text":  func(doc, _, _ map[string]any) { doc["focus"] = []any{"1", 2} },
		"element":        func(doc, _, _ map[string]any) { doc["elements"] = []any{map[string]any{"type": "cloud"}} },
		"section's id":   func(_, section, _ map[string]any) { section["id"] = "a b" },
		"section's name": func(_, section, _ map[string]any) { section["name"] = "" },
		"rows":           func(_, section, _ map[string]any) { section["rows"] = []any{} },
		"label":          func(_, _, row map[string]any) { row["label"] = "12345678901" },
		"no form":        func(_, _, row map[string]any) { delete(row, "radius") },
		"two forms":      func(_, _, row map[string]any) { row["seats"] = []any{} },
		"count":          func(_, _, row map[string]any) { row["count"] = 1001 },
		"numbering":      func(_, _, row map[string]any) { row["numbering"] = "random" },
		"position":       func(_, _, row map[string]any) { row["wheelchair"] = []any{0} },
		"angle":          func(_, _, row map[string]any) { row["angles"] = []any{0, 721} },
	} {
		doc := read("theatre")
		section := doc["sections"].([]any)[0].(map[string]any)
		spoil(doc, section, section["rows"].([]any)[0].(map[string]any))
		require.Error(t, schema.Validate(doc), name)
	}
}

package openapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

var (
	// These types have schemas or names of their own: money, free-form JSON and the types of the
	// package api.
	moneyType = reflect.TypeFor[route.Money]()
	freeType  = reflect.TypeFor[jsontext.Value]()
	apiPath   = reflect.TypeFor[api.Page]().PkgPath()
)

// schemaOptions returns the options that teach the reflector the types and rules of the package
// route: names of types, types with a schema of their own (writeSpecial), that lists are never
// null, and what the tags of a field mean (mendField).
func (p *printer) schemaOptions() []func(*jsonschema.ReflectContext) {
	return []func(*jsonschema.ReflectContext){
		jsonschema.InterceptDefName(nameOf),
		jsonschema.InterceptSchema(func(s jsonschema.InterceptSchemaParams) (bool, error) {
			if s.Processed || !s.Value.IsValid() {
				return false, nil
			}
			return p.writeSpecial(s)
		}),
		// The reflector lets every list be null, but our answers write an empty list for
		// none.
		jsonschema.InterceptNullability(func(n jsonschema.InterceptNullabilityParams) {
			if n.Type.Kind() == reflect.Slice && n.NullAdded {
				n.Schema.RemoveType(jsonschema.Null)
			}
		}),
		jsonschema.InterceptProp(func(f jsonschema.InterceptPropParams) error {
			if f.Processed {
				mendField(f)
			}
			return nil
		}),
	}
}

// nameOf returns the name of a type in the document. For a type of the package api that is
// its Go name, or CardList for List[Card]; the name of any other type stays as the
// reflector makes it.
func nameOf(t reflect.Type, name string) string {
	if t.PkgPath() != apiPath {
		return name
	}
	list, element, ok := strings.Cut(t.Name(), "[")
	if !ok {
		return t.Name()
	}
	return strings.TrimSuffix(element[strings.LastIndexByte(element, '.')+1:], "]") + list
}

// innerOfOpt returns the type inside an Opt, or nil for any other type.
func innerOfOpt(t reflect.Type) reflect.Type {
	if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		return o.Inner()
	}
	return nil
}

// isOfAnswer reports whether the schema is for an answer. Requests and answers follow
// different rules: money is a number in one and a string in the other, and answers always
// have all members that are not left out when empty.
func isOfAnswer(c *jsonschema.ReflectContext) bool {
	oc, ok := openapi.OperationCtx(c)
	return ok && oc.IsProcessingResponse()
}

// writeSpecial writes the schemas of three types that the reflector does not know: Money, which is
// a number in requests and a decimal string in answers; free-form JSON; and an Opt, which is its
// value or null. For every other type it does nothing and returns false. done tells the reflector not to
// write the schema itself.
func (p *printer) writeSpecial(s jsonschema.InterceptSchemaParams) (done bool, err error) {
	t := s.Value.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	inner := innerOfOpt(t)
	if inner != nil {
		t = inner
	}
	switch {
	case t == freeType:
		return true, nil // an empty schema allows any value
	case t == moneyType && isOfAnswer(s.Context):
		s.Schema.AddType(jsonschema.String)
		s.Schema.WithPattern(`^-?\d+(\.\d{2,3})?$`)
	case t == moneyType:
		s.Schema.AddType(jsonschema.Number)
		s.Schema.WithMultipleOf(0.001)
		s.Schema.Format = nil // the reflector has set the format int64, after the Go type
	case inner == nil:
		return false, nil
	default:
		schema, err := p.schemaOf(inner)
		if err != nil {
			return false, err
		}
		*s.Schema = schema
	}
	if inner != nil {
		orNull(s.Schema)
	}
	return true, nil
}

// schemaOf returns the schema of a type in a request. The named types inside it become
// components of the document.
func (p *printer) schemaOf(t reflect.Type) (jsonschema.Schema, error) {
	return p.reflector.Reflect(reflect.New(t).Elem().Interface(), jsonschema.RootRef,
		jsonschema.DefinitionsPrefix("#/components/schemas/"), jsonschema.CollectDefinitions(p.define))
}

// define adds a schema to the components, unless the name is there already.
func (p *printer) define(name string, schema jsonschema.Schema) {
	c := p.spec.ComponentsEns()
	if _, ok := c.Schemas[name]; ok {
		return
	}
	simple, err := schema.ToSchemaOrBool().ToSimpleMap()
	if err != nil {
		panic("openapi: " + err.Error()) // a schema that came from the reflector can always be turned into a map
	}
	c.WithSchemasItem(name, simple)
}

// orNull lets a schema also allow null. A reference cannot have a type beside it, so it becomes one
// of two alternatives, and its description moves to the schema that has the alternatives.
func orNull(s *jsonschema.Schema) {
	if s.Ref == nil {
		s.AddType(jsonschema.Null)
		return
	}
	some := *s
	some.Description = nil
	*s = jsonschema.Schema{Description: s.Description, AnyOf: []jsonschema.SchemaOrBool{some.ToSchemaOrBool(), jsonschema.Null.ToSchemaOrBool()}}
}

// patterns are regular expressions for formats that JSON Schema does not know, or knows in
// a wider sense than the package route.
var patterns = map[string]string{
	"uri": "^https?://", "origin": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+/?$", "hosted": "^(https?://.*|/media/[1-9][0-9]*)?$", "country": "^[A-Za-z]{2}$", "id": "^[A-Za-z0-9_.-]+$",
	"locale": "^[A-Za-z]{2,8}(-[0-9A-Za-z]{1,8})*$", "currency": "^[A-Z]{3}$", "color": "^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$",
}

// mendField corrects the schema of a field, so that it says what the package route demands of the field by
// its tags: whether it may be null, a pattern for a format that JSON Schema does not know, constraints that
// are about the elements of a list, a time that may be a date too, and what free-form JSON may be. In answers
// it also makes every member required that is not left out when empty.
func mendField(f jsonschema.InterceptPropParams) {
	s, tag := f.PropertySchema, f.Field.Tag
	_, options, _ := strings.Cut(tag.Get("json"), ",")
	left := strings.Contains(options, "omitzero") || strings.Contains(options, "omitempty")
	pointer := f.Field.Type.Kind() == reflect.Pointer
	// Answers always have every member that is not left out when empty, so such members are
	// required.
	if isOfAnswer(f.Context) {
		if !left && !slices.Contains(f.ParentSchema.Required, f.Name) {
			f.ParentSchema.Required = append(f.ParentSchema.Required, f.Name)
		}
		if pointer && left {
			s.RemoveType(jsonschema.Null)
		}
		if pointer && !left && s.Ref != nil {
			orNull(s)
		}
	}
	if innerOfOpt(f.Field.Type) != nil && tag.Get("nullable") == "false" && len(s.AnyOf) == 2 {
		*s = *s.AnyOf[0].TypeObject
	}
	if s.Format != nil && *s.Format == "raw" {
		s.WithExtraPropertiesItem("x-any-text", true) // the server refuses NUL in all texts of other formats
	}
	if s.Format != nil && (*s.Format == "name" || *s.Format == "raw") {
		s.Format = nil // these formats tell only the server how to read a text
	}
	if s.Items != nil {
		toElements(s)
	} else if s.Format != nil && patterns[*s.Format] != "" && s.Pattern == nil {
		s.WithPattern(patterns[*s.Format])
	}
	if tag.Get("dateOnly") != "" {
		s.Type, s.Format = nil, nil
		for _, format := range []string{"date-time", "date"} {
			s.AnyOf = append(s.AnyOf, (&jsonschema.Schema{}).WithType(jsonschema.String.Type()).WithFormat(format).ToSchemaOrBool())
		}
	}
	if f.Field.Type == freeType || innerOfOpt(f.Field.Type) == freeType {
		mendFree(s, tag, innerOfOpt(f.Field.Type) != nil || tag.Get("nullable") == "true")
	}
	if len(s.Enum) > 0 && s.HasType(jsonschema.Null) {
		s.Enum = append(s.Enum, nil)
	}
}

// mendFree writes the schema of free-form JSON, which is an object (format object or links) or any
// value. Its maxLength counts bytes, which JSON Schema cannot express, so it becomes x-max-bytes.
func mendFree(s *jsonschema.Schema, tag reflect.StructTag, nullable bool) {
	s.Type, s.Format = nil, nil
	if format := tag.Get("format"); format == "object" || format == "links" {
		s.AddType(jsonschema.Object)
		if format == "links" {
			address := (&jsonschema.Schema{}).WithType(jsonschema.String.Type()).WithPattern(patterns["uri"]).WithMaxLength(2048)
			s.WithAdditionalProperties(address.ToSchemaOrBool())
			s.WithExtraPropertiesItem("maxProperties", 20)
			s.WithExtraPropertiesItem("propertyNames", map[string]any{"minLength": 1, "maxLength": 40})
		}
		if nullable {
			s.AddType(jsonschema.Null)
		}
	}
	if s.MaxLength != nil {
		s.WithExtraPropertiesItem("x-max-bytes", *s.MaxLength)
		s.MaxLength = nil
	}
}

// toElements moves constraints from a list to its elements. The tags of a list's field are
// about the elements, but the reflector writes them into the list.
func toElements(s *jsonschema.Schema) {
	item := s.Items.SchemaOrBool
	if item == nil || item.TypeObject == nil {
		return
	}
	// The schema of the element may be shared with other fields, so a copy of it is
	// changed.
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
		if pattern := patterns[*e.Format]; pattern != "" {
			e.WithPattern(pattern)
		}
	}
	if len(s.Enum) > 0 {
		e.Enum, s.Enum = s.Enum, nil
	}
	s.Items = (&jsonschema.Items{}).WithSchemaOrBool(e.ToSchemaOrBool())
}

package mcp

import (
	"slices"
	"strings"
)

// Many clients read only the first page of the list of tools and give all of it to their model,
// which then has little room for anything else. So the list is brief: it has one sentence for each
// tool, and schemas without bounds, without the types of answers, and without descriptions that are
// longer than maxDescription. The resource openapi.json has everything that is left out, and a refusal
// names the field and its bound.
const maxDescription = 10 // the most bytes of an argument's description

// leftOut are the members of a schema that shortenSchema drops.
var leftOut = map[string]bool{
	"examples": true, "default": true, "minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "uniqueItems": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "pattern": true, "additionalProperties": true,
}

// usual are arguments that many tools have. The instructions explain them once, so their
// descriptions are dropped.
var usual = map[string]bool{"idempotencyKey": true, "orgId": true, "cursor": true, "limit": true}

// shortenSchema returns a brief copy of the schema of the argument that is called name. It also drops null from
// types, because some models' interfaces accept only a single type. So a model learns only from openapi.json that it
// may send null to clear a field; null is still accepted.
func shortenSchema(schema map[string]any, name string) map[string]any {
	out := make(map[string]any, len(schema))
	for key, v := range schema {
		switch {
		case leftOut[key], key == "format" && !isTelling(v):
		case key == "description":
			if text, _ := v.(string); !usual[name] && len(firstSentence(text)) <= maxDescription {
				out[key] = firstSentence(text)
			}
		case key == "type":
			out[key] = withoutNull(v)
		case key == "properties" || key == "$defs":
			named, _ := v.(map[string]any)
			short := make(map[string]any, len(named))
			for name, one := range named {
				short[name] = shortenPart(one, name)
			}
			out[key] = short
		case key == "anyOf" || key == "oneOf":
			some, _ := v.([]any)
			some = slices.DeleteFunc(slices.Clone(some), func(one any) bool {
				s, ok := one.(map[string]any)
				return ok && s["type"] == "null"
			})
			out[key] = shortenPart(some, name)
		case key == "enum":
			values, _ := v.([]any)
			out[key] = slices.DeleteFunc(slices.Clone(values), func(one any) bool { return one == nil })
		default:
			out[key] = shortenPart(v, name)
		}
	}
	return out
}

// isTelling reports whether a format tells a model how to write a value. All others, such as the format of an
// id, are dropped, because a refusal explains them.
func isTelling(format any) bool {
	return format == "date-time" || format == "date" || format == "email" || format == "uri"
}

// shortenPart makes all schemas in a part of a schema brief. Parts that are neither an
// object nor a list stay as they are.
func shortenPart(part any, name string) any {
	switch part := part.(type) {
	case map[string]any:
		return shortenSchema(part, name)
	case []any:
		out := make([]any, len(part))
		for i, v := range part {
			out[i] = shortenPart(v, name)
		}
		return out
	}
	return part
}

// withoutNull returns the first type of a list that is not null, or types itself if it is no list.
// Our schemas have no lists of types but a type and null.
func withoutNull(types any) any {
	if several, ok := types.([]any); ok {
		for _, one := range several {
			if one != "null" {
				return one
			}
		}
	}
	return types
}

// firstSentence returns a text up to the end of its first sentence. A colon or a semicolon
// ends it too, because what follows one is a detail.
func firstSentence(text string) string {
	for i, c := range text {
		if strings.ContainsRune(".;:", c) && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n') {
			return text[:i] + "."
		}
	}
	return text
}

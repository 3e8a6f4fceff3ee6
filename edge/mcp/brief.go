package mcp

import (
	"slices"
	"strings"
)

// Many clients read the first page of tools alone and give all of it to their model, which
// then has no room for anything else. So the list is brief: a sentence for each tool, and
// schemas without bounds, without the types of answers, and without descriptions that are
// longer than maxWords. Everything that is left out stands in the resource openapi.json,
// and a refusal names the field and its bound.
const maxWords = 10 // bytes of an argument's description

// leftOut are the members of a schema that a brief one does without.
var leftOut = map[string]bool{
	"examples": true, "default": true, "minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "uniqueItems": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true, "pattern": true, "additionalProperties": true,
}

// usual are arguments that many tools have; the instructions say once what they mean.
var usual = map[string]bool{"idempotencyKey": true, "orgId": true, "cursor": true, "limit": true}

// shortenSchema returns a brief copy of the schema of an argument with a name. It also
// leaves null out of types, which some models' interfaces don't take as one of several: an
// argument that may be null may be left out as well.
func shortenSchema(schema map[string]any, name string) map[string]any {
	out := make(map[string]any, len(schema))
	for key, v := range schema {
		switch {
		case leftOut[key], key == "format" && !isTelling(v):
		case key == "description":
			if text, _ := v.(string); !usual[name] && len(firstSentence(text)) <= maxWords {
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

// isTelling reports whether a format tells a model how to write a value. Those of JSON
// Schema do. Our own, such as the format of an id, stay out of the list: a refusal says the
// same.
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

// withoutNull is the type of a value that is not null. The rows have no other lists of types.
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

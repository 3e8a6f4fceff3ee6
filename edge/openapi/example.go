package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// exampleOf returns a body that a request of the type may have. The body has the required
// members and those with an example tag. The value of a member is its example, which may be
// JSON, or else its default, its first allowed value, or something plain in its format.
func exampleOf(t reflect.Type) (object, error) {
	var all object
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		// The members of an embedded struct stand beside the type's own.
		if f.Anonymous && name == "" {
			inner, err := exampleOf(f.Type)
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
			continue
		}
		_, shown := f.Tag.Lookup("example")
		if name == "" || !shown && f.Tag.Get("required") != "true" {
			continue
		}
		value, err := valueOf(f.Type, f.Tag)
		if err != nil {
			return nil, fmt.Errorf("example of %s: %w", name, err)
		}
		all = append(all, member{name, value})
	}
	return all, nil
}

// valueOf returns an example value of one field. The example of a text or a time is the tag
// itself; of any other type it is JSON, and a tag that is not JSON is an error, so that printing the document fails.
func valueOf(t reflect.Type, tag reflect.StructTag) (any, error) {
	if inner := innerOfOpt(t); inner != nil {
		t = inner
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text, given := tag.Lookup("example")
	switch {
	case given && t.Kind() != reflect.String && t != timeType:
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%s is not JSON", text)
		}
		return json.RawMessage(text), nil
	case given:
		return text, nil
	case t == timeType:
		return "2031-06-20T19:00:00Z", nil
	// The tags of a list's field are about its elements.
	case t.Kind() == reflect.Slice:
		element, err := valueOf(t.Elem(), tag)
		return []any{element}, err
	case t.Kind() == reflect.Struct:
		return exampleOf(t)
	}
	return plainValue(t, tag), nil
}

var timeType = reflect.TypeFor[time.Time]()

// formatExamples has a valid value for each of those formats of a text, in the package route, that
// "text" does not fit. A text of any other format gets the example "text".
var formatExamples = map[string]string{
	"email": "ada@example.org", "uuid": "0197b6c1-4a00-7000-8000-000000000007", "uri": "https://example.org", "origin": "https://example.org", "hosted": "https://example.org",
	"date-time": "2031-06-20T19:00:00Z", "date": "2031-06-20", "timezone": "Africa/Lagos", "country": "NG", "currency": "NGN", "locale": "en-NG",
	"color": "#1b4332",
}

// plainValue returns a simple value of a scalar: its default, or else its first allowed value, or else a value
// of its format or type. Without a default and allowed values, money is 25.00, and any other number is its
// minimum, or 1 if it has none.
func plainValue(t reflect.Type, tag reflect.StructTag) any {
	text := tag.Get("default")
	if text == "" {
		text, _, _ = strings.Cut(tag.Get("enum"), ",")
	}
	if text == "" && t.Kind() == reflect.String {
		text = formatExamples[tag.Get("format")]
	}
	switch {
	case t.Kind() == reflect.String && text == "":
		return "text"
	case t.Kind() == reflect.String:
		return text
	case text != "":
		return json.RawMessage(text)
	case t.Kind() == reflect.Bool:
		return false
	case t == moneyType:
		return json.RawMessage("25.00")
	}
	if least := tag.Get("minimum"); least != "" {
		return json.RawMessage(least)
	}
	return 1
}

// object is a JSON object whose members keep their order, because people read examples from top to
// bottom.
type object []member

// member is one name with its value.
type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		b = append(strconv.AppendQuote(b, m.name), ':')
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

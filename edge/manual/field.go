package manual

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// field is a member of a body, or a parameter, in the form in which a page shows it.
type field struct {
	Name, Type         string
	Required, Nullable bool
	Text               template.HTML
	Bounds             []string
	// Choices has the values that the field may have, or nil if the schema lists none.
	Choices []string
	Default string
	// Fields has the members of a field that is an object or a list of objects.
	Fields []field
	// Above is set if the schema contains itself, so that the members are already shown further up
	// and Fields is empty.
	Above bool
}

// listMembers returns the members of an object: the required ones first, and otherwise those of its parts
// (allOf) before its own, which are sorted by name. above has the names of the schemas that contain this one,
// so that a schema which contains itself does not go on without end.
func (d *describer) listMembers(s *schema, above []string) []field {
	s, name := d.resolve(s)
	if name != "" {
		above = append(slices.Clip(above), name)
	}
	var all []field
	for _, part := range s.AllOf {
		for _, f := range d.listMembers(part, above) {
			all = slices.DeleteFunc(all, func(old field) bool { return old.Name == f.Name }) // if two parts have the same member, the later one is more specific
			all = append(all, f)
		}
	}
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, d.describeField(member, s.Properties[member], slices.Contains(s.Required, member), above))
	}
	slices.SortStableFunc(all, func(a, b field) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return all
}

// describeField describes one member of an object. For a list, it adds the bounds of the elements
// to the bounds of the list, and the fields are the members of the elements.
func (d *describer) describeField(name string, s *schema, required bool, above []string) field {
	if s == nil {
		s = &schema{}
	}
	f := field{Name: name, Required: required, Text: renderLine(s.Description)}
	said := s
	if len(s.AnyOf) > 0 {
		s = d.joinAlternatives(&f, s)
	}
	s, named := d.resolve(s)
	if f.Text == "" {
		f.Text = renderLine(s.Description)
	}
	f.Type = d.typeOf(&f, s)
	f.Bounds = append(f.Bounds, d.listBounds(s)...)
	if v := said.Default; v != nil {
		f.Default = fmt.Sprint(v)
	}
	f.Choices = textsOf(s.Enum)
	inner := s
	if s.Items != nil {
		var of string
		inner, of = d.resolve(s.Items)
		named = of
		for _, bound := range d.listBounds(inner) {
			f.Bounds = append(f.Bounds, d.words.Each+" "+bound)
		}
	}
	// A schema that contains itself is described once; inside, the page only refers to it.
	if named != "" && slices.Contains(above, named) {
		f.Above = true
		return f
	}
	if named != "" {
		above = append(slices.Clip(above), named)
	}
	if len(inner.Properties) > 0 || len(inner.AllOf) > 0 {
		f.Fields = d.listMembers(inner, above)
	}
	return f
}

// joinAlternatives makes one schema of a schema with alternatives. It notes in f whether null is an
// alternative, and returns the last of the other alternatives. If several alternatives have
// formats, that one gets all of them.
func (d *describer) joinAlternatives(f *field, s *schema) *schema {
	one := &schema{}
	var formats []string
	for _, a := range s.AnyOf {
		if slices.Equal(a.Type, typeNames{"null"}) {
			f.Nullable = true
			continue
		}
		one = a
		if a.Format != "" {
			formats = append(formats, a.Format)
		}
	}
	if len(formats) < 2 {
		return one
	}
	joined := *one
	joined.Format = strings.Join(formats, " / ")
	return &joined
}

// typeOf returns the JSON name of a schema's type, with its format (but not the one of ids) or the type of its
// elements or values. A schema without a type has "object" if it has members, "string" if it lists values
// or allows only one, and otherwise the word for anything. typeOf notes in f whether null is allowed.
func (d *describer) typeOf(f *field, s *schema) string {
	var names []string
	for _, t := range s.Type {
		if t == "null" {
			f.Nullable = true
		} else {
			names = append(names, t)
		}
	}
	kind := strings.Join(names, " / ")
	switch {
	case kind == "array" && s.Items != nil:
		inner, _ := d.resolve(s.Items)
		var none field
		return fmt.Sprintf(d.words.ListOf, d.typeOf(&none, inner))
	case kind == "" && len(s.Properties)+len(s.AllOf) > 0:
		return "object"
	case kind == "" && s.Const == nil && s.Enum == nil:
		return d.words.Anything
	case kind == "":
		return "string"
	case kind == "string" && s.Format != "" && s.Format != "id":
		return kind + ", " + s.Format
	case kind == "object" && len(s.AdditionalProperties) > 0 && s.AdditionalProperties[0] == '{':
		var values schema
		if json.Unmarshal(s.AdditionalProperties, &values) == nil {
			inner, _ := d.resolve(&values)
			var none field
			return fmt.Sprintf(d.words.MapOf, d.typeOf(&none, inner))
		}
	}
	return kind
}

// listBounds describes in words what a schema demands of a value: how many characters, elements, members or
// bytes it has, its range and steps, the values that are allowed, and a pattern. It returns no entry for what
// the schema leaves open.
func (d *describer) listBounds(s *schema) []string {
	w, all := d.words, []string{}
	between := func(least, most *int, what string) {
		switch {
		case least != nil && most != nil && *least == *most:
			all = append(all, fmt.Sprintf("%d %s", *most, what))
		case least != nil && most != nil:
			all = append(all, fmt.Sprintf("%d – %d %s", *least, *most, what))
		case most != nil:
			all = append(all, fmt.Sprintf("≤ %d %s", *most, what))
		case least != nil:
			all = append(all, fmt.Sprintf("≥ %d %s", *least, what))
		}
	}
	between(s.MinLength, s.MaxLength, w.Characters)
	between(s.MinItems, s.MaxItems, w.Items)
	between(nil, s.MaxProperties, w.Members)
	between(nil, s.MaxBytes, "bytes")
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		all = append(all, s.Minimum.String()+" – "+s.Maximum.String())
	case s.Minimum != nil:
		all = append(all, "≥ "+s.Minimum.String())
	case s.Maximum != nil:
		all = append(all, "≤ "+s.Maximum.String())
	}
	if s.MultipleOf != nil {
		all = append(all, fmt.Sprintf(w.MultipleOf, s.MultipleOf.String()))
	}
	if s.Const != nil {
		all = append(all, fmt.Sprint(s.Const))
	}
	if len(s.Enum) > 0 {
		all = append(all, w.OneOf+" "+strings.Join(textsOf(s.Enum), ", "))
	}
	// We leave out a pattern that belongs to a format, and the one of ids, because they tell a
	// reader nothing.
	if s.Pattern != "" && s.Format == "" && !strings.HasPrefix(s.Pattern, "^[A-Za-z0-9_.-]+$") {
		all = append(all, s.Pattern)
	}
	return all
}

// textsOf returns values as people write them. It leaves out null, which the page shows in
// its own way (field.Nullable).
func textsOf(values []any) []string {
	var all []string
	for _, v := range values {
		if v != nil {
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

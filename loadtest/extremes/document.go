package extremes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// document contains the parts of an OpenAPI document that are used.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]*parameter
	}
}

// operation has the parts of an operation of the document that are used.
type operation struct {
	OperationID string `json:"operationId"`
	Parameters  []*parameter
	RequestBody *struct {
		Content map[string]struct{ Schema *schema }
	} `json:"requestBody"`
}

// parameter is a parameter of an operation, or a reference to a shared one.
type parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Required bool
	Schema   *schema
}

// schema contains the parts of a JSON schema that are used. Numbers stay text, because their bounds
// are compared with values that a float64 can't distinguish.
type schema struct {
	Ref        string `json:"$ref"`
	Type       types
	Format     string
	MinLength  int
	MaxLength  *int
	Minimum    *json.Number
	Maximum    *json.Number
	MinItems   int
	MaxItems   *int
	Enum       []any
	Items      *schema
	Properties map[string]*schema
	Required   []string
	AnyOf      []*schema
	MaxBytes   *int `json:"x-max-bytes"`
	AnyText    bool `json:"x-any-text"` // the text may have NUL
}

// types is a schema's type, which may be one word or a list.
type types []string

// UnmarshalJSON reads both forms.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// methods are the methods of operations, in the order of listing.
var methods = []string{"get", "post", "put", "patch", "delete"}

// Read reads an OpenAPI document in JSON.
func Read(text []byte) (*API, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	a := &API{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range methods {
			raw, ok := d.Paths[path][method]
			if !ok {
				continue
			}
			var o operation
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("read %s %s of the OpenAPI document: %w", method, path, err)
			}
			a.Operations = append(a.Operations, d.readOperation(strings.ToUpper(method), path, &o))
		}
	}
	return a, nil
}

// readOperation makes the list of an operation's fields: its parameters, then the whole body as one field with an
// empty name, then every member of the body.
func (d *document) readOperation(method, path string, o *operation) *Operation {
	op := &Operation{ID: o.OperationID, Method: method, Path: path}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[lastName(p.Ref)]
		}
		// A cookie is the browser's and not a field that a client fills in.
		if p != nil && p.In != "cookie" {
			op.Fields = append(op.Fields, &Field{In: p.In, Name: p.Name, rule: d.resolveSchema(p.Schema), must: p.Required})
		}
	}
	if o.RequestBody == nil {
		return op
	}
	op.HasBody = true
	content, isJSON := o.RequestBody.Content["application/json"]
	_, isForm := o.RequestBody.Content["application/x-www-form-urlencoded"]
	body := d.resolveSchema(content.Schema)
	if isForm || isJSON && body.Type == nil {
		return op // its sender defines the body, so no text is wrong
	}
	op.Fields = append(op.Fields, &Field{In: InBody, rule: body})
	d.listMembers(op, body, "", nil)
	return op
}

// deepest bounds how deep a body is followed. A schema that contains itself would have no end.
const deepest = 8

// listMembers lists the fields of an object, including those inside them. Of a list, the first element stands for
// all of them. Members are listed in the order of their names, so that the cases are the same in every run.
func (d *document) listMembers(op *Operation, s *schema, name string, steps []string) {
	if len(steps) > deepest {
		return
	}
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		rule := d.resolveSchema(s.Properties[member])
		f := &Field{
			In: InBody, Name: strings.TrimPrefix(name+"."+member, "."), steps: append(slices.Clone(steps), member),
			rule: rule, must: slices.Contains(s.Required, member),
		}
		op.Fields = append(op.Fields, f)
		d.listMembers(op, rule, f.Name, f.steps)
		if rule.Items == nil {
			continue
		}
		element := &Field{In: InBody, Name: f.Name + "[]", steps: append(slices.Clone(f.steps), "[]"), rule: d.resolveSchema(rule.Items)}
		op.Fields = append(op.Fields, element)
		d.listMembers(op, element.rule, element.Name, element.steps)
	}
}

// resolveSchema follows references. If a schema has alternatives, for null or for another form of the same value,
// the result has the bounds of the first alternative and the types of all. Their formats are joined, if the first
// one has a format.
func (d *document) resolveSchema(s *schema) *schema {
	switch {
	case s == nil:
		return &schema{}
	case s.Ref != "":
		return d.resolveSchema(d.Components.Schemas[lastName(s.Ref)])
	case len(s.AnyOf) == 0:
		return s
	}
	found := *d.resolveSchema(s.AnyOf[0])
	for _, other := range s.AnyOf[1:] {
		found.Type = append(slices.Clone(found.Type), d.resolveSchema(other).Type...)
		if found.Format != "" && d.resolveSchema(other).Format != "" {
			found.Format += " or " + d.resolveSchema(other).Format
		}
	}
	return &found
}

// lastName returns the name at the end of a reference.
func lastName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

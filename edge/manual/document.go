package manual

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// These are the parts of an OpenAPI document that the pages show. Decoding ignores everything else
// in the document.
type (
	document struct {
		Info       struct{ Description string }
		Tags       []struct{ Name string }
		Paths      map[string]map[string]*documentedOp
		Webhooks   map[string]map[string]*documentedOp
		Components struct {
			Schemas    map[string]*schema
			Responses  map[string]*answer
			Parameters map[string]*parameter
		}
		Codes map[string]code `json:"x-error-codes"`
	}
	documentedOp struct {
		Method, Path string `json:"-"`
		OperationID  string
		Tags         []string
		Summary      string
		Description  string
		Parameters   []parameter
		RequestBody  *struct {
			Required bool
			Content  map[string]content
		}
		Responses   map[string]*answer
		Credentials []string `json:"x-credentials"`
		Scopes      []string `json:"x-scopes"`
		Limit       *struct {
			PerMinute  int
			CountedPer string
		} `json:"x-rate-limit"`
	}
	parameter struct {
		Ref                   string `json:"$ref"`
		Name, In, Description string
		Required              bool
		Schema                *schema
	}
	content struct {
		Schema  *schema
		Example json.RawMessage
	}
	answer struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]content
		Codes       []string `json:"x-error-codes"`
	}
	code struct {
		Message   string
		Retryable bool
	}
	schema struct {
		Ref                  string `json:"$ref"`
		Type                 typeNames
		Format, Description  string
		Properties           map[string]*schema
		Required             []string
		Items                *schema
		AnyOf, AllOf         []*schema
		AdditionalProperties json.RawMessage
		Enum                 []any
		Const, Default       any
		Examples             []any
		Minimum, Maximum     *json.Number
		MultipleOf           *json.Number
		MinLength, MaxLength *int
		MinItems, MaxItems   *int
		MaxProperties        *int
		MaxBytes             *int `json:"x-max-bytes"`
		Pattern              string
	}
)

// typeNames are the types of a schema. JSON Schema writes several types as a list and a single one
// as a string.
type typeNames []string

// UnmarshalJSON reads one name or a list of names as a list.
func (t *typeNames) UnmarshalJSON(b []byte) error {
	var all []string
	if len(b) > 0 && b[0] == '"' {
		all = make([]string, 1)
		if err := json.Unmarshal(b, &all[0]); err != nil {
			return fmt.Errorf("type: %w", err)
		}
	} else if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("types: %w", err)
	}
	*t = all
	return nil
}

// reference is the document with its operations grouped by area, and sorted by path within an area.
// It is made once and never changes afterwards, so all pages share it.
type reference struct {
	document
	description string
	areas       []area
	// operations has the operations and webhooks by their ids.
	operations map[string]*documentedOp
}

// area is a group of operations in the list beside each page.
type area struct {
	Name    string
	Entries []entry
}

// Has reports whether an operation belongs to the area. The page opens the group of the operation
// that it shows.
func (a area) Has(id string) bool {
	return slices.ContainsFunc(a.Entries, func(e entry) bool { return e.ID == id })
}

// entry is one operation in the list.
type entry struct{ ID, Method, Path, Summary string }

// methods are the HTTP methods in the order in which the operations of one path are listed.
var methods = []string{"get", "post", "put", "patch", "delete"}

// readReference reads the document. It groups the operations by their first tags, in the order of
// the document's tags, and sorts them by path and method. The types of webhooks form the last
// group, because they have no path.
func readReference(text []byte) (*reference, error) {
	r := &reference{operations: map[string]*documentedOp{}}
	if err := json.Unmarshal(text, &r.document); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	r.description = r.Info.Description
	entries := map[string][]entry{}
	for _, path := range slices.Sorted(maps.Keys(r.Paths)) {
		for _, method := range methods {
			if op := r.Paths[path][method]; op != nil {
				op.Method, op.Path = strings.ToUpper(method), path
				r.operations[op.OperationID] = op
				entries[op.Tags[0]] = append(entries[op.Tags[0]], entry{op.OperationID, op.Method, path, op.Summary})
			}
		}
	}
	for _, tag := range r.Tags {
		r.areas = append(r.areas, area{tag.Name, entries[tag.Name]})
	}
	var sent []entry
	for _, name := range slices.Sorted(maps.Keys(r.Webhooks)) {
		op := r.Webhooks[name]["post"]
		r.operations[op.OperationID] = op
		sent = append(sent, entry{ID: op.OperationID, Summary: name})
	}
	if len(sent) > 0 {
		r.areas = append(r.areas, area{"Webhook types", sent})
	}
	return r, nil
}

// resolve follows the references of a schema to their end. It returns the schema found there and
// the name of the last reference. A schema that is missing becomes an empty one.
func (r *reference) resolve(s *schema) (found *schema, name string) {
	for s != nil && s.Ref != "" {
		name = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		s = r.Components.Schemas[name]
	}
	return cmp.Or(s, &schema{}), name
}

// resolveAnswer returns the answer that a refers to, or a itself if it is no reference or the
// document lacks the component.
func (r *reference) resolveAnswer(a *answer) *answer {
	if name, ok := strings.CutPrefix(a.Ref, "#/components/responses/"); ok {
		return cmp.Or(r.Components.Responses[name], a)
	}
	return a
}

// resolveParameter returns the parameter that p refers to, or p itself if it is no reference or the
// document lacks the component.
func (r *reference) resolveParameter(p *parameter) *parameter {
	if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
		return cmp.Or(r.Components.Parameters[name], p)
	}
	return p
}

// Package extremes derives, from an OpenAPI document alone, the values that a
// service is most likely to stumble over: for every field of every operation
// the least and the greatest that it may be, one beyond each, wrong types, null,
// empty, huge numbers, instants at the edges of the calendar with every offset,
// and text that breaks decoders, databases, pages and mails.
//
// Read makes the list, and a Case turns a valid request into an extreme one.
// The package sends nothing and is pure: the same document gives the same cases
// in the same order. The property test of the route table and the load scenario
// "poison" share it.
package extremes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// API is what a document says about its operations.
type API struct {
	Operations []*Operation
}

// Operation is one method of one path.
type Operation struct {
	// The path still has its parameters in braces. HasBody is also true of a body whose fields are not listed.
	ID, Method, Path string
	Fields           []*Field
	HasBody          bool
}

// These are the places of a field.
const (
	InPath   = "path"
	InQuery  = "query"
	InHeader = "header"
	InBody   = "body"
)

// Field is one value that a client sends.
type Field struct {
	In    string
	Name  string   // the name of a parameter, or the path into the body: items[].quantity; "" is the whole body
	steps []string // the path into the body, "[]" for the first element
	rule  *schema
	must  bool // it can't be left out
}

// Value is one thing that may be sent as a field's value.
type Value struct {
	Name string // as people see it
	Raw  string // in a body JSON, or what should be JSON; else the text of a parameter
	// Refused says that the document does not allow the value, so that a 4xx is the only correct
	// answer. Other values may be accepted or not.
	Refused bool
}

// Case is one field of one operation with one of its values.
type Case struct {
	Operation *Operation
	Field     *Field
	Value     Value
}

// String names the case for people.
func (c *Case) String() string {
	return fmt.Sprintf("%s %s %s: %s", c.Operation.ID, c.Field.In, c.Field.Name, c.Value.Name)
}

// Request is what is sent to an operation. Cases change copies of a valid one.
type Request struct {
	Params map[string]string // the values of the path's parameters
	Query  url.Values
	Header map[string]string
	Body   string // "" for none
}

// Target returns the address of the request below the service's root. A value of the path is escaped whole, so that
// a slash in it does not make another path.
func (r *Request) Target(op *Operation) string {
	path := op.Path
	for name, value := range r.Params {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if len(r.Query) > 0 {
		path += "?" + r.Query.Encode()
	}
	return path
}

// Apply returns the request as the case changes it. The maps are copied before they are changed, because all cases
// share one valid request.
func (c *Case) Apply(r Request) Request {
	f, v := c.Field, c.Value.Raw
	switch f.In {
	case InPath:
		r.Params = maps.Clone(r.Params)
		r.Params[f.Name] = v
	case InQuery:
		query := url.Values{}
		maps.Copy(query, r.Query)
		query[f.Name] = []string{v}
		r.Query = query
	case InHeader:
		header := map[string]string{}
		maps.Copy(header, r.Header)
		header[f.Name] = v
		r.Header = header
	default:
		r.Body = putValue(r.Body, f.steps, v)
	}
	return r
}

// putValue writes a value, which need not be JSON, into a body at the end of a path. The body is therefore put
// together as text: an encoder would refuse the value. Objects and lists on the path that the body lacks are made
// on the way.
func putValue(body string, steps []string, value string) string {
	if len(steps) == 0 {
		return value
	}
	if steps[0] == "[]" {
		var list []json.RawMessage
		if json.Unmarshal([]byte(body), &list) != nil || len(list) == 0 {
			list = []json.RawMessage{[]byte("{}")}
		}
		parts := []string{putValue(string(list[0]), steps[1:], value)}
		for _, rest := range list[1:] {
			parts = append(parts, string(rest))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	members := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(body), &members) != nil || members == nil {
		members = map[string]json.RawMessage{}
	}
	members[steps[0]] = []byte(putValue(string(members[steps[0]]), steps[1:], value))
	// Members are written in the order of their names, so that the same case always sends the same bytes.
	parts := make([]string, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		parts = append(parts, fmt.Sprintf("%q:%s", name, members[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Cases lists every value of every field of every operation.
func (a *API) Cases() []Case {
	var all []Case
	for _, op := range a.Operations {
		for _, f := range op.Fields {
			for _, v := range f.Values() {
				all = append(all, Case{Operation: op, Field: f, Value: v})
			}
		}
	}
	return all
}

// CountFields returns how many fields all operations have together.
func (a *API) CountFields() int {
	n := 0
	for _, op := range a.Operations {
		n += len(op.Fields)
	}
	return n
}

package route

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A request type is a struct. Each exported field carries one of these tags,
// or is an embedded struct whose fields count as its own:
//
//	path:"id" query:"limit" header:"X-Name" json:"title" part:"kind"
//
// (part is a text field beside a file, see Upload)
// and any of the constraint tags that fit its type, with swaggest's names:
//
//	required    true: must be there and not null
//	default     the value when it is absent
//	minLength, maxLength    strings, in characters
//	minimum, maximum        numbers; Money in major units
//	minItems, maxItems      slices; the other constraints hold for each element
//	enum        a,b,c: the allowed values
//	format      email, uuid, uri, hosted, origin, date-time, date, timezone, country, locale,
//	            color, currency; id: letters, digits, '_', '.' and '-'; of free-form JSON: object,
//	            or links, an object of up to 20 addresses by name;
//	            name: one line as people see it, by names.Clean, before its length counts;
//	            raw: whatever characters there are, of any length without maxLength;
//	            password: whatever characters there are but NUL
//	dateOnly    of a time in the query: it may be a date too, which is the start or
//	            the end of that day in UTC
//	nullable    false: an Opt that cannot be null
//	description, example    for the document only
//
// Strings, booleans, integers, float64, time.Time, Money and named types of
// these are scalars. A JSON field may also be a struct, a slice, a pointer (nil
// when absent or null) or an Opt of any of these; a parameter may be a slice of
// scalars; jsontext.Value takes free-form JSON (maxLength in bytes). A member that
// is null counts as absent, unless it is an Opt.
//
// A path parameter that has a format other than name is sent unencoded; any other path
// parameter takes any text, percent-encoded (see PathParam).
type plan struct {
	params []param
	query  string  // the names of the parameters of the query, separated by commas
	body   *object // nil: the operation reads no body
}

type place uint8

const (
	inPath place = iota
	inQuery
	inHeader
	inPart
)

// param is one field that is read from the path, the query, the headers or a part of a form.
type param struct {
	in       place
	name     string
	index    []int
	node     node
	required bool
	max      int           // most characters of a path parameter; -1: its format limits its length
	text     bool          // a path parameter that may be any text
	initial  reflect.Value // the default; invalid for none
}

// canRefuse reports whether the plan reads anything, so that a request can violate it.
func (p *plan) canRefuse() bool { return p.body != nil || len(p.params) > 0 }

// namesOrganization reports whether a request can name the organization for which its caller acts. If it
// can, the operation can answer NOT_FOUND, because there may be no such organization.
func (p *plan) namesOrganization() bool {
	return slices.ContainsFunc(p.params, func(one param) bool { return one.name == "orgId" }) || p.body != nil && p.body.fields["orgId"] != nil
}

// compilePlan makes the plan of a request type. It panics on a type that cannot be read, because then the
// route table is wrong and the program must not start.
func compilePlan(t reflect.Type) *plan {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("route: request type %v is not a struct", t))
	}
	p, c := &plan{}, compiler{objects: map[reflect.Type]*object{}}
	body := &object{fields: map[string]*field{}}
	p.collectFields(&c, body, t, nil)
	if len(body.fields) > 0 {
		p.body = body
	}
	var query []string
	for i := range p.params {
		if p.params[i].in == inQuery {
			query = append(query, p.params[i].name)
		}
	}
	p.query = strings.Join(query, ", ")
	return p
}

// collectFields adds the fields of t to the plan and to body. t is the request's type, or a struct that is
// embedded in it; index is then its place in the request (see reflect.Value.FieldByIndex).
func (p *plan) collectFields(c *compiler, body *object, t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int(nil), index...), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && BindingTag(f) == "" {
			p.collectFields(c, body, f.Type, at)
			continue
		}
		where := fmt.Sprintf("%v.%s", t, f.Name)
		switch key := BindingTag(f); key {
		case "json":
			body.add(c, where, f, at)
		case "path", "query", "header", "part":
			p.params = append(p.params, c.compileParam(where, key, f, at))
		default:
			panic("route: " + where + " carries no path, query, header, part or json tag")
		}
	}
}

// BindingTag returns the key of the tag that says from which part of a request a field is read: path, query,
// header, part or json. It returns "" if the field has no such tag. The fields of an embedded struct without
// such a tag count as fields of the struct around it.
func BindingTag(f reflect.StructField) string {
	for _, key := range []string{"path", "query", "header", "part", "json"} {
		if _, ok := f.Tag.Lookup(key); ok {
			return key
		}
	}
	return ""
}

// field is one member of an object.
type field struct {
	name     string
	index    []int
	node     node
	optional bool          // an Opt
	nullable bool          // an Opt that may be null
	bit      uint64        // the field's bit in object.required; 0 if the field may be absent
	initial  reflect.Value // the default; invalid for none
}

// object reads a JSON object into a struct.
type object struct {
	fields   map[string]*field
	order    []*field // in the order of the struct
	required uint64   // the bits of the required fields
	defaults bool     // some field has a default
}

// add compiles one field of the struct into a member of o. It panics if the field's tags are wrong: no name or one that
// occurs twice, dateOnly, nullable without an Opt, an Opt that is required or has a default, or more than 64 required
// fields.
func (o *object) add(c *compiler, where string, f reflect.StructField, index []int) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "" || name == "-" {
		panic("route: " + where + " needs a name in its json tag")
	}
	if _, ok := f.Tag.Lookup("dateOnly"); ok {
		panic("route: " + where + ": dateOnly is for parameters")
	}
	if o.fields[name] != nil {
		panic("route: " + where + " repeats the name " + name)
	}
	m := &field{name: name, index: index}
	tags := c.readTags(where, f.Tag)
	t := f.Type
	if opt, ok := reflect.TypeAssert[Optional](reflect.Zero(t)); ok {
		m.optional, m.nullable = true, f.Tag.Get("nullable") != "false"
		t = opt.Inner()
	} else if _, ok := f.Tag.Lookup("nullable"); ok {
		panic("route: " + where + " is nullable but no Opt")
	}
	m.node = c.compileNode(where, t, tags)
	if tags.required {
		m.bit = o.required + 1
		if m.bit == 0 || m.optional {
			panic("route: " + where + " cannot be required")
		}
		o.required |= m.bit
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		m.initial = c.parseDefault(where, t, m.node, text)
		if m.optional {
			panic("route: " + where + " is an Opt with a default")
		}
		o.defaults = true
	}
	o.fields[name] = m
	o.order = append(o.order, m)
}

// compiler compiles the types of one request. objects holds the structs that it has compiled or is
// compiling, so that it stops at a type that contains itself.
type compiler struct{ objects map[reflect.Type]*object }

// compileObject compiles a struct within a body.
func (c *compiler) compileObject(t reflect.Type) *object {
	if o := c.objects[t]; o != nil {
		return o
	}
	o := &object{fields: map[string]*field{}}
	c.objects[t] = o
	c.compileMembers(o, t, nil)
	return o
}

// compileMembers adds the fields of a struct to o. The fields of an embedded struct count as the struct's own; index is
// the place of t in the outermost struct.
func (c *compiler) compileMembers(o *object, t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int(nil), index...), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && BindingTag(f) == "" {
			c.compileMembers(o, f.Type, at)
			continue
		}
		o.add(c, fmt.Sprintf("%v.%s", t, f.Name), f, at)
	}
}

// compileParam compiles one field into the parameter that its tag key (path, query, header or part) names. A parameter
// of the path is always required. It panics on a type that cannot be read from a text, on wrong tags, and on
// dateOnly for anything but a time in the query.
func (c *compiler) compileParam(where, key string, f reflect.StructField, index []int) param {
	p := param{in: map[string]place{"path": inPath, "query": inQuery, "header": inHeader, "part": inPart}[key], name: f.Tag.Get(key), index: index}
	if !f.IsExported() || p.name == "" {
		panic("route: " + where + " needs a name in its tag")
	}
	tags := c.readTags(where, f.Tag)
	p.node, p.required = c.compileNode(where, f.Type, tags), tags.required || p.in == inPath
	p.max, p.text = tags.count(where, "maxLength"), tags.set["format"] == "" || tags.set["format"] == "name"
	if day, ok := f.Tag.Lookup("dateOnly"); ok {
		if f.Type != timeType || p.in != inQuery || day != "start" && day != "end" {
			panic("route: " + where + ": dateOnly is start or end, of a time in the query")
		}
		s := &scalar{kind: dateKind(day == "end")}
		p.node = node{json: s.json, text: s.text}
	}
	if p.node.text == nil {
		panic(fmt.Sprintf("route: %s: %v cannot be a parameter", where, f.Type))
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		p.initial = c.parseDefault(where, f.Type, p.node, text)
	}
	return p
}

// compileNode compiles a type with the constraints of its field. The result cannot be a parameter (text is nil) if it
// is a struct, free-form JSON, or a list or pointer of these. It panics on a type that cannot be read, and on a
// constraint that does not fit the type.
func (c *compiler) compileNode(where string, t reflect.Type, tags tags) node {
	switch {
	case t == freeType:
		tags.allowOnly(where, "maxLength", "format")
		f := &free{max: tags.count(where, "maxLength"), object: tags.set["format"] == "object", links: tags.set["format"] == "links"}
		if !f.object && !f.links && tags.set["format"] != "" {
			panic("route: " + where + ": format of free-form JSON is object or links")
		}
		return node{json: f.json}
	case scalarOf(t) != nil:
		tags.allowOnly(where, scalarOf(t).tags...)
		s := &scalar{kind: scalarOf(t), checks: tags.compileChecks(where, t)}
		if kind := textKinds[tags.set["format"]]; kind != nil && s.kind == stringKind {
			s.kind = kind
		}
		return node{json: s.json, text: s.text}
	case t.Kind() == reflect.Pointer:
		inner := c.compileNode(where, t.Elem(), tags)
		ptr := pointer{t.Elem(), inner}
		n := node{json: ptr.json}
		if inner.text != nil {
			n.text = ptr.text
		}
		return n
	case t.Kind() == reflect.Slice:
		list := &list{min: tags.count(where, "minItems"), max: tags.count(where, "maxItems"), elem: c.compileNode(where, t.Elem(), tags.ofElements())}
		n := node{json: list.json}
		if list.elem.text != nil {
			n.text = list.text
		}
		return n
	case t.Kind() == reflect.Struct:
		tags.allowOnly(where)
		return node{json: c.compileObject(t).json}
	}
	panic(fmt.Sprintf("route: %s: type %v cannot be bound", where, t))
}

// parseDefault parses the default in a field's tag, with the field's constraints. It panics if the default violates
// them, and on a default for a struct, a list, a pointer or free-form JSON.
func (c *compiler) parseDefault(where string, t reflect.Type, n node, text string) reflect.Value {
	if n.text == nil || t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		panic("route: " + where + " cannot have a default")
	}
	v := reflect.New(t).Elem()
	var d decoder
	n.text(&d, v, []byte(text))
	if len(d.issues) > 0 {
		panic(fmt.Sprintf("route: %s: default %s", where, d.issues[0].Message))
	}
	return v
}

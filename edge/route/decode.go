package route

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds the nesting of a body, even in members that are ignored.
const MaxDepth = 32

// maxScratch bounds the buffer that a pooled decoder keeps, in bytes.
const maxScratch = 4 << 10

// decoder reads one request. It is pooled, and nothing that it returns aliases the body.
type decoder struct {
	json    jsontext.Decoder
	in      bytes.Buffer
	path    []step
	issues  []Issue
	scratch []byte
}

// step is one part of the path to the value being read.
type step struct {
	name  string // of a member or parameter; empty for an index
	index int
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// read reads the request of a call into v, a struct of the plan's type, and returns the violations that it finds, at
// most MaxIssues. If the body is no JSON, it returns only that one violation.
func (p *plan) read(v reflect.Value, c *Call, src Source) []Issue {
	issues := p.bindRequest(v, src, c.Body)
	if c.Op.RefusesUnknown() {
		issues = p.addUnknown(issues, src)
	}
	return issues
}

// paging are the parameters of the query by which a client reads any list to its end. No read refuses them, also
// not one that always answers with its whole list and ignores them.
var paging = []string{"cursor", "limit"}

// addUnknown adds an issue for each parameter of the query that the plan does not know, except the parameters of
// paging, until there are MaxIssues.
func (p *plan) addUnknown(issues []Issue, src Source) []Issue {
	for name := range src.QueryNames() {
		isKnown := slices.ContainsFunc(p.params, func(known param) bool { return known.in == inQuery && known.name == name })
		if isKnown || slices.Contains(paging, name) || len(issues) >= MaxIssues {
			continue
		}
		if len(name) > maxPath || !utf8.ValidString(name) {
			name = ""
		}
		issues = append(issues, Issue{Path: name, Code: IssueUnsupported, Message: "is no parameter here; there are " + p.query})
	}
	return issues
}

// bindRequest does the work of read, except that it does not look for unknown parameters of the query.
func (p *plan) bindRequest(v reflect.Value, src Source, body []byte) []Issue {
	d, _ := decoders.Get().(*decoder)
	for i := range p.params {
		p.params[i].bindParam(d, v, src)
	}
	if p.body != nil {
		d.readBody(p.body, v, body)
	}
	issues := d.issues
	d.path, d.issues, d.in = d.path[:0], nil, bytes.Buffer{}
	if cap(d.scratch) > maxScratch {
		d.scratch = nil
	}
	decoders.Put(d)
	return issues
}

// readBody reads the request's body. A missing body counts as an empty object.
func (d *decoder) readBody(o *object, v reflect.Value, body []byte) {
	if len(body) == 0 {
		body = []byte("{}")
	}
	if tooDeep(body) {
		d.reportIssue(problem{IssueDepth, "must not be nested deeper than " + strconv.Itoa(MaxDepth) + " levels"})
		return
	}
	d.in = *bytes.NewBuffer(body)
	d.json.Reset(&d.in)
	err := o.json(d, v)
	if err == nil {
		if _, err = d.json.ReadToken(); errors.Is(err, io.EOF) {
			return
		}
	}
	d.reportSyntax(err)
}

// reportSyntax reports that a body is not JSON or repeats a name. It drops the violations found so far.
func (d *decoder) reportSyntax(err error) {
	issue := Issue{Code: IssueJSON, Message: "the body must be one JSON value in UTF-8 and nothing after it"}
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		issue.Path = pathOf(at.JSONPointer)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		issue.Code, issue.Message = IssueDuplicate, "must be given once"
	}
	d.issues = append(d.issues[:0], issue)
}

// reportIssue adds an issue at the value that is being read, unless there are MaxIssues already.
func (d *decoder) reportIssue(p problem) {
	if len(d.issues) < MaxIssues {
		d.issues = append(d.issues, Issue{Path: d.pathOfValue(), Code: p.code, Message: p.message})
	}
}

// pathOfValue is the path to the value being read, e.g. items[0].quantity.
func (d *decoder) pathOfValue() string {
	var b strings.Builder
	for _, s := range d.path {
		if s.name == "" {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
	}
	return b.String()
}

// maxPath is the most bytes of a name or path in an issue that a client could have made up.
const maxPath = 200

// pathOf writes a JSON pointer as a path. It takes a name that is a number for an index. For a pointer
// that is longer than maxPath it returns "".
func pathOf(p jsontext.Pointer) string {
	if len(p) > maxPath {
		return ""
	}
	var d decoder
	for name := range p.Tokens() {
		if n, err := strconv.Atoi(name); err == nil {
			d.path = append(d.path, step{index: n})
		} else {
			d.path = append(d.path, step{name: name})
		}
	}
	return d.pathOfValue()
}

func (d *decoder) push(s step) { d.path = append(d.path, s) }
func (d *decoder) pop()        { d.path = d.path[:len(d.path)-1] }

// json reads an object's members into the fields of v and skips the members that it doesn't know. A field that the
// object lacks gets its default. A required one that is missing or null is a violation.
func (o *object) json(d *decoder, v reflect.Value) error {
	if d.json.PeekKind() != '{' {
		d.reportIssue(problem{IssueType, "must be an object"})
		return d.json.SkipValue()
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	if o.defaults {
		o.setDefaults(v)
	}
	seen := uint64(0)
	for d.json.PeekKind() != '}' {
		raw, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		f := o.fields[string(d.unquote(raw))]
		if f == nil {
			if err := d.json.SkipValue(); err != nil {
				return err
			}
			continue
		}
		present, err := f.json(d, v)
		if err != nil {
			return err
		}
		if present {
			seen |= f.bit
		}
	}
	if missing := o.required &^ seen; missing != 0 {
		o.reportMissing(d, missing)
	}
	_, err := d.json.ReadToken()
	return err
}

// setDefaults sets the fields that have a default to it, before the members are read.
func (o *object) setDefaults(v reflect.Value) {
	for _, f := range o.order {
		if f.initial.IsValid() {
			v.FieldByIndex(f.index).Set(f.initial)
		}
	}
}

// reportMissing reports an issue for each field whose bit is in missing, in the order of the struct.
func (o *object) reportMissing(d *decoder, missing uint64) {
	for _, f := range o.order {
		if f.bit&missing != 0 {
			d.push(step{name: f.name})
			d.reportIssue(problem{IssueRequired, "is required"})
			d.pop()
		}
	}
}

// json reads one member and reports whether it was present: null counts as absent, except in an
// Opt.
func (f *field) json(d *decoder, v reflect.Value) (present bool, err error) {
	isNull := d.json.PeekKind() == 'n'
	if isNull && !f.optional {
		return false, d.json.SkipValue()
	}
	v = fieldAt(v, f.index)
	d.push(step{name: f.name})
	defer d.pop()
	if !f.optional {
		return true, f.node.json(d, v)
	}
	if isNull && !f.nullable {
		d.reportIssue(problem{IssueNull, "must not be null"})
	}
	v.Field(optSet).SetBool(true)
	v.Field(optNull).SetBool(isNull)
	if isNull {
		return true, d.json.SkipValue()
	}
	return true, f.node.json(d, v.Field(optValue))
}

// fieldAt returns what v.FieldByIndex(index) returns. It is faster for a field that is not within an
// embedded struct, as most are.
func fieldAt(v reflect.Value, index []int) reflect.Value {
	if len(index) == 1 {
		return v.Field(index[0])
	}
	return v.FieldByIndex(index)
}

// list reads a slice.
type list struct {
	elem     node
	min, max int // -1: no bound
}

// json reads an array into a slice. Of an array that is longer than max it reads only the first max elements and
// skips the others, so that a client cannot make the slice as large as it likes.
func (l *list) json(d *decoder, v reflect.Value) error {
	if d.json.PeekKind() != '[' {
		d.reportIssue(problem{IssueType, "must be an array"})
		return d.json.SkipValue()
	}
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	n := 0
	for ; d.json.PeekKind() != ']'; n++ {
		if l.max >= 0 && n >= l.max {
			if err := d.json.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := l.readElement(d, v, n); err != nil {
			return err
		}
	}
	l.count(d, n)
	_, err := d.json.ReadToken()
	return err
}

// readElement reads the next element into a new place n at the end of the slice.
func (l *list) readElement(d *decoder, v reflect.Value, n int) error {
	v.Grow(1)
	v.SetLen(n + 1)
	d.push(step{index: n})
	err := l.elem.json(d, v.Index(n))
	d.pop()
	return err
}

// count reports an issue if n elements are fewer than min or more than max.
func (l *list) count(d *decoder, n int) {
	if l.min > n {
		d.reportIssue(problem{IssueMinItems, "must have at least " + strconv.Itoa(l.min) + " items"})
	}
	if l.max >= 0 && n > l.max {
		d.reportIssue(problem{IssueMaxItems, "must have at most " + strconv.Itoa(l.max) + " items"})
	}
}

// text reads a list of comma-separated values. It reads none of them if there are more than max.
func (l *list) text(d *decoder, v reflect.Value, text []byte) {
	parts := bytes.Split(text, []byte(","))
	l.count(d, len(parts))
	if l.max >= 0 && len(parts) > l.max {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
	for i, part := range parts {
		d.push(step{index: i})
		l.elem.text(d, v.Index(i), part)
		d.pop()
	}
}

// bindParam reads one parameter into its field of v. An absent parameter gets its default, or is an issue if
// it is required.
func (p *param) bindParam(d *decoder, v reflect.Value, src Source) {
	v = fieldAt(v, p.index)
	if p.initial.IsValid() {
		v.Set(p.initial)
	}
	d.push(step{name: p.name})
	defer d.pop()
	text, ok := p.find(d, src)
	switch {
	case ok:
		p.node.text(d, v, text)
	case p.required:
		d.reportIssue(problem{IssueRequired, "is required"})
	}
}

// find returns the parameter's text. An empty text counts as absent, except in the path. A parameter of the
// query that is given twice is an issue, and counts as absent, because proxies differ in which one they read.
func (p *param) find(d *decoder, src Source) (text []byte, ok bool) {
	if p.in == inPath {
		s, ok := src.Param(p.name)
		return []byte(s), ok
	}
	if p.in == inHeader {
		text = src.Header(p.name)
		return text, len(text) > 0
	}
	if p.in == inPart {
		s, ok := src.Part(p.name)
		return []byte(s), ok && s != ""
	}
	values := src.Query(p.name)
	if len(values) > 1 {
		d.reportIssue(problem{IssueDuplicate, "must be given once"})
		return nil, false
	}
	if len(values) == 0 || len(values[0]) == 0 {
		return nil, false
	}
	return values[0], true
}

// tooDeep reports whether brackets outside of strings nest deeper than MaxDepth.
func tooDeep(body []byte) bool {
	if bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) <= MaxDepth {
		return false // This holds for nearly all bodies. The loop below took 1 % of the time of an order.
	}
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

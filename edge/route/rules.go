package route

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"boxoffice/edge/route/format"
)

// problem is what is wrong with one value. The zero problem means that the value is right.
type problem struct{ code, message string }

var none problem

// check judges a value that has been read.
type check func(v reflect.Value) problem

// constraintTags are the tags that limit a value, in the order in which violations are reported.
var constraintTags = []string{"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "enum", "format"}

// tags are the constraints on a field.
type tags struct {
	set      map[string]string
	required bool
}

// readTags returns the constraint tags of a field as they are written. It does not check whether they fit the field's
// type (see allowOnly); it panics only if required is neither true nor false.
func (c *compiler) readTags(where string, st reflect.StructTag) tags {
	t := tags{set: map[string]string{}}
	for _, key := range constraintTags {
		if text, ok := st.Lookup(key); ok {
			t.set[key] = text
		}
	}
	switch st.Get("required") {
	case "true":
		t.required = true
	case "", "false":
	default:
		panic("route: " + where + ": required is true or false")
	}
	return t
}

// allowOnly panics if a constraint is set that is not among keys, those that fit the field's type.
func (t tags) allowOnly(where string, keys ...string) {
	for key := range t.set {
		if !slices.Contains(keys, key) {
			panic("route: " + where + ": " + key + " does not fit the type")
		}
	}
}

// ofElements returns the constraints that apply to the elements of a slice.
func (t tags) ofElements() tags {
	inner := tags{set: map[string]string{}}
	for key, text := range t.set {
		if key != "minItems" && key != "maxItems" {
			inner.set[key] = text
		}
	}
	return inner
}

// count parses a constraint that is a count. It returns -1 if the constraint is not set, and panics if
// it is no number of 0 or more.
func (t tags) count(where, key string) int {
	text, ok := t.set[key]
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		panic("route: " + where + ": " + key + " is no count")
	}
	return n
}

// compileChecks compiles the constraints on a scalar of the type typ into checks. It leaves out a format of
// textKinds, which is no check but says how the text is read.
func (t tags) compileChecks(where string, typ reflect.Type) []check {
	var all []check
	for _, key := range constraintTags {
		if text, ok := t.set[key]; ok && (key != "format" || textKinds[text] == nil) {
			all = append(all, t.compileCheck(where, typ, key, text))
		}
	}
	return all
}

// compileCheck compiles one constraint into a check. The check of a format also replaces the value by its
// canonical form, if the format has one. A format of a time checks nothing, because reading the time has
// checked it. It panics on a limit or an allowed value that cannot be parsed, and on an unknown format.
func (t tags) compileCheck(where string, typ reflect.Type, key, text string) check {
	switch key {
	case "minLength":
		n := t.count(where, key)
		bad := problem{IssueMinLength, fmt.Sprintf("must have at least %d characters", n)}
		return func(v reflect.Value) problem { return problemIf(utf8.RuneCountInString(v.String()) < n, bad) }
	case "maxLength":
		n := t.count(where, key)
		bad := problem{IssueMaxLength, fmt.Sprintf("must have at most %d characters", n)}
		return func(v reflect.Value) problem {
			s := v.String()
			return problemIf(len(s) > n && utf8.RuneCountInString(s) > n, bad)
		}
	case "minimum":
		return compileBound(where, typ, text, problem{IssueMinimum, "must be at least " + text}, -1)
	case "maximum":
		return compileBound(where, typ, text, problem{IssueMaximum, "must be at most " + text}, +1)
	case "enum":
		return oneOf(where, typ, strings.Split(text, ","))
	}
	f, ok := format.Named(text)
	if !ok {
		panic("route: " + where + ": unknown format " + text)
	}
	if typ == timeType {
		return func(reflect.Value) problem { return none }
	}
	bad := problem{IssueFormat, "must be " + f.What}
	return func(v reflect.Value) problem {
		if f.Canonical != nil {
			v.SetString(f.Canonical(v.String()))
		}
		return problemIf(!f.Valid(v.String()), bad)
	}
}

// problemIf returns p if a constraint is broken, or else none.
func problemIf(broken bool, p problem) problem {
	if broken {
		return p
	}
	return none
}

// compileBound compiles the limit in text into a check. The check returns bad for a value below the limit if
// side is -1, and for a value above it if side is +1.
func compileBound(where string, typ reflect.Type, text string, bad problem, side int) check {
	limit := parseConstant(where, typ, text)
	switch {
	case limit.CanInt():
		n := limit.Int()
		return func(v reflect.Value) problem { return problemIf(compareNumbers(v.Int(), n) == side, bad) }
	case limit.CanUint():
		n := limit.Uint()
		return func(v reflect.Value) problem { return problemIf(compareNumbers(v.Uint(), n) == side, bad) }
	default:
		n := limit.Float()
		return func(v reflect.Value) problem { return problemIf(compareNumbers(v.Float(), n) == side, bad) }
	}
}

// compareNumbers returns -1 if a is below b, +1 if it is above, and otherwise 0, also if one of them is no number
// (NaN).
func compareNumbers[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// oneOf compiles an enumeration.
func oneOf(where string, typ reflect.Type, texts []string) check {
	bad := problem{IssueEnum, "must be one of " + strings.Join(texts, ", ")}
	if typ.Kind() == reflect.String {
		return func(v reflect.Value) problem { return problemIf(!slices.Contains(texts, v.String()), bad) }
	}
	allowed := make([]reflect.Value, len(texts))
	for i, text := range texts {
		allowed[i] = parseConstant(where, typ, text)
	}
	return func(v reflect.Value) problem {
		return problemIf(!slices.ContainsFunc(allowed, v.Equal), bad)
	}
}

// parseConstant parses a value in a tag. It panics if the text is no value of the type typ.
func parseConstant(where string, typ reflect.Type, text string) reflect.Value {
	v := reflect.New(typ).Elem()
	if p := scalarOf(typ).set(v, []byte(text)); p != none {
		panic("route: " + where + ": " + text + " " + p.message)
	}
	return v
}

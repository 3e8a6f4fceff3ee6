package route

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/names"
	"boxoffice/edge/route/format"
)

var (
	timeType  = reflect.TypeFor[time.Time]()
	moneyType = reflect.TypeFor[Money]()
)

// scalarKind says how one sort of scalar is read.
type scalarKind struct {
	json string   // the kinds of JSON values that it is read from (jsontext.Kind), one byte each
	what string   // the message for a JSON value of another kind
	tags []string // the constraint tags that it may have
	set  func(v reflect.Value, text []byte) problem
}

// These are the messages of issues: what a scalar must be.
const (
	mustBool  = "must be true or false"
	mustInt   = "must be an integer"
	mustUint  = "must be an integer of 0 or more"
	mustFloat = "must be a number"
	mustTime  = "must be a date and time as in RFC 3339"
	mustYear  = "must be in the years 1970 to 9999, in UTC"

	mustNotNUL = "must not contain the character U+0000" // Postgres cannot store it
)

var textTags = []string{"minLength", "maxLength", "enum", "format"}

// The sorts of scalars.
var (
	stringKind = &scalarKind{`"`, "must be a string", textTags, setString}
	nameKind   = &scalarKind{`"`, "must be a string", textTags, setName}
	rawKind    = &scalarKind{`"`, "must be a string", textTags, setRaw}
	secretKind = &scalarKind{`"`, "must be a string", textTags, setSecret}
	boolKind   = &scalarKind{"tf", mustBool, nil, setBool}
	intKind    = &scalarKind{"0", mustInt, []string{"minimum", "maximum", "enum"}, setInt}
	uintKind   = &scalarKind{"0", mustUint, []string{"minimum", "maximum", "enum"}, setUint}
	floatKind  = &scalarKind{"0", mustFloat, []string{"minimum", "maximum"}, setFloat}
	moneyKind  = &scalarKind{"0", mustFloat, []string{"minimum", "maximum", "enum"}, setMoney}
	timeKind   = &scalarKind{`"`, mustTime, []string{"format"}, setTime}
)

// scalarOf returns how a type is read if it is a scalar, else nil.
func scalarOf(t reflect.Type) *scalarKind {
	switch zero := reflect.Zero(t); {
	case t == timeType:
		return timeKind
	case t == moneyType:
		return moneyKind
	case t.Kind() == reflect.String:
		return stringKind
	case t.Kind() == reflect.Bool:
		return boolKind
	case zero.CanInt():
		return intKind
	case zero.CanUint():
		return uintKind
	case zero.CanFloat():
		return floatKind
	}
	return nil
}

// IsScalar reports whether requests write a type as one JSON string, number or boolean.
func IsScalar(t reflect.Type) bool { return scalarOf(t) != nil }

// textKinds are the formats that say how a text is read, before its other constraints are checked.
// Any other format is a check of the text that has been read.
var textKinds = map[string]*scalarKind{"name": nameKind, "raw": rawKind, "password": secretKind}

// setString copies the text after names.CleanText. It refuses a text with a NUL, which Postgres cannot store
// and which only a faulty client sends.
func setString(v reflect.Value, text []byte) problem {
	if bytes.IndexByte(text, 0) >= 0 {
		return problem{IssueFormat, mustNotNUL}
	}
	v.SetString(names.CleanText(string(text)))
	return none
}

// setName copies the text after names.Clean, as one line. It refuses a text with a NUL.
func setName(v reflect.Value, text []byte) problem {
	if p := setString(v, text); p != none {
		return p
	}
	v.SetString(names.Clean(v.String()))
	return none
}

// setRaw copies the text unchanged and unchecked. The handler decides what to do with odd characters.
func setRaw(v reflect.Value, text []byte) problem {
	v.SetString(string(text))
	return none
}

// setSecret copies the text as its owner wrote it. It refuses NUL, which no keyboard types.
func setSecret(v reflect.Value, text []byte) problem {
	if bytes.IndexByte(text, 0) >= 0 {
		return problem{IssueFormat, mustNotNUL}
	}
	return setRaw(v, text)
}

// setBool reads true or false, and refuses everything else.
func setBool(v reflect.Value, text []byte) problem {
	switch string(text) {
	case "true":
		v.SetBool(true)
	case "false":
		v.SetBool(false)
	default:
		return problem{IssueType, mustBool}
	}
	return none
}

// digitsOnly reports whether a number is written without a leading plus, hexadecimal digits and words, which
// package strconv accepts beyond JSON. It lets leading zeros pass, which JSON does not have either.
func digitsOnly(text []byte) bool {
	return len(text) > 0 && text[0] != '+' && len(bytes.Trim(text, "0123456789+-.eE")) == 0
}

// wholeDigits rewrites a whole number that has a point or an exponent, such as 1.0 or 1e0, as plain digits.
// JSON Schema counts it as an integer (2020-12, validation, 6.1.1), and programs whose numbers are all floats
// send integers like that. It returns any other text, and a number that is too large, as it is.
func wholeDigits(text []byte) []byte {
	if len(text) > maxNumber || !bytes.ContainsAny(text, ".eE") {
		return text
	}
	number, ok := parseDecimal(text)
	for ; ok && number.scale < 0 && !number.overflow && number.digits != 0; number.scale++ {
		number.times10()
	}
	switch {
	case !ok, number.overflow, number.scale > 0 && number.digits != 0:
		return text
	case number.negative:
		number.digits = -number.digits
	}
	return strconv.AppendInt(nil, number.digits, 10)
}

// setInt reads an integer, also one that is written as 1.0 or 1e0 (wholeDigits). A number that is too large or too
// small for the field's type is refused like one beyond a maximum or minimum.
func setInt(v reflect.Value, text []byte) problem {
	text = wholeDigits(text)
	n, err := strconv.ParseInt(string(text), 10, v.Type().Bits())
	switch {
	case !digitsOnly(text):
		return problem{IssueType, mustInt}
	case errors.Is(err, strconv.ErrRange) && text[0] == '-':
		return problem{IssueMinimum, "must be a larger integer"}
	case errors.Is(err, strconv.ErrRange):
		return problem{IssueMaximum, "must be a smaller integer"}
	case err != nil:
		return problem{IssueType, mustInt}
	}
	v.SetInt(n)
	return none
}

// setUint does what setInt does, for integers of 0 or more.
func setUint(v reflect.Value, text []byte) problem {
	text = wholeDigits(text)
	n, err := strconv.ParseUint(string(text), 10, v.Type().Bits())
	switch {
	case errors.Is(err, strconv.ErrRange):
		return problem{IssueMaximum, "must be a smaller integer"}
	case err != nil:
		return problem{IssueType, mustUint}
	}
	v.SetUint(n)
	return none
}

// setFloat reads a number. It refuses one that is too large for a float64, and NaN and Inf, which JSON does not have.
func setFloat(v reflect.Value, text []byte) problem {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !digitsOnly(text) || math.IsNaN(n) || math.IsInf(n, 0) {
		return problem{IssueType, mustFloat}
	}
	v.SetFloat(n)
	return none
}

func setMoney(v reflect.Value, text []byte) problem {
	m, p := parseMoney(text)
	v.SetInt(int64(m))
	return p
}

// setTime reads a date and time as in RFC 3339 and stores it by keepTime.
func setTime(v reflect.Value, text []byte) problem {
	t, ok := format.ParseTime(string(text))
	if !ok {
		return problem{IssueType, mustTime}
	}
	return keepTime(v, t)
}

// These bound the instants that a request may name. RFC 3339 has no way to write later ones, so we could not
// make an answer, a webhook or a mail that contains one.
var (
	firstMoment = time.Unix(0, 0)
	lastMoment  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// keepTime stores the instant, cut to microseconds as Postgres does, with the offset that it was written
// with, or returns the problem that it is before 1970 or after 9999. An instant in the first millisecond
// of 1970 is moved to the end of that millisecond and loses its offset, because 0 means "no time" wherever unix
// milliseconds are stored.
func keepTime(v reflect.Value, t time.Time) problem {
	switch {
	case t.Before(firstMoment):
		return problem{IssueMinimum, mustYear}
	case t.After(lastMoment):
		return problem{IssueMaximum, mustYear}
	case t.UnixMilli() == 0:
		t = time.UnixMilli(1)
	}
	if p, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		*p = t.Truncate(time.Microsecond)
	}
	return none
}

// dateKind reads a parameter that may be an instant or a date. A date means the first or the last
// microsecond of that day in UTC.
func dateKind(end bool) *scalarKind {
	kind := *timeKind
	kind.what = "must be a date as YYYY-MM-DD, or a date and time as in RFC 3339"
	kind.set = func(v reflect.Value, text []byte) problem {
		day, err := time.Parse(time.DateOnly, string(text))
		switch {
		case err == nil && end:
			return keepTime(v, day.AddDate(0, 0, 1).Add(-time.Microsecond))
		case err == nil:
			return keepTime(v, day)
		case len(text) <= len(time.DateOnly):
			return problem{IssueType, kind.what}
		}
		return setTime(v, text)
	}
	return &kind
}

// node says how one type is read from JSON and from the text of a parameter; text is nil if the type can't
// be a parameter. Both report violations to the decoder. The error that json returns is a syntax
// error, which ends the reading.
type node struct {
	json func(d *decoder, v reflect.Value) error
	text func(d *decoder, v reflect.Value, text []byte)
}

// scalar reads a scalar and applies the constraints of its field.
type scalar struct {
	kind   *scalarKind
	checks []check
}

// json reads the next JSON value. A value of another kind, such as a number for a string, is reported and skipped.
func (s *scalar) json(d *decoder, v reflect.Value) error {
	kind := d.json.PeekKind()
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	if strings.IndexByte(s.kind.json, byte(kind)) < 0 {
		d.reportIssue(problem{IssueType, s.kind.what})
		return nil
	}
	if kind == '"' {
		raw = d.unquote(raw)
	}
	s.set(d, v, raw)
	return nil
}

// text reads the text of a parameter. A text that is not UTF-8 is reported and not read.
func (s *scalar) text(d *decoder, v reflect.Value, text []byte) {
	if !utf8.Valid(text) {
		d.reportIssue(problem{IssueFormat, "must be UTF-8"})
		return
	}
	s.set(d, v, text)
}

// set reads the text into v and then applies all checks. It reports every check that fails, or only that the
// text cannot be read.
func (s *scalar) set(d *decoder, v reflect.Value, text []byte) {
	if p := s.kind.set(v, text); p != none {
		d.reportIssue(p)
		return
	}
	for _, check := range s.checks {
		if p := check(v); p != none {
			d.reportIssue(p)
		}
	}
}

// pointer reads the value that a pointer points to. A null in place of a member does not reach it, because
// field.json skips that.
type pointer struct {
	elem reflect.Type
	node node
}

func (p pointer) json(d *decoder, v reflect.Value) error {
	v.Set(reflect.New(p.elem))
	return p.node.json(d, v.Elem())
}

func (p pointer) text(d *decoder, v reflect.Value, text []byte) {
	v.Set(reflect.New(p.elem))
	p.node.text(d, v.Elem(), text)
}

// unquote returns the text of a JSON string. The text shares memory with raw or with d.scratch, so it is valid
// only until the next call, or until d.json reads on.
func (d *decoder) unquote(raw jsontext.Value) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	// The decoder has accepted raw, so unquoting cannot fail.
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw)
	return d.scratch
}

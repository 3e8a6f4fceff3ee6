package extremes

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Values returns the values that are tried in the field. A member of a body gets values of its own type and of
// foreign types. A parameter is always text, so it gets texts.
func (f *Field) Values() []Value {
	switch {
	case f.In != InBody:
		return f.parameterValues()
	case f.Name == "":
		return invalidBodies()
	}
	values := f.memberValues()
	return append(values, f.foreignValues()...)
}

// has reports whether the rule allows a type of JSON.
func (s *schema) has(kind string) bool { return slices.Contains(s.Type, kind) }

// memberValues returns values of the member's own type, at and beyond its bounds.
func (f *Field) memberValues() []Value {
	s := f.rule
	switch {
	case s.has("string"):
		var values []Value
		for _, v := range f.textValues() {
			v.Raw = quote(v.Raw)
			values = append(values, v)
		}
		return append(values,
			Value{"a lone surrogate", `"\ud800"`, true}, Value{"a reversed pair", `"\udc00\ud800"`, true},
			Value{"invalid UTF-8", "\"\xff\xfe\"", true}, Value{"overlong UTF-8", "\"\xc0\x80\"", true}, Value{"a raw control", "\"\x01\"", true},
		)
	case s.has("integer"), s.has("number"):
		return f.numberValues()
	case s.has("array"):
		return f.listValues()
	case s.MaxBytes != nil || s.has("object") && s.Properties == nil:
		return f.freeObjects()
	}
	return nil
}

// foreignValues returns values of types that the member does not have, and texts that are not JSON. A member
// without a type may have any value, so null and the values of the second list may be accepted for it.
func (f *Field) foreignValues() []Value {
	s := f.rule
	free := len(s.Type) == 0
	values := []Value{
		{"null", "null", f.must && !free},
		{"NaN", "NaN", true},
		{"Infinity", "-Infinity", true},
		{"a leading zero", "01", true},
		{"a bare word", "x", true},
		{"nothing", "", !strings.HasSuffix(f.Name, "[]")},
		{"nested too deeply", strings.Repeat("[", 40) + strings.Repeat("]", 40), true},
		{"nested 100,000 deep", strings.Repeat("[", 100_000), true},
	}
	for _, kind := range []struct{ name, raw string }{
		{"string", `"x"`},
		{"number", "7"},
		{"boolean", "true"},
		{"array", "[]"},
		{"object", "{}"},
		{"array", `[[]]`},
		{"object", `{"a":[1]}`},
		{"number", "1e308"},
		{"number", "1e999"},
		{"number", "-0"},
		{"number", "9007199254740993"},
	} {
		// The document tells integers from numbers, and JSON does not: a number is foreign to neither.
		if !s.has(kind.name) && (kind.name != "number" || !s.has("integer")) {
			values = append(values, Value{"of another type: " + kind.raw, kind.raw, !free})
		}
	}
	return values
}

// invalidBodies returns whole bodies that are not what an operation expects: no JSON, JSON of another type, JSON
// that decoders read in different ways, and JSON that costs a decoder much.
func invalidBodies() []Value {
	deep := strings.Repeat(`{"a":`, 20_000)
	return []Value{
		{"empty", "", false},
		{"an empty object", "{}", false},
		{"null", "null", true},
		{"an array", "[]", true},
		{"a text", `"x"`, true},
		{"a number", "1e308", true},
		{"no JSON", "nope", true},
		{"cut", `{"title":"`, true},
		{"two values", "{}{}", true},
		{"a comma", "{,}", true},
		{"a BOM", "\ufeff{}", true},
		{"NUL behind", "{}\x00", true},
		{"invalid UTF-8", "{\"x\":\"\xff\"}", true},
		{"a name of invalid UTF-8", "{\"\xc3\x28\":1}", true},
		{"a name twice", `{"x":1,"x":2}`, true},
		{"a name twice, escaped", `{"x":1,"\u0078":2}`, true},
		{"a lone surrogate", `{"x":"\udfff"}`, true},
		{"deep", deep, true},
		{"deep and closed", `{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}", true},
		{"many unknown members", "{" + unknownMembers(2000) + "}", false},
		{"a huge number", `{"x":` + strings.Repeat("9", 10_000) + `}`, false},
	}
}

// unknownMembers returns n members that no request has. A service may ignore them, but it must not fail on them.
func unknownMembers(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"unknown%d":%d`, i, i)
	}
	return strings.Join(parts, ",")
}

// parameterValues returns the texts for a parameter. Texts that can't travel in a header or a path are left out. A
// text that a service can't tell from an absent parameter is never expected to be refused.
func (f *Field) parameterValues() []Value {
	// The texts are quoted here. The values after them can't be made by quoting: they are wrong already as JSON.
	var values []Value
	s := f.rule
	switch {
	case s.has("integer"), s.has("number"):
		values = f.numberValues()
		for _, text := range []string{"", " ", "1 ", "+1", "0x10", "1e3", "1_000", "NaN", "Infinity", "١", "\x00", "\xff", "9007199254740993", "-9223372036854775809"} {
			values = append(values, Value{"the number " + strconv.Quote(text), text, text != "" && text != "9007199254740993" && text != "1e3"})
		}
	case s.has("boolean"):
		for _, text := range []string{"true", "false", "TRUE", "1", "", "yes", "\x00"} {
			values = append(values, Value{"the boolean " + strconv.Quote(text), text, text != "true" && text != "false" && text != ""})
		}
	case s.has("array"):
		values = []Value{
			{"no element", "", false},
			{"empty elements", ",,,,", false},
			{"10,000 elements", strings.Repeat("a,", 3000), true},
			{"NUL", "\x00", true},
			{"invalid UTF-8", "\xff", true},
		}
	default:
		values = append(f.textValues(), Value{"invalid UTF-8", "\xff\xfe", true})
	}
	if f.In == InHeader {
		values = slices.DeleteFunc(values, func(v Value) bool { return !sendable(v.Raw) })
	}
	// An empty value would make the address of another operation.
	if f.In == InPath {
		values = slices.DeleteFunc(values, func(v Value) bool { return v.Raw == "" })
	}
	for i := range values {
		if len(values[i].Raw) > 6000 { // a request's head has 8 KB
			values[i].Raw = values[i].Raw[:2000]
		}
		if values[i].Raw == "" || f.In == InHeader && strings.TrimSpace(values[i].Raw) == "" {
			values[i].Refused = false // counts as absent
		}
	}
	return values
}

// sendable reports whether a client's library sends the text in a header. Libraries refuse control characters,
// because a line break would begin another header.
func sendable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
}

// numberValues returns numbers at and beyond the bounds, and numbers on which decoders differ.
func (f *Field) numberValues() []Value {
	s := f.rule
	integer := s.has("integer")
	values := []Value{{"a huge number", "1e999", true}}
	add := func(name, raw string) {
		n, ok := new(big.Rat).SetString(raw)
		if !ok {
			return
		}
		// Fractions of big integers compare exactly. A float64 would find some of these numbers equal to the bound
		// beside them.
		beyond := s.Minimum != nil && n.Cmp(parseRational(*s.Minimum)) < 0 || s.Maximum != nil && n.Cmp(parseRational(*s.Maximum)) > 0
		values = append(values, Value{name + " " + raw, raw, beyond || integer && !n.IsInt()})
	}
	for _, raw := range []string{
		"0", "-0", "1", "-1", "0.5", "1.0", "1e0", "1e308", "-1e308", "4.9e-324", "1e-400", "0.001", "9007199254740993", "-9007199254740993",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "2147483648", "4294967296",
		strings.Repeat("9", 400), "0." + strings.Repeat("3", 400),
	} {
		add("the number", raw[:min(len(raw), 400)])
	}
	for _, bound := range []*json.Number{s.Minimum, s.Maximum} {
		if bound == nil {
			continue
		}
		n := parseRational(*bound)
		add("the bound", bound.String())
		// An integer's neighbours are one apart. An amount of money in major units has neighbours one hundredth
		// apart.
		for _, step := range []string{"1", "-1", "1/100", "-1/100"} {
			by, _ := new(big.Rat).SetString(step)
			if next := new(big.Rat).Add(n, by); !integer || next.IsInt() {
				add("beside the bound", strings.TrimSuffix(next.FloatString(2), ".00"))
			}
		}
	}
	return values
}

// parseRational reads a number exactly.
func parseRational(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// listValues returns arrays with as many elements as allowed, and with one more. The elements are of the right type
// but need not be valid: a list that is too long must be refused for its length.
func (f *Field) listValues() []Value {
	values := []Value{{"no element", "[]", f.rule.MinItems > 0}, {"null elements", "[null]", false}, {"a hole", "[,]", true}, {"lists in it", "[[],[]]", true}}
	element := "1"
	if items := f.rule.Items; items != nil && items.has("string") {
		element = `"x"`
	} else if items != nil && !items.has("integer") && !items.has("number") {
		element = "{}"
	}
	if most := f.rule.MaxItems; most != nil {
		values = append(values, Value{"as many as may be", "[" + times(element, *most) + "]", false}, Value{"one too many", "[" + times(element, *most+1) + "]", true})
	}
	return append(values, Value{"20,000 elements", "[" + times(element, 20_000) + "]", f.rule.MaxItems != nil && *f.rule.MaxItems < 20_000})
}

// times repeats an element, with commas between.
func times(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

// freeObjects returns values for a member that takes an object with any members. Names and texts in it are the
// client's own, so the document bounds only its bytes. It is refused as well if it is nested too deeply, and if it
// can't be read back as it was written.
func (f *Field) freeObjects() []Value {
	values := []Value{
		{"empty", "{}", false},
		{"names without letters", `{"":1," ":2,"\n":3,"__proto__":4}`, false},
		{"numbers", `{"a":-0,"b":1e308,"c":9007199254740993,"d":0.1e-400}`, false},
		{"a huge number", `{"a":[1e999]}`, true},
		{"a name twice", `{"a":{"b":1,"b":2}}`, true},
		{"NUL", `{"a":"\u0000"}`, true},
		{"a name of NUL", `{"\u0000":1}`, true},
		{"a lone surrogate", `{"a":"\ud800"}`, true},
		{"25 deep", `{"a":` + strings.Repeat("[", 25) + strings.Repeat("]", 25) + "}", false},
		{"40 deep", `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}", true},
		{"what it is read for, of other types", `{"requireIdCheck":"yes","courseType":[],"certificateTemplate":{"a":1}}`, false},
	}
	if most := f.rule.MaxBytes; most != nil {
		// The frame around the text has eight bytes.
		fill := func(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }
		values = append(values, Value{"as long as may be", fill(*most), false}, Value{"one byte too long", fill(*most + 1), true})
	}
	return values
}

// quote writes a text as JSON. Bytes that are not UTF-8 stay as they are, because the service must meet them: an
// encoder would replace them.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		if c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + `"`
}

// hostile are texts that often break decoders, stores, pages, mails and logs.
var hostile = []struct{ name, text string }{
	{"a space", " "},
	{"spaces", "   \t "},
	{"RTL", "\u202e\u202dabc \u05d0\u05d1\u0627\u0644"},
	{"combining marks", "a" + strings.Repeat("\u0301", 80)},
	{"4 bytes", "💥👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿"},
	{"a BOM", "\ufeffabc"},
	{"separators", "a\u2028b\u2029c\u0085d"},
	{"controls", "a\x01\x1b[31m\x7f"},
	{"a replacement", "\ufffd\ufffd\ufffd"},
	{"no character", "\uffff\U0010ffff\ufdd0"},
	{"line breaks", "abc\r\nBcc: victim@example.org\r\n\r\nx"},
	{"markup", `"><script>alert(1)</script><svg onload=alert(1)>`},
	{"a template", "{{.}}${7*7}<%= 7 %>"},
	{"SQL", "'; DROP TABLE orders; --"},
	{"percent", "%00%ff%2e%2e%2f"},
	{"a path", "../../../../etc/passwd"},
	{"a script's address", "javascript:alert(1)"},
	{"NaN", "NaN"},
	{"null", "null"},
	{"a number", "1e999"},
	{"minus nothing", "-0"},
	{"a media file", "/media/9223372036854775807"},
	{"a media file beyond", "/media/9223372036854775808"},
	{"an id", "00000000-0000-8000-8000-000000000000"},
	{"the last id", "ffffffff-ffff-8fff-bfff-ffffffffffff"},
	{"the number of an id", "9223372036854775807"},
	{"beyond the numbers of ids", "9223372036854775808"},
	{"less than no id", "-1"},
}

// textValues returns strings at and beyond the rule's bounds, and strings in its format and others.
func (f *Field) textValues() []Value {
	s := f.rule
	values := []Value{{"NUL", "\x00", !s.AnyText}, {"NUL within", "abc\x00def", !s.AnyText}, {"empty", "", s.rulesOut("")}}
	for _, h := range hostile {
		values = append(values, Value{h.name, h.text, s.rulesOut(h.text)})
	}
	// A bound counts characters. Letters of one, two and four bytes and a combining mark show whether the service
	// or its database counts bytes instead.
	for _, letter := range []string{"a", "ü", "💥", "\u0301"} {
		for _, n := range s.lengthsAtBounds() {
			text := strings.Repeat(letter, n)
			values = append(values, Value{fmt.Sprintf("%d of %s", n, letter), text, s.rulesOut(text)})
		}
	}
	for _, allowed := range s.Enum {
		if text, ok := allowed.(string); ok {
			values = append(values, Value{"the word " + text, text, false}, Value{"the word in upper case", strings.ToUpper(text) + "X", true})
		}
	}
	// Which addresses are valid the document can't say, so a text of the format uri may be accepted or refused.
	for _, text := range formatted[s.Format] {
		values = append(values, Value{s.Format + " " + text[:min(len(text), 60)], text, s.Format != "uri" && s.rulesOut(text)})
	}
	if strings.HasPrefix(s.Format, "date-time") {
		values = append(values, instantValues(s.Format == "date-time")...)
	}
	return values
}

// lengthsAtBounds returns lengths at the bounds and far beyond them.
func (s *schema) lengthsAtBounds() []int {
	lengths := []int{1, 100_000}
	if s.MinLength > 0 {
		lengths = append(lengths, s.MinLength-1, s.MinLength)
	}
	if s.MaxLength != nil {
		lengths = append(lengths, *s.MaxLength, *s.MaxLength+1)
	}
	return lengths
}

// rulesOut reports whether the document rules a text out. It judges a format only by what can be seen in the
// letters, such as the length of a country's code. It never rules out a text that the service may accept: a wrong
// verdict would report an error that the service does not have.
func (s *schema) rulesOut(text string) bool {
	n := utf8.RuneCountInString(text)
	switch {
	case n < s.MinLength, s.MaxLength != nil && n > *s.MaxLength, strings.IndexByte(text, 0) >= 0, !utf8.ValidString(text):
		return true
	case len(s.Enum) > 0:
		return !slices.Contains(s.Enum, any(text))
	}
	switch s.Format {
	case "date-time":
		return isOutside(text)
	case "uuid":
		return len(text) != 36
	case "email":
		return strings.Count(text, "@") != 1 || len(text) > 254 || strings.ContainsAny(text, " \r\n\"<>")
	case "country":
		return len(text) != 2
	case "currency":
		return len(text) != 3
	case "timezone":
		return text != "UTC" && !strings.Contains(text, "/") || strings.HasPrefix(text, "right/") || strings.HasPrefix(text, "posix/")
	case "uri":
		return !strings.HasPrefix(text, "http") && !strings.HasPrefix(text, "/media/")
	case "id":
		return strings.ContainsFunc(text, func(r rune) bool { return r > 'z' || r <= ' ' })
	}
	return false
}

// formatted are texts close to each format, some valid and some not.
var formatted = map[string][]string{
	"email": {
		strings.Repeat("a", 64) + "@" + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 57) + ".org", "a@b", "a@b.c", "@b.c", "a@", "a@@b.c", "a b@c.d", "a@b.c\r\nBcc: d@e.f",
		"\"a\"@b.c", "a@[127.0.0.1]", "ü@ü.de", "a@b..c", ".a@b.c", "a@-b.c", "a+b@c.d", "A@B.C",
	},
	"uri": {
		"http://a", "https://a.b/" + strings.Repeat("c", 3000), "javascript:alert(1)", "//a.b", "https://a:b@c.d", "https://[::1]", "https://[::1", "http://a.b:99999999", "https://a.b/\r\nX: y", "data:text/html,x",
		"https://xn--ls8h.la", "https://💥.la", "/media/1", "/media/../x", "/media/", "file:///etc/passwd", "HTTP://A.B",
	},
	"uuid":     {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "FFFFFFFF-FFFF-8FFF-BFFF-FFFFFFFFFFFF", "{00000000-0000-0000-0000-000000000000}", "00000000000000000000000000000000", "g0000000-0000-0000-0000-000000000000"},
	"timezone": {"UTC", "Local", "right/UTC", "posix/UTC", "Europe/Berlin", "Pacific/Kiritimati", "Factory", "posixrules", "../UTC", "Etc/GMT+12", "europe/berlin"},
	"country":  {"NG", "ng", "XX", "N", "NGA"},
	"currency": {"USD", "usd", "XXX", "EUR", "BTC"},
	"date":     {"1970-01-01", "9999-12-31", "0000-01-01", "10000-01-01", "2026-02-29", "2026-02-30", "2026-1-1"},
}

// instantValues returns moments at the edges of calendars and clocks, with every extreme offset. With strict a date
// without a time is no valid value.
func instantValues(strict bool) []Value {
	var values []Value
	for _, moment := range []string{
		"0000-01-01T00:00:00", "0001-01-01T00:00:00", "1582-10-10T12:00:00", "1969-12-31T23:59:59.999", "1970-01-01T00:00:00", "1970-01-01T00:00:00.001", "1999-12-31T23:59:60",
		"2038-01-19T03:14:08", "2262-04-11T23:47:16.854775807", "2262-04-11T23:47:17", "2030-02-29T00:00:00", "2032-02-29T00:00:00", "2030-06-01T24:00:00", "2030-06-01T00:00:00.123456789123",
		"9994-12-31T23:59:59", "9999-12-31T00:00:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59.999999999", "10000-01-01T00:00:00", "+12030-01-01T00:00:00", "-0001-01-01T00:00:00", "2030-1-1T0:00:00",
	} {
		for _, offset := range []string{"Z", "+00:00", "-00:00", "+14:00", "-12:00", "+23:59", "-23:59", "+24:00", "", "z"} {
			text := moment + offset
			values = append(values, Value{"the time " + text, text, isOutside(text)})
		}
	}
	for _, day := range []string{"1970-01-01", "9999-12-31", "2026-01-01", "0000-00-00", "0001-01-01", "10000-01-01"} {
		values = append(values, Value{"the date " + day, day, strict || day[:4] < "1970" || len(day) > 10})
	}
	return values
}

// isOutside reports whether a text is no instant of the years 1970 to 9999 in UTC.
func isOutside(text string) bool {
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text)) // RFC 3339, 5.6: T and Z may be in lower case
	return err != nil || t.UTC().Year() < 1970 || t.UTC().Year() > 9999
}

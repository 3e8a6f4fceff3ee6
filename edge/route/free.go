package route

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route/format"
)

var freeType = reflect.TypeFor[jsontext.Value]()

// free reads JSON of any form and keeps it as it was written.
type free struct {
	max    int // bytes; -1: no bound
	object bool
	links  bool // the value must be an object whose members are web addresses (judgeLinks)
}

// json keeps the next JSON value as it was written, if it fits the field's tags and has neither the character
// U+0000 nor a number beyond a float64. Otherwise it reports one issue and leaves v unset.
func (f *free) json(d *decoder, v reflect.Value) error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case (f.object || f.links) && raw.Kind() != '{':
		d.reportIssue(problem{IssueType, "must be an object"})
	case f.max >= 0 && len(raw) > f.max:
		d.reportIssue(problem{IssueMaxLength, "must have at most " + strconv.Itoa(f.max) + " bytes"})
	case escapesNUL(raw):
		d.reportIssue(problem{IssueFormat, mustNotNUL})
	case hasHugeNumber(raw):
		d.reportIssue(problem{IssueType, "must not hold a number beyond 1.8e308"})
	case f.links:
		if p := judgeLinks(raw); p != nil {
			d.reportIssue(*p)
		} else {
			v.SetBytes(slices.Clone(raw))
		}
	default:
		v.SetBytes(slices.Clone(raw))
	}
	return nil
}

// These bound an object of links.
const (
	maxLinks     = 20
	maxLinkName  = 40   // characters
	maxLinkChars = 2048 // characters of an address
)

// judgeLinks returns what is wrong with an object of links, or nil.
func judgeLinks(raw jsontext.Value) *problem {
	var links map[string]string
	if json.Unmarshal(raw, &links) != nil {
		return &problem{IssueType, "must hold nothing but addresses, by platform"}
	}
	if len(links) > maxLinks {
		return &problem{IssueMaxItems, "must have at most " + strconv.Itoa(maxLinks) + " members"}
	}
	for name, address := range links {
		if name == "" || utf8.RuneCountInString(name) > maxLinkName {
			return &problem{IssueMaxLength, "must have names of 1 to " + strconv.Itoa(maxLinkName) + " characters"}
		}
		if utf8.RuneCountInString(address) > maxLinkChars || !format.ValidURI(address) {
			return &problem{IssueFormat, "must hold absolute http or https addresses"}
		}
	}
	return nil
}

// escapesNUL reports whether a string in raw contains the character U+0000, which JSON can only
// write as an escape.
func escapesNUL(raw []byte) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return false
		}
		if bytes.HasPrefix(raw[i:], []byte(`\u0000`)) {
			return true
		}
		raw = raw[i+2:] // past the escaped character, which may be a backslash
	}
}

// hasHugeNumber reports whether raw contains a number beyond a float64. Most readers of JSON refuse
// such a number together with the whole text around it.
func hasHugeNumber(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(raw) && strings.IndexByte("0123456789+-.eE", raw[end]) >= 0 {
				end++
			}
			if _, err := strconv.ParseFloat(string(raw[i:end]), 64); err != nil {
				return true
			}
			i = end - 1
		}
	}
	return false
}

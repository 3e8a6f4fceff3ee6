package route

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

var freeType = reflect.TypeFor[jsontext.Value]()

// free reads JSON of any form, which is kept as it was written.
type free struct {
	max    int // bytes; -1: no bound
	object bool
}

func (f *free) json(d *decoder, v reflect.Value) error {
	raw, err := d.json.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case f.object && raw.Kind() != '{':
		d.report(problem{IssueType, "must be an object"})
	case f.max >= 0 && len(raw) > f.max:
		d.report(problem{IssueMaxLength, "must have at most " + strconv.Itoa(f.max) + " bytes"})
	case escapesNUL(raw):
		d.report(problem{IssueFormat, mustNotNUL})
	default:
		v.SetBytes(slices.Clone(raw))
	}
	return nil
}

// escapesNUL says whether a string in raw holds the character U+0000, which
// JSON can only write as an escape.
func escapesNUL(raw []byte) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return false
		}
		if bytes.HasPrefix(raw[i:], []byte(`\u0000`)) {
			return true
		}
		raw = raw[i+2:] // past what is escaped, a backslash perhaps
	}
}

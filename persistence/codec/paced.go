package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// These are CBOR's major types (RFC 8949, section 3.1), which are the upper three bits of an item's
// first byte.
const (
	cborUint  = 0 << 5
	cborArray = 4 << 5
	cborMap   = 5 << 5
)

// Write encodes this many elements of a list between two calls of rest: chunk of a list of structs, numbers of a
// list of numbers. Encoding that many takes some tenths of a millisecond.
const (
	chunk   = 256
	numbers = 16_384
)

// Write writes the same bytes that Marshal returns, but in small steps, and calls rest between
// them. Encoding a state of 200,000 open orders takes half a second, and without rests buyers would
// wait for a core during that time. v points to a struct whose fields all have integer keys. Write
// stops at the first error of w or rest.
func Write(w io.Writer, v any, rest func() error) error {
	state := reflect.ValueOf(v).Elem()
	all, err := fieldsOf(state.Type())
	if err != nil {
		return err
	}
	// The head of the map needs the number of fields, so the empty ones are left out before
	// anything is written.
	var fields []field
	for _, f := range all {
		if !f.optional || !empty(state.FieldByIndex(f.index)) {
			fields = append(fields, f)
		}
	}
	p := pacedWriter{to: w, rest: rest}
	p.buf.Write(itemHead(cborMap, len(fields)))
	for _, f := range fields {
		p.buf.Write(itemHead(cborUint, f.key))
		if value := state.FieldByIndex(f.index); f.chunk > 0 && value.Len() > f.chunk {
			err = p.encodeList(value, f.chunk)
		} else {
			err = p.encodeStep(value, 0)
		}
		if err != nil {
			return fmt.Errorf("codec: write %s: %w", state.Type(), err)
		}
	}
	return nil
}

// pacedWriter is the state of one call of Write.
type pacedWriter struct {
	to   io.Writer
	rest func() error
	buf  bytes.Buffer // encoded but not yet written
	item bytes.Buffer
}

// encodeList encodes a list in chunks. Each chunk is encoded as a list of its own, and the head of
// that list is then left out.
func (p *pacedWriter) encodeList(list reflect.Value, chunk int) error {
	n := list.Len()
	p.buf.Write(itemHead(cborArray, n))
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		if err := p.encodeStep(list.Slice(from, to), len(itemHead(cborArray, to-from))); err != nil {
			return err
		}
	}
	return nil
}

// encodeStep encodes a value, writes the encoding without its first bytes, as many as without says, and rests.
func (p *pacedWriter) encodeStep(v reflect.Value, without int) error {
	p.item.Reset()
	if err := encoding.MarshalToBuffer(v.Interface(), &p.item); err != nil {
		return err
	}
	p.buf.Write(p.item.Bytes()[without:])
	if _, err := p.buf.WriteTo(p.to); err != nil {
		return err
	}
	return p.rest()
}

// itemHead returns the shortest head of an item with a length or a value n (RFC 8949, section 3).
// Marshal writes the shortest head too.
func itemHead(major byte, n int) []byte {
	switch {
	case n < 24:
		return []byte{major | byte(n)}
	case n < 1<<8:
		return []byte{major | 24, byte(n)}
	case n < 1<<16:
		return binary.BigEndian.AppendUint16([]byte{major | 25}, uint16(n))
	default:
		return binary.BigEndian.AppendUint32([]byte{major | 26}, uint32(n)) //nolint:gosec // a length in memory
	}
}

// field says how one field of a struct is encoded.
type field struct {
	index    []int // path to the field, for reflect.Value.FieldByIndex
	key      int
	optional bool
	chunk    int // for a list that may be long: how many elements to encode at once; 0 for others
}

// marshaler is implemented by columns, which encode themselves as one string of bytes.
var marshaler = reflect.TypeFor[interface{ MarshalBinary() ([]byte, error) }]()

var fieldsByType sync.Map // of reflect.Type: []field

// fieldsOf returns the fields of a struct type, and remembers them, because reflection over a large
// state is slow.
func fieldsOf(t reflect.Type) ([]field, error) {
	if fields, ok := fieldsByType.Load(t); ok {
		return fields.([]field), nil //nolint:errcheck // only such lists are in it
	}
	fields, err := appendFields(nil, t, nil)
	if err != nil {
		return nil, err
	}
	fieldsByType.Store(t, fields)
	return fields, nil
}

// appendFields appends the fields of t. t is the type of the embedded field at the index path at,
// or of the whole struct. The fields of an embedded struct without a key of its own count as fields
// of the struct that embeds it, as they do for Marshal.
func appendFields(fields []field, t reflect.Type, at []int) ([]field, error) {
	for i := range t.NumField() {
		f, path := t.Field(i), append(slices.Clone(at), i)
		if f.Anonymous && f.Tag.Get("cbor") == "" {
			var err error
			if fields, err = appendFields(fields, f.Type, path); err != nil {
				return nil, err
			}
			continue
		}
		number, options, _ := strings.Cut(f.Tag.Get("cbor"), ",")
		key, err := strconv.Atoi(number)
		if err != nil || key < 0 || options != "keyasint" && options != "keyasint,omitempty" {
			return nil, fmt.Errorf("codec: field %s of %s has no integer key", f.Name, t)
		}
		one := field{index: path, key: key, optional: options != "keyasint"}
		if f.Type.Kind() == reflect.Slice && f.Type.PkgPath() == "" {
			switch elem := f.Type.Elem(); {
			case elem.Implements(marshaler), elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Array: // pieces of a column
				one.chunk = 1
			case elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Struct:
				one.chunk = chunk
			case elem.Size() >= 4 && elem.ConvertibleTo(reflect.TypeFor[int64]()): // a list of bytes is a string
				one.chunk = numbers
			}
		}
		fields = append(fields, one)
	}
	return fields, nil
}

// empty reports whether the option omitempty leaves a value out.
func empty(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

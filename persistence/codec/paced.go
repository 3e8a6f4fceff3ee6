package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// CBOR major types (RFC 8949, section 3.1).
const (
	cborUint  = 0 << 5
	cborArray = 4 << 5
	cborMap   = 5 << 5
)

// chunk is how many elements of a list are encoded between two rests, which takes some tenths of a
// millisecond.
const chunk = 256

// Write writes what Marshal returns, but in small steps between which it calls rest: encoding a
// state of 200,000 open orders takes half a second, during which buyers would wait for a core. v
// points to a struct whose fields all have integer keys. Write stops at the first error of w or
// rest.
func Write(w io.Writer, v any, rest func() error) error {
	state := reflect.ValueOf(v).Elem()
	all, err := fieldsOf(state.Type())
	if err != nil {
		return err
	}
	var fields []field
	for _, f := range all {
		if !f.optional || !empty(state.Field(f.index)) {
			fields = append(fields, f)
		}
	}
	p := pacedWriter{to: w, rest: rest}
	p.buf.Write(head(cborMap, len(fields)))
	for _, f := range fields {
		p.buf.Write(head(cborUint, f.key))
		if value := state.Field(f.index); f.chunk > 0 && value.Len() > f.chunk {
			err = p.list(value, f.chunk)
		} else {
			err = p.step(value, 0)
		}
		if err != nil {
			return fmt.Errorf("codec: write %s: %w", state.Type(), err)
		}
	}
	return nil
}

// pacedWriter is one call of Write.
type pacedWriter struct {
	to   io.Writer
	rest func() error
	buf  bytes.Buffer // encoded but not yet written
	item bytes.Buffer
}

// list encodes a list in chunks. Each chunk is encoded as a list, of which the head is left out.
func (p *pacedWriter) list(list reflect.Value, chunk int) error {
	n := list.Len()
	p.buf.Write(head(cborArray, n))
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		if err := p.step(list.Slice(from, to), len(head(cborArray, to-from))); err != nil {
			return err
		}
	}
	return nil
}

// step encodes a value, writes all except its first bytes, and rests.
func (p *pacedWriter) step(v reflect.Value, without int) error {
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

// head returns the shortest head of an item (RFC 8949, section 3).
func head(major byte, n int) []byte {
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

// field is a field of a struct.
type field struct {
	index, key int
	optional   bool
	chunk      int // for a list whose elements take time: how many to encode at once; 0 for others
}

var marshaler = reflect.TypeFor[interface{ MarshalBinary() ([]byte, error) }]()

var fieldsByType sync.Map // of reflect.Type: []field

func fieldsOf(t reflect.Type) ([]field, error) {
	if fields, ok := fieldsByType.Load(t); ok {
		return fields.([]field), nil //nolint:errcheck // only such lists are in it
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		number, options, _ := strings.Cut(f.Tag.Get("cbor"), ",")
		key, err := strconv.Atoi(number)
		if err != nil || key < 0 || options != "keyasint" && options != "keyasint,omitempty" {
			return nil, fmt.Errorf("codec: field %s of %s has no integer key", f.Name, t)
		}
		one := field{index: i, key: key, optional: options != "keyasint"}
		if f.Type.Kind() == reflect.Slice && f.Type.PkgPath() == "" {
			switch elem := f.Type.Elem(); {
			case elem.Implements(marshaler): // pages of a column
				one.chunk = 1
			case elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Struct: // lists of numbers take no time
				one.chunk = chunk
			}
		}
		fields = append(fields, one)
	}
	fieldsByType.Store(t, fields)
	return fields, nil
}

// empty reports whether omitempty leaves a value out.
func empty(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// Package codec turns facts and snapshots into bytes and back. A fact is
//
//	uvarint length of the rest | uvarint fact type | CBOR map with integer keys
//
// and the facts of one journal record follow one another. A snapshot is one CBOR map. Fields are added, never
// renumbered; tests compare what is written with golden bytes.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"boxoffice/engine"
	"boxoffice/engine/all"
)

// ErrTruncated says that a record's bytes end in the middle of a fact, or were not written by AppendFact.
var ErrTruncated = errors.New("codec: truncated facts")

var (
	encoding = mustEncoding()
	decoding = mustDecoding()
)

// mustEncoding makes the encoder. It does not sort the keys of maps: the fields of a struct already
// have a fixed order.
func mustEncoding() cbor.UserBufferEncMode {
	m, err := cbor.EncOptions{Sort: cbor.SortNone}.UserBufferEncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}

// mustDecoding makes the decoder. Its limits for arrays and maps are above the defaults of fxamacker/cbor,
// because the snapshot of a big event has long lists.
func mustDecoding() cbor.DecMode {
	m, err := cbor.DecOptions{
		MaxArrayElements: 1 << 27, MaxMapPairs: 1 << 20,
		UTF8: cbor.UTF8DecodeInvalid, // a fact has happened: what was written must be readable
	}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}

// bodies are buffers for a fact's body until its length is known, which is written before it. They
// are pooled, because a buffer for each of a thousand actors would not stay in the CPU's cache.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxBody is the largest buffer that goes back into the pool, in bytes, so that one large fact
// doesn't keep its memory for ever.
const maxBody = 64 << 10

// AppendFact appends a fact's bytes to dst, in the form that the package doc describes.
func AppendFact(dst []byte, f engine.Fact) ([]byte, error) {
	body, _ := bodies.Get().(*bytes.Buffer)
	defer func() {
		if body.Cap() <= maxBody {
			bodies.Put(body)
		}
	}()
	body.Reset()
	if err := encoding.MarshalToBuffer(f, body); err != nil {
		return dst, fmt.Errorf("codec: encode %T: %w", f, err)
	}
	return AppendBody(dst, f.FactType(), body.Bytes()), nil
}

// Facts decodes all facts of a record, in order. kind is the kind of the record's actor, because
// each kind numbers its own types of facts.
func Facts(kind engine.Kind, b []byte) ([]engine.Fact, error) {
	var facts []engine.Fact
	for len(b) > 0 {
		typ, body, rest, err := Split(b)
		if err != nil {
			return nil, err
		}
		b = rest
		f, err := all.NewFact(kind, typ)
		if err != nil {
			return nil, err
		}
		if err := decoding.Unmarshal(body, f); err != nil {
			return nil, fmt.Errorf("codec: decode %T: %w", f, err)
		}
		facts = append(facts, f)
	}
	return facts, nil
}

// Marshal encodes a snapshot, or a record that is kept in a table.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := encoding.MarshalToBuffer(v, &buf); err != nil {
		return nil, fmt.Errorf("codec: encode %s: %w", reflect.TypeOf(v), err)
	}
	return buf.Bytes(), nil
}

// Unmarshal decodes what Marshal encoded into the value that v points to.
func Unmarshal(b []byte, v any) error {
	if err := decoding.Unmarshal(b, v); err != nil {
		return fmt.Errorf("codec: decode %s: %w", reflect.TypeOf(v), err)
	}
	return nil
}

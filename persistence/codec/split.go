package codec

import (
	"encoding/binary"

	"boxoffice/engine"
)

// Split splits off the first fact of a record's bytes without decoding it. It returns the fact's type, its CBOR
// map, and the bytes of the facts after it. It returns ErrTruncated if AppendFact can't have written the bytes.
func Split(b []byte) (typ engine.FactType, body, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size == 0 || size > uint64(len(b)-n) {
		return 0, nil, nil, ErrTruncated
	}
	one, rest := b[n:n+int(size)], b[n+int(size):]
	t, n := binary.Uvarint(one)
	// Volatile facts are never journaled, so their types can't occur here.
	if n <= 0 || t >= uint64(engine.VolatileFrom) {
		return 0, nil, nil, ErrTruncated
	}
	return engine.FactType(t), one[n:], rest, nil
}

// AppendBody appends a fact to dst. typ is the fact's type, and body is its CBOR map, encoded already.
func AppendBody(dst []byte, typ engine.FactType, body []byte) []byte {
	var head [binary.MaxVarintLen16]byte
	n := binary.PutUvarint(head[:], uint64(typ))
	dst = binary.AppendUvarint(dst, uint64(n+len(body)))
	dst = append(dst, head[:n]...)
	return append(dst, body...)
}

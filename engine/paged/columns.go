package paged

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"boxoffice/engine"
)

// Column is a column of numbers in a snapshot. It is encoded as one string of little-endian bytes:
// 100,000 numbers are decoded in well under a millisecond, while a list of them takes many
// milliseconds.
type Column[T int64 | uint64 | uint32 | uint16] []T

// MarshalBinary encodes the column.
func (c Column[T]) MarshalBinary() ([]byte, error) {
	return binary.Append(nil, binary.LittleEndian, []T(c))
}

// UnmarshalBinary decodes the column. It returns an error if the length does not fit.
func (c *Column[T]) UnmarshalBinary(b []byte) (err error) {
	*c, err = readNumbers[T](b)
	return err
}

// readNumbers decodes numbers of T's size. It returns an error if b is not a whole number of them.
func readNumbers[T any](b []byte) ([]T, error) {
	var zero T
	size := binary.Size(zero)
	if len(b)%size != 0 {
		return nil, fmt.Errorf("engine: column of %d-byte numbers has %d bytes", size, len(b))
	}
	all := make([]T, len(b)/size)
	_, err := binary.Decode(b, binary.LittleEndian, all)
	return all, err
}

// Paged is a column of numbers, bytes or ids in pages, like the pages of Rows and Queue. A snapshot of it
// shares the pages and copies nothing. It is encoded in the same way as a Column, a []byte or IDs, so a list
// may change its form in memory without changing snapshots.
type Paged[T byte | uint16 | uint32 | int64 | uint64 | engine.ID] [][]T

// Len returns the number of elements.
func (p Paged[T]) Len() int {
	n := 0
	for _, page := range p {
		n += len(page)
	}
	return n
}

// MarshalBinary encodes the column.
func (p Paged[T]) MarshalBinary() (b []byte, err error) {
	var zero T
	b = make([]byte, 0, p.Len()*binary.Size(zero))
	for _, page := range p {
		if ids, ok := any(page).([]engine.ID); ok { // package binary would encode them byte by byte
			b = appendIDs(b, ids)
		} else if b, err = binary.Append(b, binary.LittleEndian, page); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// UnmarshalBinary decodes the column. It returns an error if the length does not fit.
func (p *Paged[T]) UnmarshalBinary(b []byte) error {
	var all []T
	var err error
	switch to := any(&all).(type) {
	case *[]engine.ID:
		*to, err = idsIn(b)
	case *[]byte:
		*to = bytes.Clone(b)
	default:
		all, err = readNumbers[T](b)
	}
	*p = cutPages(all)
	return err
}

// cutPages cuts a list into full pages and a last one, as RowsOf expects them.
func cutPages[T any](all []T) [][]T { return slices.Collect(slices.Chunk(all, pageRows)) }

// MarshalJSON writes the column as one list, without its pages.
func (p Paged[T]) MarshalJSON() ([]byte, error) { return json.Marshal(slices.Concat(p...)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Paged[T]) UnmarshalJSON(b []byte) error {
	var all []T
	err := json.Unmarshal(b, &all)
	*p = cutPages(all)
	return err
}

// Field is a column with one field of rows that lie in pages. It is encoded like a Column. The
// field is read when the column is encoded, and not when the snapshot is taken, so that taking a
// snapshot stays short.
type Field[T uint32 | int64 | uint64] struct {
	// Only one of the two is set.
	numbers []T           // if the column was decoded, or made by NewField
	pages   iter.Seq[[]T] // if it is a field of rows
}

// FieldOf returns the column of one field of the rows. The pages must be frozen: they must not
// change any more.
func FieldOf[R any, T uint32 | int64 | uint64](pages [][]R, of func(*R) T) Field[T] {
	return Field[T]{pages: func(yield func([]T) bool) {
		page := make([]T, 0, pageRows)
		for _, rows := range pages {
			page = page[:0]
			for i := range rows {
				page = append(page, of(&rows[i]))
			}
			if !yield(page) {
				return
			}
		}
	}}
}

// NewField returns a column of these numbers.
func NewField[T uint32 | int64 | uint64](numbers []T) Field[T] { return Field[T]{numbers: numbers} }

// Numbers returns the column's numbers.
func (f Field[T]) Numbers() []T {
	if f.pages == nil {
		return f.numbers
	}
	var all []T
	for page := range f.pages {
		all = append(all, page...)
	}
	return all
}

// MarshalBinary encodes the column.
func (f Field[T]) MarshalBinary() ([]byte, error) { return Column[T](f.Numbers()).MarshalBinary() }

// UnmarshalBinary decodes the column. It returns an error if the length does not fit.
func (f *Field[T]) UnmarshalBinary(b []byte) (err error) {
	f.pages = nil
	f.numbers, err = readNumbers[T](b)
	return err
}

// MarshalJSON writes a list.
func (f Field[T]) MarshalJSON() ([]byte, error) { return json.Marshal(f.Numbers()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Field[T]) UnmarshalJSON(b []byte) error {
	f.pages = nil
	return json.Unmarshal(b, &f.numbers)
}

// IDs is a column of ids in a snapshot, encoded as one string of bytes.
type IDs []engine.ID

// MarshalBinary encodes the column.
func (c IDs) MarshalBinary() ([]byte, error) {
	return appendIDs(make([]byte, 0, len(c)*len(engine.ID{})), c), nil
}

// appendIDs appends the bytes of ids.
func appendIDs(b []byte, ids []engine.ID) []byte {
	for i := range ids {
		b = append(b, ids[i][:]...)
	}
	return b
}

// UnmarshalBinary decodes the column. It returns an error if the length does not fit.
func (c *IDs) UnmarshalBinary(b []byte) (err error) {
	*c, err = idsIn(b)
	return err
}

// idsIn decodes what appendIDs has written.
func idsIn(b []byte) ([]engine.ID, error) {
	const size = len(engine.ID{})
	if len(b)%size != 0 {
		return nil, fmt.Errorf("engine: column of ids has %d bytes", len(b))
	}
	all := make([]engine.ID, len(b)/size)
	for i := range all {
		copy(all[i][:], b[i*size:])
	}
	return all, nil
}

// Steps is a column of numbers that differ little from one to the next. Each is encoded as its
// difference from the number before, which mostly takes one byte.
type Steps []int32

// MarshalBinary encodes the column.
func (c Steps) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, 2*len(c)+4)
	last := int64(0)
	for _, n := range c {
		b = binary.AppendVarint(b, int64(n)-last)
		last = int64(n)
	}
	return b, nil
}

// UnmarshalBinary decodes the column. It returns an error if a number is out of range.
func (c *Steps) UnmarshalBinary(b []byte) error {
	n := 0
	// The bytes that end a number have a clear top bit. Counting them tells how long the list will
	// be before it is made.
	for _, x := range b {
		n += int(^x >> 7) // counts the bytes that end a number
	}
	*c = make(Steps, 0, n)
	last := int64(0)
	for len(b) > 0 {
		d, size := binary.Varint(b)
		if last += d; size <= 0 || last != int64(int32(last)) {
			return fmt.Errorf("engine: column of steps is broken at number %d", len(*c))
		}
		*c = append(*c, int32(last))
		b = b[size:]
	}
	return nil
}

// Strings is a column of short texts in a snapshot or in a large fact. It is encoded as one string
// of bytes.
type Strings []string

// MarshalBinary encodes the column, each text after its length.
func (c Strings) MarshalBinary() ([]byte, error) {
	size := 0
	for _, s := range c {
		size += len(s) + binary.MaxVarintLen16
	}
	b := make([]byte, 0, size)
	for _, s := range c {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b, nil
}

// UnmarshalBinary decodes the column. All texts are parts of one string, so that a long column is
// one object to the garbage collector.
func (c *Strings) UnmarshalBinary(b []byte) error {
	// The first pass checks the lengths and counts the texts, so that the second can't fail.
	all, n := string(b), 0
	for at := 0; at < len(b); n++ {
		l, size := binary.Uvarint(b[at:])
		if size <= 0 || l > uint64(len(b)-at-size) {
			return fmt.Errorf("engine: column of texts is broken at number %d", n)
		}
		at += size + int(l)
	}
	*c = make(Strings, n)
	at := 0
	for i := range *c {
		l, size := binary.Uvarint(b[at:])
		at += size
		(*c)[i] = all[at : at+int(l)]
		at += int(l)
	}
	return nil
}

// Bits is a column of booleans. It is encoded as their number, followed by eight of them in each
// byte.
type Bits []bool

// MarshalBinary encodes the column.
func (c Bits) MarshalBinary() ([]byte, error) {
	b := binary.AppendUvarint(make([]byte, 0, len(c)/8+binary.MaxVarintLen32), uint64(len(c)))
	head := len(b)
	b = append(b, make([]byte, (len(c)+7)/8)...)
	for i, yes := range c {
		if yes {
			b[head+i/8] |= 1 << (i % 8)
		}
	}
	return b, nil
}

// UnmarshalBinary decodes the column. It returns an error if the length does not fit.
func (c *Bits) UnmarshalBinary(b []byte) error {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(8*len(b)) || (int(n)+7)/8 != len(b)-size {
		return fmt.Errorf("engine: column of %d bits has %d bytes", n, len(b))
	}
	*c = make(Bits, n)
	for i := range *c {
		(*c)[i] = b[size+i/8]>>(i%8)&1 == 1
	}
	return nil
}

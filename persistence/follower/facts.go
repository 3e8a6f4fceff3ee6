package follower

import (
	"iter"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Facts returns the record's facts, and decodes them if the record was read back from the journal.
func Facts(r *journal.Record) ([]engine.Fact, error) {
	if r.Facts != nil {
		return r.Facts, nil
	}
	return codec.Facts(r.Ref.Kind, r.Bytes)
}

// Numbered is one fact of a record.
type Numbered struct {
	Seq  int64 // in its stream
	Fact engine.Fact
	Body []byte // its CBOR map, if the record has its bytes
}

// Select yields those facts of a record whose types are wanted, in order. It does not even decode
// the others. After an error it yields nothing more.
func Select(r *journal.Record, wanted func(engine.FactType) bool) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		if r.Bytes == nil {
			yieldFacts(r, wanted, yield)
			return
		}
		left := r.Bytes
		for i := 0; len(left) > 0; i++ {
			typ, body, rest, err := codec.Split(left)
			if err != nil {
				yield(Numbered{}, err)
				return
			}
			one := left[:len(left)-len(rest)]
			left = rest
			if !wanted(typ) {
				continue
			}
			f := Numbered{Seq: r.First + int64(i), Body: body}
			if f.Fact, err = factOf(r, i, one); !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// yieldFacts does what Select does, for a record that has facts but no bytes.
func yieldFacts(r *journal.Record, wanted func(engine.FactType) bool, yield func(Numbered, error) bool) {
	for i, f := range r.Facts {
		if wanted(f.FactType()) && !yield(Numbered{Seq: r.First + int64(i), Fact: f}, nil) {
			return
		}
	}
}

// factOf returns the i-th fact of a record. one has the bytes of this fact.
func factOf(r *journal.Record, i int, one []byte) (engine.Fact, error) {
	if r.Facts != nil {
		return r.Facts[i], nil
	}
	facts, err := codec.Facts(r.Ref.Kind, one)
	if err != nil {
		return nil, err
	}
	return facts[0], nil
}

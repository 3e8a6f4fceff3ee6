package follower

import (
	"iter"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Facts are the record's facts, decoded if it was read back from the journal.
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

// Select yields the facts of a record whose types are wanted, in their order. The others
// are not even decoded. An error is the last thing that it yields.
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

// yieldFacts is Select for a record that was handed over without its bytes.
func yieldFacts(r *journal.Record, wanted func(engine.FactType) bool, yield func(Numbered, error) bool) {
	for i, f := range r.Facts {
		if wanted(f.FactType()) && !yield(Numbered{Seq: r.First + int64(i), Fact: f}, nil) {
			return
		}
	}
}

// factOf is the i-th fact of a record, of which one is the bytes.
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

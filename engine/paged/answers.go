package paged

import (
	"slices"

	"boxoffice/engine"
)

// answersMillis is how long an answer is remembered, in milliseconds. It is as long as clients may
// repeat a request.
const answersMillis = 24 * 3600 * 1000

// Answers remembers for 24 hours how requests were answered, so that a repeated request gets the same answer.
// It keeps only the newest answers, at most as many as Put is told. Each kind of actor chooses its own T.
// Answers are a part of the state: facts fill them and a snapshot keeps them. NewAnswers makes one.
type Answers[T any] struct {
	// These four lists are in step: what is at one index of each belongs to one request.
	ids    Queue[engine.ID]
	prints Queue[uint64]
	at     Queue[int64]
	values Queue[T]
	gone   int // how many have been forgotten in all
	// The index has the position of each ID's newest answer, counted from the first answer ever,
	// so that it need not change when old answers are forgotten.
	index map[engine.ID]int
}

// NewAnswers returns an empty Answers.
func NewAnswers[T any]() Answers[T] { return Answers[T]{index: make(map[engine.ID]int)} }

// Find returns the answer to a request, if it was put at most 24 hours before now (unix
// milliseconds). same reports whether it was this request, and not another one that came with the
// same ID.
func (a *Answers[T]) Find(r engine.Request, now int64) (value T, same, ok bool) {
	i, ok := a.index[r.ID]
	if !ok {
		return value, false, false
	}
	i -= a.gone
	if now-a.at.At(i) > answersMillis {
		return value, false, false
	}
	return a.values.At(i), a.prints.At(i) == r.Print, true
}

// Put adds the answer that a request got at a time (unix milliseconds). It also forgets answers
// beyond most and those older than 24 hours, the oldest first. It forgets at most two in a call, so
// that no call takes long; two are enough for the list to shrink.
func (a *Answers[T]) Put(r engine.Request, at int64, value T, most int) {
	a.index[r.ID] = a.gone + a.ids.Len()
	a.ids.Push(r.ID)
	a.prints.Push(r.Print)
	a.at.Push(at)
	a.values.Push(value)
	for range 2 {
		if a.Len() > most || a.Len() > 1 && a.at.At(0) < at-answersMillis {
			a.forgetOldest()
		}
	}
}

// forgetOldest drops the oldest answer. If its ID was put again later, the index stays with the
// newer answer.
func (a *Answers[T]) forgetOldest() {
	if id := a.ids.At(0); a.index[id] == a.gone {
		delete(a.index, id)
	}
	a.ids.Drop(1)
	a.prints.Drop(1)
	a.at.Drop(1)
	a.values.Drop(1)
	a.gone++
}

// Len returns how many answers are remembered.
func (a *Answers[T]) Len() int { return a.ids.Len() }

// FrozenAnswers is the snapshot of Answers without their values, whose type a snapshot chooses for
// itself.
type FrozenAnswers struct {
	IDs    Paged[engine.ID] `cbor:"1,keyasint"`
	Prints Paged[uint64]    `cbor:"2,keyasint"`
	At     Paged[int64]     `cbor:"3,keyasint"`
}

// Freeze returns the answers as they are now, or nil if there are none.
func (a *Answers[T]) Freeze() (f *FrozenAnswers, values [][]T) {
	if a.Len() == 0 {
		return nil, nil
	}
	return &FrozenAnswers{IDs: a.ids.Freeze(), Prints: a.prints.Freeze(), At: a.at.Freeze()}, a.values.Freeze()
}

// Thaw fills empty Answers from a snapshot, and reports whether its columns are of equal length.
func (a *Answers[T]) Thaw(f *FrozenAnswers, values []T) bool {
	if f == nil {
		return len(values) == 0
	}
	ids, prints, at := slices.Concat(f.IDs...), slices.Concat(f.Prints...), slices.Concat(f.At...)
	if len(ids) != len(prints) || len(ids) != len(at) || len(ids) != len(values) {
		return false
	}
	for i, id := range ids {
		a.Put(engine.Request{ID: id, Print: prints[i]}, at[i], values[i], len(ids))
	}
	return true
}

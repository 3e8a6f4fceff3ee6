package committed

import (
	"slices"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/persistence/journal"
)

// Stock is how many units are left of the ticket types that this node sells or shows, as last
// committed. The cluster's feed of commits calls Observe; edge reads. The methods may be called by
// any goroutine.
type Stock struct {
	limit  int
	left   *xsync.Map[engine.Ref, level]
	missed atomic.Int64 // counts how often facts may have been missed
}

// level is how many units of a ticket type are left. seq is the seq of the fact that said so, in the type's
// stream. It is 0 if the actor's answer said so, and asked while the answer is awaited.
type level struct{ seq, left int64 }

// asked is the seq in the level of a type whose actor is being asked. Any fact replaces such a level.
const asked = -1

// NewStock makes an empty Stock that remembers at most about limit ticket types. When there are
// more, it forgets all of them, and callers must Load each of them again.
func NewStock(limit int) *Stock {
	return &Stock{limit: limit, left: xsync.NewMap[engine.Ref, level]()}
}

// Observe takes in a committed batch. It updates the levels of the ticket types that Load has asked
// for, and leaves out all others. It never waits for an actor or the database.
func (s *Stock) Observe(b *journal.Batch) {
	for i := range b.Records {
		r := &b.Records[i]
		if r.Ref.Kind != engine.KindInventory {
			continue
		}
		// The last fact of the record that says what is left is enough.
		for at, f := range slices.Backward(r.Facts) {
			if left, ok := leftAfter(f); ok {
				s.set(r.Ref, r.First+int64(at), left)
				break
			}
		}
	}
}

// leftAfter returns how many units are left for sale after a fact, if the fact says so. A negative
// number means that there is no limit.
func leftAfter(f engine.Fact) (left int64, ok bool) {
	switch f := f.(type) {
	case *keeper.ReservedFact:
		return f.Left, true
	case *keeper.ReleasedFact:
		return f.Left, true
	case *keeper.ReturnedFact:
		return f.Left, true
	case *inventory.Created:
		return f.Details.Quantity, true
	case *inventory.Updated:
		return f.Left, true
	case *inventory.Awaited:
		return f.Left, true
	default:
		return 0, false
	}
}

// Get returns how many tickets of a type are left, and a negative number if there is no limit. If
// ok is false, this node does not know it, and the caller must Load.
func (s *Stock) Get(ref engine.Ref) (left int64, ok bool) {
	l, ok := s.left.Load(ref)
	return l.left, ok && l.seq != asked
}

// Load asks a type's actor how many tickets are left. It notes the answer, unless a later fact has
// said more in the meantime, or facts may have been missed.
func (s *Stock) Load(ref engine.Ref, ask func() (int64, error)) (int64, error) {
	s.makeRoom(ref)
	missed := s.missed.Load()
	s.left.LoadOrStore(ref, level{asked, 0}) // first, so that facts after the answer are taken in
	left, err := ask()
	if err != nil {
		return 0, err
	}
	s.left.Compute(ref, func(old level, known bool) (level, xsync.ComputeOp) {
		if !known || old.seq != asked || s.missed.Load() != missed {
			return old, xsync.CancelOp
		}
		return level{0, left}, xsync.UpdateOp
	})
	return left, nil
}

// set notes what is left after the fact with that seq. It does nothing if nobody has asked for the
// ticket type, or if a later fact is known.
func (s *Stock) set(ref engine.Ref, seq, left int64) {
	s.left.Compute(ref, func(old level, known bool) (level, xsync.ComputeOp) {
		if !known || old.seq > seq {
			return old, xsync.CancelOp
		}
		return level{seq, left}, xsync.UpdateOp
	})
}

// makeRoom forgets all ticket types if another one would exceed the limit.
func (s *Stock) makeRoom(ref engine.Ref) {
	if s.left.Size() >= s.limit {
		if _, known := s.left.Load(ref); !known {
			s.left.Clear()
		}
	}
}

// Retain forgets the ticket types of all events except those that keep returns true for. Facts of the forgotten
// types no longer reach this node.
func (s *Stock) Retain(keep func(event int64) bool) {
	s.missed.Add(1)
	for ref := range s.left.All() {
		if !keep(ref.Home) {
			s.left.Delete(ref)
		}
	}
}

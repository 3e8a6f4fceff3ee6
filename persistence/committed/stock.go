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

// Stock is what is left of the ticket types that this node sells or shows, as last
// committed: the cluster's feed observes, edge reads. Its methods may be called
// by any goroutine.
type Stock struct {
	limit  int
	left   *xsync.Map[engine.Ref, level]
	missed atomic.Int64 // counts how often facts may have been missed
}

// level is the stock after the fact with that seq in the type's stream; 0 if the actor has said it.
// asked is the seq of one that the actor is being asked for, until facts say more.
type level struct{ seq, left int64 }

const asked = -1

// NewStock makes an empty one that remembers at most limit ticket types. With
// more it forgets all, and each is read through its actor once again.
func NewStock(limit int) *Stock {
	return &Stock{limit: limit, left: xsync.NewMap[engine.Ref, level]()}
}

// Observe takes a committed batch in, of ticket types that were asked for: facts of others may come
// from an owner of long ago, and would never be put right. It never blocks.
func (s *Stock) Observe(b *journal.Batch) {
	for i := range b.Records {
		r := &b.Records[i]
		if r.Ref.Kind != engine.KindInventory {
			continue
		}
		for at, f := range slices.Backward(r.Facts) {
			if left, ok := leftAfter(f); ok {
				s.set(r.Ref, r.First+int64(at), left)
				break
			}
		}
	}
}

// leftAfter is what is left for sale after the fact, if it says so; negative for
// unlimited.
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

// Get returns how many tickets of a type are left, negative if there is no limit. If ok is false, this node
// does not know it, and Load asks the type's actor.
func (s *Stock) Get(ref engine.Ref) (left int64, ok bool) {
	l, ok := s.left.Load(ref)
	return l.left, ok && l.seq != asked
}

// Load asks the actor what is left of a ticket type, and notes it unless
// facts may have been missed in the meantime, or say more.
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

// set notes what is left after the fact with that seq, if the ticket type was
// asked for and no later fact is known.
func (s *Stock) set(ref engine.Ref, seq, left int64) {
	s.left.Compute(ref, func(old level, known bool) (level, xsync.ComputeOp) {
		if !known || old.seq > seq {
			return old, xsync.CancelOp
		}
		return level{seq, left}, xsync.UpdateOp
	})
}

// makeRoom makes room for a ticket type.
func (s *Stock) makeRoom(ref engine.Ref) {
	if s.left.Size() >= s.limit {
		if _, known := s.left.Load(ref); !known {
			s.left.Clear()
		}
	}
}

// Retain forgets the ticket types of all events but those that keep names.
func (s *Stock) Retain(keep func(event int64) bool) {
	s.missed.Add(1)
	for ref := range s.left.All() {
		if !keep(ref.Home) {
			s.left.Delete(ref)
		}
	}
}

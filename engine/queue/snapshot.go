package queue

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/draw"
)

// Frozen is the snapshot of a waiting room.
type Frozen struct {
	Settings  *Settings     `cbor:"1,keyasint"`
	Draw      uint32        `cbor:"2,keyasint"`
	Phase     Phase         `cbor:"3,keyasint"`
	Paused    bool          `cbor:"4,keyasint,omitempty"`
	Leaves    [][]draw.Hash `cbor:"5,keyasint"`
	ByClass   draw.Counts   `cbor:"6,keyasint"`
	Persons   []uint64      `cbor:"7,keyasint"`
	Issued    []uint32      `cbor:"8,keyasint"`
	Drawn     uint32        `cbor:"9,keyasint"`
	DrawnBy   draw.Counts   `cbor:"10,keyasint"`
	Root      draw.Hash     `cbor:"11,keyasint"`
	Signature []byte        `cbor:"12,keyasint,omitempty"`
	Served    uint32        `cbor:"13,keyasint"`
	Credit    int64         `cbor:"14,keyasint"`
	ServedAt  int64         `cbor:"15,keyasint"`
	Draining  bool          `cbor:"16,keyasint,omitempty"`
}

// Freeze returns a copy that shares only what never changes: leaves are only appended.
func (s *State) Freeze() any {
	return &Frozen{
		Settings: s.settings, Draw: s.number, Phase: s.phase, Paused: s.paused, Leaves: s.entries.Chunks(), ByClass: s.byClass,
		Persons: slices.Clone(s.persons), Issued: slices.Clone(s.issued), Drawn: s.drawn, DrawnBy: s.drawnBy, Root: s.root,
		Signature: s.signature, Served: s.served, Credit: s.credit, ServedAt: s.servedAt, Draining: s.draining,
	}
}

// Thaw returns the state that a decoded snapshot describes, and orders the places again. It returns an error if
// the snapshot's lists don't fit. It does not check the state (Check).
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || len(f.Persons) != len(f.Issued) {
		return nil, fmt.Errorf("queue: snapshot of %s is a %T with lists of unequal length", ref.Name(), frozen)
	}
	s := &State{
		ref: ref, settings: f.Settings, number: f.Draw, phase: f.Phase, paused: f.Paused, byClass: f.ByClass, persons: f.Persons,
		issued: f.Issued, drawn: f.Drawn, drawnBy: f.DrawnBy, root: f.Root, signature: f.Signature, served: f.Served,
		credit: f.Credit, servedAt: f.ServedAt, draining: f.Draining,
	}
	for _, leaves := range f.Leaves {
		for _, leaf := range leaves {
			n := s.count()
			if int(n) >= len(s.persons) {
				return nil, fmt.Errorf("queue: snapshot of %s has more leaves than persons", ref.Name())
			}
			s.entries.Append(leaf)
			s.index(n, leaf, s.persons[n])
		}
	}
	s.orderPlaces()
	return s, nil
}

package waitlist

import "slices"

// Frozen is the snapshot of a line.
type Frozen struct {
	Auto         bool     `cbor:"1,keyasint,omitempty"`
	OfferMinutes int64    `cbor:"2,keyasint"`
	Entries      []*Entry `cbor:"3,keyasint,omitempty"`
	Joined       uint64   `cbor:"4,keyasint"`
	Guards       []Guard  `cbor:"5,keyasint,omitempty"`
}

// Freeze returns a copy that shares the entries, which are never changed. It returns nil for a nil
// line.
func (l *Line) Freeze() *Frozen {
	if l == nil {
		return nil
	}
	f := &Frozen{Auto: l.Auto, OfferMinutes: l.OfferMinutes, Entries: slices.Clone(l.entries), Joined: l.joined}
	for _, g := range l.guards {
		f.Guards = append(f.Guards, g.Guard)
	}
	return f
}

// Thaw returns the line that a snapshot describes. Whether types have acknowledged their guards is
// volatile, so every guard is told again.
func Thaw(f *Frozen) *Line {
	if f == nil {
		return nil
	}
	l := New()
	l.Auto, l.OfferMinutes = f.Auto, f.OfferMinutes
	for _, e := range f.Entries {
		l.put(e)
	}
	l.joined = f.Joined
	for _, g := range f.Guards {
		l.guards = append(l.guards, guard{Guard: g})
	}
	return l
}

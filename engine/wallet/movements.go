package wallet

import (
	"cmp"
	"slices"
)

// movement is what is remembered of a credit or debit: enough to answer a repeat of its commands.
// It is never changed, only replaced, because snapshots share it.
type movement struct {
	ID     EntryID   `cbor:"1,keyasint"`
	Kind   EntryKind `cbor:"2,keyasint"` // kind of the movement's last entry
	Print  uint64    `cbor:"3,keyasint"` // hash of the movement's content
	Amount int64     `cbor:"4,keyasint"`
	Made   stamp     `cbor:"5,keyasint"` // stamp of the movement's first entry
	End    stamp     `cbor:"6,keyasint"` // stamp of the entry that ended a pending credit; zero until then
}

// stamp is an entry's number, time and resulting sums.
type stamp struct {
	Number  int64 `cbor:"1,keyasint"`
	Balance int64 `cbor:"2,keyasint"`
	Pending int64 `cbor:"3,keyasint"`
	At      int64 `cbor:"4,keyasint"` // unix milliseconds
}

func (e *Entry) stampOf() stamp { return stamp{e.Number, e.Balance, e.Pending, e.At} }

// maxForget bounds how many movements are forgotten with one entry, so that no entry takes long.
const maxForget = 1_000

// lastAt returns when the movement's last entry was made.
func (m *movement) lastAt() int64 { return max(m.Made.At, m.End.At) }

// rememberEntry stores a movement's entry, and forgets movements whose last entry is older than a day, up to maxForget
// at a time. A pending credit is never forgotten. The entry that ends one (Clear, Void) becomes the second stamp of the
// credit's movement.
func (s *State) rememberEntry(f *Entered) {
	e := &f.Entry
	m := &movement{ID: e.ID, Kind: e.Kind, Print: f.Print, Amount: e.Amount, Made: e.stampOf()}
	// If the movement is known already, this entry ends its pending credit, and the movement gets its second stamp.
	if was := s.known[e.ID]; was != nil {
		ended := *was
		m, ended.Kind, ended.End = &ended, e.Kind, e.stampOf()
		if i, open := s.find(was); open {
			s.open = slices.Delete(s.open, i, i+1)
		}
	}
	if m.Kind == Pended {
		s.open = append(s.open, m)
	}
	s.known[m.ID] = m
	s.recent = append(s.recent, m)
	n := 0
	for n < min(len(s.recent), maxForget) && s.recent[n].lastAt() < e.At-knownMillis {
		if old := s.recent[n]; old.Kind != Pended { // a Pended one is pending, or has ended since
			delete(s.known, old.ID)
		}
		n++
	}
	s.recent = s.recent[n:]
}

// find returns the index of a pending credit in open, which is sorted by the numbers of first
// entries.
func (s *State) find(m *movement) (int, bool) {
	return slices.BinarySearchFunc(s.open, m.Made.Number, func(o *movement, n int64) int { return cmp.Compare(o.Made.Number, n) })
}

// isFull reports whether there is no room to remember another movement. There is room if the oldest one is old enough
// to be forgotten; but a pending credit also needs room among the pending ones, which are never forgotten.
func (s *State) isFull(e *Entry) bool {
	return len(s.recent) >= maxRecent && s.recent[0].lastAt() >= e.At-knownMillis || e.Kind == Pended && len(s.open) >= maxRecent
}

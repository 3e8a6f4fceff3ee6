package keeper

import (
	"maps"
	"slices"
)

// serialBits is the size of a word of serials in bits: 64 consecutive serials share a word.
const serialBits = 6

// serials is a set of serials, 64 to a word. A ledger counts up, so the set of a million ended
// orders takes 16,000 words.
type serials map[uint64]uint64

func (s serials) add(n Serial)      { s[uint64(n>>serialBits)] |= 1 << (n & (1<<serialBits - 1)) }
func (s serials) has(n Serial) bool { return s[uint64(n>>serialBits)]&(1<<(n&(1<<serialBits-1))) != 0 }

// forget drops the words that lie entirely below the floor.
func (s serials) forget(floor Serial) {
	for w := range s {
		if w < uint64(floor>>serialBits) {
			delete(s, w)
		}
	}
}

// freeze lists the words in order, each followed by its bits.
func (s serials) freeze() []uint64 {
	out := make([]uint64, 0, 2*len(s))
	for _, w := range slices.Sorted(maps.Keys(s)) {
		out = append(out, w, s[w])
	}
	return out
}

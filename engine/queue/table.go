package queue

import (
	"encoding/binary"

	"boxoffice/engine/draw"
)

// table finds numbers of entries by a hash. It keeps 4 bytes a slot and no keys: the caller compares the keys of its
// own list. At most seven of eight slots are taken. The zero value is empty.
type table struct {
	slots []uint32 // an entry's number + 1; 0: free
	count uint32
}

// hashOfLeaf returns the start of a leaf, which is a hash already.
func hashOfLeaf(leaf draw.Hash) uint64 { return binary.BigEndian.Uint64(leaf[:]) }

// find returns the number under a hash for which is returns true, or false if there is none.
func (t *table) find(hash uint64, is func(uint32) bool) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at := hash; ; at++ {
		slot := t.slots[at&uint64(len(t.slots)-1)]
		if slot == 0 {
			return 0, false
		}
		if is(slot - 1) {
			return slot - 1, true
		}
	}
}

// add puts a number under a hash. hashOf returns the hash of a number; it is called for all numbers when the
// table grows.
func (t *table) add(hash uint64, number uint32, hashOf func(uint32) uint64) {
	if (int(t.count)+1)*8 > len(t.slots)*7 {
		old := t.slots
		t.slots = make([]uint32, max(16, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				t.put(hashOf(slot-1), slot)
			}
		}
	}
	t.put(hash, number+1)
	t.count++
}

// put puts a slot at the first free place from its hash on.
func (t *table) put(hash uint64, slot uint32) {
	at := hash
	for t.slots[at&uint64(len(t.slots)-1)] != 0 {
		at++
	}
	t.slots[at&uint64(len(t.slots)-1)] = slot
}

package seatmap

import "boxoffice/engine/keeper"

// resizeAgainMillis is after how long a size that its ticket type has not acknowledged is told
// again.
const resizeAgainMillis = 2_000

// size is how many seats count for a ticket type.
type size struct {
	typ      int64 // the ticket type's number
	seats    int64
	sections int    // sections priced to the type
	told     int64  // what the type is told: seats, or keeper.Unseated
	revision uint64 // revision of what the type is told; no two sizes have the same
	seen     bool   // whether the ticket type has acknowledged that revision (volatile)
}

// toldQuantity returns what the type has to be told.
func (z *size) toldQuantity() int64 {
	if z.sections == 0 && z.seats == 0 {
		return keeper.Unseated
	}
	return z.seats
}

// sizes are the sizes of all ticket types that sections have ever been priced to. A slot is the
// index of a type; slot 0 stands for no type.
type sizes struct {
	list     []size
	slots    map[int64]uint16 // slot of each ticket type, by the type's number
	revision uint64           // the last revision that a size was given
	unseen   int              // how many sizes are not acknowledged (volatile)
	sent     int64            // when sizes were last told, unix milliseconds; 0 if that was before the last change (volatile)
}

func newSizes() sizes { return sizes{list: make([]size, 1), slots: make(map[int64]uint16)} }

// slotOf returns the slot of a type, or 0 if it has none.
func (z *sizes) slotOf(typ int64) uint16 { return z.slots[typ] }

// add returns the slot of a type, and makes one if there is none. Type 0 stands for no type and has slot 0.
func (z *sizes) add(typ int64) uint16 {
	slot := z.slots[typ]
	if slot == 0 && typ != 0 {
		slot = uint16(len(z.list))
		z.slots[typ] = slot
		z.list = append(z.list, size{typ: typ, told: keeper.Unseated, seen: true})
	}
	return slot
}

// moveSeat counts a seat for another type.
func (z *sizes) moveSeat(from, to uint16) {
	z.list[from].seats--
	z.list[to].seats++
}

// settleSizes gives a new revision to every size that differs from what was told last, and makes it due at once.
func (z *sizes) settleSizes() {
	for i := range z.list[1:] {
		one := &z.list[i+1]
		if q := one.toldQuantity(); q != one.told {
			z.revision++
			if one.seen {
				z.unseen++
			}
			one.told, one.revision, one.seen = q, z.revision, false
			z.sent = 0
		}
	}
}

// noteSeen notes that a type knows the size with a revision, if that is its latest.
func (z *sizes) noteSeen(revision uint64) {
	for i := range z.list[1:] {
		if one := &z.list[i+1]; one.revision == revision && !one.seen {
			one.seen = true
			z.unseen--
		}
	}
}

// nextTelling returns when sizes have to be told, in unix milliseconds, or 0 if all are acknowledged.
func (z *sizes) nextTelling() int64 {
	if z.unseen == 0 {
		return 0
	}
	return z.sent + resizeAgainMillis
}

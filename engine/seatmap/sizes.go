package seatmap

import "boxoffice/engine/keeper"

// resizeAgainMillis is when a size that its ticket type has not seen is told
// again.
const resizeAgainMillis = 2_000

// size is how many seats count for a ticket type.
type size struct {
	typ      int64 // the ticket type's number
	seats    int64
	sections int    // priced to it
	told     int64  // what it is told: seats, or keeper.Unseated
	revision uint64 // of what it is told; no two sizes have the same
	seen     bool   // the ticket type knows (volatile)
}

// quantity is what the type is to be told.
func (z *size) quantity() int64 {
	if z.sections == 0 && z.seats == 0 {
		return keeper.Unseated
	}
	return z.seats
}

// sizes are the sizes of all ticket types that sections were ever priced to. A
// slot in them stands for a type; slot 0 is none.
type sizes struct {
	list     []size
	slots    map[int64]uint16 // by type
	revision uint64
	unseen   int
	sent     int64 // when sizes were last told, unix milliseconds; 0: not since the last change (volatile)
}

func newSizes() sizes { return sizes{list: make([]size, 1), slots: make(map[int64]uint16)} }

// slot is the slot of a type, or 0 for none.
func (z *sizes) slot(typ int64) uint16 { return z.slots[typ] }

// add is the slot of a type, a new one if need be.
func (z *sizes) add(typ int64) uint16 {
	slot := z.slots[typ]
	if slot == 0 && typ != 0 {
		slot = uint16(len(z.list))
		z.slots[typ] = slot
		z.list = append(z.list, size{typ: typ, told: keeper.Unseated, seen: true})
	}
	return slot
}

// move counts a seat for another type.
func (z *sizes) move(from, to uint16) {
	z.list[from].seats--
	z.list[to].seats++
}

// settle gives a revision to every size that is another than was told.
func (z *sizes) settle() {
	for i := range z.list[1:] {
		one := &z.list[i+1]
		if q := one.quantity(); q != one.told {
			z.revision++
			if one.seen {
				z.unseen++
			}
			one.told, one.revision, one.seen = q, z.revision, false
			z.sent = 0
		}
	}
}

// see notes that a type knows the size of a revision, if that is the latest.
func (z *sizes) see(revision uint64) {
	for i := range z.list[1:] {
		if one := &z.list[i+1]; one.revision == revision && !one.seen {
			one.seen = true
			z.unseen--
		}
	}
}

// due is when sizes are to be told, or 0.
func (z *sizes) due() int64 {
	if z.unseen == 0 {
		return 0
	}
	return z.sent + resizeAgainMillis
}

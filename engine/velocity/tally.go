package velocity

import (
	"fmt"

	"boxoffice/engine/paged"
)

// maxTally is how many deeds (orders, or wrong codes) a tally remembers at most. It bounds the tally's memory:
// a deed takes 157 bytes if it is the only one of its buyer and of its address, and 40 if it is one of many.
const maxTally = 1_000_000

// tally remembers what was done within a span of time, by which buyer and from which address. It
// keeps only times and doers and no limits, so a limit may change at any time and the count is
// still exact. A doer who has done nothing lately takes no memory.
type tally struct {
	span  int64                // milliseconds
	gone  uint32               // number of the deed that was forgotten last
	deeds paged.Queue[deed]    // the deeds that are remembered
	slots [2]map[uint64]uint32 // slot of each buyer, and of each address
	used  uint32               // number of slots ever given out
	free  []uint32             // slots given back
	doers []*doers             // the doers, by slot
}

// doers are kept in blocks, so that growing does not copy them.
type doers [block]doer

const block = 64

// Each deed has two doers, at these indexes.
const (
	buyer   = 0
	address = 1
)

// deed is something done. Deeds are numbered from 1 in the order in which they were done.
type deed struct {
	at   int64     // unix milliseconds, never less than the time of the deed before
	who  [2]uint64 // the doers
	slot [2]uint32 // the doers' slots
	next [2]uint32 // number of each doer's next deed; 0 if there is none yet
}

// doer is one buyer or one address.
type doer struct {
	first, last uint32 // numbers of the oldest and of the youngest deed
	done        int32  // deeds from first to last
	doing       int32  // deeds that have begun but are not done
	open        int32  // unpaid orders, if the doer is a buyer
}

func newTally(span int64) tally {
	return tally{span: span, slots: [2]map[uint64]uint32{make(map[uint64]uint32), make(map[uint64]uint32)}}
}

// find returns what is remembered of a doer.
func (t *tally) find(side int, who uint64) doer {
	if slot, ok := t.slots[side][who]; ok {
		return *t.doer(slot)
	}
	return doer{}
}

// slot returns a doer's slot, and makes one if there is none.
func (t *tally) slot(side int, who uint64) uint32 {
	slot, ok := t.slots[side][who]
	if ok {
		return slot
	}
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		if slot = t.used; slot%block == 0 {
			t.doers = append(t.doers, new(doers))
		}
		t.used++
	}
	t.slots[side][who] = slot
	return slot
}

// forgetIdle forgets a doer who has no deeds and no open orders left.
func (t *tally) forgetIdle(side int, who uint64, slot uint32) {
	if d := t.doer(slot); d.done == 0 && d.doing == 0 && d.open == 0 {
		*d = doer{}
		delete(t.slots[side], who)
		t.free = append(t.free, slot)
	}
}

// begin notes a deed that is about to be done. A call of finish or takeBack follows.
func (t *tally) begin(by [2]uint64) (slots [2]uint32) {
	for side, who := range by {
		slots[side] = t.slot(side, who)
		t.doer(slots[side]).doing++
	}
	return slots
}

// takeBack takes back a deed that was begun and came to nothing.
func (t *tally) takeBack(by [2]uint64, slots [2]uint32) {
	for side, slot := range slots {
		t.doer(slot).doing--
		t.forgetIdle(side, by[side], slot)
	}
}

// finish notes a deed as done, and forgets old ones: at most two for each new one, so that a
// backlog shrinks and no call takes long.
func (t *tally) finish(by [2]uint64, slots [2]uint32, at int64) {
	t.append(by, slots, at)
	for range 2 {
		if t.time(t.gone+1) <= t.time(t.last())-t.span || t.deeds.Len() > maxTally {
			t.forgetOldest()
		}
	}
}

// append adds a deed to the lists of its doers. If a clock jumps back, the deed gets the time of
// the one before it.
func (t *tally) append(by [2]uint64, slots [2]uint32, at int64) {
	if t.deeds.Len() > 0 {
		at = max(at, t.time(t.last()))
	}
	t.deeds.Push(deed{at: at, who: by, slot: slots})
	n := t.last()
	for side, slot := range slots {
		d := t.doer(slot)
		if d.done == 0 {
			d.first = n
		} else {
			before := t.deed(d.last)
			before.next[side] = n
			t.deeds.Set(t.place(d.last), before)
		}
		d.last = n
		d.done++
		d.doing--
	}
}

// last returns the number of the last deed.
func (t *tally) last() uint32 { return t.gone + uint32(t.deeds.Len()) } //nolint:gosec // maxTally bounds it

func (t *tally) place(n uint32) int     { return int(n - t.gone - 1) }
func (t *tally) deed(n uint32) deed     { return t.deeds.At(t.place(n)) }
func (t *tally) time(n uint32) int64    { return t.deed(n).at }
func (t *tally) doer(slot uint32) *doer { return &t.doers[slot/block][slot%block] }

// forgetOldest drops the oldest deed, and the slots of its doers if nothing else is known of them.
func (t *tally) forgetOldest() {
	old := t.deed(t.gone + 1)
	for side, slot := range old.slot {
		d := t.doer(slot)
		d.first = old.next[side]
		d.done--
		t.forgetIdle(side, old.who[side], slot)
	}
	t.deeds.Drop(1)
	t.gone++
}

// countUnpaid adds n to the count of a buyer's unpaid orders.
func (t *tally) countUnpaid(who uint64, n int32) {
	slot := t.slot(buyer, who)
	t.doer(slot).open += n
	t.forgetIdle(buyer, who, slot)
}

// waitTime returns the milliseconds until one more deed of a doer is within a limit, or 0 if it is
// now.
func (t *tally) waitTime(side int, d doer, limit, now int64) int64 {
	over := int64(d.done) + int64(d.doing) + 1 - limit
	switch {
	case over <= 0:
		return 0
	case over > int64(d.done):
		return 1 // the deeds that have begun may come to nothing
	}
	n := d.first
	for range over - 1 { // find the deed that makes room when it is forgotten
		n = t.deed(n).next[side]
	}
	return max(0, t.time(n)+t.span-now)
}

// checkCounts adds up what the doers have done, begun and open, and compares that with the deeds and with the
// numbers given. Each deed has two doers. Also, each slot must be known or free.
func (t *tally) checkCounts(open, doing int64) error {
	var sum doer
	for i := range t.used {
		d := t.doer(i)
		sum.done, sum.doing, sum.open = sum.done+d.done, sum.doing+d.doing, sum.open+d.open
	}
	deeds, known := int64(t.deeds.Len()), len(t.slots[buyer])+len(t.slots[address])+len(t.free)
	if int64(sum.done) != 2*deeds || int64(sum.doing) != 2*doing || int64(sum.open) != open || known != int(t.used) {
		return fmt.Errorf("velocity: doers of %d deeds, %d begun and %d open: %+v in all, %d of %d slots known", deeds, doing, open, sum, known, t.used)
	}
	return nil
}

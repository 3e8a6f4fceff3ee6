package event

import (
	"fmt"

	"boxoffice/engine/paged"
)

// maxTally is how many deeds a tally remembers at most. It bounds its memory: a
// deed takes 157 bytes when it is the only one of its buyer and of its address,
// and 40 when it is one of many.
const maxTally = 1_000_000

// tally remembers what was done within a span of time, by which buyer and from
// which address. What it says rests on times and doers alone, on no limit: a
// limit may change at any time, and counts exactly. Whoever did nothing of late
// takes no memory.
type tally struct {
	span  int64             // milliseconds
	gone  uint32            // number of the last deed that was forgotten
	deeds paged.Queue[deed] // that are remembered
	slots [2]map[uint64]uint32
	used  uint32   // slots given out
	free  []uint32 // and given back
	doers []*doers // by slot
}

// doers are kept in blocks: what grows is not copied.
type doers [block]doer

const block = 64

// The two doers of a deed.
const (
	buyer   = 0
	address = 1
)

// deed is something done. Deeds are numbered from 1 in the order of their doing.
type deed struct {
	at   int64     // unix milliseconds, never falling
	who  [2]uint64 // did it
	slot [2]uint32 // of its doers
	next [2]uint32 // number of the same doer's next deed; 0 for none
}

// doer is one buyer or one address.
type doer struct {
	first, last uint32 // number of the oldest deed and of the youngest
	done        int32  // deeds from first to last
	doing       int32  // begun
	open        int32  // unpaid orders of a buyer
}

func newTally(span int64) tally {
	return tally{span: span, slots: [2]map[uint64]uint32{make(map[uint64]uint32), make(map[uint64]uint32)}}
}

// find is a doer as far as it is remembered.
func (t *tally) find(side int, who uint64) doer {
	if slot, ok := t.slots[side][who]; ok {
		return *t.doer(slot)
	}
	return doer{}
}

// slot is a doer's place, made if need be.
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

// begin notes a deed that is about to be done. It is followed by done, or by
// undone.
func (t *tally) begin(by [2]uint64) (slots [2]uint32) {
	for side, who := range by {
		slots[side] = t.slot(side, who)
		t.doer(slots[side]).doing++
	}
	return slots
}

// takeBack takes back a deed that has come to nothing.
func (t *tally) takeBack(by [2]uint64, slots [2]uint32) {
	for side, slot := range slots {
		t.doer(slot).doing--
		t.forgetIdle(side, by[side], slot)
	}
}

// finish notes a deed, and forgets old ones: two out for one in, so that there are
// never many for long.
func (t *tally) finish(by [2]uint64, slots [2]uint32, at int64) {
	t.append(by, slots, at)
	for range 2 {
		if t.time(t.gone+1) <= t.time(t.last())-t.span || t.deeds.Len() > maxTally {
			t.forgetOldest()
		}
	}
}

// append adds a deed to the lists of its doers. When a clock jumps back, time
// stands still here.
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

// last is the number of the last deed.
func (t *tally) last() uint32 { return t.gone + uint32(t.deeds.Len()) } //nolint:gosec // maxTally bounds it

func (t *tally) place(n uint32) int     { return int(n - t.gone - 1) }
func (t *tally) deed(n uint32) deed     { return t.deeds.At(t.place(n)) }
func (t *tally) time(n uint32) int64    { return t.deed(n).at }
func (t *tally) doer(slot uint32) *doer { return &t.doers[slot/block][slot%block] }

// forgetOldest drops the oldest deed.
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

// countUnpaid counts the unpaid orders of a buyer.
func (t *tally) countUnpaid(who uint64, n int32) {
	slot := t.slot(buyer, who)
	t.doer(slot).open += n
	t.forgetIdle(buyer, who, slot)
}

// waitTime returns the milliseconds until a doer's next deed is within a limit; 0 when it
// is now.
func (t *tally) waitTime(side int, d doer, limit, now int64) int64 {
	over := int64(d.done) + int64(d.doing) + 1 - limit
	switch {
	case over <= 0:
		return 0
	case over > int64(d.done):
		return 1 // what has begun may come to nothing
	}
	n := d.first
	for range over - 1 { // to the one that makes room by its leaving
		n = t.deed(n).next[side]
	}
	return max(0, t.time(n)+t.span-now)
}

// checkCounts counts everything once more: each deed is in a list of both its doers.
func (t *tally) checkCounts(open, doing int64) error {
	var sum doer
	for i := range t.used {
		d := t.doer(i)
		sum.done, sum.doing, sum.open = sum.done+d.done, sum.doing+d.doing, sum.open+d.open
	}
	deeds, known := int64(t.deeds.Len()), len(t.slots[buyer])+len(t.slots[address])+len(t.free)
	if int64(sum.done) != 2*deeds || int64(sum.doing) != 2*doing || int64(sum.open) != open || known != int(t.used) {
		return fmt.Errorf("event: doers of %d deeds, %d begun and %d open: %+v in all, %d of %d slots known", deeds, doing, open, sum, known, t.used)
	}
	return nil
}

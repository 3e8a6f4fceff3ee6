// Package pace counts the seats that client networks have newly held on a seat map within any ten minutes.
//
// The seats of a network are counted in slots of two minutes. The last six slots are remembered. Any ten minutes lie
// within six slots, so no ten minutes, wherever they begin, have more seats than a limit on Recent.Sum. A seat counts
// for ten to twelve minutes. At most maxNetworks networks are remembered, in 2 MB; beyond that, one is forgotten early.
package pace

import (
	"fmt"

	"boxoffice/engine/paged"
)

// Span is the time within which newly held seats are counted, in milliseconds.
const Span = 600_000

const (
	slotSpan    = 120_000 // milliseconds of one slot of a Recent
	slots       = Span/slotSpan + 1
	maxNetworks = 50_000
)

// Recent are the seats that a network has newly held, by slot. A slot's number is its unix time in
// units of slotSpan, and its index is the number modulo slots.
type Recent struct {
	newest int64 // the number of the newest slot
	seats  [slots]uint32
}

// slotOf returns the number of the slot of a time in unix milliseconds.
func slotOf(at int64) int64 { return max(0, at) / slotSpan }

// isOver reports whether none of the network's seats counts any more in the slot with this number.
func (r *Recent) isOver(slot int64) bool { return r.newest+slots <= slot }

// advanceTo makes a slot the newest one, unless a newer one exists.
func (r *Recent) advanceTo(slot int64) {
	if r.isOver(slot) {
		*r = Recent{newest: slot}
	}
	for r.newest < slot {
		r.newest++
		r.seats[r.newest%slots] = 0
	}
}

// Sum returns how many seats all slots have together.
func (r *Recent) Sum() (n int64) {
	for _, seats := range r.seats {
		n += int64(seats)
	}
	return n
}

// FindRoom returns the time, in unix milliseconds, from which on at most the given number of seats is counted. If
// even the newest slot has more, that is when none is counted.
func (r *Recent) FindRoom(most int64) int64 {
	held, slot := r.Sum(), max(0, r.newest-slots+1)
	for ; held > most && slot < r.newest; slot++ {
		held -= int64(r.seats[slot%slots])
	}
	if held > most {
		slot++
	}
	return (slot + slots - 1) * slotSpan
}

// Pace remembers what networks have newly held. New makes it.
type Pace struct {
	by     map[uint64]Recent
	order  paged.Queue[uint64] // the networks, each once, in the order in which forgetSome looks at them
	newest int64               // the newest slot of all, so that time stands still when the clock goes back
}

// New makes a Pace that remembers no network.
func New() Pace { return Pace{by: make(map[uint64]Recent)} }

// CurrentOf returns the seats that a network has newly held. It leaves out those that no longer count at the
// given time, or at the newest time seen so far if that is later. It changes nothing in the memory.
func (p *Pace) CurrentOf(network uint64, at int64) Recent {
	one := p.by[network]
	one.advanceTo(max(p.newest, slotOf(at)))
	return one
}

// NoteHeld counts seats that a network has newly held. With network 0 it counts nothing.
func (p *Pace) NoteHeld(network uint64, seats int, at int64) {
	if network == 0 || seats == 0 {
		return
	}
	// Two networks are looked at first, and forgotten if their seats no longer count, so that the limit seldom
	// forgets one whose seats still count.
	p.forgetSome(max(p.newest, slotOf(at)))
	if _, known := p.by[network]; !known && p.order.Len() >= maxNetworks {
		delete(p.by, p.order.At(0))
		p.order.Drop(1)
	}
	p.Add(network, int64(seats), max(at, p.newest*slotSpan))
}

// Add counts seats of a network in the slot of a time, or in its newest slot if that is later.
func (p *Pace) Add(network uint64, seats, at int64) {
	one, known := p.by[network]
	if !known {
		p.order.Push(network)
	}
	one.advanceTo(slotOf(at))
	one.seats[one.newest%slots] += uint32(seats)
	p.newest = max(p.newest, one.newest)
	p.by[network] = one
}

// forgetSome looks at the next two networks, and forgets each if nothing of it counts any more. NoteHeld calls it
// each time, and adds at most one network, so all networks are looked at in time.
func (p *Pace) forgetSome(slot int64) {
	for range min(2, p.order.Len()) {
		network := p.order.At(0)
		p.order.Drop(1)
		if one := p.by[network]; one.isOver(slot) {
			delete(p.by, network)
		} else {
			p.order.Push(network)
		}
	}
}

// VisitSlots calls visit for each slot that has seats, network by network in the order in which they are looked at:
// with the slot's begin in unix milliseconds, and the number of its seats. A snapshot keeps these.
func (p *Pace) VisitSlots(visit func(network uint64, began, seats int64)) {
	for i := range p.order.Len() {
		network := p.order.At(i)
		one := p.by[network]
		for slot := max(0, one.newest-slots+1); slot <= one.newest; slot++ {
			if seats := one.seats[slot%slots]; seats > 0 {
				visit(network, slot*slotSpan, int64(seats))
			}
		}
	}
}

// Check returns an error unless the lists of networks agree, and are within their limit.
func (p *Pace) Check() error {
	if p.order.Len() != len(p.by) || len(p.by) > maxNetworks {
		return fmt.Errorf("pace: %d networks are remembered, %d in order", len(p.by), p.order.Len())
	}
	return nil
}

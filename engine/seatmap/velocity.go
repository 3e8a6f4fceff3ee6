package seatmap

import (
	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// Another holder name costs nothing, so a cap for each holder would not prevent somebody from holding the whole map
// under many names. Two rules therefore count by asker: how many seats a principal holds at a time, and how many seats a
// client network has newly held within a span. Both counts follow from facts, and so survive a crash. Giving seats back
// is never refused, and seats that an order takes are no longer held.
//
// Seats that a network has newly held are counted in slots of two minutes. The last six slots are remembered. Any ten
// minutes lie within six slots, so no ten minutes, wherever they begin, have more seats than the limit. A seat counts
// for ten to twelve minutes. At most maxNetworks networks are remembered, in 2 MB; beyond that, one is forgotten early.

// These are the limits on held seats at a scale of 1.
const (
	MaxHeld      = 100 // seats of one principal at a time
	MaxNewlyHeld = 300 // seats of one network within any heldSpan
)

const (
	heldSpan    = 600_000 // milliseconds
	slotSpan    = 120_000 // milliseconds of one slot of a recent
	slots       = heldSpan/slotSpan + 1
	maxNetworks = 50_000
)

// HoldLimit is the detail of VELOCITY_LIMIT_EXCEEDED.
type HoldLimit struct {
	Rule              string `json:"rule"` // the rule that refuses: held_seats or seat_holds
	Limit             int64  `json:"limit"`
	WindowSeconds     int64  `json:"windowSeconds"` // seconds in which the rule counts; for held_seats, how long a selection is held
	RetryAfterSeconds int64  `json:"retryAfterSeconds"`
}

// Asker is the party that asks to hold seats.
type Asker struct {
	Principal uint64  // hash of the account, API key or address that asks; with 0 its limit does not apply
	Network   uint64  // keyed hash of the client's address; with 0 its limit does not apply
	Scale     float64 // multiplies the limits; 0 stands for 1
}

// scaleLimit returns a limit at the asker's scale.
func (a *Asker) scaleLimit(limit int64) int64 {
	if a.Scale > 0 {
		return max(1, int64(min(float64(limit)*a.Scale, 1<<53)))
	}
	return limit
}

// recent are the seats that a network has newly held, by slot. A slot's number is its unix time in
// units of slotSpan, and its index is the number modulo slots.
type recent struct {
	newest int64 // the number of the newest slot
	seats  [slots]uint32
}

// slotOf returns the number of the slot of a time in unix milliseconds.
func slotOf(at int64) int64 { return max(0, at) / slotSpan }

// isOver reports whether none of the network's seats counts any more in the slot with this number.
func (r *recent) isOver(slot int64) bool { return r.newest+slots <= slot }

// advanceTo makes a slot the newest one, unless a newer one exists.
func (r *recent) advanceTo(slot int64) {
	if r.isOver(slot) {
		*r = recent{newest: slot}
	}
	for r.newest < slot {
		r.newest++
		r.seats[r.newest%slots] = 0
	}
}

// sum returns how many seats all slots have together.
func (r *recent) sum() (n int64) {
	for _, seats := range r.seats {
		n += int64(seats)
	}
	return n
}

// findRoom returns the time, in unix milliseconds, from which on at most the given number of seats is counted. If
// even the newest slot has more, that is when none is counted.
func (r *recent) findRoom(most int64) int64 {
	held, slot := r.sum(), max(0, r.newest-slots+1)
	for ; held > most && slot < r.newest; slot++ {
		held -= int64(r.seats[slot%slots])
	}
	if held > most {
		slot++
	}
	return (slot + slots - 1) * slotSpan
}

// pace remembers what networks have newly held.
type pace struct {
	by     map[uint64]recent
	order  paged.Queue[uint64] // the networks, each once, in the order in which forgetSome looks at them
	newest int64               // the newest slot of all, so that time stands still when the clock goes back
}

// newPace makes a pace that remembers no network.
func newPace() pace { return pace{by: make(map[uint64]recent)} }

// currentOf returns the seats that a network has newly held. It leaves out those that no longer count at the
// given time, or at the newest time seen so far if that is later. It changes nothing in the memory.
func (p *pace) currentOf(network uint64, at int64) recent {
	one := p.by[network]
	one.advanceTo(max(p.newest, slotOf(at)))
	return one
}

// noteHeld counts seats that a network has newly held. With network 0 it counts nothing.
func (p *pace) noteHeld(network uint64, seats int, at int64) {
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
	p.add(network, int64(seats), max(at, p.newest*slotSpan))
}

// add counts seats of a network in the slot of a time, or in its newest slot if that is later.
func (p *pace) add(network uint64, seats, at int64) {
	one, known := p.by[network]
	if !known {
		p.order.Push(network)
	}
	one.advanceTo(slotOf(at))
	one.seats[one.newest%slots] += uint32(seats)
	p.newest = max(p.newest, one.newest)
	p.by[network] = one
}

// forgetSome looks at the next two networks, and forgets each if nothing of it counts any more. noteHeld calls it
// each time, and adds at most one network, so all networks are looked at in time.
func (p *pace) forgetSome(slot int64) {
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

// refuseHold returns the reason why the asker may not have the selection that a fact makes, or nil.
// own is the holder's selection so far.
func (s *State) refuseHold(a *Asker, own *hold, f *HeldFact) *engine.Refusal {
	// Giving seats back, or keeping the seats that the holder has, takes nothing from others.
	if len(f.Took) == 0 && (own == nil || own.principal == a.Principal) {
		return nil
	}
	if a.Principal != 0 {
		held := int64(s.holds.count[a.Principal]) + int64(len(f.Took)) - int64(len(f.Dropped))
		if own != nil && own.principal != a.Principal { // another principal's seats become this one's
			held += int64(len(own.seats))
		}
		if most := a.scaleLimit(MaxHeld); held > most {
			return tooManySeats("held_seats", most, s.holdTime, s.holdTime)
		}
	}
	if a.Network != 0 {
		one, most, took := s.pace.currentOf(a.Network, f.At), a.scaleLimit(MaxNewlyHeld), int64(len(f.Took))
		if took > 0 && one.sum()+took > most {
			return tooManySeats("seat_holds", most, heldSpan, one.findRoom(most-took)-f.At)
		}
	}
	return nil
}

// tooManySeats returns the refusal of a selection because of a rule. wait is after how many milliseconds the
// asker may try again; window is the rule's span, also in milliseconds.
func tooManySeats(rule string, limit, window, wait int64) *engine.Refusal {
	seconds := max(1, (wait+999)/1_000)
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(seconds),
		Details: HoldLimit{rule, limit, window / 1_000, seconds},
	}
}

// freeze adds what networks have newly held to a snapshot, one row for each slot that has seats.
func (p *pace) freeze(f *Frozen) {
	for i := range p.order.Len() {
		network := p.order.At(i)
		one := p.by[network]
		for slot := max(0, one.newest-slots+1); slot <= one.newest; slot++ {
			if seats := one.seats[slot%slots]; seats > 0 {
				f.Networks = append(f.Networks, network)
				f.SpanBegan = append(f.SpanBegan, slot*slotSpan)
				f.SpanSeats = append(f.SpanSeats, int64(seats))
			}
		}
	}
}

// thaw restores the rows of a snapshot.
func (p *pace) thaw(f *Frozen) {
	for i, network := range f.Networks {
		p.add(network, f.SpanSeats[i], f.SpanBegan[i])
	}
}

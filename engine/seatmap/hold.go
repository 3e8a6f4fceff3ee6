package seatmap

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// pick is a seat that a shopper wants. fail is the reason why the shopper can't have it, or "".
type pick struct {
	id   string
	seat int32
	kept bool // whether the shopper holds the seat already
	fail Reason
}

// decideHold holds all wanted seats that can be held. They become the shopper's whole selection: other seats that
// the shopper has held are free again. The answer names the seats that can't be held, with the reasons. The rules
// of companions and gaps come after the look-up: they judge only the seats that would be held. Beyond a limit on held
// seats (refuseHold) the command is refused, and the selection stays.
func (s *State) decideHold(c Hold, at int64) engine.Decision {
	switch {
	case s.plan == nil:
		return refuse(engine.NoSeating, nil)
	case c.Holder == "":
		return refuseInvalid("A selection has a holder.")
	case len(c.Seats) > MaxSelection:
		return refuseInvalid("At most 50 seats are held at a time.")
	}
	own := s.holds.by[c.Holder]
	picks := s.lookUpPicks(c.Seats, own)
	failUnattended(s.plan, picks)
	wanted := seatsOf(picks)
	// A failed seat changes what would be held, so the list is made again.
	if s.judgeGaps(picks, wanted, own) {
		wanted = seatsOf(picks)
	}
	d, until := s.settleSelection(c.Holder, Asker{c.Principal, c.Network, c.Scale}, own, wanted, at)
	if d.Reply != nil {
		return d
	}
	reply := &Selection{Held: make([]string, 0, len(wanted)), ExpiresAt: until}
	for i := range picks {
		if p := &picks[i]; p.fail == "" {
			reply.Held = append(reply.Held, p.id)
		} else {
			reply.Failed = append(reply.Failed, p.id)
			reply.Reasons = append(reply.Reasons, p.fail)
		}
	}
	d.Reply = reply
	return d
}

// lookUpPicks looks up the wanted seats, each once, in the given order. own is the shopper's selection so far, or nil.
// A pick fails if its seat does not exist, is blocked, is not for sale, or is held or taken by somebody else.
func (s *State) lookUpPicks(ids []string, own *hold) []pick {
	picks := make([]pick, 0, len(ids))
	for k, id := range ids {
		if slices.Contains(ids[:k], id) {
			continue
		}
		p := pick{id: id}
		i, ok := s.plan.index[id]
		if !ok {
			p.fail = Unknown
			picks = append(picks, p)
			continue
		}
		p.seat = i
		one := &s.seats[i]
		p.kept = own != nil && one.hold == own
		switch {
		case one.blocked:
			p.fail = Withheld
		case !p.kept && !one.isFree():
			p.fail = Taken
		case one.counts == 0:
			p.fail = NotForSale
		}
		picks = append(picks, p)
	}
	return picks
}

// seatsOf lists the seats that have not failed, in ascending order.
func seatsOf(picks []pick) []int32 {
	seats := make([]int32, 0, len(picks))
	for i := range picks {
		if picks[i].fail == "" {
			seats = append(seats, picks[i].seat)
		}
	}
	return sortSeats(seats)
}

// settleSelection makes seats the holder's selection, and returns when the selection ends, or 0 if it is empty. Each
// seat must be free or the holder's own. The selection gets the time of a hold again. One that keeps a seat lasts at
// most longest times that time in all, unless it was given more time before (Extend). If nothing changes, there is
// no fact. The decision has a reply only if it is refused because the asker has too many seats.
func (s *State) settleSelection(holder string, by Asker, own *hold, seats []int32, at int64) (engine.Decision, int64) {
	f := &HeldFact{Holder: holder, Principal: by.Principal, At: at, Since: at, Until: at + s.holdTime, Network: by.Network}
	if own == nil {
		if len(seats) == 0 {
			return engine.Decision{}, 0
		}
		f.Took = seats
		return s.holdWithin(&by, own, f)
	}
	for _, i := range seats {
		if s.seats[i].hold != own {
			f.Took = append(f.Took, i)
		}
	}
	for _, i := range own.seats {
		if !contains(seats, i) {
			f.Dropped = append(f.Dropped, i)
		}
	}
	lives := own.until > at // a hold that has run out ends at the next Wake
	switch {
	case len(seats) == 0:
		return engine.Decision{Facts: []engine.Fact{&DroppedFact{Holder: holder, Seats: own.seats, At: at}}}, 0
	case lives && len(f.Took)+len(f.Dropped) == 0 && own.principal == by.Principal:
		return engine.Decision{}, own.until
	case lives && len(f.Took) < len(seats): // the selection keeps a seat
		f.Since, f.Extended = own.since, own.extended
		f.Until = min(f.Until, max(own.until, own.since+longest*s.holdTime)) // a time that was promised when holds lasted longer stays
		if own.extended > 0 {
			f.Until = max(f.Until, own.until) // the shopper was given that time
		}
	}
	return s.holdWithin(&by, own, f)
}

// holdWithin makes the selection that a fact describes, or refuses it if the asker has too many seats.
func (s *State) holdWithin(by *Asker, own *hold, f *HeldFact) (engine.Decision, int64) {
	if r := s.refuseHold(by, own, f); r != nil {
		return engine.Decision{Reply: r}, 0
	}
	return engine.Decision{Facts: []engine.Fact{f}}, f.Until
}

// decideExtend gives a selection the time of a hold once more, after its present end. It is refused if the selection has
// ended, or has got more time MaxExtensions times already.
func (s *State) decideExtend(c Extend, at int64) engine.Decision {
	own := s.holds.by[c.Holder]
	switch {
	case s.plan == nil:
		return refuse(engine.NoSeating, nil)
	case own == nil || own.until <= at:
		return engine.Decision{Reply: keeper.RefuseExtension(keeper.ExtensionOver)}
	case own.extended >= keeper.MaxExtensions:
		return engine.Decision{Reply: keeper.RefuseExtension(keeper.ExtensionsUsed)}
	}
	// Asking for more time takes no seats, so neither principal nor network is counted.
	f := &HeldFact{
		Holder: own.holder, Principal: own.principal, At: at, Since: own.since, Until: own.until + s.holdTime, Extended: own.extended + 1,
	}
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &Selection{Held: s.seatIDs(own.seats), ExpiresAt: f.Until}}
}

// decideDrop takes seats out of a selection, all of them if Seats is nil. Seats that are not in it are ignored. The
// answer has those that were taken out, none if there is no selection.
func (s *State) decideDrop(c Release, at int64) engine.Decision {
	own := s.holds.by[c.Holder]
	if own == nil {
		return engine.Decision{Reply: &Released{}}
	}
	f := &DroppedFact{Holder: c.Holder, Seats: own.seats, At: at}
	if c.Seats != nil {
		named, _ := s.find(c.Seats, nil)
		f.Seats = nil
		for _, i := range named {
			if s.seats[i].hold == own {
				f.Seats = append(f.Seats, i)
			}
		}
	}
	d := engine.Decision{Reply: &Released{Seats: s.seatIDs(f.Seats)}}
	if len(f.Seats) > 0 {
		d.Facts = []engine.Fact{f}
	}
	return d
}

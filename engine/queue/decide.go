package queue

import (
	"bytes"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/draw"
)

// Decide decides what a command does, and changes nothing itself. An unknown command is refused with INTERNAL.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	switch c := c.(type) {
	case Open:
		return s.decideOpen(&c.Settings, at)
	case End:
		return s.decideEnd(at)
	case Pause:
		return s.decidePause(c.On, at)
	case Drain:
		return s.decideDrain(at)
	case Steer:
		return s.decideSteer(c.Rate, at)
	case Join:
		return s.decideJoin(c, at)
	case Bring:
		return s.decideBring(c.Signature, at)
	case Look:
		return s.decideLook(c.Leaf)
	case Admit:
		return s.decideAdmit(c.Leaf, at)
	case Use:
		return s.decideUse(c, at)
	case Prove:
		return s.decideProve(c.Leaf)
	case Get:
		return engine.Decision{Reply: s.makeRecord()}
	case engine.Wake:
		return s.decideWake(at)
	default:
		return refuse(engine.Internal, nil)
	}
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// makeRecordAfter returns the record as it will be once the decided facts are applied. change sets the fields
// that the facts change.
func (s *State) makeRecordAfter(change func(*Record)) *Record {
	r := s.makeRecord()
	change(r)
	return r
}

// makeRecord returns the room's record. From the closing of the list on, it has the statement of
// the draw.
func (s *State) makeRecord() *Record {
	r := &Record{
		Phase: s.phase.String(), Paused: s.paused, Draining: s.draining, Settings: s.settings, Draw: s.number, Count: s.count(), Served: s.served,
		Signature: s.signature,
	}
	if s.isClosed() {
		r.Statement = new(s.makeStatement())
	}
	return r
}

// decideOpen opens a room, also one that has ended, with the next draw; or it changes the settings of one. Once
// registration has begun, the room's rules can't change. Before that, a draw whose closing has passed is refused. A rate
// that Steer has set stays, and a room that was draining lets visitors join again.
func (s *State) decideOpen(wanted *Settings, at int64) engine.Decision {
	next := *wanted
	next.Rules.Chain = next.Chain.Hash
	if next.Chain.Period < 1 || next.Rate < 1 || next.Rate > MaxRate || next.Hold < 1 || next.Rules.ClosesAt > next.Rules.OpensAt ||
		next.Rules.RegistersFrom > next.Rules.ClosesAt || next.Work < 0 || next.Work > draw.MaxWork {
		return refuse(engine.Validation, nil)
	}
	// The round is the beacon's first one that is signed at least draw.BeaconDelay after the closing, so that nobody
	// knows its signature while people can still join.
	next.Rules.Round = next.Chain.RoundAt(next.Rules.ClosesAt + draw.BeaconDelay)
	number, tooLate := s.number, next.Rules.Mode == draw.ByDraw && next.Rules.ClosesAt <= at // the root of a draw must be published before the round
	switch {
	case s.phase == NoRoom && !tooLate:
		number++
	case s.phase != NoRoom && s.hasBegun(at):
		if field := changedRule(s.settings, &next); field != "" {
			return refuse(engine.QueueFrozen, FrozenField{Field: field})
		}
	case tooLate:
		return refuse(engine.Validation, nil)
	}
	if next.Auto && s.settings != nil && s.settings.Auto {
		next.Rate = s.settings.Rate // the rate that Steer has set stays
	}
	r := s.makeRecordAfter(func(r *Record) {
		r.Settings, r.Draw, r.Draining = &next, number, false
		if number != s.number {
			r.Phase, r.Paused, r.Count, r.Served, r.Statement, r.Signature = Registering.String(), false, 0, 0, nil, nil
		}
	})
	return engine.Decision{Facts: []engine.Fact{&Opened{Settings: &next, Draw: number, At: at}}, Reply: r}
}

// hasBegun reports whether registration has begun. Entries and the phase show it too, in case this node's clock
// is behind the clock of the node that had the room before.
func (s *State) hasBegun(at int64) bool {
	return s.phase != Registering || s.count() > 0 || at >= s.settings.Rules.RegistersFrom
}

// changedRule returns the first of the settings that are fixed once registration has begun, the event or a rule, that
// differs, by its name in the API's request. It returns "" if none does. A changed closing is called opensAt, from
// which the edge computes it.
func changedRule(was, is *Settings) string {
	a, b := &was.Rules, &is.Rules
	switch {
	case was.Event != is.Event:
		return "event"
	case a.Chain != b.Chain || !bytes.Equal(was.Chain.Key, is.Chain.Key):
		return "beaconChain"
	case a.OpensAt != b.OpensAt || a.ClosesAt != b.ClosesAt:
		return "opensAt"
	case a.RegistersFrom != b.RegistersFrom:
		return "registersFrom"
	case a.Mode != b.Mode:
		return "mode"
	case a.PartyMax != b.PartyMax:
		return "partyMax"
	case a.Proof != b.Proof:
		return "proof"
	case a.VoidAfter != b.VoidAfter:
		return "voidAfterMinutes"
	}
	return ""
}

// decideEnd ends the room, after which everybody may order. A repeated command changes nothing.
func (s *State) decideEnd(at int64) engine.Decision {
	if s.phase == NoRoom {
		return engine.Decision{Reply: s.makeRecord()}
	}
	return engine.Decision{
		Facts: []engine.Fact{&Ended{At: at}},
		Reply: s.makeRecordAfter(func(r *Record) { r.Phase = NoRoom.String() }),
	}
}

// decidePause stops the admissions, or lets them go on.
func (s *State) decidePause(on bool, at int64) engine.Decision {
	if s.phase == NoRoom {
		return refuse(engine.NotFound, nil)
	}
	if s.paused == on {
		return engine.Decision{Reply: s.makeRecord()}
	}
	return engine.Decision{Facts: []engine.Fact{&PausedFact{On: on, At: at}}, Reply: s.makeRecordAfter(func(r *Record) { r.Paused = on })}
}

// decideDrain lets nobody join any more. A room in whose line nobody waits ends at once, and others
// end when the line is empty (decideServing).
func (s *State) decideDrain(at int64) engine.Decision {
	switch {
	case s.phase == NoRoom:
		return refuse(engine.NotFound, nil)
	case s.draining:
		return engine.Decision{Reply: s.makeRecord()}
	case s.served == s.count():
		return s.decideEnd(at)
	}
	return engine.Decision{Facts: []engine.Fact{&DrainingFact{At: at}}, Reply: s.makeRecordAfter(func(r *Record) { r.Draining = true })}
}

// decideSteer sets the rate of a room whose rate is steered. A room with a fixed rate, or one that has ended,
// stays as it is. A rate below 1 or above MaxRate is refused.
func (s *State) decideSteer(rate, at int64) engine.Decision {
	if s.phase == NoRoom || !s.settings.Auto || s.settings.Rate == rate {
		return engine.Decision{Reply: s.makeRecord()}
	}
	if rate < 1 || rate > MaxRate {
		return refuse(engine.Validation, nil)
	}
	next := *s.settings
	next.Rate = rate
	return engine.Decision{
		Facts: []engine.Fact{&Opened{Settings: &next, Draw: s.number, At: at}}, Reply: s.makeRecordAfter(func(r *Record) { r.Settings = &next }),
	}
}

// decideJoin adds an entry. If the closing has passed and the timer has not run yet, it closes the list first,
// so that the entry comes after those that are drawn. A leaf that has joined gets its entry again. A person has one
// entry only: a second one is refused, as is a leaf of somebody else.
func (s *State) decideJoin(c Join, at int64) engine.Decision {
	if index, known := s.find(c.Leaf); known && s.phase != NoRoom {
		if c.Person != 0 && s.persons[index] != c.Person { // a proof of work that has paid for somebody else's entry
			return refuse(engine.Conflict, NotNow{Reason: "used"})
		}
		return engine.Decision{Reply: s.makePlaced(index)}
	}
	switch {
	case s.phase == NoRoom || s.draining:
		return refuse(engine.QueueClosed, NotNow{Reason: "over"})
	case at < s.settings.Rules.RegistersFrom:
		return refuse(engine.QueueClosed, NotNow{Reason: "not_open"})
	case s.count() >= MaxEntries:
		return refuse(engine.QueueClosed, NotNow{Reason: "full"})
	case int(c.Class) >= len(draw.Classes):
		return refuse(engine.Validation, nil)
	}
	if c.Person != 0 {
		if _, entered := s.findOwned(c.Person); entered {
			return refuse(engine.Conflict, NotNow{Reason: "entered"})
		}
	}
	facts, phase := s.decideClosing(at)
	p := &Placed{Phase: phase.String(), Draw: s.number, Index: s.count(), Place: -1, Served: s.served}
	if phase == Ordered {
		p.Place = int64(p.Index)
	}
	return engine.Decision{Facts: append(facts, &Joined{Leaf: c.Leaf, Class: c.Class, Person: c.Person}), Reply: p}
}

// decideClosing returns the facts that close the list if it is time, and the phase after them. A
// node that was away may close the list only after the beacon's round is known. Such a list is not
// drawn but ordered by arrival, because somebody who knew the round could have chosen among several
// lists.
func (s *State) decideClosing(at int64) ([]engine.Fact, Phase) {
	if s.phase != Registering || at < s.settings.Rules.ClosesAt {
		return nil, s.phase
	}
	closed := &ClosedFact{Count: s.count(), Root: s.entries.Root(), At: at}
	if s.settings.Rules.Mode == draw.ByArrival || at >= s.settings.Chain.Time(s.settings.Rules.Round) {
		return []engine.Fact{closed, &Voided{At: at}}, Ordered
	}
	return []engine.Fact{closed}, Closed
}

// decideBring orders the places by the beacon's signature, if the list is closed and the signature is genuine. It does
// not matter who brings it. If the places are known already, nothing changes.
func (s *State) decideBring(signature []byte, at int64) engine.Decision {
	switch {
	case s.phase != Closed && s.phase != Ordered:
		return refuse(engine.Conflict, NotNow{Reason: s.phase.String()})
	case s.settings.Chain.Verify(s.settings.Rules.Round, signature) != nil:
		return refuse(engine.Validation, nil)
	case s.phase == Ordered: // the signature was brought before, or comes too late
		return engine.Decision{Reply: s.makeRecord()}
	}
	return engine.Decision{
		Facts: []engine.Fact{&Drawn{Signature: signature, At: at}},
		Reply: s.makeRecordAfter(func(r *Record) { r.Phase, r.Signature = Ordered.String(), signature }),
	}
}

// decideLook tells a visitor where the entry stands. It changes nothing.
func (s *State) decideLook(leaf draw.Hash) engine.Decision {
	index, known := s.find(leaf)
	if !known {
		return refuse(engine.NotFound, nil)
	}
	return engine.Decision{Reply: s.makePlaced(index)}
}

// makePlaced returns where an entry stands. Its place is -1 as long as places are not known.
func (s *State) makePlaced(index uint32) *Placed {
	p := &Placed{Phase: s.phase.String(), Draw: s.number, Index: index, Place: -1, Served: s.served}
	if place, ok := s.findPlace(index); ok {
		p.Place, p.Admitted = int64(place), place < s.served
	}
	if at := s.issued[index]; at != 0 {
		p.Until = s.until(at)
	}
	return p
}

// until returns when an admission ends, in unix milliseconds. issued is when it began, in seconds
// from the room's opening, counted from 1.
func (s *State) until(issued uint32) int64 {
	return s.settings.Rules.OpensAt + int64(issued-1)*1000 + s.settings.Hold
}

// decideAdmit begins the admission of a visitor whose turn has come. It begins only once, so asking again does not
// prolong it. Before the visitor's turn the answer only tells the place.
func (s *State) decideAdmit(leaf draw.Hash, at int64) engine.Decision {
	index, known := s.find(leaf)
	if !known {
		return refuse(engine.NotFound, nil)
	}
	p := s.makePlaced(index)
	// There is no admission to begin, but the clock may have been set back.
	if s.phase != Ordered || !p.Admitted || s.issued[index] != 0 {
		return engine.Decision{Facts: s.settingBack(at), Reply: p}
	}
	// Seconds count from 1, because 0 means that the entry was not admitted yet.
	seconds := uint32(max(0, at-s.settings.Rules.OpensAt)/1000) + 1 //nolint:gosec // a room's years
	p.Until = s.until(seconds)
	return engine.Decision{Facts: []engine.Fact{&Admitted{Index: index, Seconds: seconds}}, Reply: p}
}

// decideUse gives an admission to the first buyer who orders by it, so that an admission can't be
// shared or sold on. That buyer may use it again until its time is over. All others are refused with QUEUE_REQUIRED, and
// the reason.
func (s *State) decideUse(c Use, at int64) engine.Decision {
	index, known := s.find(c.Leaf)
	refuse := func(why string) engine.Decision { return refuse(engine.QueueRequired, NotNow{Reason: why}) }
	switch {
	case !known || s.phase != Ordered || s.issued[index] == 0:
		return refuse("not_admitted")
	case at > s.until(s.issued[index]):
		return refuse("expired")
	case c.Buyer == 0 || s.persons[index] != 0 && s.persons[index] != c.Buyer:
		return refuse("shared")
	case s.persons[index] != 0:
		return engine.Decision{Reply: s.makePlaced(index)}
	}
	return engine.Decision{Facts: []engine.Fact{&Bound{Index: index, Person: c.Buyer}}, Reply: s.makePlaced(index)}
}

// decideProve proves that an entry is under the published root. It refuses with NOT_FOUND before the closing, and for
// an entry that came after it and so is not under the root.
func (s *State) decideProve(leaf draw.Hash) engine.Decision {
	index, known := s.find(leaf)
	if !known || !s.isClosed() || index >= s.drawn {
		return refuse(engine.NotFound, nil)
	}
	under := s.entries.Prefix(int(s.drawn))
	hashes, err := under.Prove(index)
	if err != nil {
		return refuse(engine.Internal, nil)
	}
	return engine.Decision{Reply: &Proof{Index: index, Hashes: hashes}}
}

// decideWake does what is due: it closes the list, gives up a draw whose beacon has not come, or
// admits.
func (s *State) decideWake(at int64) engine.Decision {
	facts, _ := s.decideClosing(at)
	d := engine.Decision{Facts: facts}
	switch {
	case s.phase == Closed && at >= s.voidAt():
		d.Facts = append(d.Facts, &Voided{At: at})
	case s.phase == Ordered && !s.paused && s.served < s.count():
		d.Facts = append(d.Facts, s.decideServing(at)...)
	}
	return d
}

// decideServing admits as many entries as the rate allows for the time since the last admission. With the last entry of
// a room that is draining, the room ends. After a jump of the clock forwards, or an absence of the node, it makes up for
// some seconds at most. After a jump backwards it admits nobody, and its fact only sets the room's clock back.
func (s *State) decideServing(at int64) []engine.Fact {
	if at < s.settings.Rules.OpensAt {
		return nil
	}
	if back := s.settingBack(at); back != nil {
		return back
	}
	elapsed := min(max(0, at-s.servedAt), maxAtOnce+s.untilNext())
	// Credit is counted in entries times milliseconds per minute, so that no fraction of an entry
	// is lost between two wakes.
	credit := s.credit + elapsed*s.settings.Rate
	more := credit / 60_000
	if more == 0 {
		return nil
	}
	f := &Served{To: s.served, Credit: credit % 60_000, At: at}
	// If fewer wait than the credit admits, the rest of the credit lapses. Otherwise it would
	// later admit many visitors at once.
	if waiting := int64(s.count() - s.served); more >= waiting {
		more, f.Credit = waiting, 0
	}
	f.To += uint32(more) //nolint:gosec // at most the entries
	if s.draining && f.To == s.count() {
		return []engine.Fact{f, &Ended{At: at}}
	}
	return []engine.Fact{f}
}

// settingBack returns a fact that makes the room count on from now, if the clock was set back by more than
// maxAtOnce; otherwise nil. Without it, nobody would be admitted until the clock has come as far as before. The
// questions of visitors cause it, because the timer waits for the same clock.
func (s *State) settingBack(at int64) []engine.Fact {
	if s.phase != Ordered || at < s.settings.Rules.OpensAt || at >= s.servedAt-maxAtOnce {
		return nil
	}
	return []engine.Fact{&Served{To: s.served, Credit: s.credit, At: at}}
}

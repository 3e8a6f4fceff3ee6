// Package rooms judges waiting rooms by the rules of draws and admissions. It keeps its own record of each room, from
// the committed facts, and shares no code with the kind that it judges, but for the arithmetic of draws
// (engine/draw).
package rooms

import (
	"fmt"
	"time"

	"boxoffice/cluster/sim/clock"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// room is a waiting room by its facts: its draws, numbered from 1.
type room struct {
	draws []*roomDraw
	// turns counts the changes after which the next admission may be due at another time. A watcher that was told an
	// earlier number gives up.
	turns int
	// early counts by leaf the refusals that were decided before the leaf's visitor was told that he is entered, and
	// that have not left yet. Such a refusal may leave after the same command, sent again, has entered the leaf.
	early map[draw.Hash]int
}

// roomDraw is one draw of a room by its facts.
type roomDraw struct {
	number        uint32
	settings      queue.Settings
	began         bool // somebody is entered, or the list is closed: the rules can't change any more
	ended, paused bool
	draining      bool // nobody joins any more

	// The entries' leaves in the order of their numbers, from 0.
	leaves  []draw.Hash
	numbers map[draw.Hash]uint32 // of entries, by leaf
	// The persons who have an entry. Nobody may have two. Entries without a proven person have 0, which does not
	// count.
	persons map[uint64]bool
	buyers  []uint64 // of the entries, by number: their person, or who orders by their admission; 0: nobody yet
	byClass draw.Counts
	safe    map[draw.Hash]bool // leaves whose visitors have been told that they are entered

	statement *draw.Statement // nil before the closing
	closedAt  int64
	ordered   bool
	signature []byte
	places    []uint32 // of the entries under the root, by number; nil without a drawn order

	served uint32
	// servedAt is the time of the last Served fact, or of the end of a pause, from which credit is counted on.
	servedAt int64 // unix milliseconds
	// credit is what has accrued towards the next admission, in parts: partsOfOne of them are one admission.
	credit  int64
	history []servedThen     // every threshold, with when it was committed
	begun   map[uint32]int64 // when an entry's admission began, unix milliseconds
	holds   []int64          // how long an admission was valid, one after the other
}

// servedThen is a threshold that was committed at a time, in microseconds since the start.
type servedThen struct {
	at     int64
	served uint32
}

const (
	// oldest is how old the threshold in the answer of a stream's owner may be, in microseconds. An answer without
	// facts waits until the claim is proven, and answers with newer facts may leave before it.
	oldest = 5 * clock.Second
	// makesUpFor limits, in milliseconds, for how much of a node's standstill the room admits people afterwards.
	// Without the limit all who were due during an hour's outage would be admitted at once.
	makesUpFor = 5_000
	// partsOfOne is how many parts make one admission. At a rate of r admissions a minute each millisecond adds r
	// parts, so that all is counted in whole numbers.
	partsOfOne = 60_000
)

// World is what the judge of rooms asks of the world.
type World struct {
	Now    func() int64                                     // microseconds since the start
	Replay func(engine.Ref) (engine.State, error)           // a stream's state, from its snapshot on
	Owner  func(engine.Ref) (engine.State, time.Time, bool) // of whoever owns a stream: the state, and the clock; false: nobody is at work
	Watch  func(ref engine.Ref, turn int, due int64)        // an admission is due, at a time in unix milliseconds
}

// Rooms are the waiting rooms of a simulated world by their committed facts.
type Rooms struct {
	world World
	byRef map[engine.Ref]*room
}

// New makes a judge that has seen no room.
func New(w World) *Rooms { return &Rooms{world: w, byRef: make(map[engine.Ref]*room)} }

// roomOf returns the record of a room, by the actor's reference.
func (t *Rooms) roomOf(ref engine.Ref) *room {
	r := t.byRef[ref]
	if r == nil {
		r = &room{early: make(map[draw.Hash]int)}
		t.byRef[ref] = r
	}
	return r
}

// last returns the draw that is going on or has ended last, or nil.
func (r *room) last() *roomDraw {
	if len(r.draws) == 0 {
		return nil
	}
	return r.draws[len(r.draws)-1]
}

// Take judges a committed fact of a waiting room and keeps it.
func (t *Rooms) Take(ref engine.Ref, f engine.Fact) error {
	r := t.roomOf(ref)
	if opened, ok := f.(*queue.Opened); ok {
		return t.takeOpened(ref, r, opened)
	}
	d := r.last()
	if d == nil || d.ended {
		return fmt.Errorf("%T of a room that is not there", f)
	}
	err := d.takeFact(f)
	if err == nil {
		// Each fact is noted with its time, even if it serves nobody: judgeServed asks how far the room was at a
		// time.
		d.history = append(d.history, servedThen{t.world.Now(), d.served})
		t.watchServing(ref, r)
	}
	return err
}

// watchServing asks the world to make sure that the next admission comes in time, if one is due by time alone.
func (t *Rooms) watchServing(ref engine.Ref, r *room) {
	r.turns++
	if d := r.last(); d.isServing() {
		t.world.Watch(ref, r.turns, d.nextDue())
	}
}

// isServing reports whether somebody waits for an admission that only time brings about.
func (d *roomDraw) isServing() bool {
	return d.ordered && !d.paused && !d.ended && int(d.served) < len(d.leaves)
}

// nextDue returns when the next admission is due, in unix milliseconds. It is the first moment at which a whole
// admission has accrued, and a second after the last fact at the earliest, for a room writes at most one such fact a
// second.
func (d *roomDraw) nextDue() int64 {
	return d.servedAt + max(1000, (partsOfOne-d.credit+d.settings.Rate-1)/d.settings.Rate)
}

// Turns returns how often the due time of a room's next admission has changed.
func (t *Rooms) Turns(ref engine.Ref) int { return t.roomOf(ref).turns }

// takeOpened judges the settings that an organizer gives a room. They either open the next draw or change the one
// that goes on. Once somebody is entered, the rules of a draw stay as they are; only its pace may still change.
func (t *Rooms) takeOpened(ref engine.Ref, r *room, f *queue.Opened) error {
	s, rules := *f.Settings, &f.Settings.Rules
	// The round of the beacon must be the first one after a delay behind the closing. Then nobody knows its value
	// while entries are still taken.
	if first := s.Chain.RoundAt(rules.ClosesAt + draw.BeaconDelay); rules.Round != first || rules.Chain != s.Chain.Hash {
		return fmt.Errorf("draw %d is by round %d of %s, not by round %d of %s", f.Draw, rules.Round, rules.Chain, first, s.Chain.Hash)
	}
	d := r.last()
	if d == nil || d.ended {
		if int(f.Draw) != len(r.draws)+1 || rules.Mode == draw.ByDraw && rules.ClosesAt <= f.At {
			return fmt.Errorf("draw %d follows draw %d, and closes at %d, opened at %d", f.Draw, len(r.draws), rules.ClosesAt, f.At)
		}
		r.draws = append(r.draws, &roomDraw{
			number: f.Draw, settings: s, holds: []int64{s.Hold}, numbers: make(map[draw.Hash]uint32), persons: make(map[uint64]bool),
			safe: make(map[draw.Hash]bool), begun: make(map[uint32]int64),
		})
		return nil
	}
	switch {
	case int(f.Draw) != len(r.draws):
		return fmt.Errorf("draw %d is changed to draw %d", len(r.draws), f.Draw)
	case d.began && (*rules != d.settings.Rules || s.Event != d.settings.Event):
		return fmt.Errorf("the rules of draw %d were %+v, and are %+v", f.Draw, d.settings.Rules, *rules)
	}
	// New settings also let people join a room that was draining.
	d.settings, d.holds, d.draining = s, append(d.holds, s.Hold), false
	t.watchServing(ref, r)
	return nil
}

// takeFact judges a fact of the draw that is going on.
func (d *roomDraw) takeFact(f engine.Fact) error {
	switch f := f.(type) {
	case *queue.Ended:
		d.ended = true
	case *queue.PausedFact:
		if f.On == d.paused {
			return fmt.Errorf("paused is %t again", f.On)
		}
		// The time of a pause counts for no admission.
		d.paused, d.servedAt = f.On, max(d.servedAt, f.At)
	case *queue.Joined:
		return d.takeJoined(f)
	case *queue.ClosedFact:
		return d.takeClosed(f)
	case *queue.Drawn:
		return d.takeDrawn(f)
	case *queue.Voided:
		return d.takeVoided(f)
	case *queue.Served:
		return d.takeServed(f)
	case *queue.Admitted:
		return d.takeAdmitted(f)
	case *queue.Bound:
		return d.takeBound(f)
	case *queue.DrainingFact:
		d.draining = true
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

// takeJoined judges an entry: its leaf and its person have no other entry, and the room still takes people.
func (d *roomDraw) takeJoined(f *queue.Joined) error {
	n := uint32(len(d.leaves)) //nolint:gosec // a few
	if was, twice := d.numbers[f.Leaf]; twice {
		return fmt.Errorf("leaf %s is entry %d, and entry %d", f.Leaf, was, n)
	}
	if f.Person != 0 && d.persons[f.Person] {
		return fmt.Errorf("person %d has two entries", f.Person)
	}
	if d.draining {
		return fmt.Errorf("leaf %s is entered in a room that takes nobody any more", f.Leaf)
	}
	d.leaves, d.buyers, d.began = append(d.leaves, f.Leaf), append(d.buyers, f.Person), true
	d.numbers[f.Leaf], d.persons[f.Person] = n, true
	d.byClass[f.Class]++
	return nil
}

// rootOf computes the root of the Merkle tree over leaves, by which anybody can check an entry later.
func rootOf(leaves []draw.Hash) draw.Hash {
	var tree draw.Tree
	for _, leaf := range leaves {
		tree.Append(leaf)
	}
	return tree.Root()
}

// takeClosed judges the closing of the list: it happens once, not before its time, and its count and its root are
// right. From here on they can't change without contradicting the statement.
func (d *roomDraw) takeClosed(f *queue.ClosedFact) error {
	root := rootOf(d.leaves)
	switch {
	case d.statement != nil:
		return fmt.Errorf("the list of %d is closed again, with %d", d.statement.Count, f.Count)
	case f.At < d.settings.Rules.ClosesAt:
		return fmt.Errorf("the list is closed at %d, not at %d", f.At, d.settings.Rules.ClosesAt)
	case int(f.Count) != len(d.leaves) || f.Root != root:
		return fmt.Errorf("the list is closed with %d entries under %s, and has %d under %s", f.Count, f.Root, len(d.leaves), root)
	}
	d.closedAt, d.began = f.At, true
	d.statement = &draw.Statement{
		Event: d.settings.Event, Draw: d.number, Rules: d.settings.Rules, Count: f.Count, ByClass: d.byClass, Root: root,
		TestBeacon: d.settings.Chain.Test,
	}
	return nil
}

// takeDrawn verifies the draw, as anybody may, and computes all places.
func (d *roomDraw) takeDrawn(f *queue.Drawn) error {
	if d.statement == nil || d.ordered {
		return fmt.Errorf("drawn, though closed is %t and ordered is %t", d.statement != nil, d.ordered)
	}
	return d.beginServing(f.At, f.Signature)
}

// takeVoided judges that a draw is given up, so that places follow arrival. Without a wait of VoidAfter minutes
// behind the beacon's round, an operator could discard a draw whose outcome he does not like.
func (d *roomDraw) takeVoided(f *queue.Voided) error {
	round := d.settings.Chain.Time(d.settings.Rules.Round)
	switch {
	case d.statement == nil || d.ordered:
		return fmt.Errorf("voided, though closed is %t and ordered is %t", d.statement != nil, d.ordered)
	case d.settings.Rules.Mode == draw.ByDraw && f.At < round+d.settings.Rules.VoidAfter*partsOfOne && d.closedAt < round:
		return fmt.Errorf("the draw is given up at %d, and its round is signed at %d", f.At, round)
	}
	return d.beginServing(f.At, nil)
}

// beginServing gives the entries their order: by the signature of the beacon, or by arrival if there is none.
// Admissions accrue from then on, but not before the opening.
func (d *roomDraw) beginServing(at int64, signature []byte) error {
	d.ordered, d.signature, d.servedAt = true, signature, max(at, d.settings.Rules.OpensAt)
	if signature == nil {
		return nil // by arrival
	}
	verified, err := draw.Verify(*d.statement, &d.settings.Chain, signature)
	if err != nil {
		return err
	}
	d.places, err = verified.Places(d.leaves[:d.statement.Count])
	return err
}

// takeServed judges how far a room has served its places, by the clocks of the nodes that decided. The number never
// falls, and grows by the rate: what accrued since the last fact, plus what was left over then.
func (d *roomDraw) takeServed(f *queue.Served) error {
	rate := d.settings.Rate
	// Not more than makesUpFor of a standstill counts, beyond the time in which the next admission accrues anyway.
	most := makesUpFor + (partsOfOne-d.credit+rate-1)/rate
	credit := d.credit + rate*min(max(0, f.At-d.servedAt), most) - partsOfOne*(int64(f.To)-int64(d.served))
	switch {
	case f.To < d.served || int(f.To) > len(d.leaves):
		return fmt.Errorf("%d places are served after %d, of %d", f.To, d.served, len(d.leaves))
	case !d.ordered || f.At < d.settings.Rules.OpensAt:
		return fmt.Errorf("%d places are served at %d, ordered is %t, and the opening is at %d", f.To, f.At, d.ordered, d.settings.Rules.OpensAt)
	case f.To == d.served && f.At < d.servedAt-makesUpFor: // the clock was set back: it goes on from there
		credit = d.credit
	case d.paused:
		return fmt.Errorf("%d places are served after %d, in a pause", f.To, d.served)
	case credit < 0 || credit >= partsOfOne && int(f.To) < len(d.leaves):
		return fmt.Errorf("%d places are served after %d within %d ms, at %d a minute", f.To, d.served, f.At-d.servedAt, rate)
	}
	// With nobody left to admit nothing needs to accrue, so the fact may carry a smaller credit.
	if int(f.To) == len(d.leaves) {
		credit = min(credit, f.Credit)
	}
	if f.Credit != credit {
		return fmt.Errorf("%d places are served with a credit of %d, not %d", f.To, f.Credit, credit)
	}
	d.served, d.servedAt, d.credit = f.To, f.At, credit
	return nil
}

// takeAdmitted judges the beginning of an admission: once for an entry, and only if its place is served.
func (d *roomDraw) takeAdmitted(f *queue.Admitted) error {
	if _, twice := d.begun[f.Index]; twice || int(f.Index) >= len(d.leaves) || f.Seconds == 0 {
		return fmt.Errorf("entry %d of %d is admitted, before it is %t", f.Index, len(d.leaves), twice)
	}
	if place := d.placeOf(f.Index); place < 0 || place >= int64(d.served) {
		return fmt.Errorf("entry %d is admitted, and its place is %d of %d served", f.Index, place, d.served)
	}
	// Seconds counts from the opening, and is one too high, so that 0 can stand for an entry that is not admitted.
	d.begun[f.Index] = d.settings.Rules.OpensAt + int64(f.Seconds-1)*1000
	return nil
}

// takeBound judges to whom an admission is bound: it is the first buyer who orders by it, and nobody else may
// afterwards.
func (d *roomDraw) takeBound(f *queue.Bound) error {
	if _, admitted := d.begun[f.Index]; !admitted || f.Person == 0 || d.buyers[f.Index] != 0 {
		return fmt.Errorf("entry %d is bound to buyer %d, admitted is %t, and its buyer is %d", f.Index, f.Person, admitted, d.buyers[f.Index])
	}
	d.buyers[f.Index] = f.Person
	return nil
}

// placeOf returns the place of an entry in the order, from 0, or -1 while there is no order. Entries that came after
// the closing are behind the drawn ones, by arrival.
func (d *roomDraw) placeOf(number uint32) int64 {
	switch {
	case !d.ordered:
		return -1
	case int(number) < len(d.places):
		return int64(d.places[number])
	default:
		return int64(number)
	}
}

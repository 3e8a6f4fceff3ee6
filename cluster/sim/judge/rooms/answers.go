package rooms

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// Answer judges an answer that leaves a waiting room. Current is true if the activation that answers still owns the
// room's stream.
func (t *Rooms) Answer(ref engine.Ref, cmd engine.Command, reply engine.Reply, current bool) error {
	r := t.roomOf(ref)
	switch told := reply.(type) {
	case *queue.Placed:
		return describeAnswer(t.judgePlaced(r, cmd, told, current), *told)
	case *queue.Record:
		return describeAnswer(t.judgeRecord(r, told, current), *told)
	case *queue.Proof:
		return describeAnswer(r.judgeProof(cmd, told), *told)
	case *engine.Refusal:
		// This refusal may be one that was decided before the visitor was entered, and that was slow. Each such note
		// excuses one refusal.
		if leaf := leafIn(cmd); r.early[leaf] > 0 {
			r.early[leaf]--
		} else if current && r.isPromised(leaf) && told.Code != engine.Unavailable && told.Code != engine.QueueRequired && !isProve(cmd) && !r.isForeign(cmd) {
			return fmt.Errorf("answered %s, and its visitor was told that he is entry %d", told.Code, r.last().numbers[leaf])
		}
	}
	return nil
}

// NoteRefusal notes a refusal when it is decided, if its visitor has not been told yet that he is entered. Answer
// excuses it when it leaves: by then the same command, sent again, may have entered the visitor.
func (t *Rooms) NoteRefusal(ref engine.Ref, cmd engine.Command, reply engine.Reply) {
	r, leaf := t.roomOf(ref), leafIn(cmd)
	if _, refused := reply.(*engine.Refusal); refused && !r.isPromised(leaf) {
		r.early[leaf]++
	}
}

// isPromised returns whether a leaf's visitor has been told that he is entered in the draw that goes on. From then on
// he may not be refused what entries are for.
func (r *room) isPromised(leaf draw.Hash) bool {
	d := r.last()
	return d != nil && !d.ended && d.safe[leaf]
}

// isProve returns whether a command asks for a proof. A proof may be refused to an entry, because there is none
// before the list is closed.
func isProve(cmd engine.Command) bool {
	_, ok := cmd.(queue.Prove)
	return ok
}

// isForeign returns whether somebody joins by a leaf that is another person's entry in the draw that goes on. Such a
// Join must be refused, although the leaf itself is entered.
func (r *room) isForeign(cmd engine.Command) bool {
	join, ok := cmd.(queue.Join)
	if !ok || join.Person == 0 {
		return false
	}
	d := r.last()
	number, entered := d.numbers[join.Leaf]
	return entered && d.buyers[number] != join.Person
}

// leafIn returns the leaf of the entry that a command is about, or the zero hash if it is about none.
func leafIn(cmd engine.Command) draw.Hash {
	switch c := cmd.(type) {
	case queue.Join:
		return c.Leaf
	case queue.Look:
		return c.Leaf
	case queue.Admit:
		return c.Leaf
	case queue.Prove:
		return c.Leaf
	case queue.Use:
		return c.Leaf
	default:
		return draw.Hash{}
	}
}

// drawOf returns the draw that an answer is about, by its number. Draws are numbered from 1.
func (r *room) drawOf(number uint32) (*roomDraw, error) {
	if number == 0 || int(number) > len(r.draws) {
		return nil, fmt.Errorf("there is no draw %d in the journal", number)
	}
	return r.draws[number-1], nil
}

// judgePlaced makes sure that a visitor is told the entry and the place that the journal gives him. After this answer
// the visitor counts as promised: he has a receipt.
func (t *Rooms) judgePlaced(r *room, cmd engine.Command, p *queue.Placed, current bool) error {
	d, err := r.drawOf(p.Draw)
	if err != nil {
		return err
	}
	leaf := leafIn(cmd)
	number, entered := d.numbers[leaf]
	switch {
	case !entered || number != p.Index:
		return fmt.Errorf("leaf %s is in the journal: %t, as entry %d", leaf, entered, number)
	case p.Place >= 0 && p.Place != d.placeOf(number):
		return fmt.Errorf("its place is %d", d.placeOf(number))
	case p.Place < 0 && p.Phase == queue.Ordered.String():
		return errors.New("its place is known")
	// Admitted must follow from the same answer's threshold, or the page would show a turn that is not one.
	case p.Admitted != (p.Place >= 0 && p.Place < int64(p.Served)):
		return errors.New("whether its turn has come does not follow from its place")
	}
	// The admission lasts from its beginning for the length that was set at the time. The organizer may have changed
	// the length since, so any length that was ever set is right.
	if begun, admitted := d.begun[number]; p.Until != 0 && (!admitted || !slices.Contains(d.holds, p.Until-begun)) {
		return fmt.Errorf("the admission began at %d", begun)
	}
	if use, ok := cmd.(queue.Use); ok && d.buyers[number] != use.Buyer {
		return fmt.Errorf("buyer %d may order, and the admission is buyer %d's", use.Buyer, d.buyers[number])
	}
	if join, ok := cmd.(queue.Join); ok && join.Person != 0 && d.buyers[number] != join.Person {
		return fmt.Errorf("person %d is entered, and the entry is person %d's", join.Person, d.buyers[number])
	}
	d.safe[leaf] = true
	return t.judgeServed(d, p.Served, current)
}

// judgeServed makes sure that the threshold in an answer is durable, and not older than a few seconds. A visitor who
// asks again must not see it fall, not even after another node took over.
func (t *Rooms) judgeServed(d *roomDraw, served uint32, current bool) error {
	var least uint32
	for _, then := range d.history {
		if then.at <= t.world.Now()-oldest {
			least = then.served
		}
	}
	if served > d.served || current && served < least {
		return fmt.Errorf("%d places are served, and %d were a while ago", d.served, least)
	}
	return nil
}

// judgeRecord makes sure that a room is told as it is in the journal. A draw has one statement for ever, and its
// counts of entries and of served places never become smaller.
func (t *Rooms) judgeRecord(r *room, told *queue.Record, current bool) error {
	if told.Draw == 0 {
		return nil
	}
	d, err := r.drawOf(told.Draw)
	if err != nil {
		return err
	}
	switch {
	case int(told.Count) > len(d.leaves):
		return fmt.Errorf("it has %d entries", len(d.leaves))
	case told.Statement != nil && (d.statement == nil || *told.Statement != *d.statement):
		return fmt.Errorf("its statement is %+v, and not %+v", d.statement, *told.Statement)
	case told.Signature != nil && !bytes.Equal(told.Signature, d.signature):
		return fmt.Errorf("the beacon's signature is %x", d.signature)
	}
	return t.judgeServed(d, told.Served, current)
}

// judgeProof verifies a proof that a leaf is under the published root of a draw. The leaf may be in several draws of
// the room, and the proof must fit one of them.
func (r *room) judgeProof(cmd engine.Command, p *queue.Proof) error {
	leaf := leafIn(cmd)
	err := fmt.Errorf("leaf %s is not under a root", leaf)
	for _, d := range r.draws {
		if number, entered := d.numbers[leaf]; entered && number == p.Index && d.statement != nil && number < d.statement.Count {
			if err = draw.CheckInclusion(d.statement.Root, d.statement.Count, leaf, p.Index, p.Hashes); err == nil {
				return nil
			}
		}
	}
	return err
}

// Settled judges a room once the world is quiet: its state has every entry with its place, the draw came to an order,
// and all entries are served unless the organizer has ended or paused the room.
func (t *Rooms) Settled(ref engine.Ref) error {
	d := t.roomOf(ref).last()
	if d == nil {
		return nil
	}
	state, err := t.world.Replay(ref)
	if err != nil {
		return err
	}
	_, now, _ := t.world.Owner(ref)
	told, ok := state.Decide(queue.Get{}, now).Reply.(*queue.Record)
	if !ok || told.Draw != d.number || int(told.Count) != len(d.leaves) || told.Served != d.served {
		return fmt.Errorf("%s is %+v, and has %d entries and %d served", ref.Name(), told, len(d.leaves), d.served)
	}
	for number, leaf := range d.leaves {
		p, ok := state.Decide(queue.Look{Leaf: leaf}, now).Reply.(*queue.Placed)
		if !ok || int(p.Index) != number || !d.ended && p.Place != d.placeOf(p.Index) {
			return fmt.Errorf("%s has %+v of entry %d, whose place is %d", ref.Name(), p, number, d.placeOf(p.Index))
		}
	}
	switch {
	case d.ended:
	case !d.ordered:
		return fmt.Errorf("%s never had an order", ref.Name())
	case d.isServing():
		return fmt.Errorf("%s has served %d of %d, and nobody paused it", ref.Name(), d.served, len(d.leaves))
	}
	return nil
}

// Phase returns in two words how far a waiting room is. The simulator counts by it what its faults have struck.
func (t *Rooms) Phase(ref engine.Ref) string {
	switch d := t.roomOf(ref).last(); {
	case d == nil || d.ended:
		return "room none"
	case d.ordered:
		return "room ordered"
	case d.statement != nil:
		return "room closed"
	default:
		return "room registering"
	}
}

// describeAnswer adds the answer to what is wrong with it.
func describeAnswer(err error, answer any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("answered %+v: %w", answer, err)
}

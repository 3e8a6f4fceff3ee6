package admission

import (
	"cmp"
	"fmt"
	"slices"
)

// passage is one way of a ticket's holder through a gate.
type passage struct {
	At     int64  `cbor:"1,keyasint"`
	Out    bool   `cbor:"2,keyasint,omitempty"`
	Gate   string `cbor:"3,keyasint,omitempty"`
	Device uint64 `cbor:"4,keyasint,omitempty"` // hash of the device (deviceHash)
	Key    uint64 `cbor:"5,keyasint,omitempty"` // hash of the scan's idempotency key: equal keys are the same scan; 0 without a key
}

// compareTo orders passages by time. The other fields decide between equal times, so that the order does not
// depend on which passage was reported first.
func (p *passage) compareTo(other *passage) int {
	direction := func(p *passage) int {
		if p.Out {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(p.At, other.At), cmp.Compare(direction(p), direction(other)), cmp.Compare(p.Key, other.Key),
		cmp.Compare(p.Device, other.Device), cmp.Compare(p.Gate, other.Gate))
}

// maxPassages is how many passages a ticket remembers. A device may later report a passage from before the last
// forgotten one; that passage is given the time of the forgotten one (trail.Until).
const maxPassages = 64

// trail is the passages of a ticket in the order of their times. It keeps those that contradict each other,
// because a passage that a device reports later may explain them. A trail is replaced, never changed. A ticket
// that was admitted once and was never at a gate again usually has none (trailOf).
type trail struct {
	Ticket   uint32     `cbor:"1,keyasint"`
	Passages []*passage `cbor:"2,keyasint"`
	// Before is the last forgotten passage that stands (visitPassages). Until is the time of the last forgotten
	// passage.
	Before *passage `cbor:"3,keyasint,omitempty"`
	Until  int64    `cbor:"4,keyasint,omitempty"`
}

// step says what a passage is among the others of its ticket.
type step byte

const (
	stepThrough  step = iota // somebody came in who was outside, or went out who was inside
	stepConflict             // somebody came in who was inside, or went out who was outside
	stepRepeat               // the device that saw the last standing passage saw it once more
)

// visitPassages calls visit for each passage in order, with its step and the last passage before it that
// stands. A passage stands if its step is stepThrough. The last one that stands is returned, or nil.
func (tr *trail) visitPassages(visit func(p *passage, is step, before *passage)) (last *passage) {
	last = tr.Before
	for _, p := range tr.Passages {
		inside := last != nil && !last.Out
		is := stepThrough
		switch {
		case inside != p.Out && last != nil && sameDevice(last.Device, p.Device, p.At-last.At):
			is = stepRepeat
		case inside != p.Out:
			is = stepConflict
		}
		visit(p, is, last)
		if is == stepThrough {
			last = p
		}
	}
	return last
}

// lastStanding returns the last passage that stands, or nil.
func (tr *trail) lastStanding() *passage { return tr.visitPassages(func(*passage, step, *passage) {}) }

// countConflicts returns how many passages contradict the others.
func (tr *trail) countConflicts() (n int) {
	tr.visitPassages(func(_ *passage, is step, _ *passage) {
		if is == stepConflict {
			n++
		}
	})
	return n
}

// findScan returns the passage of the scan with this key, or nil. No scan has the key 0.
func (tr *trail) findScan(key uint64) *passage {
	i := slices.IndexFunc(tr.Passages, func(p *passage) bool { return key != 0 && p.Key == key })
	if i < 0 {
		return nil
	}
	return tr.Passages[i]
}

// findContradicted returns the passage that p contradicts, or nil. If p is a conflict, that is the last passage
// that stands before p. If p is no conflict, or no passage stands before it, that is the next conflict after p in the
// same direction.
func (tr *trail) findContradicted(p *passage) (other *passage) {
	tr.visitPassages(func(q *passage, is step, before *passage) {
		switch {
		case q == p && is == stepConflict:
			other = before
		case q != p && other == nil && is == stepConflict && q.Out == p.Out && q.compareTo(p) > 0:
			other = q
		}
	})
	return other
}

// withPassage returns the trail with one more passage, and the passage as it is in that trail. If the trail has a
// passage of the same scan, both are returned as they are. A passage that is older than the forgotten ones is
// added as a copy with the time of the last of those.
func (tr *trail) withPassage(p *passage) (*trail, *passage) {
	if known := tr.findScan(p.Key); known != nil {
		return tr, known
	}
	// A passage that is reported very late may be older than passages that were forgotten. It can't be placed
	// before these, so it gets the time of the last of them.
	if p.At < tr.Until {
		p = &passage{At: tr.Until, Out: p.Out, Gate: p.Gate, Device: p.Device, Key: p.Key}
	}
	i, _ := slices.BinarySearchFunc(tr.Passages, p, (*passage).compareTo)
	c := *tr
	c.Passages = slices.Insert(slices.Clone(tr.Passages), i, p)
	return &c, p
}

// withoutOldest returns the trail without its oldest passage, if it has become too long.
func (tr *trail) withoutOldest() *trail {
	if len(tr.Passages) <= maxPassages {
		return tr
	}
	c, oldest := *tr, &trail{Before: tr.Before, Passages: tr.Passages[:1]}
	c.Before, c.Until, c.Passages = oldest.lastStanding(), tr.Passages[0].At, tr.Passages[1:]
	return &c
}

// withoutLast returns the trail without the last passage that stands and without all passages after it, which
// only repeat or contradict it. It also returns that passage, or nil if none of the trail's passages stands.
func (tr *trail) withoutLast() (*trail, *passage) {
	last := tr.lastStanding()
	i := slices.Index(tr.Passages, last)
	if i < 0 {
		return tr, nil
	}
	c := *tr
	c.Passages = tr.Passages[:i:i]
	return &c, last
}

// trails are the trails of the tickets that have one.
type trails struct {
	list  []*trail
	index map[uint32]int // index into list, by the ticket's serial
}

// findTrail returns the trail that is stored for a ticket, or nil if there is none (trailOf makes one then).
func (ts *trails) findTrail(ticket uint32) *trail {
	if i, ok := ts.index[ticket]; ok {
		return ts.list[i]
	}
	return nil
}

// putTrail replaces the trail of a ticket.
func (ts *trails) putTrail(tr *trail) {
	if i, ok := ts.index[tr.Ticket]; ok {
		ts.list[i] = tr
		return
	}
	if ts.index == nil {
		ts.index = make(map[uint32]int)
	}
	ts.index[tr.Ticket] = len(ts.list)
	ts.list = append(ts.list, tr)
}

// trailOf returns the trail of a ticket. If none is stored, it makes one, without storing it: of the ticket's
// admission, or an empty one.
func (t *Tickets) trailOf(ticket uint32) *trail {
	if tr := t.trails.findTrail(ticket); tr != nil {
		return tr
	}
	// A ticket that was admitted once and has no trail yet gets one with its admission alone.
	tr, i := &trail{Ticket: ticket}, int(ticket)-1
	if t.rows.status.At(i) == StatusCheckedIn {
		tr.Passages = []*passage{{
			At: t.rows.at.At(i), Gate: t.gates.counts[t.rows.gate.At(i)].Name, Device: t.rows.device.At(i), Key: t.rows.key.At(i),
		}}
	}
	return tr
}

// isInside reports whether the ticket's holder is inside.
func (t *Tickets) isInside(ticket uint32) bool {
	if tr := t.trails.findTrail(ticket); tr != nil {
		last := tr.lastStanding()
		return last != nil && !last.Out
	}
	return t.rows.status.At(int(ticket)-1) == StatusCheckedIn
}

// notePassage adds a passage to the trail of a ticket. The gates' counters follow from the trail alone, so they do
// not depend on the order in which devices report passages.
func (t *Tickets) notePassage(ticket uint32, p *passage) {
	// Gates beyond the limit share a name, so the passage bears the name under which it is counted.
	p.Gate = t.gates.counts[t.gates.number(p.Gate)].Name
	was := t.trailOf(ticket)
	is, _ := was.withPassage(p)
	// The counters follow from the whole trail: a passage in the middle may turn later ones into conflicts, or the
	// other way round.
	t.gates.countTrail(was, -1)
	t.gates.countTrail(is, 1)
	t.trails.putTrail(is.withoutOldest())
}

// applyPassageUndone takes back the last standing passage of a ticket. Its scan stays counted, as after gates.undo.
func (t *Tickets) applyPassageUndone(ticket uint32) {
	is, last := t.trailOf(ticket).withoutLast()
	if last == nil {
		return
	}
	count := &t.gates.counts[t.gates.number(last.Gate)]
	switch {
	case last.Out:
		count.Out--
	case is.lastStanding() == nil:
		count.Admitted--
	default:
		count.Again--
	}
	t.trails.putTrail(is)
}

// countTrail adds n times the passages of a trail to the gates' counters; n is -1 to take them out again. Repeats are not
// counted.
func (g *gates) countTrail(tr *trail, n int64) {
	tr.visitPassages(func(p *passage, is step, before *passage) {
		if is == stepRepeat {
			return
		}
		count := &g.counts[g.number(p.Gate)]
		count.Scanned += n
		switch {
		case is == stepConflict:
			count.Denied += n
		case p.Out:
			count.Out += n
		case before == nil:
			count.Admitted += n
		default:
			count.Again += n
		}
	})
}

// checkInside returns an error unless the gates' counters say how many holders are inside. The counters may say
// more if tickets have ended after they had admitted somebody.
func (t *Tickets) checkInside() error {
	inside, counted := int64(0), int64(0)
	for i := range t.rows.len() {
		if t.isInside(uint32(i) + 1) {
			inside++
		}
	}
	for i := range t.gates.counts {
		counted += t.gates.counts[i].In() - t.gates.counts[i].Out
	}
	if counted < inside || counted > inside && t.rows.ended == 0 {
		return fmt.Errorf("admission: %d inside, counted %d", inside, counted)
	}
	return nil
}

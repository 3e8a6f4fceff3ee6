package bugs

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// promisesEntries is a waiting room that gives a visitor the receipt at once, but writes the visitor's entry only
// when the next visitor joins. A crash in between loses an entry that was promised.
type promisesEntries struct {
	engine.State
	late []engine.Fact
}

// Decide holds back the fact of an entry until the next visitor joins.
func (p *promisesEntries) Decide(c engine.Command, now time.Time) engine.Decision {
	d := p.State.Decide(c, now)
	if _, join := c.(queue.Join); !join || len(d.Facts) != 1 {
		return d
	}
	// The first of two entries is kept back, and leaves together with the second.
	if p.late == nil {
		p.late, d.Facts = d.Facts, nil
		return d
	}
	d.Facts, p.late = append(p.late, d.Facts...), nil
	return d
}

// drawsLateComers is a waiting room that lets visitors take part in the draw who joined after the list was closed. It
// changes the list once the random round is known, which is what the closing must prevent.
type drawsLateComers struct{ engine.State }

// Apply closes the list again before it is drawn.
func (l *drawsLateComers) Apply(f engine.Fact) {
	if _, drawn := f.(*queue.Drawn); drawn {
		if frozen, ok := l.Freeze().(*queue.Frozen); ok {
			var all draw.Tree
			for _, leaves := range frozen.Leaves {
				for _, leaf := range leaves {
					all.Append(leaf)
				}
			}
			l.State.Apply(&queue.ClosedFact{Count: uint32(all.Len()), Root: all.Root()}) //nolint:gosec // a few
		}
	}
	l.State.Apply(f)
}

// fallsWithClock is a waiting room that goes a place back when the clock goes back.
type fallsWithClock struct{ engine.State }

// Decide lowers the number that is served, if the command's time is before the last admission.
func (w *fallsWithClock) Decide(c engine.Command, now time.Time) engine.Decision {
	d := w.State.Decide(c, now)
	for _, f := range d.Facts {
		served, ok := f.(*queue.Served)
		if !ok {
			continue
		}
		if was, ok := w.Freeze().(*queue.Frozen); ok && served.At < was.ServedAt {
			served.To -= min(served.To, 1)
		}
	}
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (w *fallsWithClock) Check() error { return nil }

// forgetsDraws is a waiting room that, after its end, numbers its draws from 1 again. Two draws then have one number.
type forgetsDraws struct {
	engine.State
	ref engine.Ref
}

// Apply forgets all with the end.
func (g *forgetsDraws) Apply(f engine.Fact) {
	if _, ended := f.(*queue.Ended); ended {
		g.State = queue.New(g.ref)
		return
	}
	g.State.Apply(f)
}

// sharesWork is a waiting room that does not check which person made an entry, so that one proof of work serves two
// persons.
type sharesWork struct{ engine.State }

// Decide drops the person from a Join for a leaf that has an entry already.
func (w sharesWork) Decide(c engine.Command, now time.Time) engine.Decision {
	if join, ok := c.(queue.Join); ok {
		if _, entered := w.State.Decide(queue.Look{Leaf: join.Leaf}, now).Reply.(*queue.Placed); entered {
			join.Person = 0
			c = join
		}
	}
	return w.State.Decide(c, now)
}

// wrapRoom plants the bug into the state of a waiting room.
func (b Bug) wrapRoom(ref engine.Ref, s engine.State) engine.State {
	switch b { //nolint:exhaustive // the others are of other kinds, or of the world
	case EarlyReceipt:
		return &promisesEntries{State: s}
	case LateComers:
		return &drawsLateComers{s}
	case FallingPlace:
		return &fallsWithClock{s}
	case SameDraw:
		return &forgetsDraws{s, ref}
	case SharedWork:
		return sharesWork{s}
	default:
		return s
	}
}

package bugs

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// promisesEntries is a waiting room that gives receipts at once, and enters their leaves with the
// next one's.
type promisesEntries struct {
	engine.State
	late []engine.Fact
}

// Decide keeps an entry back until somebody else comes.
func (p *promisesEntries) Decide(c engine.Command, now time.Time) engine.Decision {
	d := p.State.Decide(c, now)
	if _, join := c.(queue.Join); !join || len(d.Facts) != 1 {
		return d
	}
	if p.late == nil {
		p.late, d.Facts = d.Facts, nil
		return d
	}
	d.Facts, p.late = append(p.late, d.Facts...), nil
	return d
}

// drawsLateComers is a waiting room that takes whoever has come since the closing into the draw,
// once the round is there.
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

// Check says nothing: the judge has to find it.
func (w *fallsWithClock) Check() error { return nil }

// forgetsDraws is a waiting room that counts its draws from one again once it has ended.
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

// sharesWork is a waiting room that does not look whose entry a proof of work has paid for.
type sharesWork struct{ engine.State }

// Decide leaves out who joins by a leaf that is entered.
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

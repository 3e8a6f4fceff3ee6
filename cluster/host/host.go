// Package host runs one activation of an actor: it claims the actor's stream,
// loads snapshot and tail, and then decides on commands one after another.
//
// A decision's facts are applied at once and handed to the journal; its reply
// and sends leave when they are durable, in order. An activation that has been
// fenced answers ErrUnavailable, drops its state and stops.
//
// Activations are made and found by package cluster, which alone sends to them.
// An activation stops when it is fenced, when its load or a decision fails, or
// on Retire; it is garbage when its last entry has been settled.
package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/snapshot"
)

// Snapshots keeps frozen states. The tests have one in memory.
type Snapshots interface {
	// Load returns a stream's latest snapshot before another one, or the zero
	// Version when there is none.
	Load(ctx context.Context, stream int64, before snapshot.Version) (v snapshot.Version, state []byte, err error)
	// Save keeps a snapshot of the state after seq: what write writes.
	Save(ctx context.Context, stream, seq int64, epoch int32, write func(io.Writer) error) error
}

// Env is what activations have from their node.
type Env struct {
	Journal   journal.Journal
	Snapshots Snapshots
	Log       *slog.Logger
	Now       func() time.Time                 // not set back by the wall clock
	Send      func(engine.Ref, engine.Command) // to any actor, without waiting
	// Here says whether an actor is this node's now. Join sends to it if it still
	// is: what it decides on hearing the command needs the claim.
	Here   func(engine.Ref) bool
	Join   func(engine.Ref, Joint)
	Arm    func(engine.Ref, time.Time)      // ask for a Wake at a time
	Go     func(func(context.Context))      // run beside the actor; the node waits for it
	Freeze func(func(context.Context)) bool // run in the node's one snapshot writer; false when it is full
	Gone   func(*Activation)                // forget the activation: the next command makes a new one
	// Parked notes when an actor that is put away wants to wake.
	Parked func(engine.Ref, journal.Claim, time.Time) error
	// Before is called before a stream is claimed: whoever may have had it
	// lets go of it in order, if he is there to be asked. Nothing rests on it
	// but that nobody's last facts are fenced. It returns ErrMoved when the
	// actor is another node's by now.
	Before func(context.Context, engine.Ref) error
	// SnapshotEvery is how many facts may follow a snapshot before the next,
	// while there are few. With many, as many as the snapshot holds: a fact
	// is written twice in all on average, however long a rush.
	SnapshotEvery int64
	Fenced        *atomic.Int64 // counts activations that have lost their stream
	Unfounded     *atomic.Int64 // counts snapshots that the journal contradicts
}

// Messages of an activation to itself, and of the node.
type (
	loaded struct {
		state engine.State
		claim journal.Claim
		at    time.Time // before it was claimed
		seq   int64     // of the last fact
		saved int64     // of the snapshot
	}
	failed  struct{ err error }
	fenced  struct{}
	proven  struct{ at time.Time }
	settled struct{ *work } // an answer that its batch did not prove
	retire  struct {
		force bool
		done  chan<- struct{}
	}
	dropped struct{}
	idle    struct{} // nothing is pending
)

// Joint is a tell that may be heard before its sender's facts are durable.
type Joint struct {
	Cmd   engine.Command
	Needs journal.Claim // the sender's
}

// Activation is the actor of the library that hosts one of ours. What each command
// needs comes first, side by side.
type Activation struct {
	Ref  engine.Ref
	Load atomic.Int64 // calls and tells not yet dealt with
	Used atomic.Int64 // when it last took a command other than a Wake, unix milliseconds

	env      *Env
	state    engine.State // nil while loading and after the end
	claim    journal.Claim
	proven   atomic.Int64 // when the claim was last known to stand, unix milliseconds
	seq      int64        // of the last fact decided
	saved    int64        // of the last snapshot asked for
	pending  atomic.Int64
	current  *Call     // being decided on
	armed    time.Time // the Wake asked for, or zero
	held     map[engine.OrderID][]*Call
	unproven []*work     // what leaves once it is proven again
	handed   int64       // entries handed to the journal
	refusals refusals    // on their way through it
	stopped  atomic.Bool // the journal asks too
	leaving  atomic.Bool // takes no commands and ends when nothing is pending
	lost     atomic.Bool // facts in the state were refused by the journal

	kind    *engine.KindDef
	self    *actor.PID
	root    *actor.RootContext
	final   atomic.Int64 // the last fact's seq once the activation departs, else 0
	stash   []any
	leavers []chan<- struct{} // closed when it has ended
}

// New is an activation that is loaded when the library starts it.
func New(ref engine.Ref, env *Env) (*Activation, error) {
	kind, err := all.Kind(ref.Kind)
	if err != nil {
		return nil, err
	}
	return &Activation{Ref: ref, env: env, kind: kind, held: make(map[engine.OrderID][]*Call)}, nil
}

// Receive takes the library's messages: that it has been started.
func (a *Activation) Receive(ctx actor.Context) {
	if _, started := ctx.Message().(*actor.Started); started {
		a.self, a.root = ctx.Self(), ctx.ActorSystem().Root
		a.env.Go(a.load)
	}
}

// Handle deals with a message of the mailbox, one at a time. A panic in a decision
// answers its callers and stops the activation; the journal has what it had decided.
func (a *Activation) Handle(msg any) {
	defer func() {
		if p := recover(); p != nil {
			a.env.Log.Error("actor panicked", slog.String("actor", a.Ref.Name()), slog.Any("panic", p), stack())
			if a.current != nil {
				a.current.Finish(engine.Refuse(engine.Internal, nil), nil)
			}
			a.broken()
		}
	}()
	switch m := msg.(type) {
	case *Call:
		a.take(m, m.Cmd)
	case Joint:
		a.takeJoint(m)
	case engine.Command:
		a.take(nil, m)
	case loaded:
		a.start(m)
	case proven:
		a.releaseProven(m.at)
	case settled:
		if a.stopped.Load() {
			m.fail()
			return
		}
		a.answer(m.work)
	case failed:
		if errors.Is(m.err, ErrMoved) {
			a.stop(ErrMoved)
			return
		}
		a.env.Log.Warn("actor stopped", slog.String("actor", a.Ref.Name()), slog.Any("error", m.err))
		a.broken()
	case fenced:
		a.fenced()
	case retire:
		a.retire(m)
	case idle:
		a.depart()
	case dropped:
		a.root.Stop(a.self)
	}
}

// take deals with a command, now or after loading. A nil call is a tell.
func (a *Activation) take(c *Call, cmd engine.Command) {
	switch {
	case a.stopped.Load():
		a.bounce(c, cmd)
	case c != nil && c.expires > 0 && c.expires < a.env.Now().UnixMilli():
		c.Finish(nil, ErrUnavailable) // its caller has gone
	case a.state == nil || a.leaving.Load():
		if c != nil {
			a.stash = append(a.stash, c)
		} else {
			a.stash = append(a.stash, cmd)
		}
	default:
		a.decide(c, cmd, journal.Claim{})
	}
}

// takeJoint deals with a joint command, if it can now: who has to be loaded first has
// no use for it, and its sender's patience sees to the rest.
func (a *Activation) takeJoint(j Joint) {
	if a.stopped.Load() || a.state == nil || a.leaving.Load() {
		a.Load.Add(-1)
		return
	}
	a.decide(nil, j.Cmd, j.Needs)
}

// bounce sends a command that reached a stopped activation on its way again.
func (a *Activation) bounce(c *Call, cmd engine.Command) {
	if c != nil {
		c.Finish(nil, ErrMoved)
		return
	}
	a.Load.Add(-1)
	if _, timer := cmd.(engine.Wake); !timer {
		a.env.Send(a.Ref, cmd)
	}
}

// start makes a loaded activation live, and deals with what has come meanwhile.
func (a *Activation) start(l loaded) {
	if a.stopped.Load() {
		return
	}
	a.state, a.claim, a.seq, a.saved = l.state, l.claim, l.seq, l.saved
	a.proven.Store(l.at.UnixMilli())
	if a.leaving.Load() { // before it began: its claim has noted that it wants to wake
		a.stop(ErrMoved)
		return
	}
	a.Load.Add(1)
	a.decide(nil, engine.Wake{Epoch: l.claim.Epoch}, journal.Claim{})
	for len(a.stash) > 0 {
		m := a.stash[0]
		a.stash = a.stash[1:] // if this one panics, stop answers the others
		switch m := m.(type) {
		case *Call:
			a.take(m, m.Cmd)
		case engine.Command:
			a.take(nil, m)
		}
	}
	a.stash = nil // with its room
}

// stop ends the activation: what it had not made durable is unanswered, and
// whoever holds its address is sent on until the library has let go of it.
func (a *Activation) stop(err error) {
	if a.stopped.Load() {
		return
	}
	a.stopped.Store(true)
	a.state = nil
	a.env.Gone(a)
	for _, m := range a.stash {
		switch m := m.(type) {
		case *Call:
			m.Finish(nil, err)
		case engine.Command:
			a.bounce(nil, m)
		}
	}
	for _, done := range a.leavers {
		close(done)
	}
	for _, cs := range a.held {
		for _, c := range cs {
			c.Finish(nil, err)
		}
	}
	for _, w := range a.unproven {
		w.fail()
	}
	a.stash, a.held, a.unproven, a.leavers = nil, nil, nil, nil
}

// mendAfter is how long an actor that broke is left alone, unless somebody asks it.
const mendAfter = 5 * time.Second

// broken ends an activation that can't go on. The tells that wait are dropped: the
// next one may fare no better, and they would have one made after another. It is made
// in a while even if nobody asks: the Wake that was due may be used up.
func (a *Activation) broken() {
	if a.stopped.Load() {
		return
	}
	tells := len(a.stash)
	a.stash = slices.DeleteFunc(a.stash, func(m any) bool {
		_, tell := m.(engine.Command)
		return tell
	})
	tells -= len(a.stash)
	a.Load.Add(-int64(tells))
	a.env.Arm(a.Ref, a.env.Now().Add(mendAfter)) // before the next one asks for a Wake
	a.stop(ErrUnavailable)
}

// fenced ends an activation that has lost its stream. Whoever has it now is sent
// a Wake: this one may have used up the one that was due.
func (a *Activation) fenced() {
	if a.stopped.Load() {
		return
	}
	a.env.Log.Info("actor fenced", slog.String("actor", a.Ref.Name()), slog.Int("epoch", int(a.claim.Epoch)))
	a.env.Fenced.Add(1)
	a.stop(ErrUnavailable)
	a.env.Arm(a.Ref, a.env.Now().Add(proofLife))
}

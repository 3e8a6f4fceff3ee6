// Package activation is the protocol of one actor with its journal, and nothing else: it uses no
// goroutine, no clock and no actor library. Package host runs activations on a node, package sim
// runs the same ones in a simulated world.
//
// An activation is handed messages, one at a time (Handle), and the journal's verdicts (Settled).
// For everything else it needs, it calls its Shell. It begins to decide when the shell hands it the
// loaded state. It applies a decision's facts at once and hands them to the journal; the decision's
// reply and sends leave in order, when the facts are durable. Only its asks and joint commands may
// leave earlier. An activation that has lost its stream answers ErrUnavailable, drops its state and
// ends.
package activation

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// Shell is what surrounds an activation. Post, Now, Send, Keep and Log are also called from the
// journal's goroutine, the other methods only from within Handle. No method but Park may block, and none may call the
// activation back before it returns.
type Shell interface {
	Now() time.Time // never set back by the wall clock
	Log() *slog.Logger
	// Post puts a message after those that already wait for the activation.
	Post(msg any)
	// Append hands an entry to the journal.
	Append(e *journal.Entry)
	// Prove asks the journal whether the claim still stands, and posts Proven, Fenced
	// or Failed.
	Prove(claim journal.Claim)
	// Send sends a command to any actor. It may be lost.
	Send(to engine.Ref, cmd engine.Command)
	// Here reports whether an actor is this node's now. Join sends to an actor if it still is this
	// node's: what that actor decides about the command is durable only if the sender's claim still
	// stands.
	Here(to engine.Ref) bool
	Join(to engine.Ref, j Joint)
	// Arm asks for a Wake of this actor at a time, which replaces the one asked for before.
	Arm(at time.Time)
	// Keep encodes and saves a frozen state, which contains the facts up to seq. It does so beside
	// the activation, which goes on in the meantime.
	Keep(frozen any, claim journal.Claim, seq int64)
	// Park notes durably when an actor that is put away wants to wake (the zero time: never), and waits for that. seq
	// is the number of the last fact, which the last snapshot contains.
	Park(claim journal.Claim, seq int64, wake time.Time) error
	// End forgets the activation: the next command makes a new one. fenced reports that another
	// activation has claimed its stream, or a stream that its facts depend on.
	End(fenced bool)
}

// Activation is one actor at work. The fields that each command needs come first, side by side in
// memory.
type Activation struct {
	Ref  engine.Ref
	Load atomic.Int64 // calls that are not yet answered, and tells that are not yet decided
	Used atomic.Int64 // when it last decided a command other than a Wake, unix milliseconds; 0: never

	shell         Shell
	snapshotEvery int64
	state         engine.State // nil while loading and after the end
	claim         journal.Claim
	proven        atomic.Int64 // when the claim was last known to stand, unix milliseconds
	seq           int64        // seq of the last fact that was decided
	saved         int64        // seq of the last snapshot that was asked for, or that it was loaded from
	savedAt       time.Time    // when that snapshot was asked for, or when the activation was loaded
	pending       atomic.Int64 // entries that the journal has been handed and has not settled
	current       *Call        // the call whose command is being decided on
	armed         time.Time    // time of the Wake that was asked for last, or zero
	held          map[engine.OrderID][]*Call
	unproven      []*work     // outcomes that leave once the claim is proven again
	handed        int64       // how many entries it has handed to the journal
	refusals      refusals    // refused commands whose answers are on their way through the journal
	stopped       atomic.Bool // whether it has ended; the journal's goroutine reads this too
	leaving       atomic.Bool // whether it takes no commands and ends when nothing is pending
	lost          atomic.Bool // whether the journal has refused an entry: the state may have facts that the journal lacks

	stash   []any    // commands that wait until it is loaded or, if it is leaving, until it has ended
	leavers []func() // functions to call when it has ended
}

// New makes an activation that waits for Loaded. It asks for a snapshot after snapshotEvery facts
// at the earliest. A large state waits for as many facts as the snapshot before covers, so that
// each fact is written only twice on average, however long a rush is.
func New(ref engine.Ref, snapshotEvery int64, shell Shell) *Activation {
	return &Activation{Ref: ref, shell: shell, snapshotEvery: snapshotEvery, held: make(map[engine.OrderID][]*Call)}
}

// Leaving reports whether the activation has been retired: it takes no more commands, and ends soon or has ended. One
// that ended because it failed or lost its stream was not leaving.
func (a *Activation) Leaving() bool { return a.leaving.Load() }

// These are a shell's messages to its activation. A command comes as *Call if somebody waits for
// it, as engine.Command if not, or as Joint. The last three come from the activation itself: the journal's goroutine
// posts them.
type (
	// Loaded brings the state that results from the journal's facts.
	Loaded struct {
		State engine.State
		Claim journal.Claim
		At    time.Time // a time before the stream was claimed
		Seq   int64     // seq of the last fact in State
		Saved int64     // seq of the snapshot that State was loaded from
	}
	// Failed says that a load or a proof failed.
	Failed struct{ Err error }
	// Fenced says that the claim does not stand any more, because another activation has claimed the stream.
	Fenced struct{}
	// Proven says that the claim stood at a time, which is when the journal was asked.
	Proven struct{ At time.Time }
	// Retire asks the activation to end if it is idle. With Force it ends as soon as its facts are
	// durable, even if callers wait. Done is called when it has ended or has decided to stay.
	Retire struct {
		Force bool
		Done  func()
	}
	// Joint is a tell that may be heard before its sender's facts are durable.
	Joint struct {
		Cmd   engine.Command
		Needs journal.Claim // claim of the sender: what is decided on the command counts only if this stands
	}

	// Refresh asks for a snapshot if facts have followed the last one and the last one is older
	// than Before.
	Refresh struct{ Before time.Time }

	settled struct{ *work }     // an outcome without facts that needs a new proof of the claim
	refused struct{ err error } // the journal's error for an entry that it has refused
	idle    struct{}            // nothing is pending any more
)

// Handle processes one message of the mailbox at a time. A panic in a decision ends the activation, and its callers
// are answered; what it had decided before has been handed to the journal.
func (a *Activation) Handle(msg any) {
	defer func() {
		if p := recover(); p != nil {
			a.shell.Log().Error("actor panicked", slog.String("actor", a.Ref.Name()), slog.Any("panic", p),
				slog.String("stack", string(debug.Stack())))
			if a.current != nil {
				a.current.Finish(engine.Refuse(engine.Internal, nil), nil)
			}
			a.breakDown()
		}
	}()
	switch m := msg.(type) {
	case *Call:
		a.takeCommand(m, m.Cmd)
	case Joint:
		a.takeJoint(m)
	case engine.Command:
		a.takeCommand(nil, m)
	case Loaded:
		a.beginServing(m)
	case Proven:
		a.releaseProven(m.At)
	case settled:
		a.answerLate(m.work)
	case Failed:
		a.fail(m.Err)
	case Fenced:
		a.loseStream(journal.ErrFenced)
	case refused:
		a.loseStream(m.err)
	case Retire:
		a.retireWith(m)
	case Refresh:
		if a.state != nil && !a.stopped.Load() && a.seq > a.saved && a.savedAt.Before(m.Before) {
			a.freeze()
		}
	case idle:
		a.departWhenDone()
	}
}

// takeCommand handles a command, now or after loading. If the activation is leaving, the command waits until the
// activation has ended (stop). If it has ended already, bounceCommand gets the command. A call that came too late for
// its caller is answered with ErrUnavailable. A nil call means a tell.
func (a *Activation) takeCommand(c *Call, cmd engine.Command) {
	switch {
	case a.stopped.Load():
		a.bounceCommand(c, cmd)
	case c != nil && c.expires > 0 && c.expires < a.shell.Now().UnixMilli():
		c.Finish(nil, ErrUnavailable) // its caller no longer waits
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

// takeJoint handles a joint command if it can do so now. An activation that is still loading, is
// leaving or has ended drops the command; the sender repeats it when it has heard nothing.
func (a *Activation) takeJoint(j Joint) {
	if a.stopped.Load() || a.state == nil || a.leaving.Load() {
		a.Load.Add(-1)
		return
	}
	a.decide(nil, j.Cmd, j.Needs)
}

// bounceCommand deals with a command that reached an activation that has ended: a call is answered with
// ErrMoved, a tell is sent on, and a Wake is dropped.
func (a *Activation) bounceCommand(c *Call, cmd engine.Command) {
	if c != nil {
		c.Finish(nil, ErrMoved)
		return
	}
	a.Load.Add(-1)
	if _, timer := cmd.(engine.Wake); !timer {
		a.shell.Send(a.Ref, cmd)
	}
}

// beginServing makes a loaded activation live. It decides a Wake first, and then the commands that came while it was
// loading, in their order. If the activation has ended while it loaded, beginServing does nothing. If the
// activation was asked to leave while it loaded, beginServing ends it at once: callers that wait for a reply get
// ErrMoved, and tells are sent on.
func (a *Activation) beginServing(l Loaded) {
	if a.stopped.Load() {
		return
	}
	a.state, a.claim, a.seq, a.saved = l.State, l.Claim, l.Seq, l.Saved
	a.savedAt = a.shell.Now()
	a.proven.Store(l.At.UnixMilli())
	if a.leaving.Load() { // it was asked to leave before it began; its claim has noted that it wants to wake
		a.stop(ErrMoved, false)
		return
	}
	a.Load.Add(1)
	a.decide(nil, engine.Wake{Epoch: l.Claim.Epoch}, journal.Claim{})
	for len(a.stash) > 0 {
		m := a.stash[0]
		a.stash = a.stash[1:] // removed first: if this command panics, stop answers the others
		switch m := m.(type) {
		case *Call:
			a.takeCommand(m, m.Cmd)
		case engine.Command:
			a.takeCommand(nil, m)
		}
	}
	a.stash = nil // frees its memory
}

// stop ends the activation. Callers whose commands have not been decided, or whose answers are held back
// (WaitKey), get err, and callers who wait for a proof of the claim get ErrUnavailable. The journal's verdicts
// answer the others. Tells that wait are sent on, and whoever waits for the activation to leave (Retire) is told.
// As long as the shell keeps the activation, it answers ErrMoved to callers who still have its address.
func (a *Activation) stop(err error, fenced bool) {
	if a.stopped.Load() {
		return
	}
	a.stopped.Store(true)
	a.state = nil
	a.shell.End(fenced)
	for _, m := range a.stash {
		switch m := m.(type) {
		case *Call:
			m.Finish(nil, err)
		case engine.Command:
			a.bounceCommand(nil, m)
		}
	}
	for _, done := range a.leavers {
		done()
	}
	for _, key := range sortedKeys(a.held) {
		for _, c := range a.held[key] {
			c.Finish(nil, err)
		}
	}
	for _, w := range a.unproven {
		w.failCallers()
	}
	a.stash, a.held, a.unproven, a.leavers = nil, nil, nil, nil
}

// fail ends an activation whose load or proof failed. With ErrMoved, its callers look the actor up again and its tells
// are sent on. Any other error is logged, and breakDown deals with them.
func (a *Activation) fail(err error) {
	if errors.Is(err, ErrMoved) {
		a.stop(ErrMoved, false)
		return
	}
	a.shell.Log().Warn("actor stopped", slog.String("actor", a.Ref.Name()), slog.Any("error", err))
	a.breakDown()
}

// mendAfter is how long an actor that broke is left alone, unless somebody asks it.
const mendAfter = 5 * time.Second

// breakDown ends an activation that can't go on. The tells that wait are dropped: each would start another activation,
// which may fail in the same way. The actor is woken in a while even if nobody asks it, because the Wake that was due
// may be used up.
func (a *Activation) breakDown() {
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
	a.shell.Arm(a.shell.Now().Add(mendAfter)) // armed now, so that a Wake that the next activation asks for replaces it
	a.stop(ErrUnavailable, false)
}

// loseStream ends an activation that can write no more: another activation has claimed its stream, or the journal
// has refused an entry for another reason (err). It arms a Wake for the actor, which reaches the next activation,
// because this one may have used up the Wake that was due.
func (a *Activation) loseStream(err error) {
	if a.stopped.Load() {
		return
	}
	log, fenced := a.shell.Log().With(slog.String("actor", a.Ref.Name()), slog.Int("epoch", int(a.claim.Epoch))), errors.Is(err, journal.ErrFenced)
	if fenced {
		log.Info("actor fenced")
	} else {
		log.Info("actor refused by the journal", slog.Any("error", err))
	}
	a.stop(ErrUnavailable, fenced)
	a.shell.Arm(a.shell.Now().Add(proofLife))
}

// retireWith ends an activation: its state is saved and its next timer noted. If it is loading, has facts or answers on
// their way, or has callers that wait, it stays. With force it takes no more commands, and ends when it is loaded and
// its facts and answers have left, even if callers wait. If it has ended, or the journal has refused an entry of it,
// retireWith only calls Done.
func (a *Activation) retireWith(m Retire) {
	busy := a.state == nil || a.pending.Load() > 0 || len(a.unproven) > 0
	if a.stopped.Load() || a.lost.Load() || !m.Force && (busy || len(a.held) > 0) {
		m.Done()
		return
	}
	a.leavers = append(a.leavers, m.Done)
	a.leaving.Store(true)
	a.departWhenDone()
}

// departWhenDone ends a leaving activation when nothing of it is on its way any more. Before that it makes a snapshot,
// if there are facts since the last one, and notes when the actor wants to wake.
func (a *Activation) departWhenDone() {
	if !a.leaving.Load() || a.stopped.Load() || a.state == nil || a.pending.Load() > 0 || len(a.unproven) > 0 || a.lost.Load() {
		return
	}
	if a.seq > a.saved {
		a.freeze()
	}
	if err := a.shell.Park(a.claim, a.saved, a.state.Next()); err != nil { // its claim still notes it as alive
		a.shell.Log().Warn("timer not noted", slog.String("actor", a.Ref.Name()), slog.Any("error", err))
	}
	a.stop(ErrMoved, false)
}

// sortedKeys returns the map's order ids in a fixed order, so that a simulated run can be repeated.
func sortedKeys(held map[engine.OrderID][]*Call) []engine.OrderID {
	return slices.SortedFunc(maps.Keys(held), func(a, b engine.OrderID) int { return bytes.Compare(a[:], b[:]) })
}

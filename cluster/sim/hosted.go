package sim

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"time"

	"boxoffice/cluster/activation"
	"boxoffice/cluster/sim/brief"
	"boxoffice/cluster/sim/bugs"
	"boxoffice/cluster/sim/shards"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// hosted is a real activation in the simulated world. It does for the activation what package host does on a real
// node, but in simulated time and without goroutines.
type hosted struct {
	*activation.Activation
	node *node
	life int // the life of its node in which it was made: it is dead once the node has another

	claim journal.Claim
	since int64 // the simulated microsecond at which it began to serve
	// loaded is the state that was read, from then until the activation serves with it.
	loaded  engine.State
	state   engine.State // what it decides on; nil while it loads and after its end
	seq     int64        // the number of the last fact that it has handed to the lane
	saved   int64        // the number of the last fact in the snapshot that it was loaded from
	pending int          // how many of its entries the lane has and has not settled
	// held are the orders whose callers wait for their reply.
	held    map[engine.OrderID]bool
	frozen  [][]byte // its frozen states that are not kept yet, encoded when they were frozen, to find later changes
	fenced  bool     // the lane has learnt that another activation has claimed its stream
	stopped bool
	// mailbox has the messages that the activation has not handled yet, in the order of their arrival.
	mailbox  []any
	serving  bool   // its mailbox has a turn
	sends    int    // how many messages the decision sends that is being made
	settling *entry // the entry whose reply and messages are just leaving; nil at other times
}

var _ activation.Shell = (*hosted)(nil)

// newHosted makes an activation that is not started. It ends with the present life of its node, that is, with the
// node's next crash.
func newHosted(n *node, ref engine.Ref) *hosted {
	a := &hosted{node: n, life: n.life, held: make(map[engine.OrderID]bool)}
	a.Activation = activation.New(ref, n.sim.swarm.snapshotEvery, a)
	n.sim.made = append(n.sim.made, a)
	return a
}

// isAlive returns whether the activation is still in its node's memory: the node has not crashed since it was made.
func (a *hosted) isAlive() bool { return a.node.life == a.life }

// claimAndLoad claims the stream, reads the state, and hands both to the activation. The claim comes first, so that
// no other activation can write between the reading and the serving; the bug LateClaim turns them round.
func (a *hosted) claimAndLoad() {
	s := a.node.sim
	if s.bug == bugs.LateClaim {
		a.readState()
	}
	tries := int64(1)
	if s.Chance(s.swarm.unknown) {
		tries = 2 // the answer to the first claim was lost
	}
	// The proof that comes with a claim is of the time of asking. The answer may be long on its way.
	asked := a.node.wallClock()
	to := a.node.visitShard(s.journal.ShardOf(a.Ref))
	s.After(s.Between(millisecond, 10*millisecond)*tries, func() {
		if !a.isAlive() {
			return
		}
		var err error
		if !to.Execute(func() { err = a.claimAt(to, tries) }) {
			err = errUnheard
		}
		if err != nil {
			a.failSoon(err)
			return
		}
		s.Logf("node %d claims %s epoch %d", a.node.id, a.Ref.Name(), a.claim.Epoch)
		s.After(s.Between(millisecond, 20*millisecond), func() {
			if !a.isAlive() {
				return
			}
			if !to.Execute(func() {}) {
				a.failSoon(errUnheard)
				return
			}
			// With the bug LateClaim the state was read already, before the claim.
			if a.loaded == nil {
				a.readState()
			}
			if a.loaded != nil {
				a.Post(activation.Loaded{State: a.loaded, Claim: a.claim, At: asked, Seq: a.seq, Saved: a.saved})
			}
		})
	})
}

// claimAt claims the stream in a shard's place. It refuses if the node knows an older version of the place: the
// stream may be somewhere else by now.
func (a *hosted) claimAt(to shards.Visit, tries int64) error {
	s := a.node.sim
	if to.IsOld() && s.bug != bugs.OldMap {
		s.Reach("claim by another map", s.phaseOf(a.Ref))
		return journal.ErrOtherMap
	}
	// A claim whose answer was lost has raised the epoch nevertheless. The second one raises it again.
	for range tries {
		a.claim = to.Place.Claim(a.Ref, a.node.writers[s.journal.ShardOf(a.Ref)])
		s.claims[a.claim] = a
	}
	return nil
}

// failSoon tells the activation that the journal has failed it. A real node learns that from its valve, within less
// than a second.
func (a *hosted) failSoon(err error) {
	s := a.node.sim
	s.Reach("load failed", s.phaseOf(a.Ref))
	s.After(s.Between(millisecond, 800*millisecond), func() {
		if a.isAlive() {
			a.Post(activation.Failed{Err: err})
		}
	})
}

// readState reads the state from the shard's snapshot and the facts after it, and wraps it, so that the judge sees
// each decision.
func (a *hosted) readState() {
	s := a.node.sim
	state, head, saved, err := a.node.knows[s.journal.ShardOf(a.Ref)].Place.Load(a.Ref)
	if err != nil {
		s.Failf("%s does not load: %w", a.Ref.Name(), err)
		return
	}
	a.loaded, a.seq, a.saved = &judged{State: s.bug.Wrap(a.Ref, state), by: a}, head, saved
}

// askCommand hands a client's command to the activation. Where there are shards it also notes the caller: it is told
// if the shard stops answering.
func (a *hosted) askCommand(c *call) {
	r := &reply{a: a, call: c}
	if a.node.sim.sharded {
		a.node.waits = append(a.node.waits, r)
	}
	a.Post(activation.NewRemoteCall(c.cmd, &a.Load, r, 0, 0))
}

// tellCommand hands a command without a caller to the activation.
func (a *hosted) tellCommand(cmd engine.Command) {
	a.Load.Add(1)
	a.Post(cmd)
}

// retireSoon asks the activation to end. Without force it does so only while it is idle.
func (a *hosted) retireSoon(force bool) { a.Post(activation.Retire{Force: force, Done: func() {}}) }

// Post puts a message into the activation's mailbox, and plans a turn for it unless one is planned.
func (a *hosted) Post(msg any) {
	a.mailbox = append(a.mailbox, msg)
	if !a.serving {
		a.serving = true
		a.node.sim.After(a.node.sim.drawTurn(), a.serveMailbox)
	}
}

// serveMailbox handles all messages of the mailbox, one after the other, as an actor's turn does.
func (a *hosted) serveMailbox() {
	a.serving = false
	for len(a.mailbox) > 0 && a.isAlive() && a.node.sim.Err() == nil {
		msg := a.mailbox[0]
		a.mailbox = a.mailbox[1:]
		if l, ok := msg.(activation.Loaded); ok && !a.stopped {
			a.state, a.since = l.State, a.node.sim.Now()
		}
		a.Handle(msg)
		if a.state != nil {
			// A stale activation lacks its successor's facts, so its state may be wrong. The fence keeps its
			// decisions out of the journal.
			current := a.node.sim.journal.Stream(a.Ref).Epoch == a.claim.Epoch
			if err := a.state.Check(); err != nil && current {
				a.node.sim.Failf("%s after %T: %w", a.Ref.Name(), msg, err)
			}
		}
	}
}

// Now returns the node's time, which may be wrong.
func (a *hosted) Now() time.Time { return a.node.wallClock() }

// Log returns a log in which every error breaks the simulation: an activation logs as errors only what must not
// happen.
func (a *hosted) Log() *slog.Logger { return a.node.sim.errors }

// Append queues an entry in the lane of the actor's shard. The lane commits it with whatever else is queued by then.
func (a *hosted) Append(e *journal.Entry) {
	s := a.node.sim
	for _, f := range e.Facts {
		s.Logf("  fact %T", f)
	}
	a.seq += int64(len(e.Facts))
	a.pending++
	l := a.node.lanes[s.journal.ShardOf(a.Ref)]
	l.queue = append(l.queue, &entry{Entry: e, act: a, needs: s.claims[e.Needs], sends: a.sends})
	a.sends = 0
	a.node.flushLane(l)
}

// errUnheard is the error of a claim, a load or a proof whose answer was lost or that its shard did not answer.
var errUnheard = errors.New("the journal's answer was not heard")

// Prove asks the journal whether the claim still stands. The proof carries the time of asking: while the answer was
// on its way, another activation may have claimed the stream.
func (a *hosted) Prove(claim journal.Claim) {
	s, asked := a.node.sim, a.node.wallClock()
	// The question and the answer are each on their way for a while.
	way := func() int64 {
		if s.Chance(s.swarm.slow) {
			return s.Between(20*millisecond, 1500*millisecond)
		}
		return s.Between(millisecond/4, 4*millisecond)
	}
	if s.Chance(s.swarm.unknown) {
		s.Reach("unheard proof", s.phaseOf(a.Ref))
		s.After(way(), func() { a.Post(activation.Failed{Err: errUnheard}) })
		return
	}
	to := a.node.visitShard(s.journal.ShardOf(a.Ref))
	s.After(way(), func() {
		stands := false
		if !to.Execute(func() { stands = to.Place.Stands(a.Ref, claim) }) {
			s.Reach("proof failed", s.phaseOf(a.Ref))
			s.After(way(), func() { a.Post(activation.Failed{Err: errUnheard}) })
			return
		}
		s.After(way(), func() {
			switch {
			case !stands:
				s.Reach("unproven", s.phaseOf(a.Ref))
				a.Post(activation.Fenced{})
			case s.bug == bugs.LateProof:
				a.Post(activation.Proven{At: a.node.wallClock()})
			default:
				a.Post(activation.Proven{At: asked})
			}
		})
	})
}

// Send puts a command on the net. The command may tell only what is durable. One exception is a command that the actor
// sends to itself: an activation that ends passes on what it was sent, so that its successor gets it.
func (a *hosted) Send(to engine.Ref, cmd engine.Command) {
	s := a.node.sim
	if err := s.truth.MayLeave(a.Ref, cmd); err != nil && to != a.Ref {
		s.Failf("%s sends %s: %w", a.Ref.Name(), brief.Command(cmd), err)
		return
	}
	if a.settling != nil {
		a.settling.sends--
	}
	s.sendMessage(a.node, &envelope{to: to, cmd: cmd})
}

// Here returns whether another actor is on this node, as far as the node knows. Only then a joint command can be
// delivered.
func (a *hosted) Here(to engine.Ref) bool { return a.node.sim.findOwner(a.node, to) == a.node }

// Join delivers a joint command to an actor on the same node, before the facts of its sender are durable. The
// receiver's facts are durable only together with those, so nothing is promised too early. It may get lost like any
// other message.
func (a *hosted) Join(to engine.Ref, j activation.Joint) {
	s, next := a.node.sim, a.node.acts[to]
	if next == nil {
		return
	}
	if s.Chance(s.swarm.loss) {
		s.Reach("lost", enginetest.CommandName(j.Cmd))
		return
	}
	s.After(s.Between(5, millisecond), func() {
		if !next.isAlive() || next.stopped {
			return
		}
		// Only here the sender's facts are not durable yet, which is what a joint command is about.
		if a.pending > 0 && next.state != nil {
			s.Reach("joint", s.phaseOf(to))
		}
		next.Load.Add(1)
		next.Post(j)
	})
}

// Arm plans a Wake of the actor at a time by its node's clock.
func (a *hosted) Arm(at time.Time) { a.node.armWake(a.Ref, at) }

// Keep encodes a frozen state a little later and keeps it as a snapshot, while the activation goes on. It fails the
// simulation if the frozen state has changed by then: a snapshot must be of one moment.
func (a *hosted) Keep(frozen any, claim journal.Claim, seq int64) {
	s, was := a.node.sim, a.frozen[0]
	a.frozen = a.frozen[1:]
	s.After(s.Between(millisecond, 100*millisecond), func() {
		b, err := codec.Marshal(frozen)
		if err != nil || !bytes.Equal(b, was) {
			s.Failf("%s: a frozen state has changed (%v)", a.Ref.Name(), err)
			return
		}
		to := a.node.visitShard(s.journal.ShardOf(a.Ref))
		to.Execute(func() {
			if to.Place.KeepSnapshot(a.Ref, shards.Snapshot{Epoch: claim.Epoch, Seq: seq, State: b}) {
				s.Logf("snapshot %s %d", a.Ref.Name(), seq)
			}
		})
	})
}

// Park notes nothing. In this world wakeUnowned wakes every actor that no node has loaded.
func (a *hosted) Park(journal.Claim, int64, time.Time) error { return nil }

// End makes the node forget the activation.
func (a *hosted) End(fenced bool) {
	a.node.sim.Logf("node %d %s#%d ends, fenced %t", a.node.id, a.Ref.Name(), a.claim.Epoch, fenced)
	a.stopped, a.state = true, nil
	a.node.forgetActivation(a)
}

// reply takes the outcome of a client's command back to the client.
type reply struct {
	a    *hosted
	call *call
	// left is true once the activation has answered. A second answer is a failure.
	left bool
	gone bool // its client was told that the shard does not answer
}

// Answer judges a reply and sends it to the client. An error becomes UNAVAILABLE, on which the client tries again.
func (r *reply) Answer(_ int64, told engine.Reply, err error) {
	s := r.a.node.sim
	switch {
	case r.left:
		s.Failf("%s answers %s twice", r.a.Ref.Name(), brief.Command(r.call.cmd))
		return
	case err == nil && told == nil:
		s.Failf("%s leaves the caller of %s without an answer", r.a.Ref.Name(), brief.Command(r.call.cmd))
		return
	case err != nil:
		told = engine.Refuse(engine.Unavailable, nil)
	default:
		s.judgeReply(r.a, r.call.cmd, told)
	}
	r.left = true
	if !r.gone {
		r.call.answerClient(s, told)
	}
}

// judged is a kind's state whose decisions are watched.
type judged struct {
	engine.State
	by *hosted
}

// Decide lets the kind decide, and notes what the judge needs of the decision. A Wake that is due and changes nothing
// is a failure: it would be due again at once, for ever.
func (j *judged) Decide(cmd engine.Command, now time.Time) engine.Decision {
	a, s := j.by, j.by.node.sim
	if s.IsLogged() || !s.Healed() {
		s.Logf("node %d %s#%d decides %s", a.node.id, a.Ref.Name(), a.claim.Epoch, brief.Command(cmd))
	}
	d := j.State.Decide(cmd, now)
	a.sends = len(d.Sends)
	if d.WaitKey != nil {
		a.held[*d.WaitKey] = true
	}
	for _, answer := range d.Answers {
		delete(a.held, answer.Key)
	}
	s.truth.NoteRefusals(a.Ref, cmd, &d)
	if w, timer := cmd.(engine.Wake); timer && w.Epoch == 0 && len(d.Facts) == 0 {
		if next := j.Next(); !next.IsZero() && !next.After(now) {
			s.Failf("%s spins: a Wake at its time does nothing", a.Ref.Name())
		}
	}
	return d
}

// Freeze notes the encoded form of the frozen state, by which Keep finds out whether it changes afterwards.
func (j *judged) Freeze() any {
	frozen := j.State.Freeze()
	b, err := codec.Marshal(frozen)
	if err != nil {
		j.by.node.sim.Failf("%w", err)
	}
	j.by.frozen = append(j.by.frozen, b)
	return frozen
}

// failures is a log handler that breaks the simulation at every error.
type failures struct{ sim *Sim }

// Enabled drops everything below an error.
func (failures) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// Handle breaks the simulation with the text and the attributes of the error.
func (f failures) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	f.sim.Failf("%s", text)
	return nil
}

// WithAttrs changes nothing, because activations add no attributes beforehand.
func (f failures) WithAttrs([]slog.Attr) slog.Handler { return f }

// WithGroup changes nothing, because activations use no groups.
func (f failures) WithGroup(string) slog.Handler { return f }

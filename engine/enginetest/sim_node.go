package enginetest

import (
	"bytes"
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
)

// node hosts activations and has a lane to the journal.
type node struct {
	sim    *Sim
	id     int
	up     bool
	life   int           // counts starts and crashes
	offset time.Duration // what its wall clock is wrong by
	acts   map[engine.Ref]*activation
	all    []*activation // in the order of their making, also those that have ended
	lane   lane
}

// activation is a kind's state as a node has it.
type activation struct {
	node    *node
	ref     engine.Ref
	epoch   int32
	since   int64        // when it began to serve
	loaded  engine.State // before it serves
	state   engine.State // nil while loading
	seq     int64        // of the last fact decided
	saved   int64        // of the last snapshot asked for
	pending int          // entries handed to the lane
	held    map[engine.OrderID][]*call
	stash   []*envelope
	armed   int64 // when a Wake is due, or 0
	fenced  bool
	stopped bool

	proven   int64                  // when the claim is last known to have stood
	unproven []*outcome             // what leaves once it is proven again
	refused  map[engine.OrderID]int // refusals on their way through the lane, by command
}

// proofLife is how old the last proof may be that the stream is still ours when
// an answer leaves that needs no fact (docs/adr/0004).
const proofLife = second

// outcome is what leaves when a decision's facts are durable.
type outcome struct {
	facts    int // journaled
	call     *call
	cmd      engine.Command
	reply    engine.Reply
	answers  []answered
	sends    []engine.Send
	frozen   any // a snapshot to keep, or nil
	frozenAs []byte
	seq      int64
}

type answered struct {
	key   engine.OrderID
	call  *call
	reply engine.Reply
}

func (n *node) boot() {
	s := n.sim
	n.up, n.life = true, n.life+1
	n.acts, n.all, n.lane = make(map[engine.Ref]*activation), nil, lane{n: n.lane.n}
	n.offset = time.Duration(s.between(-50*millisecond, 50*millisecond)) * time.Microsecond
	if s.swarm.jumps && s.chance(.5) {
		n.offset = time.Duration(s.between(-3600*second, 3600*second)) * time.Microsecond
		s.reach("clock jump", "start")
	}
	s.logf("node %d starts, clock %+v", n.id, n.offset)
}

// wall is the node's clock.
func (n *node) wall() time.Time {
	return epoch.Add(time.Duration(n.sim.now)*time.Microsecond + n.offset)
}

// crashOne kills a node. What its lane has in flight lands or not.
func (s *Sim) crashOne() {
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	if !n.up {
		return
	}
	s.logf("node %d crashes", n.id)
	for _, a := range n.all {
		if !a.stopped {
			s.reach("crash", s.phase(a.ref))
		}
	}
	n.up, n.life, n.acts, n.all = false, n.life+1, nil, nil
	s.after(s.between(100*millisecond, 3*second), func() {
		if !n.up {
			n.boot()
		}
	})
}

// retireOne puts an idle activation away, as a node does on a handover.
func (s *Sim) retireOne() {
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	if !n.up || len(n.all) == 0 {
		return
	}
	a := n.all[s.rng.IntN(len(n.all))]
	if a.stopped || a.state == nil || a.pending > 0 || len(a.held) > 0 || len(a.unproven) > 0 {
		return
	}
	s.reach("retire", s.phase(a.ref))
	if a.seq > a.saved {
		a.freeze()
	}
	if a.pending == 0 {
		a.stop("retired")
	}
}

// find is the node's activation of an actor, made when there is none.
func (n *node) find(ref engine.Ref) *activation {
	if a := n.acts[ref]; a != nil {
		return a
	}
	s, life := n.sim, n.life
	a := &activation{node: n, ref: ref, held: make(map[engine.OrderID][]*call), refused: make(map[engine.OrderID]int)}
	n.acts[ref] = a
	n.all = append(n.all, a)
	if s.bug == LateClaim {
		a.read()
	}
	tries := int64(1)
	if s.chance(s.swarm.unknown) {
		tries = 2 // the answer to the first claim was lost
	}
	s.after(s.between(millisecond, 10*millisecond)*tries, func() {
		if n.life != life {
			return
		}
		for range tries {
			a.epoch = s.claim(ref)
		}
		a.proven = s.now
		s.logf("node %d claims %s epoch %d", n.id, ref.Name(), a.epoch)
		s.after(s.between(millisecond, 20*millisecond), func() {
			if n.life == life {
				a.start()
			}
		})
	})
	return a
}

// read loads the state.
func (a *activation) read() {
	s := a.node.sim
	state, head, err := s.load(a.ref)
	if err != nil {
		s.failf("%s does not load: %w", a.ref.Name(), err)
		return
	}
	a.loaded, a.seq, a.saved = s.bug.wrap(a.ref, state), head, s.stream(a.ref).snapshot().seq
}

// start loads the state and deals with what has come meanwhile.
func (a *activation) start() {
	if a.loaded == nil {
		a.read()
	}
	if a.loaded == nil {
		return
	}
	a.state, a.since = a.loaded, a.node.sim.now
	a.decide(&envelope{to: a.ref, cmd: engine.Wake{Epoch: a.epoch}})
	stash := a.stash
	a.stash = nil
	for _, e := range stash {
		a.take(e)
	}
}

// take deals with a command, now or after loading.
func (a *activation) take(e *envelope) {
	switch {
	case a.stopped:
		e.call.answer(a.node.sim, engine.Refuse(engine.Unavailable, nil))
	case a.state == nil:
		a.stash = append(a.stash, e)
	default:
		a.decide(e)
	}
}

// decide has the kind decide and takes its facts in. What comes of it leaves
// when the facts, and those before them, are durable.
func (a *activation) decide(e *envelope) {
	s := a.node.sim
	now := a.node.wall()
	if s.log != nil || !s.healed {
		s.logf("node %d %s#%d decides %s", a.node.id, a.ref.Name(), a.epoch, brief(e.cmd))
	}
	d := a.state.Decide(e.cmd, now)
	out := outcome{cmd: e.cmd, reply: d.Reply, sends: d.Sends}
	if len(a.unproven) == 0 && a.isProven() && (d.Hold == nil || a.refused[*d.Hold] == 0) {
		a.transmit(d.Asks)
	} else { // a repeat does not overtake the first try's refusal
		out.sends = slices.Concat(out.sends, d.Asks)
	}
	switch {
	case e.call == nil:
	case d.Hold != nil:
		a.held[*d.Hold] = append(a.held[*d.Hold], e.call)
	case d.Reply == nil:
		s.failf("%s leaves the caller of %s without an answer", a.ref.Name(), brief(e.cmd))
	default:
		out.call = e.call
	}
	for _, ans := range d.Answers {
		for _, c := range a.held[ans.Key] {
			out.answers = append(out.answers, answered{ans.Key, c, ans.Reply})
		}
		delete(a.held, ans.Key)
	}
	if w, timer := e.cmd.(engine.Wake); timer && w.Epoch == 0 && len(d.Facts) == 0 {
		if next := a.state.Next(); !next.IsZero() && !next.After(now) {
			s.failf("%s spins: a Wake at its time does nothing", a.ref.Name())
			return
		}
	}
	if !a.mayJoin(d) {
		out.sends, d.Joint = slices.Concat(out.sends, d.Joint), nil
	}
	a.submit(d.Facts, out, e.needs)
	a.join(d.Joint)
	if a.seq-a.saved >= s.swarm.snapshotEvery {
		a.freeze()
	}
	if err := a.state.Check(); err != nil {
		s.failf("%s after %s: %w", a.ref.Name(), brief(e.cmd), err)
	}
	a.arm()
}

// mayJoin says whether the joint sends of a decision are for an actor that this node
// has, and go with facts.
func (a *activation) mayJoin(d engine.Decision) bool {
	return len(d.Joint) > 0 && a.node.acts[d.Joint[0].To] != nil &&
		slices.ContainsFunc(d.Facts, func(f engine.Fact) bool { return !f.FactType().Volatile() })
}

// join delivers within the node, before the facts that the sends go with are durable.
func (a *activation) join(sends []engine.Send) {
	s, life := a.node.sim, a.node.life
	for _, c := range sends {
		to := a.node.acts[c.To]
		if s.chance(s.swarm.loss) {
			s.reach("lost", kindOf(c.Cmd))
			continue
		}
		s.after(s.between(5, millisecond), func() {
			if a.node.life != life || to.stopped || to.state == nil {
				return
			}
			if a.pending > 0 {
				s.reach("joint", s.phase(to.ref))
			}
			to.decide(&envelope{to: c.To, cmd: c.Cmd, needs: a})
		})
	}
}

// submit applies the facts and hands the decision to the lane. What needs no
// fact leaves at once, unless facts before it are still on their way.
func (a *activation) submit(facts []engine.Fact, out outcome, needs *activation) {
	s := a.node.sim
	en := &entry{act: a, needs: needs, at: s.now, first: a.seq + 1, out: out}
	for _, f := range facts {
		if !f.FactType().Volatile() {
			var err error
			if en.bytes, err = codec.AppendFact(en.bytes, f); err != nil {
				s.failf("%w", err)
				return
			}
			en.facts++
			s.logf("  fact %T", f)
		}
		a.state.Apply(f)
	}
	a.seq += int64(en.facts)
	en.out.facts = en.facts
	if s.bug == EarlyReply {
		en.out.release(a)
		en.out = outcome{}
	}
	if en.silent() && a.isProven() {
		return
	}
	if en.facts == 0 && (a.pending == 0 || s.bug == NoBarrier) {
		a.answer(&en.out)
		return
	}
	a.pending++
	for _, key := range en.refusals() {
		a.refused[key]++
	}
	a.node.lane.queue = append(a.node.lane.queue, en)
	a.node.flush()
}

// refusals are the keys of the commands that a decision without facts refuses.
func (en *entry) refusals() (keys []engine.OrderID) {
	if en.facts > 0 {
		return nil
	}
	note := func(key engine.OrderID, r engine.Reply) {
		if _, refused := r.(*engine.Refusal); refused {
			keys = append(keys, key)
		}
	}
	if cmd, keyed := en.out.cmd.(engine.Keyed); keyed {
		note(cmd.Key(), en.out.reply)
	}
	for _, r := range en.out.answers {
		note(r.key, r.reply)
	}
	return keys
}

// silent says that nothing has to be kept or told of a decision.
func (en *entry) silent() bool {
	return en.facts+len(en.out.answers)+len(en.out.sends) == 0 && en.out.call == nil && en.out.frozen == nil
}

// answer lets out what needs no fact: at once while the claim is known to have
// stood within the last second, else when it is proven anew.
func (a *activation) answer(out *outcome) {
	s := a.node.sim
	if a.stopped {
		out.refuse(s)
		return
	}
	if len(a.unproven) == 0 && a.isProven() || s.bug == NoProof {
		out.release(a)
		return
	}
	if a.unproven = append(a.unproven, out); len(a.unproven) == 1 {
		a.prove()
	}
}

func (a *activation) isProven() bool { return a.node.sim.now-a.proven <= proofLife }

// prove asks the journal whether the claim stands. What that proves is of the
// time of asking: an answer that was long on its way proves nothing, and one
// that is not heard ends the activation.
func (a *activation) prove() {
	s, life, asked := a.node.sim, a.node.life, a.node.sim.now
	way := func() int64 {
		if s.chance(s.swarm.slow) {
			return s.between(20*millisecond, 1500*millisecond)
		}
		return s.between(millisecond/4, 4*millisecond)
	}
	alive := func() bool { return a.node.life == life && !a.stopped }
	if s.chance(s.swarm.unknown) {
		s.reach("unheard proof", s.phase(a.ref))
		s.after(way(), func() {
			if alive() {
				a.stop("can't prove its claim")
			}
		})
		return
	}
	s.after(way(), func() {
		stands := s.stream(a.ref).epoch == a.epoch || s.bug == NoFence
		s.after(way(), func() {
			switch {
			case !alive():
			case !stands:
				s.reach("unproven", s.phase(a.ref))
				a.lose("lost its claim")
			case s.now-asked > proofLife && s.bug != LateProof:
				a.prove()
			default:
				a.provenAt(asked)
				waiting := a.unproven
				a.unproven = nil
				for _, out := range waiting {
					out.release(a)
				}
			}
		})
	})
}

// provenAt notes that the claim stood at a time or later.
func (a *activation) provenAt(at int64) {
	if a.node.sim.bug == LateProof {
		at = a.node.sim.now
	}
	a.proven = max(a.proven, at)
}

// lose ends an activation that has lost its stream. Whoever has it now is sent a
// Wake: this one may have used up the one that was due.
func (a *activation) lose(why string) {
	if a.stopped {
		return
	}
	s, from, life, to := a.node.sim, a.node, a.node.life, a.ref
	a.stop(why)
	s.after(proofLife, func() {
		if from.life == life {
			s.transmit(from, &envelope{to: to, cmd: engine.Wake{}})
		}
	})
}

// release lets a decision's outcome out.
func (o *outcome) release(a *activation) {
	s := a.node.sim
	if o.call != nil {
		s.visible(a, o, o.cmd, o.reply)
		o.call.answer(s, o.reply)
	}
	for _, r := range o.answers {
		s.visible(a, o, r.call.cmd, r.reply)
		r.call.answer(s, r.reply)
	}
	a.transmit(o.sends)
	if o.frozen != nil {
		a.keep(o)
	}
}

func (a *activation) transmit(sends []engine.Send) {
	s := a.node.sim
	for _, c := range sends {
		if err := s.truth.mayLeave(a.ref, c.Cmd); err != nil {
			s.failf("%s sends %s: %w", a.ref.Name(), brief(c.Cmd), err)
			return
		}
		s.transmit(a.node, &envelope{to: c.To, cmd: c.Cmd})
	}
}

// refuse tells the callers of a decision that was fenced.
func (o *outcome) refuse(s *Sim) {
	o.call.answer(s, engine.Refuse(engine.Unavailable, nil))
	for _, r := range o.answers {
		r.call.answer(s, engine.Refuse(engine.Unavailable, nil))
	}
}

// arm plans a Wake when the state wants one earlier than planned.
func (a *activation) arm() {
	s, life := a.node.sim, a.node.life
	next := a.state.Next()
	if next.IsZero() {
		return
	}
	at := max(next.Add(-a.node.offset).Sub(epoch).Microseconds(), s.now+50)
	if a.armed != 0 && a.armed <= at {
		return
	}
	a.armed = at
	s.after(at-s.now, func() {
		if a.node.life == life && !a.stopped && a.armed == at {
			a.armed = 0
			a.decide(&envelope{to: a.ref, cmd: engine.Wake{}})
		}
	})
}

// freeze asks for a snapshot. It is kept when all facts in it are durable: never
// when the journal has refused some.
func (a *activation) freeze() {
	s := a.node.sim
	if a.fenced {
		return
	}
	a.saved = a.seq
	frozen := a.state.Freeze()
	b, err := codec.Marshal(frozen)
	if err != nil {
		s.failf("%w", err)
		return
	}
	out := outcome{frozen: frozen, frozenAs: b, seq: a.seq}
	if a.pending == 0 { // the journal's store of snapshots looks at the claim itself
		out.release(a)
		return
	}
	a.submit(nil, out, nil)
}

// keep encodes a snapshot beside the actor, which has gone on meanwhile.
func (a *activation) keep(o *outcome) {
	s, frozen, was, seq := a.node.sim, o.frozen, o.frozenAs, o.seq
	s.after(s.between(millisecond, 100*millisecond), func() {
		b, err := codec.Marshal(frozen)
		if err != nil || !bytes.Equal(b, was) {
			s.failf("%s: a frozen state has changed (%v)", a.ref.Name(), err)
			return
		}
		if s.keep(a.ref, snapshot{a.epoch, seq, b}) {
			s.logf("snapshot %s %d", a.ref.Name(), seq)
		}
	})
}

// stop ends an activation. Whoever still waits is told to ask again.
func (a *activation) stop(why string) {
	if a.stopped {
		return
	}
	s := a.node.sim
	s.logf("node %d %s#%d stops: %s", a.node.id, a.ref.Name(), a.epoch, why)
	a.stopped = true
	delete(a.node.acts, a.ref)
	a.node.all = slices.DeleteFunc(a.node.all, func(b *activation) bool { return a == b })
	for _, e := range a.stash {
		e.call.answer(s, engine.Refuse(engine.Unavailable, nil))
	}
	keys := sortedKeys(a.held)
	for _, k := range keys {
		for _, c := range a.held[k] {
			c.answer(s, engine.Refuse(engine.Unavailable, nil))
		}
	}
	for _, out := range a.unproven {
		out.refuse(s)
	}
	a.stash, a.held, a.unproven = nil, nil, nil
}

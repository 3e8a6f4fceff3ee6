package activation

import (
	"log/slog"
	"sync"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// work is the outcome of one decision, which leaves when the decision's facts are durable, or a snapshot that waits for
// the facts in it. Without facts it does not always go through the journal (submitWork).
type work struct {
	entry   journal.Entry
	act     *Activation
	at      int64 // when it was decided, unix milliseconds; 0 for a snapshot
	call    *Call // the command's own caller, or nil
	reply   engine.Reply
	answers []released
	sends   []engine.Send
	frozen  any // a snapshot to keep, or nil
}

// works is a pool of work structs. Each keeps its buffer for the bytes of a decision's facts, so that a decision
// allocates neither the struct nor the buffer.
var works = sync.Pool{New: func() any { return new(work) }}

// maxRoom is how many bytes of room for facts a pooled work keeps at most; a larger buffer is left to the garbage
// collector.
const maxRoom = 4 << 10

func (a *Activation) newWork(at int64) *work {
	w, _ := works.Get().(*work)
	w.act, w.at = a, at
	return w
}

// recycle puts a work that nothing refers to any more back into the pool.
func (w *work) recycle() {
	room, answers := w.entry.Bytes[:0], w.answers[:0]
	if cap(room) > maxRoom {
		room = nil
	}
	clear(w.answers)
	*w = work{answers: answers}
	w.entry.Bytes = room
	works.Put(w)
}

// released is a call that was held, with its answer.
type released struct {
	key   engine.OrderID
	call  *Call
	reply engine.Reply
}

// decide calls the kind's Decide, takes in the facts, and makes the outcome leave when they are durable. It also asks
// for a snapshot if one is due, and for the state's next Wake. For a joint command, needs is the sender's claim: the
// facts become durable only if that stands.
func (a *Activation) decide(c *Call, cmd engine.Command, needs journal.Claim) {
	if c == nil {
		defer a.Load.Add(-1)
	}
	now := a.shell.Now()
	if _, timer := cmd.(engine.Wake); timer {
		a.armed = time.Time{}
	} else {
		a.Used.Store(now.UnixMilli())
	}
	a.current = c
	d := a.state.Decide(cmd, now)
	w := a.newWork(now.UnixMilli())
	w.sends, w.reply = d.Sends, d.Reply
	a.ask(w, d.Asks, d.WaitKey)
	if c != nil {
		if d.WaitKey != nil {
			a.held[*d.WaitKey] = append(a.held[*d.WaitKey], c)
			a.current = nil
		} else {
			w.call = c
		}
	}
	if !a.takeIn(w, d.Facts) {
		return
	}
	a.current = nil
	for _, ans := range d.Answers {
		for _, h := range a.held[ans.Key] {
			w.answers = append(w.answers, released{ans.Key, h, ans.Reply})
		}
		delete(a.held, ans.Key)
	}
	w.entry.Needs = needs
	joint := a.sendJoint(w, d.Joint)
	a.submitWork(w)
	for _, s := range joint { // after the facts were handed over, so that the lane keeps the order
		a.shell.Join(s.To, Joint{s.Cmd, a.claim})
	}
	if a.seq-a.saved >= max(a.snapshotEvery, a.saved) {
		a.freeze()
	}
	a.armTimer()
}

// ask sends a decision's asks at once. They leave with the other sends instead if the claim has not been proven lately,
// if answers already wait for that proof, or if a refusal under the same key is on its way: a repeat of the command must
// not overtake the refusal of the first try.
func (a *Activation) ask(w *work, asks []engine.Send, key *engine.OrderID) {
	if len(asks) == 0 {
		return
	}
	a.refusals.forgetUpTo(a.countSettled())
	if len(a.unproven) > 0 || !a.isProven() || key != nil && a.refusals.has(*key) {
		w.sends = append(w.sends, asks...)
		return
	}
	for _, s := range asks {
		a.shell.Send(s.To, s.Cmd)
	}
}

// sendJoint returns the sends that leave as soon as the decision's facts are on their way. If no facts go with
// them, or the receiver is on another node, it adds them to the other sends and returns nil.
func (a *Activation) sendJoint(w *work, sends []engine.Send) []engine.Send {
	if len(sends) == 0 || len(w.entry.Facts) > 0 && a.shell.Here(sends[0].To) {
		return sends
	}
	w.sends = append(w.sends, sends...)
	return nil
}

// takeIn applies the facts and encodes those that are journaled. It reports whether it succeeded: a
// fact that can't be encoded ends the activation.
func (a *Activation) takeIn(w *work, facts []engine.Fact) bool {
	durable := 0
	for _, f := range facts {
		if !f.FactType().Volatile() {
			durable++
		}
	}
	if durable > 0 {
		w.entry.Facts = facts
		if durable < len(facts) {
			w.entry.Facts = make([]engine.Fact, 0, durable)
		}
		w.entry.First = a.seq + 1
		a.seq += int64(durable)
	}
	for _, f := range facts {
		if !f.FactType().Volatile() {
			var err error
			if w.entry.Bytes, err = codec.AppendFact(w.entry.Bytes, f); err != nil {
				a.shell.Log().Error("fact not encoded", slog.String("actor", a.Ref.Name()), slog.Any("error", err))
				w.failCallers()
				a.breakDown()
				return false
			}
			if durable < len(facts) {
				w.entry.Facts = append(w.entry.Facts, f)
			}
		}
		a.state.Apply(f)
	}
	return true
}

// proofLife is how old the last proof of the claim may be when an answer leaves that depends on no
// new fact (docs/adr/0004).
const proofLife = time.Second

// isSilent reports whether a decision leaves nothing to store, nothing to send and nobody to answer.
func (w *work) isSilent() bool {
	return len(w.entry.Facts)+len(w.answers)+len(w.sends) == 0 && w.call == nil && w.frozen == nil
}

// submitWork hands a decision with facts to the journal. One without facts follows it there only while earlier entries
// are on their way; otherwise it leaves without the journal (answerWork). One with nothing to send or answer is dropped.
func (a *Activation) submitWork(w *work) {
	if w.isSilent() && a.isProven() { // without a proof it is sent on: the journal's refusal is how a stale activation learns that it is stale
		w.recycle()
		return
	}
	if len(w.entry.Facts) == 0 && a.pending.Load() == 0 {
		if a.lost.Load() { // the state is ahead of the journal: the activation is about to end
			w.failCallers()
			return
		}
		a.answerWork(w)
		return
	}
	a.refusals.forgetUpTo(a.countSettled())
	a.handed++
	a.refusals.add(w, a.handed)
	a.pending.Add(1)
	w.entry.Ref, w.entry.Claim, w.entry.Owner = a.Ref, a.claim, w
	a.shell.Append(&w.entry)
}

// countSettled returns how many entries the journal has settled. Entries are settled in order.
func (a *Activation) countSettled() int64 { return a.handed - a.pending.Load() }

// answerWork releases an outcome that needs no fact: at once if the claim is known to have stood within the last
// second and no other outcome waits, otherwise when the claim has been proven again.
func (a *Activation) answerWork(w *work) {
	if len(a.unproven) == 0 && a.isProven() {
		w.release()
		return
	}
	if a.unproven = append(a.unproven, w); len(a.unproven) == 1 {
		a.shell.Prove(a.claim)
	}
}

// answerLate answers with an outcome without facts whose proof was too old when the journal settled it
// (Settled).
func (a *Activation) answerLate(w *work) {
	if a.stopped.Load() {
		w.failCallers()
		return
	}
	a.answerWork(w)
}

func (a *Activation) isProven() bool {
	return a.shell.Now().UnixMilli()-a.proven.Load() <= proofLife.Milliseconds()
}

// provenAt notes that the claim stood at a time, in unix milliseconds. That is the time of asking,
// not of hearing, because the claim may be lost while the answer is on its way.
func (a *Activation) provenAt(at int64) {
	for {
		was := a.proven.Load()
		if at <= was || a.proven.CompareAndSwap(was, at) {
			return
		}
	}
}

// Settled is the journal's verdict: the outcome leaves, or the activation ends. An outcome without facts may
// have waited so long in the journal's lane that it needs a new proof.
func (w *work) Settled(err error) {
	if err == nil {
		act := w.act // read first, because release ends w
		last := act.pending.Add(-1) == 0
		if last && act.leaving.Load() {
			defer act.shell.Post(idle{}) // deferred, so that it comes after the message that this call posts
		}
		switch {
		case len(w.entry.Facts) > 0:
			act.provenAt(w.at)
			w.release()
		case w.frozen != nil || act.isProven():
			w.release()
		case act.stopped.Load(): // the library may have let go of the actor: a message would reach nobody
			w.failCallers()
		default:
			act.shell.Post(settled{w})
		}
		return
	}
	w.act.lost.Store(true) // set while something is still pending
	w.act.pending.Add(-1)
	w.failCallers()
	w.act.shell.Post(refused{err})
}

// failCallers tells the callers that the outcome is unknown.
func (w *work) failCallers() {
	if w.call != nil {
		w.call.Finish(nil, ErrUnavailable)
	}
	for _, r := range w.answers {
		r.call.Finish(nil, ErrUnavailable)
	}
}

// releaseProven releases the outcomes that waited for the proof. If the proof took so long that it has expired, it asks
// for another one instead.
func (a *Activation) releaseProven(at time.Time) {
	if a.stopped.Load() {
		return
	}
	if a.provenAt(at.UnixMilli()); !a.isProven() {
		a.shell.Prove(a.claim)
		return
	}
	for _, w := range a.unproven {
		w.release()
	}
	a.unproven = nil
	a.departWhenDone()
}

// release lets a decision's outcome leave and ends w: it answers the callers, sends the tells, and hands over the
// snapshot if there is one.
func (w *work) release() {
	if w.call != nil {
		w.call.Finish(w.reply, nil)
	}
	for _, r := range w.answers {
		r.call.Finish(r.reply, nil)
	}
	for _, s := range w.sends {
		w.act.shell.Send(s.To, s.Cmd)
	}
	if w.frozen != nil {
		w.act.shell.Keep(w.frozen, w.act.claim, w.entry.First)
	}
	w.recycle()
}

// armTimer asks for a Wake if the state wants one earlier than the one already asked for.
func (a *Activation) armTimer() {
	next := a.state.Next()
	if next.IsZero() || !a.armed.IsZero() && !next.Before(a.armed) {
		return
	}
	a.armed = next
	a.shell.Arm(next)
}

// freeze copies the state for a snapshot. The snapshot is saved when all facts in it are durable, so an entry
// without facts takes it through the journal after them. It needs no proof of the claim, because the store of
// snapshots checks the claim itself. If the journal has refused facts that the state has, no snapshot is saved.
func (a *Activation) freeze() {
	a.saved, a.savedAt = a.seq, a.shell.Now()
	w := a.newWork(0)
	w.frozen, w.entry.First = a.state.Freeze(), a.seq
	switch {
	case a.pending.Load() > 0:
		a.submitWork(w)
	case !a.lost.Load():
		w.release()
	}
}

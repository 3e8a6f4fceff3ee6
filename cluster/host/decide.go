package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/snapshot"
)

// work is one decision on its way through the journal: what leaves when its
// facts are durable.
type work struct {
	entry   journal.Entry
	act     *Activation
	at      int64 // when it was decided, unix milliseconds
	call    *Call // the command's own caller, or nil
	reply   engine.Reply
	answers []released
	sends   []engine.Send
	frozen  any // a snapshot to keep, or nil
}

// works are pooled, with room for the bytes of a decision's facts.
var works = sync.Pool{New: func() any { return new(work) }}

// maxRoom is how many bytes of room a pooled work keeps.
const maxRoom = 4 << 10

func (a *Activation) newWork(at int64) *work {
	w, _ := works.Get().(*work)
	w.act, w.at = a, at
	return w
}

// recycle ends a work that nothing refers to any more.
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

// released is a held call with its answer.
type released struct {
	key   engine.OrderID
	call  *Call
	reply engine.Reply
}

// decide has the kind decide, takes its facts in, and sees to it that its
// outcome leaves when they are durable. A joint command's facts need its sender's
// claim.
func (a *Activation) decide(c *Call, cmd engine.Command, needs journal.Claim) {
	if c == nil {
		defer a.Load.Add(-1)
	}
	now := a.env.Now()
	if _, timer := cmd.(engine.Wake); timer {
		a.armed = time.Time{}
	} else {
		a.Used.Store(now.UnixMilli())
	}
	a.current = c
	d := a.state.Decide(cmd, now)
	w := a.newWork(now.UnixMilli())
	w.sends, w.reply = d.Sends, d.Reply
	a.ask(w, d.Asks, d.Hold)
	if c != nil {
		if d.Hold != nil {
			a.held[*d.Hold] = append(a.held[*d.Hold], c)
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
	joint := a.joint(w, d.Joint)
	a.submit(w)
	for _, s := range joint { // after its facts were handed over: the lane keeps the order
		a.env.Join(s.To, Joint{s.Cmd, a.claim})
	}
	if a.seq-a.saved >= max(a.env.SnapshotEvery, a.saved) {
		a.freeze()
	}
	a.arm()
}

// ask sends what need not wait for facts, unless the stream may have been claimed
// by another activation since it was last proven ours, or there are answers that
// wait to have that proven, or for facts: a repeat, held under the key of the first
// try, does not overtake that one's refusal.
func (a *Activation) ask(w *work, asks []engine.Send, key *engine.OrderID) {
	if len(asks) == 0 {
		return
	}
	a.refusals.settle(a.settled())
	if len(a.unproven) > 0 || !a.isProven() || key != nil && a.refusals.has(*key) {
		w.sends = append(w.sends, asks...)
		return
	}
	for _, s := range asks {
		a.env.Send(s.To, s.Cmd)
	}
}

// joint returns what leaves as soon as the decision's facts are on their way. What
// has no facts to go with, or another node to go to, leaves with the rest.
func (a *Activation) joint(w *work, sends []engine.Send) []engine.Send {
	if len(sends) == 0 || len(w.entry.Facts) > 0 && a.env.Here(sends[0].To) {
		return sends
	}
	w.sends = append(w.sends, sends...)
	return nil
}

// takeIn applies the facts and encodes those that are journaled. It reports
// whether it could: a fact that can't be encoded ends the activation.
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
				a.env.Log.Error("fact not encoded", slog.String("actor", a.Ref.Name()), slog.Any("error", err))
				w.Settled(ErrUnavailable)
				a.stop(ErrUnavailable)
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

// proofLife is how old the last proof may be that the stream is still ours when
// an answer leaves that needs no fact (docs/adr/0004).
const proofLife = time.Second

// silent says that nothing has to be kept or told of a decision.
func (w *work) silent() bool {
	return len(w.entry.Facts)+len(w.answers)+len(w.sends) == 0 && w.call == nil && w.frozen == nil
}

// submit hands the decision to the journal. What needs no fact leaves at once,
// unless facts before it are still on their way, or the stream may have been
// claimed by another activation since it was last proven ours.
func (a *Activation) submit(w *work) {
	if w.silent() && a.isProven() { // else it is how a stale activation finds out that it is
		w.recycle()
		return
	}
	if len(w.entry.Facts) == 0 && a.pending.Load() == 0 {
		if a.lost.Load() { // the state is ahead of the journal: the end is on its way
			w.fail()
			return
		}
		a.answer(w)
		return
	}
	a.refusals.settle(a.settled())
	a.handed++
	a.refusals.add(w, a.handed)
	a.pending.Add(1)
	w.entry.Ref, w.entry.Claim, w.entry.Owner = a.Ref, a.claim, w
	a.env.Journal.Append(&w.entry)
}

// settled is how many entries the journal has settled: they come back in order.
func (a *Activation) settled() int64 { return a.handed - a.pending.Load() }

// answer lets out what needs no fact: at once while the claim is known to have
// stood within the last second, else when it is proven anew.
func (a *Activation) answer(w *work) {
	if len(a.unproven) == 0 && a.isProven() {
		w.release()
		return
	}
	if a.unproven = append(a.unproven, w); len(a.unproven) == 1 {
		a.env.Go(a.prove)
	}
}

func (a *Activation) isProven() bool {
	return a.env.Now().UnixMilli()-a.proven.Load() <= proofLife.Milliseconds()
}

// provenAt notes that the claim stood at a time, unix milliseconds, or later: of
// asking, not of hearing, for it may be lost while the answer is on its way.
func (a *Activation) provenAt(at int64) {
	for {
		was := a.proven.Load()
		if at <= was || a.proven.CompareAndSwap(was, at) {
			return
		}
	}
}

// Settled is the journal's verdict: the outcome leaves, or the activation ends.
// An answer without facts that was long behind others' needs a new proof.
func (w *work) Settled(err error) {
	if err == nil {
		act := w.act // w ends with its release
		last := act.pending.Add(-1) == 0
		if last && act.leaving.Load() {
			defer act.root.Send(act.self, idle{}) // behind what this one brings
		}
		switch {
		case len(w.entry.Facts) > 0:
			act.provenAt(w.at)
			w.release()
		case w.frozen != nil || act.isProven():
			w.release()
		case act.stopped.Load(): // the library may have let go of it: a message would reach nobody
			w.fail()
		default:
			act.root.Send(act.self, settled{w})
		}
		return
	}
	w.act.lost.Store(true) // before nothing is pending any more
	w.act.pending.Add(-1)
	w.fail()
	w.act.root.Send(w.act.self, fenced{})
}

// fail tells the callers that the outcome is not known.
func (w *work) fail() {
	if w.call != nil {
		w.call.Finish(nil, ErrUnavailable)
	}
	for _, r := range w.answers {
		r.call.Finish(nil, ErrUnavailable)
	}
}

// prove asks the journal whether the stream is still ours, beside the actor.
func (a *Activation) prove(ctx context.Context) {
	asked := a.env.Now()
	lost, err := a.env.Journal.Standing(ctx, []journal.Claim{a.claim})
	switch {
	case err != nil:
		a.root.Send(a.self, failed{fmt.Errorf("prove claim: %w", err)})
	case len(lost) > 0:
		a.root.Send(a.self, fenced{})
	default:
		a.root.Send(a.self, proven{asked})
	}
}

// releaseProven lets out what waited for the proof, unless that took so long
// that it proves nothing any more.
func (a *Activation) releaseProven(at time.Time) {
	if a.stopped.Load() {
		return
	}
	if a.provenAt(at.UnixMilli()); !a.isProven() {
		a.env.Go(a.prove)
		return
	}
	for _, w := range a.unproven {
		w.release()
	}
	a.unproven = nil
	a.depart()
}

// release lets a decision's outcome out; it is the end of w.
func (w *work) release() {
	if w.call != nil {
		w.call.Finish(w.reply, nil)
	}
	for _, r := range w.answers {
		r.call.Finish(r.reply, nil)
	}
	for _, s := range w.sends {
		w.act.env.Send(s.To, s.Cmd)
	}
	if w.frozen != nil {
		w.act.keep(w.frozen, w.entry.First)
	}
	w.recycle()
}

// arm asks the node for a Wake when the state wants one earlier than asked for.
func (a *Activation) arm() {
	next := a.state.Next()
	if next.IsZero() || !a.armed.IsZero() && !next.Before(a.armed) {
		return
	}
	a.armed = next
	a.env.Arm(a.Ref, next)
}

// freeze copies the state for a snapshot. It is kept when all facts in it are
// durable: a barrier carries it through the journal. It needs no proof of the
// claim, for Snapshots.Save makes sure of that itself.
func (a *Activation) freeze() {
	a.saved = a.seq
	w := a.newWork(0)
	w.frozen, w.entry.First = a.state.Freeze(), a.seq
	switch {
	case a.pending.Load() > 0:
		a.submit(w)
	case !a.lost.Load():
		w.release()
	}
}

// keep encodes and saves a snapshot, beside the actor. One that can't be kept is
// made again later.
func (a *Activation) keep(frozen any, seq int64) {
	ref, claim, env := a.Ref, a.claim, a.env
	queued := env.Freeze(func(ctx context.Context) {
		err := env.Snapshots.Save(ctx, claim.Stream, seq, claim.Epoch, func(w io.Writer) error {
			return codec.Write(w, frozen, a.rests(ctx, seq))
		})
		switch {
		case errors.Is(err, errSuperseded), errors.Is(err, snapshot.ErrStale) && a.leaving.Load():
			env.Log.DebugContext(ctx, "snapshot not saved: there is a newer one, or a newer owner", slog.String("actor", ref.Name()))
		case err != nil:
			env.Log.WarnContext(ctx, "snapshot not saved", slog.String("actor", ref.Name()), slog.Any("error", err))
		}
	})
	if !queued {
		env.Log.Debug("snapshot skipped", slog.String("actor", ref.Name()))
	}
}

// errSuperseded ends a snapshot that the departing activation's last one makes
// needless.
var errSuperseded = errors.New("a later snapshot follows")

// While a snapshot is made, its goroutine rests restTimes as long as it has worked,
// each time that it has worked for restAfter.
const (
	restTimes = 6
	restAfter = time.Millisecond
)

// rests is what the snapshot at seq calls between its steps: it takes little of a
// core and of the disk from the sale, unless the actor is to leave.
func (a *Activation) rests(ctx context.Context, seq int64) func() error {
	began := time.Now()
	return func() error {
		worked := time.Since(began)
		switch {
		case seq < a.final.Load():
			return errSuperseded
		case worked < restAfter || a.leaving.Load():
			return nil
		}
		rest := time.NewTimer(restTimes * worked)
		defer rest.Stop()
		select {
		case <-rest.C:
			began = time.Now()
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retire ends an activation: its state is kept and its next timer is noted. One
// with facts or answers on their way, or callers waiting, stays; with force it
// takes no more commands and goes when they have left.
func (a *Activation) retire(m retire) {
	busy := a.state == nil || a.pending.Load() > 0 || len(a.unproven) > 0
	if a.stopped.Load() || a.lost.Load() || !m.force && (busy || len(a.held) > 0) {
		close(m.done)
		return
	}
	a.leavers = append(a.leavers, m.done)
	a.leaving.Store(true)
	a.depart()
}

// depart goes if it is time to.
func (a *Activation) depart() {
	if !a.leaving.Load() || a.stopped.Load() || a.state == nil || a.pending.Load() > 0 || len(a.unproven) > 0 || a.lost.Load() {
		return
	}
	if a.seq > a.saved {
		a.freeze()
	}
	a.final.Store(a.saved)
	if err := a.env.Parked(a.Ref, a.claim, a.state.Next()); err != nil { // it is still noted as alive
		a.env.Log.Warn("timer not noted", slog.String("actor", a.Ref.Name()), slog.Any("error", err))
	}
	a.stop(ErrMoved)
}

// Retire asks an activation to end if it is idle, or, with force, as soon as its
// facts are durable, even if callers wait. The channel is closed when it has ended
// or stays; Gone tells which.
func Retire(force bool) (msg any, done <-chan struct{}) {
	ch := make(chan struct{})
	return retire{force, ch}, ch
}

// Dropped is the last message to an activation that is gone: the library lets go
// of it.
var Dropped any = dropped{}

func stack() slog.Attr { return slog.String("stack", string(debug.Stack())) }

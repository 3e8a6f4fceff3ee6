package sim

import (
	"time"

	"boxoffice/cluster/sim/brief"
	"boxoffice/cluster/sim/bugs"
	"boxoffice/cluster/sim/judge"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/seatmap"
)

// tellJudge returns the judge's view of this world: what it may ask, and whom it tells what follows from a fact.
func (s *Sim) tellJudge() judge.World {
	return judge.World{
		Jumps: s.swarm.jumps, HoldScale: s.swarm.holdScale,
		Now: s.Now, Reach: s.Reach, Received: s.script.Received,
		Places: s.script.Places, DayAt: s.script.DayAt,
		Replay: func(ref engine.Ref) (engine.State, error) { return s.journal.Replay(s.journal.Stream(ref), true) },
		Owner: func(ref engine.Ref) (engine.State, time.Time, bool) {
			a := s.currentOwner(ref)
			if a == nil {
				return nil, time.Time{}, false
			}
			return a.state, a.node.wallClock(), true
		},
		PayBack: s.script.PayBack, WatchHold: s.watchHold, WatchRoom: s.watchRoom,
	}
}

// judgeReply judges a reply that leaves an actor. An activation that has a successor may answer for one second more,
// because a proof of its claim is good for so long. The rest is up to the judge.
func (s *Sim) judgeReply(a *hosted, cmd engine.Command, reply engine.Reply) {
	st := s.journal.Stream(a.Ref)
	if st.Epoch != a.claim.Epoch && a.settling == nil {
		s.Reach("stale answer", enginetest.CommandName(cmd))
		succeeded, known := st.SucceededAt(a.claim.Epoch)
		if !known {
			s.Failf("%s is answered by epoch %d, which its shard does not know", brief.Command(cmd), a.claim.Epoch)
			return
		}
		if age := s.Now() - succeeded; age > second+millisecond && s.bug != bugs.NoFence {
			s.Failf("%s is answered by epoch %d, %d us after epoch %d began", brief.Command(cmd), a.claim.Epoch, age, a.claim.Epoch+1)
		}
	}
	if err := s.truth.Answer(a.Ref, cmd, reply, st.Epoch == a.claim.Epoch); err != nil {
		s.Failf("%s is %w", brief.Command(cmd), err)
	}
}

// phaseOf returns in a few words what an actor is in the middle of, for the counters of what faults have met.
func (s *Sim) phaseOf(ref engine.Ref) string {
	if ref.Kind == engine.KindEvent {
		for _, n := range s.nodes {
			if a := n.acts[ref]; a != nil && len(a.held) > 0 {
				return "order placing"
			}
		}
	}
	return s.truth.Phase(ref)
}

// judgeLines judges the waitlists of all shows. It is used once the world has healed.
func (s *Sim) judgeLines() {
	for _, sh := range s.script.Shows() {
		if err := s.truth.JudgeLine(sh); err != nil {
			s.Failf("%w", err)
		}
	}
}

// holdGrace is how long after its end the owner of the seats may still have a selection, in microseconds. It covers
// the timer and the loading of the actor.
const holdGrace = 5 * second

// watchHold makes sure that a selection of seats ends in time, unless it is changed before. The clock is the one of
// the node that owns the seats when the end is due.
func (s *Sim) watchHold(ref engine.Ref, f *seatmap.HeldFact) {
	// Until is unix milliseconds. The simulation counts microseconds from the epoch of its tests.
	due := f.Until*millisecond - enginetest.Epoch.UnixMicro()
	var look func()
	look = func() {
		if !s.truth.Holds(ref, f) {
			return
		}
		a := s.currentOwner(ref)
		if a == nil || a.state == nil { // nobody is at work: some time somebody will be
			s.After(second, look)
			return
		}
		over := max(due-a.node.offset.Microseconds(), a.since) + holdGrace
		if s.Now() < over {
			s.After(over-s.Now(), look)
			return
		}
		if a.pending > 0 { // what ends it may be on its way to the journal
			s.After(second, look)
			return
		}
		s.Failf("%s: %s holds his seats %d ms after their time", ref.Name(), f.Holder, (s.Now()-due)/millisecond)
	}
	s.After(due-s.Now()+holdGrace, look)
}

// serveGrace is how long an owner may let a room's next admission wait after it is due, in microseconds. It counts
// from the due time, from the owner's loading, or from the fact that made it due, whichever is last.
const serveGrace = 3 * second

// watchRoom makes sure that a room's next admission comes in time, unless the due time changes before. The clock is
// the one of the node that owns the room when the admission is due.
func (s *Sim) watchRoom(ref engine.Ref, turn int, at int64) {
	due, told := at*millisecond-enginetest.Epoch.UnixMicro(), s.Now()
	var look func()
	look = func() {
		if s.truth.Turns(ref) != turn {
			return
		}
		a := s.currentOwner(ref)
		if a == nil || a.state == nil { // nobody is at work: some time somebody will be
			s.After(second, look)
			return
		}
		over := max(due-a.node.offset.Microseconds(), a.since, told) + serveGrace
		if s.Now() < over {
			s.After(over-s.Now(), look)
			return
		}
		if a.pending > 0 { // the admission may be on its way to the journal
			s.After(second, look)
			return
		}
		s.Failf("%s: nobody is admitted %d ms after the time", ref.Name(), (s.Now()-due)/millisecond)
	}
	s.After(max(due-told, 0)+serveGrace, look)
}

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

// tellJudge returns what the judge knows of this world.
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

// judgeReply judges a reply that leaves an actor: it tells only what is durable,
// and the same of the same command.
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

// phaseOf is what an actor is in the middle of, for the counters.
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

// judgeLines judges the waitlists of all shows, in a world without faults.
func (s *Sim) judgeLines() {
	for _, sh := range s.script.Shows() {
		if err := s.truth.JudgeLine(sh); err != nil {
			s.Failf("%w", err)
		}
	}
}

// holdGrace is how long after its time a live owner may have a selection.
const holdGrace = 5 * second

// watchHold makes sure that a selection ends in time, by the clock of who owns
// the seats then, unless it is changed before.
func (s *Sim) watchHold(ref engine.Ref, f *seatmap.HeldFact) {
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

// serveGrace is how long after its time, after somebody has come or after a failover an owner may let
// a room's next admission wait.
const serveGrace = 3 * second

// watchRoom makes sure that a room's next admission comes in time, by the clock of whoever owns the
// room then, unless something changes before.
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

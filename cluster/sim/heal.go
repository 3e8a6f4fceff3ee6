package sim

import (
	"errors"
	"fmt"

	"boxoffice/cluster/sim/brief"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
)

// judgeSettled judges the world once it is quiet: nothing is planned, every command has its answer, each actor is
// loaded and its state agrees with the journal, and the judge finds nothing half done. It stops at the first failure.
func (s *Sim) judgeSettled() {
	if steps, next := s.Planned(); steps > 0 {
		s.Failf("not quiet: %d steps are planned, the next at %d", steps, next)
		return
	}
	for _, a := range s.asks {
		if !a.answered && a.limit == 0 {
			s.Failf("nobody answered %s in %d tries", brief.Command(a.cmd), a.tries)
			return
		}
	}
	// Load counts the commands that an activation has been given and has not finished. One that is left over would
	// keep the actor from ever being put away.
	for _, a := range s.made {
		if open := a.Load.Load(); open != 0 && a.isAlive() {
			s.Failf("%s#%d has left %d commands without an outcome", a.Ref.Name(), a.claim.Epoch, open)
			return
		}
	}
	for _, ref := range s.journal.Refs {
		if err := s.settledActor(ref); err != nil {
			s.Failf("%s has not settled: %w", ref.Name(), err)
			return
		}
	}
	alive := make(map[int]bool)
	for _, n := range s.nodes {
		alive[n.member] = true
	}
	if err := s.journal.Settled(alive); err != nil {
		s.Failf("%w", err)
		return
	}
	if err := s.truth.Settled(s.script.Shows(), s.journal.Refs); err != nil {
		s.Failf("%w", err)
		return
	}
	if err := s.script.SettledPayments(); err != nil {
		s.Failf("%w", err)
	}
}

// settledActor judges the activation that owns a stream: it has nothing under way, is at the stream's last fact, and
// its state equals the one that is replayed from the journal.
func (s *Sim) settledActor(ref engine.Ref) error {
	st, a := s.journal.Stream(ref), s.currentOwner(ref)
	if a == nil || a.state == nil {
		return errors.New("nobody is at work")
	}
	if len(a.held) > 0 || a.pending > 0 || a.seq != st.Head {
		return fmt.Errorf("%d orders held, %d decisions pending, at %d of %d", len(a.held), a.pending, a.seq, st.Head)
	}
	whole, err := s.journal.Replay(st, false)
	if err != nil {
		return err
	}
	// A bug that is planted in the kind may make the states differ in its own way. The rules have to find it instead.
	if s.bug == "" {
		if err := enginetest.CompareStates(a.state, whole); err != nil {
			return err
		}
	}
	return whole.Check()
}

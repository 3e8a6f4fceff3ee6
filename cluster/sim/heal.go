package sim

import (
	"errors"
	"fmt"

	"boxoffice/cluster/sim/brief"
	"boxoffice/engine"
	"boxoffice/engine/enginetest"
)

// judgeSettled judges the world once it is quiet: everything has come to its end.
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

// settledActor judges the activation that owns a stream.
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
	if s.bug == "" {
		if err := enginetest.CompareStates(a.state, whole); err != nil {
			return err
		}
	}
	return whole.Check()
}

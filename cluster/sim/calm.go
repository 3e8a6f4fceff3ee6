package sim

import (
	"boxoffice/cluster/sim/brief"
	"boxoffice/cluster/sim/shards"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
)

// This file judges what a shard's trouble must not touch.

// othersWithin is how long what a shard's trouble does not concern may take.
const othersWithin = 15 * second

// isCalm reports whether a shard has answered all nodes for so long that nothing there can still be on its way.
func (s *Sim) isCalm(sh *shards.Shard) bool {
	up := false
	for _, n := range s.nodes {
		if n.up && (n.shut[sh.No] || !n.knows[sh.No].IsRight()) {
			return false
		}
		up = up || n.up
	}
	return up && !sh.Moving && sh.Place.Answers() && s.Now()-s.steady[sh.No] > othersWithin
}

// judgeOthers makes sure that a shard that answers takes commits, whatever becomes of the others, and that its
// actors answer, in a world where nothing goes wrong but shards.
func (s *Sim) judgeOthers() {
	troubled := false
	for _, sh := range s.journal.Shards {
		troubled = troubled || !sh.Place.Answers()
	}
	for _, sh := range s.journal.Shards {
		if !s.isCalm(sh) {
			continue
		}
		if troubled {
			s.Reach("shard", "goes on without another")
		}
		for _, n := range s.nodes {
			if b := n.lanes[sh.No].flight; n.up && b != nil && s.Now()-b.since > othersWithin {
				s.Failf("batch %s waits for shard %d since %d, and the shard answers", b.Name, sh.No, b.since)
			}
		}
	}
	if s.calm && s.Now()-s.unrest > othersWithin {
		s.judgeAnswers()
	}
}

// judgeAnswers makes sure that commands to actors in shards that answer are answered. Those that may wait for
// actors elsewhere are left out: a payment that comes late may ask for the stock and the code once more.
func (s *Sim) judgeAnswers() {
	for _, a := range s.asks {
		_, waits := a.cmd.(engine.Keyed)
		_, late := a.cmd.(ledger.ReportPayment)
		if waits || late || a.answered || a.limit > 0 || s.Now()-a.at <= othersWithin {
			continue
		}
		if sh := s.journal.Shards[s.journal.ShardOf(a.to)]; s.isCalm(sh) {
			s.Failf("%s to %s waits for %d ms, and shard %d answers", brief.Command(a.cmd), a.to.Name(), (s.Now()-a.at)/millisecond, sh.No)
		}
	}
}

// judgeFollowers makes sure that the facts of a shard that answers are passed on, whatever becomes of the others.
func (s *Sim) judgeFollowers() {
	h := s.journal.Home
	running := int64(-1)
	for _, n := range s.nodes {
		if n.copy.Runs() {
			if running >= 0 {
				return // two nodes are in each other's way
			}
			running = n.copy.Began
		}
	}
	if running < 0 || !h.Answers() || s.Now()-max(running, h.Since()) <= othersWithin {
		return
	}
	for _, sh := range s.journal.Shards {
		if s.isCalm(sh) {
			h.JudgePassed(sh, othersWithin)
		}
	}
}

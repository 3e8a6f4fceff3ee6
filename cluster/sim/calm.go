package sim

import (
	"boxoffice/cluster/sim/brief"
	"boxoffice/cluster/sim/shards"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
)

// This file judges what a shard's trouble must not touch.

// othersWithin is how long something may take, in microseconds, if a shard's trouble does not concern it.
const othersWithin = 15 * second

// isCalm returns whether a shard has answered all nodes for so long that nothing that its trouble has delayed can
// still be under way. Only then an unfinished commit or answer there is somebody's mistake.
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

// judgeOthers makes sure that each shard that answers takes commits, even while other shards don't. In a world in
// which nothing goes wrong but shards, it also makes sure that actors of such a shard answer.
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
	// After a node has come or gone, actors have to be loaded elsewhere first, which takes a while.
	if s.calm && s.Now()-s.unrest > othersWithin {
		s.judgeAnswers()
	}
}

// judgeAnswers makes sure that commands to actors of calm shards are answered in time. It leaves out commands whose
// answer may need actors of other shards: those that wait for keepers, and a payment that comes late, which may ask
// for the stock and the promo code once more.
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

// judgeFollowers makes sure that the facts of a calm shard are passed on by the follower, even while other shards
// don't answer.
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
	// A follower that has just begun, or a home that has just come back, needs its time first.
	if running < 0 || !h.Answers() || s.Now()-max(running, h.Since()) <= othersWithin {
		return
	}
	for _, sh := range s.journal.Shards {
		if s.isCalm(sh) {
			h.JudgePassed(sh, othersWithin)
		}
	}
}

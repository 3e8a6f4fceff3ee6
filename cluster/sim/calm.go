package sim

import (
	"errors"
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/persistence/follower/merge"
)

// This file judges what a shard's trouble must not touch.

// othersWithin is how long what a shard's trouble does not concern may take.
const othersWithin = 15 * second

// isCalm reports whether a shard has answered all nodes for so long that nothing there can still be on its way.
func (s *Sim) isCalm(sh *shard) bool {
	up := false
	for _, n := range s.nodes {
		if n.up && (n.shut[sh.no] || !n.reaches(sh.no)) {
			return false
		}
		up = up || n.up
	}
	return up && !sh.moving && sh.place.state == answers && s.Now()-sh.calm > othersWithin
}

// judgeOthers makes sure that a shard that answers takes commits, whatever becomes of the others, and that its
// actors answer, in a world where nothing goes wrong but shards.
func (s *Sim) judgeOthers() {
	troubled := false
	for _, sh := range s.shards {
		troubled = troubled || sh.place.state != answers
	}
	for _, sh := range s.shards {
		if !s.isCalm(sh) {
			continue
		}
		if troubled {
			s.Reach("shard", "goes on without another")
		}
		for _, n := range s.nodes {
			if b := n.lanes[sh.no].flight; n.up && b != nil && s.Now()-b.since > othersWithin {
				s.Failf("batch %s waits for shard %d since %d, and the shard answers", b.name(), sh.no, b.since)
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
		if sh := s.shards[s.shardOf(a.to)]; s.isCalm(sh) {
			s.Failf("%s to %s waits for %d ms, and shard %d answers", briefCommand(a.cmd), a.to.Name(), (s.Now()-a.at)/millisecond, sh.no)
		}
	}
}

// judgeFollowers makes sure that the facts of a shard that answers are passed on, whatever becomes of the others.
func (s *Sim) judgeFollowers() {
	h := s.home
	running := int64(-1)
	for _, n := range s.nodes {
		if n.copy != nil {
			if running >= 0 {
				return // two nodes are in each other's way
			}
			running = n.copy.began
		}
	}
	if running < 0 || h.state != answers || s.Now()-max(running, h.calm) <= othersWithin {
		return
	}
	for _, sh := range s.shards {
		if !s.isCalm(sh) {
			continue
		}
		for _, id := range sh.place.order {
			w := sh.place.writers[id]
			if at := h.positions[h.cursorOf(id)]; at < int64(len(w.landed)) && s.Now()-w.landed[at] > othersWithin {
				s.Failf("the follower has not passed batch %d of writer %d, and shard %d answers", at+1, id, sh.no)
			}
		}
	}
}

// hasPassedAll reports whether the follower has passed every batch, and the closed writers to their ends.
func (s *Sim) hasPassedAll() bool {
	for _, sh := range s.shards {
		for _, id := range sh.place.order {
			w := sh.place.writers[id]
			if at := s.home.positions[s.home.cursorOf(id)]; at < int64(len(w.batches)) || w.closed && at != merge.Final {
				return false
			}
		}
	}
	return true
}

// settledShards judges the shards, home and the follower once the world is quiet.
func (s *Sim) settledShards() error {
	if !s.sharded {
		return nil
	}
	if len(s.home.burials) > 0 {
		return errors.New("a burial is not over")
	}
	if !s.hasPassedAll() {
		return errors.New("the follower has not come to the end")
	}
	for _, ref := range s.refs {
		if st := s.streamOf(ref); s.home.effects[st.id] != st.head {
			return fmt.Errorf("the follower has passed %d of %d facts of %s", s.home.effects[st.id], st.head, ref.Name())
		}
	}
	alive := make(map[int]bool)
	for _, n := range s.nodes {
		alive[n.member] = true
	}
	for _, sh := range s.shards {
		for _, id := range sh.place.order {
			if w := sh.place.writers[id]; !w.closed && !alive[w.member] {
				return fmt.Errorf("writer %d is open in shard %d, and its node is dead", id, sh.no)
			}
		}
	}
	return nil
}

package cluster

import (
	"context"
	"errors"
	"maps"
	"sync"

	"boxoffice/cluster/wire"
)

// positions are how far the journal had come: by writer, its last batch.
type positions = map[int32]int64

// maxWrote bounds the callers whose last writes are remembered: a caller is forgotten when at least
// as many others have written since.
const maxWrote = 100_000

// wrote remembers how far the journal had come when a caller's last write was answered here. It does so in
// memory only, so a rush of writes costs the database nothing. A reader asks all nodes, because nobody can know
// through which of them a caller has written.
type wrote struct {
	mu             sync.Mutex
	recent, former map[string]positions // by caller; former were noted before all of recent
	now            positions            // positions as they were noted last; writes between two commits share them
	seen           [2]int64             // how many changes of own and heard are in now
}

// NoteWrite notes that a caller has just written something through this node, with the journal's positions that a later
// read of the caller has to see. At most 2*maxWrote callers are known; those that wrote longest ago are forgotten.
func (n *Node) NoteWrite(caller string) {
	w := &n.wrote
	w.mu.Lock()
	defer w.mu.Unlock()
	// Positions are copied only if something was committed since the last note: callers in between share one map.
	if seen := [2]int64{n.own.any.Load(), n.heard.any.Load()}; w.now == nil || seen != w.seen {
		w.now, w.seen = n.Positions(), seen
	}
	// Two generations are kept, and the older one is dropped as a whole. To forget one caller at a time would need
	// their order.
	if len(w.recent) >= maxWrote || w.recent == nil {
		w.recent, w.former = make(map[string]positions), w.recent
	}
	w.recent[caller] = w.now
}

// find returns the positions of a caller's last write through this node, or nil.
func (w *wrote) find(caller string) positions {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, ok := w.recent[caller]; ok {
		return at
	}
	return w.former[caller]
}

// WrittenBy returns, for each writer, the last batch that may have something that a caller has written through any
// node. A reader of the journal that has passed these batches has all that the caller wrote. The result is nil if no
// node remembers a write of the caller. With an error, some nodes could not be asked and may remember more.
func (n *Node) WrittenBy(ctx context.Context, caller string) (map[int32]int64, error) {
	type answer struct {
		at  positions
		err error
	}
	asked, answers := 0, make(chan answer)
	for _, p := range n.peers.All() {
		asked++
		go func() {
			at, err := p.findWritten(ctx, caller)
			answers <- answer{at, err}
		}()
	}
	all, errs := maps.Clone(n.wrote.find(caller)), error(nil)
	for range asked {
		a := <-answers
		errs = errors.Join(errs, a.err)
		if all == nil {
			all = a.at
			continue
		}
		for writer, batch := range a.at {
			all[writer] = max(all[writer], batch)
		}
	}
	return all, errs
}

// findWritten asks the member what wrote.find says there. A member of the release before has noted nothing, and
// is not asked.
func (p *peer) findWritten(ctx context.Context, caller string) (positions, error) {
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l != nil && l.revision < wire.RevisionWrote {
		return nil, nil
	}
	reply, err := p.call(ctx, nil, nil, func(w *wire.Writer, number int64) {
		w.BeginFrame(wire.FrameWrote)
		w.AppendNumber(number)
		w.AppendText(caller)
		w.EndFrame()
	})
	at, _ := reply.(positions)
	return at, err
}

// sendPositions answers wire.FrameWrote.
func (in *inbound) sendPositions(number int64, at positions) {
	in.queueFrame(func(w *wire.Writer) {
		w.BeginFrame(wire.FramePositions)
		w.AppendNumber(number)
		for id, batch := range at {
			w.AppendNumber(int64(id))
			w.AppendNumber(batch)
		}
		w.EndFrame()
	})
}

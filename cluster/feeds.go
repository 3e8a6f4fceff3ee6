package cluster

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/cluster/wire"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// maxFollowed is how many events a node follows at most. To follow one more, it drops one.
const maxFollowed = 100_000

// isFollowed reports whether facts of a kind are sent to the nodes that follow an event. Those nodes
// need the facts for live stock and seats.
func isFollowed(k engine.Kind) bool { return k == engine.KindInventory || k == engine.KindSeatmap }

// feeds carry committed facts to the nodes that show them. Each node has one subscription per
// event.
type feeds struct {
	n       *Node
	readers *xsync.Map[int64, []*inbound] // links of the nodes that follow our events, by event; a list is replaced as a whole, never changed
	sources *xsync.Map[int64, *source]    // of the events that we follow or have asked to follow
}

// source is the member that an event's facts come from. All calls that ask the member for them share it.
type source struct {
	member string
	sure   atomic.Bool // whether the member has confirmed that it sends the event's facts
}

// hasMoved reports whether the source does not own its event by a placement.
func (s *source) hasMoved(event int64, now *placed) bool {
	owner := now.OwnerOf(event)
	return owner == none || owner == now.self || now.Members[owner].ID != s.member
}

// newFeeds makes feeds that follow nothing.
func newFeeds(n *Node) *feeds {
	return &feeds{n: n, readers: xsync.NewMap[int64, []*inbound](), sources: xsync.NewMap[int64, *source]()}
}

// Follow makes Config.Observe see an event's facts as they are committed, whichever node owns the event.
// Facts before the call may be missing, so ask the actor after it. When facts may have been missed
// later, Config.Missed is called, and the event must be followed again. For an event that this node owns it does
// nothing, because Observe sees its facts anyway.
func (n *Node) Follow(ctx context.Context, event int64) error {
	for {
		p := n.placement.Load()
		if p.ownsHome(event) {
			return nil
		}
		owner := p.OwnerOf(event)
		if owner == none {
			return &engine.Refusal{Code: engine.Unavailable}
		}
		err := n.followFrom(ctx, event, p.Members[owner].ID)
		// The placement is read again after the question. If it has changed in between, the note of the source may
		// have come too late for endMovedFeeds, so this call does the same for its event, and asks the new owner.
		switch now := n.placement.Load(); {
		case now != p:
			n.feeds.endIfMoved(event, now)
		case err != nil:
			return outcomeOf(engine.EventRef(event), err)
		default:
			return nil
		}
	}
}

// followFrom asks the member, which owns the event, for the event's facts, unless the member has agreed to send
// them already. If that fails, the source stays noted, because another call may be waiting for the member's answer at
// the same time. A source without that consent does not count as followed, so the next call asks again. If maxFollowed
// sources are noted, one of them is given up.
func (n *Node) followFrom(ctx context.Context, event int64, member string) error {
	if from, known := n.feeds.sources.Load(event); known && from.member == member && from.sure.Load() {
		return nil
	}
	if n.feeds.sources.Size() >= maxFollowed {
		n.feeds.dropOne()
	}
	// The source is noted first, so that a link that breaks from here on is noticed.
	from, _ := n.feeds.sources.Compute(event, func(now *source, known bool) (*source, xsync.ComputeOp) {
		if known && now.member == member {
			return now, xsync.CancelOp
		}
		return &source{member: member}, xsync.UpdateOp
	})
	peer, ok := n.peers.Load(member)
	if !ok {
		return errDown
	}
	if err := peer.followEvent(ctx, event); err != nil {
		return err
	}
	from.sure.Store(true)
	return nil
}

// Observe takes a batch that this node has committed. It notes how far the batch's writer has come (own), shows the
// batch to this node's own readers, and queues the facts of followed events for the nodes that follow them. It never
// blocks, because the lane waits for it.
func (n *Node) Observe(b *journal.Batch) {
	n.own.noteBatch(b.Writer, b.Seq)
	n.observeOwned(b)
	if n.feeds.readers.Size() == 0 {
		return
	}
	for i := range b.Records {
		r := &b.Records[i]
		if !isFollowed(r.Ref.Kind) {
			continue
		}
		readers, _ := n.feeds.readers.Load(r.Ref.Home)
		// The frame is built by the writing goroutine of each link. The record is shared among them, and never
		// changed.
		for _, in := range readers {
			in.queueFrame(func(w *wire.Writer) {
				w.BeginFrame(wire.FrameFacts)
				w.AppendRef(r.Ref)
				w.AppendNumber(r.Stream)
				w.AppendNumber(r.First)
				w.AppendNumber(r.Last)
				w.AppendBytes(r.Bytes)
				w.EndFrame()
			})
		}
	}
}

// observeOwned shows this node's own readers a batch that the node has committed. It leaves out events that another node
// owns by now: their readers have been told that they may have missed facts, and follow the new owner.
func (n *Node) observeOwned(b *journal.Batch) {
	p := n.placement.Load()
	moved := func(r journal.Record) bool { return !p.ownsHome(r.Ref.Home) }
	if slices.ContainsFunc(b.Records, moved) {
		b = &journal.Batch{Writer: b.Writer, Seq: b.Seq, Records: slices.DeleteFunc(slices.Clone(b.Records), moved)}
	}
	n.cfg.Observe(b)
}

// comeFrom reports whether a member is the one whose facts of an event this node follows.
func (f *feeds) comeFrom(event int64, member string) bool {
	source, followed := f.sources.Load(event)
	return followed && source.member == member
}

// noteFollower notes that another node follows an event of ours.
func (f *feeds) noteFollower(in *inbound, event int64) {
	f.readers.Compute(event, func(old []*inbound, _ bool) ([]*inbound, xsync.ComputeOp) {
		if slices.Contains(old, in) {
			return old, xsync.CancelOp
		}
		return append(slices.Clone(old), in), xsync.UpdateOp
	})
}

// forgetLink forgets that the node at the other end of a link follows anything. That node notices the break too, and
// follows again.
func (f *feeds) forgetLink(in *inbound) {
	for event := range f.readers.All() {
		f.readers.Compute(event, func(old []*inbound, _ bool) ([]*inbound, xsync.ComputeOp) {
			rest := slices.DeleteFunc(slices.Clone(old), func(o *inbound) bool { return o == in })
			if len(rest) == 0 {
				return nil, xsync.DeleteOp
			}
			return rest, xsync.UpdateOp
		})
	}
}

// endFeedsFrom ends the feeds from a member, and tells this node's readers that they may have missed facts.
func (f *feeds) endFeedsFrom(member string) {
	for event, source := range f.sources.All() {
		if source.member == member {
			f.sources.Delete(event)
		}
	}
	p := f.n.placement.Load()
	f.tellMissed(p, p)
}

// endMovedFeeds ends the feeds of events that have another owner now, and tells this node's readers that they may have
// missed facts.
func (f *feeds) endMovedFeeds(old, now *placed) {
	for event := range f.sources.All() {
		f.endIfMoved(event, now)
	}
	f.tellMissed(old, now)
}

// endIfMoved ends the feed of an event if its source does not own the event by a placement.
func (f *feeds) endIfMoved(event int64, now *placed) {
	f.sources.Compute(event, func(from *source, known bool) (*source, xsync.ComputeOp) {
		if !known || !from.hasMoved(event, now) {
			return from, xsync.CancelOp
		}
		return nil, xsync.DeleteOp
	})
}

// endFeed ends the feed of an event from a member because a fact of the event could not be read, and tells this node's
// readers that they may have missed facts.
func (f *feeds) endFeed(event int64, member string) {
	f.sources.Compute(event, func(from *source, known bool) (*source, xsync.ComputeOp) {
		if !known || from.member != member {
			return from, xsync.CancelOp
		}
		return nil, xsync.DeleteOp
	})
	p := f.n.placement.Load()
	f.tellMissed(p, p)
}

// tellMissed tells the node's readers that they may have missed facts, and how to find out of
// which events they have missed none.
func (f *feeds) tellMissed(old, now *placed) {
	f.n.cfg.Missed(func(event int64) bool {
		if old.ownsHome(event) && now.ownsHome(event) {
			return true
		}
		source, followed := f.sources.Load(event)
		return followed && source.sure.Load()
	})
}

// dropOne ends the feed of one event, to make room for another, and tells this node's readers that they may have missed
// facts.
func (f *feeds) dropOne() {
	for event := range f.sources.All() {
		f.sources.Delete(event)
		break
	}
	p := f.n.placement.Load()
	f.tellMissed(p, p)
}

package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/cluster/activation"
	"boxoffice/cluster/wire"
	"boxoffice/engine"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/panics"
)

// peer is the connection to another member: one link, which is made as soon as the member is on the
// list. It takes our commands there, and brings back their replies and the facts that we follow.
// When the link breaks, everybody who waits for a reply is told at once.
type peer struct {
	n      *Node
	member members.Member
	cancel context.CancelFunc
	load   atomic.Int64 // how many calls have no answer yet

	serving sync.WaitGroup // the goroutines of its links

	mu      sync.Mutex
	link    *link  // the working link; nil while there is none
	by      string // id of the member that relays the link; "": nobody does
	last    int64  // number of the last call
	pending map[int64]sentCall
}

// sentCall is a call that waits for its answer, and the link that it was sent on.
type sentCall struct {
	call *activation.Call
	link *link
}

// errDown is returned for a command that was not sent, because there is no link.
var errDown = errors.New("cluster: no link to the member")

// connectTo starts a goroutine that keeps a link to the member until the peer is cancelled.
func (n *Node) connectTo(m members.Member) *peer {
	ctx, cancel := context.WithCancel(n.ctx)
	p := &peer{n: n, member: m, cancel: cancel, pending: make(map[int64]sentCall)}
	n.wg.Go(func() { panics.Keep(ctx, n.cfg.Log, "link to a node", func() { p.run(ctx) }) })
	return p
}

// run keeps the link up until the member is gone (ctx). After a broken link it connects again, directly or by way of
// another member (findWay), with pauses that double up to redialLast. It replaces a relayed link as soon as a straight
// one works. When a link ends, the feeds of facts from the member end too.
func (p *peer) run(ctx context.Context) {
	defer p.serving.Wait()
	pause := redialFirst
	var warned time.Time
	var next way // the link to be served next, if there is one
	for round := 0; ctx.Err() == nil; round++ {
		w, err := next, error(nil)
		if w.link == nil {
			w, err = p.findWay(ctx, round)
		}
		if err == nil {
			pause, round = redialFirst, -1
			next = p.serveLink(ctx, w)
			p.n.feeds.endFeedsFrom(p.member.ID)
			if next.link != nil {
				continue
			}
			err = w.link.err
		}
		if ctx.Err() != nil {
			break
		}
		level := slog.LevelDebug
		if now := time.Now(); now.Sub(warned) > warnEvery {
			level, warned = slog.LevelWarn, now
		}
		p.n.cfg.Log.LogAttrs(ctx, level, "link down", slog.String("member", p.member.ID), slog.Any("error", err))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, redialLast)
	}
	if next.link != nil {
		next.link.breakLink(ctx.Err())
		p.failCalls(next.link)
	}
}

// serveLink uses a link until it breaks, or until a link that a third member relays is not needed any more. In
// that case it returns the straight way, over which new calls go already.
func (p *peer) serveLink(ctx context.Context, w way) (straight way) {
	p.mu.Lock()
	p.link, p.by = w.link, w.by
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	ended, found := make(chan struct{}), make(chan way)
	p.serving.Go(func() {
		defer cancel()
		defer close(ended)
		p.useLink(ctx, w)
	})
	if w.by != "" {
		p.serving.Go(func() { w.link.guardLoop(p.n.cfg.Log, func() { p.findStraight(ctx, found) }) })
	}
	select {
	case <-ended:
	case straight = <-found:
		p.mu.Lock()
		p.link, p.by = straight.link, ""
		p.mu.Unlock()
		p.serving.Go(func() { p.drainLink(ctx, w.link) })
	}
	return straight
}

// useLink reads and writes a link until it breaks, or ctx ends. Then it fails the calls that were sent on it.
func (p *peer) useLink(ctx context.Context, w way) {
	l, log := w.link, p.n.cfg.Log
	stop := context.AfterFunc(ctx, func() { l.breakLink(ctx.Err()) })
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { l.guardLoop(log, func() { l.write(func(*wire.Writer) {}) }) })
	l.guardLoop(log, func() {
		l.read(w.in, func(kind byte, r *wire.Reader) error { return p.handleFrame(l, kind, r) })
	})
	wg.Wait()
	p.failCalls(l)
}

// failCalls answers the calls that were sent on a broken link with ErrUnavailable. They may or may not have been carried
// out. If the link is the working one, there is none from then on.
func (p *peer) failCalls(l *link) {
	p.mu.Lock()
	if p.link == l {
		p.link, p.by = nil, ""
	}
	var waiting []*activation.Call
	for number, sent := range p.pending {
		if sent.link == l {
			waiting = append(waiting, sent.call)
			delete(p.pending, number)
		}
	}
	p.mu.Unlock()
	// Callers are told without the lock, because a caller may send the next call at once.
	for _, c := range waiting {
		c.Finish(nil, activation.ErrUnavailable)
	}
}

// call sends a frame that is answered, and gives it the call's number. The call is noted before its frame is
// queued, because the answer could otherwise come before the note. It gives up when ctx ends or shut is closed. It
// sends nothing if too many calls wait (OVERLOADED) or there is no link (errDown).
func (p *peer) call(ctx context.Context, shut <-chan struct{}, cmd engine.Command, frame func(w *wire.Writer, number int64)) (engine.Reply, error) {
	if p.load.Load() >= p.n.cfg.MaxInFlight {
		return nil, &engine.Refusal{Code: engine.Overloaded}
	}
	p.mu.Lock()
	l := p.link
	if l == nil {
		p.mu.Unlock()
		// nothing was sent, so the caller may send the command to another node
		return nil, errDown
	}
	c := activation.NewCall(cmd, &p.load)
	p.last++
	number := p.last
	p.pending[number] = sentCall{c, l}
	p.mu.Unlock()
	l.queueFrame(func(w *wire.Writer) { frame(w, number) }) // if the link refuses the frame it ends, and so does the call
	return c.Wait(ctx, shut)
}

// ask makes the member's actor carry a command out, and returns its reply. The actor drops the command if its turn
// comes after ctx's deadline or, if ctx has none, after maxPatience.
func (p *peer) ask(ctx context.Context, to engine.Ref, cmd engine.Command) (engine.Reply, error) {
	left := maxPatience
	if at, ok := ctx.Deadline(); ok {
		left = time.Until(at)
	}
	return p.call(ctx, p.n.cfg.Shut(to.Home), cmd, func(w *wire.Writer, number int64) {
		w.BeginFrame(wire.FrameAsk)
		w.AppendNumber(number)
		w.AppendNumber(left.Milliseconds())
		w.AppendRef(to)
		if err := w.AppendMessage(cmd); err != nil {
			w.UndoFrame()
			p.answerCall(number, engine.Refuse(engine.Internal, nil), nil)
			p.n.cfg.Log.Error("command not sent", slog.Any("error", err))
			return
		}
		w.EndFrame()
	})
}

// tell sends a command without waiting for a reply, and reports whether a link took it.
// The frame is built later, by the link's writer. So an error of encoding can only be logged.
func (p *peer) tell(to engine.Ref, cmd engine.Command) bool {
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	return l != nil && l.queueFrame(func(w *wire.Writer) {
		w.BeginFrame(wire.FrameTell)
		w.AppendRef(to)
		if err := w.AppendMessage(cmd); err != nil {
			w.UndoFrame()
			p.n.cfg.Log.Error("command not sent", slog.Any("error", err))
			return
		}
		w.EndFrame()
	})
}

// askToYield makes the member let go of an actor whose stream we are about to claim.
func (p *peer) askToYield(ctx context.Context, ref engine.Ref) error {
	_, err := p.call(ctx, nil, nil, func(w *wire.Writer, number int64) {
		w.BeginFrame(wire.FrameYield)
		w.AppendNumber(number)
		w.AppendRef(ref)
		w.EndFrame()
	})
	return err
}

// followEvent makes the member send an event's facts from now on.
func (p *peer) followEvent(ctx context.Context, event int64) error {
	_, err := p.call(ctx, nil, nil, func(w *wire.Writer, number int64) {
		w.BeginFrame(wire.FrameFollow)
		w.AppendNumber(number)
		w.AppendNumber(event)
		w.EndFrame()
	})
	return err
}

// handleFrame processes a frame from the member: the answer to a call, news of batches and positions of the journal, or
// the facts of an event that this node follows. Facts are dropped if they come late: over a link that is no longer used,
// or from a member that no longer has the event. Facts that can't be decoded, such as those of a newer node, end the
// event's feed, so that its readers ask the actor again. It ignores frames that only a newer node knows.
func (p *peer) handleFrame(from *link, kind byte, r *wire.Reader) error {
	switch kind {
	case wire.FrameReply:
		return p.readReply(r)
	case wire.FrameCommitted:
		p.n.heard.noteBatch(int32(r.Number()), r.Number()) //nolint:gosec // as it was sent
	case wire.FramePositions:
		number, all := r.Number(), make(positions)
		for r.HasMore() {
			all[int32(r.Number())] = r.Number() //nolint:gosec // as it was sent
		}
		if r.Err() != nil {
			return r.Err()
		}
		p.answerCall(number, all, nil)
	case wire.FrameFacts:
		record := journal.Record{Ref: r.Ref(), Stream: r.Number(), First: r.Number(), Last: r.Number()}
		record.Bytes = r.Bytes()
		if r.Err() != nil {
			return r.Err()
		}
		if !p.n.feeds.comeFrom(record.Ref.Home, p.member.ID) || !p.usesLink(from) {
			return nil // the facts come late, from the event's former owner or over a former link
		}
		var err error
		if record.Facts, err = follower.Facts(&record); err != nil {
			p.n.cfg.Log.Warn("facts not understood", slog.String("from", p.member.ID), slog.String("actor", record.Ref.Name()), slog.Any("error", err))
			p.n.feeds.endFeed(record.Ref.Home, p.member.ID)
			return nil
		}
		record.Bytes = nil // they belong to the frame
		p.n.cfg.Observe(&journal.Batch{Records: []journal.Record{record}})
	}
	return nil // ignore kinds of frames that only a newer node knows
}

// usesLink reports whether new calls to the member go over a link.
func (p *peer) usesLink(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link == l
}

// readReply hands the outcome of a call to its caller. A reply that this node cannot read is the
// caller's error and not the link's: other calls use the same link.
func (p *peer) readReply(r *wire.Reader) error {
	number, outcome := r.Number(), r.Byte()
	if r.Err() != nil {
		return r.Err()
	}
	var reply engine.Reply
	var err error
	switch outcome {
	case wire.OutcomeReply:
		reply, err = r.Message()
	case wire.OutcomeRefusal:
		reply, err = r.Refusal()
	case wire.OutcomeMoved:
		err = activation.ErrMoved
	case wire.OutcomeDone:
	default:
		err = activation.ErrUnavailable
	}
	p.answerCall(number, reply, err)
	return nil
}

// answerCall finishes the call with the number. There is no such call if the link broke before and failed it.
func (p *peer) answerCall(number int64, reply engine.Reply, err error) {
	p.mu.Lock()
	sent, waits := p.pending[number]
	delete(p.pending, number)
	p.mu.Unlock()
	if waits {
		sent.call.Finish(reply, err)
	}
}

package cluster

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/cluster/activation"
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

	straight way // a link that is to be served next, if there is one; only for the peer's own goroutine and leaveRelay

	mu      sync.Mutex
	link    *link  // the working link; nil while there is none
	by      string // id of the member that relays the link; "": nobody does
	last    int64  // number of the last call
	pending map[int64]*activation.Call
}

// errDown is returned for a command that was not sent, because there is no link.
var errDown = errors.New("cluster: no link to the member")

// connectTo starts a goroutine that keeps a link to the member until the peer is cancelled.
func (n *Node) connectTo(m members.Member) *peer {
	ctx, cancel := context.WithCancel(n.ctx)
	p := &peer{n: n, member: m, cancel: cancel, pending: make(map[int64]*activation.Call)}
	n.wg.Go(func() { panics.Keep(ctx, n.cfg.Log, "link to a node", func() { p.run(ctx) }) })
	return p
}

// run keeps the link up until the member is gone.
func (p *peer) run(ctx context.Context) {
	pause := redialFirst
	var warned time.Time
	for round := 0; ctx.Err() == nil; round++ {
		w, err := p.findWay(ctx, round)
		if err == nil {
			pause, round = redialFirst, -1
			p.serveLink(ctx, w)
			p.n.feeds.endFeedsFrom(p.member.ID)
			if err = w.link.err; errors.Is(err, errStraight) {
				continue
			}
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
	if p.straight.link != nil {
		p.straight.link.breakLink(ctx.Err())
	}
}

// serveLink uses a link until it breaks.
func (p *peer) serveLink(ctx context.Context, way way) {
	l := way.link
	p.mu.Lock()
	p.link, p.by = l, way.by
	p.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { l.breakLink(ctx.Err()) })
	defer stop()
	var wg sync.WaitGroup
	log := p.n.cfg.Log
	wg.Go(func() { l.guardLoop(log, func() { l.write(func(*writer) {}) }) })
	served, cancel := context.WithCancel(ctx)
	if way.by != "" {
		wg.Go(func() { l.guardLoop(log, func() { p.leaveRelay(served, l) }) })
	}
	l.guardLoop(log, func() { l.read(way.in, p.handleFrame) })
	cancel()
	wg.Wait()
	p.mu.Lock()
	p.link = nil
	waiting := p.pending
	p.pending = make(map[int64]*activation.Call)
	p.mu.Unlock()
	for _, c := range waiting {
		c.Finish(nil, activation.ErrUnavailable) // it may or may not have been carried out
	}
}

// call sends a frame that is answered, and gives it the call's number. It gives up when shut is closed.
func (p *peer) call(ctx context.Context, shut <-chan struct{}, cmd engine.Command, frame func(w *writer, number int64)) (engine.Reply, error) {
	if p.load.Load() >= p.n.cfg.MaxInFlight {
		return nil, &engine.Refusal{Code: engine.Overloaded}
	}
	p.mu.Lock()
	l := p.link
	if l == nil {
		p.mu.Unlock()
		return nil, errDown
	}
	c := activation.NewCall(cmd, &p.load)
	p.last++
	number := p.last
	p.pending[number] = c
	p.mu.Unlock()
	l.queueFrame(func(w *writer) { frame(w, number) }) // if the link refuses the frame it ends, and so does the call
	return c.Wait(ctx, shut)
}

// ask makes the member's actor carry a command out.
func (p *peer) ask(ctx context.Context, to engine.Ref, cmd engine.Command) (engine.Reply, error) {
	left := maxPatience
	if at, ok := ctx.Deadline(); ok {
		left = time.Until(at)
	}
	return p.call(ctx, p.n.cfg.Shut(to.Home), cmd, func(w *writer, number int64) {
		w.beginFrame(frameAsk)
		w.number(number)
		w.number(left.Milliseconds())
		w.ref(to)
		if err := w.message(cmd); err != nil {
			w.undoFrame()
			p.answerCall(number, engine.Refuse(engine.Internal, nil), nil)
			p.n.cfg.Log.Error("command not sent", slog.Any("error", err))
			return
		}
		w.endFrame()
	})
}

// tell sends a command without waiting for a reply, and reports whether there was a link.
func (p *peer) tell(to engine.Ref, cmd engine.Command) bool {
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	return l != nil && l.queueFrame(func(w *writer) {
		w.beginFrame(frameTell)
		w.ref(to)
		if err := w.message(cmd); err != nil {
			w.undoFrame()
			p.n.cfg.Log.Error("command not sent", slog.Any("error", err))
			return
		}
		w.endFrame()
	})
}

// askToYield makes the member let go of an actor whose stream we are about to claim.
func (p *peer) askToYield(ctx context.Context, ref engine.Ref) error {
	_, err := p.call(ctx, nil, nil, func(w *writer, number int64) {
		w.beginFrame(frameYield)
		w.number(number)
		w.ref(ref)
		w.endFrame()
	})
	return err
}

// followEvent makes the member send an event's facts from now on.
func (p *peer) followEvent(ctx context.Context, event int64) error {
	_, err := p.call(ctx, nil, nil, func(w *writer, number int64) {
		w.beginFrame(frameFollow)
		w.number(number)
		w.number(event)
		w.endFrame()
	})
	return err
}

// handleFrame processes a frame from the member.
func (p *peer) handleFrame(kind byte, r *reader) error {
	switch kind {
	case frameReply:
		return p.readReply(r)
	case frameCommitted:
		p.n.heard.noteBatch(int32(r.number()), r.number()) //nolint:gosec // as it was sent
	case framePositions:
		number, all := r.number(), make(positions)
		for r.err == nil && len(r.b) > 0 {
			all[int32(r.number())] = r.number() //nolint:gosec // as it was sent
		}
		if r.err != nil {
			return r.err
		}
		p.answerCall(number, all, nil)
	case frameFacts:
		record := journal.Record{Ref: r.ref(), Stream: r.number(), First: r.number(), Last: r.number()}
		record.Bytes = r.bytes()
		if r.err != nil {
			return r.err
		}
		var err error
		if record.Facts, err = follower.Facts(&record); err != nil {
			return err
		}
		record.Bytes = nil // they belong to the frame
		if !p.n.feeds.comeFrom(record.Ref.Home, p.member.ID) {
			return nil // its owner of before is late
		}
		p.n.cfg.Observe(&journal.Batch{Records: []journal.Record{record}})
	}
	return nil // ignore kinds of frames that only a newer node knows
}

// readReply hands the outcome of a call to its caller. A reply that this node cannot read is the
// caller's error and not the link's: other calls use the same link.
func (p *peer) readReply(r *reader) error {
	number, outcome := r.number(), r.byte()
	if r.err != nil {
		return r.err
	}
	var reply engine.Reply
	var err error
	switch outcome {
	case outcomeReply:
		reply, err = r.message()
	case outcomeRefusal:
		reply, err = r.refusal()
	case outcomeMoved:
		err = activation.ErrMoved
	case outcomeDone:
	default:
		err = activation.ErrUnavailable
	}
	p.answerCall(number, reply, err)
	return nil
}

// answerCall finishes the call with the number. There is none if the caller has given up, or if the link
// broke and the call was failed for that.
func (p *peer) answerCall(number int64, reply engine.Reply, err error) {
	p.mu.Lock()
	c := p.pending[number]
	delete(p.pending, number)
	p.mu.Unlock()
	if c != nil {
		c.Finish(reply, err)
	}
}

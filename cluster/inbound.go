package cluster

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"boxoffice/cluster/activation"
	"boxoffice/cluster/wire"
	"boxoffice/engine"
	"boxoffice/persistence/panics"
)

// maxInbound bounds the links that other nodes have opened.
const maxInbound = 1_000

// acceptLinks accepts links from other members until the listener closes, and returns when all of them have ended. It
// closes a link at once if maxInbound are open. An error of the listener that may pass is logged, and tried again
// after a pause.
func (n *Node) acceptLinks(ctx context.Context, ln net.Listener) {
	var open sync.WaitGroup
	defer open.Wait()
	slots := make(chan struct{}, maxInbound)
	for {
		conn, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			n.cfg.Log.Warn("link not accepted", slog.Any("error", err))
			select {
			case <-time.After(redialFirst): // the system may be short of file descriptors for a while
			case <-ctx.Done():
			}
			continue
		}
		// More links than maxInbound are closed at once, so that strangers can't use up the memory.
		select {
		case slots <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		open.Go(func() {
			defer func() { <-slots }()
			if err := panics.Catch(n.cfg.Log, "link from a node", func() error { return n.serveLink(ctx, conn) }); err != nil {
				n.cfg.Log.Debug("link from another node ended", slog.String("from", conn.RemoteAddr().String()), slog.Any("error", err))
			}
		})
	}
}

// inbound is a link that another member has opened. Over it come that member's commands and requests. Back go the
// answers, news of this node's batches, and the facts of the events that the member follows.
type inbound struct {
	*link
	n    *Node
	from string // id of the member at the other end
	told int64  // n.own.any when the other node was last told of n.own; only for the writing goroutine
}

// serveLink serves a connection that another node has opened, until it breaks or ctx ends. If the hello asks for it, the
// connection is relayed to another member instead. A connection whose handshake or hello fails counts as a stranger.
func (n *Node) serveLink(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if n.cfg.TLS != nil {
		c := tls.Server(conn, n.cfg.TLS)
		handshake, cancel := context.WithTimeout(ctx, dialTime)
		err := c.HandshakeContext(handshake)
		cancel()
		if err != nil {
			n.strangers.Add(1)
			return errors.Join(err, conn.Close())
		}
		conn = c
	}
	in := &inbound{link: newLink(conn), n: n}
	r := bufio.NewReaderSize(conn, linkBuffer)
	from, err := in.readHello(r, n.cfg.Self, "")
	if err == nil {
		err = in.sendHello(n.cfg.Self, "", "")
	}
	if err != nil {
		n.strangers.Add(1)
		in.breakLink(err)
		return err
	}
	if in.relayTo != "" {
		return n.relayConnection(ctx, conn, r, in.relayTo)
	}
	in.from = from
	var wg sync.WaitGroup
	wg.Go(func() { in.guardLoop(n.cfg.Log, func() { in.write(in.tellCommitted) }) })
	in.guardLoop(n.cfg.Log, func() { in.read(r, in.handleFrame) })
	wg.Wait()
	n.feeds.forgetLink(in)
	return in.err
}

// tellCommitted tells the other node on which batches of this node the replies after this frame depend. A
// caller there that waits for a reader of the journal then knows how far the reader has to come. It does
// nothing if nothing is new.
func (in *inbound) tellCommitted(w *wire.Writer) {
	own := &in.n.own
	if own.any.Load() == in.told {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	in.told = own.any.Load()
	for id, batch := range own.last {
		w.BeginFrame(wire.FrameCommitted)
		w.AppendNumber(int64(id))
		w.AppendNumber(batch)
		w.EndFrame()
	}
}

// handleFrame processes a frame from the other node: a command with or without a reply, or one of the node's own
// requests (to let go of an actor, to say what a caller has written, to send an event's facts). A tell for an actor that
// is not here is passed on later. It ignores frames and tells that only a newer node knows, and answers an ask that it
// can't decode with ErrUnavailable. It returns an error, which ends the link, for a command that is cut short.
func (in *inbound) handleFrame(kind byte, r *wire.Reader) error {
	switch kind {
	case wire.FrameAsk:
		number, left, to := r.Number(), r.Number(), r.Ref()
		cmd, err := r.Command()
		if r.Err() != nil {
			return r.Err()
		}
		if err != nil {
			in.n.cfg.Log.Warn("command not understood", slog.String("from", in.from), slog.Any("error", err))
			in.Answer(number, nil, activation.ErrUnavailable)
			return nil
		}
		in.carryOut(number, left, to, cmd)
	case wire.FrameTell:
		to := r.Ref()
		cmd, err := r.Command()
		if r.Err() != nil {
			return r.Err()
		}
		switch {
		case err != nil: // a command of a newer node
		case in.n.isHere(to):
			in.n.Tell(to, cmd)
		default: // pass the command on, but not at once: if our list of members is the older one, the command comes back
			// The command is not lost if both lists of members are wrong for a moment: it is repeated until
			// maxPatience is over.
			in.n.tellLater(to, cmd, time.Time{})
		}
	case wire.FrameYield:
		number, ref := r.Number(), r.Ref()
		if r.Err() == nil {
			in.n.run(func(ctx context.Context) {
				in.n.cedeActor(ctx, ref)
				in.Answer(number, nil, nil)
			})
		}
	case wire.FrameWrote:
		number, caller := r.Number(), r.Text()
		if r.Err() == nil {
			in.sendPositions(number, in.n.wrote.find(caller))
		}
	case wire.FrameFollow:
		number, event := r.Number(), r.Number()
		if r.Err() == nil {
			in.n.feeds.noteFollower(in, event)
			in.Answer(number, nil, nil)
		}
	}
	return nil // ignore kinds of frames that only a newer node knows
}

// carryOut hands a command to its actor. It answers with an error instead if the actor is not this node's, if the
// journal does not answer, if a limit is reached, or if this node stops. left is how many milliseconds the caller
// still waits.
func (in *inbound) carryOut(number, left int64, to engine.Ref, cmd engine.Command) {
	n := in.n
	if !n.placement.Load().ownsHome(to.Home) {
		in.Answer(number, nil, activation.ErrMoved)
		return
	}
	if isClosed(n.cfg.Shut(to.Home)) {
		in.Answer(number, nil, activation.ErrUnavailable)
		return
	}
	s, err := n.find(to)
	// The same limits hold as for a caller on this node, so that no node can fill another one's memory.
	if err == nil && (s.act.Load.Load() >= n.cfg.MaxInFlight || n.cfg.Backlog() >= n.cfg.MaxBacklog) {
		err = &engine.Refusal{Code: engine.Overloaded}
	}
	if err != nil {
		in.Answer(number, nil, err)
		return
	}
	expires := n.Now().Add(time.Duration(left) * time.Millisecond).UnixMilli()
	s.PostUserMessage(activation.NewRemoteCall(cmd, &s.act.Load, in, number, expires))
}

// Answer sends the outcome of a call back: moved, unavailable (which stands for every error but ErrMoved and a
// refusal), done (no reply), refused, or a reply. A reply that can't be encoded becomes unavailable.
func (in *inbound) Answer(number int64, reply engine.Reply, err error) {
	in.queueFrame(func(w *wire.Writer) {
		w.BeginFrame(wire.FrameReply)
		w.AppendNumber(number)
		if r, refused := errors.AsType[*engine.Refusal](err); refused {
			reply, err = r, nil
		}
		var bad error
		switch r, refused := reply.(*engine.Refusal); {
		case errors.Is(err, activation.ErrMoved):
			w.WriteByte(wire.OutcomeMoved)
		case err != nil:
			w.WriteByte(wire.OutcomeUnavailable)
		case reply == nil:
			w.WriteByte(wire.OutcomeDone)
		case refused:
			w.WriteByte(wire.OutcomeRefusal)
			bad = w.AppendRefusal(r)
		default:
			w.WriteByte(wire.OutcomeReply)
			bad = w.AppendMessage(reply)
		}
		// A reply that can't be encoded must not leave its caller waiting.
		if bad != nil {
			in.n.cfg.Log.Error("reply not sent", slog.Any("error", bad))
			w.UndoFrame()
			w.BeginFrame(wire.FrameReply)
			w.AppendNumber(number)
			w.WriteByte(wire.OutcomeUnavailable)
		}
		w.EndFrame()
	})
}

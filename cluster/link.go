package cluster

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"boxoffice/cluster/wire"
	"boxoffice/persistence/members"
	"boxoffice/persistence/panics"
)

const (
	linkQueue   = 16_384                 // frames that may wait to be written; when it is full, the link is broken
	linkBuffer  = 256 << 10              // bytes written at once, exceeded by at most one frame; also the size of the buffers that are read into
	pingEvery   = 500 * time.Millisecond // between two pings, also while other frames are sent
	silenceMax  = 2 * time.Second        // how long to wait for a frame, or for a write, before the link is broken
	silenceOld  = 3 * time.Second        // the same for a node of the release before, which pings once a second
	dialTime    = 2 * time.Second        // at most, to open a connection to a member and again to exchange hellos; also for the TLS handshake of an inbound link
	redialFirst = 50 * time.Millisecond
	redialLast  = time.Second
	warnEvery   = 10 * time.Second // how often, at most, to warn that a link is down
)

// errBacklog says that this node broke a link because the other node does not read its frames fast enough.
var errBacklog = errors.New("cluster: link too slow")

// link is one connection to another node. Anybody may queue frames. One goroutine writes them, as many as wait
// at once, and another goroutine reads.
type link struct {
	conn net.Conn
	out  chan func(*wire.Writer)
	done chan struct{} // closed when the link is broken
	once sync.Once
	err  error // why the link is broken; to be read after done is closed

	// These are what the other node has said in its hello: its revision of the protocol, and to which member
	// it wants this node to relay ("": to none).
	revision int64
	relayTo  string
}

// newLink makes a link of a connection. Nothing is read or written before the hellos.
func newLink(conn net.Conn) *link {
	return &link{conn: conn, out: make(chan func(*wire.Writer), linkQueue), done: make(chan struct{})}
}

// breakLink breaks the link. Only the first reason is kept.
func (l *link) breakLink(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.done)
		_ = l.conn.Close()
	})
}

// queueFrame queues a frame, which is built when its turn comes. It never blocks: if linkQueue frames wait already,
// because the other node reads too slowly, it breaks the link. It returns false if the link is broken.
func (l *link) queueFrame(frame func(*wire.Writer)) bool {
	select {
	case <-l.done:
		return false
	default:
	}
	select {
	case l.out <- frame:
		return true
	default:
		l.breakLink(fmt.Errorf("%w: %d frames wait", errBacklog, linkQueue))
		return false
	}
}

// write writes what is queued, and a ping every pingEvery, until the link breaks. Before it builds the frames that are
// queued together it calls before, which may put frames ahead of them.
func (l *link) write(before func(*wire.Writer)) {
	var w wire.Writer
	var frames []func(*wire.Writer)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case frame := <-l.out:
			// All frames that wait are taken together, so that a busy link makes few system calls.
			frames = l.takeQueued(append(frames[:0], frame))
			before(&w)
		case <-ping.C:
			w.BeginFrame(wire.FramePing)
			w.EndFrame()
		case <-l.done:
			return
		}
		for i, frame := range frames {
			frames[i] = nil
			frame(&w)
			if i < len(frames)-1 && w.Len() < linkBuffer {
				continue
			}
			if err := l.flushFrames(&w); err != nil {
				l.breakLink(err)
				return
			}
			if w.Cap() > 4*linkBuffer {
				w = wire.Writer{} // frees the room that a large frame such as a seat map took
			}
		}
		frames = frames[:0]
		if err := l.flushFrames(&w); err != nil {
			l.breakLink(err)
			return
		}
	}
}

// takeQueued adds the frames that are queued now to those given, without waiting, until there are linkQueue frames.
func (l *link) takeQueued(frames []func(*wire.Writer)) []func(*wire.Writer) {
	for len(frames) < linkQueue {
		select {
		case frame := <-l.out:
			frames = append(frames, frame)
		default:
			return frames
		}
	}
	return frames
}

// maxSilence returns how long the other node may be silent before the link counts as broken. It depends on how often
// a node of that release pings.
func (l *link) maxSilence() time.Duration {
	if l.revision < wire.RevisionRelay {
		return silenceOld
	}
	return silenceMax
}

// flushFrames writes the frames that have been built. It returns an error if the other node does not read them within
// maxSilence; the caller then breaks the link.
func (l *link) flushFrames(w *wire.Writer) error {
	if w.Len() == 0 {
		return nil
	}
	if err := l.conn.SetWriteDeadline(time.Now().Add(l.maxSilence())); err != nil {
		return err
	}
	_, err := l.conn.Write(w.Bytes())
	w.Reset()
	return err
}

// read hands each frame to handle until the link breaks. An error of handle breaks it, and so does a frame that is cut
// short. After handle returns, the body's memory is reused for the next frame.
func (l *link) read(in *bufio.Reader, handle func(kind byte, body *wire.Reader) error) {
	var buf []byte
	for {
		kind, body, err := l.readFrame(in, &buf, wire.MaxFrame)
		if err == nil {
			r := wire.NewReader(body)
			if err = handle(kind, r); err == nil {
				err = r.Err()
			}
		}
		if err != nil {
			l.breakLink(err)
			return
		}
	}
}

// guardLoop runs a loop of the link, such as the reader or the writer. A panic breaks only this link, which is then made
// again.
func (l *link) guardLoop(log *slog.Logger, do func()) {
	err := panics.Catch(log, "link", func() error {
		do()
		return nil
	})
	if err != nil {
		l.breakLink(err)
	}
}

// readFrame reads a frame into buf. A body of more than most bytes is an error. buf grows for a large frame, and gives
// way to a smaller buffer at the next small one. The deadline is set only where the socket will be read: most frames
// are in the buffer of in already, and each deadline costs a timer.
func (l *link) readFrame(in *bufio.Reader, buf *[]byte, most int) (kind byte, body []byte, err error) {
	// With less than a head in the buffer the next read goes to the socket.
	if in.Buffered() < wire.FrameHead {
		if err := l.conn.SetReadDeadline(time.Now().Add(l.maxSilence())); err != nil {
			return 0, nil, err
		}
	}
	var head [wire.FrameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:])) - 1
	if size < 0 || size > most {
		return 0, nil, fmt.Errorf("%w: of %d bytes", wire.ErrFrame, size)
	}
	// A buffer that once held a large frame is given up with the next small one.
	if cap(*buf) < size || cap(*buf) > 1<<20 && size < 1<<16 {
		*buf = make([]byte, size)
	}
	*buf = (*buf)[:size]
	if size > in.Buffered() {
		if err := l.conn.SetReadDeadline(time.Now().Add(l.maxSilence())); err != nil {
			return 0, nil, err
		}
	}
	_, err = io.ReadFull(in, *buf)
	return head[4], *buf, err
}

// sendHello tells the other side who we are, whom we take it for ("": anybody), and to which member it
// shall relay ("": to none).
func (l *link) sendHello(self, want, relayTo string) error {
	var w wire.Writer
	w.BeginFrame(wire.FrameHello)
	w.AppendNumber(wire.Protocol)
	w.AppendText(self)
	w.AppendText(want)
	w.AppendNumber(wire.Revision)
	if relayTo != "" {
		w.AppendText(relayTo)
	}
	w.EndFrame()
	return l.flushFrames(&w)
}

// readHello reads the other side's hello, notes its revision and to which member it wants us to relay, and returns its
// id. It returns an error unless the other side speaks our protocol, is the member want ("": anybody) and takes this
// node for self or for anybody.
func (l *link) readHello(in *bufio.Reader, self, want string) (other string, err error) {
	var buf []byte
	kind, body, err := l.readFrame(in, &buf, wire.MaxHello)
	if err != nil {
		return "", err
	}
	r := wire.NewReader(body)
	version, other, me := r.Number(), r.Text(), r.Text()
	if r.HasMore() { // a node of revision 0 sent none
		l.revision = r.Number()
	}
	if r.HasMore() {
		l.relayTo = r.Text()
	}
	switch {
	case kind != wire.FrameHello || r.Err() != nil:
		return "", wire.ErrFrame
	case version != wire.Protocol:
		return "", fmt.Errorf("cluster: %s speaks protocol %d, we %d", other, version, wire.Protocol)
	case want != "" && other != want, me != "" && me != self:
		return "", fmt.Errorf("cluster: %s answers in the place of %s", other, want)
	}
	return other, nil
}

// exchangeHellos says hello first, and reads the answer, which shows that both directions work.
func (l *link) exchangeHellos(in *bufio.Reader, self, want, relayTo string) error {
	if err := l.sendHello(self, want, relayTo); err != nil {
		return err
	}
	_, err := l.readHello(in, self, want)
	return err
}

// dialMember connects to a member, by way of relay if that is not nil, and exchanges hellos with it. It gives up when
// ctx ends.
func (n *Node) dialMember(ctx context.Context, to members.Member, relay *members.Member) (*link, *bufio.Reader, error) {
	conn, err := n.openConnection(ctx, cmp.Or(relay, &to).Link)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	l := newLink(conn)
	in := bufio.NewReaderSize(conn, linkBuffer)
	if relay != nil {
		// The relay only passes bytes on, so the hellos are exchanged with the member itself as well.
		err = l.exchangeHellos(in, n.cfg.Self, relay.ID, to.ID)
	}
	if err == nil {
		err = l.exchangeHellos(in, n.cfg.Self, to.ID, "")
	}
	if err != nil {
		err = cmp.Or(ctx.Err(), err)
		l.breakLink(err)
		if n.cfg.TLS == nil && relay == nil && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) {
			err = fmt.Errorf("it hung up, and may want TLS: %w", err)
		}
		return nil, nil, err
	}
	return l, in, nil
}

// openConnection opens a connection to a member's address for links, over TLS if the node has a TLS
// configuration. It takes dialTime at most.
func (n *Node) openConnection(ctx context.Context, to string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
	if err != nil || n.cfg.TLS == nil {
		return conn, err
	}
	cfg := n.cfg.TLS.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(to)
	}
	c := tls.Client(conn, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// committed keeps, by writer, the highest batch number that was noted. A Node has two: its own batches, and batches of
// other nodes on which replies depend.
type committed struct {
	mu   sync.Mutex
	last map[int32]int64
	any  atomic.Int64 // counts changes of last
}

// noteBatch remembers a batch unless it or a later one of the writer is known. any counts what it has remembered.
func (c *committed) noteBatch(writer int32, batch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = make(map[int32]int64)
	}
	if c.last[writer] < batch {
		c.last[writer] = batch
		c.any.Add(1)
	}
}

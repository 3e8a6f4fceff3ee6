package sse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unacknowledged is how many milliseconds a viewer's machine may leave bytes unacknowledged before
// the kernel gives the connection up. Without it, a connection whose viewer has lost its network is
// kept for a quarter of an hour.
const unacknowledged = 30_000

// writers write to all plain connections. Each connection belongs to one of a fixed number
// of shards, so a viewer costs no goroutine.
type writers struct {
	shards []*shard
	turn   atomic.Uint64
}

// shard is a goroutine with its own viewers, to which only it writes. It waits on its epoll until a viewer's
// connection takes bytes again, a viewer has left, or another goroutine has handed over work (signal). While it
// has viewers, it also wakes after beat to send keep-alives and to cut off stalled viewers.
type shard struct {
	hub    *Hub
	epoll  int
	signal int           // an eventfd, which other goroutines write to wake the shard
	beat   time.Duration // how long it waits at most while it has viewers

	mu      sync.Mutex // guards what other goroutines hand over
	woken   bool
	closed  bool
	arrived []*viewer
	changed map[*topic]struct{}

	// Only the shard's goroutine may use the fields below.
	viewers map[int]*viewer // by descriptor
	topics  map[*topic][]*viewer
	spare   map[*topic]struct{} // swapped with changed, so that serveWork makes no new map
	now     time.Duration
	items   []item
	vector  [][]byte
	written int
}

// startWriters makes all shards before it starts one, so that an error leaves no goroutine
// behind.
func startWriters(h *Hub) (*writers, error) {
	w := &writers{shards: make([]*shard, runtime.GOMAXPROCS(0))}
	for i := range w.shards {
		s, err := newShard(h)
		if err != nil {
			for _, s := range w.shards[:i] {
				s.release()
			}
			return nil, err
		}
		w.shards[i] = s
	}
	for _, s := range w.shards {
		h.running.Go(s.run)
	}
	return w, nil
}

// newShard makes a shard that does not run yet. Its beat is at most a quarter of each of the hub's time limits, so
// that the shard notices soon when one has passed.
func newShard(h *Hub) (*shard, error) {
	s := &shard{
		hub: h, beat: min(250*time.Millisecond, h.cfg.Stall/4, h.cfg.KeepAlive/4, h.cfg.Refresh/4),
		changed: map[*topic]struct{}{}, spare: map[*topic]struct{}{}, viewers: map[int]*viewer{}, topics: map[*topic][]*viewer{},
	}
	var err error
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	if s.signal, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		_ = unix.Close(s.epoll) // nothing is registered in it
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	if err := s.watchDescriptor(s.signal, unix.EPOLLIN); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// release closes the shard's own descriptors. A shard that runs calls it last, when handWork takes no more
// work, so that nobody writes to a closed signal.
func (s *shard) release() {
	_ = unix.Close(s.epoll) // nobody else uses it
	_ = unix.Close(s.signal)
}

// watchDescriptor makes the epoll report events of a descriptor.
func (s *shard) watchDescriptor(fd int, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)} //nolint:gosec // descriptors are small
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// takeViewer gives a viewer to one of the shards. It returns false if the connection has no descriptor that can
// be duplicated. It duplicates the descriptor and closes inner, so that only the shard can close the descriptor
// to which it writes. Otherwise somebody else could close it, and its number could name another client's
// connection when the shard writes.
func (w *writers) takeViewer(v *viewer, inner net.Conn) bool {
	conn, ok := inner.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	v.fd = -1
	err = raw.Control(func(fd uintptr) { v.fd, _ = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || v.fd < 0 {
		return false
	}
	_ = inner.Close()                                                                     // the other descriptor keeps the connection
	_ = unix.SetsockoptInt(v.fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unacknowledged) // other kinds of sockets do not have this option
	s := w.shards[w.turn.Add(1)%uint64(len(w.shards))]
	s.handWork(func() { s.arrived = append(s.arrived, v) })
	return true
}

// notifyTopic tells all shards that a topic has a new state, because each may have some of
// its viewers.
func (w *writers) notifyTopic(t *topic) {
	for _, s := range w.shards {
		s.handWork(func() { s.changed[t] = struct{}{} })
	}
}

// wakeShards wakes every shard, so that it notices that Hub.cut is closed and ends its streams.
func (w *writers) wakeShards() {
	for _, s := range w.shards {
		s.handWork(func() {})
	}
}

// stop ends the shards. All their viewers must have left by then.
func (w *writers) stop() {
	for _, s := range w.shards {
		s.handWork(func() { s.closed = true })
	}
}

// handWork hands work to the shard and wakes it, unless the shard has been stopped.
func (s *shard) handWork(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	work()
	if s.woken {
		return
	}
	s.woken = true
	_, _ = unix.Write(s.signal, binary.NativeEndian.AppendUint64(nil, 1)) // its counter has 64 bits, so the write never blocks
}

// run is the shard's goroutine. Without viewers it waits only for handed work; with viewers it also wakes for
// doDueWork, which it calls about once in each beat.
func (s *shard) run() {
	defer s.release()
	events := make([]unix.EpollEvent, 256)
	var next time.Duration // when doDueWork is due again
	for {
		wait := -1
		if s.now = s.hub.now(); len(s.viewers) > 0 {
			wait = int((max(0, next-s.now) + time.Millisecond - 1) / time.Millisecond)
		}
		n, err := unix.EpollWait(s.epoll, events, wait)
		if err != nil && !errors.Is(err, unix.EINTR) {
			panic(fmt.Errorf("epoll_wait: %w", err)) // happens only with wrong arguments
		}
		s.now = s.hub.now()
		for i := range max(n, 0) {
			s.handleEvent(&events[i])
		}
		if s.serveWork() {
			return
		}
		if s.now >= next {
			s.doDueWork()
			next = s.now + s.beat
		}
		if s.written > 0 {
			s.hub.metrics.bytes.Add(float64(s.written))
			s.written = 0
		}
	}
}

// handleEvent handles what epoll reports about one descriptor. A viewer that is not blocked has nothing
// waiting, so the report that it takes bytes is ignored.
func (s *shard) handleEvent(e *unix.EpollEvent) {
	if int(e.Fd) == s.signal {
		return // run calls serveWork in any case
	}
	v := s.viewers[int(e.Fd)]
	switch {
	case v == nil: // the viewer left earlier in this round
	case e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0:
		s.endStream(v)
	case v.blocked:
		v.blocked = false
		s.write(v)
	}
}

// serveWork does the work that other goroutines have handed over, and reports whether the
// shard has been stopped. It holds the lock only to take the work, so that nobody waits for
// a write.
func (s *shard) serveWork() (stopped bool) {
	s.mu.Lock()
	arrived, changed := s.arrived, s.changed
	s.arrived, s.changed = nil, s.spare
	if s.woken {
		s.woken = false
		var count [8]byte
		_, _ = unix.Read(s.signal, count[:]) // it has been written at least once
	}
	stopped = s.closed
	s.mu.Unlock()
	for _, v := range arrived {
		s.add(v)
	}
	for t := range changed {
		for _, v := range slices.Backward(s.topics[t]) { // backwards, because endStream fills a gap with the last viewer, which then has been served
			if !v.blocked {
				s.write(v)
			}
		}
	}
	clear(changed)
	s.spare = changed
	select {
	case <-s.hub.cut:
		for _, v := range s.viewers {
			s.endStream(v)
		}
	default:
	}
	return stopped
}

// add takes a viewer into the shard and sends what it lacks.
func (s *shard) add(v *viewer) {
	s.viewers[v.fd] = v
	v.index = len(s.topics[v.topic])
	s.topics[v.topic] = append(s.topics[v.topic], v)
	if err := s.watchDescriptor(v.fd, unix.EPOLLRDHUP|unix.EPOLLOUT|unix.EPOLLET); err != nil {
		s.endStream(v)
		return
	}
	s.write(v)
}

// endStream ends a viewer's stream. It moves the last viewer of the topic into the gap in the list, so that the
// cost does not depend on how many viewers the topic has.
func (s *shard) endStream(v *viewer) {
	delete(s.viewers, v.fd)
	viewers := s.topics[v.topic]
	last := len(viewers) - 1
	viewers[v.index], viewers[last].index = viewers[last], v.index
	viewers[last] = nil
	if s.topics[v.topic] = viewers[:last]; last == 0 {
		delete(s.topics, v.topic)
	}
	// Closing the descriptor does not end the watch by itself: a child process that is just being
	// started may hold the descriptor too.
	_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, v.fd, nil)
	_ = unix.Close(v.fd) // the viewer goes even if this fails
	s.hub.closeConnection(v)
}

// doDueWork does what is due at this time: it sends keep-alives and new snapshots to viewers that are not
// blocked, and cuts off blocked viewers that have stalled.
func (s *shard) doDueWork() {
	for _, v := range s.viewers {
		switch {
		case !v.blocked:
			if v.needsBeat(s.now) {
				s.write(v)
			}
		case v.isStalled(s.now):
			s.hub.metrics.cutOff.Inc()
			// The kernel must not keep the bytes that it has not sent.
			_ = unix.SetsockoptLinger(v.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
			s.endStream(v)
		}
	}
}

// write writes as much of what the viewer lacks as the connection takes without waiting. If the connection takes
// no more, it marks the viewer as blocked, until epoll reports that the connection takes bytes again.
func (s *shard) write(v *viewer) {
	st := v.topic.state.Load()
	for {
		s.items = v.appendMissing(st, s.items[:0])
		if len(s.items) == 0 {
			return
		}
		n, all, err := s.sendTo(v.fd)
		if err != nil {
			s.endStream(v)
			return
		}
		s.written += n
		v.advanceBy(s.items, n, s.now)
		if !all {
			v.blocked, v.moved = true, s.now
			return
		}
		if v.isDone() {
			s.endStream(v)
			return
		}
	}
}

// sendTo writes s.items in one system call, without waiting. It returns how many bytes the kernel took and whether
// these were all.
func (s *shard) sendTo(fd int) (n int, all bool, err error) {
	s.vector = s.vector[:0]
	size := 0
	for i := range s.items {
		s.vector = append(s.vector, s.items[i].bytes)
		size += len(s.items[i].bytes)
	}
	for {
		if len(s.vector) == 1 {
			n, err = unix.Write(fd, s.vector[0])
		} else {
			n, err = unix.Writev(fd, s.vector)
		}
		switch {
		case err == nil:
			return n, n == size, nil
		case errors.Is(err, unix.EAGAIN):
			return 0, false, nil
		case !errors.Is(err, unix.EINTR):
			return 0, false, err
		}
	}
}

package viewers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mostJoining is how many viewers connect at a time: fewer than wait in a
	// listener's queue.
	mostJoining = 256
	// beat is how often the audience looks at what time alone asks for.
	beat = 20 * time.Millisecond
	// slowBuffer is what the kernel keeps for a slow viewer, in bytes (it doubles
	// it): little, so that the service notices.
	slowBuffer = 4 << 10
	// trickle is what every second slow viewer takes in a second, in bytes. The
	// others take nothing.
	trickle = 1 << 10
)

// Audience is the viewers of one stream. Its methods may be called by any goroutine. One goroutine owns the
// connections, and hears of them by epoll: a goroutine for each of tens of thousands of viewers would cost more
// than the service.
type Audience struct {
	cfg    Config
	server unix.SockaddrInet4
	reader reader
	epoll  int
	orders chan func() // for the audience's goroutine
	stop   chan struct{}
	once   sync.Once
	done   chan struct{}

	// The goroutine's own.
	viewers []viewer
	joining int
	turn    int // whose turn it is to join next
	here    int // viewers that have a connection
	refused int64
	began   time.Time
	buffer  []byte
	trickle time.Time // when the slow ones take something next
}

// Gather starts an audience. The viewers come as fast as the service takes them; Joined waits for them. The service
// must be on IPv4 loopback, because every viewer binds an address of 127.0.0.0/8.
func Gather(cfg Config) (*Audience, error) {
	if cfg.PerAddress == 0 {
		cfg.PerAddress = 100
	}
	addr, err := netip.ParseAddrPort(cfg.Host)
	if err != nil || !addr.Addr().Is4() || !addr.Addr().IsLoopback() {
		return nil, fmt.Errorf("viewers: %s is no address of IPv4 loopback", cfg.Host)
	}
	if err := raiseOpenFileLimit(cfg.Viewers); err != nil {
		return nil, err
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("viewers: epoll_create: %w", err)
	}
	c := &Audience{
		cfg: cfg, server: unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}, epoll: epoll,
		reader: reader{stream: newStream(cfg.Seats)}, orders: make(chan func()), stop: make(chan struct{}), done: make(chan struct{}),
		viewers: make([]viewer, cfg.Viewers), buffer: make([]byte, 256<<10),
	}
	go c.run()
	return c, nil
}

// raiseOpenFileLimit raises this process's limit of open files to the most that it may have. It fails if that is
// too few for the given number of viewers.
func raiseOpenFileLimit(viewers int) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("viewers: limit of open files: %w", err)
	}
	if l.Cur = l.Max; l.Cur < uint64(viewers)+spare {
		return fmt.Errorf("viewers: %d need more open files than this process may have (ulimit -Hn: %d)", viewers, l.Max)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("viewers: limit of open files: %w", err)
	}
	return nil
}

// spare is how many files besides its viewers' a process needs.
const spare = 100

// MostViewers returns how many viewers a process may have at most besides a number of other files. It holds for
// both ends: the service needs a file for each viewer as well.
func MostViewers(others int) int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Max > 1<<30 {
		return 1 << 30
	}
	return max(int(l.Max)-spare-others, 0)
}

// Close sends all viewers away and ends the goroutine.
func (c *Audience) Close() {
	c.once.Do(func() { close(c.stop) })
	<-c.done
}

// do runs a function on the audience's goroutine, and waits for it. After Close it returns without having run the
// function.
func (c *Audience) do(order func()) {
	finished := make(chan struct{})
	select {
	case c.orders <- func() { order(); close(finished) }:
		<-finished
	case <-c.done:
	}
}

// Joined waits until all viewers have a map.
func (c *Audience) Joined(ctx context.Context) error {
	for {
		s := c.Standing()
		if s.Joined == len(c.viewers) {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("viewers: %d of %d have joined; found %v: %w", s.Joined, len(c.viewers), s.Findings, context.Cause(ctx))
		}
	}
}

// Standing returns how the audience stands. A viewer is current if it is at the newest number and in the middle of
// nothing.
func (c *Audience) Standing() Standing {
	st := Standing{Viewers: len(c.viewers)}
	c.do(func() {
		s := c.reader.stream
		st.Number, st.Refused = s.newest, c.refused
		for i := range c.viewers {
			v := &c.viewers[i]
			if v.known && v.phase == watching {
				st.Joined++
				if v.at == s.newest && v.frame == nil {
					st.Current++
				}
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		st.Skipped, st.Found, st.Findings = s.skipped, s.found, append(st.Findings, s.findings...)
	})
	return st
}

// Settle takes the shared map over updates that no viewer will see any more, because every viewer that lacked them
// got a snapshot instead. It is for a stream that has become quiet: before, such updates may still come.
func (c *Audience) Settle() {
	s := c.reader.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.early) > 0 {
		s.leapToSnapshot(time.Now())
	}
}

// View calls f with the map that all viewers share. f must be short: the audience waits for it.
func (c *Audience) View(f func(*Map)) {
	s := c.reader.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.seats)
}

// Mark notes that a seat, which nobody else touches, is about to be held. The caller calls granted when the answer
// to its request has come. Both moments are the beginnings of delays.
func (c *Audience) Mark(seat string) (granted func()) {
	m := &mark{seat: seat, asked: time.Now()}
	s := c.reader.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = append(s.marks, m)
	return func() {
		now := time.Now()
		m.granted.Store(&now)
	}
}

// Begin begins to measure.
func (c *Audience) Begin() {
	c.do(func() { c.began, c.reader.measure = time.Now(), &Measures{Asked: newDelays(), Granted: newDelays()} })
}

// End returns what was measured since Begin.
func (c *Audience) End() *Measures {
	var m *Measures
	c.do(func() {
		m, c.reader.measure = c.reader.measure, nil
		m.Span = time.Since(c.began)
	})
	return m
}

// Slow makes those viewers slow that may be slow, or lets them read again. Either way they close their connections
// and come back, because the small buffer of a slow viewer has to be set before its socket connects.
func (c *Audience) Slow(slow bool) {
	c.do(func() {
		for i := range min(c.cfg.Slow, len(c.viewers)) {
			v := &c.viewers[i]
			v.slow = slow
			c.closeViewer(v, 0)
		}
	})
}

// run is the audience's goroutine. It waits for events of connections for at most a beat, then does what is due by
// time, and then one order of another goroutine. epoll tells of an event once (edge-triggered), so each event is
// read to its end.
func (c *Audience) run() {
	defer close(c.done)
	defer c.end()
	events := make([]unix.EpollEvent, 1024)
	var next time.Time
	for {
		n, err := unix.EpollWait(c.epoll, events, int(beat/time.Millisecond))
		if err != nil && !errors.Is(err, unix.EINTR) {
			panic(fmt.Errorf("epoll_wait: %w", err)) // only of wrong arguments
		}
		for i := range max(n, 0) {
			c.reader.now = time.Now()
			c.hearEvent(int(events[i].Fd), events[i].Events)
		}
		if now := time.Now(); now.After(next) {
			c.reader.now, next = now, now.Add(beat)
			c.joinDue()
		}
		select {
		case order := <-c.orders:
			order()
		case <-c.stop:
			return
		default:
		}
	}
}

// end closes all connections and the epoll descriptor. The service hears of that as of viewers who close their
// pages.
func (c *Audience) end() {
	for i := range c.viewers {
		if v := &c.viewers[i]; v.phase != away {
			_ = unix.Close(v.fd) // it goes either way
		}
	}
	_ = unix.Close(c.epoll) // of no use to anybody else
}

// joinDue lets viewers join whose time has come, as many at a time as the service's listener takes. It also lets
// every second slow viewer read a little, once a second: the service must cope with readers that are slow as well
// as with those that stand still.
func (c *Audience) joinDue() {
	now := c.reader.now
	for range c.viewers {
		if c.joining == mostJoining || c.here == len(c.viewers) {
			break
		}
		i := c.turn
		c.turn = (c.turn + 1) % len(c.viewers)
		if v := &c.viewers[i]; v.phase == away && !now.Before(v.due) {
			if err := c.connectViewer(i); err != nil {
				c.reader.stream.find("%v", err)
				v.due = now.Add(time.Second)
			}
		}
	}
	if now.Before(c.trickle) {
		return
	}
	c.trickle = now.Add(time.Second)
	for i := 0; i < c.cfg.Slow && i < len(c.viewers); i += 2 {
		if v := &c.viewers[i]; v.slow && v.phase > joining {
			c.readViewer(i, c.buffer[:trickle], false)
		}
	}
}

// connectViewer begins to connect a viewer. It does not wait: epoll tells when the socket can be written to, which
// means that it is connected.
func (c *Audience) connectViewer(i int) (err error) {
	v := &c.viewers[i]
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd) // the error that matters is at hand
		}
	}()
	if v.slow {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, slowBuffer) // if this fails, the viewer is less slow
	}
	// The kernel chooses the port at connect, by the whole 4-tuple.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: c.addressOf(i)}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	if err := unix.Connect(fd, &c.server); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return os.NewSyscallError("connect", err)
	}
	event := unix.EpollEvent{Events: unix.EPOLLOUT | unix.EPOLLET, Fd: int32(i)} //nolint:gosec // an index, not a descriptor
	if err := unix.EpollCtl(c.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	if v.joined && c.reader.measure != nil {
		c.reader.measure.Rejoins++
	}
	v.fd, v.phase, v.joined, v.frame, v.head = fd, joining, true, nil, nil
	c.joining++
	c.here++
	return nil
}

// addressOf returns the client address of a viewer, which it shares with a few others. The addresses begin at
// 127.128.0.1, apart from the buyers' addresses, which begin at 127.1.1.1.
func (c *Audience) addressOf(i int) [4]byte {
	n := i / c.cfg.PerAddress
	return [4]byte{127, byte(128 + n/(254*254)), byte(1 + n/254%254), byte(1 + n%254)}
}

// ended are the events of a connection that the service has closed.
const ended = unix.EPOLLHUP | unix.EPOLLERR | unix.EPOLLRDHUP

// hearEvent acts on an event of a viewer's connection. A slow viewer does not read when something comes; it only
// notices when the service closes the connection.
func (c *Audience) hearEvent(i int, what uint32) {
	v := &c.viewers[i]
	switch {
	case v.phase == away:
	case what&unix.EPOLLOUT != 0 && v.phase == joining:
		c.sendRequest(i)
	case v.slow:
		if what&ended != 0 {
			c.closeViewer(v, c.drawPause())
		}
	default:
		c.readViewer(i, c.buffer, what&ended != 0)
	}
}

// sendRequest sends a viewer's request. A viewer that has a map already names the last event that it has had, so
// that the service can go on from there. A slow viewer counts as joined at once, because it does not read the
// answer.
func (c *Audience) sendRequest(i int) {
	v := &c.viewers[i]
	b := append([]byte("GET "+c.cfg.Path+" HTTP/1.1\r\nHost: "+c.cfg.Host+"\r\nAccept: text/event-stream\r\n"), "\r\n"...)
	if v.known && !v.slow { // a slow one wants a snapshot: a few updates would not fill its buffers
		b = fmt.Appendf(b[:len(b)-2], "Last-Event-ID: %s-%d\r\n\r\n", c.reader.stream.epoch, v.at)
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(i)} //nolint:gosec // an index
	if v.slow {
		event.Events = unix.EPOLLRDHUP
	}
	n, err := unix.Write(v.fd, b)
	if err == nil && n == len(b) { // an empty buffer takes it whole
		err = unix.EpollCtl(c.epoll, unix.EPOLL_CTL_MOD, v.fd, &event)
	}
	if err != nil {
		c.closeViewer(v, time.Second)
		return
	}
	if v.slow {
		c.joining--
		v.phase = watching
		v.known = false // what it has read by then is of no use when it comes back
	}
}

// readViewer reads what has come for a viewer. It stops when a read does not fill the buffer, because epoll tells
// of what comes later. If the service has closed the connection nothing more is told, so it reads to the end.
func (c *Audience) readViewer(i int, into []byte, toEnd bool) {
	v := &c.viewers[i]
	for {
		n, err := unix.Read(v.fd, into)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			c.closeViewer(v, c.drawPause())
			return
		}
		if v.slow {
			return
		}
		was := v.phase
		c.reader.counts = i >= c.cfg.Slow
		err = c.reader.read(v, into[:n])
		if errors.Is(err, errRefused) {
			c.refused++
			c.closeViewer(v, c.drawPause())
			return
		}
		if err != nil {
			c.reader.stream.find("viewer %d at %d: %v", i, v.at, err)
			c.closeViewer(v, time.Second)
			return
		}
		if was == joining && v.phase == watching {
			c.joining--
		}
		if n < len(into) && !toEnd { // all of it: epoll tells of what comes now
			return
		}
	}
}

// closeViewer closes a viewer's connection. The viewer comes back after a while.
func (c *Audience) closeViewer(v *viewer, after time.Duration) {
	if v.phase == away {
		return
	}
	if v.phase == joining {
		c.joining--
	}
	_ = unix.Close(v.fd) // it goes either way
	c.here--
	v.phase, v.due = away, time.Now().Add(after)
}

// drawPause returns how long a viewer waits before it comes back: between one and five seconds, so that those who
// lost their connections together do not return together.
func (c *Audience) drawPause() time.Duration { return time.Second + rand.N(4*time.Second) }

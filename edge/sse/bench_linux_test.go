package sse_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"

	"boxoffice/edge/sse"
)

// BenchmarkFanout shows ten updates a second to as many viewers as this process
// may have (both ends are here, so two descriptors each), alone and with 1,000
// among them that read nothing. Run it with -benchtime=100x: an iteration is an
// update.
func BenchmarkFanout(b *testing.B) {
	var files unix.Rlimit
	require.NoError(b, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	viewers := min(10_000, int(files.Cur-400)/2)
	for _, slow := range []int{0, 1000} {
		b.Run(fmt.Sprintf("viewers=%d/slow=%d", viewers, slow), func(b *testing.B) { fanout(b, viewers, slow) })
	}
}

func fanout(b *testing.B, viewers, slow int) {
	hub, err := sse.New(sse.Config{MaxPerAddress: viewers, Metrics: prometheus.NewRegistry()})
	require.NoError(b, err)
	ticks := &ticks{}
	addr, stop := fanoutServer(b, hub, ticks)
	defer stop()
	r := newReaders(b, 300*viewers)
	defer r.close()
	before := resident(b)
	for i := range viewers {
		r.dial(b, addr, i >= slow)
	}
	r.await(b, viewers-slow)
	after := resident(b)
	began := processorTime(b)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	updates := 0
	for b.Loop() {
		<-tick.C
		ticks.changed()
		updates++
	}
	r.await(b, (viewers-slow)*(1+updates))
	used := processorTime(b) - began
	require.NoError(b, hub.Stop(b.Context()))
	r.close()
	latencies := r.latencies[viewers-slow:] // not of the snapshots
	slices.Sort(latencies)
	at := func(q float64) float64 { return latencies[int(q*float64(len(latencies)-1))] }
	b.ReportMetric(at(.5), "p50-ms")
	b.ReportMetric(at(.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
	b.ReportMetric(float64(after.heap-before.heap)/float64(viewers), "heap+stack-B/viewer")
	b.ReportMetric(float64(after.rss-before.rss)/float64(viewers), "rss-B/viewer")
	b.ReportMetric(float64(used.Microseconds())/float64(updates*viewers), "cpu-us/frame-both-ends")
	b.ReportMetric(0, "ns/op")
}

// ticks is a source with an update whenever it is asked, which says when it was
// made.
type ticks struct {
	changed func()
}

func (s *ticks) open(_ context.Context, changed func()) (sse.Source, error) {
	s.changed = changed
	return s, nil
}

func (s *ticks) Take(whole bool) (update, snapshot []sse.Event) {
	e := []sse.Event{{Name: "seat_update", Data: fmt.Appendf(nil, `{"t":%d,"held":["%s"]}`, time.Now().UnixNano(), strings.Repeat("A-12-34 ", 22))}}
	if whole {
		return nil, e
	}
	return e, nil
}

func (s *ticks) Close() {}

func fanoutServer(b *testing.B, hub *sse.Hub, s *ticks) (addr *net.TCPAddr, stop func()) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := &fasthttp.Server{KeepHijackedConns: true, Handler: func(rc *fasthttp.RequestCtx) {
		err := hub.Serve(context.Background(), rc, sse.Request{Topic: sse.Topic{Name: "seats", Open: s.open}, Client: netip.IPv6Loopback()})
		if err != nil {
			rc.Error(err.Error(), fasthttp.StatusServiceUnavailable)
		}
	}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(ln)
	}()
	return ln.Addr().(*net.TCPAddr), func() {
		require.NoError(b, server.Shutdown())
		<-served
	}
}

// readers are the viewers' ends, read by one goroutine.
type readers struct {
	epoll     int
	all       []int
	events    atomic.Int64 // that have arrived
	latencies []float64    // in ms
	ended     chan struct{}
	closed    atomic.Bool
}

func newReaders(b *testing.B, events int) *readers {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	require.NoError(b, err)
	r := &readers{epoll: epoll, ended: make(chan struct{}), latencies: make([]float64, 0, events)}
	go r.run()
	return r
}

func (r *readers) dial(b *testing.B, addr *net.TCPAddr, reads bool) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(b, err)
	r.all = append(r.all, fd)
	require.NoError(b, unix.Connect(fd, &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}))
	_, err = unix.Write(fd, []byte("GET / HTTP/1.1\r\nHost: test\r\n\r\n"))
	require.NoError(b, err)
	require.NoError(b, unix.SetNonblock(fd, true))
	if reads {
		require.NoError(b, unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}))
	}
}

func (r *readers) run() {
	defer close(r.ended)
	events, buffer := make([]unix.EpollEvent, 256), make([]byte, 64<<10)
	for !r.closed.Load() {
		n, _ := unix.EpollWait(r.epoll, events, 20)
		for i := range max(n, 0) {
			n, _ := unix.Read(int(events[i].Fd), buffer)
			r.count(buffer[:max(n, 0)])
		}
	}
}

// count counts the events in what has come. They are small and come whole.
func (r *readers) count(b []byte) {
	now := time.Now().UnixNano()
	for {
		i := bytes.Index(b, []byte(`{"t":`))
		if i < 0 {
			return
		}
		b = b[i+5:]
		sent, _ := strconv.ParseInt(string(b[:bytes.IndexByte(b, ',')]), 10, 64)
		r.latencies = append(r.latencies, float64(now-sent)/1e6)
		r.events.Add(1)
	}
}

func (r *readers) await(b *testing.B, events int) {
	require.Eventually(b, func() bool { return r.events.Load() >= int64(events) }, time.Minute, 10*time.Millisecond, "%d of %d events", r.events.Load(), events)
}

func (r *readers) close() {
	if r.closed.Swap(true) {
		return
	}
	<-r.ended
	for _, fd := range append(r.all, r.epoll) {
		_ = unix.Close(fd)
	}
}

type memory struct{ heap, rss int64 }

func resident(b *testing.B) memory {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	require.NoError(b, err)
	return memory{heap: int64(m.HeapAlloc + m.StackInuse), rss: pages * int64(os.Getpagesize())}
}

func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

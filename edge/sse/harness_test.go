package sse_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"boxoffice/edge/sse"
	"boxoffice/engine"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// both runs a test over plain connections, which the shards write, and over TLS,
// where every viewer has a goroutine.
func both(t *testing.T, test func(t *testing.T, secure bool)) {
	t.Run("plain", func(t *testing.T) { t.Parallel(); test(t, false) })
	t.Run("tls", func(t *testing.T) { t.Parallel(); test(t, true) })
}

// counter is a source: a number that grows. An update says from where to where
// it grew, so that a viewer knows whether it has missed one.
type counter struct {
	padding string // of every event

	mu       sync.Mutex
	told, at int
	changed  func()
	opened   int
	closed   int
	refuse   error
}

func (c *counter) topic(name string) sse.Topic { return sse.Topic{Name: name, Open: c.open} }

func (c *counter) open(_ context.Context, changed func()) (sse.Source, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		return nil, c.refuse
	}
	c.opened++
	c.told, c.changed = c.at, changed
	return c, nil
}

// grow grows the number by one.
func (c *counter) grow() {
	c.mu.Lock()
	c.at++
	changed := c.changed
	c.mu.Unlock()
	if changed != nil {
		changed()
	}
}

func (c *counter) Take(whole bool) (update, snapshot []sse.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told < c.at {
		middle := (c.told + c.at) / 2 // an update may be several events
		if middle > c.told {
			update = append(update, c.event("update", c.told, middle))
		}
		update = append(update, c.event("update", middle, c.at))
		c.told = c.at
	}
	if whole {
		snapshot = []sse.Event{c.event("snapshot", c.at, c.at)}
	}
	return update, snapshot
}

func (c *counter) event(name string, from, to int) sse.Event {
	return sse.Event{Name: name, Data: fmt.Appendf(nil, "%d %d %s", from, to, c.padding)}
}

func (c *counter) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
}

func (c *counter) lives() (opened, closed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened, c.closed
}

// accounted is a listener that counts its connections as edge's does: in when
// accepted, out when closed, once.
type accounted struct {
	net.Listener
	open   atomic.Int64
	closed atomic.Int64
}

func (l *accounted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &accountedConn{Conn: c, listener: l}, nil
}

type accountedConn struct {
	net.Conn
	listener *accounted
	once     sync.Once
}

func (c *accountedConn) NetConn() net.Conn { return c.Conn }

func (c *accountedConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1); c.listener.closed.Add(1) })
	return c.Conn.Close()
}

// site is a server with a hub. Its paths are names of topics, each of its own
// counter: /0, /1 and so on, all others of the first.
type site struct {
	hub     *sse.Hub
	ln      *accounted
	metrics *prometheus.Registry
	client  *tls.Config // nil: plain
}

func serve(t testing.TB, secure bool, c *counter, cfg sse.Config, more ...*counter) *site {
	t.Helper()
	s := &site{metrics: prometheus.NewRegistry()}
	counters := map[string]*counter{}
	for i, c := range more {
		counters["/"+strconv.Itoa(i+1)] = c
	}
	cfg.Metrics = s.metrics
	hub, err := sse.New(cfg)
	require.NoError(t, err)
	s.hub = hub
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.ln = &accounted{Listener: ln}
	ln = s.ln
	if secure {
		var server *tls.Config
		server, s.client = certificates(t)
		ln = tls.NewListener(ln, server)
	}
	server := &fasthttp.Server{
		KeepHijackedConns: true, ReadTimeout: patience, WriteTimeout: time.Second, NoDefaultServerHeader: true,
		Handler: func(rc *fasthttp.RequestCtx) {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			client := netip.MustParseAddr("192.0.2.1")
			if name := string(rc.Request.Header.Peek("X-Client")); name != "" {
				client = netip.MustParseAddr(name)
			}
			shown := cmp.Or(counters[string(rc.Path())], c)
			err := hub.Serve(ctx, rc, sse.Request{
				Topic: shown.topic(string(rc.Path())), Client: client, LastID: string(rc.Request.Header.Peek("Last-Event-ID")),
			})
			rc.Response.Header.Set("X-Request-Id", "req_1") // as the edge does when a handler has returned
			var refusal *engine.Refusal
			switch {
			case errors.As(err, &refusal):
				rc.Error(refusal.Error(), engine.CodeTable[refusal.Code].Status)
				rc.Response.Header.Set("Retry-After", strconv.Itoa(refusal.Retry))
				rc.SetConnectionClose()
			case err != nil:
				rc.Error(err.Error(), http.StatusInternalServerError)
				rc.SetConnectionClose()
			}
		},
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(ln)
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, server.ShutdownWithContext(ctx))
		_ = ln.Close() // for a server that had not begun to serve it: Shutdown does not know its listener
		<-served
	})
	return s
}

// stop stops the hub and checks that nothing is left.
func (s *site) stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, s.hub.Stop(ctx))
	s.empty(t)
}

func (s *site) empty(t testing.TB) {
	t.Helper()
	require.Zero(t, s.metric(t, "viewers"))
	require.Zero(t, s.metric(t, "topics"))
	eventually(t, "no connection is counted any more", func() bool { return s.ln.open.Load() == 0 }) // the server's own end too
}

func (s *site) metric(t testing.TB, name string) int {
	families, err := s.metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if m := f.GetMetric()[0]; f.GetName() == "boxoffice_sse_"+name || f.GetName() == "boxoffice_sse_"+name+"_total" {
			return int(m.GetGauge().GetValue() + m.GetCounter().GetValue())
		}
	}
	require.Fail(t, "no metric", name)
	return 0
}

// eventually waits for what no signal tells of.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, patience, time.Millisecond, what)
}

func certificates(t testing.TB) (server, client *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

// stream is a viewer's side of a stream.
type stream struct {
	t      testing.TB
	conn   net.Conn
	head   *http.Response
	body   *bufio.Reader
	lastID string
	retry  string
	quiet  int // comments
	at     int // of the counter
}

// message is an event as a viewer reads it.
type message struct {
	name, id string
	from, to int
}

// dial sends the request for a stream, with more header lines if need be.
func (s *site) dial(t testing.TB, method, path string, lines ...string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.ln.Addr().String())
	require.NoError(t, err)
	if s.client != nil {
		conn = tls.Client(conn, &tls.Config{RootCAs: s.client.RootCAs, ServerName: "127.0.0.1"})
	}
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(6*patience)))
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: test\r\n%s\r\n", method, path, strings.Join(append(lines, ""), "\r\n"))
	require.NoError(t, err)
	return conn
}

// read reads the head of what was asked for.
func read(t testing.TB, conn net.Conn, method string) *stream {
	t.Helper()
	r := &stream{t: t, conn: conn}
	buffered := bufio.NewReader(conn)
	var err error
	r.head, err = http.ReadResponse(buffered, &http.Request{Method: method}) //nolint:bodyclose // it ends with its connection
	require.NoError(t, err)
	r.body = bufio.NewReader(r.head.Body)
	if r.head.Header.Get("Content-Encoding") == "gzip" && method == http.MethodGet {
		unpacked, err := gzip.NewReader(r.head.Body)
		require.NoError(t, err)
		r.body = bufio.NewReader(unpacked)
	}
	return r
}

// watch opens a stream that must be served.
func (s *site) watch(t testing.TB, path string, lines ...string) *stream {
	t.Helper()
	r := read(t, s.dial(t, http.MethodGet, path, lines...), http.MethodGet)
	require.Equal(t, http.StatusOK, r.head.StatusCode)
	return r
}

// next reads the next event. The error is that of the stream's end.
func (r *stream) next() (message, error) {
	var m message
	for {
		line, err := r.body.ReadString('\n')
		if err != nil {
			return m, err
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "":
			if m.name != "" {
				r.lastID = m.id
				return m, nil
			}
		case ":":
			r.quiet++
		case "retry":
			r.retry = value
		case "event":
			m.name = value
		case "id":
			m.id = value
		case "data":
			from, rest, _ := strings.Cut(value, " ")
			to, _, _ := strings.Cut(rest, " ")
			m.from, m.to = r.number(from), r.number(to)
		default:
			require.Failf(r.t, "not a line of a stream", "%q", line)
		}
	}
}

func (r *stream) number(s string) int {
	n, err := strconv.Atoi(s)
	require.NoError(r.t, err)
	return n
}

// must reads the next event and checks that none is missing before it.
func (r *stream) must() message {
	r.t.Helper()
	m, err := r.next()
	require.NoError(r.t, err)
	r.follow(m)
	return m
}

// follow checks that an event follows what was there.
func (r *stream) follow(m message) {
	r.t.Helper()
	if m.name == "snapshot" {
		require.GreaterOrEqual(r.t, m.to, r.at, "a snapshot never goes back")
	} else {
		require.Equal(r.t, r.at, m.from, "an update is missing or repeated")
	}
	r.at = m.to
}

// until reads to a number.
func (r *stream) until(n int) {
	r.t.Helper()
	for r.at < n {
		r.must()
	}
	require.Equal(r.t, n, r.at)
}

// end reads to the end of the stream, which must be clean.
func (r *stream) end() {
	r.t.Helper()
	for {
		m, err := r.next()
		if err != nil {
			if r.head.Header.Get("Content-Encoding") == "gzip" {
				require.ErrorIs(r.t, err, io.ErrUnexpectedEOF, "gzip without a trailer")
				return
			}
			require.ErrorIs(r.t, err, io.EOF)
			return
		}
		r.follow(m)
	}
}

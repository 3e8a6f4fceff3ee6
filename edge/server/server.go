// Package server is the node's HTTP server: the listener, the limits, the steps of a request from its bytes to a
// handler of the route table and back, and the error envelope. It knows the rows (edge/route) but not what they
// do: handlers see a route.Call and their typed request, and nothing of HTTP.
//
// The node makes one Server, starts it with a listener and stops it: Drain turns readiness off, Stop closes the
// listener, lets requests finish and returns when the serving goroutine has ended.
package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/mcp"
	"boxoffice/edge/openapi"
	"boxoffice/edge/route"
	"boxoffice/edge/server/buckets"
	"boxoffice/edge/server/form"
	"boxoffice/edge/server/socket"
	"boxoffice/edge/sse"
	"boxoffice/edge/web"
	"boxoffice/persistence/quota"
	"boxoffice/persistence/requestlog"
)

// These limits bound how long a slow or hostile client can occupy a connection, how much memory a
// request takes, and how many connections may be open.
const (
	readTimeout    = 5 * time.Second  // for a whole request, without a file: cuts slow clients off
	writeTimeout   = 10 * time.Second // for sending an answer
	idleTimeout    = 75 * time.Second // between requests; above the usual 60 s of load balancers
	headerBytes    = 8 << 10
	bodyBytes      = 8 << 20 // the largest body of a row that asks for more than route.DefaultBody
	defaultPerPeer = 4096    // open connections of one address
	defaultTotal   = 20_000  // open connections of all clients
)

// Config has what a Server works with.
type Config struct {
	Ops          []route.Op
	Env          string // live or test
	BaseURL      string // where people reach the node
	Authenticate Authenticate
	Limits       *buckets.Limits // nil: none
	// Wrote notes that a caller has written something, and ShowOwn waits until lists have what a
	// caller has written, and reports whether they have. Nil: nobody waits.
	Wrote          func(caller string)
	ShowOwn        func(ctx context.Context, caller string) bool
	Hub            *sse.Hub        // serves the operations that stream
	Replies        *Replies        // nil: no answers are kept
	Origins        []string        // browsers' origins that may call; "*": all
	PublicCache    bool            // answers to callers without credentials may be kept for a second
	HTTPS          bool            // clients use HTTPS, and are told to use nothing else
	Ready          func() error    // returns nil if requests may come, or why not
	Lacking        func() []string // the services that do not answer although requests may come; may be nil
	Full           func() bool     // whether there is no room for what requests would change; nil: never
	TrustedProxies []netip.Prefix
	UploadDir      string                            // where uploaded files are kept until their requests are answered
	MaxPerAddress  int                               // open connections of one address; 0: 4,096
	MaxConnections int                               // open connections; 0: 20,000
	Quota          *quota.Counter                    // limits how much organizations write in a day; nil: no limit
	Requests       *requestlog.Log                   // where the requests of API keys are kept; nil: nowhere
	Agents         func() (*mcp.Server, error)       // answers agents; nil: there is no interface for them
	Document       func() (*openapi.Document, error) // served with its page; nil: none
	Mailbox        fasthttp.RequestHandler           // shows captured mail to people on this machine; nil: mail is not captured
	Rush           fasthttp.RequestHandler           // starts and shows a rush of simulated buyers for people on this machine; nil: this is no demo
	OrderPage      OrderPage                         // what the pages of orders show; nil: there are none
	Shop           *Shop                             // what the pages of events and organizers show; nil: neither these nor the waiting room's page are served
	KeySet         KeySet                            // the public keys of access tokens; nil: none are served
	Log            *slog.Logger
	Metrics        *prometheus.Registry
	Now            func() time.Time // nil: time.Now
}

// Server serves a route table over HTTP.
type Server struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	other   *observers // for requests that match no operation
	router  *router.Router
	rows    map[string]fasthttp.RequestHandler // by operation id
	large   *router.Router                     // the operations whose bodies may be large
	files   *router.Router                     // the operations that take files
	bodies  meter
	packs   packs
	trouble *web.TroublePage // what people read instead of the envelope of an error; nil: there are no pages
	uploads *form.Places     // the places of the files that are being read
	server  *fasthttp.Server
	ids     idSource
	held    string // the secret of headerHeld

	base     context.Context // the parent of every call's context
	cancel   context.CancelFunc
	listener *socket.Listener
	detached sync.WaitGroup // requests that are answered outside of fasthttp's loop
	served   chan struct{}  // closed when the serving goroutine has ended
	failed   chan error
	draining atomic.Bool
}

// New makes a server of its route table. It returns an error for a table with an incomplete row, and for pages
// or a document that cannot be built. The server listens to nothing until Start.
func New(cfg Config) (*Server, error) {
	cfg.MaxPerAddress = positiveOr(cfg.MaxPerAddress, defaultPerPeer)
	cfg.MaxConnections = positiveOr(cfg.MaxConnections, defaultTotal)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, metrics: newMetrics(cfg.Metrics), ids: newIDSource(), held: rand.Text(),
		served: make(chan struct{}), failed: make(chan error, 1),
		bodies: meter{budget: bodyBudget}, uploads: form.NewPlaces(),
	}
	// A call's context comes from the server's and not from a connection's: a write that has begun is carried
	// out even if its client leaves.
	s.base, s.cancel = context.WithCancel(context.Background())
	s.other = s.metrics.observersOf("none")
	s.rows = make(map[string]fasthttp.RequestHandler, len(cfg.Ops))
	s.router, s.large, s.files = s.newRouter(), router.New(), router.New()
	s.registerOwn()
	if err := s.registerPages(); err != nil {
		return nil, err
	}
	if cfg.Document != nil {
		if err := s.registerDocument(); err != nil {
			return nil, fmt.Errorf("document: %w", err)
		}
	}
	if wrong := route.Incomplete(cfg.Ops); len(wrong) > 0 {
		return nil, fmt.Errorf("route table: %s", strings.Join(wrong, "; "))
	}
	for i := range cfg.Ops {
		s.registerRow(&cfg.Ops[i])
	}
	if cfg.Agents != nil {
		s.registerAgents()
	}
	s.server = &fasthttp.Server{
		Handler:                      s.Handle,
		ErrorHandler:                 s.answerUnreadable,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		ReadBufferSize:               headerBytes,
		MaxRequestBodySize:           route.DefaultBody,
		HeaderReceived:               s.bodyLimit,
		Concurrency:                  cfg.MaxConnections + 1, // the listener's limit is reached first
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		// detach closes hijacked connections itself, after its answer.
		KeepHijackedConns:     true,
		SecureErrorLogMessage: true,
		Logger:                quiet{cfg.Log},
	}
	return s, nil
}

// quiet passes on what fasthttp logs about connections, but leaves out the texts that it quotes. They come from
// requests that fasthttp could not read, and may be secrets.
type quiet struct{ log *slog.Logger }

// quoted matches a quoted text with its escapes, also one that is cut off before its end.
var quoted = regexp.MustCompile(`"(\\.|[^"\\])*("|$)`)

// Printf logs a message of fasthttp. With this method quiet is a fasthttp.Logger.
func (q quiet) Printf(format string, args ...any) {
	q.log.Debug("fasthttp", slog.String("text", quoted.ReplaceAllString(fmt.Sprintf(format, args...), `"…"`)))
}

// positiveOr returns n, or otherwise if n is not positive.
func positiveOr(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// Start serves the listener in a goroutine of its own until Stop. It must be called at most once, and before Stop.
func (s *Server) Start(ln net.Listener) {
	s.listener = socket.Bound(ln, socket.Limits{Total: s.cfg.MaxConnections, PerAddress: s.cfg.MaxPerAddress, Exempt: s.cfg.TrustedProxies},
		socket.Counts{Open: s.metrics.connections, TurnedAway: s.metrics.turnedAway})
	go func() {
		defer close(s.served)
		if err := s.server.Serve(s.listener); err != nil {
			s.failed <- fmt.Errorf("serve http: %w", err)
		}
	}()
}

// Failed receives an error if serving ended by itself before Stop. The channel has room for it, so nobody has to
// be listening.
func (s *Server) Failed() <-chan error { return s.failed }

// Drain makes /readyz answer 503, so that load balancers send no new requests here. Requests that come
// nevertheless are served until Stop.
func (s *Server) Drain() { s.draining.Store(true) }

// Stop closes the listener, waits for requests to finish, and returns when the server's goroutines have ended. When
// ctx ends first, the contexts of all calls are cancelled and the connections cut, and Stop returns an error.
func (s *Server) Stop(ctx context.Context) error {
	s.Drain()
	defer s.cancel()
	if s.listener == nil {
		return nil // it was never started
	}
	err := s.server.ShutdownWithContext(ctx)
	_ = s.listener.Close() // for a server that had not begun to serve the listener
	if err == nil {
		err = s.finishDetached(ctx)
	}
	if err != nil {
		s.cancel()
		s.listener.CloseAll()
		err = fmt.Errorf("stop http: %w", err)
	}
	<-s.served
	s.detached.Wait() // their connections are cut by now, if they had not ended
	return err
}

// finishDetached waits until the uploads that detach has taken away have ended, or ctx has. fasthttp's own
// shutdown does not wait for them.
func (s *Server) finishDetached(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.detached.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

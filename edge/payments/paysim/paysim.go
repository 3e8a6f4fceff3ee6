// Package paysim is a simulator of the payment providers: Paystack, under /v1
// NOWPayments and Stripe, under /v2 Mollie, under /v3 Flutterwave, and under /paypal PayPal; their APIs, their checkout page (a
// deposit's is /checkout/<pay address>) and their webhooks, with the failures of
// the real thing on demand (see the package faults). The payments package's adapters talk to
// it as to the real hosts.
//
// Its /_sim paths ask for no key: keep its port private.
//
// It serves the default run of boxoffice, `boxoffice paysim`, tests and load
// runs. Its transactions are in memory and bounded (package ledger): a restart forgets
// them. The seed, the modes and each transaction's reference decide what it does, never the order
// in which calls happen to arrive.
//
// Start serves on a listener; Stop ends the waits it imposed, lets calls under
// way finish, drops webhooks not yet sent, and returns when all its goroutines
// have. The webhook sender is one dispatcher and a few workers; everything
// else runs on the server's goroutines, under the ledger's lock, which is held for microseconds.
package paysim

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/outbox"
	"boxoffice/edge/payments/paysim/paystack"
)

// firstID keeps ids beyond 32 bits, as live ones are.
const firstID = 4_400_000_000

// Config says how to simulate. Zero values mean defaults.
type Config struct {
	SecretKey       string           // the one key that is accepted; also signs webhooks
	BaseURL         string           // as browsers reach it; http:// and the listener's address
	NOWPaymentsKey  string           // that its part accepts, which calls back to where each payment says
	NOWPaymentsSign string           // the secret of those calls
	FlutterwaveKey  string           // that its part accepts
	FlutterwaveHash string           // what its webhooks carry
	FlutterwaveURL  string           // where they go; empty: nowhere
	StripeKey       string           // that its part accepts
	StripeSecret    string           // what its webhooks are signed with
	StripeURL       string           // where they go; empty: nowhere
	MollieKey       string           // that its part accepts, which calls back to where each payment says
	PayPalKey       string           // the client's id and secret, with a colon between them, that its part accepts; also signs its webhooks
	PayPalHook      string           // the id of its webhook
	PayPalURL       string           // where that goes; empty: nowhere
	WebhookURL      string           // where Paystack's webhooks go; empty: nowhere
	Modes           faults.Modes     // of transactions without their own; nil: well-behaved
	Seed            uint64           // of everything that is left to chance
	MaxTransactions int              // kept in memory; 1,000,000 (about 500 bytes each)
	FirstID         int64            // number of the first transaction; 4,400,000,000. Nobody may have met it or a later one: checkout links are made of them
	RefundStep      time.Duration    // a refund is pending for one, processing for one; 1 s
	WebhookRetry    time.Duration    // before an unanswered webhook is sent again; 3 min, as live
	Now             func() time.Time // the clock of statuses; time.Now. Webhooks use the real one
	Log             *slog.Logger     // errors of the server itself; none
}

// withDefaults fills what a configuration leaves open.
func (c Config) withDefaults() Config {
	if c.MaxTransactions <= 0 {
		c.MaxTransactions = 1_000_000
	}
	if c.FirstID <= 0 {
		c.FirstID = firstID
	}
	if c.RefundStep <= 0 {
		c.RefundStep = time.Second
	}
	if c.WebhookRetry <= 0 {
		c.WebhookRetry = 3 * time.Minute
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}

// Sim is one simulator. Make it with New.
type Sim struct {
	cfg    Config
	dice   *faults.Dice
	calls  calls
	hooks  *hooks
	server *fasthttp.Server

	ledger *ledger.Ledger
	words  paystack.Words

	base    string // set by Start, before it serves
	stop    chan struct{}
	stopped sync.Once
	serving sync.WaitGroup
}

// sweep is how often fasthttp looks for idle workers. Its sweeper notices only
// then that the server has stopped, and is the one goroutine that Stop cannot
// wait for.
const sweep = 100 * time.Millisecond

// New makes a simulator; Start serves it.
func New(cfg Config) *Sim {
	cfg = cfg.withDefaults()
	s := &Sim{
		cfg:   cfg,
		dice:  faults.NewDice(cfg.Seed),
		words: paystack.Words{Domain: "test"},
		base:  cfg.BaseURL,
		stop:  make(chan struct{}),
	}
	if strings.HasPrefix(cfg.SecretKey, "sk_live_") {
		s.words.Domain = "live"
	}
	s.hooks = &hooks{sim: s, box: outbox.New(cfg.WebhookRetry, cfg.Log)}
	s.ledger = ledger.New(ledger.Config{
		Limit: cfg.MaxTransactions, FirstID: cfg.FirstID, Dice: s.dice, Now: cfg.Now,
		Charge: s.hooks.announceCharge, Refund: s.hooks.announceRefund,
	})
	s.SetModes(cfg.Modes)
	s.server = &fasthttp.Server{
		Name:                  "paysim",
		Handler:               s.routes(),
		ReadTimeout:           30 * time.Second,
		IdleTimeout:           75 * time.Second,
		MaxIdleWorkerDuration: sweep,
		MaxRequestBodySize:    64 << 10,
		CloseOnShutdown:       true,
		NoDefaultServerHeader: true,
		Logger:                serverLog{cfg.Log},
	}
	return s
}

// Start serves on ln until Stop, and returns once it does. It is called once.
func (s *Sim) Start(ln net.Listener) {
	if s.base == "" {
		s.base = "http://" + ln.Addr().String()
	}
	s.hooks.box.Start()
	accepting := &firstAccept{Listener: ln, called: make(chan struct{})}
	s.serving.Go(func() {
		defer accepting.tell()
		if err := s.server.Serve(accepting); err != nil {
			s.cfg.Log.Error("payment simulator stopped serving", slog.Any("error", err))
		}
	})
	// A server that is stopped before it knows its listener never stops.
	<-accepting.called
}

// firstAccept tells when a server first accepts.
type firstAccept struct {
	net.Listener
	once   sync.Once
	called chan struct{}
}

func (l *firstAccept) tell() { l.once.Do(func() { close(l.called) }) }

// Accept is for net.Listener.
func (l *firstAccept) Accept() (net.Conn, error) {
	l.tell()
	return l.Listener.Accept()
}

// Stop ends the simulator and waits for it, at most until ctx ends. It may be
// called again, and without Start.
func (s *Sim) Stop(ctx context.Context) error {
	s.stopped.Do(func() { close(s.stop) })
	s.hooks.box.Close()
	if err := s.server.ShutdownWithContext(ctx); err != nil {
		return fmt.Errorf("stop payment simulator: %w", err)
	}
	s.serving.Wait()
	return nil
}

// FreshID is a first id that no simulator started before has come to: they number fewer
// than a thousand transactions a millisecond.
func FreshID() int64 { return time.Now().UnixMilli() * 1000 }

// URL is the simulator's base address: the adapter's Account.URL.
func (s *Sim) URL() string { return s.base }

// SetModes replaces the modes of transactions without their own, at once.
func (s *Sim) SetModes(m faults.Modes) { s.ledger.SetModes(m) }

// pause waits, unless the simulator stops first.
func (s *Sim) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.stop:
	}
}

// serverLog is fasthttp's logger. Connections that clients break off are part
// of a simulator's day.
type serverLog struct{ log *slog.Logger }

// Printf is for fasthttp.Logger.
func (l serverLog) Printf(format string, args ...any) {
	l.log.Debug("payment simulator", slog.String("server", fmt.Sprintf(format, args...)))
}

// Transactions returns up to limit rows in order of id, of that status or of
// any, from the id from on. The next page starts at next; 0 ends it.
func (s *Sim) Transactions(from int64, status string, limit int) (rows []ledger.Row, next int64) {
	return s.ledger.Rows(from, status, limit)
}

// Stats is what the simulator did since it started. Money is counted over all
// transactions ever, the forgotten ones as they were when they were dropped.
// Taken while calls go on, it is no single moment's picture.
type Stats struct {
	ledger.Tally
	Transactions int64            `json:"transactions"`
	Forgotten    int64            `json:"forgotten"`
	Calls        map[string]int64 `json:"calls"`
	Webhooks     outbox.Stats     `json:"webhooks"`
	Modes        string           `json:"modes"`
}

// Stats counts everything.
func (s *Sim) Stats() Stats {
	out := Stats{Calls: s.calls.snapshot(), Webhooks: s.hooks.box.Stats(), Modes: s.ledger.ModesOf(nil).String()}
	out.Tally, out.Forgotten = s.ledger.Tally()
	for _, n := range out.Statuses {
		out.Transactions += n
	}
	return out
}

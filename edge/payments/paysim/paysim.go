// Package paysim simulates the payment providers: their APIs, their checkout pages and their webhooks, with the
// failures of the real providers on demand (see the package faults). Paystack is at the root, NOWPayments and
// Stripe under /v1, Mollie under /v2, Flutterwave under /v3 and PayPal under /paypal. The page of a payment in
// coins is /checkout/<pay address>. The adapters in edge/payments talk to the simulator as to the real hosts.
//
// Its /_sim paths ask for no key: keep its port private.
//
// The default run of boxoffice, `boxoffice paysim`, tests and load runs use it. Its transactions are in memory
// and bounded (package ledger): a restart forgets them. The seed, the modes and each transaction's reference
// decide what it does, not the order in which calls about different transactions arrive. Only the numbers and
// the references that it makes itself depend on that order.
//
// Start serves on a listener. Stop ends the waits that modes impose, lets calls that are under way finish,
// drops webhooks that are not sent yet, and returns when the goroutines of the simulator have ended. One
// dispatcher and a few workers send the webhooks; everything else runs on the server's goroutines, which hold
// the ledger's lock for microseconds at a time.
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

// firstID is the number of the first transaction. It is beyond 32 bits, as live numbers are, so that a program
// which keeps only 32 bits fails in tests.
const firstID = 4_400_000_000

// Config says how to simulate. Zero values mean defaults.
type Config struct {
	// SecretKey is the one key that Paystack's part accepts. It also signs Paystack's webhooks.
	SecretKey string
	// BaseURL is the address by which browsers reach the simulator. By default it is http:// and
	// the listener's address.
	BaseURL string
	// NOWPaymentsKey is the key that NOWPayments' part accepts. That part sends its webhooks to the
	// address that each payment names.
	NOWPaymentsKey string
	// NOWPaymentsSign is the secret that signs the webhooks of NOWPayments.
	NOWPaymentsSign string
	// FlutterwaveKey is the key that Flutterwave's part accepts.
	FlutterwaveKey string
	// FlutterwaveHash is the secret that Flutterwave's webhooks carry as it is: Flutterwave does not sign.
	FlutterwaveHash string
	// FlutterwaveURL is the address of Flutterwave's webhooks. If it is empty, none are sent.
	FlutterwaveURL string
	// StripeKey is the key that Stripe's part accepts.
	StripeKey string
	// StripeSecret signs Stripe's webhooks.
	StripeSecret string
	// StripeURL is the address of Stripe's webhooks. If it is empty, none are sent.
	StripeURL string
	// MollieKey is the key that Mollie's part accepts. That part sends its webhooks to the address
	// that each payment names.
	MollieKey string
	// PayPalKey is the client's id and secret with a colon between them. PayPal's part accepts it,
	// and it signs PayPal's webhooks.
	PayPalKey string
	// PayPalHook is the id of PayPal's webhook, which its signature covers.
	PayPalHook string
	// PayPalURL is the address of PayPal's webhooks. If it is empty, none are sent.
	PayPalURL string
	// WebhookURL is the address of Paystack's webhooks. If it is empty, none are sent.
	WebhookURL string
	// Modes are the faults of transactions that have no modes of their own. By default all goes well.
	Modes faults.Modes
	// Seed is the seed of everything that is left to chance.
	Seed uint64
	// MaxTransactions is how many transactions are kept in memory, 1,000,000 by default. Each takes about 500 bytes.
	MaxTransactions int
	// FirstID is the number of the first transaction, 4,400,000,000 by default. No shop may have
	// met this number or a later one, because checkout links are made of the numbers.
	FirstID int64
	// RefundStep is how long a refund of Paystack's part is pending, and then how long it is processing; 1 s by
	// default. Refunds of the other parts end at once. The mode "refundslow" sets the time for all parts.
	RefundStep time.Duration
	// WebhookRetry is the time before a webhook that was not answered with 200 is sent again; 3 min by default, as
	// at Paystack itself.
	WebhookRetry time.Duration
	// Now is the clock of statuses, time.Now by default. Webhooks use the real clock in any case.
	Now func() time.Time
	// Log gets the errors of the simulator itself. By default they are dropped.
	Log *slog.Logger
}

// withDefaults fills in the fields that a configuration leaves at zero.
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

	// Start sets base before the server serves, and nothing changes it afterwards.
	base string
	// Stop closes this channel. That ends the waits that modes (faults to simulate) impose.
	stop    chan struct{}
	stopped sync.Once
	serving sync.WaitGroup
}

// sweep is how often fasthttp looks for idle workers. Only then does its sweeper notice that the server has
// stopped. Stop cannot wait for that goroutine, so the interval is short.
const sweep = 100 * time.Millisecond

// New makes a simulator, with the defaults for what cfg leaves at zero; Start serves it. With a secret key that
// begins with sk_live_, Paystack's answers say that they are of the live environment, and otherwise of the test
// environment.
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

// Start begins to serve on ln, until Stop, and returns when the server accepts connections. It is called once.
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

// firstAccept is a listener that closes called when a server first waits for a connection. By then the server
// knows its listener and can be stopped.
type firstAccept struct {
	net.Listener
	once   sync.Once
	called chan struct{}
}

func (l *firstAccept) tell() { l.once.Do(func() { close(l.called) }) }

// Accept implements net.Listener.
func (l *firstAccept) Accept() (net.Conn, error) {
	l.tell()
	return l.Listener.Accept()
}

// Stop ends the simulator and waits for its goroutines, at most until ctx ends. It may be called
// more than once, and also without Start.
func (s *Sim) Stop(ctx context.Context) error {
	// The waits that modes impose end first, or the server would wait for them.
	s.stopped.Do(func() { close(s.stop) })
	s.hooks.box.Close()
	if err := s.server.ShutdownWithContext(ctx); err != nil {
		return fmt.Errorf("stop payment simulator: %w", err)
	}
	s.serving.Wait()
	return nil
}

// FreshID returns a first number that no earlier simulator has reached, if each made fewer than a
// thousand transactions in a millisecond. Checkout links are made of the numbers, so a restarted
// simulator must not use them again.
func FreshID() int64 { return time.Now().UnixMilli() * 1000 }

// URL returns the simulator's base address, which adapters get as their Account.URL.
func (s *Sim) URL() string { return s.base }

// SetModes replaces the modes of transactions without their own, at once.
func (s *Sim) SetModes(m faults.Modes) { s.ledger.SetModes(m) }

// pause waits for a duration, or until the simulator stops.
func (s *Sim) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.stop:
	}
}

// serverLog is fasthttp's logger. It logs at the level debug, because modes and clients break off
// connections all the time.
type serverLog struct{ log *slog.Logger }

// Printf implements fasthttp.Logger.
func (l serverLog) Printf(format string, args ...any) {
	l.log.Debug("payment simulator", slog.String("server", fmt.Sprintf(format, args...)))
}

// Transactions returns up to limit rows, and at most ledger.AuditPage, in the order of their ids, beginning with the
// id from. A status of "" means any. The next page begins at next, which is 0 after the last page.
func (s *Sim) Transactions(from int64, status string, limit int) (rows []ledger.Row, next int64) {
	return s.ledger.Rows(from, status, limit)
}

// Stats counts what the simulator did since it started. Money is summed over all transactions, also
// forgotten ones, as they were when they were dropped. The counts are read one after another while
// calls go on, so they are no picture of a single moment.
type Stats struct {
	ledger.Tally
	Transactions int64            `json:"transactions"`
	Forgotten    int64            `json:"forgotten"`
	Calls        map[string]int64 `json:"calls"`
	Webhooks     outbox.Stats     `json:"webhooks"`
	Modes        string           `json:"modes"`
}

// Stats returns the counts so far, and the modes of the process.
func (s *Sim) Stats() Stats {
	out := Stats{Calls: s.calls.snapshot(), Webhooks: s.hooks.box.Stats(), Modes: s.ledger.ModesOf(nil).String()}
	out.Tally, out.Forgotten = s.ledger.Tally()
	for _, n := range out.Statuses {
		out.Transactions += n
	}
	return out
}

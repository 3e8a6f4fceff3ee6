package payments_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/psp"
)

const secret = "sk_test_4f9b21c07de8a6531290"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp keeps one clock for the process.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// open returns the Paystack adapter for the address, and what it logs.
func open(t *testing.T, a psp.Account) (psp.Provider, *logBuffer) {
	t.Helper()
	a.SecretKey = psp.Secret(secret)
	logs := &logBuffer{}
	g, err := payments.Open(payments.Config{Paystack: a}, slog.New(slog.NewTextHandler(logs, nil)))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("paystack")
	require.NoError(t, err)
	return p, logs
}

// openFlutterwave returns the Flutterwave adapter for the address.
func openFlutterwave(t *testing.T, address string) psp.Provider {
	t.Helper()
	g, err := payments.Open(payments.Config{Flutterwave: psp.Account{URL: address, SecretKey: psp.Secret(secret)}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("flutterwave")
	require.NoError(t, err)
	return p
}

// openStripe returns the Stripe adapter for the address, with two secrets for its notices.
func openStripe(t *testing.T, address string) psp.Provider {
	t.Helper()
	g, err := payments.Open(payments.Config{Stripe: psp.Account{
		URL: address, SecretKey: psp.Secret(secret), NoticeSecret: psp.Secret("whsec_old, " + secret),
	}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("stripe")
	require.NoError(t, err)
	return p
}

// openMollie returns the Mollie adapter for the address, whose payments tell of themselves at hook.
func openMollie(t *testing.T, address, hook string) psp.Provider {
	t.Helper()
	g, err := payments.Open(payments.Config{Mollie: psp.Account{URL: address, SecretKey: psp.Secret(secret), NoticeURL: hook}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("mollie")
	require.NoError(t, err)
	return p
}

// openPaypal returns the PayPal adapter for the address.
func openPaypal(t *testing.T, address string) psp.Provider {
	t.Helper()
	g, err := payments.Open(payments.Config{PayPal: psp.Account{
		URL: address, SecretKey: psp.Secret("client:" + secret), NoticeSecret: "8PT597110X687430LKGECATA",
	}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err := g.Provider("paypal")
	require.NoError(t, err)
	return p
}

// paypalSignature is the signature of a notice of PayPal's, as our route joins its headers.
func paypalSignature(r *http.Request) string {
	var words []string
	for _, part := range []string{"Auth-Algo", "Cert-Url", "Transmission-Id", "Transmission-Time", "Transmission-Sig"} {
		words = append(words, r.Header.Get("Paypal-"+part))
	}
	return strings.Join(words, " ")
}

// logBuffer collects log lines from several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// simulate starts a simulator of Paystack and, each under its path, of the others.
func simulate(t *testing.T, cfg paysim.Config) *paysim.Sim {
	t.Helper()
	cfg.PayPalKey, cfg.PayPalHook = "client:"+secret, "8PT597110X687430LKGECATA"
	cfg.SecretKey, cfg.FlutterwaveKey, cfg.StripeKey, cfg.StripeSecret, cfg.MollieKey = secret, secret, secret, secret, secret
	sim := paysim.New(cfg)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	sim.Start(ln)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, sim.Stop(ctx))
	})
	return sim
}

// modes parses modes that the test wrote.
func modes(t *testing.T, text string) faults.Modes {
	t.Helper()
	m, err := faults.Parse(text)
	require.NoError(t, err)
	return m
}

// seen is a request that a scripted provider got.
type seen struct {
	method, path, auth, body string
}

// script is a provider that answers every request with the same thing, and
// remembers what it was asked.
type script struct {
	status int
	body   string
	header http.Header

	mu   sync.Mutex
	reqs []seen
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.reqs = append(s.reqs, seen{r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), string(b)})
	s.mu.Unlock()
	maps.Copy(w.Header(), s.header)
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.body)
}

func (s *script) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reqs
}

// serve starts a scripted provider.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func charge(reference string) psp.Charge {
	return psp.Charge{
		Reference: reference, Email: "ada@example.com", Amount: 30050, Currency: "NGN",
		CallbackURL: "https://tickets.example/return", At: time.Now(),
	}
}

package payments_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/psp"
	"boxoffice/persistence/persisttest"
)

// stripeMock starts Stripe's own mock, which refuses what Stripe's OpenAPI document does not describe. It
// returns its address.
func stripeMock(t *testing.T) string {
	t.Helper()
	program := persisttest.Program(t, "make bin/stripe-mock", "../../bin/stripe-mock")
	address := persisttest.Address(t)
	cmd := exec.CommandContext(t.Context(), program, "-http-addr", address)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		return err == nil && c.Close() == nil
	}, time.Minute, 20*time.Millisecond, "stripe-mock does not listen")
	return "http://" + address
}

// judge lets Stripe's mock judge each request before it goes on to the simulator, whose answers hang
// together as the mock's do not.
type judge struct {
	mock string
	next http.Handler

	mu      sync.Mutex
	asked   map[string]int // by method and path without ids
	refused []string
}

func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = j.ask(r, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	j.next.ServeHTTP(w, r)
}

func (j *judge) ask(r *http.Request, body []byte) error {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, j.mock+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = r.Header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	said, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	path := r.URL.Path
	if at := strings.LastIndexByte(path, '/'); strings.Contains(path[at:], "_") {
		path = path[:at] + "/{id}"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked[r.Method+" "+path]++
	if res.StatusCode != http.StatusOK {
		j.refused = append(j.refused, r.Method+" "+r.URL.RequestURI()+" "+string(body)+": "+string(said))
	}
	return err
}

// TestStripeMock sends every kind of request that the adapter makes to Stripe's own mock, which accepts
// it. That the mock refuses what Stripe does not know is tried too.
func TestStripeMock(t *testing.T) {
	t.Parallel()
	sim, mock := simulate(t, paysim.Config{RefundStep: time.Nanosecond}), stripeMock(t)
	behind, err := url.Parse(sim.URL())
	require.NoError(t, err)
	j := &judge{mock: mock, next: httputil.NewSingleHostReverseProxy(behind), asked: map[string]int{}}
	p := openStripe(t, serve(t, j)+"/v1")
	for _, currency := range []string{"USD", "EUR", "JPY"} {
		c := dollars("M-"+currency, "auto")
		c.Currency = currency
		begun, err := p.Begin(t.Context(), c)
		require.NoError(t, err)
		_, err = p.Verify(t.Context(), psp.Asked{Reference: c.Reference, ProviderID: begun.ProviderID})
		require.NoError(t, err)
		part := psp.RefundRequest{Key: c.Reference + "-refund", Reference: c.Reference, ProviderID: begun.ProviderID, Amount: 100, Currency: currency}
		back, err := p.Refund(t.Context(), part)
		require.NoError(t, err)
		_, err = p.RefundStatus(t.Context(), back.ID)
		require.NoError(t, err)
		require.True(t, sim.MoveDispute(c.Reference, "needs_response"))
		disputes, ok := p.(*payments.Gateway)
		require.True(t, ok)
		found, err := disputes.ListDisputes(t.Context(), "du_"+begun.ProviderID[len("cs_test_"):])
		require.NoError(t, err)
		require.Equal(t, c.Reference, found[0].Reference)
		require.True(t, sim.MoveDispute(c.Reference, "won"))
		rest := part
		rest.Key, rest.Amount = c.Reference+"-rest", 0
		_, err = p.Refund(t.Context(), rest)
		require.NoError(t, err)
	}
	require.Empty(t, j.refused)
	require.Equal(t, map[string]int{
		"POST /v1/checkout/sessions": 3, "GET /v1/checkout/sessions/{id}": 9, "POST /v1/refunds": 6, "GET /v1/refunds": 6, "GET /v1/refunds/{id}": 3, "GET /v1/disputes/{id}": 3,
	}, j.asked)

	bad, err := http.NewRequestWithContext(t.Context(), http.MethodPost, mock+"/v1/refunds", strings.NewReader("payment_intent=pi_1&colour=red"))
	require.NoError(t, err)
	bad.Header.Set("Authorization", "Bearer "+secret)
	bad.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(bad)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
}

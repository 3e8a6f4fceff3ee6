package paysim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/edge/payments/paysim"
)

const secret = "sk_test_9d1c77aa02"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp keeps one clock for the process.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		// The benchmark's client: its sweepers end by themselves, later.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"))
}

// start serves a simulator until the test ends.
func start(t testing.TB, cfg paysim.Config) *paysim.Sim {
	t.Helper()
	cfg.SecretKey = secret
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

// client talks to a simulator as a merchant, and as a browser.
type client struct {
	t    testing.TB
	base string
	http *http.Client
}

func newClient(t testing.TB, sim *paysim.Sim) *client {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	return &client{t, sim.URL(), &http.Client{
		Transport:     tr,
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   string
}

// data decodes the envelope's data.
func (a answer) data(t testing.TB) map[string]any {
	t.Helper()
	var e struct {
		Data map[string]any `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &e), a.body)
	return e.Data
}

// list decodes the envelope's data where it is a list.
func (a answer) list(t testing.TB) []map[string]any {
	t.Helper()
	var e struct {
		Data []map[string]any `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &e), a.body)
	return e.Data
}

func (c *client) do(method, path, contentType, auth, body string) answer {
	c.t.Helper()
	req, err := http.NewRequest(method, c.base+path, bytes.NewBufferString(body))
	require.NoError(c.t, err)
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.http.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return answer{resp.StatusCode, resp.Header, string(b)}
}

func (c *client) get(path string) answer {
	c.t.Helper()
	return c.do("GET", path, "", "Bearer "+secret, "")
}

func (c *client) post(path, body string) answer {
	c.t.Helper()
	return c.do("POST", path, "application/json", "Bearer "+secret, body)
}

// begin initializes a transaction and returns the path of its checkout.
func (c *client) begin(reference, modes string) string {
	c.t.Helper()
	a := c.post("/transaction/initialize?paysim="+modes,
		`{"email":"ada@example.com","amount":30050,"currency":"ZAR","reference":"`+reference+`"}`)
	require.Equal(c.t, 200, a.status, a.body)
	return "/checkout/" + a.data(c.t)["access_code"].(string)
}

// pay begins a transaction and pays it.
func (c *client) pay(reference, modes string) {
	c.t.Helper()
	a := c.do("POST", c.begin(reference, modes), "application/json", "", `{"outcome":"success"}`)
	require.Equal(c.t, 200, a.status, a.body)
}

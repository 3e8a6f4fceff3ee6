package loadtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/loadtest"
	"boxoffice/loadtest/report"
)

func TestMain(m *testing.M) {
	// The harness starts its node by running this very program.
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "paysim") {
		runFakeNode(os.Args[1])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "audit" {
		return // the fake has no journal
	}
	// Two that fasthttp leaves behind for a while.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// config is a short rush; flags as on the command line change it.
func config(t *testing.T, target string, flags ...string) loadtest.OnsaleConfig {
	t.Helper()
	var cfg loadtest.OnsaleConfig
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{
		"--target", target, "--out", t.TempDir(), "--plain",
		"--rate=200", "--duration=1s", "--shape=constant", "--tickets=600", "--think=20ms", "--clients=50", "--agree=1s",
	}, flags...))
	require.NoError(t, err)
	return cfg
}

func onsale(t *testing.T, cfg loadtest.OnsaleConfig) (*report.Report, string, error) {
	t.Helper()
	var out bytes.Buffer
	r, err := loadtest.Onsale(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	return r, out.String(), err
}

// check returns the audit's check whose name starts so.
func check(t *testing.T, r *report.Report, prefix string) report.Check {
	t.Helper()
	for _, c := range r.Audit.Checks {
		if strings.HasPrefix(c.Name, prefix) {
			return c
		}
	}
	require.Fail(t, "no such check", prefix)
	return report.Check{}
}

func TestAGoodServicePassesTheAudit(t *testing.T) {
	t.Parallel()
	s := startService(t, bugs{})
	cfg := config(t, s.url, "--duplicate=0.3", "--returning=0.2", "--cancel=0.2")
	r, out, err := onsale(t, cfg)
	require.NoError(t, err, out)

	for _, c := range r.Audit.Checks {
		require.Zero(t, c.Failed, "%+v", c)
		require.Positive(t, c.Checked, c.Name)
	}
	counts := map[string]int64{}
	for _, c := range r.Orders {
		counts[c.Name] = c.Count
	}
	require.EqualValues(t, s.places, check(t, r, "acknowledged orders are there").Checked)
	for _, name := range []string{
		"orders acknowledged", "of them free, completed", "of them paid, completed", "of them cancelled", "of them never paid",
		"orders refused", "orders sent twice at once",
	} {
		require.Positive(t, counts[name], name)
	}
	require.NotEmpty(t, r.CPU)
	require.NotEmpty(t, r.Seconds)

	var saved report.Report
	data, err := os.ReadFile(filepath.Join(cfg.Out, "report.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &saved))
	require.Equal(t, r.Offered, saved.Offered)
	require.FileExists(t, filepath.Join(cfg.Out, "report.html"))
	log, err := os.ReadFile(filepath.Join(cfg.Out, "acknowledged.jsonl"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, bytes.Count(log, []byte(`"what":"placed"`)), s.places)
	require.Contains(t, out, "orders acknowledged")
	require.Contains(t, out, "corrected")
}

func TestRetriesMakeNoSecondOrder(t *testing.T) {
	t.Parallel()
	s := startService(t, bugs{cutAfter: 7, refuse: 5})
	r, out, err := onsale(t, config(t, s.url))
	require.NoError(t, err, out)
	require.EqualValues(t, s.places, check(t, r, "acknowledged orders").Checked)
	var lost, refused int64
	for _, e := range r.Errors {
		switch e.Code {
		case "connection":
			lost += e.Count
		case "OVERLOADED":
			refused += e.Count
		}
	}
	require.Positive(t, lost)
	require.Positive(t, refused)
}

func TestTheAuditFinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bugs  bugs
		check string
		text  string
	}{
		"an oversold type":           {bugs{oversell: true}, "stock", "is oversold"},
		"a lost order":               {bugs{loseOrder: 20}, "acknowledged orders are there", "is not found"},
		"a ticket given out twice":   {bugs{doubleTicket: 10}, "no ticket id or code twice", "ticket code code-of-another is in order"},
		"a missing ticket":           {bugs{shortTickets: 20}, "orders have the tickets", "is completed and has tickets"},
		"a repeat that ordered anew": {bugs{ignoreKeys: true}, "one order and one answer", "answered order order-"},
		"stock that never came back": {bugs{keepStock: true}, "stock", "are gone and orders hold"},
		"money that was not due":     {bugs{overcharge: 10}, "money", "the provider kept"},
		"an answer of 500":           {bugs{break500: 100}, "no answer is a 500", "answered 500 INTERNAL"},
		"a cancel that did not last": {bugs{uncancel: 1}, "they are as acknowledged", "was acknowledged as cancelled and is pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, c.bugs)
			r, out, err := onsale(t, config(t, s.url, "--tickets=200", "--cancel=0.2", "--duplicate=0.2"))
			require.ErrorIs(t, err, loadtest.ErrFindings)
			found := check(t, r, c.check)
			require.Positive(t, found.Failed)
			require.Contains(t, strings.Join(found.Findings, "\n"), c.text)
			require.Contains(t, out, "FOUND "+found.Name)
		})
	}
}

func TestAStallShows(t *testing.T) {
	t.Parallel()
	var once sync.Mutex
	var start time.Time
	stall := func() { // the service stands still for 300 ms, from 500 ms after the first request on
		once.Lock()
		defer once.Unlock()
		if start.IsZero() {
			start = time.Now()
		}
		if at := time.Since(start); at > 500*time.Millisecond && at < 800*time.Millisecond {
			<-time.After(800*time.Millisecond - at)
		}
	}
	s := startService(t, bugs{gate: stall})
	r, out, err := onsale(t, config(t, s.url, "--slo=10s"))
	require.NoError(t, err, out)
	require.Empty(t, r.Invalid)
	require.Greater(t, r.All.Corrected.P99, 200.0)
	require.Less(t, r.All.Corrected.P50, 100.0)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := startService(t, bugs{})
	_, _, err := onsale(t, config(t, "http://192.0.2.1:80"))
	require.ErrorContains(t, err, "not a loopback address")
	_, _, err = onsale(t, config(t, "https://127.0.0.1:1"))
	require.ErrorContains(t, err, "http://")
	bad := config(t, s.url)
	bad.Types = 0
	_, _, err = onsale(t, bad)
	require.ErrorContains(t, err, "tickets")
}

func TestCancelEndsTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var requests atomic.Int64
	s := startService(t, bugs{gate: func() {
		if requests.Add(1) == 30 { // the set-up has made its few and buyers are coming
			cancel()
		}
	}})
	_, err := loadtest.Onsale(ctx, config(t, s.url, "--duration=1h"), new(bytes.Buffer), slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, context.Canceled)
}

package onsale_test

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

	"boxoffice/loadtest/onsale"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/rush/rushtest"
)

func TestMain(m *testing.M) {
	rushtest.RunIfStartedAsNode()
	goleak.VerifyTestMain(m, rushtest.LeftByFasthttp()...)
}

// config returns a short rush, changed by flags as on the command line.
func config(t *testing.T, target string, flags ...string) onsale.Config {
	t.Helper()
	var cfg onsale.Config
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{
		"--target", target, "--out", t.TempDir(), "--plain",
		"--rate=200", "--duration=1s", "--shape=constant", "--tickets=600", "--think=20ms", "--clients=50", "--agree=1s",
	}, flags...))
	require.NoError(t, err)
	return cfg
}

func run(t *testing.T, cfg onsale.Config) (*report.Report, string, error) {
	t.Helper()
	var out bytes.Buffer
	r, err := onsale.Run(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	return r, out.String(), err
}

func TestAGoodServicePassesTheAudit(t *testing.T) {
	t.Parallel()
	s := rushtest.Start(t, rushtest.Bugs{})
	cfg := config(t, s.URL, "--duplicate=0.3", "--returning=0.2", "--cancel=0.2")
	r, out, err := run(t, cfg)
	require.NoError(t, err, out)

	for _, c := range r.Audit.Checks {
		require.Zero(t, c.Failed, "%+v", c)
		require.Positive(t, c.Checked, c.Name)
	}
	counts := map[string]int64{}
	for _, c := range r.Orders {
		counts[c.Name] = c.Count
	}
	require.EqualValues(t, s.Places, rushtest.FindCheck(t, r, "acknowledged orders are there").Checked)
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
	require.GreaterOrEqual(t, bytes.Count(log, []byte(`"what":"placed"`)), s.Places)
	require.Contains(t, out, "orders acknowledged")
	require.Contains(t, out, "corrected")
}

func TestRetriesMakeNoSecondOrder(t *testing.T) {
	t.Parallel()
	s := rushtest.Start(t, rushtest.Bugs{CutAfter: 7, Refuse: 5})
	r, out, err := run(t, config(t, s.URL))
	require.NoError(t, err, out)
	require.EqualValues(t, s.Places, rushtest.FindCheck(t, r, "acknowledged orders").Checked)
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
		bugs  rushtest.Bugs
		check string
		text  string
	}{
		"an oversold type":           {rushtest.Bugs{Oversell: true}, "stock", "is oversold"},
		"a lost order":               {rushtest.Bugs{LoseOrder: 20}, "acknowledged orders are there", "is not found"},
		"a ticket given out twice":   {rushtest.Bugs{DoubleTicket: 10}, "no ticket id or code twice", "ticket code code-of-another is in order"},
		"a missing ticket":           {rushtest.Bugs{ShortTickets: 20}, "orders have the tickets", "is completed and has tickets"},
		"a repeat that ordered anew": {rushtest.Bugs{IgnoreKeys: true}, "one order and one answer", "answered order order-"},
		"stock that never came back": {rushtest.Bugs{KeepStock: true}, "stock", "are gone and orders hold"},
		"money that was not due":     {rushtest.Bugs{Overcharge: 10}, "money", "the provider kept"},
		"an answer of 500":           {rushtest.Bugs{Break500: 100}, "no answer is a 500", "answered 500 INTERNAL"},
		"a cancel that did not last": {rushtest.Bugs{Uncancel: 1}, "they are as acknowledged", "was acknowledged as cancelled and is pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := rushtest.Start(t, c.bugs)
			r, out, err := run(t, config(t, s.URL, "--tickets=200", "--cancel=0.2", "--duplicate=0.2"))
			require.ErrorIs(t, err, rush.ErrFindings)
			found := rushtest.FindCheck(t, r, c.check)
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
	stall := func() { // the service stalls for 300 ms, beginning 500 ms after the first request
		once.Lock()
		defer once.Unlock()
		if start.IsZero() {
			start = time.Now()
		}
		if at := time.Since(start); at > 500*time.Millisecond && at < 800*time.Millisecond {
			<-time.After(800*time.Millisecond - at)
		}
	}
	s := rushtest.Start(t, rushtest.Bugs{Gate: stall})
	r, out, err := run(t, config(t, s.URL, "--slo=10s"))
	require.NoError(t, err, out)
	require.Empty(t, r.Invalid)
	require.Greater(t, r.All.Corrected.P99, 200.0)
	require.Less(t, r.All.Corrected.P50, r.All.Corrected.P99/2, "most did not meet the stall")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := rushtest.Start(t, rushtest.Bugs{})
	_, _, err := run(t, config(t, "http://192.0.2.1:80"))
	require.ErrorContains(t, err, "not a loopback address")
	_, _, err = run(t, config(t, "https://127.0.0.1:1"))
	require.ErrorContains(t, err, "http://")
	bad := config(t, s.URL)
	bad.Types = 0
	_, _, err = run(t, bad)
	require.ErrorContains(t, err, "tickets")
}

func TestCancelEndsTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var requests atomic.Int64
	s := rushtest.Start(t, rushtest.Bugs{Gate: func() {
		if requests.Add(1) == 30 { // the set-up has made its few requests and buyers are coming
			cancel()
		}
	}})
	_, err := onsale.Run(ctx, config(t, s.URL, "--duration=1h"), new(bytes.Buffer), slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, context.Canceled)
}

package crash_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/loadtest/crash"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/rush/rushtest"
)

func TestMain(m *testing.M) {
	rushtest.RunIfStartedAsNode()
	goleak.VerifyTestMain(m, rushtest.LeftByFasthttp()...)
}

func run(t *testing.T) (*report.Report, string, error) {
	t.Helper()
	var cfg crash.Config
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse([]string{
		"--out", t.TempDir(), "--plain", "--rate=100", "--duration=1s", "--shape=constant", "--tickets=100000", "--think=20ms",
		"--clients=50", "--agree=1s", "--patience=5s", "--node-kills=3", "--postgres-kills=2", "--within=5s", "--calm=300ms",
	})
	require.NoError(t, err)
	var out bytes.Buffer
	r, err := crash.Run(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	return r, out.String(), err
}

func TestCrashesOfADurableNode(t *testing.T) {
	r, out, err := run(t)
	require.NoError(t, err, out)
	require.Len(t, r.Outages, 5)
	kinds := map[string]int{}
	for _, o := range r.Outages {
		kinds[o.What]++
		require.Positive(t, o.WritesAgain)
		require.Less(t, o.WritesAgain, 20*time.Second) // make crash measures it on a machine that does nothing else
		require.Equal(t, o.What == "node", o.Ready > 0)
	}
	require.Equal(t, map[string]int{"node": 3, "postgres": 2}, kinds)
	require.Greater(t, rushtest.FindCheck(t, r, "acknowledged orders are there").Checked, int64(50))
	require.NotEmpty(t, r.Invalid)
	require.Contains(t, out, "writes after")
}

func TestCrashesOfAForgetfulNodeAreFound(t *testing.T) {
	t.Setenv(rushtest.Forgets, "1")
	r, _, err := run(t)
	require.ErrorIs(t, err, rush.ErrFindings)
	require.Positive(t, rushtest.FindCheck(t, r, "acknowledged orders are there").Failed)
}

package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/loadtest/seats"
)

// TestSeatsUnderLoad is a small `boxoffice loadtest seats`: shoppers compete for a theatre that is
// nearly full, a crowd watches, and the audit finds nothing. Nobody leaves seats held, because the
// shortest hold is longer than the test.
func TestSeatsUnderLoad(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.MaxViewers, c.ViewersPerAddress, c.MaxPerAddress = 200, 200, 400 })
	var cfg seats.Config
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse([]string{
		"--target", strings.TrimSuffix(s.URL, "/api/v1"), "--out", t.TempDir(), "--plain", "--sample=theatre", "--viewers=100",
		"--shoppers=60", "--duration=2s", "--think=20ms", "--free=120", "--leave=0", "--clients=60",
	})
	require.NoError(t, err)
	var out bytes.Buffer
	r, err := seats.Run(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	require.NoError(t, err, out.String())
	counts := map[string]int64{}
	for _, c := range r.Orders {
		counts[c.Name] = c.Count
	}
	for _, name := range []string{"orders acknowledged", "of them cancelled", "of them never paid", "of them paid, completed", "seats asked for and not held"} {
		require.Positive(t, counts[name], name)
	}
	for _, c := range r.Audit.Checks {
		require.Zero(t, c.Failed, "%v", c)
		if !strings.HasPrefix(c.Name, "holds that were left") {
			require.Positive(t, c.Checked, c.Name)
		}
	}
}

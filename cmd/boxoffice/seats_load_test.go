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

// TestViewersOfSeveralNodes is a small `boxoffice loadtest viewers` with two nodes and a process of
// viewers for each. Every viewer learns every update, also at the node that does not own the event.
func TestViewersOfSeveralNodes(t *testing.T) {
	allowNodes(t)
	var cfg seats.ViewersConfig
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse([]string{"--nodes=2", "--viewers=61", "--sample=theatre", "--free=100", "--rounds=1", "--phase=2s", "--out=" + t.TempDir()})
	require.NoError(t, err)
	var out bytes.Buffer
	r, err := seats.RunViewers(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	require.NoError(t, err, out.String())
	require.Equal(t, 61, r.Viewers)
	require.Len(t, r.Nodes, 2)
	for _, p := range r.Nodes {
		require.Positive(t, p.Granted.P50)
		require.Positive(t, p.Updates)
	}
	for _, text := range []string{
		"which owns the event", "(goal: 4096 at most)", "(goal: 2048 at most)", "audit: 30 of 30 viewers", "audit: 31 of 31 viewers", "audit clean",
	} {
		require.Contains(t, out.String(), text)
	}
}

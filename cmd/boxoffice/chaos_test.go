package main

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/chaos"
)

// TestChaos injures a cluster of three processes in every way, once; make chaos does so for ten
// minutes.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute")
	}
	allowNodes(t)
	var cfg chaos.Config
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse([]string{
		"--duration=40s", "--kills=2", "--stalls=1", "--crashes=1", "--partitions=1", "--cuts=1", "--joins=1", "--rolls=1",
		"--shortest=2s", "--longest=3s", "--calm=100ms", "--contest=3s", "--events=4", "--tickets=3000", "--rate=10", "--plain", "--out=" + t.TempDir(),
	})
	require.NoError(t, err)
	var out bytes.Buffer
	began := time.Now()
	r, err := chaos.Run(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	require.NoError(t, err, out.String())
	t.Logf("%v", time.Since(began))
	require.Len(t, r.Outages, 8)
	done := map[string]bool{}
	for _, o := range r.Outages {
		done[o.What] = true
	}
	require.Len(t, done, 8, "all of another kind")
	for _, c := range r.Audit.Checks {
		require.Zero(t, c.Failed, c.Name)
	}
}

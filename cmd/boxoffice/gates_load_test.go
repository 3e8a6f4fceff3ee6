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
	"boxoffice/loadtest/gates"
)

// TestGatesUnderLoad is a small `boxoffice loadtest gates`, at a node that is not killed.
func TestGatesUnderLoad(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.MaxPerAddress = 400 })
	// The platform knows the organizer, whose tickets are passed on: a new one writes to few people.
	_, err := s.Pool().Exec(t.Context(), `ALTER TABLE organizations ALTER COLUMN verified SET DEFAULT true`)
	require.NoError(t, err)
	var cfg gates.Config
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse([]string{
		"--target", strings.TrimSuffix(s.URL, "/api/v1"), "--out", t.TempDir(), "--devices=12", "--holders=400", "--duration=10s", "--away=2s",
		"--copied=0.2", "--refunded=0.05", "--passed=0.05", "--wrong=0.1", "--every=200ms", "--patience=10s",
	})
	require.NoError(t, err)
	var out bytes.Buffer
	r, err := gates.Run(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	require.NoError(t, err, out.String())
	for _, c := range r.Counts {
		if c.Name != "times a node was killed" && c.Name != "requests whose answer never came" {
			require.Positive(t, c.Count, "%s\n%s", c.Name, out.String())
		}
	}
	for _, c := range r.Checks {
		require.Positive(t, c.Checked, c.Name)
	}
}

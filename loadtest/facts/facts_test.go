package facts_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/facts"
)

func TestFactsRefusesWhatCannotBeShown(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"too little around": {"--buyers=1000", "--rate=100", "--outage=1m"},
		"none would be":     {"--buyers=1000", "--rate=1", "--consumers=1"},
		"needs both":        {"--buyers=0"},
	} {
		var cfg facts.Config
		parser, err := kong.New(&cfg)
		require.NoError(t, err)
		_, err = parser.Parse(append(flags, "--out", t.TempDir()))
		require.NoError(t, err)
		_, err = facts.Run(t.Context(), cfg, new(bytes.Buffer), slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, name)
	}
}

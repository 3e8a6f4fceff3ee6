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
	"boxoffice/loadtest/money"
)

// TestMoneyUnderLoad is a small `boxoffice loadtest money`, at a node that is not killed. No
// callbacks are lost, because the sweep would find those payments only after minutes.
func TestMoneyUnderLoad(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) {
		c.AdminEmail, c.AdminPassword = "root@example.org", "correct horse"
		c.PaysimProviders, c.PaysimCallbacks, c.MaxPerAddress = []string{"nowpayments", "flutterwave", "stripe", "mollie", "transfer"}, true, 400
		c.Currencies = []string{"USD", "EUR", "NGN", "ZAR", "JPY", "KWD"}
	})
	var cfg money.Config
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse([]string{
		"--target", strings.TrimSuffix(s.URL, "/api/v1"), "--paysim", s.Sim().URL(), "--admin=root@example.org", "--password=correct horse",
		"--out", t.TempDir(), "--orders=60", "--buyers=8", "--issues=6", "--rest=180s", "--skip=told by nobody,refund,loses answers",
	})
	require.NoError(t, err)
	var out bytes.Buffer
	r, err := money.Run(t.Context(), cfg, &out, slog.New(slog.NewTextHandler(&out, nil)))
	t.Log(out.String())
	require.NoError(t, err)
	for _, c := range r.Checks {
		require.Positive(t, c.Checked, c.Name)
	}
}

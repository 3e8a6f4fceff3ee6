package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

func TestLinkTLSNamesTheKnob(t *testing.T) {
	t.Parallel()
	good := &node.Config{}
	nodetest.Certificates(t)(good)
	for _, c := range []struct {
		change func(*node.Config)
		knob   string
	}{
		{func(c *node.Config) { c.LinkCert = "" }, "BOXOFFICE_LINK_CERT"},
		{func(c *node.Config) { c.LinkKey = "/nowhere" }, "BOXOFFICE_LINK_KEY"},
		{func(c *node.Config) { c.LinkCA = "" }, "BOXOFFICE_LINK_CA"},
		{func(c *node.Config) { c.LinkCA = c.LinkKey }, "BOXOFFICE_LINK_CA"},
	} {
		cfg := *good
		c.change(&cfg)
		_, err := cfg.LinkTLS()
		require.ErrorContains(t, err, c.knob)
	}
	tls, err := (&node.Config{}).LinkTLS()
	require.NoError(t, err)
	require.Nil(t, tls, "in the clear")
}

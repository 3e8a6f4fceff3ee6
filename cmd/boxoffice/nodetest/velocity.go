package nodetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
)

// Guarded opens a shop behind a proxy, with the default limits.
func Guarded(t *testing.T) *Shop {
	t.Helper()
	return Open(t, func(c *node.Config) { c.LimitsScale, c.TrustedProxies = 1, []string{"127.0.0.1"} })
}

func (r Reply) Is(t testing.TB, status int) Reply {
	t.Helper()
	require.Equal(t, status, r.Status, r.Body)
	return r
}

package nodetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
)

// Guarded opens a shop behind a proxy, with the limits that a service has. Other tests have limits
// a thousand times as high.
func Guarded(t *testing.T) *Shop {
	t.Helper()
	return Open(t, func(c *node.Config) { c.LimitsScale, c.TrustedProxies = 1, []string{"127.0.0.1"} })
}

// Is checks the status of a reply, and returns the reply.
func (r Reply) Is(t testing.TB, status int) Reply {
	t.Helper()
	require.Equal(t, status, r.Status, r.Body)
	return r
}

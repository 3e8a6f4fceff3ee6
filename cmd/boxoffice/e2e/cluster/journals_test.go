package cluster

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// sellThroughRestart sells tickets at the first of two nodes, at the second one while the first starts again, and at
// the first one again. The read model at home has each order once.
func sellThroughRestart(t *testing.T, a, b *nodetest.Shop, types []string) {
	t.Helper()
	var leads atomic.Pointer[nodetest.Shop]
	leads.Store(a)
	r := startRush(t, 4, types, func() string { return leads.Load().URL })
	r.atLeast(30)
	leads.Store(b)
	a.HandOver(t.Context())
	a.Restart()
	settles(t, a, b)
	leads.Store(a)
	r.atLeast(30)
	r.end()
	a.Becomes(fmt.Sprint(r.total.Load()), func() string { // the read model at home has each once
		var orders int64
		require.NoError(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM orders`).Scan(&orders))
		return fmt.Sprint(orders)
	})
}

package edge_test

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/edgetest"
	"boxoffice/edge/server"
)

func TestRouteTable(t *testing.T) {
	t.Parallel()
	ops := new(edge.Areas).Routes()
	edgetest.CheckTable(t, ops)
	_, err := server.New(server.Config{Ops: ops, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	require.NoError(t, err)
}

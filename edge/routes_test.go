package edge_test

import (
	"log/slog"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/edgetest"
	"boxoffice/edge/openapi"
)

func TestRouteTable(t *testing.T) {
	t.Parallel()
	ops := new(edge.Desk).Routes()
	edgetest.CheckTable(t, ops)
	_, err := edge.New(edge.Config{Ops: ops, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	require.NoError(t, err)

	b, err := openapi.Document(ops, openapi.Info{Title: "Boxoffice", Version: "test"})
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(b)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	documented := 0
	for _, path := range doc.Paths.Map() {
		documented += len(path.Operations())
	}
	require.Equal(t, len(ops), documented)
}

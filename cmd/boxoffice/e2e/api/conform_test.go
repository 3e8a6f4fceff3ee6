package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// An answer that the document does not know is noticed.
func TestConforms(t *testing.T) {
	t.Parallel()
	doc, err := nodetest.Published()
	require.NoError(t, err)
	get := func(path string) *http.Request { return httptest.NewRequestWithContext(t.Context(), "GET", path, nil) }
	refusal := func(code string) nodetest.Object {
		return nodetest.Object{"error": nodetest.Object{"code": code, "message": "No.", "details": nil}, "meta": nodetest.Object{"request_id": "1"}}
	}
	list := nodetest.Object{"data": nodetest.Object{"items": []any{}, "nextCursor": nil}}
	require.NoError(t, nodetest.Breach(doc, get("/api/v1/events"), 200, list))
	require.NoError(t, nodetest.Breach(doc, get("/api/v1/events/x"), 404, refusal("EVENT_NOT_FOUND")))
	require.ErrorContains(t, nodetest.Breach(doc, get("/api/v1/events"), 418, list), "does not document 418")
	require.ErrorContains(t, nodetest.Breach(doc, get("/api/v1/events"), 200, nodetest.Object{"data": nodetest.Object{"items": []any{}}}), "nextCursor")
	require.ErrorContains(t, nodetest.Breach(doc, get("/api/v1/events/x"), 404, refusal("ORDER_NOT_FOUND")), "does not document ORDER_NOT_FOUND")
	require.ErrorContains(t, nodetest.Breach(doc, get("/api/v1/events/x"), 404, nodetest.Object{"error": nodetest.Object{"code": "EVENT_NOT_FOUND"}}), "message")
}

package nodetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
)

// Published returns the OpenAPI document that the node itself publishes. It is made once for all
// tests of the process.
var Published = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := node.Document("")
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(doc.JSON)
})

// checkConforms compares an answer with the OpenAPI document: its status, its shape, and the code
// of a refusal. So every request of every test also checks the document.
func checkConforms(t testing.TB, req *http.Request, status int, body map[string]any) {
	t.Helper()
	doc, err := Published()
	require.NoError(t, err)
	require.NoError(t, Breach(doc, req, status, body))
}

// Breach returns an error if an answer is not what the document says, or nil. Paths that the
// document does not know are not checked.
func Breach(doc *openapi3.T, req *http.Request, status int, body map[string]any) error {
	o := operationOf(doc, req)
	if o == nil {
		return nil // the path is not ours, or not with that method
	}
	documented := o.Responses.Status(status)
	if documented == nil || documented.Value.Content.Get("application/json") == nil {
		return fmt.Errorf("%s does not document %d: %v", o.OperationID, status, body)
	}
	if err := documented.Value.Content.Get("application/json").Schema.Value.VisitJSON(body); err != nil {
		return fmt.Errorf("%s, %d: %w", o.OperationID, status, err)
	}
	codes, _ := documented.Value.Extensions["x-error-codes"].([]any)
	if failure, ok := body["error"].(map[string]any); ok && !slices.Contains(codes, failure["code"]) {
		return fmt.Errorf("%s does not document %s with %d", o.OperationID, failure["code"], status)
	}
	return nil
}

// operationOf finds the operation of a request as the router does. If several paths fit, the one
// with the fewest parameters wins.
func operationOf(doc *openapi3.T, req *http.Request) *openapi3.Operation {
	var found *openapi3.Operation
	fewest := 0
	for template, item := range doc.Paths.Map() {
		o := item.GetOperation(req.Method)
		if n := strings.Count(template, "{"); o != nil && matchesPath(template, req.URL.Path) && (found == nil || n < fewest) {
			found, fewest = o, n
		}
	}
	return found
}

// matchesPath reports whether a path fits a template. A parameter of the template stands for
// exactly one segment.
func matchesPath(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

package server_test

import (
	"compress/gzip"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/openapi"
	"boxoffice/edge/server"
)

func documented(t *testing.T) (*edgetest.Client, *openapi.Document) {
	t.Helper()
	doc, err := openapi.Print(table(), openapi.Info{Title: "Test", Version: "1"})
	require.NoError(t, err)
	return edgetest.NewClient(t, server.Config{Ops: table(), Document: func() (*openapi.Document, error) { return doc, nil }}), doc
}

func TestServesTheDocument(t *testing.T) {
	t.Parallel()
	c, doc := documented(t)
	for path, want := range map[string][]byte{"/api/v1/openapi.json": doc.JSON, "/api/v1/openapi.yaml": doc.YAML} {
		res := c.Do(t, "GET", path, nil, "Accept-Encoding", "identity")
		require.Equal(t, 200, res.Status)
		require.Equal(t, string(want), string(res.Body))
		require.Equal(t, "application/"+path[len("/api/v1/openapi."):], res.Header.Get("Content-Type"))
		same := c.Do(t, "GET", path, nil, "Accept-Encoding", "identity", "If-None-Match", res.Header.Get("ETag"))
		require.Equal(t, 304, same.Status)
		require.Empty(t, same.Body)

		zipped := c.Do(t, "GET", path, nil, "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
		require.Equal(t, "Accept-Encoding", zipped.Header.Get("Vary"))
		require.NotEqual(t, res.Header.Get("ETag"), zipped.Header.Get("ETag"), "other bytes, another tag")
		r, err := gzip.NewReader(strings.NewReader(string(zipped.Body)))
		require.NoError(t, err)
		plain, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, string(want), string(plain))
		require.Equal(t, 304, c.Do(t, "GET", path, nil, "Accept-Encoding", "gzip", "If-None-Match", zipped.Header.Get("ETag")).Status)

		require.Equal(t, 200, c.Do(t, "HEAD", path, nil).Status)
		require.Equal(t, 405, c.Do(t, "POST", path, nil).Status)
	}
}

// The page runs its own scripts only, and everything that it names is served
// here.
func TestServesThePage(t *testing.T) {
	t.Parallel()
	c, _ := documented(t)
	page := c.Do(t, "GET", "/docs", nil)
	require.Equal(t, 200, page.Status)
	require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
	policy := page.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, "script-src 'self';")
	require.NotContains(t, policy, "unsafe")
	german := c.Do(t, "GET", "/docs", nil, "Accept-Language", "de")
	require.Contains(t, string(german.Body), "Alle Operationen")
	require.NotEqual(t, page.Header.Get("ETag"), german.Header.Get("ETag"))

	for _, m := range regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(string(page.Body), -1) {
		at, err := url.Parse(m[1])
		require.NoError(t, err)
		require.Empty(t, at.Host)
		if strings.HasPrefix(at.Path, "/docs/webhook.") {
			continue // the document of this test tells of no webhooks
		}
		res := c.Do(t, "GET", at.Path, nil)
		require.Equal(t, 200, res.Status, at.Path)
		require.NotEmpty(t, res.Body)
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	}
	require.Equal(t, 404, c.Do(t, "GET", "/docs/other", nil).Status)
}

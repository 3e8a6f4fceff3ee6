package server_test

import (
	"bytes"
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/server"
)

// TestSiteMapHasAtMost50000Addresses makes the site map of a shop with more pages than a site map may list
// (sitemaps.org). The front page is one of the addresses.
func TestSiteMapHasAtMost50000Addresses(t *testing.T) {
	t.Parallel()
	shop := &server.Shop{Paths: func(_ context.Context, limit int, _ time.Time) ([]string, error) {
		paths := make([]string, limit)
		for i := range paths {
			paths[i] = "/e/" + strconv.Itoa(i)
		}
		return paths, nil
	}}
	c := edgetest.NewClient(t, server.Config{Ops: table(), Shop: shop, BaseURL: "https://tickets.example.org"})
	res := c.Do(t, "GET", "/sitemap.xml", nil)
	require.Equal(t, 200, res.Status)
	require.Contains(t, string(res.Body), "<loc>https://tickets.example.org/</loc>")
	require.Equal(t, 50_000, bytes.Count(res.Body, []byte("<loc>")))
}

package edge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/openapi"
	"boxoffice/edge/server"
	"boxoffice/edge/webhook"
)

var (
	// Scripts may always read and send these (Fetch, 2.2.2).
	safelisted = []string{"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Expires", "Last-Modified", "Pragma", "Accept"}
	// These are headers of mails, of webhooks, of proxies, and of payment providers' notices.
	notOurs = []string{
		"List-Unsubscribe", "Reply-To", "X-Service-Delivery", "X-Service-Attempt", "X-Service-Event", "X-Service-Signature", "X-Forwarded-For",
		"Verif-Hash", "X-Paystack-Signature", "X-Nowpayments-Sig", "Stripe-Signature",
		"Paypal-Auth-Algo", "Paypal-Cert-Url", "Paypal-Transmission-Id", "Paypal-Transmission-Time", "Paypal-Transmission-Sig",
	}
	headerName = regexp.MustCompile("`([A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)+|Date|Link|ETag|Deprecation|Sunset|Range|Location)`")
)

// TestScriptsMayUseTheHeaders holds that a page of another origin may read and send whatever our
// documents ask clients to.
func TestScriptsMayUseTheHeaders(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Print(new(edge.Areas).Routes(), openapi.Info{Title: "Boxoffice", Version: "1.2.3", Webhooks: webhook.Catalogue})
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, json.Unmarshal(doc.JSON, &document))
	readable, sendable := append(slices.Clone(safelisted), server.ExposedHeaders...), append(slices.Clone(safelisted), server.AllowedHeaders...)
	has := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, name) })
	}
	seen := 0
	var walk func(v any, inWebhooks bool)
	walk = func(v any, inWebhooks bool) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one, inWebhooks)
			}
		case map[string]any:
			if v["in"] == "header" && !inWebhooks {
				name, _ := v["name"].(string)
				require.True(t, has(sendable, name) || has(notOurs, name), "a script may not send %s", name)
				seen++
			}
			if headers, ok := v["headers"].(map[string]any); ok && !inWebhooks {
				for name := range headers {
					require.True(t, has(readable, name), "a script may not read %s", name)
					seen++
				}
			}
			for name, one := range v {
				walk(one, inWebhooks || name == "webhooks")
			}
		}
	}
	walk(document, false)
	require.Greater(t, seen, 100)
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range headerName.FindAllStringSubmatch(string(text), -1) {
			require.True(t, has(readable, m[1]) || has(sendable, m[1]) || has(notOurs, m[1]), "%s asks for %s", page, m[1])
		}
	}
}

// TestListsTakeACursor holds that a list which says where its next page begins takes that as
// cursor, as all lists do.
func TestListsTakeACursor(t *testing.T) {
	t.Parallel()
	doc, err := openapi.Print(new(edge.Areas).Routes(), openapi.Info{Title: "Boxoffice", Version: "1.2.3", Webhooks: webhook.Catalogue})
	require.NoError(t, err)
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
			Responses  map[string]json.RawMessage
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(doc.JSON, &document))
	lists := 0
	for path, item := range document.Paths {
		get, ok := item["get"]
		if !ok {
			continue
		}
		answer := string(get.Responses["200"])
		for name, schema := range document.Components.Schemas {
			if strings.Contains(answer, `"#/components/schemas/`+name+`"`) {
				answer += string(schema)
			}
		}
		takes := func(name string) bool {
			return slices.ContainsFunc(get.Parameters, func(p struct{ Name, In string }) bool { return p.Name == name })
		}
		if !strings.Contains(answer, `"nextCursor"`) || !takes("limit") { // without a limit, all are listed
			continue
		}
		lists++
		require.True(t, takes("cursor"), path)
	}
	require.Greater(t, lists, 20)
}

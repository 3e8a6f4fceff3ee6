package manual_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/manual"
	"boxoffice/edge/openapi"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
)

const base = "https://tickets.example.org"

var printed = sync.OnceValues(func() (*openapi.Document, error) {
	return openapi.Print(new(edge.Areas).Routes(), openapi.Info{Title: "Test", Version: "1", BaseURL: base, Webhooks: webhook.Catalogue})
})

// pages are all pages, by their addresses.
type pages struct{ english, german map[string]string }

// made are the pages, which all tests read.
var made = sync.OnceValues(func() (*pages, error) {
	files, err := manual.Files(manual.Config{Ops: new(edge.Areas).Routes(), BaseURL: base, Env: "test", Document: printed})
	all := &pages{map[string]string{}, map[string]string{}}
	for _, f := range files {
		english, wrong := f.Print()
		german, alsoWrong := f.PrintGerman()
		err = errors.Join(err, wrong, alsoWrong)
		all.english[f.Path], all.german[f.Path] = string(english), string(german)
	}
	return all, err
})

func printPages(t *testing.T) (english, german map[string]string) {
	t.Helper()
	all, err := made()
	require.NoError(t, err)
	return all.english, all.german
}

// TestEveryOperationHasItsPage holds what a reader without scripts gets: each operation at its address
// with its fields, refusals and snippets, all links led to what is served, and nothing runs in the pages.
func TestEveryOperationHasItsPage(t *testing.T) {
	t.Parallel()
	english, german := printPages(t)
	ops := new(edge.Areas).Routes()
	link := regexp.MustCompile(`href="([^"#]+)"`)
	for i := range ops {
		op := &ops[i]
		for _, pages := range []map[string]string{english, german} {
			page := pages["/docs/"+op.ID]
			require.Contains(t, page, "<h1 lang=\"en\">"+strings.NewReplacer("'", "&#39;").Replace(op.Summary)+"</h1>", op.ID)
			require.Contains(t, page, "<code>"+op.Path+"</code>")
			for _, code := range op.AllErrors() {
				require.Contains(t, page, "<code>"+string(code)+"</code>", op.ID)
			}
			require.Contains(t, page, "curl")
			require.Contains(t, pages["/docs"], `href="/docs/`+op.ID+`"`)
		}
	}
	largest := 0
	for at, page := range english {
		require.NotRegexp(t, `<style|\sstyle=|<script>|\son[a-z]+="|ZgotmplZ|%!`, page, at)
		require.NotRegexp(t, `<style|\sstyle=|<script>|\son[a-z]+="|ZgotmplZ|%!`, german[at], at)
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			known := english[m[1]] != "" || strings.HasPrefix(m[1], "/web/assets/") || slices.Contains([]string{"/", "/portal", "/favicon.svg", "/apple-touch-icon.png", "/api/v1/openapi.json"}, m[1])
			require.True(t, known, "%s leads to %s", at, m[1])
		}
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write([]byte(page)) // a buffer takes everything
		require.NoError(t, w.Close())
		largest = max(largest, zipped.Len())
		require.Less(t, zipped.Len(), 50<<10, at)
	}
	t.Logf("%d pages, the largest has %d bytes", len(english), largest)
}

// TestFieldsAreDescribed looks at one body: types, bounds, choices, and members in members.
func TestFieldsAreDescribed(t *testing.T) {
	t.Parallel()
	english, german := printPages(t)
	page := english["/docs/createApiKey"]
	for _, want := range []string{
		`<dt><code>name</code> <span class="type">string</span> <span class="must">required</span></dt>`, `2 – 120 characters`,
		`one of live, test`, `list of string or null`, `≤ 40 items · each ≤ 64 characters`, `string, date-time or null`, `a member of the organization`,
	} {
		require.Contains(t, page, want)
	}
	require.Contains(t, german["/docs/createApiKey"], "2 – 120 Zeichen")
	require.Contains(t, english["/docs/placeOrder"], "Members of <code>items</code>")
	require.Contains(t, english["/docs/webhook.order.created"], "Members of <code>data</code>")
	require.Contains(t, english["/docs/uploadImage"], `type="file"`)
}

// TestGuideHasEveryCode: the guide has every code of the catalogue and no other, and its snippets go to the node.
func TestGuideHasEveryCode(t *testing.T) {
	t.Parallel()
	english, _ := printPages(t)
	for _, at := range []string{"/docs/guide", "/docs/seated-sale"} {
		require.Contains(t, english[at], base+"/api/v1", at)
		require.NotContains(t, english[at], "127.0.0.1:8080", at)
	}
	var listed []string
	for _, row := range regexp.MustCompile(`<tr>\s*<td><code>([A-Z_0-9]+)</code></td>`).FindAllStringSubmatch(english["/docs/guide"], -1) {
		listed = append(listed, row[1])
	}
	var want []string
	for _, code := range slices.Sorted(maps.Keys(engine.CodeTable)) {
		want = append(want, string(code))
	}
	require.Equal(t, want, listed)
}

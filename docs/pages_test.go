package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge"
)

var (
	calledOperation = regexp.MustCompile(`\.(GET|POST|PUT|DELETE|PATCH)\(\s*'(/api/v1[^']*)'`)
	openedStream    = regexp.MustCompile("new EventSource\\(`(/api/v1[^`?]*)")
	filledIn        = regexp.MustCompile(`\$\{[^}]*\}`)
	namedOperation  = regexp.MustCompile("`([a-z][A-Za-z]+)`")
)

// TestPagesNameTheirOperations holds the tables of pages.md: each operation has a page or a reason why
// it has none, and what stands at a built page is called by the sources of one.
func TestPagesNameTheirOperations(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("pages.md")
	require.NoError(t, err)
	_, tables, ok := strings.Cut(string(text), "## Which page calls which operation")
	require.True(t, ok)
	tables, _, _ = strings.Cut(tables, "\n## ")
	withPages, without, ok := strings.Cut(tables, "| Why it has no page |")
	require.True(t, ok)
	pages, reasons := operationsOf(t, withPages), operationsOf(t, without)

	called := calledBySources(t)
	for _, op := range new(edge.Areas).Routes() {
		page, reason := pages[op.ID], reasons[op.ID]
		require.True(t, (page == "") != (reason == ""), "%s stands in one of the tables", op.ID)
		calls := called[op.Method+" "+op.Path]
		if calls {
			require.NotEmpty(t, page, "%s is called by a page", op.ID)
		}
		if page != "" && !writtenByHand(page) {
			require.True(t, calls, "%s is called by no source of %s", op.ID, page)
		}
	}
}

// writtenByHand says whether a page is one of edge/web/page, whose scripts make up their addresses.
func writtenByHand(page string) bool {
	for _, at := range []string{"/seats`", "`/follow`", "`/email/confirm`", "`/waitlist/confirm`"} {
		if strings.Contains(page, at) {
			return true
		}
	}
	return false
}

// operationsOf reads a table: the first cell of each row, by the operations in its second.
func operationsOf(t *testing.T, table string) map[string]string {
	t.Helper()
	of := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 {
			continue
		}
		for _, m := range namedOperation.FindAllStringSubmatch(cells[1], -1) {
			require.Empty(t, of[m[1]], "%s stands once", m[1])
			of[m[1]] = strings.TrimSpace(cells[0])
		}
	}
	return of
}

// calledBySources are the operations that the sources of the built pages call, as method and path.
func calledBySources(t *testing.T) map[string]bool {
	t.Helper()
	called := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", "edge", "web", "app", "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "schema.d.ts" {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range calledOperation.FindAllSubmatch(source, -1) {
			called[string(m[1])+" "+string(m[2])] = true
		}
		for _, m := range openedStream.FindAllSubmatch(source, -1) {
			called["GET "+filledIn.ReplaceAllString(string(m[1]), "{id}")] = true
		}
		return err
	})
	require.NoError(t, err)
	return called
}

package api

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// snippets are the shell lines of a page, up to a heading where there is one.
func snippets(t *testing.T, page, until string) string {
	t.Helper()
	text, err := os.ReadFile("../../../../" + page)
	require.NoError(t, err)
	read := string(text)
	if until != "" {
		var found bool
		read, _, found = strings.Cut(read, until)
		require.True(t, found, "%s has no %q", page, until)
	}
	var lines strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(read, -1) {
		lines.WriteString(block[1])
	}
	return lines.String()
}

// shell runs lines against the node as somebody would who pastes them, and returns what
// they print. It ends at the first one that fails.
func shell(t *testing.T, s *nodetest.Shop, lines string) string {
	t.Helper()
	const written = "http://127.0.0.1:8080"
	require.Contains(t, lines, written)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(lines, written, strings.TrimSuffix(s.URL, "/api/v1")))
	cmd.Dir = t.TempDir()
	var wrong strings.Builder
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, wrong.String())
	return string(out)
}

// TestReadme pastes the first sale and the keys of the README into a shell.
func TestReadme(t *testing.T) {
	t.Parallel()
	out := shell(t, nodetest.Open(t), snippets(t, "README.md", "## Webhooks"))
	require.Equal(t, "published\ncompleted\nsuccess\ndenied_duplicate\nFriday Night\n", out)
}

// TestReadmeShowsErrors: what was refused is said by the README's own helper.
func TestReadmeShowsErrors(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	helpers, _, _ := strings.Cut(snippets(t, "README.md", "## Webhooks"), "TOKEN=")
	said := shell(t, s, helpers+`post $B/orders -d '{}' | field id 2>&1 || true`)
	require.Contains(t, said, "VALIDATION_ERROR: ")
}

// TestReadmeKeyForDevelopers: whoever has sold a ticket can go on with Develop against it, and
// needs no section between.
func TestReadmeKeyForDevelopers(t *testing.T) {
	t.Parallel()
	_, develop, _ := strings.Cut(snippets(t, "README.md", "## Seats"), snippets(t, "README.md", "## Develop against it"))
	key, _, found := strings.Cut(develop, "WEBHOOK_SECRET=")
	require.True(t, found)
	out := shell(t, nodetest.Open(t), snippets(t, "README.md", "## API keys")+key+`echo "${BOXOFFICE_KEY:0:8}"`)
	require.True(t, strings.HasSuffix(out, "\nvt_test_\n"), out)
}

// TestSeatedSale pastes docs/seated-sale.md into a shell.
func TestSeatedSale(t *testing.T) {
	t.Parallel()
	out := shell(t, nodetest.Open(t), snippets(t, "docs/seated-sale.md", ""))
	require.Equal(t, strings.Join([]string{
		"52", "reserved", "reserved", "published", "50.00", "[]", "['stalls-A-5', 'stalls-A-6']", "SEAT", "success", "denied_duplicate", "",
	}, "\n"), regexp.MustCompile(`\{.*stalls-A-5.*\}`).ReplaceAllString(out, "SEAT"))
}

// TestGuide pastes the developer's guide into a shell.
func TestGuide(t *testing.T) {
	t.Parallel()
	out := shell(t, nodetest.Open(t), snippets(t, "edge/manual/guide.md", ""))
	require.Regexp(t, `^published\ncompleted\nFriday Night\nsame\npulled\n(pending|processing|failed)\n$`, out)
}

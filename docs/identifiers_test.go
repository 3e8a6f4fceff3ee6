package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdentifiersNamesItsTests looks up the tests that identifiers.md lists, each in the
// package in brackets behind it.
func TestIdentifiersNamesItsTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("identifiers.md")
	require.NoError(t, err)
	found := 0
	for _, list := range regexp.MustCompile("((?:`Test\\w+`(?:, | and |, and )?)+) \\(`([a-z/]+)`\\)").FindAllStringSubmatch(string(text), -1) {
		for _, m := range quoted.FindAllStringSubmatch(list[1], -1) {
			requireDeclared(t, filepath.Join("..", list[2]), m[1])
			found++
		}
	}
	require.Equal(t, len(regexp.MustCompile("`Test").FindAll(text, -1)), found)
}

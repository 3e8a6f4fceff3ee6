package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var quoted = regexp.MustCompile("`([^`\n]+)`")

// TestArchitectureListsTheTree compares the table of ARCHITECTURE.md with the folders
// that have Go code: each is in one row, and no row names one that is not there.
func TestArchitectureListsTheTree(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "| Folder | What it owns |\n|---|---|\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for row := range strings.Lines(table) {
		first := strings.Split(row, "|")[1]
		for _, m := range quoted.FindAllStringSubmatch(first, -1) {
			listed = append(listed, m[1])
		}
	}
	slices.Sort(listed)
	require.Equal(t, foldersWithCode(t, ".."), listed)
}

// foldersWithCode are the folders below a root that have Go files, in order.
func foldersWithCode(t *testing.T, root string) []string {
	t.Helper()
	var folders []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (strings.HasPrefix(name, ".") && path != root || name == "bin" || name == "out" || name == "data") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") {
			folder, err := filepath.Rel(root, filepath.Dir(path))
			folders = append(folders, filepath.ToSlash(folder))
			return err
		}
		return nil
	}))
	slices.Sort(folders)
	return slices.Compact(folders)
}

// TestNothingIsNamedThatIsElsewhere makes sure that the repository stands on its own.
func TestNothingIsNamedThatIsElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := regexp.MustCompile(`\.\./shared|\b(DESIGN|decisions|service-api|house|reliability|aesthetics)\.md\b|\bDESIGN section|\breading/[a-z]+\b`)
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == ".git" || name == "bin" || name == "out" || name == "data" || name == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".sql", ".yaml", ".yml", ".js"}, filepath.Ext(name)) && name != "Makefile" || name == "architecture_test.go" {
			return nil
		}
		b, err := os.ReadFile(path)
		require.Empty(t, string(elsewhere.Find(b)), path)
		return err
	}))
}

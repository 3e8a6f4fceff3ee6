package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	pathLike = regexp.MustCompile(`^\.?[a-z][\w.-]*/[\w./-]+$|^\.?[\w-]+\.(go|yml|md)$`)
	nameLike = regexp.MustCompile(`^[A-Za-z]\w+$`)
	recipe   = regexp.MustCompile(`^    go test \./(\S+) -run (\w+)`)
)

// TestContributingNamesWhatIsThere looks up the places that the recipes name: a path is
// there, a name behind a path is declared in that file or folder, a target is the
// Makefile's, and a test that writes golden files is in its package.
func TestContributingNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	paths, names := requirePlaces(t, string(text))
	require.Greater(t, paths, 50)
	require.Greater(t, names, 40)
}

// TestAdapterRecipeNamesWhatIsThere looks up the places that the recipe for a payment provider names.
func TestAdapterRecipeNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("payments.md")
	require.NoError(t, err)
	_, steps, found := strings.Cut(string(text), "## A provider of one's own\n")
	require.True(t, found)
	paths, names := requirePlaces(t, steps)
	require.Greater(t, paths, 10)
	require.Greater(t, names, 4)
}

// requirePlaces looks up the places that a text names, and counts its paths and its names.
func requirePlaces(t *testing.T, text string) (paths, names int) {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	place := ""
	for line := range strings.Lines(text) {
		if m := recipe.FindStringSubmatch(line); m != nil {
			requireDeclared(t, filepath.Join("..", m[1]), m[2])
			names++
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			span := m[1]
			target, isTarget := strings.CutPrefix(span, "make ")
			switch {
			case strings.Contains(span, "<"): // such as <noun>.go
			case isTarget:
				require.Regexp(t, `(?m)^`+regexp.QuoteMeta(target)+`:`, string(makefile))
			case pathLike.MatchString(span):
				if place = filepath.Join("..", span); !strings.Contains(span, "/") && span[0] != '.' {
					place = span // in this folder
				}
				if _, err := os.Stat(place); err != nil {
					t.Errorf("no such path: %s", span)
				}
				paths++
			case nameLike.MatchString(span) && strings.ToUpper(span) != span && span != "omitempty":
				requireDeclared(t, place, span)
				names++
			}
		}
	}
	return paths, names
}

func requireDeclared(t *testing.T, place, name string) {
	t.Helper()
	if !declared(t, place)[name] {
		t.Errorf("%s does not declare %s", place, name)
	}
}

// declared are the names that a Go file, or all those of a folder, declare: functions,
// methods, types, variables, constants and fields.
func declared(t *testing.T, path string) map[string]bool {
	t.Helper()
	files := []string{path}
	if filepath.Ext(path) != ".go" {
		var err error
		files, err = filepath.Glob(filepath.Join(path, "*.go"))
		require.NoError(t, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					for _, name := range field.Names {
						names[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return names
}

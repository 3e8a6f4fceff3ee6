package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNamesOfGoExist holds two pages to the code: each Go name that they write in backticks is declared in the tree, as
// `pkg.Name`, `pkg.Type.Method`, `Type.Method` or `camelCase`. A name after a path (`cluster/sweep.go` `wakeParked`) is
// looked up in all packages. A name of a public fact or an operation must be a string literal of the tree.
func TestNamesOfGoExist(t *testing.T) {
	t.Parallel()
	tree := collectGoNames(t, "..")
	mixedCase := regexp.MustCompile(`^[A-Za-z]*[a-z][A-Z][A-Za-z]*$`)
	dotted := regexp.MustCompile(`^[A-Za-z]+(\.[A-Za-z]+){1,2}$`)
	for _, page := range []string{"ARCHITECTURE.md", "concurrency.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		checked := 0
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if strings.HasPrefix(name, "river.") || strings.HasSuffix(name, ".go") {
				continue // a library's name, and a file's
			}
			if mixedCase.MatchString(name) || dotted.MatchString(name) {
				checked++
				assert.True(t, tree.names[name] || tree.literals[name], "%s names `%s`, which is not declared in the tree", page, name)
			}
		}
		require.Greater(t, checked, 5, page)
	}
}

// goNames are the names of a tree of Go files.
type goNames struct {
	names    map[string]bool // a name alone, and after its package, its type, or both
	literals map[string]bool // string literals, such as the names of public facts
}

func collectGoNames(t *testing.T, root string) goNames {
	t.Helper()
	all := goNames{map[string]bool{}, map[string]bool{}}
	files := token.NewFileSet()
	for _, folder := range foldersWithCode(t, root) {
		paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		require.NoError(t, err)
		for _, path := range paths {
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			all.addFile(file)
		}
	}
	return all
}

func (d goNames) addFile(file *ast.File) {
	pkg := strings.TrimSuffix(file.Name.Name, "_test")
	add := func(names ...string) {
		for i := range names {
			name := strings.Join(names[i:], ".")
			d.names[name], d.names[pkg+"."+name] = true, true
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				add(decl.Name.Name)
			} else {
				add(receiverName(decl.Recv.List[0].Type), decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name.Name)
					}
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				d.literals[text] = true
			}
		}
		return true
	})
}

// receiverName returns the name of a method's type.
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

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
	countsEmail = regexp.MustCompile(`e-mail|buyer|^address`)
	testCell    = regexp.MustCompile("^`([\\w/]+)` `(Test\\w+)`$")
)

// TestEmailRulesAreTold finds the rules that count an e-mail: rows of the other tables whose limit is
// an e-mail's, a buyer's or an address's, the limits of login codes, and requests that the rate limit
// counts by an e-mail. Each has its row in the table of such rules, and each row a test that there is.
func TestEmailRulesAreTold(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("limits.md")
	require.NoError(t, err)
	limits, told, ok := strings.Cut(string(text), "\n## Rules that count an e-mail\n")
	require.True(t, ok)
	var rules strings.Builder
	for _, cells := range rowsOf(told, 4) {
		rules.WriteString(cells[0] + "\n")
		m := testCell.FindStringSubmatch(cells[3])
		require.NotNil(t, m, cells[3])
		require.True(t, declares(t, filepath.Join("..", m[1]), m[2], "_test.go"), cells[3])
	}
	found := 0
	for _, cells := range rowsOf(limits, 5) {
		if countsEmail.MatchString(cells[1]) {
			found++
			require.Contains(t, rules.String(), cells[4])
		}
	}
	require.Positive(t, found)
	for _, name := range []string{"sendMax", "codesOfAddress", "codeTries"} {
		require.Contains(t, constants(t, "persistence/accounts/codes.go"), name)
		require.Contains(t, rules.String(), "`persistence/accounts/codes.go` `"+name+"`")
	}
	counted := receiversOf(t, "../edge/api", "LimitEmail")
	require.NotEmpty(t, counted)
	for _, request := range counted {
		require.Contains(t, rules.String(), "(`"+request+"`)")
	}
}

// rowsOf are the trimmed cells of those rows of tables that have so many columns, without heads.
func rowsOf(text string, columns int) (rows [][]string) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == columns && !strings.HasPrefix(cells[0], "---") && cells[0] != "Rule" && cells[columns-1] != "Rule" {
			rows = append(rows, cells)
		}
	}
	return rows
}

// functionsOf calls each with the functions that files of a folder declare.
func functionsOf(t *testing.T, folder, ending string, each func(*ast.FuncDecl)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"+ending))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				each(f)
			}
		}
	}
}

func declares(t *testing.T, folder, name, ending string) (found bool) {
	t.Helper()
	functionsOf(t, folder, ending, func(f *ast.FuncDecl) { found = found || f.Name.Name == name })
	return found
}

// receiversOf are the types of a folder that have a method.
func receiversOf(t *testing.T, folder, method string) (types []string) {
	t.Helper()
	functionsOf(t, folder, ".go", func(f *ast.FuncDecl) {
		if f.Name.Name != method || f.Recv == nil {
			return
		}
		if pointer, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
			if of, ok := pointer.X.(*ast.Ident); ok {
				types = append(types, of.Name)
			}
		}
	})
	return types
}

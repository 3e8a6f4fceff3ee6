package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pureImports are the packages that a kind may import, apart from the engine's own: there is no
// clock, randomness, I/O or goroutine behind them. .golangci.yml has the same list.
var pureImports = []string{
	"bytes", "cmp", "container/heap", "crypto/ed25519", "crypto/hkdf", "crypto/hmac", "crypto/sha256", "crypto/subtle",
	"encoding", "encoding/base64", "encoding/binary", "encoding/hex", "encoding/json", "errors", "fmt",
	"hash", "hash/crc32", "hash/fnv", "iter", "maps", "math", "math/bits", "slices", "sort", "strconv", "strings",
	"time", "unicode", "unicode/utf8",
	"github.com/Rhymond/go-money", "github.com/cloudflare/circl/sign/bls", "golang.org/x/mod/sumdb/tlog", // functions of their arguments
}

// clocks are the names in package time that read or wait for the clock.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}

// TestPure reads the source of all kinds, apart from their tests.
func TestPure(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "enginetest" || d.Name() == "testdata" {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files++
		for _, fault := range impurities(fset, file) {
			t.Error(fault)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, files)
}

// TestPureFinds gives TestPure's check examples of everything that it has to find.
func TestPureFinds(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"goroutine":        "func f() { go f() }",
		"channel type":     "var c chan int",
		"send":             "func f() { c <- 1 }",
		"receive":          "func f() { <-c }",
		"select":           "func f() { select {} }",
		"clock":            "func f() { t = time.Now() }",
		"import math/rand": "import \"math/rand\"",
		"import boxoffice": "import \"boxoffice/persistence/journal\"",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "planted.go", "package planted\n"+source, parser.SkipObjectResolution)
		require.NoError(t, err)
		faults := impurities(fset, file)
		require.Len(t, faults, 1, name)
		require.Contains(t, faults[0], name)
	}
}

// impurities lists what a kind's source must not contain, with positions.
func impurities(fset *token.FileSet, file *ast.File) []string {
	var faults []string
	found := func(n ast.Node, what string) { faults = append(faults, fset.Position(n.Pos()).String()+": "+what) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found(n, "goroutine")
		case *ast.ChanType:
			found(n, "channel type")
		case *ast.SendStmt:
			found(n, "send")
		case *ast.SelectStmt:
			found(n, "select")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found(n, "receive")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
				found(n, "clock")
			}
		case *ast.ImportSpec:
			path, err := strconv.Unquote(n.Path.Value)
			ours := path == "boxoffice/engine" || strings.HasPrefix(path, "boxoffice/engine/")
			if err != nil || !ours && !slices.Contains(pureImports, path) {
				found(n, "import "+path)
			}
		}
		return true
	})
	return faults
}

package node_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// concurrency returns docs/concurrency.md, with which these tests compare the code.
func concurrency(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/concurrency.md")
	require.NoError(t, err)
	return string(text)
}

// TestStopOrder compares the order in which a node's parts stop with the document. A part is named
// after what stops it: a method Stop by its type, a function of this package by the step that made
// it.
func TestStopOrder(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, nodetest.Clustered("a", ""), func(c *node.Config) { c.HeapRoom, c.MetricsListen = 1, "127.0.0.1:0" })
	var parts []string
	for _, stop := range slices.Backward(s.Stops()) {
		parts = append(parts, partOf(runtime.FuncForPC(reflect.ValueOf(stop).Pointer()).Name()))
	}
	text := concurrency(t)
	_, order, ok := strings.Cut(text, "## Stop order\n")
	require.True(t, ok)
	order, _, _ = strings.Cut(order, "\n## ")
	var told []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(order, -1) {
		if name := m[1]; regexp.MustCompile(`^([a-z]+\.[A-Z]\w*|start\w+|openRooms|membership|listenForLinks)$`).MatchString(name) {
			told = append(told, name)
		}
	}
	require.Equal(t, parts, told, "docs/concurrency.md tells of another stop order")
}

// partOf turns boxoffice/edge/server.(*Server).Stop-fm into server.Server, and
// boxoffice/cmd/boxoffice/node.(*Node).startMail.func2 into startMail.
func partOf(function string) string {
	name := function[strings.LastIndexByte(function, '/')+1:]
	pkg, rest, _ := strings.Cut(name, ".")
	fields := strings.Split(rest, ".")
	receiver, _, _ := strings.Cut(strings.Trim(fields[0], "(*)"), "[") // a type with parameters
	switch {
	case pkg == "node" && receiver == "Node":
		return fields[1]
	case fields[1] == "Once":
		return pkg + ".Once"
	case pkg == "node":
		return receiver
	}
	return pkg + "." + receiver
}

// TestLeaksAreLookedFor makes sure that a package whose code starts goroutines has tests that look
// for leaked ones.
func TestLeaksAreLookedFor(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{
		"cluster/host":                "cluster", // the node starts the goroutines for activations
		"cmd/boxoffice/nodetest":      "cmd/boxoffice/e2e/api",
		"edge/payments/paysim/outbox": "edge/payments/paysim",
	}
	for _, root := range []string{"cluster", "edge", "persistence", "cmd"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../../..", root), func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			name, err := filepath.Rel("../../..", dir)
			require.NoError(t, err)
			if starts := startsGoroutines(t, dir); starts != "" {
				if other, ok := elsewhere[name]; ok {
					dir = filepath.Join("../../..", other)
				}
				require.True(t, searches(t, dir), "%s starts a goroutine, and no TestMain of %s looks for leaks", starts, name)
			}
			return nil
		}))
	}
}

// startsGoroutines returns a place in the package's code where a goroutine starts.
func startsGoroutines(t *testing.T, dir string) (place string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				place = set.Position(n.Pos()).String()
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
					place = set.Position(n.Pos()).String()
				}
			}
			return true
		})
	}
	return place
}

var search = regexp.MustCompile(`(?s)func TestMain\(m \*testing\.M\) \{.*?(persisttest\.Main|nodetest\.Main|goleak\.VerifyTestMain)\(m`)

func searches(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return search.Match(text)
	})
}

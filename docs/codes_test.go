package docs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

// TestEveryCodeIsProvoked looks for each code of the catalogue among the tests that call
// a server by HTTP, where a code stands in quotes because an answer is compared with it.
// With -v it prints the list.
func TestEveryCodeIsProvoked(t *testing.T) {
	t.Parallel()
	provokedIn := map[engine.Code][]string{}
	for _, root := range []string{"../cmd/boxoffice/e2e", "../edge/server"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "/conform_test.go") { // conform_test.go makes its answers up
				return err
			}
			text, err := os.ReadFile(path)
			for code := range engine.CodeTable {
				if strings.Contains(string(text), `"`+string(code)+`"`) {
					provokedIn[code] = append(provokedIn[code], strings.TrimPrefix(path, "../"))
				}
			}
			return err
		}))
	}
	for _, code := range slices.Sorted(maps.Keys(engine.CodeTable)) {
		require.NotEmpty(t, provokedIn[code], "no test provokes %s", code)
		t.Log(fmt.Sprintf("%-26s", code), strings.Join(provokedIn[code], " "))
	}
}

package web

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorkersFollowTheirFiles changes each file that a worker keeps and whose address stays: the worker is another one
// then, so that browsers get the new file.
func TestWorkersFollowTheirFiles(t *testing.T) {
	t.Parallel()
	app, err := App()
	require.NoError(t, err)
	workers, err := listWorkers(app)
	require.NoError(t, err)
	for k, w := range workers {
		_, rest, isWorker := bytes.Cut(w.Body, []byte("const files = "))
		if !isWorker {
			continue
		}
		kept, _, _ := strings.Cut(string(rest), ";\n")
		changed := 0
		for i, f := range app {
			if !strings.Contains(kept, `"`+f.Path+`"`) || strings.HasPrefix(f.Path, "/web/assets/") || f.Path == gateManifest { // listWorkers reads the manifest itself
				continue
			}
			other := slices.Clone(app)
			other[i].Body = append(bytes.Clone(f.Body), ' ')
			now, err := listWorkers(other)
			require.NoError(t, err)
			require.False(t, bytes.Equal(w.Body, now[k].Body), "%s keeps %s", w.Path, f.Path)
			changed++
		}
		require.Positive(t, changed, w.Path)
	}
}

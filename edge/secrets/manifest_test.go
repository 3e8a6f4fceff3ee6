package secrets

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManifestVectors checks the hashes that docs/gates.md tells the authors of gate apps,
// which another program has computed.
func TestManifestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/gates.md")
	require.NoError(t, err)
	salt := regexp.MustCompile("The salt is `(.+)`").FindSubmatch(text)
	rows := regexp.MustCompile("(?m)^\\| `(.+)` \\| (\\d+) \\| `(.+)` \\|$").FindAllSubmatch(text, -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		size, err := strconv.Atoi(string(row[2]))
		require.NoError(t, err)
		require.Equal(t, string(row[3]), manifestHash(string(salt[1]), string(row[1]), size))
	}
}

package persisttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStartInBeginsAnewWhereTheClusterIsBroken starts on a cluster that can't recover. A killed
// machine leaves such clusters, and one of them failed a whole run of the tests.
func TestStartInBeginsAnewWhereTheClusterIsBroken(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "slot")
	closed := func(s *server) {
		s.admin.Close()
		require.NoError(t, s.postgres.Stop(t.Context()))
	}
	s, err := startIn(dir)
	require.NoError(t, err)
	closed(s)

	require.NoError(t, os.Truncate(filepath.Join(dir, "cluster", "global", "pg_control"), 0))
	s, err = startIn(dir)
	require.NoError(t, err)
	var one int
	require.NoError(t, s.admin.QueryRow(t.Context(), "SELECT 1").Scan(&one))
	closed(s)
}

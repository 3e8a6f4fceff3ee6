package gates

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompareWitnesses makes sure that a stream that shows other numbers than the counters is
// found.
func TestCompareWitnesses(t *testing.T) {
	t.Parallel()
	stats := counters{CheckedIn: 2, Scanned: 3, Denied: 1}
	found := func(shown counters) int64 {
		var n int64
		for _, c := range (&witnesses{shown: shown}).compareSums(t.Context(), &stats, map[string]int{"a": 1, "b": 1}, 0) {
			n += c.Failed
		}
		return n
	}
	require.Zero(t, found(stats))
	require.NotZero(t, found(counters{CheckedIn: 2, Scanned: 3}))
}

package api_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/api"
)

// TestMoment shows moments for which RFC 3339 has no year: a list that has one in it
// is still written.
func TestMoment(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC).UnixMilli():      `"2030-01-02T03:04:05Z"`,
		time.Date(10_000, 1, 1, 23, 58, 59, 0, time.UTC).UnixMilli(): `"9999-12-31T23:59:59.999Z"`,
		time.Date(-1, 12, 31, 0, 1, 0, 0, time.UTC).UnixMilli():      `"0000-01-01T00:00:00Z"`,
		math.MaxInt64: `"9999-12-31T23:59:59.999Z"`,
		math.MinInt64: `"0000-01-01T00:00:00Z"`,
	} {
		b, err := json.Marshal(api.At(ms))
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
}

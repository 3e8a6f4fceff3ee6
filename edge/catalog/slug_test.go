package catalog

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEventSlugsAreUnique makes slugs of titles that end as the slugs of others do: each
// still tells its event's number, so no two events have one.
func TestEventSlugsAreUnique(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"Night", "night", "Night!", "Night 1", "Night-1-2", "Night - z", "", "-", "夜", strings.Repeat("n", 200), "1", "16"} {
		for _, number := range []int64{1, 2, 35, 36, 37, 1 << 40, 1<<48 - 1} {
			slug := eventSlug(title, number)
			require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)+$`, slug)
			told, err := strconv.ParseInt(slug[strings.LastIndexByte(slug, '-')+1:], 36, 64)
			require.NoError(t, err)
			require.Equal(t, number, told, slug)
		}
	}
}

package catalog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The transitions say of each hour what the time zone does.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Africa/Lagos", "Pacific/Auckland", "America/New_York", "Africa/Casablanca", "Europe/London", "Asia/Kathmandu"} {
		all, err := transitionsOf(zone)
		require.NoError(t, err)
		require.Less(t, len(all), 400, zone)
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		next := 0
		for at := all[0].At; at < time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(); at += 3_600_000 {
			for next+1 < len(all) && all[next+1].At <= at {
				next++
			}
			_, offset := time.UnixMilli(at).In(loc).Zone()
			require.EqualValues(t, offset*1_000, all[next].Offset, "%s at %s", zone, time.UnixMilli(at))
		}
	}
}

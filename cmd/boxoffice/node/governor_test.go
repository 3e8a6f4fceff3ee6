package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMeter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count int64
		m := meter{count: func() int64 { return count }, limit: 1000}
		after := func(d time.Duration, n int64) bool {
			<-time.After(d)
			count += n
			return m.exceeded()
		}
		require.False(t, after(time.Hour, 1_000_000), "of a long time")
		require.True(t, after(time.Second, 1_001))
		require.True(t, after(100*time.Millisecond, 0), "too soon to say")
		require.False(t, after(100*time.Millisecond, 200))
		require.True(t, after(meterSpan, 201))
		require.False(t, after(time.Minute, 0))
	})
}

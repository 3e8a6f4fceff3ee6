package limit_test

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/edge/limit"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestBucket(t *testing.T) {
	t.Parallel()
	table := limit.New(1)
	ada, bob := table.Of("strict", "ada"), table.Of("strict", "bob")
	for left := 29; left >= 0; left-- {
		v := table.Take(ada, 30, noon)
		require.True(t, v.Allowed)
		require.Equal(t, left, v.Remaining)
	}
	v := table.Take(ada, 30, noon)
	require.False(t, v.Allowed)
	require.Equal(t, 0, v.Remaining)
	require.Equal(t, 2*time.Second, v.Retry, "one in two seconds comes back")
	require.True(t, v.Reset.Equal(noon.Add(time.Minute)), "all have come back after a minute: %s", v.Reset)
	require.True(t, table.Take(bob, 30, noon).Allowed, "another subject has a bucket of its own")
	require.True(t, table.Take(table.Of("auth", "ada"), 30, noon).Allowed, "another tier too")

	require.False(t, table.Take(ada, 30, noon.Add(v.Retry-1)).Allowed)
	require.True(t, table.Take(ada, 30, noon.Add(v.Retry)).Allowed, "Retry is exact")
	require.False(t, table.Take(ada, 30, noon.Add(v.Retry)).Allowed)
	require.Equal(t, 1, table.Return(ada, 30, noon.Add(v.Retry)).Remaining)
	require.True(t, table.Take(ada, 30, noon.Add(v.Retry)).Allowed, "a returned request can be made again")
	require.Equal(t, 29, table.Take(ada, 30, noon.Add(time.Hour)).Remaining, "never more than the limit")
	require.True(t, table.Take(ada, 0, noon).Allowed, "no limit")
}

// TestNeverMoreThanTheLimit: in no minute are more than burst and refill allowed.
func TestNeverMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, perMinute := limit.New(1), rapid.IntRange(1, 1000).Draw(t, "limit")
		s, now := table.Of("", "x"), noon
		allowed := 0
		for range rapid.IntRange(1, 500).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "pause")))
			if table.Take(s, perMinute, now).Allowed {
				allowed++
			}
			refill := now.Sub(noon) * time.Duration(perMinute) / time.Minute
			if allowed > perMinute+int(refill)+1 {
				t.Fatalf("%d allowed in %s, limit %d", allowed, now.Sub(noon), perMinute)
			}
		}
	})
}

// TestFloodOfAddresses: a million addresses cost no memory, and one that is
// limited stays so through a flood that the table can hold.
func TestFloodOfAddresses(t *testing.T) {
	t.Parallel()
	table := limit.New(16)
	require.Equal(t, 16<<20, table.Bytes())
	limited := table.Of("strict", "203.0.113.9")
	for range 30 {
		require.True(t, table.Take(limited, 30, noon).Allowed)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refused := 0
	for i := range uint32(1_000_000) {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], i)
		addr := netip.AddrFrom4(a)
		table.Take(table.Of("strict", addr.String()), 30, noon)
		if i%1000 == 0 && !table.Take(limited, 30, noon).Allowed {
			refused++
		}
	}
	runtime.ReadMemStats(&after)
	require.Equal(t, 16<<20, table.Bytes())
	require.Equal(t, 1000, refused, "the bucket that is the least full is the last to give way")
	t.Logf("heap in use: %d KB before, %d KB after a million addresses; table %d KB", before.HeapInuse>>10, after.HeapInuse>>10, table.Bytes()>>10)
}

func BenchmarkTake(b *testing.B) {
	table := limit.New(16)
	names := make([]string, 1<<16)
	for i := range names {
		names[i] = "10.0." + strconv.Itoa(i>>8) + "." + strconv.Itoa(i&255)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.Take(table.Of("strict", names[i&(1<<16-1)]), 1_000_000, noon)
	}
}

func BenchmarkRefuse(b *testing.B) {
	table := limit.New(16)
	for range 30 {
		table.Take(table.Of("strict", "203.0.113.9"), 30, noon)
	}
	b.ReportAllocs()
	for b.Loop() {
		table.Take(table.Of("strict", "203.0.113.9"), 30, noon)
	}
}

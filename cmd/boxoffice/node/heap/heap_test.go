package heap

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// fakeHeap is for a bubble of synctest, where time stands still while a heap is filled: the 17th
// reading at the same time shows a collection.
type fakeHeap struct {
	mu sync.Mutex
	heap

	at      time.Time
	times   int
	percent []int
	busy    bool
}

func (h *fakeHeap) read() heap {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now != h.at {
		h.at, h.times = now, 0
	}
	if h.times++; h.times == 17 {
		h.collections++
	}
	return h.heap
}

func (h *fakeHeap) orders() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.busy
}

func (h *fakeHeap) setPercent(p int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.percent = append(h.percent, p)
	return 0
}

func TestRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHeap{heap: heap{live: 4 << 20}}
		r := &Room{bytes: 16 << 20, busy: h.orders}
		ctx, cancel := context.WithCancel(t.Context())
		go r.keep(ctx, h.read, h.setPercent)
		for _, then := range []struct {
			name        string
			busy        bool
			used        uint64
			collections uint64
			lacking     float64
		}{
			{"orders come", true, 0, 0, 1},
			{"at rest", false, 0, 1, 0},
			{"and then no more", false, 0, 1, 0},
			{"little was used", false, 4<<20 - 1, 1, 0},
			{"orders come again", true, 20 << 20, 1, 1},
			{"at rest again", false, 0, 2, 0},
		} {
			h.mu.Lock()
			h.busy, h.allocated = then.busy, h.allocated+then.used
			h.mu.Unlock()
			<-time.After(time.Minute)
			synctest.Wait()
			require.Equal(t, then.collections, h.collections, then.name)
			require.InDelta(t, then.lacking, r.Lacking(), 0, then.name)
		}
		h.mu.Lock()
		h.busy, h.allocated = true, h.allocated+r.bytes
		h.mu.Unlock()
		for range 100 { // pauses within a rush are not rest
			<-time.After(restTick)
			synctest.Wait()
			h.mu.Lock()
			h.busy = !h.busy
			h.mu.Unlock()
		}
		require.Equal(t, uint64(2), h.collections)
		require.Equal(t, []int{400}, h.percent)
		h.mu.Lock()
		h.live *= 10
		h.mu.Unlock()
		<-time.After(time.Minute)
		synctest.Wait()
		require.Equal(t, []int{400, 100}, h.percent)
		cancel()
		synctest.Wait()
	})
}

func TestRoomEndsForOrders(t *testing.T) {
	t.Parallel()
	asked := 0
	r := &Room{bytes: 1 << 30, busy: func() bool { asked++; return asked > 3 }}
	require.False(t, r.fill(t.Context(), func() heap { return heap{} }))
	require.Equal(t, 4, asked)
}

func TestRoomBytes(t *testing.T) {
	t.Parallel()
	bytes, err := roomBytes(3)
	require.NoError(t, err)
	require.Equal(t, uint64(3<<20), bytes)
	total, err := memory()
	require.NoError(t, err)
	bytes, err = roomBytes(-1)
	require.NoError(t, err)
	require.Equal(t, total/roomShare, bytes)
	require.Zero(t, (*Room)(nil).Lacking())
}

func TestReadHeap(t *testing.T) { //nolint:paralleltest // others allocate too
	before := readHeap()
	some := make([]byte, 1<<28)
	require.GreaterOrEqual(t, readHeap().allocated, before.allocated+1<<28)
	runtime.KeepAlive(some)
	runtime.GC()
	after := readHeap()
	require.Greater(t, after.collections, before.collections)
	require.NotZero(t, after.live)
}

// TestHugePages looks for the advice in what the kernel reports about the memory.
func TestHugePages(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("a kernel without huge pages")
	}
	some := make([]byte, 1<<20)
	hugePages(some)
	at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(some))))
	maps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	runtime.KeepAlive(some)
	var flags string
	var within bool
	for line := range strings.Lines(string(maps)) {
		var begin, end uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &begin, &end); n == 2 {
			within = begin <= at && at < end
		} else if rest, found := strings.CutPrefix(line, "VmFlags:"); found && within {
			flags = rest
		}
	}
	require.Contains(t, strings.Fields(flags), "hg")
}

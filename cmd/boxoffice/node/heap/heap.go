// Package heap configures how a node collects garbage, and keeps room in its heap for a rush.
package heap

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"
)

// isTold reports whether the environment sets GOGC. This package then changes nothing.
func isTold() bool { return os.Getenv("GOGC") != "" }

// memory returns how many bytes the process may use.
var memory = memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)

// CollectSeldom uses more memory so that the slowest answers of a rush are quicker. Most of a node's heap is
// the state of its actors, which lives long, and on two cores every collection delays hundreds of buyers. The
// heap may grow to nine times the live bytes, but not beyond half of the memory that the process may use. A
// node with a Room lets that set the percentage after the start. GOGC and GOMEMLIMIT override this.
func CollectSeldom() {
	if isTold() {
		return
	}
	percent := 800
	if _, err := memlimit.Set(memlimit.WithProvider(memory), memlimit.WithRatio(.5)); err != nil {
		percent = 200 // the size of the memory is not known
	}
	debug.SetGCPercent(percent)
}

const (
	// restTick is how often Room checks whether the node is at rest.
	restTick = 250 * time.Millisecond
	// roomShare is the divisor of the memory for the room, if the configured number of megabytes is below zero.
	roomShare = 8
	// roomWorn is the divisor of the room: a node at rest renews the room once this part of it is used up.
	roomWorn = 4
)

// Room is what a node may allocate between two garbage collections. While no orders come it is
// renewed: it is used up at once, so that the next collection happens at rest, and every page of it
// is written to. A rush then finds memory that the machine has given already. On a virtual machine,
// a page that the host has yet to provide costs 10 us of a core, and an order allocates one and a
// half.
//
// The runtime keeps its memory as long as its heap is as full at each collection as it may be
// (runtime/mgcscavenge.go). So Room fills the heap instead of collecting early.
type Room struct {
	bytes uint64
	busy  func() bool // reports whether orders come
	ready atomic.Bool // whether it was made, and less than 1/roomWorn of it is used up
}

// NewRoom makes a room of a given number of megabytes, or, if megabytes is below zero, of a part of the
// memory. busy reports whether orders come. It returns nil if no room is to be kept: for 0, or if
// GOGC says how to collect garbage.
func NewRoom(megabytes int, busy func() bool) (*Room, error) {
	if megabytes == 0 || isTold() {
		return nil, nil //nolint:nilnil // no room is kept
	}
	bytes, err := roomBytes(megabytes)
	if err != nil {
		return nil, fmt.Errorf("nobody knows how much memory there is: %w", err)
	}
	return &Room{bytes: bytes, busy: busy}, nil
}

// KeepReady makes the runtime collect when the room is used up, and renews the room while no orders
// come, until the context ends.
func (r *Room) KeepReady(ctx context.Context) { r.keep(ctx, readHeap, debug.SetGCPercent) }

// roomBytes returns the room in bytes; below zero, megabytes stands for a part of the memory.
func roomBytes(megabytes int) (uint64, error) {
	if megabytes > 0 {
		return uint64(megabytes) << 20, nil
	}
	total, err := memory()
	return total / roomShare, err
}

// Lacking returns 1 while the room is not ready, and 0 if it is ready or if no room is kept.
func (r *Room) Lacking() float64 {
	if r == nil || r.ready.Load() {
		return 0
	}
	return 1
}

// heap is what the runtime reports about the heap.
type heap struct {
	allocated   uint64 // bytes, ever
	live        uint64 // bytes that the last collection found
	collections uint64
}

func readHeap() heap {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return heap{s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()}
}

// keep makes the runtime collect when the room is used up (setPercent), and looks every restTick how much of the room
// is left. It renews the room if a quarter of it has been used, or if it was never made, and it has found the node at
// rest twice in a row.
func (r *Room) keep(ctx context.Context, read func() heap, setPercent func(int) int) {
	ticker := time.NewTicker(restTick)
	defer ticker.Stop()
	made, percent, last := false, 0, read()
	for rests := 0; ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		h := read()
		if h.collections != last.collections {
			last = h
		}
		if p := r.percent(h.live); p*8 < percent*7 || p*7 > percent*8 { // only for a real change, because it stops the world
			setPercent(p)
			percent = p
		}
		if rests++; r.busy() {
			rests = 0
		}
		r.ready.Store(made && h.allocated-last.allocated < r.bytes/roomWorn)
		if rests >= 2 && !r.ready.Load() {
			made = r.fill(ctx, read)
		}
	}
}

// percent returns a GOGC that lets the heap grow by the room, and at least to twice the live bytes.
// Below 4 MB the runtime applies the percentage to 4 MB.
func (r *Room) percent(live uint64) int {
	return int(100 * max(r.bytes, live) / max(live, 4<<20))
}

// fill uses up what is left of the room, until that causes a collection. It stops early, and returns false, if orders
// come or ctx ends.
func (r *Room) fill(ctx context.Context, read func() heap) (filled bool) {
	const piece, page = 1 << 20, 4 << 10
	before := read().collections
	for used := uint64(0); used < 2*r.bytes; used += piece {
		if r.busy() || ctx.Err() != nil {
			return false
		}
		if read().collections != before {
			return true
		}
		some := make([]byte, piece)
		hugePages(some)
		for at := 0; at < len(some); at += page {
			some[at] = 1
		}
		runtime.KeepAlive(some)
	}
	runtime.GC() // the runtime allowed more without a collection
	return true
}

// hugePages asks the kernel to back the memory around b with pages of 2 MB. A rush touches the state of many actors,
// and a core caches too few address translations of small pages for that: a random read in 256 MB takes 215 ns with
// small pages, and 180 ns with huge ones. hugePages asks for all of the 64 MB that the runtime reserves at a time,
// because the live objects are among them. A kernel without huge pages keeps the small ones.
func hugePages(b []byte) {
	const arena = 64 << 20
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	end := (begin + uintptr(len(b)) + arena - 1) &^ (arena - 1)
	begin &^= arena - 1
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, begin, end-begin, unix.MADV_HUGEPAGE)
}

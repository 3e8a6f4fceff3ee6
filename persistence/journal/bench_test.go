package journal_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

type sold struct{ Quantity int64 }

func (sold) FactType() engine.FactType { return 1 }

// BenchmarkLane measures one lane with facts of 200 bytes, over some number of
// streams and with some number of facts in flight: time and allocations per
// entry, and the processor time of this process and of the lane's server process.
func BenchmarkLane(b *testing.B) {
	for _, c := range []struct{ streams, flight int }{{1, 1}, {1, 1024}, {64, 1024}, {1000, 1024}} {
		b.Run(fmt.Sprintf("streams=%d/flight=%d", c.streams, c.flight), func(b *testing.B) {
			benchmarkLane(b, c.streams, c.flight)
		})
	}
}

func benchmarkLane(b *testing.B, streams, flight int) {
	pool := persisttest.Migrated(b)
	var handed atomic.Int64
	j := open(b, pool, "bench", func(c *journal.Config) {
		c.Lanes = 1
		c.Sink = func(batch *journal.Batch) { handed.Add(int64(len(batch.Records))) }
	})
	load := newLoad(b, j, streams, flight)
	load.run(flight) // warms caches up
	pid := lanePID(b, pool)
	own, server := processTime(), serverTime(b, pid)
	before := j.Stats()
	b.ReportAllocs()
	b.ResetTimer()
	load.run(b.N)
	b.StopTimer()
	n := float64(b.N)
	after := j.Stats()
	b.ReportMetric(n/b.Elapsed().Seconds(), "facts/s")
	b.ReportMetric(n/float64(after.Batches-before.Batches), "facts/batch")
	b.ReportMetric(float64((processTime()-own).Nanoseconds())/1e3/n, "own-µs/fact")
	b.ReportMetric(float64((serverTime(b, pid)-server).Nanoseconds())/1e3/n, "pg-µs/fact")
}

// load is a closed loop: each entry that settles makes room for the next.
type load struct {
	b       *testing.B
	j       journal.Journal
	refs    []engine.Ref
	claims  []journal.Claim
	next    []int64
	facts   []engine.Fact
	bytes   []byte
	free    chan *slot
	settled sync.WaitGroup
}

// slot is an entry that is used again and again.
type slot struct {
	journal.Entry
	load *load
}

// Settled hands the slot back.
func (s *slot) Settled(err error) {
	if err != nil {
		s.load.b.Error(err)
	}
	s.load.free <- s
	s.load.settled.Done()
}

func newLoad(b *testing.B, j journal.Journal, streams, flight int) *load {
	l := &load{
		b: b, j: j, free: make(chan *slot, flight), next: make([]int64, streams),
		facts: []engine.Fact{sold{2}}, bytes: make([]byte, 200),
	}
	for i := range streams {
		ref := engine.InventoryRef(1, int64(i))
		claim, err := j.Claim(b.Context(), ref)
		require.NoError(b, err)
		l.refs, l.claims = append(l.refs, ref), append(l.claims, claim)
	}
	for range flight {
		l.free <- &slot{load: l}
	}
	return l
}

func (l *load) run(n int) {
	l.settled.Add(n)
	for i := range n {
		s, at := <-l.free, i%len(l.claims)
		l.next[at]++
		s.Entry = journal.Entry{
			Ref: l.refs[at], Claim: l.claims[at], First: l.next[at], Facts: l.facts, Bytes: l.bytes, Owner: s,
		}
		l.j.Append(&s.Entry)
	}
	l.settled.Wait()
}

func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func lanePID(b *testing.B, pool *pgxpool.Pool) int {
	b.Helper()
	var pid int
	require.NoError(b, pool.QueryRow(b.Context(),
		`SELECT pid FROM pg_stat_activity WHERE application_name = 'boxoffice journal bench' ORDER BY backend_start DESC LIMIT 1`).Scan(&pid))
	return pid
}

// serverTime is what a server process on this machine has used, in steps of
// 10 ms.
func serverTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	require.NoError(b, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(b, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

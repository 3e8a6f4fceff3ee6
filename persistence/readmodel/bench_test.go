package readmodel_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

// BenchmarkOrderCreated reports what the read model costs per order of one line,
// ours and the server's, in transactions of 2,000 as the follower makes them.
func BenchmarkOrderCreated(b *testing.B) {
	pool := persisttest.Migrated(b)
	const size = 2000
	for _, age := range []string{"live", "read back"} {
		b.Run(age, func(b *testing.B) {
			w := readmodel.NewWriter()
			number := rand.Int64N(1 << 40)
			var ours, theirs time.Duration
			var before uint64
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				batch := createdBatch(b, number, size)
				if age != "live" {
					batch.Records[0].Facts = nil
				}
				if before == 0 {
					before = walBytes(b, pool)
				}
				own, server := ownCPU(b), serverCPU(b, pool)
				b.StartTimer()
				require.NoError(b, pgx.BeginTxFunc(b.Context(), pool, pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL synchronous_commit = off"},
					func(tx pgx.Tx) error { return w.Apply(b.Context(), tx, []journal.Batch{batch}) }))
				b.StopTimer()
				ours += ownCPU(b) - own
				theirs += serverCPU(b, pool) - server
				b.StartTimer()
			}
			orders := float64(b.N) * size
			b.ReportMetric(float64(ours.Nanoseconds())/1e3/orders, "our-us/order")
			b.ReportMetric(float64(theirs.Nanoseconds())/1e3/orders, "pg-us/order")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/orders, "us/order")
			b.ReportMetric(float64(walBytes(b, pool)-before)/orders, "wal-B/order")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// createdBatch is a commit of n orders, of one line each, of one event.
func createdBatch(t testing.TB, number int64, n int) journal.Batch {
	t.Helper()
	r := journal.Record{Ref: engine.EventRef(number), Stream: 1, First: 1, Last: int64(n), Epoch: 1}
	var scratch codec.Scratch
	for i := range n {
		var tail [10]byte
		binary.BigEndian.PutUint64(tail[:], rand.Uint64())
		now := time.Now().UnixMilli()
		f := &event.OrderCreated{Order: &event.Order{
			ID: engine.NewID(number, tail[:]), Serial: 1<<32 + 7, Fingerprint: rand.Uint64(), Status: event.Pending,
			Email: fmt.Sprintf("buyer%d@example.com", i), Name: "Ada Lovelace", Customer: rand.Uint64(),
			Lines:    []event.OrderLine{{Type: 4242, Name: "General admission", Quantity: 2, UnitPrice: 4500}},
			Currency: "USD", Subtotal: 9000, Fees: 450, Total: 9450, CreatedAt: now, UpdatedAt: now, ExpiresAt: now + 900_000,
		}}
		r.Facts = append(r.Facts, f)
		var err error
		r.Bytes, err = codec.AppendFact(r.Bytes, f, &scratch)
		require.NoError(t, err)
	}
	return journal.Batch{Writer: 1, Seq: 1, Records: []journal.Record{r}}
}

func ownCPU(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverCPU is what the server's processes have used. They must not end while
// it is measured.
func serverCPU(t testing.TB, pool *pgxpool.Pool) time.Duration {
	t.Helper()
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	postmaster := parent(t, int(conn.Conn().PgConn().PID()))
	stats, err := filepath.Glob("/proc/[0-9]*/schedstat")
	require.NoError(t, err)
	var sum time.Duration
	for _, path := range stats {
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		require.NoError(t, err)
		if pid != postmaster && parent(t, pid) != postmaster {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		ns, err := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
		require.NoError(t, err)
		sum += time.Duration(ns)
	}
	return sum
}

// parent is the process's parent, 0 if it has ended.
func parent(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	ppid, err := strconv.Atoi(string(fields[1]))
	require.NoError(t, err)
	return ppid
}

func walBytes(t testing.TB, pool *pgxpool.Pool) (n uint64) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT (pg_current_wal_insert_lsn() - '0/0')::numeric::text::bigint`).Scan(&n))
	return n
}

package readmodel_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

// BenchmarkApply reports what the read model costs per order, ours and the
// server's, in transactions of 2,000 orders of one line, as the follower makes
// them of what the lanes hand over.
func BenchmarkApply(b *testing.B) {
	for _, c := range []struct {
		name         string
		before, then func(*crowd)
	}{
		{name: "created", then: (*crowd).create},
		{name: "created, read back", then: func(c *crowd) { c.create(); c.record.Facts = nil }},
		{name: "free", then: func(c *crowd) { c.create(); c.complete() }},
		{name: "attempt begun", before: (*crowd).create, then: (*crowd).begin},
		{name: "paid", before: func(c *crowd) { c.create(); c.begin() }, then: (*crowd).pay},
		{name: "expired", before: (*crowd).create, then: (*crowd).expire},
		{name: "checked in", before: func(c *crowd) { c.create(); c.complete() }, then: (*crowd).scan},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkApply(b, c.before, c.then) })
	}
}

func benchmarkApply(b *testing.B, before, then func(*crowd)) {
	pool := persisttest.Migrated(b)
	w := readmodel.NewWriter()
	const size = 2000
	var ours, theirs time.Duration
	var wal uint64
	apply := func(c *crowd) {
		require.NoError(b, pgx.BeginTxFunc(b.Context(), pool, pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL synchronous_commit = off"},
			func(tx pgx.Tx) error {
				return w.Apply(b.Context(), tx, []journal.Batch{{Writer: 1, Seq: 1, Records: []journal.Record{c.record}}})
			}))
	}
	for b.Loop() {
		b.StopTimer()
		c := newCrowd(b, rand.Int64N(1<<40), size)
		if before != nil {
			before(c)
			apply(c)
			c.record.Facts, c.record.Bytes = nil, nil
		}
		then(c)
		own, server, log := ownCPU(b), serverCPU(b, pool), walBytes(b, pool)
		b.StartTimer()
		apply(c)
		b.StopTimer()
		ours, theirs, wal = ours+ownCPU(b)-own, theirs+serverCPU(b, pool)-server, wal+walBytes(b, pool)-log
		b.StartTimer()
	}
	orders := float64(b.N) * size
	b.ReportMetric(float64(ours.Nanoseconds())/1e3/orders, "our-us/order")
	b.ReportMetric(float64(theirs.Nanoseconds())/1e3/orders, "pg-us/order")
	b.ReportMetric(float64(wal)/orders, "wal-B/order")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFollow reports what the whole follower costs per order at 10,000
// orders/s, offered in batches of 5 ms, and how far behind it is.
func BenchmarkFollow(b *testing.B) {
	const size, every = 50, 5 * time.Millisecond
	pool := persisttest.Migrated(b)
	f := follower.New(follower.Config{
		Name: readmodel.Follower, Pool: pool, Apply: readmodel.NewWriter().Apply, Log: slog.New(slog.DiscardHandler),
	})
	batches := make([]*journal.Batch, 200) // a second
	b.ReportMetric(0, "ns/op")
	var seq, last int64
	f.Start(fedOnly{})
	var ours, theirs, delay time.Duration
	for b.Loop() {
		b.StopTimer()
		for i := range batches {
			c := newCrowd(b, 1, size)
			c.create()
			c.record.First, c.record.Last = last+1, last+size
			seq, last = seq+1, last+size
			batches[i] = &journal.Batch{Writer: 1, Seq: seq, Records: []journal.Record{c.record}}
		}
		runtime.GC()
		own, server := ownCPU(b), serverCPU(b, pool)
		b.StartTimer()
		tick := time.NewTicker(every)
		for _, batch := range batches {
			<-tick.C
			f.Offer(batch)
			delay = max(delay, f.Lag().Delay)
		}
		tick.Stop()
		require.NoError(b, f.Passed(b.Context()))
		b.StopTimer()
		ours, theirs = ours+ownCPU(b)-own, theirs+serverCPU(b, pool)-server
		b.StartTimer()
	}
	require.NoError(b, f.Stop(b.Context()))
	orders := float64(b.N * len(batches) * size)
	b.ReportMetric(float64(ours.Nanoseconds())/1e3/orders, "our-us/order")
	b.ReportMetric(float64(theirs.Nanoseconds())/1e3/orders, "pg-us/order")
	b.ReportMetric(float64(delay.Milliseconds()), "max-delay-ms")
}

// fedOnly is a journal of which everything is offered.
type fedOnly struct{ follower.Journal }

func (fedOnly) Writers(context.Context) ([]journal.Writer, error) { return nil, nil }

func (fedOnly) ReadWriter(context.Context, int32, int64) iter.Seq2[journal.Batch, error] {
	return func(func(journal.Batch, error) bool) {}
}

// crowd makes the facts of many orders of one event.
type crowd struct {
	t      testing.TB
	orders []*order.Order
	record journal.Record
}

func newCrowd(t testing.TB, number int64, n int) *crowd {
	t.Helper()
	c := &crowd{t: t, record: journal.Record{Ref: engine.EventRef(number), Stream: 1, First: 1, Epoch: 1}}
	now := time.Now().UnixMilli()
	for i := range n {
		var tail [10]byte
		binary.BigEndian.PutUint64(tail[:], rand.Uint64())
		c.orders = append(c.orders, &order.Order{
			ID: engine.NewID(number, tail[:]), Serial: 1<<32 + 7, Fingerprint: rand.Uint64(), Status: order.StatusPending,
			Email: fmt.Sprintf("buyer%d@example.com", i), Name: "Ada Lovelace", Customer: rand.Uint64(),
			Lines:    []order.Line{{Type: 4242, Name: "General admission", Quantity: 2, UnitPrice: 4500}},
			Currency: "USD", Subtotal: 9000, Fees: 450, Total: 9450, CreatedAt: now, UpdatedAt: now, ExpiresAt: now + 900_000,
		})
	}
	return c
}

func (c *crowd) add(facts ...engine.Fact) {
	for _, f := range facts {
		var err error
		c.record.Bytes, err = codec.AppendFact(c.record.Bytes, f)
		require.NoError(c.t, err)
	}
	c.record.Facts = append(c.record.Facts, facts...)
}

func (c *crowd) create() {
	for _, o := range c.orders {
		c.add(&order.Created{Order: o})
	}
}

func (c *crowd) complete() {
	for i, o := range c.orders {
		c.add(&order.Completed{ID: o.ID, Serial: o.Serial, First: uint32(2*i + 1), At: o.CreatedAt})
	}
}

func (c *crowd) begin() {
	for _, o := range c.orders {
		attempt := order.Attempt{
			Reference: o.ID.String() + "-1", Provider: "paystack", Status: order.AttemptPending, Amount: o.Total, At: o.CreatedAt,
		}
		c.add(&order.PaymentBegun{ID: o.ID, Attempt: attempt, ExpiresAt: o.ExpiresAt})
	}
}

func (c *crowd) pay() {
	for i, o := range c.orders {
		c.add(&order.PaymentReported{ID: o.ID, Reference: o.ID.String() + "-1", Status: order.AttemptSucceeded, Received: o.Total, At: o.CreatedAt},
			&order.Completed{ID: o.ID, Serial: o.Serial, First: uint32(2*i + 1), At: o.CreatedAt})
	}
}

func (c *crowd) expire() {
	for _, o := range c.orders {
		c.add(&order.Ended{ID: o.ID, Status: order.StatusExpired, At: o.ExpiresAt})
	}
}

func (c *crowd) scan() {
	for i, o := range c.orders {
		c.add(&admission.CheckedIn{Ticket: uint32(i + 1), At: o.CreatedAt, Gate: "North"})
	}
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

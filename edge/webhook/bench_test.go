package webhook_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

// BenchmarkTell reports what it costs us, without the server, to tell of orders
// of two tickets, in transactions of 500.
func BenchmarkTell(b *testing.B) {
	const size = 500
	pool := persisttest.Migrated(b)
	master, err := secrets.New(make([]byte, secrets.KeySize))
	require.NoError(b, err)
	s := publicfacts.New(pool, journal.NewReader(pool), master, &webhook.Teller{Secrets: master})
	_, err = pool.Exec(b.Context(), `INSERT INTO followers VALUES ('readmodel', 1, $1)`, int64(math.MaxInt64))
	require.NoError(b, err)
	details := &event.Details{Org: 1, PublicID: engine.NewID(1, make([]byte, 10)), Title: "Friday Night", Category: "music"}
	begun := journal.Record{Ref: engine.EventRef(1), First: 1, Facts: []engine.Fact{&event.Created{Details: details, At: 1}}}
	done := journal.Record{Ref: engine.EventRef(1), First: 1 + size}
	for i := range size {
		var tail [10]byte
		binary.BigEndian.PutUint64(tail[:], uint64(i))
		id := engine.NewID(1, tail[:])
		begun.Facts = append(begun.Facts, &order.Created{Order: &order.Order{
			ID: id, Status: order.StatusPending, Email: fmt.Sprintf("buyer%d@example.com", i), Name: "Ada Lovelace", Currency: "USD",
			Lines:    []order.Line{{Type: 4242, Name: "General admission", Quantity: 2, UnitPrice: 4500}},
			Subtotal: 9000, Fees: 450, Total: 9450, CreatedAt: 5, UpdatedAt: 5, ExpiresAt: 6,
		}})
		done.Facts = append(done.Facts, &order.Completed{ID: id, First: uint32(2*i + 1), At: 7})
	}
	for _, f := range begun.Facts {
		begun.Bytes, err = codec.AppendFact(begun.Bytes, f)
		require.NoError(b, err)
	}
	apply := func(do func(pgx.Tx, []journal.Batch) error, r journal.Record) {
		require.NoError(b, pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
			return do(tx, []journal.Batch{{Writer: 1, Seq: 1, Records: []journal.Record{r}}})
		}))
	}
	apply(func(tx pgx.Tx, batches []journal.Batch) error {
		return readmodel.NewWriter().Apply(b.Context(), tx, batches)
	}, begun)
	for _, c := range []struct {
		name   string
		record journal.Record
	}{{"created", begun}, {"completed", done}} {
		b.Run(c.name, func(b *testing.B) {
			cpu := ownCPU(b)
			for b.Loop() {
				apply(func(tx pgx.Tx, batches []journal.Batch) error { return s.Apply(b.Context(), tx, batches) }, c.record)
			}
			orders := float64(b.N) * size
			b.ReportMetric(float64((ownCPU(b)-cpu).Nanoseconds())/1e3/orders, "our-us/order")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/orders, "us/order")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func ownCPU(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package receipts

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/receipts"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// openReceipts returns handlers on a fresh database that has one receipt, in the order's currency or in another.
func openReceipts(t *testing.T, fits bool) (*Handlers, *pgxpool.Pool) {
	t.Helper()
	pool := persisttest.Migrated(t)
	h := New(Deps{
		Receipts: receipts.New(pool), Log: slog.New(slog.DiscardHandler),
		FindPayment: func(context.Context, string) (readmodel.Payment, error) { return readmodel.Payment{}, nil },
	})
	var org int64
	require.NoError(t, pool.QueryRow(t.Context(), `INSERT INTO organizations (name, slug) VALUES ('x', 'x') RETURNING id`).Scan(&org))
	_, err := h.Receipts.Add(t.Context(), org, []receipts.Receipt{{
		Name: "line/1", Order: engine.OrderID{1}, Attempt: "T-1", Amount: 2500, Currency: "EUR", Asked: 2500, Fits: fits, Day: time.Now(),
	}})
	require.NoError(t, err)
	return h, pool
}

// TestFailedReadSettlesNothing makes the read of an attempt's receipts fail, by a column that the update does not
// use. The receipt must be found again.
func TestFailedReadSettlesNothing(t *testing.T) {
	t.Parallel()
	h, pool := openReceipts(t, true)
	_, err := pool.Exec(t.Context(), `ALTER TABLE receipts RENAME COLUMN payer TO hidden`)
	require.NoError(t, err)
	require.NoError(t, h.settleDue(t.Context()))
	due, err := h.Receipts.Unsettled(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []string{"T-1"}, due)
}

func TestOtherCurrencyIsNothingForTheOrder(t *testing.T) {
	t.Parallel()
	h, _ := openReceipts(t, false)
	require.NoError(t, h.settleDue(t.Context()))
	due, err := h.Receipts.Unsettled(t.Context(), 1)
	require.NoError(t, err)
	require.Empty(t, due)
}

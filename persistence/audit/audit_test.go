package audit_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/persistence/audit"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

const within = 30 * time.Second

// TestRun audits a sound journal, and the same one with a single thing wrong.
func TestRun(t *testing.T) {
	t.Parallel()
	const lacks = "inventory/1/11: unpaid order 00000000-0001-8000-8200-000000000000 has no reservation of 3"
	for name, test := range map[string]struct {
		spoil  func(*history) // before it is written
		damage string         // SQL, after it was, to the event's stream
		finds  []string
	}{
		"sound": {},
		"a gap": {
			damage: `DELETE FROM journal WHERE stream_id = $1 AND first_seq = 3`,
			finds:  []string{"event/1/1: facts 4-4 follow 2"},
		},
		"an overlap": {
			damage: `UPDATE journal SET first_seq = 2 WHERE stream_id = $1 AND first_seq = 3`,
			finds:  []string{"event/1/1: facts 2-3 follow 2"},
		},
		"a record without its facts": {
			damage: `UPDATE journal SET facts = '' WHERE stream_id = $1 AND first_seq = 3`,
			finds:  []string{"event/1/1: record 3-3 holds 0 facts"},
		},
		"an epoch goes back": {
			damage: `UPDATE journal SET epoch = 9 WHERE stream_id = $1 AND first_seq = 2`,
			finds:  []string{"event/1/1: epoch 3 follows 9 at fact 3"},
		},
		"tickets without stock sold": {
			spoil: func(h *history) { h.stock[2] = &keeper.ReleasedFact{Claim: claim(1)} },
			finds: []string{"inventory/1/11: 3 tickets issued, 1 units sold"},
		},
		"stock sold without tickets": {
			spoil: func(h *history) { h.stock = append(h.stock, &keeper.CommittedFact{Claim: claim(2)}) },
			finds: []string{"inventory/1/11: 3 tickets issued, 6 units sold", lacks},
		},
		"oversold": {
			spoil: func(h *history) { h.stock[0].(*inventory.Created).Details.Quantity = 6 },
			finds: []string{"inventory/1/11: inventory: oversold: 2 sold + 5 held of 6"},
		},
		"an unpaid order without its reservation": {
			spoil: func(h *history) { h.stock = append(h.stock, &keeper.ReleasedFact{Claim: claim(2)}) },
			finds: []string{lacks},
		},
		"an unpaid order with too small a reservation": {
			spoil: func(h *history) { h.stock[3] = reserved(2, 1) },
			finds: []string{lacks},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := persisttest.Migrated(t)
			h := sound()
			if test.spoil != nil {
				test.spoil(&h)
			}
			stream := h.write(t, pool)
			if test.damage != "" {
				tag, err := pool.Exec(t.Context(), test.damage, stream)
				require.NoError(t, err)
				require.EqualValues(t, 1, tag.RowsAffected())
			}
			r, err := audit.Run(t.Context(), journal.NewReader(pool))
			require.NoError(t, err)
			require.Equal(t, test.finds, r.Findings)
			require.Equal(t, len(test.finds) == 0, r.Clean())
			if r.Clean() {
				require.Equal(t, &audit.Report{Streams: 2, Facts: 13, Events: 1, Tickets: 3, Sold: 3, Held: 4, Orphans: 1}, r)
			}
		})
	}
}

// history is what an event with one ticket type has journaled.
type history struct{ event, stock []engine.Fact }

// sound sells 2 to order 1, which is done, and 1 to order 3, whose commit has
// not reached the stock. Order 2 waits for money with 3; of order 4 only the
// reservation has outlived a crash.
func sound() history {
	return history{
		event: []engine.Fact{
			&event.Created{Details: &event.Details{Title: "Show", Capacity: event.NoCapacity}},
			&event.Moved{From: event.StatusDraft, To: event.StatusPublished},
			created(1, 2),
			&event.OrderCompleted{ID: claim(1).Order, Serial: claim(1).Serial, First: 1},
			created(2, 3),
			created(3, 1),
			&event.OrderCompleted{ID: claim(3).Order, Serial: claim(3).Serial, First: 3},
		},
		stock: []engine.Fact{
			&inventory.Created{Details: &inventory.Details{Name: "Tier", Quantity: 10}},
			reserved(1, 2),
			&keeper.CommittedFact{Claim: claim(1)},
			reserved(2, 3),
			reserved(3, 1),
			reserved(4, 1),
		},
	}
}

// claim is that of the n-th order.
func claim(n uint32) keeper.Claim {
	return keeper.Claim{Order: engine.NewID(1, []byte{2: byte(n), 9: 0}), Serial: keeper.NewSerial(1, n)}
}

func created(n uint32, quantity int64) *event.OrderCreated {
	c := claim(n)
	return &event.OrderCreated{Order: &event.Order{
		ID: c.Order, Serial: c.Serial, Status: event.Pending, Customer: uint64(n),
		Lines: []event.OrderLine{{Type: 11, Quantity: quantity}}, ExpiresAt: time.Hour.Milliseconds(),
	}}
}

func reserved(n uint32, quantity int64) *keeper.ReservedFact {
	return &keeper.ReservedFact{Claim: claim(n), Quantity: quantity, Customer: uint64(n)}
}

// write journals the history, each fact under a claim of its own, and returns
// the event's stream.
func (h history) write(t *testing.T, pool *pgxpool.Pool) (stream int64) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "node", Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer func() {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	}()
	write := func(ref engine.Ref, facts []engine.Fact) (stream int64) {
		for i, f := range facts {
			bytes, err := codec.AppendFact(nil, f, new(codec.Scratch))
			require.NoError(t, err)
			c, err := j.Claim(t.Context(), ref)
			require.NoError(t, err)
			v := make(verdict, 1)
			j.Append(&journal.Entry{Ref: ref, Claim: c, First: int64(i) + 1, Facts: []engine.Fact{f}, Bytes: bytes, Owner: v})
			require.NoError(t, <-v)
			stream = c.Stream
		}
		return stream
	}
	write(engine.InventoryRef(1, 11), h.stock)
	return write(engine.EventRef(1), h.event)
}

// verdict is an Owner that passes on what it heard.
type verdict chan error

// Settled takes the verdict.
func (v verdict) Settled(err error) { v <- err }

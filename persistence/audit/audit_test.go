package audit_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/audit"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

const within = 30 * time.Second

// TestRun audits a sound journal, and journals that each have one thing wrong.
func TestRun(t *testing.T) {
	t.Parallel()
	const lacks = "inventory/1/11: unpaid order 00000000-0001-8000-8200-000000000000 has no reservation of 3"
	for name, test := range map[string]struct {
		spoil  func(*history) // changes the history before it is written
		damage string         // SQL that damages the event's stream afterwards
		finds  []string
	}{
		"sound": {},
		"a gap": {
			damage: `DELETE FROM journal WHERE streams = ARRAY[$1::bigint] AND firsts = '{3}'`,
			finds:  []string{"event/1/1: facts 4-4 follow 2"},
		},
		"a record that no span and no tail names": {
			damage: `INSERT INTO journal SELECT 1000, 1, day, streams, epochs, '{8}', '{8}', ends, facts
FROM journal WHERE streams = ARRAY[$1::bigint] AND firsts = '{7}'`,
			finds: []string{"journal: of 16 records 15 are found by stream"},
		},
		"an overlap": {
			damage: `UPDATE journal SET firsts = '{2}' WHERE streams = ARRAY[$1::bigint] AND firsts = '{3}'`,
			finds:  []string{"event/1/1: facts 2-3 follow 2"},
		},
		"a record without its facts": {
			damage: `UPDATE journal SET ends = '{0}', facts = '' WHERE streams = ARRAY[$1::bigint] AND firsts = '{3}'`,
			finds:  []string{"event/1/1: record 3-3 holds 0 facts"},
		},
		"an epoch goes back": {
			damage: `UPDATE journal SET epochs = '{9}' WHERE streams = ARRAY[$1::bigint] AND firsts = '{2}'`,
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
		"a balance that is not the ledger's": {
			spoil: func(h *history) { h.wallet[1].(*wallet.Entered).Entry.Balance++ },
			finds: []string{"wallet/1/1: wallet: balance 3, the ledger comes to 2"},
		},
		"an overdrawn wallet": {
			spoil: func(h *history) { h.wallet = h.wallet[1:] },
			finds: []string{"wallet/1/1: wallet: balance 2, the ledger comes to -3"},
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
				require.Equal(t, &audit.Report{Streams: 3, Facts: 15, Records: 15, Events: 1, Tickets: 3, Sold: 3, Held: 4, Orphans: 1}, r)
			}
		})
	}
}

// TestRunSeats audits an event with seats, and histories that each have one thing wrong.
func TestRunSeats(t *testing.T) {
	t.Parallel()
	const one, two = "00000000-0001-8000-8100-000000000000", "00000000-0001-8000-8200-000000000000"
	for name, test := range map[string]struct {
		spoil func(*history)
		finds []string
	}{
		"sound": {},
		"no seat map": {
			spoil: func(h *history) { h.seats = nil },
			finds: []string{"seatmap/1/1: 3 orders with seats, and no seat map"},
		},
		"an order without its seats": {
			spoil: func(h *history) { h.seats = append(h.seats[:2], h.seats[4:]...) },
			finds: []string{"seatmap/1/1: completed order " + one + " has the seats [], not [A1 A2]"},
		},
		"an order with one seat of two": {
			spoil: func(h *history) { h.seats[2] = taken(1, 1) },
			finds: []string{"seatmap/1/1: completed order " + one + " has the seats [A2], not [A1 A2]"},
		},
		"seats sold without an order": {
			spoil: func(h *history) { h.seats = append(h.seats, &keeper.CommittedFact{Claim: claim(4)}) },
			finds: []string{"seatmap/1/1: seats [A4] are sold to order 00000000-0001-8000-8400-000000000000, which has not bought them"},
		},
		"seats sold to an order that expired": {
			spoil: func(h *history) { h.seats = append(h.seats, &keeper.CommittedFact{Claim: claim(3)}) },
			finds: []string{"seatmap/1/1: seats [A5] are sold to order 00000000-0001-8000-8300-000000000000, which has not bought them"},
		},
		"an unpaid order whose seats are sold": {
			spoil: func(h *history) { h.seats = append(h.seats, &keeper.CommittedFact{Claim: claim(2)}) },
			finds: []string{"seatmap/1/1: unpaid order " + two + " has no reservation of [A3]"},
		},
		"a seat of two orders": {
			spoil: func(h *history) { seat(h.event[4]).Order.Lines[0].Seats[0] = "A1" },
			finds: []string{
				"seatmap/1/1: pending order " + two + " has the seats [A3], not [A1]",
				"seatmap/1/1: seat A1 is of the orders " + one + " and " + two,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := persisttest.Migrated(t)
			h := seated()
			if test.spoil != nil {
				test.spoil(&h)
			}
			h.write(t, pool)
			r, err := audit.Run(t.Context(), journal.NewReader(pool))
			require.NoError(t, err)
			require.Equal(t, test.finds, r.Findings)
			if r.Clean() {
				require.Equal(t, &audit.Report{Streams: 3, Facts: 20, Records: 20, Events: 1, Tickets: 2, Sold: 2, Held: 1, Orphans: 1, Seats: 3}, r)
			}
		})
	}
}

// seated sells A1 and A2 to order 1, which is completed. Order 2 waits for money and has A3; order
// 3 has expired and gives A5 back; of order 4 only the reservation of A4 has survived a crash.
func seated() history {
	h := history{
		event: []engine.Fact{
			&event.Created{Details: &event.Details{Title: "Show", Capacity: event.NoCapacity}},
			&event.Moved{From: event.StatusDraft, To: event.StatusPublished},
			created(1, 2),
			&order.Completed{ID: claim(1).Order, Serial: claim(1).Serial, First: 1},
			created(2, 1),
			created(3, 1),
			&order.Ended{ID: claim(3).Order, Status: order.StatusExpired},
		},
		stock: []engine.Fact{
			&inventory.Created{Details: &inventory.Details{Name: "Tier", Quantity: 5, Seated: true}},
			reserved(1, 2),
			&keeper.CommittedFact{Claim: claim(1)},
			reserved(2, 1),
			reserved(3, 1),
		},
		seats: []engine.Fact{
			&seatmap.AttachedFact{Layout: enginetest.NewLayout(1, "floor:A=sssss"), Mode: seatmap.Reserved, HoldTime: seatmap.MinHold},
			&seatmap.PricedFact{Types: []int64{11}},
			taken(1, 0, 1),
			&keeper.CommittedFact{Claim: claim(1)},
			taken(2, 2),
			taken(3, 4),
			taken(4, 3),
		},
	}
	for i, ids := range map[int][]string{2: {"A2", "A1"}, 4: {"A3"}, 5: {"A5"}} {
		o := seat(h.event[i]).Order
		o.Lines[0].Seats, o.Shopper = ids, &order.Shopper{Principal: 7}
	}
	h.stock = append(h.stock, &keeper.ReleasedFact{Claim: claim(3)})
	return h
}

func seat(f engine.Fact) *order.Created { return f.(*order.Created) }

// taken returns the reservation of seats for the n-th order.
func taken(n uint32, seats ...int32) *seatmap.ReservedFact {
	return &seatmap.ReservedFact{Reservation: *reserved(n, int64(len(seats))), Seats: seats}
}

// history is what an event with one ticket type, with or without seats, has journaled, and the
// wallet of the organization that has the event's number.
type history struct{ event, stock, wallet, seats []engine.Fact }

// sound sells 2 to order 1, which is completed, and 1 to order 3, whose commit has not reached the
// stock. Order 2 waits for money and has 3; of order 4 only the reservation has survived a crash.
func sound() history {
	return history{
		event: []engine.Fact{
			&event.Created{Details: &event.Details{Title: "Show", Capacity: event.NoCapacity}},
			&event.Moved{From: event.StatusDraft, To: event.StatusPublished},
			created(1, 2),
			&order.Completed{ID: claim(1).Order, Serial: claim(1).Serial, First: 1},
			created(2, 3),
			created(3, 1),
			&order.Completed{ID: claim(3).Order, Serial: claim(3).Serial, First: 3},
		},
		stock: []engine.Fact{
			&inventory.Created{Details: &inventory.Details{Name: "Tier", Quantity: 10}},
			reserved(1, 2),
			&keeper.CommittedFact{Claim: claim(1)},
			reserved(2, 3),
			reserved(3, 1),
			reserved(4, 1),
		},
		wallet: []engine.Fact{
			&wallet.Entered{Entry: wallet.Entry{ID: claim(1).Order, Kind: wallet.Credited, Number: 1, Amount: 5, Balance: 5}},
			&wallet.Entered{Entry: wallet.Entry{ID: claim(2).Order, Kind: wallet.Debited, Number: 2, Amount: 3, Balance: 2}},
		},
	}
}

// claim returns the claim of the n-th order.
func claim(n uint32) keeper.Claim {
	return keeper.Claim{Order: engine.NewID(1, []byte{2: byte(n), 9: 0}), Serial: keeper.NewSerial(1, n)}
}

func created(n uint32, quantity int64) *order.Created {
	c := claim(n)
	return &order.Created{Order: &order.Order{
		ID: c.Order, Serial: c.Serial, Status: order.StatusPending, Customer: uint64(n),
		Lines: []order.Line{{Type: 11, Quantity: quantity}}, ExpiresAt: time.Hour.Milliseconds(),
	}}
}

func reserved(n uint32, quantity int64) *keeper.ReservedFact {
	return &keeper.ReservedFact{Claim: claim(n), Quantity: quantity, Customer: uint64(n)}
}

// write journals the history, each fact under a claim of its own, and returns the event's stream.
func (h history) write(t *testing.T, pool *pgxpool.Pool) (stream int64) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "node", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true})
	require.NoError(t, err)
	defer func() {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
	}()
	write := func(ref engine.Ref, facts []engine.Fact) (stream int64) {
		for i, f := range facts {
			bytes, err := codec.AppendFact(nil, f)
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
	write(engine.WalletRef(1, "USD"), h.wallet)
	write(engine.SeatmapRef(1), h.seats)
	return write(engine.EventRef(1), h.event)
}

// verdict is an Owner that passes on the outcome it is told.
type verdict chan error

// Settled passes the outcome on.
func (v verdict) Settled(err error) { v <- err }

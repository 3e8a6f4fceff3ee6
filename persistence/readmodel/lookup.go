package readmodel

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// This file is for followers that come after the read model: what they read of it within their own transactions.

// Passed reports whether the read model has applied these batches, and committed that.
func Passed(ctx context.Context, tx pgx.Tx, batches []journal.Batch) (bool, error) {
	const passed = `
SELECT coalesce(bool_and(f.batch IS NOT NULL AND f.batch >= b.batch), true)
FROM unnest($2::int[], $3::bigint[]) AS b(writer, batch)
LEFT JOIN followers f ON f.name = $1 AND f.writer = b.writer`
	// Each writer's batches are numbered in a row, so only the last of each writer matters.
	last := make(map[int32]int64)
	for i := range batches {
		last[batches[i].Writer] = max(last[batches[i].Writer], batches[i].Seq)
	}
	var writers []int32
	var seqs []int64
	for writer, seq := range last {
		writers, seqs = append(writers, writer), append(seqs, seq)
	}
	var ok bool
	if err := tx.QueryRow(ctx, passed, Follower, writers, seqs).Scan(&ok); err != nil {
		return false, fmt.Errorf("readmodel: position: %w", err)
	}
	return ok, nil
}

// pollEvery is the pause between two looks at how far the read model is.
const pollEvery = 20 * time.Millisecond

// AwaitPassed waits until the read model has applied these batches. It returns an error if the context ends before.
func AwaitPassed(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	for {
		passed, err := Passed(ctx, tx, batches)
		if err != nil || passed {
			return err
		}
		timer := time.NewTimer(pollEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("readmodel: is behind: %w", ctx.Err())
		}
	}
}

// TicketKey names a ticket.
type TicketKey struct {
	Event  int64
	Serial uint32
}

// Scanned is a ticket as the gates have left it, with its order.
type Scanned struct {
	Order       *order.Order
	Serial      uint32
	Status      string
	CheckedInAt int64 // unix milliseconds; 0: not yet
	Gate        string
}

// Lookup is a set of records by their ids. A caller puts in the keys that it needs with nil values, and Read fills
// them in.
type Lookup struct {
	Events  map[int64]*event.Record // without Types and Sold
	Orders  map[engine.OrderID]*order.Order
	Types   map[int64]*TicketType
	Tickets map[TicketKey]*Scanned
}

// NewLookup makes an empty Lookup.
func NewLookup() *Lookup {
	return &Lookup{
		Events: make(map[int64]*event.Record), Orders: make(map[engine.OrderID]*order.Order),
		Types: make(map[int64]*TicketType), Tickets: make(map[TicketKey]*Scanned),
	}
}

// Read fills in the records that there are, in one round trip. A key without a record keeps its nil.
func (l *Lookup) Read(ctx context.Context, tx pgx.Tx) error {
	b := &pgx.Batch{}
	b.Queue(byIndex)
	l.queueEvents(b)
	l.queueOrders(b)
	l.queueTypes(b)
	l.queueTickets(b)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("readmodel: look up: %w", err)
	}
	return nil
}

// queueEvents queues the query for the events that are asked for, if any are.
func (l *Lookup) queueEvents(b *pgx.Batch) {
	if len(l.Events) == 0 {
		return
	}
	const find = `SELECT number, status, created_at, updated_at, revision, record FROM events WHERE number = ANY($1)`
	b.Queue(find, slices.Collect(maps.Keys(l.Events))).Query(func(rows pgx.Rows) error {
		var status string
		var number int64
		var revision uint64
		var created, updated time.Time
		var record []byte
		_, err := pgx.ForEachRow(rows, []any{&number, &status, &created, &updated, &revision, &record}, func() error {
			e := &event.Record{
				Number: number, Details: new(event.Details), Status: status,
				CreatedAt: created.UnixMilli(), UpdatedAt: updated.UnixMilli(), Revision: revision,
			}
			l.Events[number] = e
			return codec.Unmarshal(record, e.Details)
		})
		return err
	})
}

// queueOrders queues the query for the orders that are asked for, if any are.
func (l *Lookup) queueOrders(b *pgx.Batch) {
	if len(l.Orders) == 0 {
		return
	}
	ids := make([][16]byte, 0, len(l.Orders))
	for id := range l.Orders {
		ids = append(ids, id)
	}
	b.Queue(`SELECT record FROM orders WHERE id = ANY($1)`, ids).Query(func(rows pgx.Rows) error {
		var record []byte
		_, err := pgx.ForEachRow(rows, []any{&record}, func() error {
			o := new(order.Order)
			if err := codec.Unmarshal(record, o); err != nil {
				return err
			}
			l.Orders[o.ID] = o
			return nil
		})
		return err
	})
}

// queueTypes queues the query for the ticket types that are asked for, if any are.
func (l *Lookup) queueTypes(b *pgx.Batch) {
	if len(l.Types) == 0 {
		return
	}
	const find = `SELECT number, event, created_at, revision, record FROM ticket_types WHERE number = ANY($1)`
	b.Queue(find, slices.Collect(maps.Keys(l.Types))).Query(func(rows pgx.Rows) error {
		var number, event int64
		var revision uint64
		var created time.Time
		var record []byte
		_, err := pgx.ForEachRow(rows, []any{&number, &event, &created, &revision, &record}, func() error {
			t := &TicketType{Ref: engine.InventoryRef(event, number), CreatedAt: created.UnixMilli(), Revision: revision}
			l.Types[number] = t
			return codec.Unmarshal(record, &t.Details)
		})
		return err
	})
}

// queueTickets queues the query for the tickets that are asked for, each with its order, if any are.
func (l *Lookup) queueTickets(b *pgx.Batch) {
	if len(l.Tickets) == 0 {
		return
	}
	const find = `
SELECT t.event_id, t.serial, t.status, t.checked_in_at, coalesce(t.gate, ''), o.record
FROM unnest($1::bigint[], $2::int[]) AS k(event_id, serial)
JOIN tickets t USING (event_id, serial) JOIN orders o ON o.id = t.order_id`
	events, serials := make([]int64, 0, len(l.Tickets)), make([]int32, 0, len(l.Tickets))
	for k := range l.Tickets {
		events, serials = append(events, k.Event), append(serials, int32(k.Serial))
	}
	b.Queue(find, events, serials).Query(func(rows pgx.Rows) error {
		var k TicketKey
		var status int16
		var at *time.Time
		var gate string
		var record []byte
		_, err := pgx.ForEachRow(rows, []any{&k.Event, &k.Serial, &status, &at, &gate, &record}, func() error {
			t := &Scanned{Order: new(order.Order), Serial: k.Serial, Status: ticketStatuses[status], CheckedInAt: millis(at), Gate: gate}
			l.Tickets[k] = t
			return codec.Unmarshal(record, t.Order)
		})
		return err
	})
}

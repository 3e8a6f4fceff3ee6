package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/codec"
)

// typeFact queues the statement that applies a fact to a ticket type's row: it makes the row, or changes it and
// raises its revision. Other facts don't change the row. A type that can't be sold because it has no seats
// counts as hidden.
func (w *Writer) typeFact(ref engine.Ref, f engine.Fact) error {
	const create = `
INSERT INTO ticket_types (number, price, quantity, sort_order, sale_start, sale_end, hidden, name, record, event, created_at, revision, sold_out)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $3::bigint = 0::bigint)`
	const update = `
UPDATE ticket_types SET price = $2, quantity = $3, sort_order = $4, sale_start = $5, sale_end = $6, hidden = $7, name = $8,
  record = $9, revision = revision + 1
WHERE number = $1`
	row := func(d *inventory.Details) ([]any, error) {
		record, err := codec.Marshal(d)
		return []any{
			ref.ID, d.Price, d.Quantity, d.SortOrder, time.UnixMilli(d.SaleStart), time.UnixMilli(d.SaleEnd), d.Hidden || d.Unmapped(), text(d.Name), record,
		}, err
	}
	switch f := f.(type) {
	case *inventory.Created:
		args, err := row(f.Details)
		w.batch.Queue(create, append(args, ref.Home, time.UnixMilli(f.At))...)
		return err
	case *inventory.Updated:
		args, err := row(f.Details)
		w.batch.Queue(update, args...)
		return err
	default:
		return nil
	}
}

// queueOffered queues the statement that notes whether a ticket type has stock. The fact is one of the event's
// stream, where such facts are rare; the type's own stream has a fact about its stock for every order. The fact
// may be applied before the row of a new type is there. It then changes nothing, and the new row
// has stock unless its quantity is 0.
func (w *Writer) queueOffered(f *event.Offered) {
	w.batch.Queue(`UPDATE ticket_types SET sold_out = $2 WHERE number = $1 AND sold_out <> $2`, f.Offer.Keeper.ID, f.Offer.SoldOut)
}

// TicketType is a ticket type's record. How many of its tickets are left is not part of it.
type TicketType struct {
	Ref       engine.Ref
	Details   inventory.Details
	CreatedAt int64 // unix milliseconds
	// Revision counts changes of the record. An update must name the actor's own revision instead, which also rises
	// for example when the type sells out.
	Revision uint64
}

// TicketTypes lists an event's ticket types, hidden ones too, in the organizer's
// order.
func (m *Model) TicketTypes(ctx context.Context, event int64) ([]TicketType, error) {
	const find = `
SELECT number, created_at, revision, record FROM ticket_types WHERE event = $1 ORDER BY sort_order, number`
	rows, _ := m.pool.Query(ctx, find, event) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t TicketType, err error) {
		var number int64
		var created time.Time
		var record []byte
		if err := row.Scan(&number, &created, &t.Revision, &record); err != nil {
			return t, err
		}
		t.Ref, t.CreatedAt = engine.InventoryRef(event, number), created.UnixMilli()
		return t, codec.Unmarshal(record, &t.Details)
	})
	if err != nil {
		return nil, fmt.Errorf("ticket types of event %d: %w", event, err)
	}
	return list, nil
}

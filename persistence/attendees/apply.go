package attendees

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/readmodel"
)

// Follower is the name of the follower that writes the table.
const Follower = "attendees"

// changes are the types of the facts after which another person may hold a ticket or attend with
// it.
var changes = []engine.FactType{(*order.Completed)(nil).FactType(), (*order.TicketTransferred)(nil).FactType(), (*order.Erased)(nil).FactType()}

// isWanted reports whether the follower decodes facts of a type: the types in changes, and those
// whose facts name an address that no order names (naming).
func isWanted(t engine.FactType) bool {
	return slices.Contains(changes, t) || t == (*order.TransferOffered)(nil).FactType() || t == (*waitlist.Joined)(nil).FactType()
}

// Apply writes who holds and who attends with the tickets that the batches' facts are about, the customers, and the
// addresses that are not buyers' (naming), within the follower's transaction. It waits until the read model has
// applied the batches, and then reads the orders from the read model's tables. A fact that is applied twice does no
// harm, because each time the order is written as it is now.
func (s *Store) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	seen := make(map[engine.OrderID]bool)
	var ids [][16]byte
	var named naming
	for i := range batches {
		for j := range batches[i].Records {
			r := &batches[i].Records[j]
			if r.Ref.Kind != engine.KindEvent {
				continue
			}
			for f, err := range follower.Select(r, isWanted) {
				if err != nil {
					return fmt.Errorf("attendees: batch %d of writer %d: %w", batches[i].Seq, batches[i].Writer, err)
				}
				named.takeFact(f.Fact)
				if of, ok := f.Fact.(order.Fact); ok && slices.Contains(changes, f.Fact.FactType()) && !seen[of.OrderID()] {
					seen[of.OrderID()] = true
					ids = append(ids, of.OrderID())
				}
			}
		}
	}
	if err := named.writeRows(ctx, tx); err != nil || len(ids) == 0 {
		return err
	}
	// The orders' rows must be at least as new as these facts.
	if err := readmodel.AwaitPassed(ctx, tx, batches); err != nil {
		return err
	}
	return s.write(ctx, tx, ids)
}

// catchUpPage is how many orders CatchUp writes in a transaction.
const catchUpPage = 200

// CatchUp writes the rows of an event's tickets that the follower has not written yet, for a caller
// that needs all of them. The follower may write the same rows at the same time, which does no
// harm. Tickets whose order the read model lacks are left out.
func (s *Store) CatchUp(ctx context.Context, event int64) error {
	const unwritten = `
SELECT DISTINCT t.order_id FROM tickets t LEFT JOIN attendees a USING (event_id, serial)
WHERE t.event_id = $1 AND a.event_id IS NULL AND t.order_id > $2 ORDER BY t.order_id LIMIT $3`
	var after [16]byte // the last order of the page before: a page whose orders can't be written must not come again
	for {
		rows, _ := s.pool.Query(ctx, unwritten, event, after, catchUpPage) // CollectRows returns its error
		ids, err := pgx.CollectRows(rows, pgx.RowTo[[16]byte])
		if err == nil && len(ids) > 0 {
			err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.write(ctx, tx, ids) })
		}
		if err != nil {
			return fmt.Errorf("attendees: catch up with event %d: %w", event, err)
		}
		// A page that is not full was the last one.
		if len(ids) < catchUpPage {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// write writes what the orders' records say: the rows of their tickets and of their customers, and the
// addresses that are not their buyers' (naming). A ticket's holder, name and address are overwritten only if
// the holder has changed. Orders without a row are skipped.
func (s *Store) write(ctx context.Context, tx pgx.Tx, ids [][16]byte) error {
	// Name and address are overwritten only when the holder changes. Otherwise an organizer may
	// have corrected them, and a correction must not be lost because some other fact about the
	// order follows.
	const upsert = `
INSERT INTO attendees (event_id, serial, order_id, type_id, issued_at, updated_at, holder, email, name)
SELECT * FROM unnest($1::bigint[], $2::int[], $3::uuid[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::text[])
ON CONFLICT (event_id, serial) DO UPDATE
SET holder = excluded.holder, email = excluded.email, name = excluded.name, updated_at = excluded.updated_at
WHERE attendees.holder <> excluded.holder`
	rows, _ := tx.Query(ctx, `SELECT record FROM orders WHERE id = ANY($1)`, ids) // ForEachRow returns its error
	// The rows of all orders are collected first, so that each of the three tables is written with one statement,
	// whatever the number of orders.
	var a columns
	var seen []customer
	var named naming
	var record []byte
	if _, err := pgx.ForEachRow(rows, []any{&record}, func() error {
		o := new(order.Order)
		if err := codec.Unmarshal(record, o); err != nil {
			return err
		}
		seen = append(seen, customersOf(o)...)
		named.takeOrder(o)
		return a.add(o)
	}); err != nil {
		return fmt.Errorf("attendees: read orders: %w", err)
	}
	if _, err := tx.Exec(ctx, upsert, a.events, a.serials, a.orders, a.types, a.issued, a.updated, a.holders, a.emails, a.names); err != nil {
		return fmt.Errorf("attendees: write: %w", err)
	}
	if err := named.writeRows(ctx, tx); err != nil {
		return err
	}
	return s.writeCustomers(ctx, tx, seen)
}

// columns are rows of the table attendees, one slice for each column, because unnest takes columns.
type columns struct {
	events, types          []int64
	serials                []int32
	orders                 [][16]byte
	issued, updated        []time.Time
	holders, emails, names []string
}

// add adds a row for each ticket of an order. An order that was never sold has no tickets and adds
// none.
func (c *columns) add(o *order.Order) error {
	if o.FirstTicket == 0 {
		return nil
	}
	// The size decides how many rows are made, so a damaged record must not be believed.
	if !o.HasSoundSize() {
		return fmt.Errorf("order %s has too many tickets", o.ID)
	}
	// The tickets of an order have consecutive serials, in the order of its lines.
	serial := o.FirstTicket
	for i := range o.Lines {
		for range o.Lines[i].Quantity {
			attends := o.HolderOf(serial)
			c.events, c.types = append(c.events, o.ID.Event()), append(c.types, o.Lines[i].Type)
			c.serials, c.orders = append(c.serials, int32(serial)), append(c.orders, o.ID) //nolint:gosec // a serial is an int4 in all tables
			c.issued, c.updated = append(c.issued, time.UnixMilli(o.EndedAt)), append(c.updated, time.UnixMilli(o.UpdatedAt))
			c.holders = append(c.holders, cleanText(order.NormalEmail(o.OwnerOf(serial).Email)))
			c.emails, c.names = append(c.emails, cleanText(attends.Email)), append(c.names, cleanText(attends.Name))
			serial++
		}
	}
	return nil
}

// cleanText returns s in a form that a text column accepts: in valid UTF-8 and without zero bytes. Facts may
// contain zero bytes and invalid UTF-8, because nothing refused them when the facts were decided.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

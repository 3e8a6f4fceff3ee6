package attendees

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// naming collects the addresses of waitlists' entries, and the addresses in orders that are not their buyer's.
// When a person is to be erased, these entries and orders must be found too, and a search by buyer does not find
// them.
type naming struct {
	emails []string
	ids    [][16]byte
}

// addName notes an address of an order or of a waitlist's entry. It leaves out an empty address, and the
// pseudonym of somebody who was erased already.
func (n *naming) addName(email string, id engine.OrderID) {
	if email = cleanText(order.NormalEmail(email)); email != "" && !order.IsPseudonym(email) {
		n.emails, n.ids = append(n.emails, email), append(n.ids, id)
	}
}

// takeFact adds the address that a fact itself contains.
func (n *naming) takeFact(f engine.Fact) {
	switch f := f.(type) {
	case *waitlist.Joined:
		n.addName(f.Entry.Email, f.Entry.ID)
	case *order.TransferOffered:
		n.addName(f.To, f.ID)
	}
}

// takeOrder adds the addresses that an order's lines have for attendees other than its buyer. Holders need not
// be added: somebody offered the ticket to each of them before, and the fact of that offer has added the
// address.
func (n *naming) takeOrder(o *order.Order) {
	for i := range o.Lines {
		if email := o.Lines[i].AttendeeEmail; order.NormalEmail(email) != order.NormalEmail(o.Email) {
			n.addName(email, o.ID)
		}
	}
}

// writeRows writes the collected addresses to the table. Those that are there already stay.
func (n *naming) writeRows(ctx context.Context, tx pgx.Tx) error {
	if len(n.ids) == 0 {
		return nil
	}
	const note = `INSERT INTO named (email, id) SELECT DISTINCT * FROM unnest($1::text[], $2::uuid[]) ON CONFLICT DO NOTHING`
	if _, err := tx.Exec(ctx, note, n.emails, n.ids); err != nil {
		return fmt.Errorf("attendees: note who is named: %w", err)
	}
	return nil
}

// Naming lists the orders that contain an address other than as their buyer's, and the waitlists' entries with
// that address.
func (s *Store) Naming(ctx context.Context, address string) ([]engine.OrderID, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id FROM named WHERE email = $1 ORDER BY id`, order.NormalEmail(address)) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (id engine.OrderID, err error) {
		return id, row.Scan((*[16]byte)(&id))
	})
	if err != nil {
		return nil, fmt.Errorf("attendees: orders that name an address: %w", err)
	}
	return list, nil
}

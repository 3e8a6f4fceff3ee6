package attendees

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// naming collects the addresses that orders and entries of waitlists name beside their buyer's. When a person is to
// be erased, these orders have to be found too.
type naming struct {
	emails []string
	ids    [][16]byte
}

// addName notes an address, unless it is empty or already the pseudonym of somebody who was erased.
func (n *naming) addName(email string, id engine.OrderID) {
	if email = cleanText(order.NormalEmail(email)); email != "" && !order.IsPseudonym(email) {
		n.emails, n.ids = append(n.emails, email), append(n.ids, id)
	}
}

// takeFact adds the address that a fact itself names.
func (n *naming) takeFact(f engine.Fact) {
	switch f := f.(type) {
	case *waitlist.Joined:
		n.addName(f.Entry.Email, f.Entry.ID)
	case *order.TransferOffered:
		n.addName(f.To, f.ID)
	}
}

// takeOrder adds the addresses that an order's lines name for attendees. It leaves out holders: a holder was offered
// the ticket before, and the fact of that offer names the address.
func (n *naming) takeOrder(o *order.Order) {
	for i := range o.Lines {
		if email := o.Lines[i].AttendeeEmail; order.NormalEmail(email) != order.NormalEmail(o.Email) {
			n.addName(email, o.ID)
		}
	}
}

// writeRows writes the addresses. Some may be there already.
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

// Naming lists the orders and the entries of waitlists that name an address beside their buyer's.
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

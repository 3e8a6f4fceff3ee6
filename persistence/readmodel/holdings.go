package readmodel

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// Holding is a live ticket in somebody's hands.
type Holding struct {
	Event  int64
	Serial uint32
	// Version is 1 for the ticket's first holder, and one more for each later one.
	Version byte   // holder version
	Name    string // name of the buyer, if the holder has bought the ticket; otherwise ""
}

// MostOrders is how many orders of one customer are looked through at most, so that one request has a bound.
const MostOrders = 1000

const moveTicket = `INSERT INTO ticket_holders (event_id, serial, email) VALUES ($1, $2, $3)
ON CONFLICT (event_id, serial) DO UPDATE SET email = excluded.email`

// ticketMoved queues the address of a ticket's new holder.
func (w *Writer) ticketMoved(f *order.TicketTransferred) {
	// A serial that no ticket can have must still be sent as an int4. If pgx refused to encode it, the connection
	// would be closed; the follower would take that for an outage and try again for ever.
	serial := int32(f.Ticket) //nolint:gosec // few tickets
	w.batch.Queue(moveTicket, f.ID.Event(), serial, key(order.NormalEmail(f.Email)))
}

// Holdings lists the live tickets of a category's events that the owner of an address holds, each once: first tickets
// of their own orders that were never passed on, and then tickets that others passed on to them, also if these were
// their own before. Customer is the number under which sales count this person; MostOrders of their orders are read.
func (m *Model) Holdings(ctx context.Context, customer uint64, email, category string) ([]Holding, error) {
	email = order.NormalEmail(email)
	orders, err := m.ordersOf(ctx, customer, category)
	if err != nil {
		return nil, fmt.Errorf("holdings: %w", err)
	}
	var held []Holding
	// Several addresses may count as one customer, so the order's own address must be compared.
	for _, o := range orders {
		if order.NormalEmail(o.Email) != email || o.FirstTicket == 0 {
			continue
		}
		const find = `SELECT serial FROM tickets WHERE event_id = $1 AND serial >= $2 AND serial < $3 AND status = ANY($4) ORDER BY serial`
		first := int64(o.FirstTicket)
		rows, _ := m.pool.Query(ctx, find, o.ID.Event(), first, first+o.Tickets(), liveTickets) // CollectRows returns its error
		serials, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
		if err != nil {
			return nil, fmt.Errorf("holdings: %w", err)
		}
		for _, serial := range serials {
			if h := o.HolderOf(serial); h.Version == 1 { // the buyer holds the ticket, even if the order's line names another attendee
				held = append(held, Holding{o.ID.Event(), serial, h.Version, o.Name})
			}
		}
	}
	// Tickets that were passed on may be of anybody's orders, so they are found by the holder's address.
	const claimed = `
SELECT h.event_id, h.serial, o.record FROM ticket_holders h JOIN events e ON e.number = h.event_id
JOIN tickets t ON t.event_id = h.event_id AND t.serial = h.serial
JOIN orders o ON o.id = t.order_id
WHERE h.email = $1 AND e.category = $2 AND t.status = ANY($3) ORDER BY h.event_id, h.serial`
	rows, _ := m.pool.Query(ctx, claimed, key(email), category, liveTickets) // CollectRows returns its error
	more, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h Holding, err error) {
		var record []byte
		var o order.Order
		if err := row.Scan(&h.Event, &h.Serial, &record); err != nil {
			return h, err
		}
		err = codec.Unmarshal(record, &o)
		h.Version = o.HolderOf(h.Serial).Version
		if order.NormalEmail(o.Email) == email {
			h.Name = o.Name
		}
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("holdings: %w", err)
	}
	return append(held, more...), nil
}

// Holds reports whether a ticket is live and still in the hands of the holder with this version.
func (m *Model) Holds(ctx context.Context, event int64, serial uint32, version byte) (bool, error) {
	const find = `SELECT o.record FROM tickets t JOIN orders o ON o.id = t.order_id
WHERE t.event_id = $1 AND t.serial = $2 AND t.status = ANY($3)`
	var record []byte
	err := m.pool.QueryRow(ctx, find, event, int64(serial), liveTickets).Scan(&record)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("holder of a ticket: %w", err)
	}
	var o order.Order
	if err := codec.Unmarshal(record, &o); err != nil {
		return false, fmt.Errorf("holder of a ticket: %w", err)
	}
	return o.HolderOf(serial).Version == version, nil
}

// liveTickets are the numbers, in tickets.status, of the statuses of tickets that are good: neither cancelled nor
// refunded.
var liveTickets = []int16{ticketIssued, ticketCheckedIn}

// ordersOf lists a customer's orders that have tickets, of a category's events, up to MostOrders.
func (m *Model) ordersOf(ctx context.Context, customer uint64, category string) ([]order.Order, error) {
	const find = `
SELECT o.record FROM orders o JOIN events e ON e.number = o.event_id
WHERE o.customer = $1 AND e.category = $2 AND o.status = ANY($3) ORDER BY o.id LIMIT $4`
	statuses := []int16{statusNumber(order.StatusCompleted), statusNumber(order.StatusPartiallyRefunded)}
	rows, _ := m.pool.Query(ctx, find, int64(customer), category, statuses, MostOrders) //nolint:gosec // the column holds its bits; CollectRows returns its error
	return pgx.CollectRows(rows, scanOrder)
}

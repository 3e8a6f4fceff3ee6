package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// Ticket is a ticket with what its order says about it.
type Ticket struct {
	Event       int64
	Serial      uint32
	Order       engine.OrderID
	Type        int64  // number of the ticket type
	Seat        string // the id of its seat; "" if it has none
	TypeName    string
	Price       int64 // without discount and fees, in minor units
	Currency    string
	HolderName  string // as the order was placed: a later holder (order.HolderOf) is not named here, nor in HolderEmail
	HolderEmail string
	Status      string
	IssuedAt    int64 // unix milliseconds
	CheckedInAt int64 // unix milliseconds; 0: it was not checked in yet
	Gate        string
}

// Order finds an order by its id, or returns ErrNotFound.
func (m *Model) Order(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	var record []byte
	if err := m.pool.QueryRow(ctx, `SELECT record FROM orders WHERE id = $1`, [16]byte(id)).Scan(&record); err != nil {
		return nil, fmt.Errorf("order %s: %w", id, noRowsToNotFound(err))
	}
	o := new(order.Order)
	if err := codec.Unmarshal(record, o); err != nil {
		return nil, fmt.Errorf("order %s: %w", id, err)
	}
	return o, nil
}

// Tickets lists at most limit of an event's tickets by serial, beginning with the serial first. Names and price come
// from each ticket's order. It returns an error if that order does not have the ticket.
func (m *Model) Tickets(ctx context.Context, number int64, first uint32, limit int) ([]Ticket, error) {
	const find = `
SELECT t.serial, t.order_id, t.type_id, t.status, t.checked_in_at, coalesce(t.gate, ''), o.record
FROM (SELECT * FROM tickets WHERE event_id = $1 AND serial >= $2 ORDER BY serial LIMIT $3) t
JOIN orders o ON o.id = t.order_id ORDER BY t.serial`
	o := new(order.Order)                                           // the last one seen: its tickets are neighbours
	rows, _ := m.pool.Query(ctx, find, number, int64(first), limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Ticket, error) {
		t := Ticket{Event: number}
		var status int16
		var at *time.Time
		var record []byte
		if err := row.Scan(&t.Serial, (*[16]byte)(&t.Order), &t.Type, &status, &at, &t.Gate, &record); err != nil {
			return t, err
		}
		if o.ID != t.Order {
			o = new(order.Order)
			if err := codec.Unmarshal(record, o); err != nil {
				return t, err
			}
		}
		t.Status, t.CheckedInAt, t.IssuedAt, t.Currency = ticketStatuses[status], millis(at), o.EndedAt, o.Currency
		i, _, ok := o.LineOf(t.Serial)
		if !ok {
			return t, fmt.Errorf("ticket %d is none of order %s", t.Serial, t.Order)
		}
		t.TypeName, t.Price = o.Lines[i].Name, o.Lines[i].UnitPrice
		t.HolderName, t.HolderEmail = o.Holder(i)
		t.Seat = o.Seat(t.Serial)
		return t, nil
	})
	if err != nil {
		return nil, fmt.Errorf("tickets of event %d: %w", number, err)
	}
	return list, nil
}

// OrdersOf lists at most limit of a customer's orders, sorted by id. They begin after the order after; a zero id
// begins with the first one.
func (m *Model) OrdersOf(ctx context.Context, customer uint64, after engine.OrderID, limit int) ([]order.Order, error) {
	const find = `SELECT record FROM orders WHERE customer = $1 AND id > $2 ORDER BY event_id, id LIMIT $3` // ids begin with the event
	rows, _ := m.pool.Query(ctx, find, int64(customer), [16]byte(after), limit)                             // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanOrder)
	if err != nil {
		return nil, fmt.Errorf("orders of a customer: %w", err)
	}
	return list, nil
}

// OrdersWithTickets lists those orders of an event that have tickets and that a customer has bought, or of which
// the owner of an address holds a ticket that was passed on. It lists MostOrders at most.
func (m *Model) OrdersWithTickets(ctx context.Context, event int64, customer uint64, email string) ([]order.Order, error) {
	const find = `
SELECT record FROM orders WHERE status = ANY($4) AND id IN (
  SELECT id FROM orders WHERE customer = $2 AND event_id = $1
  UNION SELECT t.order_id FROM ticket_holders h JOIN tickets t ON t.event_id = h.event_id AND t.serial = h.serial WHERE h.event_id = $1 AND h.email = $3
) ORDER BY id LIMIT $5`
	statuses := []int16{statusNumber(order.StatusCompleted), statusNumber(order.StatusPartiallyRefunded)}
	rows, _ := m.pool.Query(ctx, find, event, int64(customer), key(order.NormalEmail(email)), statuses, MostOrders) //nolint:gosec // the column holds its bits; CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanOrder)
	if err != nil {
		return nil, fmt.Errorf("orders of a customer and event %d: %w", event, err)
	}
	return list, nil
}

// OrdersByID lists orders by their ids, and leaves out ids without an order.
func (m *Model) OrdersByID(ctx context.Context, ids []engine.OrderID) ([]order.Order, error) {
	keys := make([][16]byte, len(ids))
	for i, id := range ids {
		keys[i] = id
	}
	rows, _ := m.pool.Query(ctx, `SELECT record FROM orders WHERE id = ANY($1) ORDER BY id`, keys) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanOrder)
	if err != nil {
		return nil, fmt.Errorf("orders by id: %w", err)
	}
	return list, nil
}

// scanOrder reads a row that consists of an order's record.
func scanOrder(row pgx.CollectableRow) (o order.Order, err error) {
	var record []byte
	if err := row.Scan(&record); err != nil {
		return o, err
	}
	return o, codec.Unmarshal(record, &o)
}

// Sold lists at most limit of an event's orders that have tickets, sorted by id. They begin after the order
// after; a zero id begins with the first one.
func (m *Model) Sold(ctx context.Context, number int64, after engine.OrderID, limit int) ([]order.Order, error) {
	const find = `
SELECT record FROM orders WHERE id > $1 AND id < $2 AND status = ANY($3) ORDER BY id LIMIT $4`
	if after.Zero() {
		after = engine.NewID(number, make([]byte, 10))
	}
	statuses := []int16{statusNumber(order.StatusCompleted), statusNumber(order.StatusPartiallyRefunded)}
	rows, _ := m.pool.Query(ctx, find, [16]byte(after), [16]byte(engine.NewID(number+1, make([]byte, 10))), statuses, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanOrder)
	if err != nil {
		return nil, fmt.Errorf("orders of event %d: %w", number, err)
	}
	return list, nil
}

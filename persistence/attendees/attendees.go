// Package attendees owns the tables of who holds and who attends with each ticket, and of each organization's
// customers. A follower of its own writes them, after the read model, so that writing them never delays the read
// model during a rush. Organizers change names, addresses, tags and notes.
//
// The request handlers (the packages in edge) call Store; the follower calls Apply from one goroutine. Nothing
// here has to be stopped.
package attendees

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

// ErrNotFound says that there is no such attendee or customer, or that the follower has not written
// the row yet.
var ErrNotFound = errors.New("attendees: not found")

// Store reads and edits the tables. Its methods may be called by any goroutine.
type Store struct {
	pool  *pgxpool.Pool
	facts *publicfacts.Store
	// key derives the public id of a customer from the organization and the address. An address has another id in
	// each organization.
	key func(org int64, address string) string
}

// New returns the store of a pool's database. facts publishes a public fact about each ticket that gets a tag.
// key returns the id under which an organization sees the customer with an address.
func New(pool *pgxpool.Pool, facts *publicfacts.Store, key func(org int64, address string) string) *Store {
	return &Store{pool, facts, key}
}

// Place is a ticket's place in a list of tickets from the newest to the oldest.
type Place struct {
	IssuedAt int64 // unix milliseconds
	Event    int64
	Serial   uint32
}

// Held is a ticket that somebody holds, with its order.
type Held struct {
	Place
	Order *order.Order
}

// selectHeld sorts in the order of the index, so that Postgres reads few more rows than it returns. An empty
// holder is no person.
const selectHeld = `
SELECT a.issued_at, a.event_id, a.serial, o.record
FROM attendees a JOIN tickets t USING (event_id, serial) JOIN orders o ON o.id = a.order_id
WHERE a.holder = $1 AND a.holder <> '' AND t.status = ANY($2) AND (a.issued_at, a.event_id, a.serial) < ($3, $4, $5)
ORDER BY a.issued_at DESC, a.event_id DESC, a.serial DESC LIMIT $6`

// Held lists at most limit of the valid tickets that the owner of an address holds, the newest first. Only
// tickets that come after the place after are listed; the zero place begins with the newest ticket.
func (s *Store) Held(ctx context.Context, address string, after Place, limit int) ([]Held, error) {
	if after == (Place{}) {
		after = Place{IssuedAt: time.Now().Add(24 * time.Hour).UnixMilli()} // another node's clock may be ahead
	}
	live := readmodel.TicketStatusNumbers("issued", "checked_in")
	rows, _ := s.pool.Query(ctx, selectHeld, order.NormalEmail(address), live, time.UnixMilli(after.IssuedAt), after.Event, int64(after.Serial), limit) // CollectRows returns its error
	var last *order.Order
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h Held, err error) {
		var at time.Time
		var record []byte
		if err := row.Scan(&at, &h.Event, &h.Serial, &record); err != nil {
			return h, err
		}
		h.IssuedAt = at.UnixMilli()
		last, err = decodeOrder(last, h.Event, h.Serial, record)
		h.Order = last
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("attendees: held by an address: %w", err)
	}
	return list, nil
}

// decodeOrder returns the order of a ticket. The tickets of one order mostly follow one another in
// a list. So decodeOrder returns last if the ticket belongs to it, and decodes the record only
// otherwise.
func decodeOrder(last *order.Order, number int64, serial uint32, record []byte) (*order.Order, error) {
	if last != nil && last.ID.Event() == number && serial >= last.FirstTicket && int64(serial) < int64(last.FirstTicket)+last.Tickets() {
		return last, nil
	}
	o := new(order.Order)
	if err := codec.Unmarshal(record, o); err != nil {
		return nil, err
	}
	return o, nil
}

package attendees

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine/order"
	"boxoffice/persistence"
	"boxoffice/persistence/readmodel"
)

// Attendee is the person who attends an event with one ticket. Times are unix milliseconds.
type Attendee struct {
	Event       int64
	Serial      uint32
	Order       *order.Order
	Name        string
	Email       string
	Tags        []string
	Status      string // the ticket's status
	CheckedInAt int64  // unix milliseconds; 0: the ticket was not checked in yet
	Gate        string
	UpdatedAt   int64
}

// Filter selects some of an event's attendees. A field with its zero value selects all.
type Filter struct {
	Asked     readmodel.Asked
	Status    string
	Type      int64 // number of the ticket type
	Tag       string
	CheckedIn *bool
	Since     time.Time // leaves out attendees that have not changed since; zero: none
}

// attendeeColumns are in the order in which collectAttendees scans them. A check-in changes an attendee too, so
// the time of the last change is the later one of both.
const attendeeColumns = `
SELECT a.event_id, a.serial, a.name, a.email, a.tags, t.status, t.checked_in_at, coalesce(t.gate, ''), greatest(a.updated_at, t.checked_in_at), o.record
FROM attendees a JOIN tickets t USING (event_id, serial) JOIN orders o ON o.id = a.order_id
`

const selectAttendees = attendeeColumns + `WHERE a.event_id = $1 `

// List lists at most limit of an event's attendees by their tickets, the newest first. before is
// the serial of the last ticket of the page before, and 0 for the first page.
func (s *Store) List(ctx context.Context, number int64, f Filter, before uint32, limit int) ([]Attendee, error) {
	const filtered = attendeeColumns + `WHERE a.event_id = @event AND a.serial < @before
  AND (@patterns::text[] IS NULL OR coalesce(a.words, lower(a.name || ' ' || a.email)) LIKE ALL(@patterns) OR o.words LIKE ALL(@patterns)
    OR o.id = @order OR (a.event_id, a.serial) IN (SELECT * FROM unnest(@ticket_events::bigint[], @ticket_serials::int[])))
  AND (@statuses::smallint[] IS NULL OR t.status = ANY(@statuses)) AND (@type = 0 OR a.type_id = @type) AND (@tag = '' OR a.tags @> ARRAY[@tag])
  AND (@checked::bool IS NULL OR @checked AND t.checked_in_at IS NOT NULL OR NOT @checked AND t.checked_in_at IS NULL)
  AND greatest(a.updated_at, t.checked_in_at) >= @since
ORDER BY a.serial DESC LIMIT @limit`
	// Serials count up with the sale, so the next page has lower ones than the last ticket of the
	// page before.
	if before == 0 {
		before = math.MaxInt32
	}
	// The query searches in the column words. FoldPeople fills it for attendees who have no words yet, because
	// the search would not find them.
	if f.Asked.Patterns != nil {
		if err := readmodel.FoldPeople(ctx, s.pool, []int64{number}); err != nil {
			return nil, err
		}
	}
	var statuses []int16
	if f.Status != "" {
		statuses = readmodel.TicketStatusNumbers(f.Status)
	}
	args := f.Asked.Args()
	args["event"], args["before"], args["statuses"], args["type"], args["tag"] = number, int64(before), statuses, f.Type, f.Tag
	args["checked"], args["since"], args["limit"] = f.CheckedIn, f.Since, limit
	rows, _ := s.pool.Query(ctx, filtered, persistence.PlanEachTime, args) // collectAttendees returns its error
	list, err := collectAttendees(rows)
	if err != nil {
		return nil, fmt.Errorf("attendees of event %d: %w", number, err)
	}
	return list, nil
}

// Find returns the attendee of one ticket, or ErrNotFound.
func (s *Store) Find(ctx context.Context, number int64, serial uint32) (*Attendee, error) {
	rows, _ := s.pool.Query(ctx, selectAttendees+`AND a.serial = $2`, number, int64(serial)) // CollectRows returns its error
	list, err := collectAttendees(rows)
	if err != nil {
		return nil, fmt.Errorf("attendee %d of event %d: %w", serial, number, err)
	}
	if len(list) == 0 {
		return nil, ErrNotFound
	}
	return &list[0], nil
}

// collectAttendees reads rows of attendeeColumns. Tickets of one order that follow one another
// share its decoded record.
func collectAttendees(rows pgx.Rows) ([]Attendee, error) {
	var last *order.Order
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Attendee, err error) {
		var status int16
		var checkedIn *time.Time
		var updated time.Time
		var record []byte
		if err := row.Scan(&a.Event, &a.Serial, &a.Name, &a.Email, &a.Tags, &status, &checkedIn, &a.Gate, &updated, &record); err != nil {
			return a, err
		}
		if checkedIn != nil {
			a.CheckedInAt = checkedIn.UnixMilli()
		}
		a.Status, a.UpdatedAt = readmodel.TicketStatus(status), updated.UnixMilli()
		last, err = decodeOrder(last, a.Event, a.Serial, record)
		a.Order = last
		return a, err
	})
}

// Edit changes the name and the address of a ticket's attendee; nil leaves either as it is. It
// returns ErrNotFound if there is no such row.
func (s *Store) Edit(ctx context.Context, number int64, serial uint32, name, email *string) error {
	const edit = `
UPDATE attendees SET name = coalesce($3, name), email = coalesce($4, email), updated_at = now() WHERE event_id = $1 AND serial = $2 RETURNING true`
	var done bool
	err := s.pool.QueryRow(ctx, edit, number, int64(serial), name, email).Scan(&done)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("edit attendee %d of event %d: %w", serial, number, err)
	}
	return nil
}

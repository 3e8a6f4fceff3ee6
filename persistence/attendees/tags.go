package attendees

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine/order"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

// Tagged is an attendee who was given a tag just now. Tags are all tags of the attendee, including the new one.
type Tagged struct {
	Event  int64
	Serial uint32
	Email  string
	Name   string
	Tags   []string
}

// Telling makes the public fact about an attendee who was tagged. The caller provides it, because the record in
// the fact has the API's shape.
type Telling func(*Tagged) (publicfacts.Own, error)

// TagTickets adds a tag to the tickets that don't have it yet, and publishes a fact about each of
// these. Tickets that the follower has not written yet are written first. If one of the tickets
// does not exist, TagTickets returns ErrNotFound and tags none.
func (s *Store) TagTickets(ctx context.Context, tickets []Place, tag string, tell Telling) error {
	// Everything is one transaction, so a tag and its public fact exist both or not at all.
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		events, serials, err := s.lockTickets(ctx, tx, tickets)
		if err != nil {
			return err
		}
		return s.tag(ctx, tx, events, serials, tag, tell)
	})
	if err != nil {
		return fmt.Errorf("tag tickets: %w", err)
	}
	return nil
}

// UntagTickets removes a tag from tickets, and returns how many of them had it. If one of the
// tickets does not exist, it returns ErrNotFound and changes none.
func (s *Store) UntagTickets(ctx context.Context, tickets []Place, tag string) (removed int64, err error) {
	const untag = `
UPDATE attendees SET tags = array_remove(tags, $3), updated_at = now()
WHERE (event_id, serial) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[])) AND tags @> ARRAY[$3]`
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		events, serials, err := s.lockTickets(ctx, tx, tickets)
		if err != nil {
			return err
		}
		done, err := tx.Exec(ctx, untag, events, serials, tag)
		removed = done.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("untag tickets: %w", err)
	}
	return removed, nil
}

// TagsOf returns the tags of an order's tickets, by serial. Tickets without tags are left out. The
// tags of a ticket that was sold just now may be missing, because the follower comes later than the
// sale.
func (s *Store) TagsOf(ctx context.Context, o *order.Order) (map[uint32][]string, error) {
	const find = `SELECT serial, tags FROM attendees WHERE event_id = $1 AND serial >= $2 AND serial < $3 AND tags <> '{}'`
	found := make(map[uint32][]string)
	first := int64(o.FirstTicket)
	rows, _ := s.pool.Query(ctx, find, o.ID.Event(), first, first+o.Tickets()) // ForEachRow returns its error
	var serial uint32
	var tags []string
	_, err := pgx.ForEachRow(rows, []any{&serial, &tags}, func() error {
		found[serial] = slices.Clone(tags)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("tags of order %s: %w", o.ID, err)
	}
	return found, nil
}

// lockTickets locks the rows of tickets in the order of their keys, and writes those that the follower has not written
// yet. It returns ErrNotFound if one of the tickets does not exist.
// Two calls that locked the same rows in different orders could wait for each other for ever.
func (s *Store) lockTickets(ctx context.Context, tx pgx.Tx, tickets []Place) (events, serials []int64, err error) {
	for _, t := range tickets {
		events, serials = append(events, t.Event), append(serials, int64(t.Serial))
	}
	const find = `
SELECT t.order_id, a.event_id IS NOT NULL FROM unnest($1::bigint[], $2::bigint[]) AS w(event_id, serial)
JOIN tickets t USING (event_id, serial) LEFT JOIN attendees a USING (event_id, serial)`
	rows, _ := tx.Query(ctx, find, events, serials) // ForEachRow returns its error
	var unwritten [][16]byte
	var order [16]byte
	var written bool
	found := 0
	if _, err := pgx.ForEachRow(rows, []any{&order, &written}, func() error {
		if found++; !written {
			unwritten = append(unwritten, order)
		}
		return nil
	}); err != nil {
		return nil, nil, err
	}
	// The read model does not know one of the tickets.
	if found < len(tickets) {
		return nil, nil, ErrNotFound
	}
	if len(unwritten) > 0 {
		if err := s.write(ctx, tx, unwritten); err != nil {
			return nil, nil, err
		}
	}
	const lock = `
SELECT FROM attendees WHERE (event_id, serial) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[])) ORDER BY event_id, serial FOR UPDATE`
	_, err = tx.Exec(ctx, lock, events, serials)
	return events, serials, err
}

// tag tags tickets whose rows are locked, and publishes a fact about each of them. It leaves out
// tickets that have the tag already, so that nothing is published twice.
func (s *Store) tag(ctx context.Context, tx pgx.Tx, events, serials []int64, tag string, tell Telling) error {
	const add = `
UPDATE attendees SET tags = tags || $3::text, updated_at = now()
WHERE (event_id, serial) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[])) AND NOT tags @> ARRAY[$3]
RETURNING event_id, serial, email, name, tags`
	rows, _ := tx.Query(ctx, add, events, serials, tag) // CollectRows returns its error
	tagged, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Tagged])
	if err != nil {
		return err
	}
	told := make([]publicfacts.Own, len(tagged))
	for i := range tagged {
		if told[i], err = tell(&tagged[i]); err != nil {
			return err
		}
	}
	return s.facts.Tell(ctx, tx, told...)
}

// TagCustomer tags the valid tickets that a customer holds, and publishes a fact about each that did not have
// the tag. It returns how many valid tickets the customer holds, all of which have the tag now. It locks the
// tickets in the same order as lockTickets does.
func (s *Store) TagCustomer(ctx context.Context, c *Customer, tag string, tell Telling) (active int, err error) {
	const lock = `
SELECT a.event_id, a.serial FROM attendees a JOIN events e ON e.number = a.event_id JOIN tickets t USING (event_id, serial)
WHERE a.holder = $1 AND a.holder <> '' AND e.org = $2 AND t.status = ANY($3) ORDER BY event_id, serial FOR UPDATE OF a`
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, lock, c.Email, c.Org, readmodel.TicketStatusNumbers("issued", "checked_in")) // ForEachRow returns its error
		var events, serials []int64
		var event, serial int64
		if _, err := pgx.ForEachRow(rows, []any{&event, &serial}, func() error {
			events, serials = append(events, event), append(serials, serial)
			return nil
		}); err != nil {
			return err
		}
		active = len(events)
		return s.tag(ctx, tx, events, serials, tag, tell)
	})
	if err != nil {
		return 0, fmt.Errorf("tag customer %d: %w", c.Number, err)
	}
	return active, nil
}

// UntagCustomer removes a tag from all the tickets that a customer holds, valid or not, and returns
// how many of them had it.
func (s *Store) UntagCustomer(ctx context.Context, c *Customer, tag string) (removed int64, err error) {
	const untag = `
UPDATE attendees a SET tags = array_remove(a.tags, $3), updated_at = now() FROM events e
WHERE e.number = a.event_id AND a.holder = $1 AND a.holder <> '' AND e.org = $2 AND a.tags @> ARRAY[$3]`
	done, err := s.pool.Exec(ctx, untag, c.Email, c.Org, tag)
	if err != nil {
		return 0, fmt.Errorf("untag customer %d: %w", c.Number, err)
	}
	return done.RowsAffected(), nil
}

package readmodel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
)

// eventFact queues what a fact changes in an event's row.
func (w *Writer) eventFact(number int64, f engine.Fact) error {
	const create = `
INSERT INTO events (number, updated_at, org, start_at, end_at, public_id, slug, title, short_desc, category, product_type,
  visibility, city, country, venue, currency, record, created_at, status, revision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $2, $18, 1)`
	const update = `
UPDATE events SET updated_at = $2, org = $3, start_at = $4, end_at = $5, public_id = $6, slug = $7, title = $8, short_desc = $9,
  category = $10, product_type = $11, visibility = $12, city = $13, country = $14, venue = $15, currency = $16, record = $17,
  revision = revision + 1
WHERE number = $1`
	const move = `UPDATE events SET status = $2, updated_at = $3, revision = revision + 1 WHERE number = $1`
	row := func(d *event.Details, at int64) ([]any, error) {
		record, err := codec.Marshal(d)
		return []any{
			number, time.UnixMilli(at), d.Org, time.UnixMilli(d.StartAt), moment(d.EndAt), [16]byte(d.PublicID), key(d.Slug),
			text(d.Title), text(d.ShortDesc), text(d.Category), event.ProductType(d.Category), text(d.Visibility),
			text(d.VenueCity), text(d.VenueCountry), text(d.VenueName), text(d.Currency), record,
		}, err
	}
	switch f := f.(type) {
	case *event.Created:
		args, err := row(f.Details, f.At)
		w.batch.Queue(create, append(args, event.StatusDraft)...)
		return err
	case *event.Updated:
		args, err := row(f.Details, f.At)
		w.batch.Queue(update, args...)
		return err
	case *event.Moved:
		w.batch.Queue(move, number, f.To, time.UnixMilli(f.At))
	case *event.Removed:
		w.batch.Queue(`DELETE FROM events WHERE number = $1`, number)
	}
	return nil
}

// Event is an event as lists and pages show it.
type Event struct {
	event.Record
	// From is the lowest price in minor units of the ticket types that are on
	// sale now and have stock, else of those that will be; NoPrice without any.
	From int64
}

// NoPrice is the price of an event of which nothing can be bought, now or later.
const NoPrice = -1

// selectEvents reads a page of events, which it finds before it looks at what
// belongs to them. (Whether tickets were sold is counted, for a plan of EXISTS may
// read the tickets of all events.)
func selectEvents(where, order, limit string) string {
	return `
SELECT e.number, e.status, e.created_at, e.updated_at, e.revision, e.record, t.types, t.price,
  (SELECT count(*) > 0 FROM tickets WHERE event_id = e.number AND serial = 1) AS sold
FROM (SELECT * FROM events e ` + where + ` ORDER BY ` + order + ` ` + limit + `) e
CROSS JOIN LATERAL (
  SELECT count(*) AS types, coalesce(
    min(price) FILTER (WHERE for_sale AND sale_start <= now() AND sale_end > now() AND e.status <> 'sold_out'),
    min(price) FILTER (WHERE for_sale AND sale_start > now()), -1) AS price
  FROM (SELECT *, NOT hidden AND NOT sold_out AND e.status NOT IN ('completed', 'cancelled') AS for_sale
    FROM ticket_types WHERE event = e.number) AS types) t
ORDER BY ` + order
}

func scanEvent(row pgx.CollectableRow) (e Event, err error) {
	var created, updated time.Time
	var record []byte
	err = row.Scan(&e.Number, &e.Status, &created, &updated, &e.Revision, &record, &e.Types, &e.From, &e.Sold)
	if err != nil {
		return e, err
	}
	e.CreatedAt, e.UpdatedAt, e.Details = created.UnixMilli(), updated.UnixMilli(), new(event.Details)
	return e, codec.Unmarshal(record, e.Details)
}

// EventByNumber finds an event in any status. It returns ErrNotFound.
func (m *Model) EventByNumber(ctx context.Context, number int64) (Event, error) {
	rows, _ := m.pool.Query(ctx, selectEvents(`WHERE e.number = $1`, `e.number`, `LIMIT 1`), number) // CollectExactlyOneRow returns its error
	e, err := pgx.CollectExactlyOneRow(rows, scanEvent)
	if err != nil {
		return Event{}, fmt.Errorf("event %d: %w", number, one(err))
	}
	return e, nil
}

// EventByPublicID finds an event in any status. It returns ErrNotFound.
func (m *Model) EventByPublicID(ctx context.Context, id engine.EventID) (Event, error) {
	e, err := m.EventByNumber(ctx, id.Event())
	if err == nil && e.Details.PublicID != id {
		return Event{}, fmt.Errorf("event %s: %w", id, ErrNotFound)
	}
	return e, err
}

// EventBySlug finds an event in any status, the oldest with that slug. It returns
// ErrNotFound.
func (m *Model) EventBySlug(ctx context.Context, slug string) (Event, error) {
	rows, _ := m.pool.Query(ctx, selectEvents(`WHERE e.slug = $1`, `e.number`, `LIMIT 1`), key(slug)) // CollectExactlyOneRow returns its error
	e, err := pgx.CollectExactlyOneRow(rows, scanEvent)
	if err != nil {
		return Event{}, fmt.Errorf("event %q: %w", slug, one(err))
	}
	return e, nil
}

// Filter narrows a list of events. Empty fields let everything through.
type Filter struct {
	Query       string // in title or short description, ignoring case
	Category    string
	ProductType string
	Course      bool   // online courses only
	City        string // contained, ignoring case
	Country     string // ignoring case
	Venue       string // contained, ignoring case
}

// conditions collects the parts of a WHERE clause and their arguments. In a
// part, ? stands for its argument.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, arg any) {
	c.args = append(c.args, arg)
	c.parts = append(c.parts, strings.ReplaceAll(part, "?", fmt.Sprintf("$%d", len(c.args))))
}

// containing is a LIKE pattern for texts that contain s.
func containing(s string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text(s)) + "%"
}

// narrow adds the filter's conditions. They have a collation of their own: in that of the
// database, C on a node's own, only ASCII letters have two cases.
func (f *Filter) narrow(c *conditions) {
	if f.Query != "" {
		c.add(`(e.title COLLATE "und-x-icu" ILIKE ? OR e.short_desc COLLATE "und-x-icu" ILIKE ?)`, containing(f.Query))
	}
	if f.Category != "" {
		c.add(`e.category = ?`, text(f.Category))
	}
	if f.ProductType != "" {
		c.add(`e.product_type = ?`, text(f.ProductType))
	}
	if f.Course {
		c.add(`e.category = ?`, "online-course")
	}
	if f.City != "" {
		c.add(`e.city COLLATE "und-x-icu" ILIKE ?`, containing(f.City))
	}
	if f.Country != "" {
		c.add(`lower(e.country) = lower(?)`, text(f.Country))
	}
	if f.Venue != "" {
		c.add(`e.venue COLLATE "und-x-icu" ILIKE ?`, containing(f.Venue))
	}
}

// Discovery asks for public events by start. From and To (unix milliseconds, 0
// for none) keep the events that run at some time between them; without them,
// those that have not ended at Now. Reservations and digital products without an
// end stay in either way.
type Discovery struct {
	Filter
	Now, From, To int64
	After         Start // the last event of the page before
	Limit         int
}

// Start is an event's place in Discovery: it orders by At, then Number. The zero
// value is before all.
type Start struct {
	At     int64 // unix milliseconds
	Number int64
}

// StartOf is the event's place in Discovery.
func StartOf(e *Event) Start { return Start{At: e.Details.StartAt, Number: e.Number} }

// DiscoverEvents lists the published public events.
func (m *Model) DiscoverEvents(ctx context.Context, d Discovery) ([]Event, error) {
	var c conditions
	// As in the index events_discovery.
	c.parts = []string{`e.visibility = 'public'`, `e.status IN ('published', 'on_sale', 'sold_out', 'in_progress')`}
	d.narrow(&c)
	const always = `(e.product_type = 'reservation' OR e.product_type = 'digital' AND e.end_at IS NULL OR `
	switch {
	case d.From == 0 && d.To == 0:
		c.add(always+`coalesce(e.end_at, e.start_at) > ?)`, time.UnixMilli(d.Now))
	default:
		if d.From != 0 {
			c.add(always+`coalesce(e.end_at, e.start_at) >= ?)`, time.UnixMilli(d.From))
		}
		if d.To != 0 {
			c.add(always+`e.start_at <= ?)`, time.UnixMilli(d.To))
		}
	}
	if d.After != (Start{}) {
		c.args = append(c.args, time.UnixMilli(d.After.At), d.After.Number)
		c.parts = append(c.parts, fmt.Sprintf(`(e.start_at, e.number) > ($%d, $%d)`, len(c.args)-1, len(c.args)))
	}
	return m.events(ctx, c, "e.start_at, e.number", d.Limit)
}

// OrganizerEvents lists an organization's events in any status, newest first:
// those numbered below before, 0 for the first page.
func (m *Model) OrganizerEvents(ctx context.Context, org int64, f Filter, before int64, limit int) ([]Event, error) {
	var c conditions
	c.add(`e.org = ?`, org)
	f.narrow(&c)
	if before != 0 {
		c.add(`e.number < ?`, before)
	}
	return m.events(ctx, c, "e.number DESC", limit)
}

func (m *Model) events(ctx context.Context, c conditions, order string, limit int) ([]Event, error) {
	find := selectEvents("WHERE "+strings.Join(c.parts, " AND "), order, fmt.Sprintf("LIMIT $%d", len(c.args)+1))
	rows, _ := m.pool.Query(ctx, find, append(c.args, limit)...) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanEvent)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return list, nil
}

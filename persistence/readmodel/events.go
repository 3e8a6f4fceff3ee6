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

// eventFact queues the statement that applies a fact about the event itself to the event's row. Each such fact
// raises the revision by one, as it does in the actor, so the two agree. The row of an event that is removed is
// deleted.
func (w *Writer) eventFact(number int64, f engine.Fact) error {
	const create = `
INSERT INTO events (number, updated_at, org, start_at, end_at, public_id, slug, title, short_desc, category, product_type,
  visibility, city, country, venue, currency, record, search, words, title_words, city_words, venue_words, created_at, status, revision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $2, $23, 1)`
	const update = `
UPDATE events SET updated_at = $2, org = $3, start_at = $4, end_at = $5, public_id = $6, slug = $7, title = $8, short_desc = $9,
  category = $10, product_type = $11, visibility = $12, city = $13, country = $14, venue = $15, currency = $16, record = $17,
  search = $18, words = $19, title_words = $20, city_words = $21, venue_words = $22, revision = revision + 1
WHERE number = $1`
	const move = `UPDATE events SET status = $2, updated_at = $3, revision = revision + 1 WHERE number = $1`
	// row returns the columns that a create and an update share, in the order of their parameters.
	// Text is cleaned, because a value that Postgres refuses would stop the follower for good.
	row := func(d *event.Details, at int64) ([]any, error) {
		record, err := codec.Marshal(d)
		s := searchColumns(d)
		return []any{
			number, time.UnixMilli(at), d.Org, time.UnixMilli(d.StartAt), moment(d.EndAt), [16]byte(d.PublicID), key(d.Slug),
			text(d.Title), text(d.ShortDesc), text(d.Category), event.ProductType(d.Category), text(d.Visibility),
			text(d.VenueCity), text(d.VenueCountry), text(d.VenueName), text(d.Currency), record, s.search, s.words, s.title, s.city, s.venue,
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

// Event is an event as lists and pages show it: its record, with what is known of its ticket types.
type Event struct {
	event.Record
	// From is the lowest price, in minor units, of the ticket types that are not hidden, have stock, and are on sale
	// now. If there are none, it is the lowest price of those that will be on sale later; otherwise it is NoPrice.
	From int64
	// To is the highest price of the types that From is about.
	To int64
	// Rank says how well the event fits a search that ranks events; a higher rank is a better fit.
	// It is 0 in other lists.
	Rank int64
}

// NoPrice stands for the price of an event that has nothing to sell to the public, now or later.
const NoPrice = -1

// unranked is the rank, as SQL, of the events in a list that is not ranked.
const unranked = "0::bigint"

// selectEvents makes the query for a page of events. The inner query finds the page first, so that
// the ticket types and tickets of other events are not read. To find out whether any tickets were
// sold, the query counts whether ticket 1 is there: for EXISTS, Postgres may choose a plan that
// reads the tickets of all events.
func selectEvents(from, rank, where, order, limit string) string {
	return `
SELECT e.number, e.status, e.created_at, e.updated_at, e.revision, e.record, e.rank, t.types, t.price, t.highest,
  (SELECT count(*) > 0 FROM tickets WHERE event_id = e.number AND serial = 1) AS sold
FROM (SELECT *, ` + rank + ` AS rank FROM ` + from + ` ` + where + ` ORDER BY ` + order + ` ` + limit + `) e
CROSS JOIN LATERAL (
  SELECT count(*) AS types, coalesce(
    min(price) FILTER (WHERE for_sale AND sale_start <= now() AND sale_end > now() AND e.status <> 'sold_out'),
    min(price) FILTER (WHERE for_sale AND sale_start > now()), -1) AS price, coalesce(
    max(price) FILTER (WHERE for_sale AND sale_start <= now() AND sale_end > now() AND e.status <> 'sold_out'),
    max(price) FILTER (WHERE for_sale AND sale_start > now()), -1) AS highest
  FROM (SELECT *, NOT hidden AND NOT sold_out AND e.status NOT IN ('completed', 'cancelled') AS for_sale
    FROM ticket_types WHERE event = e.number) AS types) t
ORDER BY ` + order
}

// scanEvent reads a row of selectEvents.
func scanEvent(row pgx.CollectableRow) (e Event, err error) {
	var created, updated time.Time
	var record []byte
	err = row.Scan(&e.Number, &e.Status, &created, &updated, &e.Revision, &record, &e.Rank, &e.Types, &e.From, &e.To, &e.Sold)
	if err != nil {
		return e, err
	}
	e.CreatedAt, e.UpdatedAt, e.Details = created.UnixMilli(), updated.UnixMilli(), new(event.Details)
	return e, codec.Unmarshal(record, e.Details)
}

// EventByNumber finds an event in any status, or returns ErrNotFound.
func (m *Model) EventByNumber(ctx context.Context, number int64) (Event, error) {
	rows, _ := m.pool.Query(ctx, selectEvents("events e", unranked, `WHERE e.number = $1`, `number`, `LIMIT 1`), number) // CollectExactlyOneRow returns its error
	e, err := pgx.CollectExactlyOneRow(rows, scanEvent)
	if err != nil {
		return Event{}, fmt.Errorf("event %d: %w", number, noRowsToNotFound(err))
	}
	return e, nil
}

// EventByPublicID finds an event in any status, or returns ErrNotFound. The row is found by the
// number that is part of the id, and the rest of the id must be the event's too.
func (m *Model) EventByPublicID(ctx context.Context, id engine.EventID) (Event, error) {
	e, err := m.EventByNumber(ctx, id.Event())
	if err == nil && e.Details.PublicID != id {
		return Event{}, fmt.Errorf("event %s: %w", id, ErrNotFound)
	}
	return e, err
}

// EventBySlug finds an event in any status, or returns ErrNotFound. Slugs are not unique; of
// several events with this one it finds the oldest.
func (m *Model) EventBySlug(ctx context.Context, slug string) (Event, error) {
	rows, _ := m.pool.Query(ctx, selectEvents("events e", unranked, `WHERE e.slug = $1`, `number`, `LIMIT 1`), key(slug)) // CollectExactlyOneRow returns its error
	e, err := pgx.CollectExactlyOneRow(rows, scanEvent)
	if err != nil {
		return Event{}, fmt.Errorf("event %q: %w", slug, noRowsToNotFound(err))
	}
	return e, nil
}

// Filter narrows a list of events. Empty fields let everything through.
type Filter struct {
	Query       string // the title or the short description contains it, in any case and with or without accents
	Search      string // words, beginnings of words, or misspelt words; only DiscoverEvents looks for them
	Category    string
	ProductType string
	Course      bool   // online courses only
	City        string // the city's name contains it, in any case and with or without accents
	Country     string // the venue's country, in any case
	Venue       string // the venue's name contains it, in any case and with or without accents
}

// conditions collects the parts of a WHERE clause, and their arguments. In a part that add takes, ?
// stands for its argument.
type conditions struct {
	parts []string
	args  []any
}

// addArg adds an argument, and returns the parameter by which SQL refers to it, such as $3.
func (c *conditions) addArg(arg any) string {
	c.args = append(c.args, arg)
	return fmt.Sprintf("$%d", len(c.args))
}

// add adds a condition, which all rows must meet.
func (c *conditions) add(part string, arg any) {
	c.parts = append(c.parts, strings.ReplaceAll(part, "?", c.addArg(arg)))
}

// containsPattern returns a LIKE pattern for folded texts that contain s. If s has no letters or
// digits, it returns a pattern that fits no text, because the pattern "%%" would fit all.
func containsPattern(s string) string {
	folded := foldText(s)
	if folded == "" {
		return noWords
	}
	return "%" + folded + "%"
}

// addConditions adds a condition for each field of the filter that is set, except Search.
func (f *Filter) addConditions(c *conditions) {
	if f.Query != "" {
		c.add(`e.title_words LIKE ?`, containsPattern(f.Query))
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
		c.add(`e.city_words LIKE ?`, containsPattern(f.City))
	}
	if f.Country != "" {
		c.add(`lower(e.country) = lower(?)`, text(f.Country))
	}
	if f.Venue != "" {
		c.add(`e.venue_words LIKE ?`, containsPattern(f.Venue))
	}
}

// Between selects events that run at some time between From and To, in unix milliseconds. A 0
// leaves that side open.
type Between struct{ From, To int64 }

// always begins a condition that is true for the events that are there at any time: reservations,
// and digital products without an end. The caller adds the condition for all other events, and the
// closing parenthesis.
const always = `(e.product_type = 'reservation' OR e.product_type = 'digital' AND e.end_at IS NULL OR `

// addConditions adds the condition that an event runs at some time between From and To, or is there at any time.
func (b Between) addConditions(c *conditions) {
	if b.From != 0 {
		c.add(always+`coalesce(e.end_at, e.start_at) >= ?)`, time.UnixMilli(b.From))
	}
	if b.To != 0 {
		c.add(always+`e.start_at <= ?)`, time.UnixMilli(b.To))
	}
}

// Discovery asks for a page of public events. If Between is not set, it asks for events that have
// not ended at Now, in unix milliseconds.
type Discovery struct {
	Filter
	Between
	Org    int64 // the organization whose events alone are listed; 0: the events of all
	Now    int64
	Ranked bool  // the events that fit Search best come first; else the ones that start first
	After  Place // the place of the last event of the previous page; zero: the first page
	Limit  int
}

// Place is an event's place in the list of a Discovery. A ranked list is sorted by Rank, the
// highest first. Events of equal rank, and other lists, are sorted by At, the time at which the
// event begins, and then by Number. The zero Place is before the first event.
type Place struct {
	Rank   int64
	At     int64 // unix milliseconds
	Number int64
}

// PlaceOf returns the place of an event, to ask for the page after it.
func PlaceOf(e *Event) Place { return Place{Rank: e.Rank, At: e.Details.StartAt, Number: e.Number} }

// DiscoverEvents lists a page of the published public events. The first is the one that begins first or, if
// Ranked, the one that fits the search best. It ranks only the maxRanked events that begin first. A search
// without any word finds nothing.
func (m *Model) DiscoverEvents(ctx context.Context, d Discovery) ([]Event, error) {
	var c conditions
	// The index events_discovery has these conditions. Postgres uses it only if a query repeats them.
	c.parts = []string{`e.visibility = 'public'`, `e.status IN ('published', 'on_sale', 'sold_out', 'in_progress')`}
	if d.Org != 0 {
		c.add(`e.org = ?`, d.Org)
	}
	d.Filter.addConditions(&c)
	var a asked
	// A search that consists only of signs has no words, and finds nothing.
	if d.Search != "" {
		var err error
		if a, err = m.askFor(ctx, d.Search); err != nil || a.words == nil {
			return nil, err
		}
		c.add(`e.search @@ ?::tsquery`, a.writeNeededQuery())
	}
	if d.Between == (Between{}) {
		c.add(always+`coalesce(e.end_at, e.start_at) > ?)`, time.UnixMilli(d.Now))
	}
	d.Between.addConditions(&c)
	from, rank, order := "events e", unranked, "start_at, number"
	// Ranking has to read each event that fits, so their number is limited: the inner query takes the events
	// that begin soonest. It applies all conditions so far, so that the outer query needs none of them.
	if d.Ranked {
		from, c.parts = fmt.Sprintf(`(SELECT * FROM events e WHERE %s ORDER BY start_at, number LIMIT %d) e`, strings.Join(c.parts, " AND "), maxRanked), []string{"true"}
		rank = fmt.Sprintf(searchRank, c.addArg(a.writeExactQuery()), c.addArg(a.nearQuery()))
		order = "rank DESC, " + order
	}
	// A page begins after the place of the last event of the page before. In a ranked list a lower rank comes
	// later; among equal ranks, and in other lists, a later start does, and then a higher number.
	if d.After != (Place{}) {
		later := fmt.Sprintf(`(e.start_at, e.number) > (%s, %s)`, c.addArg(time.UnixMilli(d.After.At)), c.addArg(d.After.Number))
		if d.Ranked {
			last := c.addArg(d.After.Rank)
			later = fmt.Sprintf(`(%s < %s OR %s = %s AND %s)`, rank, last, rank, last, later)
		}
		c.parts = append(c.parts, later)
	}
	return m.listEvents(ctx, from, c, rank, order, d.Limit)
}

// PastEvents lists the public events of an organization that are completed, those that began last first.
// Cancelled ones are left out.
func (m *Model) PastEvents(ctx context.Context, org int64, limit int) ([]Event, error) {
	var c conditions
	c.add(`e.org = ?`, org)
	c.parts = append(c.parts, `e.visibility = 'public'`, `e.status = 'completed'`)
	return m.listEvents(ctx, "events e", c, unranked, "start_at DESC, number DESC", limit)
}

// ProgramEvents lists an organization's public events that have a time of their own and that end at since or
// later, in the statuses in which the public sees events (event.Shown), so cancelled ones too. Events that are not
// over at now come first, then the others; both are sorted by their start.
func (m *Model) ProgramEvents(ctx context.Context, org int64, since, now time.Time, limit int) ([]Event, error) {
	var c conditions
	c.add(`e.org = ?`, org)
	c.parts = append(c.parts, `e.visibility = 'public'`, `e.product_type = 'event'`)
	c.add(`e.status = ANY(?)`, event.Shown)
	c.add(`coalesce(e.end_at, e.start_at) >= ?`, since)
	order := `coalesce(end_at, start_at) < ` + c.addArg(now) + `, start_at, number`
	return m.listEvents(ctx, "events e", c, unranked, order, limit)
}

// OrganizerEvents lists an organization's events in any status, the newest first. Before is the number of the last
// event of the page before, and 0 for the first page.
func (m *Model) OrganizerEvents(ctx context.Context, org int64, f Filter, b Between, before int64, limit int) ([]Event, error) {
	var c conditions
	c.add(`e.org = ?`, org)
	f.addConditions(&c)
	b.addConditions(&c)
	if before != 0 {
		c.add(`e.number < ?`, before)
	}
	return m.listEvents(ctx, "events e", c, unranked, "number DESC", limit)
}

// CountDrafts returns how many drafts an organization has, up to most: it stops counting there.
func (m *Model) CountDrafts(ctx context.Context, org, most int64) (n int64, err error) {
	const count = `SELECT count(*) FROM (SELECT FROM events WHERE org = $1 AND status = 'draft' LIMIT $2) d`
	if err := m.pool.QueryRow(ctx, count, org, most).Scan(&n); err != nil {
		return 0, fmt.Errorf("count drafts: %w", err)
	}
	return n, nil
}

// maxRanked is how many events a search ranks at most. Of the events that have all its words, it
// ranks those that begin soonest.
const maxRanked = 1_000

// searchRank computes how well an event fits a search, as an integer from 0 up. A word counts more
// in the title than in the tags, the description or the venue. A word that is spelt as in the
// search counts twice, because both queries find it.
const searchRank = `round(1000000 * (ts_rank('{0.1, 0.2, 0.4, 1}', e.search, %s::tsquery) + ts_rank('{0.1, 0.2, 0.4, 1}', e.search, %s::tsquery)))::bigint`

// These limits keep a search short, whatever somebody types.
const (
	maxNear  = 8  // words that a misspelt one may become
	maxBegun = 32 // words that a beginning may stand for, before it is looked for as a beginning
)

// findWords lists, for each word of a search, the words of events that begin with it (false), and the words
// that it may be a misspelling of (true). The second part leaves out numbers, and words of one or two letters,
// because too many words are near to them.
const findWords = `
SELECT a.n, b.word, false FROM unnest($1::text[]) WITH ORDINALITY AS a (word, n),
  LATERAL (SELECT word FROM search_words WHERE word >= a.word COLLATE "C" AND word < a.word || U&'\+10FFFF' COLLATE "C" ORDER BY word LIMIT $2) b
UNION ALL
SELECT a.n, b.word, true FROM unnest($1::text[]) WITH ORDINALITY AS a (word, n), LATERAL nearest_words(a.word, $3) AS b (word)
WHERE length(a.word) > 2 AND a.word !~ '^[0-9]+$'`

// askFor reads a search, and looks up which words of events the words in it may stand for: words that begin with
// the word (begun), and words that it may be a misspelling of (near). A search without words is not looked up, and
// its words are nil.
func (m *Model) askFor(ctx context.Context, search string) (asked, error) {
	a := readAsked(search)
	if a.words == nil {
		return a, nil
	}
	rows, _ := m.pool.Query(ctx, findWords, a.needed, maxBegun+1, maxNear) // ForEachRow returns its error
	// An empty list means that no word begins with this one. The rows below fill the lists.
	for i := range a.begun {
		a.begun[i] = []string{}
	}
	var n int
	var word string
	var near bool
	_, err := pgx.ForEachRow(rows, []any{&n, &word, &near}, func() error {
		if near {
			a.near[n-1] = append(a.near[n-1], word)
		} else {
			a.begun[n-1] = append(a.begun[n-1], word)
		}
		return nil
	})
	if err != nil {
		return a, fmt.Errorf("words of a search: %w", err)
	}
	// With nil, the query looks for the word as a beginning, by the index. That is necessary if
	// too many words begin with it to list them, or if both lists are empty.
	for i := range a.begun {
		if len(a.begun[i]) > maxBegun || len(a.begun[i])+len(a.near[i]) == 0 {
			a.begun[i] = nil
		}
	}
	return a, nil
}

// listEvents runs selectEvents with conditions that all events must meet.
func (m *Model) listEvents(ctx context.Context, from string, c conditions, rank, order string, limit int) ([]Event, error) {
	find := selectEvents(from, rank, "WHERE "+strings.Join(c.parts, " AND "), order, "LIMIT "+c.addArg(limit))
	rows, _ := m.pool.Query(ctx, find, c.args...) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, scanEvent)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return list, nil
}

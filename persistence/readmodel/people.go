package readmodel

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// Asked is a search in a list of people: words of their names and addresses, or an order or tickets that a code
// names. The zero value asks for nothing, and leaves everybody in the list.
type Asked struct {
	Patterns []string // for LIKE; a row's words must match all
	Order    engine.OrderID
	Tickets  []TicketKey // more than one if several events have a ticket with the code
}

// noWords is a pattern that fits no folded words, because those have no dash.
const noWords = "-"

// AskForWords reads a search in a list of people, as patterns for LIKE that must all fit. Parts of the search
// that blanks separate may stand anywhere and in any order; only the first maxAsked parts count. A part with
// other signs in it, such as an address, is found only as a whole. AskForWords returns nil if there are only
// blanks.
func AskForWords(text string) []string {
	parts := strings.Fields(text)
	if len(parts) == 0 {
		return nil
	}
	var patterns []string
	for _, part := range parts[:min(len(parts), maxAsked)] {
		if folded := foldText(part); folded != "" {
			patterns = append(patterns, "%"+folded+"%")
		}
	}
	// There is something in the search, but no letter or digit: it must find nobody rather than everybody.
	if patterns == nil {
		return []string{noWords}
	}
	return patterns
}

// foldText returns a text's words, in the form in which they are searched for, with a blank between them.
func foldText(text string) string { return strings.Join(wordsOf(text), " ") }

// foldLines folds each of some texts to a line of its own. The line break keeps a search from finding the end of
// one text together with the beginning of the next.
func foldLines(texts ...string) string {
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = foldText(text)
	}
	return strings.Join(lines, "\n")
}

// ticketColumns returns the tickets that are asked for as two columns.
func (a *Asked) ticketColumns() (events []int64, serials []int32) {
	for _, t := range a.Tickets {
		events, serials = append(events, t.Event), append(serials, int32(t.Serial)) //nolint:gosec // a serial is an int4 in all tables
	}
	return events, serials
}

// Args returns the named parameters of queries that search people: @patterns, @order, @ticket_events and
// @ticket_serials.
func (a *Asked) Args() pgx.NamedArgs {
	events, serials := a.ticketColumns()
	return pgx.NamedArgs{"patterns": a.Patterns, "order": [16]byte(a.Order), "ticket_events": events, "ticket_serials": serials}
}

// OrdersOfTickets selects the orders of the tickets that are asked for. It takes the parameters of Args.
const OrdersOfTickets = `SELECT t.order_id FROM tickets t JOIN unnest(@ticket_events::bigint[], @ticket_serials::int[]) AS n(event, serial)
    ON t.event_id = n.event AND t.serial = n.serial`

// unfolded is a table of people in which rows may lack their folded words. They are written only when somebody
// searches, so that a rush does not pay for them.
type unfolded struct {
	find string // some rows of the events in $1, or between the ids in $2 and $3: key, name, e-mail, record of the order
	fill string // writes the words $2 of the keys $1
}

var unfoldedTables = []unfolded{
	{
		`SELECT o.id::text, '', '', o.record FROM unnest($2::uuid[], $3::uuid[]) AS r(first, next) JOIN orders o ON o.id >= r.first AND o.id < r.next
WHERE $1::bigint[] IS NOT NULL AND o.words IS NULL LIMIT $4 FOR UPDATE OF o SKIP LOCKED`,
		`UPDATE orders o SET words = n.words FROM unnest($1::text[], $2::text[]) AS n(key, words) WHERE o.id = n.key::uuid`,
	},
	{
		`SELECT a.event_id || '/' || a.serial, a.name, a.email, NULL FROM attendees a
WHERE a.event_id = ANY($1) AND a.words IS NULL AND $2::uuid[] IS NOT NULL AND $3::uuid[] IS NOT NULL LIMIT $4 FOR UPDATE SKIP LOCKED`,
		`UPDATE attendees a SET words = n.words FROM unnest($1::text[], $2::text[]) AS n(key, words)
WHERE a.event_id = split_part(n.key, '/', 1)::bigint AND a.serial = split_part(n.key, '/', 2)::int`,
	},
	{
		`SELECT c.number::text, c.name, c.email, NULL FROM customers c WHERE c.org IN (SELECT e.org FROM events e WHERE e.number = ANY($1))
AND c.words IS NULL AND $2::uuid[] IS NOT NULL AND $3::uuid[] IS NOT NULL LIMIT $4 FOR UPDATE OF c SKIP LOCKED`,
		`UPDATE customers c SET words = n.words FROM unnest($1::text[], $2::text[]) AS n(key, words) WHERE c.number = n.key::bigint`,
	},
}

// foldAtOnce is how many people's words are written in one transaction.
const foldAtOnce = 2_000

// FoldPeople writes the folded words of those people of some events that lack them. The events are all of one
// organization. It waits for no other writer: a row that is being changed is skipped, and left for the next search.
func FoldPeople(ctx context.Context, pool *pgxpool.Pool, events []int64) error {
	// One table after the other, in transactions of foldAtOnce rows, until fewer rows than that were left.
	for i := range unfoldedTables {
		for n := foldAtOnce; n == foldAtOnce; {
			err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
				n, err = unfoldedTables[i].foldSome(ctx, tx, events)
				return err
			})
			if err != nil {
				return fmt.Errorf("readmodel: fold people: %w", err)
			}
		}
	}
	return nil
}

// foldSome folds up to foldAtOnce rows of a table, and returns how many. The lock of each row keeps another search
// from folding it too.
func (u *unfolded) foldSome(ctx context.Context, tx pgx.Tx, events []int64) (int, error) {
	if _, err := tx.Exec(ctx, byIndex); err != nil {
		return 0, err
	}
	first, next := OrderRanges(events)
	rows, _ := tx.Query(ctx, u.find, events, first, next, foldAtOnce) // ForEachRow returns its error
	var keys, texts []string
	var key, name, email string
	var record []byte
	if _, err := pgx.ForEachRow(rows, []any{&key, &name, &email, &record}, func() error {
		keys, texts = append(keys, key), append(texts, peopleWords(name, email, record))
		return nil
	}); err != nil || len(keys) == 0 {
		return 0, err
	}
	_, err := tx.Exec(ctx, u.fill, keys, texts)
	return len(keys), err
}

// peopleWords returns the folded words of a person, or of an order if its record is given: its name, address and
// promo code. A record that can't be read has none, so that the row counts as done.
func peopleWords(name, email string, record []byte) string {
	if record == nil {
		return foldLines(name, email)
	}
	o := new(order.Order)
	if codec.Unmarshal(record, o) != nil {
		return ""
	}
	code := ""
	if o.Promo != nil {
		code = o.Promo.Code
	}
	return foldLines(o.Name, o.Email, code)
}

// OrderRanges returns, for each event, the ids between which its orders lie: from first, and below next.
func OrderRanges(events []int64) (first, next [][16]byte) {
	first, next = make([][16]byte, len(events)), make([][16]byte, len(events))
	for i, number := range events {
		first[i], next[i] = engine.NewID(number, make([]byte, 10)), engine.NewID(number+1, make([]byte, 10))
	}
	return first, next
}

// EventsOfOrganization lists the numbers of an organization's events.
func (m *Model) EventsOfOrganization(ctx context.Context, org int64) ([]int64, error) {
	return m.eventNumbers(ctx, `SELECT number FROM events WHERE org = $1`, org)
}

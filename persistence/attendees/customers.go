package attendees

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine/order"
	"boxoffice/persistence"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/readmodel"
)

// Customer is somebody who has bought or holds tickets of an organization. Each organization has
// its own record of the same person. Times are unix milliseconds.
type Customer struct {
	Number  int64
	Org     int64
	Key     string
	Email   string // in lower case
	Name    string
	FirstAt int64 // when the first order that names them was completed
	LastAt  int64 // when the last such order was completed
	Orders  int64
	Tickets int64 // how many tickets they hold, whatever their status
	Tags    []string
	Spent   []Spent
}

// Spent is what a customer has spent in one currency: the sum of the orders minus what was paid
// back, in minor units.
type Spent struct {
	Currency string
	Amount   int64
}

// customer is a person whom one order names as its buyer or as a ticket's holder.
type customer struct {
	event       int64
	email, name string
	at          int64 // unix milliseconds
}

// customersOf returns the people whom a completed order names as its buyer or as a holder. Each address comes
// once, with the name that the order has first for it.
func customersOf(o *order.Order) []customer {
	if o.FirstTicket == 0 || !o.HasSoundSize() {
		return nil
	}
	// An empty address is nobody's.
	seen := map[string]bool{"": true}
	var out []customer
	add := func(email, name string) {
		if email = cleanText(order.NormalEmail(email)); !seen[email] {
			seen[email] = true
			out = append(out, customer{o.ID.Event(), email, cleanText(name), o.EndedAt})
		}
	}
	// The buyer comes first, because the name that the buyer has given counts, even if a ticket
	// has another name for the same address.
	add(o.Email, o.Name)
	serial := o.FirstTicket
	for i := range o.Lines {
		for range o.Lines[i].Quantity {
			holder := o.OwnerOf(serial)
			add(holder.Email, holder.Name)
			serial++
		}
	}
	return out
}

// writeCustomers adds the customers of some orders to the events' organizations, or updates their names and
// times. The name in the latest of the orders replaces the stored one, unless it is empty or older.
func (s *Store) writeCustomers(ctx context.Context, tx pgx.Tx, seen []customer) error {
	orgs, err := findOrganizations(ctx, tx, seen)
	if err != nil {
		return err
	}
	const upsert = `
INSERT INTO customers AS c (org, customer, key, email, name, first_at, last_at)
SELECT org, (array_agg(customer))[1], key, email, (array_agg(name ORDER BY at DESC))[1], min(at), max(at)
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]) AS s(org, customer, key, email, name, at)
GROUP BY org, email, key
ON CONFLICT (org, email) DO UPDATE SET first_at = least(c.first_at, excluded.first_at), last_at = greatest(c.last_at, excluded.last_at),
  name = CASE WHEN excluded.last_at >= c.last_at AND excluded.name <> '' THEN excluded.name ELSE c.name END`
	n := len(seen)
	of, hashes, at := make([]int64, 0, n), make([]int64, 0, n), make([]time.Time, 0, n)
	keys, emails, names := make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)
	// Rows are passed to the statement as one slice for each column.
	for _, c := range seen {
		// An event that was removed has no organization here, and its customers are not written.
		org, ok := orgs[c.event]
		if !ok {
			continue
		}
		of, hashes = append(of, org), append(hashes, int64(order.CustomerOf(c.email))) //nolint:gosec // keeps all bits
		keys, emails, names = append(keys, s.key(org, c.email)), append(emails, c.email), append(names, c.name)
		at = append(at, time.UnixMilli(c.at))
	}
	if _, err := tx.Exec(ctx, upsert, of, hashes, keys, emails, names, at); err != nil {
		return fmt.Errorf("attendees: write customers: %w", err)
	}
	return nil
}

// findOrganizations returns the organization of each event at which customers were seen, by the
// event's number. Events that were removed are not in it.
func findOrganizations(ctx context.Context, tx pgx.Tx, seen []customer) (map[int64]int64, error) {
	events := make([]int64, len(seen))
	for i := range seen {
		events[i] = seen[i].event
	}
	rows, _ := tx.Query(ctx, `SELECT number, org FROM events WHERE number = ANY($1)`, events) // ForEachRow returns its error
	orgs := make(map[int64]int64)
	var number, org int64
	if _, err := pgx.ForEachRow(rows, []any{&number, &org}, func() error {
		orgs[number] = org
		return nil
	}); err != nil {
		return nil, fmt.Errorf("attendees: organizations of events: %w", err)
	}
	return orgs, nil
}

// CustomerFilter selects some of an organization's customers. Asked, Event and Tag select all customers if they
// have their zero values.
type CustomerFilter struct {
	Org    int64
	Asked  readmodel.Asked
	Events []int64 // the organization's events, in which Asked is looked for
	Event  int64   // only customers who have bought or hold tickets of this event; 0: of any
	Tag    string  // only customers who hold a ticket with this tag; "": with any or none
	Sort   string  // recent, oldest or name
	After  int64   // number of the last customer of the previous page
	Limit  int
}

// sorts are the orders in which customers can be listed. key has the columns of the sort key, after
// says how the key of a later page compares to the key of an earlier one, and by is the ORDER BY.
// Each key ends with the number, so that no two customers are at the same place and a page goes on
// exactly after the last one.
var sorts = map[string]struct{ key, after, by string }{
	"recent": {"last_at, number", "<", "last_at DESC, number DESC"},
	"oldest": {"first_at, number", ">", "first_at, number"},
	"name":   {"lower(name), number", ">", "lower(name), number"},
}

// customerColumns selects the columns of a Customer. The first %s is a query that selects rows of
// customers, the second the parameter with the statuses of sold orders. Tickets and spending are
// looked up for each customer, by indexes on the address, so only the customers of one page are
// counted.
const customerColumns = `
SELECT c.number, c.org, c.key, c.email, c.name, c.first_at, c.last_at, held.n, held.tags, bought.n, bought.currencies, bought.amounts
FROM (%s) c
CROSS JOIN LATERAL (
  SELECT count(*) AS n, coalesce((SELECT array_agg(DISTINCT tag ORDER BY tag) FROM attendees b JOIN events f ON f.number = b.event_id, unnest(b.tags) AS tag
    WHERE b.holder = c.email AND b.holder <> '' AND f.org = c.org), '{}') AS tags
  FROM attendees a JOIN events e ON e.number = a.event_id WHERE a.holder = c.email AND a.holder <> '' AND e.org = c.org) held
CROSS JOIN LATERAL (
  SELECT coalesce(sum(n), 0)::bigint AS n, coalesce(array_agg(currency ORDER BY currency), '{}') AS currencies, coalesce(array_agg(amount ORDER BY currency), '{}') AS amounts
  FROM (SELECT o.currency, count(*) AS n,
      (sum(o.total) - coalesce(sum((SELECT sum(r.amount) FROM refunds r WHERE r.order_id = o.id AND r.status = 'processed')), 0))::bigint AS amount
    FROM orders o JOIN events e ON e.number = o.event_id
    WHERE o.customer = c.customer AND lower(btrim(o.email)) = c.email AND e.org = c.org AND o.status = ANY(%s)
    GROUP BY o.currency) sums) bought`

// Customers lists one page of an organization's customers that fit a filter, in the order of Sort. A search finds
// customers by their names and addresses, and by the tickets and orders that Asked fits. It first writes the folded words
// of people who lack them.
func (s *Store) Customers(ctx context.Context, f CustomerFilter) ([]Customer, error) {
	sort := sorts[f.Sort]
	find := fmt.Sprintf(`
SELECT * FROM customers AS c WHERE org = @org
  AND (@patterns::text[] IS NULL OR coalesce(c.words, lower(c.name || ' ' || c.email)) LIKE ALL(@patterns)
    OR c.email IN (SELECT a.holder FROM attendees a WHERE a.event_id = ANY(@events) AND a.words LIKE ALL(@patterns))
    OR c.email IN (SELECT a.holder FROM attendees a JOIN unnest(@ticket_events::bigint[], @ticket_serials::int[]) AS n(event, serial)
      ON a.event_id = n.event AND a.serial = n.serial)
    OR c.email IN (SELECT lower(btrim(o.email)) FROM unnest(@first::uuid[], @next::uuid[]) AS r(first, next)
      CROSS JOIN LATERAL (SELECT * FROM orders WHERE id >= r.first AND id < r.next) o
      WHERE o.status = ANY(@statuses) AND (o.words LIKE ALL(@patterns) OR o.id = @order)))
  AND (@event::bigint = 0 OR EXISTS (SELECT FROM attendees a WHERE a.holder = c.email AND a.holder <> '' AND a.event_id = @event)
    OR EXISTS (SELECT FROM orders o WHERE o.customer = c.customer AND o.event_id = @event AND lower(btrim(o.email)) = c.email AND o.status = ANY(@statuses)))
  AND (@tag = '' OR EXISTS (SELECT FROM attendees a JOIN events e ON e.number = a.event_id
    WHERE a.holder = c.email AND a.holder <> '' AND e.org = c.org AND a.tags @> ARRAY[@tag]))
  AND (@after::bigint = 0 OR (%s) %s (SELECT %s FROM customers WHERE number = @after))
ORDER BY %s LIMIT @limit`, sort.key, sort.after, sort.key, sort.by)
	// The query searches in the column words, which has the names and addresses folded for searching. FoldPeople
	// fills it for people who have no words yet, because the search would not find them.
	if f.Asked.Patterns != nil {
		if err := readmodel.FoldPeople(ctx, s.pool, f.Events); err != nil {
			return nil, err
		}
	}
	args := f.Asked.Args()
	args["org"], args["events"], args["statuses"], args["event"], args["tag"] = f.Org, f.Events, readmodel.SoldStatuses(), f.Event, f.Tag
	args["first"], args["next"] = readmodel.OrderRanges(f.Events)
	args["after"], args["limit"] = f.After, f.Limit
	query := fmt.Sprintf(customerColumns, find, "@statuses") + ` ORDER BY ` + sort.by
	rows, _ := s.pool.Query(ctx, query, persistence.PlanEachTime, args) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, readCustomer)
	if err != nil {
		return nil, fmt.Errorf("customers of organization %d: %w", f.Org, err)
	}
	return list, nil
}

// Customer finds an organization's customer by the public key, or returns ErrNotFound.
func (s *Store) Customer(ctx context.Context, org int64, key string) (*Customer, error) {
	query := fmt.Sprintf(customerColumns, `SELECT * FROM customers WHERE org = $1 AND key = $3`, "$2")
	rows, _ := s.pool.Query(ctx, query, org, readmodel.SoldStatuses(), cleanText(key)) // CollectExactlyOneRow returns its error
	c, err := pgx.CollectExactlyOneRow(rows, readCustomer)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("customer of organization %d: %w", org, err)
	}
	return &c, nil
}

// readCustomer reads a row of customerColumns.
func readCustomer(row pgx.CollectableRow) (c Customer, err error) {
	var first, last time.Time
	var currencies []string
	var amounts []int64
	if err := row.Scan(&c.Number, &c.Org, &c.Key, &c.Email, &c.Name, &first, &last, &c.Tickets, &c.Tags, &c.Orders, &currencies, &amounts); err != nil {
		return c, err
	}
	c.FirstAt, c.LastAt = first.UnixMilli(), last.UnixMilli()
	for i, currency := range currencies {
		c.Spent = append(c.Spent, Spent{currency, amounts[i]})
	}
	return c, nil
}

// OrdersOf lists at most limit of a customer's orders that have tickets, the newest first.
func (s *Store) OrdersOf(ctx context.Context, c *Customer, limit int) ([]order.Order, error) {
	const find = `
SELECT o.record FROM orders o JOIN events e ON e.number = o.event_id
WHERE o.customer = $1 AND lower(btrim(o.email)) = $2 AND e.org = $3 AND o.status = ANY($5)
ORDER BY o.created_at DESC, o.id DESC LIMIT $4`
	rows, _ := s.pool.Query(ctx, find, int64(order.CustomerOf(c.Email)), c.Email, c.Org, limit, readmodel.SoldStatuses()) //nolint:gosec // kept as its bits; CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o order.Order, err error) {
		var record []byte
		if err := row.Scan(&record); err != nil {
			return o, err
		}
		return o, codec.Unmarshal(record, &o)
	})
	if err != nil {
		return nil, fmt.Errorf("orders of customer %d: %w", c.Number, err)
	}
	return list, nil
}

// HeldOf lists at most limit of the organization's tickets that a customer holds, the newest first,
// whatever their status.
func (s *Store) HeldOf(ctx context.Context, c *Customer, limit int) ([]Attendee, error) {
	const held = attendeeColumns + `JOIN events e ON e.number = a.event_id
WHERE a.holder = $1 AND a.holder <> '' AND e.org = $2 ORDER BY a.issued_at DESC, a.event_id DESC, a.serial DESC LIMIT $3`
	rows, _ := s.pool.Query(ctx, held, c.Email, c.Org, limit) // collectAttendees returns its error
	list, err := collectAttendees(rows)
	if err != nil {
		return nil, fmt.Errorf("tickets of customer %d: %w", c.Number, err)
	}
	return list, nil
}

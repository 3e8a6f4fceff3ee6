package outreach

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/engine/order"
	"boxoffice/persistence"
	"boxoffice/persistence/readmodel"
)

// Broadcast is a mail that an organization writes to the people who attend one of its events.
type Broadcast struct {
	// A repeated request has the same id, so that it makes no second broadcast.
	ID        uuid.UUID
	Number    int64 // higher for later ones
	Org       int64
	Event     int64
	Subject   string
	Body      string // HTML, sanitised
	Tag       string // tag of the attendees who get it; "": all
	CreatedAt time.Time

	// Recipients counts all who are to get the broadcast. Sent, Suppressed and Dropped count the recipients whose
	// mails have come to an end. The rest of the recipients still wait.
	Recipients int64
	Sent       int64
	Suppressed int64 // recipients who got no mail, because their address is suppressed
	Dropped    int64 // recipients whose mail was given up
}

// The ways in which a recipient's mail may come to an end.
const (
	Sent       = "sent"
	Suppressed = "suppressed"
	Dropped    = "dropped"
)

// Recipient is somebody who gets a broadcast. The list of recipients is fixed when the broadcast is
// stored, so that people who buy a ticket later don't get an old mail.
type Recipient struct {
	Email string
	Name  string
}

// Limited is the error of a broadcast for an event that has had as many as it may. Wait is the time
// until the oldest of them no longer counts.
type Limited struct{ Wait time.Duration }

func (e *Limited) Error() string { return "outreach: too many broadcasts" }

// LimitTime is the span of time in which the broadcasts of one event are counted against their
// limit.
const LimitTime = 24 * time.Hour

// broadcastColumns count the recipients each time a broadcast is read. Counters in the row would
// make all workers that send one broadcast's mails wait for that row.
const broadcastColumns = `
SELECT b.id, b.number, b.org, b.event, b.subject, b.body, b.tag, b.created_at, r.n, r.sent, r.suppressed, r.dropped
FROM broadcasts b CROSS JOIN LATERAL (
  SELECT count(*) AS n, count(*) FILTER (WHERE status = 'sent') AS sent, count(*) FILTER (WHERE status = 'suppressed') AS suppressed,
    count(*) FILTER (WHERE status = 'dropped') AS dropped
  FROM broadcast_recipients WHERE broadcast = b.id) r `

// AddBroadcast stores a broadcast and its recipients: the people who attend with a valid ticket (one with
// b.Tag, unless that is empty) and get bulk mail from the organization. Each address is a recipient once,
// however many tickets it has. If a broadcast with this id is stored already, b becomes that one, and added is
// false. The error is *Limited if the event has had limit broadcasts within LimitTime.
//
// tx must also queue the broadcast's mails, so that no broadcast is stored without them.
func (s *Store) AddBroadcast(ctx context.Context, tx pgx.Tx, b *Broadcast, limit int) (added bool, err error) {
	// The lock makes broadcasts of one event wait for one another. Without it, two requests could
	// both count one less than the limit, or both find that an id is new.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('broadcasts', $1))`, b.Event); err != nil {
		return false, fmt.Errorf("add broadcast: %w", err)
	}
	if known, err := readBroadcast(ctx, tx, broadcastColumns+`WHERE b.id = $1`, b.ID); !errors.Is(err, ErrNotFound) {
		if err == nil {
			*b = *known
		}
		return false, err
	}
	const count = `
SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM broadcasts
WHERE event = $1 AND created_at > now() - make_interval(secs => $2)`
	var n int
	var age float64
	if err := tx.QueryRow(ctx, count, b.Event, LimitTime.Seconds()).Scan(&n, &age); err != nil {
		return false, fmt.Errorf("add broadcast: %w", err)
	}
	// The oldest broadcast in the span is the first to leave it, after what is left of the span.
	if n >= limit {
		return false, &Limited{LimitTime - time.Duration(age*float64(time.Second))}
	}
	const insert = `INSERT INTO broadcasts (id, org, event, subject, body, tag) VALUES ($1, $2, $3, $4, $5, $6)`
	if _, err := tx.Exec(ctx, insert, b.ID, b.Org, b.Event, b.Subject, b.Body, b.Tag); err != nil {
		return false, fmt.Errorf("add broadcast: %w", err)
	}
	// A ticket without an attendee's address counts for its holder. Addresses are put into lower
	// case, because suppressions are stored that way. Of several names for one address, the query
	// takes a name that isn't empty, if there is one.
	const invite = `
INSERT INTO broadcast_recipients (broadcast, email, name)
SELECT $1, email, (array_agg(name ORDER BY name DESC))[1] FROM (
  SELECT lower(btrim(coalesce(nullif(a.email, ''), a.holder))) AS email, a.name FROM attendees a JOIN tickets t USING (event_id, serial)
  WHERE a.event_id = $2 AND t.status = ANY($3) AND ($4 = '' OR a.tags @> ARRAY[$4])) who
WHERE email <> '' AND email NOT LIKE '%' || $6 AND NOT EXISTS (SELECT FROM mail_suppressions m WHERE m.email = who.email AND m.org IN (0, $5))
GROUP BY email`
	done, err := tx.Exec(ctx, invite, b.ID, b.Event, readmodel.TicketStatusNumbers("issued", "checked_in"), b.Tag, b.Org, order.Pseudonym(""))
	if err != nil {
		return false, fmt.Errorf("add broadcast: %w", err)
	}
	b.Recipients = done.RowsAffected()
	return true, nil
}

// ErrNotFound says that there is no such broadcast.
var ErrNotFound = errors.New("outreach: not found")

// readBroadcast returns the one broadcast that a query finds, or ErrNotFound. The query must begin
// with broadcastColumns.
func readBroadcast(ctx context.Context, q persistence.Querier, query string, args ...any) (*Broadcast, error) {
	rows, _ := q.Query(ctx, query, args...) // CollectExactlyOneRow returns its error
	b, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Broadcast])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("broadcast: %w", err)
	}
	return b, nil
}

// Broadcast finds a broadcast, or returns ErrNotFound.
func (s *Store) Broadcast(ctx context.Context, id uuid.UUID) (*Broadcast, error) {
	return readBroadcast(ctx, s.pool, broadcastColumns+`WHERE b.id = $1`, id)
}

// Broadcasts lists at most limit of an event's broadcasts, the newest first. All of them have
// numbers below before, so the number of a page's last broadcast leads to the next page.
func (s *Store) Broadcasts(ctx context.Context, event, before int64, limit int) ([]Broadcast, error) {
	rows, _ := s.pool.Query(ctx, broadcastColumns+`WHERE b.event = $1 AND b.number < $2 ORDER BY b.number DESC LIMIT $3`, event, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Broadcast])
	if err != nil {
		return nil, fmt.Errorf("broadcasts of event %d: %w", event, err)
	}
	return list, nil
}

// Recipients lists at most limit recipients of a broadcast, sorted by address. They begin after
// the address after; "" begins with the first one.
func (s *Store) Recipients(ctx context.Context, broadcast uuid.UUID, after string, limit int) ([]Recipient, error) {
	const find = `SELECT email, name FROM broadcast_recipients WHERE broadcast = $1 AND email > $2 ORDER BY email LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, broadcast, after, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Recipient])
	if err != nil {
		return nil, fmt.Errorf("recipients of broadcast %s: %w", broadcast, err)
	}
	return list, nil
}

// IsWaiting reports whether the end of a broadcast's mail to a recipient is not noted yet. A worker asks before
// it sends a mail that it may have sent in an earlier attempt.
func (s *Store) IsWaiting(ctx context.Context, broadcast uuid.UUID, email string) (waiting bool, err error) {
	const find = `SELECT EXISTS (SELECT FROM broadcast_recipients WHERE broadcast = $1 AND email = $2 AND status = 'waiting')`
	if err := s.pool.QueryRow(ctx, find, broadcast, email).Scan(&waiting); err != nil {
		return false, fmt.Errorf("recipient of broadcast %s: %w", broadcast, err)
	}
	return waiting, nil
}

// NoteRecipient notes how a broadcast's mail to one recipient has come to an end: status is Sent, Suppressed or
// Dropped. The first end that is noted counts.
func (s *Store) NoteRecipient(ctx context.Context, broadcast uuid.UUID, email, status string) error {
	const note = `UPDATE broadcast_recipients SET status = $3 WHERE broadcast = $1 AND email = $2 AND status = 'waiting'`
	if _, err := s.pool.Exec(ctx, note, broadcast, email, status); err != nil {
		return fmt.Errorf("recipient of broadcast %s: %w", broadcast, err)
	}
	return nil
}

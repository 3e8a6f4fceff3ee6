package community

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/publicfacts"
)

// These are the statuses of a thread. The last writer decides: open after a message of the buyer, replied after a
// message of the organization.
const (
	ThreadOpen    = "open"
	ThreadReplied = "replied"
)

// LimitTime is the span in which a buyer's messages to an organization are counted.
const LimitTime = time.Hour

// TooManyMessages is the error for a buyer who has written as many messages as allowed. Wait is the time until the
// oldest counted message leaves the LimitTime, so that the buyer can write again.
type TooManyMessages struct{ Wait time.Duration }

func (e *TooManyMessages) Error() string { return "community: too many messages" }

// Thread is what a buyer and an organization write to each other about a ticket.
type Thread struct {
	ID        uuid.UUID
	Buyer     int64 // number of the user who is the buyer
	Email     string
	Name      string
	Org       int64
	Event     int64
	Ticket    uint32
	Status    string
	Last      int64 // number of the last message
	CreatedAt time.Time
	Messages  []Message `db:"-"` // the newest ones, oldest first
}

// Message is a message of a thread.
type Message struct {
	ID             uuid.UUID
	Number         int64 // number of the message, higher for later ones
	Thread         uuid.UUID
	ByBuyer        bool
	Body           string
	AttachmentURLs []string
	CreatedAt      time.Time
	ReadAt         *time.Time
}

// The buyer's address and name are selected with the thread, because an organization's list shows them, and a
// thread's row has only the buyer's number. The order of the columns is the order of the fields of Thread and
// Message.
const (
	threadColumns = `id, buyer, (SELECT email FROM users u WHERE u.id = buyer),
(SELECT trim(first_name || ' ' || last_name) FROM users u WHERE u.id = buyer), org, event, ticket, status, last, created_at`

	messageColumns = `id, number, thread, by_buyer, body, attachment_urls, created_at, read_at`
)

// WriteToOrganization adds a buyer's message to the buyer's thread about the ticket, and publishes the fact that tell
// makes. If a message with the same id exists, it returns the stored message, and publishes nothing. The first
// message makes the thread. It returns TooManyMessages if the buyer has already written limit messages to the
// organization within LimitTime.
func (s *Store) WriteToOrganization(ctx context.Context, t *Thread, m *Message, limit int, tell func(*Message) (publicfacts.Own, error)) (*Message, error) {
	var added *Message
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := checkMessages(ctx, tx, t, m.ID, limit); err != nil {
			return err
		}
		const open = `
INSERT INTO message_threads (buyer, org, event, ticket, status) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (buyer, org, event, ticket) DO UPDATE SET last = message_threads.last RETURNING id` // the update changes nothing: it locks the row, and makes RETURNING give the id of a thread that exists
		if err := tx.QueryRow(ctx, open, t.Buyer, t.Org, t.Event, t.Ticket, ThreadOpen).Scan(&m.Thread); err != nil {
			return err
		}
		// A repeated request has its message already. Its fact was published with the message, in the same
		// transaction.
		var known bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM messages WHERE id = $1)`, m.ID).Scan(&known); err != nil {
			return err
		}
		var err error
		if added, err = addMessage(ctx, tx, m); err != nil || known {
			return err
		}
		told, err := tell(added)
		if err != nil {
			return err
		}
		return s.facts.Tell(ctx, tx, told)
	})
	if err != nil {
		return nil, fmt.Errorf("write to an organization: %w", err)
	}
	return added, nil
}

// checkMessages counts a buyer's messages to an organization within LimitTime, and returns a *TooManyMessages if there
// are limit already. The message id does not count, because a repeated request must not count itself. It takes an
// advisory lock on buyer and organization until the transaction ends: two simultaneous messages could otherwise both
// see one message less than the limit.
func checkMessages(ctx context.Context, tx pgx.Tx, t *Thread, id uuid.UUID, limit int) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('messages', $1))`, t.Buyer^t.Org<<32); err != nil {
		return err
	}
	const count = `
SELECT count(*), coalesce(extract(epoch FROM now() - min(m.created_at)), 0)::float8
FROM messages m JOIN message_threads t ON t.id = m.thread
WHERE t.buyer = $1 AND t.org = $2 AND m.by_buyer AND m.id <> $3 AND m.created_at > now() - make_interval(secs => $4)`
	var n int
	var age float64
	if err := tx.QueryRow(ctx, count, t.Buyer, t.Org, id, LimitTime.Seconds()).Scan(&n, &age); err != nil {
		return err
	}
	if n >= limit {
		return &TooManyMessages{LimitTime - time.Duration(age*float64(time.Second))}
	}
	return nil
}

// Reply adds an organization's message to a thread and returns it, or the one with its id that is there already. A new
// message makes the thread answered (ThreadReplied).
func (s *Store) Reply(ctx context.Context, m *Message) (*Message, error) {
	var added *Message
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT FROM message_threads WHERE id = $1 FOR UPDATE`, m.Thread)
		if err != nil {
			return err
		}
		added, err = addMessage(ctx, tx, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reply in thread %s: %w", m.Thread, err)
	}
	return added, nil
}

// addMessage adds a message to a thread whose row the transaction has locked, or finds the stored message with the
// same id. A new message is the thread's last one, and decides its status. Writing counts as having read: the other
// side's messages get their read time.
func addMessage(ctx context.Context, tx pgx.Tx, m *Message) (*Message, error) {
	const insert = `
INSERT INTO messages (id, thread, by_buyer, body, attachment_urls) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING ` + messageColumns
	rows, _ := tx.Query(ctx, insert, m.ID, m.Thread, m.ByBuyer, m.Body, m.AttachmentURLs) // CollectExactlyOneRow returns its error
	added, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Message])
	if err != nil {
		return nil, err
	}
	status := ThreadReplied
	if m.ByBuyer {
		status = ThreadOpen
	}
	// A repeated message changes nothing: the other side may have written since.
	const last = `UPDATE message_threads SET last = $2, status = $3 WHERE id = $1 AND last < $2`
	if tag, err := tx.Exec(ctx, last, m.Thread, added.Number, status); err != nil || tag.RowsAffected() == 0 {
		return added, err
	}
	const read = `UPDATE messages SET read_at = now() WHERE thread = $1 AND by_buyer <> $2 AND read_at IS NULL`
	_, err = tx.Exec(ctx, read, m.Thread, m.ByBuyer)
	return added, err
}

// Thread finds a thread without its messages, or returns ErrNotFound.
func (s *Store) Thread(ctx context.Context, id uuid.UUID) (*Thread, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+threadColumns+` FROM message_threads WHERE id = $1`, id) // CollectExactlyOneRow returns its error
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Thread])
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", id, requireRow(err))
	}
	return t, nil
}

// ThreadsOfBuyer lists a buyer's threads with their newest messages, starting with the thread that was written to
// last. before is the page's cursor: only threads with a last message number below it are listed.
func (s *Store) ThreadsOfBuyer(ctx context.Context, buyer, before int64, limit int) ([]Thread, error) {
	const find = `SELECT ` + threadColumns + ` FROM message_threads WHERE buyer = $1 AND last < $2 ORDER BY last DESC LIMIT $3`
	return s.listThreads(ctx, shownMessages, find, buyer, before, limit)
}

// exportedMessages is how many messages of a thread an export of a buyer's data contains at most: the newest ones.
const exportedMessages = 1_000

// WholeThreadsOfBuyer lists threads as ThreadsOfBuyer does, but with up to exportedMessages messages of each
// thread.
func (s *Store) WholeThreadsOfBuyer(ctx context.Context, buyer, before int64, limit int) ([]Thread, error) {
	const find = `SELECT ` + threadColumns + ` FROM message_threads WHERE buyer = $1 AND last < $2 ORDER BY last DESC LIMIT $3`
	return s.listThreads(ctx, exportedMessages, find, buyer, before, limit)
}

// ThreadsOf lists an organization's threads like ThreadsOfBuyer: those about one event unless event
// is 0, and of one status unless status is "".
func (s *Store) ThreadsOf(ctx context.Context, org, event int64, status string, before int64, limit int) ([]Thread, error) {
	const find = `SELECT ` + threadColumns + ` FROM message_threads
WHERE org = $1 AND $2::bigint IN (0, event) AND $3::text IN ('', status) AND last < $4 ORDER BY last DESC LIMIT $5`
	return s.listThreads(ctx, shownMessages, find, org, event, status, before, limit)
}

// shownMessages is how many messages of a thread a list contains at most: the newest ones.
const shownMessages = 50

// listThreads runs a query for threads and reads at most the given number of messages for each one.
func (s *Store) listThreads(ctx context.Context, messages int, find string, args ...any) ([]Thread, error) {
	rows, _ := s.pool.Query(ctx, find, args...) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Thread])
	if err == nil {
		err = s.readMessages(ctx, list, messages)
	}
	if err != nil {
		return nil, fmt.Errorf("threads: %w", err)
	}
	return list, nil
}

// readMessages reads the newest messages of threads, at most limit for each, with one query. A join of threads and
// messages could not limit each thread separately; the LATERAL subquery can.
func (s *Store) readMessages(ctx context.Context, list []Thread, limit int) error {
	at := make(map[uuid.UUID]*Thread, len(list))
	ids := make([]uuid.UUID, len(list))
	for i := range list {
		at[list[i].ID], ids[i] = &list[i], list[i].ID
	}
	const find = `
SELECT m.* FROM unnest($1::uuid[]) AS t(id) CROSS JOIN LATERAL
(SELECT ` + messageColumns + ` FROM messages WHERE thread = t.id ORDER BY number DESC LIMIT $2) m ORDER BY m.number`
	rows, _ := s.pool.Query(ctx, find, ids, limit) // CollectRows returns its error
	messages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
	for i := range messages {
		t, ok := at[messages[i].Thread]
		if !ok {
			return errors.New("a message of another thread")
		}
		t.Messages = append(t.Messages, messages[i])
	}
	return err
}

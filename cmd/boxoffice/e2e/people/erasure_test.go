package people

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/retention"
)

// lovelace is whom these tests have forgotten, by all that could tell who she was.
var lovelace = []string{"ada@example.org", "lovelace"}

// tablesNaming lists the tables of a node's database whose rows have one of the words, in
// whatever type and case.
func tablesNaming(s *nodetest.Shop, words ...string) (found []string) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.Config().DatabaseURL)
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, conn.Close(s.T.Context())) }()
	rows, _ := conn.Query(s.T.Context(), `SELECT relname FROM pg_class WHERE relnamespace = current_schema::regnamespace AND relkind = 'r' ORDER BY 1`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.T, err)
	for _, table := range tables {
		var dump bytes.Buffer
		_, err := conn.PgConn().CopyTo(s.T.Context(), &dump, `COPY `+pgx.Identifier{table}.Sanitize()+` TO STDOUT (FORMAT binary)`)
		require.NoError(s.T, err)
		if has(dump.Bytes(), words) {
			found = append(found, table)
		}
	}
	return found
}

// filesNaming lists the files below a directory that have one of the words.
func filesNaming(s *nodetest.Shop, dir string, words ...string) (found []string) {
	s.T.Helper()
	require.NoError(s.T, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && has(text, words) {
			found = append(found, path)
		}
		return err
	}))
	return found
}

func has(text []byte, words []string) bool {
	text = bytes.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(text, []byte(w)) })
}

// TestErasure erases a person who is a buyer, an attendee and a holder, with all that a person
// leaves behind. What belongs to others stays, and tickets admit.
func TestErasure(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := nodetest.OpenLogged(t, slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	event, ids := s.Sell(nil, nodetest.TypeBody(0, 50), nodetest.With(nodetest.TypeBody(0, 1), nodetest.Object{"waitlistEnabled": true}), nodetest.TypeBody(0, 50))
	person := s.Buyer("ada@example.org")
	person.Own("PUT", "/users/me", nodetest.Object{"fullName": "Ada Lovelace", "phone": "+44 20 1234"}).Is(200, "")
	shared := nodetest.Lines(ids[0], 1, ids[2], 1)
	shared[1]["attendeeEmail"], shared[1]["attendeeName"] = "bob@example.org", "Bob Bobson"
	o := person.Own("POST", "/orders", nodetest.Object{"guestEmail": "Ada@Example.org", "guestName": "Ada Lovelace", "items": shared}).Is(201, "")
	his := nodetest.Lines(ids[0], 1)
	his[0]["attendeeEmail"], his[0]["attendeeName"] = "ADA@example.org", "Ada Lovelace"
	s.Call("POST", "/orders", nodetest.Object{"guestEmail": "bob@example.org", "guestName": "Bob Bobson", "items": his}).Is(201, "")
	s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[1], 1)).Is(201, "")
	s.Mailed()
	person.MyTickets(2)
	ticket := o.Str("tickets.0.id")
	person.Own("POST", "/users/me/tickets/"+ticket+"/message", nodetest.Object{"body": "It is me, Ada Lovelace."}).Is(201, "")
	person.Own("POST", "/users/me/reports", nodetest.Object{"category": "other", "description": "Write to ada@example.org, please.", "eventId": event}).Is(201, "")
	followed(s, s.Org(), "ada@example.org")
	s.Waits(event, nodetest.Object{"ticketTypeId": ids[1], "email": "ada@example.org", "name": "Ada Lovelace"})
	person.Own("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "toName": "Bob"}).Is(201, "")
	s.Mailed()

	require.NoError(t, s.AwaitLists(t.Context()))
	whole := person.Raw("GET", "/users/me/export", "", "", person.Bearer()...)
	require.Equal(t, 200, whole.Status)
	for _, word := range []string{"It is me, Ada", "Write to ada", `"following":[{`, `"waitlist":[{`, `"attending":[{`, `"sessions":[{`, "bob@example.org"} {
		require.Contains(t, whole.Body, word)
	}
	require.NotContains(t, whole.Body, "eve@example.org", "what is of nobody's business but hers")
	require.NotEmpty(t, tablesNaming(s, lovelace...))

	require.Equal(t, true, person.Own("DELETE", "/users/me", nil).Is(200, "").Data("erased"))
	person.Own("GET", "/users/me", nil).Is(401, "UNAUTHORIZED")
	for _, table := range tablesNaming(s, lovelace...) {
		require.Regexp(t, "^(journal_[0-9]+|snapshots)$", table, "these go after their retention")
	}
	require.Empty(t, filesNaming(s, s.Config().MailDir, lovelace...))
	require.Empty(t, filesNaming(s, s.Config().DataDir, lovelace...))
	require.False(t, has(log.Bytes(), lovelace))
	require.NotEmpty(t, tablesNaming(s, "bob@example.org"))

	shown := s.Own("GET", "/organizer/orders/"+o.Str("id"), nil).Is(200, "")
	require.Regexp(t, "^[a-z0-9]+@erased.invalid$", shown.Data("buyer.email"))
	require.Nil(t, shown.Data("buyer.name"))
	require.Equal(t, "bob@example.org", shown.Data("items.1.attendeeEmail"))
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.0.qr"), "d1").Is(200, "").Data("status"))
	again := s.Buyer("ada@example.org")
	require.Empty(t, again.Own("GET", "/users/me/tickets", nil).Is(200, "").Data("items"), "it is another account")
	again.Own("DELETE", "/users/me", nil).Is(200, "")
}

// TestErasureAfterRetention drops the journal's days: then nothing of a person is left anywhere,
// and the event goes on from its snapshots.
func TestErasureAfterRetention(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(0, 50))
	o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": "ada@example.org", "guestName": "Ada Lovelace", "items": nodetest.Lines(ids[0], 2)}).Is(201, "")
	s.Mailed()
	person := s.Buyer("ada@example.org")
	person.MyTickets(2)
	person.Own("DELETE", "/users/me", nil).Is(200, "")
	require.NotEmpty(t, tablesNaming(s, lovelace...), "in the journal")

	// Stopping puts the actors away, so there are snapshots. The days are moved while nothing
	// is written: a fact that came later to an old day would have no snapshot after it.
	s.Restart(func() { ageJournal(s, 40) })
	keeper := retention.New(s.Pool(), s.Pool(), 35*24*time.Hour, slog.New(slog.DiscardHandler))
	require.EventuallyWithT(t, func(c *assert.CollectT) { require.NoError(c, keeper.Sweep(t.Context(), time.Now())) }, time.Minute, 100*time.Millisecond)
	require.Empty(t, tablesNaming(s, lovelace...))
	require.Empty(t, filesNaming(s, s.Config().MailDir, lovelace...))
	require.Empty(t, filesNaming(s, s.Config().DataDir, lovelace...))

	s.Restart()
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.0.qr"), "d1").Is(200, "").Data("status"))
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 1)).Is(201, "")
	s.Buyer("bob@example.org").MyTickets(1)
}

// ageJournal makes all facts so many days older. No node may run.
func ageJournal(s *nodetest.Shop, days int) {
	s.T.Helper()
	pool, err := pgxpool.New(s.T.Context(), s.Config().DatabaseURL)
	require.NoError(s.T, err)
	defer pool.Close()
	for _, sql := range []string{
		fmt.Sprintf(`DO $$ BEGIN EXECUTE format('CREATE TABLE %%I PARTITION OF journal FOR VALUES FROM (%%L) TO (%%L)',
  'journal_' || to_char(current_date - %d, 'YYYYMMDD'), current_date - %[1]d, current_date - %[1]d + 1); END $$`, days),
		fmt.Sprintf(`UPDATE spans SET day = day - %d`, days),
		fmt.Sprintf(`UPDATE journal SET day = day - %d`, days),
	} {
		_, err := pool.Exec(s.T.Context(), sql)
		require.NoError(s.T, err)
	}
}

// TestErasureRefused keeps those who are still needed.
func TestErasureRefused(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(10, 50))
	s.Call("DELETE", "/users/me", nil).Is(401, "UNAUTHORIZED")
	unproven := s.Register("unproven@example.org")
	unproven.Own("DELETE", "/users/me", nil).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
	s.Buyer("unproven@example.org").Own("DELETE", "/users/me", nil).Refused(409, "CONFLICT", nodetest.Object{"reason": "LAST_OWNER"})
	guarded, _, recovery := protected(s, "guarded@example.org")
	guarded.Own("DELETE", "/users/me", nil).Refused(401, "UNAUTHORIZED", nodetest.Object{"reason": "CODE_INVALID"})
	guarded.Own("DELETE", "/users/me", nodetest.Object{"code": recovery[0]}).Refused(409, "CONFLICT", nodetest.Object{"reason": "LAST_OWNER"})

	buyer := s.Buyer("ada@example.org")
	placed := buyer.Own("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	id, token := placed.Str("id"), placed.Str("accessToken")
	buyer.Own("DELETE", "/users/me", nil).Refused(409, "CONFLICT", nodetest.Object{"reason": "OPEN_ORDERS"})
	s.Settle(s.Checkout(id, token), "success")
	s.Verify(id, token).Is(200, "")
	buyer.MyTickets(1)
	buyer.Own("DELETE", "/users/me", nil).Refused(409, "ACTIVE_TICKETS", nodetest.Object{"events": []any{event}})
	t.Log("whoever holds tickets is told of them first")
	s.Place("ada@example.org", ids[0], 1)
	buyer.Own("DELETE", "/users/me", nil).Refused(409, "ACTIVE_TICKETS", nodetest.Object{"events": []any{event}})
	buyer.Own("GET", "/users/me", nil).Is(200, "")
}

// TestErasureTwice sends the same request several times at once, as an impatient person does:
// one of them erases, and the others find no account.
func TestErasureTwice(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	buyer := s.Buyer("ada@example.org")
	answers := make(chan int, 4)
	for range cap(answers) {
		go func() { answers <- buyer.Own("DELETE", "/users/me", nil).Status }()
	}
	erased := 0
	for range cap(answers) {
		status := <-answers
		require.Contains(t, []int{200, 401}, status)
		if status == 200 {
			erased++
		}
	}
	require.Equal(t, 1, erased)
}

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"
	"rsc.io/qr"

	"boxoffice/edge/mail"
	"boxoffice/persistence/persisttest"
)

// kinds counts the mails to an address by their kind, once nothing waits.
func (s *shop) kinds(to string) map[string]int {
	s.t.Helper()
	s.mailed()
	list, err := s.mailbox.List(1_000)
	require.NoError(s.t, err)
	count := map[string]int{}
	for _, m := range list {
		if m.To == to {
			count[m.Kind]++
		}
	}
	return count
}

// mailed waits until what has been committed is told, and the mails that it makes
// are sent.
func (s *shop) mailed() {
	s.t.Helper()
	require.NoError(s.t, s.passed(s.t.Context(), s.telling))
	s.becomes("0", func() string {
		var n int
		const waiting = `SELECT count(*) FROM river_job WHERE kind LIKE 'mail%' AND state IN ('available', 'running', 'retryable')`
		require.NoError(s.t, s.pool.QueryRow(s.t.Context(), waiting).Scan(&n))
		return fmt.Sprint(n)
	})
}

// confirmation is the one mail that confirms an order, with what must be in each:
// a QR code for each ticket that the gate admits, the calendar file, and the
// order's address.
func (s *shop) confirmation(order answer) *mail.Captured {
	s.t.Helper()
	s.mailed()
	list, err := s.mailbox.List(1_000)
	require.NoError(s.t, err)
	var found *mail.Captured
	for _, m := range list {
		if m.Kind != "order_confirmation" {
			continue
		}
		whole, err := s.mailbox.Read(m.Name)
		require.NoError(s.t, err)
		if strings.Contains(whole.Text, "Your order "+order.str("orderNumber")+" ") {
			require.Nil(s.t, found, "twice")
			found = whole
		}
	}
	require.NotNil(s.t, found, "order %s is not confirmed", order.str("orderNumber"))
	require.Equal(s.t, order.str("buyer.email"), found.To)
	return found
}

var orderLink = regexp.MustCompile(`http://[^/]+(/orders/[0-9a-f-]{36}\?token=\S+)`)

// holds compares a confirmation with the order.
func (s *shop) holds(m *mail.Captured, event string, order answer) {
	s.t.Helper()
	tickets := order.data("tickets").([]any)
	require.Len(s.t, m.Pictures, len(tickets))
	for i := range tickets {
		code := order.str(fmt.Sprintf("tickets.%d.shortCode", i))
		picture, err := qr.Encode(code, qr.M)
		require.NoError(s.t, err)
		require.Equal(s.t, picture.PNG(), m.Pictures[fmt.Sprintf("ticket-%d@boxoffice", i+1)])
		for _, body := range []string{m.Text, m.HTML} {
			require.Contains(s.t, body, code)
			require.Contains(s.t, body, order.str(fmt.Sprintf("tickets.%d.code", i)))
		}
		require.Equal(s.t, "success", s.scan(event, code, "gate").str("status"), "as the picture is read")
	}
	link := orderLink.FindStringSubmatch(m.Text)
	require.Len(s.t, link, 2)
	require.Equal(s.t, order.str("id"), s.call("GET", link[1], nil).is(200, "").str("id"))

	cal, err := ics.ParseCalendar(strings.NewReader(m.Calendar))
	require.NoError(s.t, err)
	require.Len(s.t, cal.Events(), 1)
	require.Equal(s.t, event, cal.Events()[0].Id())
	require.Equal(s.t, []string{"Europe/Berlin"}, cal.Events()[0].GetProperty(ics.ComponentPropertyDtStart).ICalParameters["TZID"])
	starts, err := cal.Events()[0].GetStartAt()
	require.NoError(s.t, err)
	want, err := time.Parse(time.RFC3339, s.own("GET", "/organizer/events", nil).is(200, "").str("items.0.startDate"))
	require.NoError(s.t, err)
	require.True(s.t, want.Equal(starts), "%v, not %v", starts, want)
}

// TestConfirmations: a free order and a paid one are each confirmed once, however
// often their requests are repeated and the node is started again.
func TestConfirmations(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.sell(nil, typeBody(25, 100), typeBody(0, 100))
	body := with(orderBody("ada@example.org", ids[1], 3), object{"guestName": "Ada"})
	var free answer
	for range 3 {
		free = s.call("POST", "/orders", body, "Idempotency-Key", keyOne).is(201, "")
	}
	id, token := s.place("bob@example.org", ids[0], 2)
	require.Empty(t, s.kinds("bob@example.org"), "a pending order is not confirmed")
	s.settle(s.checkout(id, token), "success")
	for range 3 {
		s.verify(id, token).is(200, "")
	}
	paid := s.order(id, token)
	for range 2 {
		require.Equal(t, map[string]int{"order_confirmation": 1}, s.kinds("ada@example.org"))
		require.Equal(t, map[string]int{"order_confirmation": 1}, s.kinds("bob@example.org"))
		s.restart()
		s.call("POST", "/orders", body, "Idempotency-Key", keyOne).is(201, "")
		s.verify(id, token).is(200, "")
	}
	m := s.confirmation(free)
	require.Contains(t, m.Text, "Hello Ada,")
	s.holds(m, event, free)
	m = s.confirmation(paid)
	require.Contains(t, m.Text, "Total: 52.50 USD")
	s.holds(m, event, paid)
}

// TestConfirmedSeats: the seats are on the tickets.
func TestConfirmedSeats(t *testing.T) {
	t.Parallel()
	h := seated(t)
	o := h.buy("", h.stalls, "stalls-B-3", "stalls-B-4").is(201, "")
	id, token := o.str("id"), o.str("accessToken")
	h.settle(h.checkout(id, token), "success")
	h.verify(id, token).is(200, "")
	m := h.confirmation(h.order(id, token))
	h.holds(m, h.event, h.order(id, token))
	require.Contains(t, m.Text, "Stalls, row B, seat 3")
	require.Contains(t, m.HTML, "Stalls, row B, seat 4")
}

// TestConfirmedProducts: what has no door is delivered by its link.
func TestConfirmedProducts(t *testing.T) {
	t.Parallel()
	s := open(t)
	buy := func(changes object, types object) *mail.Captured {
		t.Helper()
		_, ids := s.sell(changes, with(typeBody(0, 100), types))
		return s.confirmation(s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 1)).is(201, ""))
	}
	book := object{"category": "e-books", "venueType": "online", "onlineLink": "https://example.org/book", "onlineLinkNote": "PIN 7"}
	root := strings.TrimSuffix(s.url, "/api/v1")
	for _, c := range []struct {
		event, tier  object
		says, hushes []string
	}{
		{book, object{"accessUrl": "https://example.org/gold", "accessNote": "Gold"}, []string{"https://example.org/gold", "Gold"}, []string{"https://example.org/book", "PIN 7"}},
		{book, nil, []string{"https://example.org/book", "PIN 7"}, nil},
		{book, object{"accessUrl": root + "/media/file", "accessNote": "PIN 8"}, nil, []string{"/media/", "PIN 8", "https://example.org/book", "PIN 7"}},
		{with(book, object{"onlineLink": root + "/media/file"}), nil, nil, []string{"/media/", "PIN 7"}},
	} {
		m := buy(c.event, c.tier)
		for _, body := range []string{m.Text, m.HTML} {
			for _, part := range c.says {
				require.Contains(t, body, part)
			}
			for _, part := range c.hushes {
				require.NotContains(t, body, part)
			}
		}
		require.Contains(t, m.Text, "Your order")
		require.Regexp(t, orderLink, m.Text)
		require.Empty(t, m.Pictures)
		require.Empty(t, m.Calendar)
	}

	m := buy(object{"venueType": "online", "onlineLink": "https://example.org/live"}, nil)
	require.Contains(t, m.Text, "Where: Online\nJoin:  https://example.org/live")
	require.Empty(t, m.Pictures)
	require.NotEmpty(t, m.Calendar)

	m = buy(object{"venueType": "online", "onlineLink": "/media/7"}, nil)
	for _, body := range []string{m.Text, m.HTML} {
		require.Contains(t, body, root+"/media/7", "a file of ours is where the event takes place")
	}

	m = buy(object{"venueName": "Arena", "venueCity": "Berlin", "onlineLink": "https://example.org/hidden"}, nil)
	require.Contains(t, m.Text, "Where: Arena, Berlin\n")
	require.NotContains(t, m.Text, "hidden")
	require.Len(t, m.Pictures, 1)
}

// TestManyTickets: an order of more tickets than a mail shows says where the rest
// is.
func TestManyTickets(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(with(typeBody(0, 1000), object{"maxPerOrder": 100, "maxPerCustomer": 100}))
	o := s.call("POST", "/orders", orderBody("ada@example.org", ids[0], 100)).is(201, "")
	m := s.confirmation(o)
	require.Len(t, m.Pictures, mail.MaxTickets)
	require.Contains(t, m.Text, "the first of your 100 tickets")
}

// TestOrderNews: orders and events that end otherwise, and money that goes back.
func TestOrderNews(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.sell(object{"title": "Friday Night"}, typeBody(25, 2), typeBody(0, 100))
	began := time.Now()
	id, token := s.place("eve@example.org", ids[0], 1)
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
	require.Contains(t, s.mail(t, "eve@example.org", "order_cancelled", began).Text, "is cancelled")

	t.Log("money that comes late")
	s.window(event, 300*time.Millisecond)
	id, token = s.place("late@example.org", ids[0], 2)
	url := s.shortWindow(id, token)
	reference := s.order(id, token).str("payments.0.reference")
	s.becomes("expired", s.status(id, token))
	s.window(event, time.Hour)
	s.becomes("2", func() string { return s.available(event, 0) })
	s.place("bob@example.org", ids[0], 2)
	s.settle(url, "success")
	s.verify(id, token).is(200, "")
	m := s.mail(t, "late@example.org", "refund_due", began)
	require.Contains(t, m.Subject, "52.50 USD")
	require.Contains(t, m.Text, "came when the order had ended")
	s.refunded(back{id, token, reference, 5250, "refunded"})
	s.mail(t, "late@example.org", "refund_processed", began)
	require.Equal(t, map[string]int{"refund_due": 1, "refund_processed": 1}, s.kinds("late@example.org"))

	t.Log("the event")
	order := orderBody("ada@example.org", ids[1], 1)
	order["items"].([]object)[0]["attendeeEmail"] = "friend@example.org"
	s.call("POST", "/orders", order).is(201, "")
	s.mailed()
	s.own("PUT", "/organizer/events/"+event, object{"title": "Saturday Night", "venueName": "Arena"}).is(200, "")
	require.NoError(t, s.passed(t.Context(), s.telling))
	s.call("POST", "/orders", orderBody("new@example.org", ids[1], 1)).is(201, "")
	_, err := s.pool.Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'mail_change'`) // ten minutes later
	require.NoError(t, err)
	for _, to := range []string{"ada@example.org", "friend@example.org"} {
		m := s.mail(t, to, "event_changed", began)
		require.Contains(t, m.Text, "Friday Night, which you have tickets of, has changed")
		require.Contains(t, m.Text, "now called Saturday Night")
		require.Contains(t, m.Text, "Where: Arena")
		require.NotContains(t, m.Text, "When:")
		require.Contains(t, m.Calendar, "SUMMARY:Saturday Night")
	}
	s.own("DELETE", "/organizer/events/"+event, object{"reason": "The artist is ill.\nSee evil.example"}).is(200, "")
	for _, to := range []string{"ada@example.org", "friend@example.org", "new@example.org"} {
		m := s.mail(t, to, "event_cancelled", began)
		require.Contains(t, m.Calendar, "STATUS:CANCELLED")
		require.Contains(t, m.Calendar, "METHOD:CANCEL")
		require.Contains(t, m.Text, "> The artist is ill.\n> See evil. example\n")
	}
	require.Equal(t, 0, s.kinds("new@example.org")["event_changed"])
	require.Equal(t, map[string]int{"attendee_tickets": 1, "event_changed": 1, "event_cancelled": 1}, s.kinds("friend@example.org"))
}

// nodeForTest makes the process boxoffice and nothing else, if it was started for
// that.
func nodeForTest() {
	if os.Getenv("BOXOFFICE_TEST_NODE") != "" {
		main()
		os.Exit(0)
	}
}

// TestConfirmedAfterKill kills a node, the whole process at once, in the midst of
// confirming orders, and starts it again: every order is confirmed once.
func TestConfirmedAfterKill(t *testing.T) {
	t.Parallel()
	const orders = 200
	dsn, dir, listen := persisttest.DB(t), t.TempDir(), address(t)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "BOXOFFICE_TEST_NODE=1", "BOXOFFICE_DATABASE_URL="+dsn, "BOXOFFICE_MAIL_DIR="+dir, "BOXOFFICE_LISTEN="+listen,
		"BOXOFFICE_PAYSIM_LISTEN="+address(t), "BOXOFFICE_MASTER_KEY="+strings.Repeat("ab", 32), "BOXOFFICE_LIMITS_SCALE=1000")
	var log bytes.Buffer
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	remote := &shop{t: t, url: "http://" + listen + "/api/v1"}
	require.Eventually(t, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listen+"/readyz", nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	_, ids := remote.onSale(with(typeBody(0, 1000), object{"maxPerCustomer": 1000}))
	numbers := map[string]bool{}
	for i := range orders {
		o := remote.call("POST", "/orders", orderBody(fmt.Sprintf("p%d@example.org", i), ids[0], 1)).is(201, "")
		numbers[o.str("orderNumber")] = true
	}
	require.Eventually(t, func() bool {
		sent, err := filepath.Glob(filepath.Join(dir, "*.eml"))
		return err == nil && len(sent) > orders/5
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	sent, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	require.NoError(t, err)
	t.Logf("killed after %d mails", len(sent))

	s := open(t, func(c *config) { c.DatabaseURL, c.MailDir = dsn, dir })
	s.becomes("0", func() string { return fmt.Sprint(s.telling.lag()) })
	s.mailed()
	list, err := s.mailbox.List(1_000)
	require.NoError(t, err)
	for _, m := range list {
		if m.Kind != "order_confirmation" {
			continue // the organizer confirms the address of the account
		}
		whole, err := s.mailbox.Read(m.Name)
		require.NoError(t, err)
		number, _, _ := strings.Cut(strings.SplitAfter(whole.Text, "Your order ")[1], " ")
		require.True(t, numbers[number], "%s was confirmed twice, or is none", number)
		delete(numbers, number)
	}
	require.Empty(t, numbers)
}

package people

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// writing are the ways in which an organization makes us write to people who have asked for
// nothing. Each is sent to as many strangers as it takes; who says which strangers.
var writing = []struct {
	name string
	send func(s *nodetest.Shop, event, ticketType string, who func(n int) []string)
}{
	{"comps", func(s *nodetest.Shop, event, ticketType string, who func(int) []string) {
		s.Own("POST", nodetest.CompsPath(event), nodetest.With(nodetest.CompsBody(ticketType, who(60)...), nodetest.Object{"note": phish})).Is(201, "")
	}},
	{"import", func(s *nodetest.Shop, event, ticketType string, who func(int) []string) {
		csv := "name,email\nAnn," + strings.Join(who(20), "\nAnn,") + "\n"
		s.Own("POST", nodetest.CompsPath(event)+"/import-csv", nodetest.Object{"ticketTypeId": ticketType, "csv": csv}).Is(201, "")
	}},
	{"issue", func(s *nodetest.Shop, event, ticketType string, who func(int) []string) {
		for _, to := range who(3) {
			s.Own("POST", "/events/"+event+"/issue", nodetest.Object{
				"buyer": nodetest.Object{"email": to, "name": "Ann"}, "items": []nodetest.Object{{"ticketTypeId": ticketType, "quantity": 1}},
			}).Is(201, "")
		}
	}},
	{"orders of the organization's own, with an attendee", func(s *nodetest.Shop, _, ticketType string, who func(int) []string) {
		to := who(2)
		body := nodetest.OrderBody(to[0], ticketType, 1)
		body["items"].([]nodetest.Object)[0]["attendeeEmail"] = to[1]
		s.Own("POST", "/orders", body).Is(201, "")
	}},
	{"invitations", func(s *nodetest.Shop, _, _ string, who func(int) []string) {
		for _, to := range who(5) {
			s.Invite(to, "member")
		}
	}},
	{"broadcast", func(s *nodetest.Shop, event, _ string, _ func(int) []string) {
		s.Own("POST", "/organizer/growth/events/"+event+"/broadcast", nodetest.Object{
			"subject": phish, "body": `<p>Verify <b>now</b>: <a href="https://evil.example/pay">` + phish + `</a></p>`,
		}).Is(200, "")
	}},
	{"cancellation", func(s *nodetest.Shop, event, _ string, _ func(int) []string) {
		s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": phish}).Is(200, "")
	}},
}

// phish is a text that mail programs would make links of.
const phish = "https://evil.example/pay evil.example ann@evil.example"

// TestNewOrganizationsWriteToFew: whatever an account that cost nothing does, its organization
// writes to nobody before its mailbox is proven, and to NewCap people a day before somebody has
// paid it, all ways together; and none of its words is a link.
func TestNewOrganizationsWriteToFew(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	strangers := func() (n int) {
		s.Mailed()
		s.Mailed() // the pages of an audience put further mails out
		list, err := s.Mailbox().List(10_000)
		require.NoError(t, err)
		for _, m := range list {
			if strings.HasPrefix(m.To, "stranger") {
				n++
				mail, err := s.Mailbox().Read(m.Name)
				require.NoError(t, err)
				for _, text := range []string{mail.Subject, mail.Text, mail.HTML} {
					require.NotContains(t, text, "evil.example", m.Kind)
				}
			}
		}
		return n
	}
	counter := 0
	who := func(n int) (to []string) {
		for range n {
			counter++
			to = append(to, fmt.Sprintf("stranger%d@example.org", counter))
		}
		return to
	}
	fresh := s.Register("fresh@example.org")
	act := func() {
		wide := nodetest.Object{"maxPerOrder": 1000, "maxPerCustomer": 1000}
		event, ids := fresh.OnSale(nodetest.With(nodetest.TypeBody(0, 1000), wide))
		for _, w := range writing {
			t.Log(w.name)
			w.send(fresh, event, ids[0], who)
		}
	}
	act()
	require.Zero(t, strangers(), "before the mailbox is proven")

	fresh.Prove("fresh@example.org")
	act()
	require.Equal(t, mailqueue.NewCap, strangers(), "of a day")
}

// TestContactOfNewOrganizations: a mail that is sent before the answer is refused.
func TestContactOfNewOrganizations(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	fresh := s.Register("fresh@example.org")
	_, ids := fresh.OnSale(nodetest.TypeBody(0, 10))
	s.Call("POST", "/orders", nodetest.OrderBody("ann@example.org", ids[0], 1)).Is(201, "")
	key := fresh.Customers("", 1).Str("items.0.key")
	path, body := "/organizer/customers/"+key+"/contact", nodetest.Object{"subject": phish, "body": phish}
	fresh.Own("POST", path, body).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
	require.Zero(t, mails(s, "ann@example.org", "contact"))
	fresh.Prove("fresh@example.org")
	fresh.Own("POST", path, body).Is(200, "")
	list, err := s.Mailbox().List(10)
	require.NoError(t, err)
	for _, m := range list {
		if m.Kind == "contact" {
			mail, err := s.Mailbox().Read(m.Name)
			require.NoError(t, err)
			require.NotContains(t, mail.Subject+mail.Text+mail.HTML, "evil.example")
		}
	}
	require.Equal(t, 1, mails(s, "ann@example.org", "contact"))
}

// TestLittleIsAskedOfNewOrganizations: whoever enters strangers' addresses where an organization is followed or
// waited for, has us write to few of them before somebody has paid it. What is beyond waits.
func TestLittleIsAskedOfNewOrganizations(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	queue, err := mailqueue.New(mailqueue.Config{Pool: s.Pool(), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	for _, paid := range []bool{false, true} {
		seller := s.Register(fmt.Sprintf("seller.%t@example.org", paid))
		org, err := strconv.ParseInt(seller.Org(), 10, 64)
		require.NoError(t, err)
		if paid {
			require.NoError(t, accounts.New(s.Pool()).Verify(t.Context(), org)) // it is worth as much
		}
		for n := range mailqueue.AskedCap {
			wait, err := queue.AdmitNow(t.Context(), mailqueue.Unpaid{Recipient: fmt.Sprintf("%d.%t@example.org", n, paid), About: org})
			require.NoError(t, err)
			require.Zero(t, wait)
		}
		room := func(rules nodetest.Object) string {
			event, _ := seller.OnSale(nodetest.TypeBody(10, 100))
			seller.Own("PUT", organizerQueue(event), nodetest.With(nodetest.Object{"enabled": true, "mode": "arrival"}, rules)).Is(200, "")
			return publicQueue(event)
		}
		line, _, _ := seller.FullHouse(0, 1)
		for kind, path := range map[string]string{
			"following": "/community/orgs/" + seller.Org() + "/follow", "waitlist_confirm": nodetest.WaitlistPath(line),
			"queue_confirm": room(nodetest.Object{"proof": "address"}), "queue_place": room(nil),
		} {
			to := fmt.Sprintf("%s.%t@example.org", kind, paid)
			body := nodetest.Object{"email": to}
			if kind == "waitlist_confirm" {
				body = nodetest.WaitlistBody(to, nil)
			}
			require.Less(t, s.Call("POST", path, body).Status, 300, kind)
			s.Mailed()
			require.Equal(t, paid, mails(s, to, kind) == 1, "%s, paid: %t", kind, paid)
		}
	}
}

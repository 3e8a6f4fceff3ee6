package people

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/mail"
)

// unsubscribing is the path that ends mails such as this one.
func unsubscribing(s *nodetest.Shop, m *mail.Captured) string {
	s.T.Helper()
	require.Equal(s.T, "List-Unsubscribe=One-Click", m.Header.Get("List-Unsubscribe-Post"))
	url := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
	path := regexp.MustCompile(`/community/unsubscribe/[0-9A-Za-z_-]+$`).FindString(url)
	require.NotEmpty(s.T, path, url)
	require.Contains(s.T, m.Text, "/unsubscribe#token="+strings.TrimPrefix(path, "/community/unsubscribe/"))
	return path
}

// unsubscribe ends mails such as this one, as the page or a mail program does.
func unsubscribe(s *nodetest.Shop, m *mail.Captured) {
	s.T.Helper()
	r := s.Raw("POST", unsubscribing(s, m), "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click")
	require.Equal(s.T, 200, r.Status, r.Body)
}

// followed makes an address follow an organization by the link in its mail.
func followed(s *nodetest.Shop, org, email string) {
	s.T.Helper()
	began := time.Now()
	require.Equal(s.T, false, s.Call("POST", "/community/orgs/"+org+"/follow", nodetest.Object{"email": email, "name": "Ada"}).Is(200, "").Data("following"))
	token := regexp.MustCompile(`/follow#token=([0-9A-Za-z_-]+)`).FindStringSubmatch(s.Mail(s.T, strings.ToLower(email), "following", began).Text)
	require.Len(s.T, token, 2)
	require.Equal(s.T, true, s.Call("POST", "/community/follows/"+token[1], nil).Is(200, "").Data("following"))
}

// mails counts the captured mails of a kind to an address.
func mails(s *nodetest.Shop, to, kind string) int {
	s.T.Helper()
	list, err := s.Mailbox().List(1000)
	require.NoError(s.T, err)
	n := 0
	for _, m := range list {
		if m.To == to && m.Kind == kind {
			n++
		}
	}
	return n
}

// TestFollow follows an organization, hears of its events once each, and stops.
func TestFollow(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	began := time.Now()
	slug := s.Own("GET", "/organizer/organizations/"+s.Org(), nil).Is(200, "").Str("organization.slug")
	path := "/community/orgs/" + s.Org() + "/follow"
	followed(s, s.Org(), "Ada@example.org")
	s.Call("POST", path, nodetest.Object{"email": "ada@example.org"}).Is(200, "")
	followed(s, slug, "bob@example.org")
	s.Call("POST", path, nodetest.Object{"email": "carl@example.org"}).Is(200, "") // and never opens the link
	dora := s.Buyer("dora@example.org")
	require.Equal(t, true, dora.Call("POST", path, nodetest.Object{"email": "Dora@example.org"}, dora.Bearer()...).Is(200, "").Data("following"))
	leave := s.Mail(t, "bob@example.org", "following", began)
	for range 2 { // a mail program asks for it again
		unsubscribe(s, leave)
	}

	s.OnSale(nodetest.TypeBody(0, 100))
	s.Sell(nodetest.Object{"visibility": "private"}, nodetest.TypeBody(0, 100))
	m := s.Mail(t, "ada@example.org", "event_published", began)
	require.Contains(t, m.Subject, "Friday Night")
	require.Contains(t, m.Text, "/e/")
	s.Mail(t, "dora@example.org", "event_published", began)
	s.Mailed()
	for to, want := range map[string][2]int{"ada@example.org": {1, 1}, "bob@example.org": {1, 0}, "carl@example.org": {1, 0}, "dora@example.org": {0, 1}} {
		require.Equal(t, want, [2]int{mails(s, to, "following"), mails(s, to, "event_published")}, to)
	}

	t.Log("programs that open the link in the header end nothing")
	for _, method := range []string{"GET", "HEAD"} {
		r := s.Raw(method, unsubscribing(s, m), "", "")
		require.Equal(t, 200, r.Status)
		require.Contains(t, r.Header.Get("Content-Type"), "text/html")
		if method == "GET" {
			require.Contains(t, r.Body, `<a href="/unsubscribe#token=`)
		}
	}
	s.OnSale(nodetest.TypeBody(0, 100))
	s.Mailed()
	s.Becomes("2", func() string { s.Mailed(); return strconv.Itoa(mails(s, "ada@example.org", "event_published")) })
	unsubscribe(s, m)

	t.Log("a stranger neither lifts that nor has it asked about more than once")
	for range 3 {
		s.Call("POST", path, nodetest.Object{"email": "ada@example.org"}).Is(200, "")
		s.Mailed()
	}
	require.Equal(t, 2, mails(s, "ada@example.org", "following"))
	s.OnSale(nodetest.TypeBody(0, 100))
	s.Becomes("3", func() string { s.Mailed(); return strconv.Itoa(mails(s, "dora@example.org", "event_published")) })
	require.Equal(t, 2, mails(s, "ada@example.org", "event_published"))

	t.Log("the link in its own mail does")
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	for _, l := range list { // the newest first
		if l.To == "ada@example.org" && l.Kind == "following" {
			asked, err := s.Mailbox().Read(l.Name)
			require.NoError(t, err)
			token := regexp.MustCompile(`/follow#token=([0-9A-Za-z_-]+)`).FindStringSubmatch(asked.Text)[1]
			s.Call("POST", "/community/follows/"+token, nil).Is(200, "")
			break
		}
	}
	s.OnSale(nodetest.TypeBody(0, 100))
	s.Becomes("3", func() string { s.Mailed(); return strconv.Itoa(mails(s, "ada@example.org", "event_published")) })

	for _, f := range []field{{"email", "x", "", "format"}, {"email", nodetest.Absent, "", "required"}, {"name", nodetest.Text(121), "", "max_length"}} {
		s.Call("POST", path, nodetest.With(nodetest.Object{"email": "eve@example.org"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	s.Call("POST", "/community/orgs/999999/follow", nodetest.Object{"email": "eve@example.org"}).Is(404, "NOT_FOUND")
	s.Call("POST", "/community/orgs/nobody-x/follow", nodetest.Object{"email": "eve@example.org"}).Is(404, "NOT_FOUND")
	s.Call("GET", "/community/unsubscribe/AAAA", nil).Is(404, "NOT_FOUND")
	s.Call("POST", "/community/follows/AAAA", nil).Is(404, "NOT_FOUND")
}

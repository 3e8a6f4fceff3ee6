package api

import (
	"regexp"
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
	require.Contains(s.T, m.Text, url)
	path := regexp.MustCompile(`/community/unsubscribe/[0-9A-Za-z_-]+$`).FindString(url)
	require.NotEmpty(s.T, path, url)
	return path
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
	require.Equal(t, nodetest.Object{"following": true}, s.Call("POST", path, nodetest.Object{"email": "Ada@example.org", "name": "Ada"}).Is(200, "").Get("data"))
	s.Call("POST", "/community/orgs/"+slug+"/follow", nodetest.Object{"email": "ada@example.org"}).Is(200, "")
	s.Call("POST", "/community/orgs/"+slug+"/follow", nodetest.Object{"email": "bob@example.org"}).Is(200, "")
	leave := unsubscribing(s, s.Mail(t, "bob@example.org", "following", began))
	require.Equal(t, nodetest.Object{"unsubscribed": true}, s.Call("GET", leave, nil).Is(200, "").Get("data"))

	s.OnSale(nodetest.TypeBody(0, 100))
	s.Sell(nodetest.Object{"visibility": "private"}, nodetest.TypeBody(0, 100))
	m := s.Mail(t, "ada@example.org", "event_published", began)
	require.Contains(t, m.Subject, "Friday Night")
	require.Contains(t, m.Text, "/e/")
	s.Mailed()
	require.Equal(t, []int{1, 1, 0}, []int{mails(s, "ada@example.org", "following"), mails(s, "ada@example.org", "event_published"), mails(s, "bob@example.org", "event_published")})

	for range 2 { // a mail program asks for it again
		r := s.Raw("POST", unsubscribing(s, m), "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click")
		require.Equal(t, 200, r.Status, r.Body)
	}
	again := time.Now()
	s.Call("POST", path, nodetest.Object{"email": "bob@example.org"}).Is(200, "")
	s.Mail(t, "bob@example.org", "following", again)
	s.OnSale(nodetest.TypeBody(0, 100))
	s.Mail(t, "bob@example.org", "event_published", again)
	s.Mailed()
	require.Equal(t, 1, mails(s, "ada@example.org", "event_published"))

	for _, f := range []field{{"email", "x", "", "format"}, {"email", nodetest.Absent, "", "required"}, {"name", nodetest.Text(121), "", "max_length"}} {
		s.Call("POST", path, nodetest.With(nodetest.Object{"email": "eve@example.org"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	s.Call("POST", "/community/orgs/999999/follow", nodetest.Object{"email": "eve@example.org"}).Is(404, "NOT_FOUND")
	s.Call("POST", "/community/orgs/nobody-x/follow", nodetest.Object{"email": "eve@example.org"}).Is(404, "NOT_FOUND")
	s.Call("GET", "/community/unsubscribe/AAAA", nil).Is(404, "NOT_FOUND")
}

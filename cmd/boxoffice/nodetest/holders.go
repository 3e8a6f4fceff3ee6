package nodetest

import (
	"regexp"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
)

// claimLink finds the link by which somebody accepts a ticket in the text of a mail.
var claimLink = regexp.MustCompile(`/tickets/claim#token=([\w-]+)`)

// ClaimToken returns the token of the newest mail that offers somebody a ticket, captured after a
// moment.
func (s *Shop) ClaimToken(to string, after time.Time) string {
	s.T.Helper()
	found := claimLink.FindStringSubmatch(s.Mail(s.T, to, "transfer_offered", after).Text)
	require.Len(s.T, found, 2)
	return found[1]
}

// MyTickets waits until the person whose token the shop has holds n tickets, and lists them.
func (s *Shop) MyTickets(n int) Answer {
	s.T.Helper()
	var a Answer
	s.Becomes(strconv.Itoa(n), func() string {
		a = s.Own("GET", "/users/me/tickets", nil).Is(200, "")
		return strconv.Itoa(len(a.Data("items").([]any)))
	})
	return a
}

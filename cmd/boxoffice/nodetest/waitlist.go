package nodetest

import (
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// joinLink finds the link that confirms a wish to wait in the text of a mail.
var joinLink = regexp.MustCompile(`/waitlist/confirm#token=([\w-]+)`)

// AsksToWait asks in somebody's name to wait for an event's tickets. It returns the token of the
// mail that asks the person to confirm it.
func (s *Shop) AsksToWait(event string, body Object) string {
	s.T.Helper()
	began := time.Now()
	asked := s.Call("POST", "/community/events/"+event+"/waitlist", body).Is(201, "")
	require.Equal(s.T, []any{"unconfirmed", nil}, []any{asked.Data("status"), asked.Data("position")})
	found := joinLink.FindStringSubmatch(s.Mail(s.T, strings.ToLower(body["email"].(string)), "waitlist_confirm", began).Text)
	require.Len(s.T, found, 2)
	return found[1]
}

// Waits puts somebody in line for an event's tickets, by the link in the person's mail.
func (s *Shop) Waits(event string, body Object) Answer {
	s.T.Helper()
	return s.Call("POST", "/community/waitlist/"+s.AsksToWait(event, body)+"/confirm", nil).Is(201, "")
}

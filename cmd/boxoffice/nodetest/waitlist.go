package nodetest

import (
	"fmt"
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

// WaitlistPath returns the path of an event's waitlist.
func WaitlistPath(event string) string { return "/community/events/" + event + "/waitlist" }

// WaitlistBody returns the body of a wish to wait, with more members.
func WaitlistBody(email string, more Object) Object {
	return With(Object{"email": email, "name": "Wanda"}, more)
}

// FullHouse makes an event with a waitlist, all of whose tickets are in orders of one ticket each. It
// returns the orders, too.
func (s *Shop) FullHouse(price, quantity int) (event, ticketType string, orders []Answer) {
	s.T.Helper()
	event, ids := s.OnSale(With(TypeBody(price, quantity), Object{"waitlistEnabled": true}))
	for i := range quantity {
		body := OrderBody(fmt.Sprintf("buyer%d@example.org", i), ids[0], 1)
		orders = append(orders, s.Call("POST", "/orders", body).Is(201, ""))
	}
	return event, ids[0], orders
}

// WaitlistEntries returns the statuses of all who wait or have waited for an event's tickets, by
// address.
func (s *Shop) WaitlistEntries(event string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	for _, item := range s.Own("GET", WaitlistPath(event), nil).Is(200, "").Data("items").([]any) {
		e := item.(Object)
		out[e["email"].(string)] = e["status"].(string)
	}
	return out
}

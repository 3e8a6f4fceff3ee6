package outward

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/mailqueue"
)

// What an organization orders for nothing reaches an address only so often, whoever's
// copies those are, and later what is beyond that. A paid order is confirmed whatever
// came before.
func TestMailsNobodyPaidForAreCapped(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	wide := nodetest.Object{"maxPerOrder": 1000, "maxPerCustomer": 1000}
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 1000), wide), nodetest.With(nodetest.TypeBody(25, 1000), wide))
	const victim = "victim@example.org"
	secret := s.Key(nil).Str("secret")
	order := func(buyer, attendee string) {
		body := nodetest.OrderBody(buyer, ids[0], 1)
		if attendee != "" {
			body["items"].([]nodetest.Object)[0]["attendeeEmail"] = attendee
		}
		s.Call("POST", "/orders", body, "Authorization", "Bearer "+secret).Is(201, "")
	}
	const copies = 5
	for range mailqueue.RecipientCap {
		order(victim, "")
	}
	for i := range copies {
		order(fmt.Sprintf("buyer%d@example.org", i), victim)
	}
	sent := func() int {
		counts := s.MailCounts(victim)
		return counts["order_confirmation"] + counts["attendee_tickets"]
	}
	s.Mailed() // the letters that the first letters have put out
	require.Equal(t, mailqueue.RecipientCap, sent())
	for i := range copies {
		require.Equal(t, 1, s.MailCounts(fmt.Sprintf("buyer%d@example.org", i))["order_confirmation"])
	}
	waiting := func() (n int) {
		const letters = `SELECT count(*) FROM river_job WHERE kind = 'mail' AND state = 'scheduled' AND scheduled_at > now() + interval '1 minute'`
		require.NoError(t, s.Pool().QueryRow(t.Context(), letters).Scan(&n))
		return n
	}
	require.Equal(t, copies, waiting())

	t.Log("a paid order is confirmed")
	id, token := s.Place(victim, ids[1], 1)
	s.Settle(s.Checkout(id, token), "success")
	s.Verify(id, token).Is(200, "")
	require.Equal(t, mailqueue.RecipientCap+1, sent())
	require.Equal(t, copies, waiting())

	t.Log("an order that nobody pays for and cancels is capped like a free one")
	id, token = s.Place(victim, ids[1], 1)
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	require.Zero(t, s.MailCounts(victim)["order_cancelled"])
	require.Equal(t, copies+1, waiting())

	t.Log("what waits is sent at its time")
	_, err := s.Pool().Exec(t.Context(), `UPDATE mails SET slot = now() WHERE slot IS NOT NULL`)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'mail' AND state = 'scheduled'`)
	require.NoError(t, err)
	require.Equal(t, mailqueue.RecipientCap+1+copies, sent())

	t.Log("what would wait for more than its life is given up")
	_, err = s.Pool().Exec(t.Context(), `UPDATE mail_caps SET free_at = now() + interval '30 hours'`)
	require.NoError(t, err)
	order(victim, "")
	require.Equal(t, mailqueue.RecipientCap+1+copies, sent())
	require.Zero(t, waiting())
	pages := *s
	pages.URL = "http://" + s.Config().Listen
	metrics := pages.Raw("GET", "/metrics", "", "").Body
	require.Contains(t, metrics, `boxoffice_mail_failed_total{kind="order_confirmation"} 1`)
	capped := 0 // copies, and what is told of the cancelled order; which of the mails came too late is chance
	for _, m := range regexp.MustCompile(`(?m)^boxoffice_mail_capped_total{.*} (\d+)$`).FindAllStringSubmatch(metrics, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		capped += n
	}
	require.Equal(t, copies+1, capped)
}

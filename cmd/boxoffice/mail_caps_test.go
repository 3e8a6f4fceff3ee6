package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/mailqueue"
)

// What an organization orders for nothing reaches an address only so often, whoever's
// copies those are, and later what is beyond that. A paid order is confirmed whatever
// came before.
func TestMailsNobodyPaidForAreCapped(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	wide := object{"maxPerOrder": 1000, "maxPerCustomer": 1000}
	_, ids := s.onSale(with(typeBody(0, 1000), wide), with(typeBody(25, 1000), wide))
	const victim = "victim@example.org"
	secret := s.key(nil).str("secret")
	order := func(buyer, attendee string) {
		body := orderBody(buyer, ids[0], 1)
		if attendee != "" {
			body["items"].([]object)[0]["attendeeEmail"] = attendee
		}
		s.call("POST", "/orders", body, "Authorization", "Bearer "+secret).is(201, "")
	}
	const copies = 5
	for range mailqueue.RecipientCap {
		order(victim, "")
	}
	for i := range copies {
		order(fmt.Sprintf("buyer%d@example.org", i), victim)
	}
	sent := func() int {
		counts := s.kinds(victim)
		return counts["order_confirmation"] + counts["attendee_tickets"]
	}
	s.mailed() // the letters that the first letters have put out
	require.Equal(t, mailqueue.RecipientCap, sent())
	for i := range copies {
		require.Equal(t, 1, s.kinds(fmt.Sprintf("buyer%d@example.org", i))["order_confirmation"])
	}
	waiting := func() (n int) {
		const letters = `SELECT count(*) FROM river_job WHERE kind = 'mail' AND state = 'scheduled' AND scheduled_at > now() + interval '1 minute'`
		require.NoError(t, s.pool.QueryRow(t.Context(), letters).Scan(&n))
		return n
	}
	require.Equal(t, copies, waiting())

	t.Log("a paid order is confirmed")
	id, token := s.place(victim, ids[1], 1)
	s.settle(s.checkout(id, token), "success")
	s.verify(id, token).is(200, "")
	require.Equal(t, mailqueue.RecipientCap+1, sent())
	require.Equal(t, copies, waiting())

	t.Log("an order that nobody pays for and cancels is capped like a free one")
	id, token = s.place(victim, ids[1], 1)
	s.call("POST", "/orders/"+id+"/cancel", object{"token": token}).is(200, "")
	require.Zero(t, s.kinds(victim)["order_cancelled"])
	require.Equal(t, copies+1, waiting())

	t.Log("what waits is sent at its time")
	_, err := s.pool.Exec(t.Context(), `UPDATE mails SET slot = now() WHERE slot IS NOT NULL`)
	require.NoError(t, err)
	_, err = s.pool.Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'mail' AND state = 'scheduled'`)
	require.NoError(t, err)
	require.Equal(t, mailqueue.RecipientCap+1+copies, sent())

	t.Log("what would wait for more than its life is given up")
	_, err = s.pool.Exec(t.Context(), `UPDATE mail_caps SET free_at = now() + interval '30 hours'`)
	require.NoError(t, err)
	order(victim, "")
	require.Equal(t, mailqueue.RecipientCap+1+copies, sent())
	require.Zero(t, waiting())
	pages := *s
	pages.url = "http://" + s.cfg.Listen
	metrics := pages.raw("GET", "/metrics", "", "").body
	require.Contains(t, metrics, `boxoffice_mail_failed_total{kind="order_confirmation"} 1`)
	require.Contains(t, metrics, fmt.Sprintf(`boxoffice_mail_capped_total{kind="attendee_tickets"} %d`, copies))
}

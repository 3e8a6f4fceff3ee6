package nodetest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/mail"
)

// Mailed waits until all committed facts have been published and the mails about them are sent.
func (s *Shop) Mailed() {
	s.T.Helper()
	require.NoError(s.T, s.AwaitTold(s.T.Context()))
	s.Becomes("0", func() string {
		var n int
		const waiting = `SELECT count(*) FROM river_job WHERE kind LIKE 'mail%' AND state IN ('available', 'running', 'retryable')`
		require.NoError(s.T, s.Pool().QueryRow(s.T.Context(), waiting).Scan(&n))
		return fmt.Sprint(n)
	})
}

// Confirmation returns the only mail that confirms an order. It fails if there is none or a second
// one.
func (s *Shop) Confirmation(order Answer) *mail.Captured {
	s.T.Helper()
	s.Mailed()
	list, err := s.Mailbox().List(1_000)
	require.NoError(s.T, err)
	var found *mail.Captured
	for _, m := range list {
		if m.Kind != "order_confirmation" {
			continue
		}
		whole, err := s.Mailbox().Read(m.Name)
		require.NoError(s.T, err)
		if strings.Contains(whole.Text, "Your order "+order.Str("orderNumber")+" ") {
			require.Nil(s.T, found, "twice")
			found = whole
		}
	}
	require.NotNil(s.T, found, "order %s is not confirmed", order.Str("orderNumber"))
	require.Equal(s.T, order.Str("buyer.email"), found.To)
	return found
}

// OrderLink finds the address of an order, with its token, in the text of a mail.
var OrderLink = regexp.MustCompile(`http://[^/]+(/orders/[0-9a-f-]{36}\?token=\S+)`)

// MailCounts returns how many mails of each kind an address got, once no mail waits.
func (s *Shop) MailCounts(to string) map[string]int {
	s.T.Helper()
	s.Mailed()
	list, err := s.Mailbox().List(1_000)
	require.NoError(s.T, err)
	count := map[string]int{}
	for _, m := range list {
		if m.To == to {
			count[m.Kind]++
		}
	}
	return count
}

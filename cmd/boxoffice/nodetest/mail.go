package nodetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/mail"
)

// Mail waits up to a minute for a mail to an address, of a kind such as "login_code", that was
// captured after a moment. It returns the newest such mail.
func (s *Shop) Mail(t testing.TB, to, kind string, after time.Time) *mail.Captured {
	t.Helper()
	var found *mail.Captured
	require.Eventually(t, func() bool {
		list, err := s.Mailbox().List(100)
		if err != nil {
			return false
		}
		for _, m := range list {
			if m.To == to && m.Kind == kind && m.At.After(after) {
				found, err = s.Mailbox().Read(m.Name)
				return err == nil
			}
		}
		return false
	}, time.Minute, 5*time.Millisecond, "no %s for %s", kind, to)
	return found
}

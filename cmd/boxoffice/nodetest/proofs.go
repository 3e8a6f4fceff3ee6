package nodetest

import (
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// confirmLink finds the link that confirms an address in the text of a mail.
var confirmLink = regexp.MustCompile(`(http\S+)/email/confirm#token=(\S+)`)

// ConfirmToken returns the token of the link that was mailed to confirm an address after a moment.
func (s *Shop) ConfirmToken(email string, after time.Time) string {
	s.T.Helper()
	found := confirmLink.FindStringSubmatch(s.Mail(s.T, email, "email_confirmation", after).Text)
	require.Len(s.T, found, 3)
	require.Equal(s.T, strings.TrimSuffix(s.URL, "/api/v1"), found[1])
	return found[2]
}

// Confirm confirms an address by a mailed token and the account's password.
func (s *Shop) Confirm(token, password string, headers ...string) Answer {
	s.T.Helper()
	return s.Patient("POST", "/auth/email/confirm", With(Object{"token": token}, Object{"password": password}), headers...)
}

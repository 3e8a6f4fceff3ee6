package outward

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestMailIsCaptured: without a mail server, mail is in files and on a page of
// the node.
func TestMailIsCaptured(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	begun := time.Now()
	code := s.LoginCode("ada@example.org", "Ada")
	m := s.Mail(t, "ada@example.org", "login_code", begun)
	require.Contains(t, m.Text, code)

	get := func(path string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Config().Listen+path, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { require.NoError(t, res.Body.Close()) }()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(body)
	}
	require.Contains(t, get("/dev/mail"), "/dev/mail/"+m.Name)
	require.Contains(t, get("/dev/mail/"+m.Name), code)
	require.Contains(t, get("/dev/mail/..%2F..%2Fetc%2Fpasswd"), "No such mail")
	require.Contains(t, get("/metrics"), `boxoffice_mail_sent_total{kind="login_code"} 1`)
}

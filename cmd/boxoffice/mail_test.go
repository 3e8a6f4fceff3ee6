package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/mail"
)

// mail waits for a mail of a kind (such as "login_code") to an address, captured
// after a moment, and returns the newest.
func (s *shop) mail(t testing.TB, to, kind string, after time.Time) *mail.Captured {
	t.Helper()
	var found *mail.Captured
	require.Eventually(t, func() bool {
		list, err := s.mailbox.List(100)
		if err != nil {
			return false
		}
		for _, m := range list {
			if m.To == to && m.Kind == kind && m.At.After(after) {
				found, err = s.mailbox.Read(m.Name)
				return err == nil
			}
		}
		return false
	}, 5*time.Second, 5*time.Millisecond, "no %s for %s", kind, to)
	return found
}

// TestMailIsCaptured: without a mail server, mail is in files and on a page of
// the node.
func TestMailIsCaptured(t *testing.T) {
	t.Parallel()
	s := open(t)
	begun := time.Now()
	code := s.loginCode("ada@example.org", "Ada")
	m := s.mail(t, "ada@example.org", "login_code", begun)
	require.Contains(t, m.Text, code)

	get := func(path string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.cfg.Listen+path, nil)
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

func TestMailConfiguration(t *testing.T) {
	t.Parallel()
	const url = "smtps://user:sesame@mail.example.org"
	for name, c := range map[string]struct {
		config config
		refuse string
	}{
		"test captures":     {config{Env: "test"}, ""},
		"test sends":        {config{Env: "test", SMTPURL: url, MailFrom: "Boxoffice <tickets@example.org>"}, ""},
		"live sends":        {config{Env: "live", SMTPURL: url, MailFrom: "tickets@example.org"}, ""},
		"live must send":    {config{Env: "live", MailFrom: "tickets@example.org"}, "BOXOFFICE_SMTP_URL is required"},
		"as somebody":       {config{Env: "live", SMTPURL: url}, "BOXOFFICE_MAIL_FROM is required"},
		"with an address":   {config{Env: "test", MailFrom: "tickets"}, "BOXOFFICE_MAIL_FROM"},
		"to a known server": {config{Env: "test", SMTPURL: "http://user:sesame@host", MailFrom: "tickets@example.org"}, "BOXOFFICE_SMTP_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.MailDir = t.TempDir()
			n := &node{cfg: &c.config, log: slog.New(slog.DiscardHandler)}
			err := n.startMail(t.Context())
			if c.refuse == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.refuse)
				require.NotContains(t, err.Error(), "sesame")
			}
			require.NoError(t, n.stop(context.Background()))
		})
	}
}

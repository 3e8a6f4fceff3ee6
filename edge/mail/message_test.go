package mail

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write what the templates come to into testdata, instead of comparing it")

// samples has every mail there is.
func samples() map[string]Message {
	const to, name = "ada@example.org", "Ada <b>Lovelace</b>"
	return map[string]Message{
		"login_code":             LoginCode(to, name, "123456"),
		"login_code.nameless":    LoginCode(to, "", "123456"),
		"password_reset":         PasswordReset(to, name, "https://tickets.example.org/reset?token=a-b_c&x=1"),
		"invitation":             Invitation(to, name, "Friday & Friends", "admin"),
		"password_changed":       PasswordChanged(to, name),
		"two_factor_changed.on":  TwoFactorChanged(to, name, true),
		"two_factor_changed.off": TwoFactorChanged(to, name, false),

		"webhook_disabled.gone":      WebhookDisabled(to, name, "Friday & Friends", "Book<i>keeping", "42", true),
		"webhook_disabled.exhausted": WebhookDisabled(to, name, "Friday & Friends", "hooks.example.org", "42", false),
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for name, m := range samples() {
		kinds[m.Kind] = true
		require.True(t, strings.HasPrefix(name, m.Kind), name)
		require.Len(t, m.ID, 32)
		require.NotContains(t, m.HTML, "<b>", "%s: a name is not markup", name)
		got := "Subject: " + m.Subject + "\n\n" + m.Text + "\n" + m.HTML
		path := filepath.Join("testdata", name+".golden")
		if *rewrite {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got, name)
	}
	for kind := range forms {
		require.True(t, kinds[kind], "no sample of %s", kind)
	}
}

// TestLabel: nothing that a stranger typed becomes a link or ends a line.
func TestLabel(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Ada Lovelace":                   "Ada Lovelace",
		"J. R. R. Tolkien":               "J. R. R. Tolkien",
		"AC/DC & Sons: Live":             "AC/DC & Sons: Live",
		"Zoë 🎟 Ünal":                     "Zoë 🎟 Ünal",
		"see https://evil.example/a?b=c": "see https evil. example/a?b=c",
		"WWW.Evil.Example":               "WWW. Evil. Example",
		"a.bb.cc.dd":                     "a. bb. cc. dd",
		"10.0.12.13":                     "10. 0. 12. 13",
		"J.R.R. Tolkien":                 "J. R. R. Tolkien",
		"evil。example":                   "evil. example",
		"bob@evil.example":               "bob at evil. example",
		"mailto:x":                       "mailto:x",
		"Ada\r\nBcc: eve@evil.example":   "Ada Bcc: eve at evil. example",
		"a\x00b\u2028c\u202ed\u200be":    "ab cde",
		"  \t ":                          "",
		"bad \xff utf8":                  "bad utf8",
		strings.Repeat("é", 101):         strings.Repeat("é", 100) + "…",
	} {
		require.Equal(t, want, label(in))
	}
}

func TestRoomForEveryName(t *testing.T) {
	t.Parallel()
	m := Invitation("ada@example.org", "", "Evil\r\nBcc: eve@evil.example\r\n\r\n<script>", "admin\nX: y")
	require.NotContains(t, m.Subject, "\n")
	require.NotContains(t, m.Subject, "\r")
	require.NotContains(t, m.HTML, "<script>")
}

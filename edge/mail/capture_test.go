package mail

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func capture(t testing.TB) (*Capture, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "mail")
	c, err := OpenCapture(dir, origin(t))
	require.NoError(t, err)
	return c, dir
}

// sole is the one mail that a Capture has.
func sole(t testing.TB, c *Capture) *Captured {
	t.Helper()
	list, err := c.List(10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	m, err := c.Read(list[0].Name)
	require.NoError(t, err)
	return m
}

// TestCaptureRoundTrip: what is read back is what was sent, of every mail.
func TestCaptureRoundTrip(t *testing.T) {
	t.Parallel()
	for name, m := range samples(t, "Ada", English) {
		c, dir := capture(t)
		require.NoError(t, c.Send(t.Context(), m))
		got := sole(t, c)
		require.Equal(t, m.To, got.To, name)
		require.Equal(t, m.Kind, got.Kind, name)
		require.Equal(t, m.Subject, got.Subject, name)
		require.Equal(t, m.Text, got.Text, name)
		require.Equal(t, m.HTML, got.HTML, name)
		require.Equal(t, "<"+m.ID+"@example.org>", got.Header.Get("Message-ID"), name)
		require.WithinDuration(t, time.Now(), got.At, time.Minute)

		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
		info, err = os.Stat(filepath.Join(dir, got.Name))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
}

func TestCaptureOrderAndLimit(t *testing.T) {
	t.Parallel()
	c, dir := capture(t)
	for i := range 5 {
		require.NoError(t, c.Send(t.Context(), LoginCode(envelope(fmt.Sprintf("ada%d@example.org", i), ""), "123456")))
	}
	list, err := c.List(3)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for i, m := range list {
		require.Equal(t, fmt.Sprintf("ada%d@example.org", 4-i), m.To)
		require.Empty(t, m.Text)
	}
	for i := range captureMax { // older ones
		name := time.Unix(int64(i), 0).UTC().Format(stampLayout) + "-x.eml"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("To: <a@example.org>\r\n\r\n"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600)) // not a mail: stays
	c, err = OpenCapture(dir, origin(t))                                          // by the next process
	require.NoError(t, err)
	require.NoError(t, c.Send(t.Context(), LoginCode(envelope("eve@example.org", ""), "123456")))
	names, err := c.listFileNames()
	require.NoError(t, err)
	require.Len(t, names, captureMax)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, captureMax+1)
	list, err = c.List(1)
	require.NoError(t, err)
	require.Equal(t, "eve@example.org", list[0].To)
}

// TestCaptureReaders: who lists while mails come finds whole ones only.
func TestCaptureReaders(t *testing.T) {
	t.Parallel()
	c, _ := capture(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			list, err := c.List(10)
			for _, m := range list {
				if _, err = c.Read(m.Name); err != nil {
					break
				}
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	var senders sync.WaitGroup
	for range 2 {
		senders.Go(func() {
			for range 100 {
				if err := c.Send(ctx, LoginCode(envelope("ada@example.org", ""), "123456")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	cancel()
	wg.Wait()
	names, err := c.listFileNames()
	require.NoError(t, err)
	require.Len(t, names, 200)
}

// TestCaptureOnce: a mail that comes again, to this process or the next, is kept
// once.
func TestCaptureOnce(t *testing.T) {
	t.Parallel()
	c, dir := capture(t)
	m := PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")
	for range 2 {
		require.NoError(t, c.Send(t.Context(), m))
		require.NoError(t, c.Send(t.Context(), m))
		require.Equal(t, "<"+m.ID+"@example.org>", sole(t, c).Header.Get("Message-ID"))
		var err error
		c, err = OpenCapture(dir, origin(t))
		require.NoError(t, err)
	}
}

// TestCaptureDrop: only mails that say one of the words, to whom or what, are gone.
func TestCaptureDrop(t *testing.T) {
	t.Parallel()
	c, _ := capture(t)
	for _, to := range []string{"ada@example.org", "bob@example.org", "eve@example.org"} {
		require.NoError(t, c.Send(t.Context(), LoginCode(envelope(to, "Dear "+to[:3]), "123456")))
	}
	require.NoError(t, c.Drop("ADA@example.org", "", "dear eve"))
	require.Equal(t, "bob@example.org", sole(t, c).To)
}

func TestCaptureForgetsPartials(t *testing.T) {
	t.Parallel()
	_, dir := capture(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".partial-1"), nil, 0o600))
	_, err := OpenCapture(dir, origin(t))
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestCaptureReadRefusesOtherNames(t *testing.T) {
	t.Parallel()
	c, dir := capture(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret.eml"), []byte("To: <a@b.c>\r\n\r\n"), 0o600))
	for _, name := range []string{
		"", "secret.eml", "../mail/secret.eml", "..", "/etc/passwd",
		"20260101T000000.000000000Z-x.eml", // none such
		"20260101T000000.000000000Z-../../secret.eml", "20260101T000000.000000000Z-x.eml\x00", "20260101T000000.000000000Z-x.eml\n",
	} {
		_, err := c.Read(name)
		require.ErrorIs(t, err, fs.ErrNotExist, "%q", name)
	}
}

// TestNoHeaderInjection: whatever is in a message, its headers are ours, and it
// goes to one person.
func TestNoHeaderInjection(t *testing.T) {
	t.Parallel()
	evil := []string{
		"x\r\nBcc: eve@evil.example", "x\nBcc: eve@evil.example", "x\rBcc: eve@evil.example", "x\r\n\r\nbody",
		`" <eve@evil.example>, "`, "=?utf-8?q?x=0D=0ABcc:_eve@evil.example?=", "x\u2028Bcc: eve@evil.example", "<eve@evil.example>",
		"x\x00y", strings.Repeat("long ", 500), strings.Repeat("w", 3000),
	}
	for _, text := range evil {
		c, _ := capture(t)
		m := PasswordChanged(envelope("ada@example.org", ""), "https://tickets.example.org/organizer")
		m.ToName, m.Subject, m.Kind = text, text, text
		require.NoError(t, c.Send(t.Context(), m), "%q", text)
		got := sole(t, c)
		require.ElementsMatch(t, []string{
			"Auto-Submitted", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To",
			"X-Auto-Response-Suppress", "X-Boxoffice-Mail",
		}, keys(got.Header), "%q", text)
		to, err := got.Header.AddressList("To")
		require.NoError(t, err)
		require.Len(t, to, 1)
		require.Equal(t, "ada@example.org", to[0].Address)
		require.Equal(t, m.Text, got.Text)
	}
	for _, address := range append(evil, "", "ada", "Ada <ada@example.org>", "ada@example.org, eve@evil.example", "ada@example.org>", "<ada@example.org>",
		" ada@example.org", "ada@example.org\r\nRCPT TO:<eve@evil.example>", "ada@example.org SIZE=1", "\"a\r\nb\"@example.org") {
		c, _ := capture(t)
		m := PasswordChanged(envelope(address, ""), "https://tickets.example.org/organizer")
		var f *Failure
		require.ErrorAs(t, c.Send(t.Context(), m), &f, "%q", address)
		require.True(t, f.Permanent)
		require.Equal(t, "mail: bad address", f.Error())
	}
}

func keys(h netmail.Header) []string {
	out := make([]string, 0, len(h))
	for k := range h {
		out = append(out, k)
	}
	return out
}

// FuzzRender: no text makes a mail that cannot be read back.
func FuzzRender(f *testing.F) {
	f.Add("Ada", "Subject", "text")
	f.Add("A\r\nB", "=?utf-8?q?=0D?=", ".\r\n.\r\nQUIT")
	f.Fuzz(func(t *testing.T, name, subject, text string) {
		m := PasswordChanged(envelope("ada@example.org", name), "https://tickets.example.org/organizer")
		m.Subject, m.Text = subject, text
		msg, err := origin(t).renderMessage(m)
		require.NoError(t, err)
		var b bytes.Buffer
		_, err = msg.WriteTo(&b)
		require.NoError(t, err)
		back, err := netmail.ReadMessage(&b)
		require.NoError(t, err)
		to, err := back.Header.AddressList("To")
		require.NoError(t, err)
		require.Len(t, to, 1)
		require.Equal(t, "ada@example.org", to[0].Address)
		require.Len(t, back.Header, 10)
	})
}

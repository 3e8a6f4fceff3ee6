package main

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
	"boxoffice/gate"
)

var shownTexts = flag.Int("shown-texts", 100_000, "how many texts TestShownAlike draws")

// TestShownAlike holds that a device without the network reads a text as the service does. Otherwise
// it lets somebody in whose ticket the service does not know, and the ticket admits a second person.
func TestShownAlike(t *testing.T) {
	t.Parallel()
	alphabet := []string{
		"v", "V", "2", "p", ".", "-", " ", "\t", "\r\n", "\u00a0", "\u2013", "\u200b", "\ufeff", "\x00", "\x1d", "]", "Q1", "ä", "ı", "ſ", "K", "７", "Ｖ", "\xff", "💥", "a", "z", "0", "=", "\u202e", "\ufffd",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range *shownTexts {
		text := ""
		for range r.IntN(40) {
			text += alphabet[r.IntN(len(alphabet))]
		}
		require.Equal(t, secrets.CleanShown(text), gate.CleanShown(text), "%q", text)
		require.Equal(t, secrets.CleanShown(text), secrets.CleanShown(secrets.CleanShown(text)), "%q", text)
	}
}

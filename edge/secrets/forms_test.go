package secrets_test

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
)

// TestNoPayloadHoldsAnotherCode scans and types every six letters that stand next to each other in
// what tickets show: none is a door code of a ticket that there is, and of the longer pieces only the
// whole code is one. A thousand tickets have 1.1 door codes in a million, so by chance one payload in
// some thousands holds one; the test's keys have none.
func TestNoPayloadHoldsAnotherCode(t *testing.T) {
	t.Parallel()
	c, now := codes(t, 42), time.Unix(1_800_000_015, 0)
	const tickets = 40
	for serial := uint32(1); serial <= tickets; serial++ {
		qr, _ := c.QR(serial, secrets.Version, now)
		code, salt := c.Code(serial, secrets.Version), c.Salt()
		h, k := c.Hashes(salt, serial, secrets.Version)
		for name, payload := range map[string]string{
			"rotating": qr, "printed": c.Printed(serial, secrets.Version), "code": code, "ticket id": c.TicketID(serial).String(), "salt": salt, "h": h, "k": k,
		} {
			for size := 6; size <= 20; size++ {
				for i := 0; i+size <= len(payload); i++ {
					piece := payload[i : i+size]
					for _, says := range []secrets.Scanned{c.Scan(piece, now), c.Typed(piece)} {
						admits := says.Verdict == secrets.Genuine && says.Serial > 0 && says.Serial <= tickets && says.Version == secrets.Version
						require.Equal(t, name == "code" && piece == code && says == c.Typed(code), admits, "%s %s: %s", name, payload, piece)
					}
				}
			}
		}
	}
}

// TestFormsOfTheReleaseBefore reads the QR payloads that the release before made, which name the full
// code, and takes the first letters of that code, its door code then, for no ticket.
func TestFormsOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	c, now := codes(t, 42), time.Unix(1_800_000_015, 0)
	master, err := hkdf.Key(sha256.New, []byte(strings.Repeat("k", secrets.KeySize)), nil, "boxoffice/event/42", 3*secrets.KeySize)
	require.NoError(t, err)
	code := c.Code(9, secrets.Version)
	key, err := hkdf.Expand(sha256.New, master[secrets.KeySize:2*secrets.KeySize], code+"|1", sha256.Size)
	require.NoError(t, err)
	mac := func(step int64) string {
		h := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(h, "%s|%d|42", code, step) // a hash takes everything
		return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:10])
	}
	step := now.Unix() / 30
	rotating, printed := "v1."+code+"."+strconv.FormatInt(step, 10)+"."+mac(step), "p1."+code+"."+mac(-1)
	require.Equal(t, secrets.Scanned{Serial: 9, Version: secrets.Version, Verdict: secrets.Genuine}, c.Scan(rotating, now))
	require.Equal(t, secrets.Stale, c.Scan(rotating, now.Add(2*time.Minute)).Verdict)
	require.Equal(t, secrets.Scanned{Serial: 9, Version: secrets.Version, Printed: true, Verdict: secrets.Genuine}, c.Scan(printed, now.Add(24*time.Hour)))
	require.NotEqual(t, uint32(9), c.Scan(code[:6], now).Serial)
	require.Equal(t, secrets.Foreign, c.Scan("v2"+rotating[2:], now).Verdict, "a code is no pass id")
	qr, _ := c.QR(9, secrets.Version, now)
	require.Equal(t, secrets.Foreign, c.Scan("v1"+qr[2:], now).Verdict, "nor a pass id a code")
	require.Equal(t, secrets.Foreign, c.Typed(strings.Split(qr, ".")[1]).Verdict)
}

// BenchmarkQRAhead tells what the payloads of six hours cost for one ticket.
func BenchmarkQRAhead(b *testing.B) {
	c, now := codes(b, 42), time.Unix(1_800_000_015, 0)
	for b.Loop() {
		c.QRAhead(7, secrets.Version, now, 6*secrets.QRPerHour)
	}
}

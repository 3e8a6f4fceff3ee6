package secrets_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/edge/secrets"
)

func codes(t testing.TB, event int64) *secrets.Codes {
	t.Helper()
	m, err := secrets.New([]byte(strings.Repeat("k", secrets.KeySize)))
	require.NoError(t, err)
	return m.Event(event)
}

func TestCodesReadBack(t *testing.T) {
	t.Parallel()
	c := codes(t, 42)
	rapid.Check(t, func(t *rapid.T) {
		serial := rapid.Uint32Range(1, 28_629_150).Draw(t, "serial")
		holder := rapid.ByteRange(secrets.Version, 31).Draw(t, "version")
		got, version, ok := c.FromShort(strings.ToLower(c.Short(serial, holder)))
		require.True(t, ok)
		require.Equal(t, serial, got)
		require.Equal(t, holder, version)
		got, version, ok = c.FromCode(c.Code(serial, holder))
		require.True(t, ok)
		require.Equal(t, serial, got)
		require.Equal(t, holder, version)
		id := c.TicketID(serial)
		require.Equal(t, int64(42), id.Event())
		got, ok = c.FromTicketID(id)
		require.True(t, ok)
		require.Equal(t, serial, got)
		at := time.Unix(1_800_000_000, 0)
		qr, _ := c.QR(serial, holder, at)
		require.Equal(t, secrets.Scanned{Serial: serial, Version: holder, Verdict: secrets.Genuine}, c.Scan(qr, at))
		require.Equal(t, secrets.Scanned{Serial: serial, Version: holder, Printed: true, Verdict: secrets.Genuine}, c.Scan(c.Short(serial, holder), at))
		require.Equal(t, secrets.Scanned{Serial: serial, Version: holder, Printed: true, Verdict: secrets.Genuine}, c.Scan(c.Printed(serial, holder), at))
	})
}

func TestShortCodesAreUnique(t *testing.T) {
	t.Parallel()
	c := codes(t, 7)
	seen := make(map[string]bool)
	for serial := range uint32(50_000) {
		short := c.Short(serial+1, secrets.Version)
		require.Len(t, short, 6)
		require.False(t, seen[short], "serial %d", serial+1)
		seen[short] = true
	}
}

// TestSerialsBeyondDoorCodes makes sure that a serial or a version that no door code is left for ends in a panic, which
// costs a follower one fact, and not in a walk without end or in a code of another version.
func TestSerialsBeyondDoorCodes(t *testing.T) {
	t.Parallel()
	for event := range int64(64) { // whether the walk ends depends on the event's key
		codes := codes(t, event)
		for _, serial := range []uint32{28_629_151, 887_503_681, 1 << 30, math.MaxInt32, math.MaxUint32} {
			require.Panics(t, func() { codes.Code(serial, secrets.Version) })
		}
		require.Len(t, codes.Short(28_629_150, 31), 6)
	}
	c := codes(t, 42)
	for version := 32; version <= math.MaxUint8+1; version++ { // the last one is 0, which is no version either
		for _, serial := range []uint32{1, 28_629_150} {
			require.Panics(t, func() { c.Short(serial, byte(version)) }, version)
			require.Panics(t, func() { c.Code(serial, byte(version)) }, version)
		}
	}
}

// TestDoorCodesThatCollide gives tickets of two events one door code, which happens to
// any two events that are large enough: at each gate it is that event's own ticket, and
// the full codes, which begin alike, are no good at the other's gate.
func TestDoorCodesThatCollide(t *testing.T) {
	t.Parallel()
	one, two := codes(t, 42), codes(t, 43)
	for serial := uint32(1); serial <= 1000; serial++ {
		short := one.Short(serial, secrets.Version)
		other, holder, ok := two.FromShort(short)
		require.True(t, ok, "each event uses all door codes")
		require.Equal(t, short, two.Short(other, holder))
		back, _, ok := one.FromShort(short)
		require.True(t, ok)
		require.Equal(t, serial, back)
		require.NotEqual(t, one.TicketID(serial), two.TicketID(other))
		_, _, ok = two.FromCode(one.Code(serial, secrets.Version))
		require.False(t, ok)
		_, _, ok = one.FromCode(two.Code(other, holder))
		require.False(t, ok)
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	c, now := codes(t, 42), time.Unix(1_800_000_015, 0)
	qr, expires := c.QR(9, secrets.Version, now)
	require.Equal(t, time.Unix(1_800_000_030, 0), expires)
	other, _ := codes(t, 43).QR(9, secrets.Version, now)
	for name, tc := range map[string]struct {
		text string
		at   time.Time
		want secrets.Verdict
	}{
		"fresh":           {qr, now, secrets.Genuine},
		"one step late":   {qr, now.Add(30 * time.Second), secrets.Genuine},
		"one step early":  {qr, now.Add(-30 * time.Second), secrets.Genuine},
		"two steps late":  {qr, now.Add(60 * time.Second), secrets.Stale},
		"full code":       {c.Code(9, secrets.Version), now, secrets.Foreign},
		"door code":       {" " + strings.ToLower(c.Short(9, secrets.Version)) + " ", now, secrets.Genuine},
		"other event":     {other, now, secrets.Foreign},
		"forged mac":      {qr[:len(qr)-1] + "#", now, secrets.Foreign},
		"moved step":      {strings.Replace(qr, ".60000000.", ".60000001.", 1), now, secrets.Foreign},
		"empty":           {"", now, secrets.Foreign},
		"printed":         {c.Printed(9, secrets.Version), now.Add(time.Hour), secrets.Genuine},
		"printed, forged": {strings.Join(strings.Split("p2"+qr[2:], ".")[:3], "."), now, secrets.Foreign},
		"too many parts":  {qr + ".x", now, secrets.Foreign},
		"not in alphabet": {"000000", now, secrets.Foreign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.Scan(tc.text, tc.at)
			require.Equal(t, tc.want, got.Verdict)
			if got.Verdict != secrets.Foreign {
				require.Equal(t, uint32(9), got.Serial)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	c, now := codes(f, 42), time.Unix(1_800_000_015, 0)
	qr, _ := c.QR(9, secrets.Version, now)
	for _, s := range []string{qr, c.Short(9, secrets.Version), c.Code(9, secrets.Version), "v1...", "v1.a.b.c", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := c.Scan(s, now)
		if got.Verdict == secrets.Genuine {
			require.Equal(t, got, c.Scan(s, now))
		}
	})
}

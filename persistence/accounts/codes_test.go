package accounts_test

import (
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
)

const address = "ada@example.org"

// code is one that a client on one network asks for.
func code(name, mac string) *accounts.Code {
	c := &accounts.Code{Email: address, Name: name, MAC: []byte(mac), Client: "192.0.2.1"}
	_, _ = rand.Read(c.Nonce[:]) // never fails
	return c
}

func (b *book) request(mac string) time.Duration {
	b.t.Helper()
	wait, err := b.RequestCode(b.t.Context(), code("Ada", mac))
	require.NoError(b.t, err)
	return wait
}

func (b *book) exchange(mac string) error {
	_, _, err := b.ExchangeCode(b.t.Context(), address, []byte(mac), nil)
	return err
}

// passSends lets time pass, but only for the limit of mails.
func (b *book) passSends(d time.Duration) {
	b.t.Helper()
	b.exec(`UPDATE open_codes SET asked_at = asked_at - $1::interval`, d)
}

func TestLoginCode(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeExpired, "none was asked for")
	require.Zero(t, b.request("a"))
	require.ErrorIs(t, b.exchange("b"), accounts.ErrCodeInvalid)
	u, _, err := b.ExchangeCode(t.Context(), address, []byte("a"), nil)
	require.NoError(t, err)
	require.Equal(t, address, u.Email)
	require.Equal(t, "Ada", u.FirstName)
	require.Empty(t, u.PasswordHash)
	require.True(t, u.EmailVerified)
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeExpired, "once")

	t.Log("the account stays, and keeps its name")
	b.passSends(time.Minute)
	_, err = b.RequestCode(t.Context(), code("Somebody", "c"))
	require.NoError(t, err)
	again, _, err := b.ExchangeCode(t.Context(), address, []byte("c"), nil)
	require.NoError(t, err)
	require.Equal(t, u, again)
}

func TestLoginCodeIsTheNewest(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.Zero(t, b.request("a"))
	b.passSends(time.Minute)
	require.Zero(t, b.request("b"))
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeInvalid)
	require.NoError(t, b.exchange("b"))
}

func TestLoginCodeEnds(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.Zero(t, b.request("a"))
	b.exec(`UPDATE open_codes SET expires_at = expires_at - interval '599 seconds'`)
	require.ErrorIs(t, b.exchange("b"), accounts.ErrCodeInvalid)
	b.exec(`UPDATE open_codes SET expires_at = expires_at - interval '1 second'`)
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeExpired)
}

// TestLoginCodeTries makes sure that a code has five tries, however many come at once, and that a
// new code has five of its own.
func TestLoginCodeTries(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.Zero(t, b.request("a"))
	counts := together(t, 20, func(int) error { return b.exchange("wrong") }, accounts.ErrCodeInvalid, accounts.ErrCodeExpired)
	require.Equal(t, map[error]int{accounts.ErrCodeInvalid: 5, accounts.ErrCodeExpired: 15}, counts)
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeExpired)
	b.passSends(time.Minute)
	require.Zero(t, b.request("b"))
	for range 4 {
		require.ErrorIs(t, b.exchange("wrong"), accounts.ErrCodeInvalid)
	}
	require.NoError(t, b.exchange("b"), "the fifth")
}

// TestLoginCodeRace makes sure that of several exchanges of the right code only one succeeds, and
// makes one account.
func TestLoginCodeRace(t *testing.T) {
	t.Parallel()
	b := open(t)
	for range 10 {
		require.Zero(t, b.request("a"))
		var won atomic.Int64
		counts := together(t, 4, func(int) error {
			u, _, err := b.ExchangeCode(t.Context(), address, []byte("a"), nil)
			if err == nil {
				won.Store(u.ID)
			}
			return err
		}, accounts.ErrCodeExpired)
		require.Equal(t, map[error]int{nil: 1, accounts.ErrCodeExpired: 3}, counts)
		u, err := b.UserByEmail(t.Context(), address)
		require.NoError(t, err)
		require.Equal(t, u.ID, won.Load())
		b.passSends(2 * time.Hour)
	}
}

// TestLoginCodeSends makes sure that one mail is sent in a minute and five in an hour, however many
// ask at once.
func TestLoginCodeSends(t *testing.T) {
	t.Parallel()
	b := open(t)
	sent := func() (n int) {
		var granted atomic.Int64
		together(t, 4, func(int) error {
			wait, err := b.RequestCode(t.Context(), code("", "a"))
			if wait == 0 {
				granted.Add(1)
			}
			return err
		})
		return int(granted.Load())
	}
	for _, wait := range []float64{60, 60, 60, 60, 56 * 60} {
		require.Equal(t, 1, sent())
		require.InDelta(t, wait, b.request("z").Seconds(), 5)
		require.NoError(t, b.exchange("a"), "a refused request leaves the code as it is")
		b.passSends(time.Minute)
	}
	require.Equal(t, 0, sent())
	require.InDelta(t, 55*60, b.request("z").Seconds(), 10)
	b.passSends(54 * time.Minute)
	require.Equal(t, 0, sent())
	b.passSends(time.Minute)
	require.Equal(t, 1, sent(), "an hour after the first")
	require.InDelta(t, 60, b.request("z").Seconds(), 5)
	b.passSends(time.Minute)
	require.Equal(t, 1, sent(), "an hour after the second")
}

// TestLoginCodeBelongsToItsClient: what others ask for and guess neither voids a code nor uses up
// its tries or the right to ask for one; and there is an end to what all of them ask for.
func TestLoginCodeBelongsToItsClient(t *testing.T) {
	t.Parallel()
	b := open(t)
	own := code("Ada", "own")
	wait, err := b.RequestCode(t.Context(), own)
	require.NoError(t, err)
	require.Zero(t, wait)
	ask := func(network string) (*accounts.Code, time.Duration) {
		c := code("Eve", "strange")
		c.Client = network
		wait, err := b.RequestCode(t.Context(), c)
		require.NoError(t, err)
		return c, wait
	}
	theirs, wait := ask("192.0.2.2")
	require.Zero(t, wait, "another network has a pause of its own")
	_, wait = ask("192.0.2.2")
	require.Positive(t, wait)
	for range 6 {
		require.Error(t, b.exchange("wrong"))
		_, _, err = b.ExchangeCode(t.Context(), address, []byte("wrong"), theirs.Nonce[:])
		require.Error(t, err)
	}
	_, _, err = b.ExchangeCode(t.Context(), address, []byte("own"), theirs.Nonce[:])
	require.ErrorIs(t, err, accounts.ErrCodeExpired)
	_, _, err = b.ExchangeCode(t.Context(), "eve@example.org", []byte("own"), own.Nonce[:])
	require.ErrorIs(t, err, accounts.ErrCodeExpired)
	_, _, err = b.ExchangeCode(t.Context(), address, []byte("own"), own.Nonce[:])
	require.NoError(t, err)

	granted := 2
	for i := range 30 {
		if _, wait := ask(fmt.Sprint("198.51.100.", i)); wait == 0 {
			granted++
		}
	}
	require.Equal(t, 20, granted)
}

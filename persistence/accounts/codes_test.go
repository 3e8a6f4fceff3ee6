package accounts_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
)

const address = "ada@example.org"

func (b *book) request(mac string) time.Duration {
	b.t.Helper()
	wait, err := b.RequestCode(b.t.Context(), address, "Ada", []byte(mac))
	require.NoError(b.t, err)
	return wait
}

func (b *book) exchange(mac string) error {
	_, _, err := b.ExchangeCode(b.t.Context(), address, []byte(mac))
	return err
}

// passSends lets time pass, but only for the limit of mails.
func (b *book) passSends(d time.Duration) {
	b.t.Helper()
	b.exec(`UPDATE login_codes SET sent = array(SELECT s - $1::interval FROM unnest(sent) s ORDER BY s)`, d)
}

func TestLoginCode(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeExpired, "none was asked for")
	require.Zero(t, b.request("a"))
	require.ErrorIs(t, b.exchange("b"), accounts.ErrCodeInvalid)
	u, _, err := b.ExchangeCode(t.Context(), address, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, address, u.Email)
	require.Equal(t, "Ada", u.FirstName)
	require.Empty(t, u.PasswordHash)
	require.True(t, u.EmailVerified)
	require.ErrorIs(t, b.exchange("a"), accounts.ErrCodeExpired, "once")

	t.Log("the account stays, and keeps its name")
	b.passSends(time.Minute)
	_, err = b.RequestCode(t.Context(), address, "Somebody", []byte("c"))
	require.NoError(t, err)
	again, _, err := b.ExchangeCode(t.Context(), address, []byte("c"))
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
	b.exec(`UPDATE login_codes SET expires_at = expires_at - interval '599 seconds'`)
	require.ErrorIs(t, b.exchange("b"), accounts.ErrCodeInvalid)
	b.exec(`UPDATE login_codes SET expires_at = expires_at - interval '1 second'`)
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
			u, _, err := b.ExchangeCode(t.Context(), address, []byte("a"))
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
			wait, err := b.RequestCode(t.Context(), address, "", []byte("a"))
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

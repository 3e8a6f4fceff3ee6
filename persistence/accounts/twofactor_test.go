package accounts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
)

func TestEnrollment(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	none, err := b.Enrolled(t.Context(), u.ID)
	require.NoError(t, err)
	require.Nil(t, none)
	_, err = b.Guess(t.Context(), u.ID)
	require.ErrorIs(t, err, accounts.ErrTwoFactor)
	require.ErrorIs(t, b.Enroll(t.Context(), u.ID, []byte("zero")), accounts.ErrUnproven)
	b.confirm(u)
	require.NoError(t, b.Enroll(t.Context(), u.ID, []byte("one")))
	require.NoError(t, b.Enroll(t.Context(), u.ID, []byte("two")))
	sealed, err := b.Enrolled(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, []byte("two"), sealed)
	_, err = b.Guess(t.Context(), u.ID)
	require.ErrorIs(t, err, accounts.ErrTwoFactor, "it is not active")
	require.ErrorIs(t, b.Disable(t.Context(), u.ID, accounts.Factor{Step: 1}), accounts.ErrCodeInvalid)

	require.ErrorIs(t, b.Activate(t.Context(), u.ID, []byte("one"), 1, nil), accounts.ErrTwoFactor, "another was enrolled since")
	counts := together(t, 4, func(int) error {
		return b.Activate(t.Context(), u.ID, []byte("two"), 100, [][]byte{[]byte("r1"), []byte("r2")})
	}, accounts.ErrTwoFactor)
	require.Equal(t, map[error]int{nil: 1, accounts.ErrTwoFactor: 3}, counts)
	require.ErrorIs(t, b.Enroll(t.Context(), u.ID, []byte("three")), accounts.ErrTwoFactor)
	u, err = b.User(t.Context(), u.ID)
	require.NoError(t, err)
	require.True(t, u.TwoFactor)

	t.Log("off again, with a code that was not used before")
	require.ErrorIs(t, b.Disable(t.Context(), u.ID, accounts.Factor{Step: 100}), accounts.ErrCodeInvalid)
	require.ErrorIs(t, b.Disable(t.Context(), u.ID, accounts.Factor{Recovery: []byte("r3")}), accounts.ErrCodeInvalid)
	hash := b.challenge(u.ID, 1)
	require.NoError(t, b.Disable(t.Context(), u.ID, accounts.Factor{Recovery: []byte("r1")}))
	_, err = b.TryChallenge(t.Context(), hash)
	require.ErrorIs(t, err, accounts.ErrChallengeOver)
	u, err = b.User(t.Context(), u.ID)
	require.NoError(t, err)
	require.False(t, u.TwoFactor)
	b.twoFactor(u.ID)
	require.ErrorIs(t, b.Disable(t.Context(), u.ID, accounts.Factor{Recovery: []byte("r2")}), accounts.ErrCodeInvalid, "those of before are gone")
	require.NoError(t, b.Disable(t.Context(), u.ID, accounts.Factor{Step: 101}))
}

func (b *book) challenge(user int64, n byte) [32]byte {
	b.t.Helper()
	hash := [32]byte{n}
	require.NoError(b.t, b.OpenChallenge(b.t.Context(), hash, accounts.SignIn{User: user, PasswordHash: "first"}))
	return hash
}

func (b *book) pass(user int64, hash [32]byte, f accounts.Factor) error {
	_, err := b.PassChallenge(b.t.Context(), hash, f, accounts.SignIn{User: user})
	return err
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	b.twoFactor(u.ID)
	hash := b.challenge(u.ID, 1)
	_, err := b.TryChallenge(t.Context(), [32]byte{9})
	require.ErrorIs(t, err, accounts.ErrChallengeOver)
	user, err := b.TryChallenge(t.Context(), hash)
	require.NoError(t, err)
	require.Equal(t, u.ID, user)
	require.ErrorIs(t, b.pass(u.ID, [32]byte{9}, accounts.Factor{Step: 101}), accounts.ErrChallengeOver)
	require.ErrorIs(t, b.pass(b.user("bob@example.org").ID, hash, accounts.Factor{Step: 101}), accounts.ErrCodeInvalid)
	require.NoError(t, b.pass(u.ID, hash, accounts.Factor{Step: 101}), "what failed has used nothing up")
	require.ErrorIs(t, b.pass(u.ID, hash, accounts.Factor{Step: 102}), accounts.ErrChallengeOver, "once")

	t.Log("five tries, however many come at once")
	hash = b.challenge(u.ID, 2)
	counts := together(t, 12, func(int) error {
		_, err := b.TryChallenge(t.Context(), hash)
		return err
	}, accounts.ErrChallengeOver)
	require.Equal(t, map[error]int{nil: 5, accounts.ErrChallengeOver: 7}, counts)

	t.Log("five minutes")
	hash = b.challenge(u.ID, 3)
	b.exec(`UPDATE challenges SET expires_at = expires_at - interval '5 minutes'`)
	_, err = b.TryChallenge(t.Context(), hash)
	require.ErrorIs(t, err, accounts.ErrChallengeOver)
	require.ErrorIs(t, b.pass(u.ID, hash, accounts.Factor{Step: 103}), accounts.ErrChallengeOver)
}

// TestFactorRace makes sure that a second factor signs in only once, whichever challenges it is
// shown to, and however many at once.
func TestFactorRace(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	b.twoFactor(u.ID)
	for n := range byte(10) {
		for _, f := range []accounts.Factor{{Step: 200 + int64(n)}, {Recovery: []byte{n}}} {
			if f.Recovery != nil {
				b.exec(`INSERT INTO recovery_codes VALUES ($1, $2)`, u.ID, f.Recovery)
			}
			var hashes [4][32]byte
			for i := range hashes {
				hashes[i] = [32]byte{n, byte(i), byte(f.Step)}
				require.NoError(t, b.OpenChallenge(t.Context(), hashes[i], accounts.SignIn{User: u.ID}))
			}
			counts := together(t, 4, func(i int) error { return b.pass(u.ID, hashes[i], f) }, accounts.ErrCodeInvalid)
			require.Equal(t, map[error]int{nil: 1, accounts.ErrCodeInvalid: 3}, counts)
		}
	}
	require.ErrorIs(t, b.pass(u.ID, b.challenge(u.ID, 77), accounts.Factor{Step: 208}), accounts.ErrCodeInvalid, "an earlier step")
	left, err := b.Sessions(t.Context(), u.ID)
	require.NoError(t, err)
	require.Len(t, left, 20)
}

// TestChallengeRace makes sure that a challenge opens only one session, even with several right
// codes.
func TestChallengeRace(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	b.twoFactor(u.ID)
	for n := range byte(10) {
		hash := b.challenge(u.ID, n)
		for i := range byte(4) {
			b.exec(`INSERT INTO recovery_codes VALUES ($1, $2)`, u.ID, []byte{n, i})
		}
		counts := together(t, 4, func(i int) error { return b.pass(u.ID, hash, accounts.Factor{Recovery: []byte{n, byte(i)}}) }, accounts.ErrChallengeOver)
		require.Equal(t, map[error]int{nil: 1, accounts.ErrChallengeOver: 3}, counts)
	}
	var left int
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT count(*) FROM recovery_codes`).Scan(&left))
	require.Equal(t, 1+10*3, left, "a code that opened nothing is not used up")
}

// TestGuesses makes sure that guesses are counted for each user across challenges, so that knowing
// the password does not give more of them.
func TestGuesses(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	b.twoFactor(u.ID)
	guess := func() error {
		sealed, err := b.Guess(t.Context(), u.ID)
		if err == nil {
			require.Equal(t, []byte("sealed"), sealed)
		}
		return err
	}
	for range 9 {
		require.NoError(t, guess())
	}
	require.NoError(t, b.pass(u.ID, b.challenge(u.ID, 1), accounts.Factor{Step: 101}))
	counts := together(t, 15, func(int) error { return guess() }, accounts.ErrGuesses)
	require.Equal(t, map[error]int{nil: 10, accounts.ErrGuesses: 5}, counts, "a right one begins the count anew")
	b.exec(`UPDATE users SET totp_wrong_at = totp_wrong_at - interval '59 minutes'`)
	require.ErrorIs(t, guess(), accounts.ErrGuesses)
	b.exec(`UPDATE users SET totp_wrong_at = totp_wrong_at - interval '1 minute'`)
	counts = together(t, 12, func(int) error { return guess() }, accounts.ErrGuesses)
	require.Equal(t, map[error]int{nil: 10, accounts.ErrGuesses: 2}, counts)
}

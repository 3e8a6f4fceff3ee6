package accounts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
)

// refresh does what a client with the token of a generation does.
func (b *book) refresh(id uuid.UUID, generation uint32) (uint32, error) {
	_, next, err := b.Refresh(b.t.Context(), id, generation, "192.0.2.1", "test")
	return next, err
}

func (b *book) session(user int64) uuid.UUID {
	b.t.Helper()
	id, err := b.OpenSession(b.t.Context(), accounts.SignIn{User: user, ClientAddress: "192.0.2.7", UserAgent: "agent"})
	require.NoError(b.t, err)
	return id
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	id := b.session(u.ID)
	for g := range uint32(3) {
		user, next, err := b.Refresh(t.Context(), id, g+1, "192.0.2.1", "test")
		require.NoError(t, err)
		require.Equal(t, u.ID, user)
		require.Equal(t, g+2, next)
	}

	t.Log("an answer that was lost is given again")
	for range 3 {
		next, err := b.refresh(id, 3)
		require.NoError(t, err)
		require.EqualValues(t, 4, next)
	}
	all, err := b.Sessions(t.Context(), u.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "192.0.2.1", all[0].ClientAddress)
	require.Equal(t, "test", all[0].UserAgent)

	_, err = b.refresh(uuid.New(), 1)
	require.ErrorIs(t, err, accounts.ErrSessionOver)
}

// TestReuseRevokesTheFamily makes sure that a token which was used before counts as stolen, unless
// it is the last one and not late.
func TestReuseRevokesTheFamily(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	for name, reuse := range map[string]func(id uuid.UUID) uint32{
		"the one before the last": func(uuid.UUID) uint32 { return 1 },
		"the last, late": func(id uuid.UUID) uint32 {
			b.exec(`UPDATE sessions SET rotated_at = rotated_at - interval '31 seconds' WHERE id = $1`, id)
			return 2
		},
		"one that is not given yet": func(uuid.UUID) uint32 { return 9 },
	} {
		id, other := b.session(u.ID), b.session(u.ID)
		for g := range uint32(2) {
			_, err := b.refresh(id, g+1)
			require.NoError(t, err)
		}
		_, err := b.refresh(id, reuse(id))
		require.ErrorIs(t, err, accounts.ErrSessionOver, name)
		_, err = b.refresh(id, 3)
		require.ErrorIs(t, err, accounts.ErrSessionOver, name)
		st, err := b.Principal(t.Context(), u.ID, id.String())
		require.NoError(t, err)
		require.False(t, st.Alive, name)
		_, err = b.refresh(other, 1)
		require.NoError(t, err, "another session has nothing to do with it")
	}
	id := b.session(u.ID)
	_, err := b.refresh(id, 1)
	require.NoError(t, err)
	b.exec(`UPDATE sessions SET rotated_at = rotated_at - interval '29 seconds' WHERE id = $1`, id)
	_, err = b.refresh(id, 1)
	require.NoError(t, err, "in time")
}

// TestRefreshRace makes sure that all who refresh at once with one token get the same next token.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.session(b.user("ada@example.org").ID)
	for g := range uint32(20) {
		var next [4]uint32
		together(t, len(next), func(i int) (err error) {
			next[i], err = b.refresh(id, g+1)
			return err
		})
		require.Equal(t, [4]uint32{g + 2, g + 2, g + 2, g + 2}, next)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	id := b.session(u.ID)
	left := func() time.Duration {
		all, err := b.Sessions(t.Context(), u.ID)
		require.NoError(t, err)
		require.Len(t, all, 1)
		return time.Until(all[0].ExpiresAt).Round(24 * time.Hour)
	}
	const day = 24 * time.Hour
	pass := func(days string) {
		b.exec(`UPDATE sessions SET idle_expires_at = idle_expires_at - $1::interval, expires_at = expires_at - $1::interval WHERE id = $2`, days, id)
	}
	require.Equal(t, 30*day, left())
	for g, want := range []time.Duration{30 * day, 30 * day, 15 * day} { // 25, 50 and 75 days old
		pass("25 days")
		_, err := b.refresh(id, uint32(g+1))
		require.NoError(t, err)
		require.Equal(t, want, left())
	}
	pass("16 days")
	_, err := b.refresh(id, 4)
	require.ErrorIs(t, err, accounts.ErrSessionOver, "ninety days are over")
	id = b.session(u.ID)
	pass("31 days")
	_, err = b.refresh(id, 1)
	require.ErrorIs(t, err, accounts.ErrSessionOver, "thirty days idle")

	t.Log("logout, and of all")
	id = b.session(u.ID)
	require.NoError(t, b.Revoke(t.Context(), id))
	_, err = b.refresh(id, 1)
	require.ErrorIs(t, err, accounts.ErrSessionOver)
	stranger := b.session(b.user("bob@example.org").ID)
	mine := []uuid.UUID{b.session(u.ID), b.session(u.ID)}
	require.NoError(t, b.SignOut(t.Context(), u.ID))
	for _, id := range mine {
		_, err = b.refresh(id, 1)
		require.ErrorIs(t, err, accounts.ErrSessionOver)
	}
	_, err = b.refresh(stranger, 1)
	require.NoError(t, err)
	none, err := b.Sessions(t.Context(), u.ID)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestResets(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	next := func() { b.exec(`UPDATE password_resets SET sent = ARRAY[now() - interval '2 hours']`) }
	none, err := b.RequestReset(t.Context(), "nobody@example.org", [32]byte{9}, time.Now())
	require.NoError(t, err)
	require.Nil(t, none)
	for n := byte(1); n <= 2; n++ {
		got, err := b.RequestReset(t.Context(), u.Email, [32]byte{n}, time.Now())
		require.NoError(t, err)
		require.Equal(t, u, got)
		none, err := b.RequestReset(t.Context(), u.Email, [32]byte{77}, time.Now())
		require.NoError(t, err)
		require.Nil(t, none, "one in a minute")
		got, err = b.RequestReset(t.Context(), u.Email, [32]byte{n}, time.Now())
		require.NoError(t, err)
		require.Equal(t, u, got, "the same again, whose mail was not sent")
		next()
	}
	none, err = b.RequestReset(t.Context(), u.Email, [32]byte{1}, time.Now().Add(-3*time.Hour))
	require.NoError(t, err)
	require.Nil(t, none, "a later one was sent")
	t.Log("newest only")
	got, _, err := b.ResetPassword(t.Context(), [32]byte{1}, "x")
	require.NoError(t, err)
	require.Nil(t, got)

	t.Log("once, by one, and every session and sign-in ends")
	id := b.session(u.ID)
	require.NoError(t, b.OpenChallenge(t.Context(), [32]byte{1}, accounts.SignIn{User: u.ID}))
	stands, err := b.ResetStands(t.Context(), [32]byte{2})
	require.NoError(t, err)
	require.True(t, stands)
	won := make([]bool, 4)
	together(t, len(won), func(i int) error {
		got, _, err := b.ResetPassword(t.Context(), [32]byte{2}, "second")
		won[i] = got != nil
		return err
	})
	wins := 0
	for _, w := range won {
		if w {
			wins++
		}
	}
	require.Equal(t, 1, wins)
	none, err = b.RequestReset(t.Context(), u.Email, [32]byte{2}, time.Now())
	require.NoError(t, err)
	require.Nil(t, none, "it was used")
	stands, err = b.ResetStands(t.Context(), [32]byte{2})
	require.NoError(t, err)
	require.False(t, stands)
	_, err = b.refresh(id, 1)
	require.ErrorIs(t, err, accounts.ErrSessionOver)
	_, err = b.TryChallenge(t.Context(), [32]byte{1})
	require.ErrorIs(t, err, accounts.ErrChallengeOver)
	u, err = b.User(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, "second", u.PasswordHash)
	require.True(t, u.EmailVerified)

	t.Log("whoever matched the old password a moment ago is too late")
	late := accounts.SignIn{User: u.ID, PasswordHash: "first"}
	_, err = b.OpenSession(t.Context(), late)
	require.ErrorIs(t, err, accounts.ErrPasswordChanged)
	require.ErrorIs(t, b.OpenChallenge(t.Context(), [32]byte{2}, late), accounts.ErrPasswordChanged)

	t.Log("an hour")
	_, err = b.RequestReset(t.Context(), u.Email, [32]byte{3}, time.Now())
	require.NoError(t, err)
	b.exec(`UPDATE password_resets SET expires_at = expires_at - interval '59 minutes'`)
	stands, err = b.ResetStands(t.Context(), [32]byte{3})
	require.NoError(t, err)
	require.True(t, stands)
	b.exec(`UPDATE password_resets SET expires_at = expires_at - interval '1 minute'`)
	got, _, err = b.ResetPassword(t.Context(), [32]byte{3}, "third")
	require.NoError(t, err)
	require.Nil(t, got)
}

// TestSignInsDuringAReset makes sure that sign-ins and resets at the same time neither wait for
// each other for ever nor leave a session of the old password.
func TestSignInsDuringAReset(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	recovery := b.twoFactor(u.ID)
	for n := range byte(10) {
		b.exec(`UPDATE users SET password_hash = 'first'`)
		b.exec(`INSERT INTO recovery_codes (usr, hash) VALUES ($1, $2) ON CONFLICT (usr, hash) DO UPDATE SET hash = excluded.hash`, u.ID, recovery)
		hash := [32]byte{n, 1}
		require.NoError(t, b.OpenChallenge(t.Context(), hash, accounts.SignIn{User: u.ID, PasswordHash: "first"}))
		b.exec(`INSERT INTO password_resets (usr, hash, expires_at, sent) VALUES ($1, $2, now() + interval '1 hour', ARRAY[now()])
			ON CONFLICT (usr) DO UPDATE SET hash = excluded.hash, used = false`, u.ID, hash[:])
		together(t, 5, func(i int) error {
			var err error
			switch i {
			case 0:
				_, _, err = b.ResetPassword(t.Context(), hash, "second")
			case 1:
				_, err = b.PassChallenge(t.Context(), hash, accounts.Factor{Recovery: recovery}, accounts.SignIn{User: u.ID})
			case 2:
				err = b.OpenChallenge(t.Context(), [32]byte{n, 2}, accounts.SignIn{User: u.ID, PasswordHash: "first"})
			default:
				_, err = b.OpenSession(t.Context(), accounts.SignIn{User: u.ID, PasswordHash: "first"})
			}
			return err
		}, accounts.ErrPasswordChanged, accounts.ErrChallengeOver, accounts.ErrCodeInvalid)
		left, err := b.Sessions(t.Context(), u.ID)
		require.NoError(t, err)
		require.Empty(t, left)
		_, err = b.TryChallenge(t.Context(), [32]byte{n, 2})
		require.ErrorIs(t, err, accounts.ErrChallengeOver)
	}
}
